//! Operations of the API.

mod builder;
mod cache_policy;
mod call;
mod checks;
mod error;
mod error_messages;
mod extract;
mod handler;
mod idempotency;
mod input;
mod list;
mod output;
mod pagination;
mod path;
mod response;
mod services;

pub use builder::Tag;
pub(crate) use cache_policy::CachePolicy;
pub(crate) use call::Call;
pub(crate) use checks::require_scope;
pub use error::MalformedRequest;
pub(crate) use error::{ApiError, AuthFailure};
pub use error_messages::{ErrorMessages, Language};
pub(crate) use extract::error::InputError;
pub(crate) use extract::value::InputValue;
pub(crate) use handler::{Operation, OperationSchemas, OperationSpec};
pub use input::{Body, FieldError, FieldScope, Input, Json, Query};
pub(crate) use input::{Decode, InputSchema, Source, reject_query};
pub(crate) use list::ListParams;
pub use output::{NoForum, Output, Resource};
pub(crate) use output::{Render, RenderContext, Rendered};
pub(crate) use pagination::{AFTER, CursorScope};
pub(crate) use path::MAX_VARIABLES;
pub use path::{PathParams, PathSegments};
pub(crate) use response::ApiResponse;
pub(crate) use services::Services;
