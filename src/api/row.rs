//! A row of the table: everything that a client can see of an endpoint derives from here.

use crate::api::endpoint::{Actor, Op, Operation};
use crate::api::extract::params::Args;
use crate::api::extract::path::At;
use crate::api::output::Reply;
use crate::scope::Scope;

/// A method that the table declares. `HEAD` counts as `GET`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Get,
    Post,
    Patch,
    Delete,
}

impl Verb {
    /// Its name in the document.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
            Self::Patch => "patch",
            Self::Delete => "delete",
        }
    }
}

/// An endpoint.
pub(super) struct Row {
    pub(super) verb: Verb,
    pub(super) path: &'static str,
    /// The path up to its first variable, and the rest of it.
    pub(super) parts: (&'static str, &'static str),
    /// The resource that the path begins with, such as `threads`.
    pub(super) tag: &'static str,
    pub(super) scope: Scope,
    /// A field of the body, and the scope that a request with `true` in it needs beside the endpoint's own.
    pub(super) field_scope: Option<(&'static str, Scope)>,
    pub(super) cost: u32,
    /// The operation's name, and what it does in a sentence.
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    /// Whether the smaller surface has it too.
    pub(super) compact: bool,
    pub(super) op: &'static dyn Operation,
}

/// # Panics
/// At compile time, when the path's variables are not those that the command takes.
pub(super) const fn row<W: Actor, P: At, A: Args, T: Reply>(
    verb: Verb,
    path: &'static str,
    scope: Scope,
    cost: u32,
    (name, summary): (&'static str, &'static str),
    op: &'static Op<W, P, A, T>,
) -> Row {
    assert!(
        crate::api::router::has_variables(path, P::NAMES),
        "the path's variables are not those of the command"
    );
    Row {
        verb,
        path,
        parts: crate::api::router::before(b'{', path),
        tag: crate::api::router::before(b'/', path.split_at(1).1).0,
        scope,
        field_scope: None,
        cost,
        name,
        summary,
        compact: false,
        op,
    }
}

impl Row {
    /// The same row, on the smaller surface too.
    pub(super) const fn on_both(self) -> Self {
        Self {
            compact: true,
            ..self
        }
    }

    /// The same row; `true` in this field of the body also needs this scope.
    pub(super) const fn with_field_scope(self, field: &'static str, scope: Scope) -> Self {
        Self {
            field_scope: Some((field, scope)),
            ..self
        }
    }

    pub(super) const fn is_read(&self) -> bool {
        matches!(self.verb, Verb::Get)
    }

    /// Whether a request changes something, and so runs to its end whoever hangs up.
    pub(super) fn acts(&self) -> bool {
        !self.is_read() || self.op.opens()
    }

    /// Whether an `Idempotency-Key` makes it safe to repeat.
    pub(super) fn takes_key(&self) -> bool {
        self.verb == Verb::Post
    }

    /// Whether answers are somebody's own affairs, not to be stored anywhere.
    pub(super) fn is_private(&self) -> bool {
        matches!(self.tag, "me" | "messages")
    }
}
