//! Builder of an operation.

use std::borrow::Cow;
use std::sync::Arc;

use http::{Method, StatusCode};

use super::call::{CallerOf, HandlerFn, Signature, TypedHandler};
use super::handler::AdmittedCaller;
use super::operation::Operation;
use super::output::Output;
use super::spec::{CachePolicy, OperationSpec, Tag};
use crate::model::ErrorCode;
use crate::scope::{Scope, Surface};

/// Builder of an [`Operation`].
///
/// Defaults: a `GET` has no side effects, and the document lists no error codes of the board for it. Every other method
/// has side effects, and the document lists all error codes of the board.
#[derive(Debug)]
#[must_use = "the builder does nothing until a handler completes it"]
pub struct OperationBuilder(OperationSpec);

impl Operation {
    /// Begins a `GET` operation: a read. `HEAD` runs it as well, unless it has
    /// [side effects](OperationBuilder::with_side_effects).
    ///
    /// The arguments are those of [`post`](Self::post).
    pub fn get(path: &'static str, id: &'static str, scope: Scope) -> OperationBuilder {
        OperationBuilder::new(Method::GET, path, id, scope)
    }

    /// Begins a `POST` operation: a write that accepts an `Idempotency-Key`, except from a guest. If the operation is
    /// open to guests, a guest who sends a key gets 400.
    ///
    /// `path` is a path below the base path, such as `/threads/{threadId}/links`, with at most four variables. `id` is
    /// the operationId: letters and digits, beginning with a letter. `scope` is the scope that a token needs: a scope
    /// of the library, or a scope that the host adds with [`Environment::scope`](crate::Environment::scope).
    pub fn post(path: &'static str, id: &'static str, scope: Scope) -> OperationBuilder {
        OperationBuilder::new(Method::POST, path, id, scope)
    }

    /// Begins a `PUT` operation: a write that replaces a resource.
    ///
    /// The arguments are those of [`post`](Self::post).
    pub fn put(path: &'static str, id: &'static str, scope: Scope) -> OperationBuilder {
        OperationBuilder::new(Method::PUT, path, id, scope)
    }

    /// Begins a `PATCH` operation: a write that changes a resource.
    ///
    /// The arguments are those of [`post`](Self::post).
    pub fn patch(path: &'static str, id: &'static str, scope: Scope) -> OperationBuilder {
        OperationBuilder::new(Method::PATCH, path, id, scope)
    }

    /// Begins a `DELETE` operation: a write that removes a resource.
    ///
    /// The arguments are those of [`post`](Self::post).
    pub fn delete(path: &'static str, id: &'static str, scope: Scope) -> OperationBuilder {
        OperationBuilder::new(Method::DELETE, path, id, scope)
    }
}

impl OperationBuilder {
    fn new(method: Method, path: &'static str, id: &'static str, scope: Scope) -> Self {
        let is_read = method == Method::GET;
        let variable = |segment: &'static str| segment.strip_prefix('{')?.strip_suffix('}');
        Self(OperationSpec {
            method,
            path,
            variables: path.split('/').filter_map(variable).collect(),
            id,
            tag: Tag::new("board", "Operations of this board."),
            summary: "",
            notes: Cow::Borrowed(""),
            example_note: "",
            scope,
            cost: 1,
            cache_policy: CachePolicy::PrivateNoCache,
            has_side_effects: !is_read,
            accepts_head: is_read,
            board_errors: if is_read { &[] } else { ErrorCode::BOARD },
            surfaces: &[Surface::Full],
        })
    }

    /// Sets the group of the operation in the document. Default: `board`.
    pub fn tag(self, tag: Tag) -> Self {
        Self(OperationSpec { tag, ..self.0 })
    }

    /// Sets the number of units that a request is charged, 1 to 100. Default: 1.
    pub fn cost(self, cost: u32) -> Self {
        Self(OperationSpec { cost, ..self.0 })
    }

