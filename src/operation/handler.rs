//! An operation of the API, and the typed handler that runs it.

use std::fmt;
use std::sync::Arc;

use http::{Method, StatusCode};
use schemars::{Schema, SchemaGenerator};
use serde_json::{Value, json};

use super::builder::Tag;
use super::cache_policy::CachePolicy;
use super::call::Call;
use super::error::ApiError;
use super::extra::ExtraTypes;
use super::input::{Input, InputSchema, Source};
use super::output::Output;
use super::path::PathParams;
use super::response::ApiResponse;
use crate::host::{BoardResult, Caller, MemberCaller};
use crate::model::ErrorCode;
use crate::runtime::BoxFuture;
use crate::scope::{Scope, Surface};

/// An operation of the API: a method and a path, its description, and the handler that runs it.
///
/// [`Operation::get`] and the functions beside it begin a builder, which a handler completes:
///
/// ```
/// use std::sync::Arc;
///
/// use forum_api::host::{BoardResult, InForum, MemberCaller};
/// use forum_api::model::{ForumId, PostPath};
/// use forum_api::operation::{Body, Json, Operation, Resource, Tag};
/// use forum_api::scope::Scope;
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// const VOTES_WRITE: Scope = Scope::from_static("votes:write", "Vote for posts.");
///
/// #[derive(Deserialize, Serialize, JsonSchema)]
/// #[serde(rename_all = "camelCase", deny_unknown_fields)]
/// struct NewPostVote {
///     /// `true` to vote for the post, `false` to vote against it.
///     is_up: bool,
/// }
///
/// impl Body for NewPostVote {
///     fn example() -> Self {
///         Self { is_up: true }
///     }
/// }
///
/// #[derive(Serialize, JsonSchema)]
/// #[serde(rename_all = "camelCase")]
/// struct PostVotes {
///     /// Votes for the post minus votes against it.
///     score: i64,
/// }
///
/// impl Resource for PostVotes {}
///
/// struct MyBoard;
///
/// impl MyBoard {
///     async fn vote_post(
///         &self,
///         member: &MemberCaller,
///         path: PostPath,
///         vote: NewPostVote,
///     ) -> BoardResult<InForum<PostVotes>> {
///         // Checks the member's permissions and writes the vote in one transaction.
///         Ok(InForum::new(ForumId::from(2), PostVotes { score: 5 }))
///     }
/// }
///
/// fn vote_post(board: &Arc<MyBoard>) -> Operation {
///     Operation::post("/threads/{threadId}/posts/{postId}/votes", "votePost", VOTES_WRITE)
///         .tag(Tag::new("votes", "Votes for posts."))
///         .summary("Votes for a post.")
///         .cost(5)
///         .created(
///             board,
///             |board, member: &MemberCaller, path, Json(vote)| {
///                 Box::pin(board.vote_post(member, path, vote))
///             },
///             || PostVotes { score: 5 },
///         )
/// }
/// ```
///
/// [`ForumApiBuilder::operation`](crate::ForumApiBuilder::operation) adds an operation to a service. The compact surface
/// has none of them.
#[derive(Clone)]
pub struct Operation {
    pub(crate) spec: OperationSpec,
    pub(crate) handler: Arc<dyn Handler>,
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spec.fmt(f)
    }
}

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
    pub(crate) notes: &'static str,
    /// The scope that a token needs.
    pub(crate) scope: Scope,
    /// Units that a request is charged.
    pub(crate) cost: u32,
    pub(crate) cache_policy: CachePolicy,
    /// `true` if a request can change data. Such a request completes even if the client disconnects.
    pub(crate) has_side_effects: bool,
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

/// Caller of an operation: [`Caller`] if guests can call it, otherwise [`MemberCaller`]. The trait is sealed.
pub trait CallerKind: sealed::Sealed + Sync + Send + 'static {
    /// `true` if a request without a token is refused with 401.
    const NEEDS_TOKEN: bool;

    /// Returns the caller in this type; `None` for a guest if the type needs a token.
    fn from_caller(caller: &Caller) -> Option<&Self>;
}

