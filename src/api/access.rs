//! Scope check, access, online check and visibility check: steps 4 to 6 and 8 of the pipeline, and the visibility of a
//! stored response.

use super::authentication::AuthenticatedToken;
use super::error::ApiError;
use super::extract::value::InputValue;
use crate::host::{
    Authorizer, Board, BoardError, Caller, MemberCaller, PresentedToken, ResourceRef,
};
use crate::model::{ForumId, UserRef};
use crate::scope::Scope;
use crate::store::ResourceIds;

/// A token needs the endpoint's scope, even where a guest needs no token.
pub(super) fn require_scope(token: Option<&PresentedToken>, scope: Scope) -> Result<(), ApiError> {
    match token {
        Some(token) if !token.scopes.contains(&scope) => Err(ApiError::MissingScope),
        _ => Ok(()),
    }
}

/// Checks the additional scope that `true` in a field of the body needs.
pub(super) fn require_field_scope(
    field_scope: Option<(&str, Scope)>,
    body: &InputValue<'_>,
    caller: &Caller,
) -> Result<(), ApiError> {
    match field_scope {
        Some((field, scope)) if body.is_true(field) => {
            require_scope(caller.as_member().and_then(MemberCaller::presented), scope)
        }
        _ => Ok(()),
    }
}

/// The caller with the access that the board grants now; nothing of it is kept.
pub(super) async fn resolve_caller(
    token: Option<AuthenticatedToken>,
    authority: &dyn Authorizer,
) -> Result<Caller, ApiError> {
    let Some(AuthenticatedToken { owner, presented }) = token else {
        return Ok(Caller::Guest(authority.guest_access().await?));
    };
    let standing = authority.member_access(&owner).await?;
    let standing = standing.ok_or(ApiError::OwnerUnavailable)?;
    Ok(Caller::bearer(owner, standing, presented))
}

/// An offline board answers the callers who may see it.
pub(super) fn require_online(caller: &Caller) -> Result<(), ApiError> {
    if caller.access().deny_offline {
        return Err(ApiError::BoardOffline);
    }
    Ok(())
}

/// Checks that the caller sees the place that a path names.
///
/// A forum is looked up in the caller's standing. For any other place the board is asked, before writes only: the
/// result of a read is checked itself.
pub(super) async fn require_visible(
    board: &dyn Board,
    caller: &Caller,
    place: ResourceRef<'_>,
    operation_id: &str,
    is_read: bool,
) -> Result<(), ApiError> {
    let is_visible = match place {
        ResourceRef::Global => true,
        ResourceRef::Forum(forum) => sees(caller, forum),
        _ if is_read => true,
        place => {
            let forum = board.containing_forum(caller, place).await;
            let forum = forum.inspect_err(|refusal| warn_forum_unknown(operation_id, refusal))?;
            can_see(caller, &forum, operation_id)
        }
    };
    is_visible.then_some(()).ok_or(ApiError::NotFound)
}

fn sees(caller: &Caller, forum: &ForumId) -> bool {
    caller.access().visible_forums.contains(forum)
}

/// Returns whether the caller sees the forum of what the board answered. If not, the board is at fault.
pub(super) fn can_see(caller: &Caller, forum: &ForumId, operation_id: &str) -> bool {
    let is_visible = sees(caller, forum);
    if !is_visible {
        tracing::warn!(
            command = operation_id,
            %forum,
            "the board returned a result from a hidden forum; result dropped"
        );
    }
    is_visible
}

/// Without this line a host that has written the method would look for the 501 there.
fn warn_forum_unknown(operation_id: &str, refusal: &BoardError) {
    if let BoardError::NotImplemented = refusal {
        tracing::info!(
            command = operation_id,
            "`Board::containing_forum` is not implemented; write rejected"
        );
    }
}

/// Checks that the caller can still see what a stored response is about, and that a member whom the path names still
/// exists.
///
/// The path never names the thread or post that was created, nor the thread that is followed. If the board does not
/// implement `containing_forum`, only the forum is checked.
pub(super) async fn require_replay_visible(
    board: &dyn Board,
    caller: &Caller,
    resource: &ResourceIds,
    place: ResourceRef<'_>,
    member: Option<&UserRef>,
) -> Result<(), ApiError> {
    if let Some(member) = member {
        match board.get_member(caller, member.clone()).await {
            Ok(_) | Err(BoardError::NotImplemented) => {}
            Err(refusal) => return Err(refusal.into()),
        }
    }
    if !resource.forum_id.as_ref().is_none_or(|id| sees(caller, id)) {
        return Err(match place {
            ResourceRef::Global => ApiError::ReplayNotFound,
            _ => ApiError::NotFound,
        });
    }
    let place = match (&resource.thread_id, &resource.post_id) {
        (Some(thread), Some(post)) => ResourceRef::Post(thread, post),
        (Some(thread), None) => ResourceRef::Thread(thread),
        (None, _) => return Ok(()),
    };
    match board.containing_forum(caller, place).await {
        Ok(forum) if sees(caller, &forum) => Ok(()),
        Ok(_) | Err(BoardError::PathNotFound) => Err(ApiError::ReplayNotFound),
        Err(BoardError::NotImplemented) => Ok(()),
        Err(refusal) => Err(refusal.into()),
    }
}
