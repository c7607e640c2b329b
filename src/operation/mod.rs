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
mod output;
mod pagination;
mod response;
mod services;

pub use builder::Tag;
pub(crate) use cache_policy::CachePolicy;
pub(crate) use call::{Call, reject_query};
pub(crate) use checks::require_scope;
pub use error::MalformedRequest;
pub(crate) use error::{ApiError, AuthFailure};
pub use error_messages::{ErrorMessages, Language};
pub(crate) use extract::error::InputError;
pub(crate) use extract::params::{RawPathParams, Source};
pub(crate) use handler::{Operation, OperationSchemas, OperationSpec};
pub use output::{NoForum, Output, Resource};
pub(crate) use output::{Render, RenderContext, Rendered};
pub(crate) use pagination::AFTER;
pub(crate) use response::ApiResponse;
pub(crate) use services::Services;