    /// Sets the summary: one sentence that ends with a period. Required.
    pub fn summary(self, summary: &'static str) -> Self {
        Self(OperationSpec { summary, ..self.0 })
    }

    /// Sets a further description in Markdown.
    pub fn notes(self, notes: impl Into<Cow<'static, str>>) -> Self {
        Self(OperationSpec { notes: notes.into(), ..self.0 })
    }

    /// Sets a note at the examples of requests.
    pub(crate) fn example_note(mut self, example_note: &'static str) -> Self {
        self.0.example_note = example_note;
        self
    }

    /// Sets `cache-control: no-store` for successful responses.
    pub fn no_store(mut self) -> Self {
        self.0.cache_policy = CachePolicy::NoStore;
        self
    }

    /// Marks a `GET` that changes data: it completes even if the client disconnects, and its responses have no `etag`.
    /// `HEAD` does not run it; the response is a 404 `no_such_route`.
    pub fn with_side_effects(mut self) -> Self {
        self.0.has_side_effects = true;
        self.0.accepts_head = false;
        self
    }

    /// Accepts `HEAD` for a `GET` with side effects. Its input distinguishes the two.
    pub(crate) fn with_head(mut self) -> Self {
        self.0.accepts_head = true;
        self
    }

    /// Adds the operation to the compact surface.
    pub(crate) fn on_compact_surface(mut self) -> Self {
        self.0.surfaces = &[Surface::Full, Surface::Compact];
        self
    }

    /// Sets the error codes of the board that the operation can return, for the document. Default: none for a `GET`,
    /// otherwise all. The document of a `POST` always has [`ErrorCode::Conflict`], which the library returns if it refuses
    /// the idempotency key. If the result of a `POST` is in a forum or a thread, the list should contain
    /// [`ErrorCode::NotFound`]: the library returns it for a replay if the member no longer sees the result.
    pub fn board_errors(mut self, board_errors: &'static [ErrorCode]) -> Self {
        self.0.board_errors = board_errors;
        self
    }

    /// Builds an operation that responds with 200. `example` returns an example of the response for the document.
    pub fn ok<S: ?Sized, C, P, A, T: Output>(
        self,
        service: &Arc<S>,
        function: HandlerFn<S, C, P, A, T>,
        example: fn() -> T::Body,
    ) -> Operation
    where
        HandlerFn<S, C, P, A, T>: Signature<Service = S, Output = T>,
    {
        self.build(service, function, StatusCode::OK, example)
    }

    /// Builds an operation that responds with 201, or with 200 for [`CreateOutcome::Existing`](crate::host::CreateOutcome).
    /// `example` returns an example of the response for the document.
    pub fn created<S: ?Sized, C, P, A, T: Output>(
        self,
        service: &Arc<S>,
        function: HandlerFn<S, C, P, A, T>,
        example: fn() -> T::Body,
    ) -> Operation
    where
        HandlerFn<S, C, P, A, T>: Signature<Service = S, Output = T>,
    {
        self.build(service, function, StatusCode::CREATED, example)
    }

    /// Builds an operation that responds with 204.
    pub fn no_content<S: ?Sized, C, P, A>(
        self,
        service: &Arc<S>,
        function: HandlerFn<S, C, P, A, ()>,
    ) -> Operation
    where
        HandlerFn<S, C, P, A, ()>: Signature<Service = S, Output = ()>,
    {
        self.build(service, function, StatusCode::NO_CONTENT, || ())
    }

    fn build<F: Signature>(
        self,
        service: &Arc<F::Service>,
        function: F,
        status: StatusCode,
        example: fn() -> <F::Output as Output>::Body,
    ) -> Operation {
        let handler = TypedHandler { service: Arc::clone(service), function, status, example };
        Operation { spec: Arc::new(self.0), handler: CallerOf::<F>::handler(Arc::new(handler)) }
    }
}
