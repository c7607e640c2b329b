//! HTTP helpers shared by the API, the control panel and the reference page.

#[cfg(feature = "axum-0_8")]
pub(crate) mod axum;
mod etag;
mod form;
#[cfg(any(feature = "mcp", feature = "panel"))]
pub(crate) mod origin;
#[cfg(any(feature = "panel", feature = "reference"))]
mod page;
mod request;
mod response;

pub(crate) use etag::EntityTag;
pub(crate) use form::{form_decode, form_pairs, percent_decode};
#[cfg(any(feature = "panel", feature = "reference"))]
pub(crate) use page::{Content, page_headers, respond};
pub(crate) use request::{
    BodyError, OriginalUri, RequestBody, is_json, loggable_path, no_original_uri, parse_base_path,
    restore_uri, retry_after,
};
pub use response::ResponseBody;
