//! An operation of the API, and its handler with the types erased.

use std::fmt;
use std::sync::Arc;

use http::StatusCode;
use schemars::SchemaGenerator;
use serde_json::json;

use super::call::{CallerOf, Signature, TypedHandler};
use super::error::ApiResult;
use super::extra::ExtraTypes;
use super::handler::{Call, ErasedHandler, Handler, OperationSchemas};
use super::input::Decode;
#[cfg(feature = "conformance")]
use super::input::InputSchema;
use super::output::{Output, Render};
use super::path::PathParams;
use super::response::ApiResponse;
use super::spec::OperationSpec;
use crate::runtime::BoxFuture;

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
/// [`ForumApiBuilder::operation`](crate::ForumApiBuilder::operation) adds an operation to a service. The compact
/// surface has no operations of hosts.
#[derive(Clone)]
pub struct Operation {
    pub(crate) spec: Arc<OperationSpec>,
    pub(crate) handler: Handler,
}

impl Operation {
    /// Returns the schema, example and additional scope of the input.
    #[cfg(feature = "conformance")]
    pub(crate) fn input(&self) -> InputSchema {
        let mut generator = SchemaGenerator::default();
        let extra_types = ExtraTypes::default();
        let describe = &mut generator.clone();
        self.handler.describe(&self.spec, &extra_types, describe, &mut generator).input
    }
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spec.fmt(f)
    }
}

impl<F: Signature> ErasedHandler<CallerOf<F>> for TypedHandler<F> {
    fn describe(
        &self,
        spec: &OperationSpec,
        extra_types: &ExtraTypes,
        inputs: &mut SchemaGenerator,
        outputs: &mut SchemaGenerator,
    ) -> OperationSchemas {
        let example = (self.example)();
        let is_created = self.status == StatusCode::CREATED;
        let has_location = is_created && F::Output::location(&example).is_some();
        OperationSchemas {
            path_params: F::Path::variables(inputs, &spec.variables),
            source: F::Input::SOURCE,
            input: F::Input::describe(inputs, extra_types),
            is_list_complete: F::Input::IS_LIST == F::Output::IS_PAGE,
            is_in_forum: F::Output::IS_IN_FORUM,
            output: outputs.subschema_for::<<F::Output as Output>::Body>(),
            output_example: json!(example),
            statuses: possible(&[(true, self.status), (F::Output::CAN_EXIST, StatusCode::OK)]),
            headers: possible(&[(F::Output::IS_PAGE, "link"), (has_location, "location")]),
        }
    }

    fn call(
        self: Arc<Self>,
        call: Call<'_>,
        caller: CallerOf<F>,
    ) -> BoxFuture<'_, ApiResult<ApiResponse>> {
        Box::pin(call.run(self, caller))
    }
}

/// Returns the values that are marked as possible.
fn possible<T: Copy>(values: &[(bool, T)]) -> Vec<T> {
    let possible = values.iter().filter(|(is_possible, _)| *is_possible);
    possible.map(|(_, value)| *value).collect()
}