mod sealed {
    pub trait Sealed {}
}

impl sealed::Sealed for Caller {}

impl sealed::Sealed for MemberCaller {}

impl CallerKind for Caller {
    const NEEDS_TOKEN: bool = false;

    fn from_caller(caller: &Caller) -> Option<&Self> {
        Some(caller)
    }
}

impl CallerKind for MemberCaller {
    const NEEDS_TOKEN: bool = true;

    fn from_caller(caller: &Caller) -> Option<&Self> {
        caller.as_member()
    }
}

/// Function that runs an operation: takes the host's service, the caller, the path variables and the [`Input`](super::Input),
/// and returns an [`Output`](super::Output).
///
/// A closure without captured variables converts to it.
pub type HandlerFn<S, C, P, A, T> = for<'a> fn(&'a S, &'a C, P, A) -> BoxFuture<'a, BoardResult<T>>;

/// A [`HandlerFn`] with its service, the status of a successful response, and an example of its result.
pub(crate) struct TypedHandler<S: ?Sized, C, P, A, T: Output> {
    pub(crate) service: Arc<S>,
    pub(crate) function: HandlerFn<S, C, P, A, T>,
    pub(crate) status: StatusCode,
    pub(crate) example: fn() -> T::Body,
}

/// Schemas, examples, statuses and headers of an operation, for the OpenAPI document.
pub(crate) struct OperationSchemas {
    pub(crate) path_params: Vec<(String, Schema)>,
    pub(crate) source: Source,
    pub(crate) input: InputSchema,
    pub(crate) output: Schema,
    pub(crate) output_example: Value,
    /// Statuses of successful responses.
    pub(crate) statuses: Vec<StatusCode>,
    /// Headers that the result adds.
    pub(crate) headers: Vec<&'static str>,
}

/// A [`TypedHandler`] with its types erased.
pub(crate) trait Handler: Send + Sync {
    fn needs_token(&self) -> bool;

    fn describe(
        &self,
        spec: &OperationSpec,
        extra_types: &ExtraTypes,
        inputs: &mut SchemaGenerator,
        outputs: &mut SchemaGenerator,
    ) -> OperationSchemas;

    /// Runs steps 7 to 10.
    fn call<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<ApiResponse, ApiError>>;
}

impl<S, C, P, A, T> Handler for TypedHandler<S, C, P, A, T>
where
    S: ?Sized + Send + Sync + 'static,
    C: CallerKind,
    P: PathParams,
    A: Input,
    T: Output,
{
    fn needs_token(&self) -> bool {
        C::NEEDS_TOKEN
    }

    fn describe(
        &self,
        spec: &OperationSpec,
        extra_types: &ExtraTypes,
        inputs: &mut SchemaGenerator,
        outputs: &mut SchemaGenerator,
    ) -> OperationSchemas {
        let example = (self.example)();
        let is_created = self.status == StatusCode::CREATED;
        let has_location = is_created && T::location(&example).is_some();
        OperationSchemas {
            path_params: P::variables(inputs, &spec.variables),
            source: A::SOURCE,
            input: A::describe(inputs, extra_types),
            output: outputs.subschema_for::<T::Body>(),
            output_example: json!(example),
            statuses: [(true, self.status), (T::CAN_EXIST, StatusCode::OK)]
                .into_iter()
                .filter_map(|(is_possible, status)| is_possible.then_some(status))
                .collect(),
            headers: [(T::IS_PAGE, "link"), (has_location, "location")]
                .into_iter()
                .filter_map(|(has_header, name)| has_header.then_some(name))
                .collect(),
        }
    }

    fn call<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<ApiResponse, ApiError>> {
        Box::pin(call.run(self))
    }
}
