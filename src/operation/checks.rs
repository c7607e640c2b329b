//! Scope check, and the visibility checks of requests and replays ([protocol](crate::guide::protocol), sections 2.4 and
//! 10).

use super::error::{ApiError, ApiResult};
use super::handler::AdmittedCaller;
use crate::host::{Access, Board, BoardError, PresentedToken, ResourceRef};
use crate::model::ForumId;
use crate::scope::Scope;
use crate::store::ResourceIds;

/// Rejects a token without the endpoint's scope, even if guests may call the endpoint.
pub(crate) fn require_scope(token: Option<&PresentedToken>, scope: Scope) -> ApiResult<()> {
    match token {
        Some(token) if !token.scopes.contains(scope) => Err(ApiError::MissingScope(scope)),
        _ => Ok(()),
    }
}

/// Returns `true` if the caller can see the forum of a result. Otherwise logs a warning, because the board
/// must not return such a result.
pub(crate) fn can_see(access: &Access, forum: &ForumId, operation_id: &str) -> bool {
    let is_visible = access.visible_forums.contains(forum);
    if !is_visible {
        tracing::warn!(
            command = operation_id,
            %forum,
            "the board returned a result from a hidden forum; result dropped"
        );
    }
    is_visible
}

/// Checks that the caller can see the resource that the path names.
///
/// Looks up a forum in the caller's access. Another resource is checked by the forum that the board returns for it.
pub(crate) async fn require_visible(
    board: &dyn Board,
    caller: &impl AdmittedCaller,
    resource: ResourceRef<'_>,
    operation_id: &str,
) -> ApiResult<()> {
    let is_visible = match resource {
        ResourceRef::Global | ResourceRef::Member(_) => true,
        ResourceRef::Forum(forum) => caller.access().visible_forums.contains(forum),
        resource => {
            let forum = board
                .containing_forum(&caller.to_caller(), resource)
                .await
                .map_err(ApiError::before_command)?;
            can_see(caller.access(), &forum, operation_id)
        }
    };
    if is_visible { Ok(()) } else { Err(ApiError::NotFound) }
}

/// Checks that the member or the forum of the path exists, so that a 404 precedes an error about the idempotency key. Asks
/// the board for a forum only if the caller's access may contain ids that no forum has.
pub(crate) async fn require_exists(
    board: &dyn Board,
    caller: &impl AdmittedCaller,
    resource: ResourceRef<'_>,
) -> ApiResult<()> {
    let is_known = match resource {
        ResourceRef::Member(_) => false,
        ResourceRef::Forum(_) => !caller.access().visible_forums.has_unknown_ids(),
        _ => true,
    };
    if is_known { Ok(()) } else { require_found(board, caller, resource).await }
}

/// Checks that the board finds a resource.
async fn require_found(
    board: &dyn Board,
    caller: &impl AdmittedCaller,
    resource: ResourceRef<'_>,
) -> ApiResult<()> {
    let exists =
        board.exists(&caller.to_caller(), resource).await.map_err(ApiError::before_command)?;
    if exists { Ok(()) } else { Err(ApiError::NotFound) }
}

/// Checks that the caller can still see the resource of a stored response, and that a member in the path still exists.
///
/// The path names neither a created thread or post nor a subscribed thread; the stored response contains their ids. If
/// the board returns `NotImplemented`, only the forum is checked.
pub(crate) async fn require_replay_visible(
    board: &dyn Board,
    caller: &impl AdmittedCaller,
    resource: ResourceRef<'_>,
    stored: &ResourceIds,
) -> ApiResult<()> {
    if matches!(resource, ResourceRef::Member(_)) {
        require_found(board, caller, resource).await?;
    }
    let sees = |forum: &ForumId| caller.access().visible_forums.contains(forum);
    if !stored.forum_id.as_ref().is_none_or(sees) {
        return Err(match resource {
            ResourceRef::Global | ResourceRef::Member(_) => ApiError::BodyNotFound,
            _ => ApiError::NotFound,
        });
    }
    let created = match (&stored.thread_id, &stored.post_id) {
        (Some(thread), Some(post)) => ResourceRef::Post(thread, post),
        (Some(thread), None) => ResourceRef::Thread(thread),
        (None, _) => return Ok(()),
    };
    match board.containing_forum(&caller.to_caller(), created).await {
        Ok(forum) if sees(&forum) => Ok(()),
        Ok(_) | Err(BoardError::PathNotFound) => Err(ApiError::BodyNotFound),
        Err(BoardError::NotImplemented) => Ok(()),
        Err(error) => Err(ApiError::before_command(error)),
    }
}
