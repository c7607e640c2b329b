//! Descriptions of operations.

use std::borrow::Cow;

use http::Method;

use crate::model::ErrorCode;
use crate::scope::{Scope, Surface};

/// Description of an operation. Everything that a client can observe of an operation comes from this value and from the
/// types of its handler.
#[derive(Clone, Debug)]
pub(crate) struct OperationSpec {
    pub(crate) method: Method,
    /// Path below the base path, with variables in braces.
    pub(crate) path: &'static str,
    /// Names of the variables, in the order of the path.
    pub(crate) variables: Vec<&'static str>,
    pub(crate) id: &'static str,
    pub(crate) tag: Tag,
    pub(crate) summary: &'static str,
    /// Further description for the OpenAPI document; may be empty.
    pub(crate) notes: Cow<'static, str>,
    /// Note at the examples of requests; may be empty.
    pub(crate) example_note: &'static str,
    /// The scope that a token needs.
    pub(crate) scope: Scope,
    /// Units that a request is charged.
    pub(crate) cost: u32,
    pub(crate) cache_policy: CachePolicy,
    /// `true` if a request can change data. Such a request completes even if the client disconnects.
    pub(crate) has_side_effects: bool,
    /// `true` for a `GET` that `HEAD` runs as well: a `HEAD` has no side effects.
    pub(crate) accepts_head: bool,
    /// Codes of the board's own errors that this operation can return.
    pub(crate) board_errors: &'static [ErrorCode],
    pub(crate) surfaces: &'static [Surface],
}

impl OperationSpec {
    pub(crate) fn is_read(&self) -> bool {
        self.method == Method::GET
    }

    pub(crate) fn accepts_idempotency_key(&self) -> bool {
        self.method == Method::POST
    }

    /// Returns `true` if successful responses have an `etag`.
    pub(crate) fn is_conditional(&self) -> bool {
        self.is_read() && !self.has_side_effects
    }
}

/// Group of operations in the OpenAPI document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    pub(crate) name: &'static str,
    pub(crate) description: Cow<'static, str>,
}

impl Tag {
    /// Creates a tag. Operations with the same name must have the same description.
    pub const fn new(name: &'static str, description: &'static str) -> Self {
        Self { name, description: Cow::Borrowed(description) }
    }
}

/// Caching policy of an endpoint's successful responses ([protocol](crate::guide::protocol), section 2.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CachePolicy {
    /// The client may store a response and must revalidate it: `private, no-cache`.
    PrivateNoCache,
    /// A response must not be stored: `no-store`.
    NoStore,
}
