//! Shared HTML of the control panel and the reference page: the document with its head, a theme (`theme.css`), the frame
//! with the name and the accent colour of the board, and a function for copy buttons (`copy.js`).

mod document;
mod frame;

pub(crate) use document::document;
#[cfg(feature = "panel")]
pub(crate) use frame::is_http_url;
pub(crate) use frame::{Frame, check_accent_color, check_page_url, page_path};
