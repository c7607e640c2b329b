//! Operations of the API: those of the specification, and those that a host adds.
//!
//! An [`Operation`] has a method, a path, a description and a typed handler. The types of the handler determine how the
//! request is decoded, how its visibility is checked and how the result is rendered:
//!
//! | part | types |
//! |---|---|
//! | caller | [`Caller`](crate::host::Caller), [`MemberCaller`](crate::host::MemberCaller) |
//! | path | [`PathParams`] |
//! | input | `()`, [`Query`], [`List`](crate::model::List), [`Json`] with a [`Body`] |
//! | result | see [`Output`] |

mod builder;
mod call;
mod checks;
pub(crate) mod error;
pub(crate) mod error_messages;
mod extra;
pub(crate) mod extract;
mod field_names;
mod handler;
mod idempotency;
mod input;
mod null_fields;
#[expect(clippy::module_inception, reason = "the file is named after its main item")]
mod operation;
mod output;
mod pagination;
mod path;
mod response;
mod services;
mod spec;
mod validate;

pub use builder::OperationBuilder;
pub use call::HandlerFn;
pub(crate) use checks::require_scope;
pub(crate) use error::{ApiError, ApiResult, AuthFailure, MalformedRequest};
pub(crate) use error_messages::{ErrorMessages, Language};
pub use extra::ExtraOf;
pub(crate) use extra::ExtraTypes;
pub(crate) use extract::error::InputError;
pub(crate) use extract::value::InputValue;
pub use handler::CallerKind;
pub(crate) use handler::{
    AdmittedCaller, Call, ErasedHandler, GuestOrOwner, Handler, OperationSchemas, TokenOwner,
};
#[cfg(feature = "mcp")]
pub(crate) use idempotency::is_key;
#[cfg(feature = "webhooks")]
pub(crate) use input::deserialize;
pub use input::{Body, FieldError, FieldScope, Input, Json, Query};
pub(crate) use input::{
    Decode, DecodeContext, InputSchema, LIMIT, ScopedField, Source, reject_query,
};
pub use operation::Operation;
pub use output::{NoForum, Output, Resource};
pub(crate) use output::{Render, RenderContext};
pub(crate) use pagination::AFTER;
pub use path::PathParams;
#[doc(hidden)]
pub use path::PathSegments;
pub(crate) use response::ApiResponse;
pub(crate) use services::Services;
pub use spec::Tag;
pub(crate) use spec::{CachePolicy, OperationSpec};
pub(crate) use validate::validate;
