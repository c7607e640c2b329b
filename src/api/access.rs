//! Steps 4 to 6, 8 and 9 of the pipeline: scope check, access, online check, visibility check, and the visibility of a
//! stored response.

use super::row::Row;
use crate::api::authentication::Bearer;
use crate::api::error::Problem;
use crate::api::extract::value::Node;
use crate::api::trace;
use crate::host::{Authority, Board, Caller, Member, Place, Presented, Refusal};
use crate::model::UserRef;
use crate::scope::Scope;
use crate::store::ResourceIds;

/// A token must carry the endpoint's scope, where a guest needs none too.
pub(super) fn scope(bearer: Option<&Bearer>, needed: Scope) -> Result<(), Problem> {
    carries(bearer.map(|bearer| &bearer.presented), needed)
}

/// Checks the additional scope that `true` in a field of the body needs.
pub(super) fn field_scope(row: &Row, body: &Node<'_>, caller: &Caller) -> Result<(), Problem> {
    let presented = caller.member().and_then(Member::presented);
    match row.field_scope {
        Some((field, needed)) if body.is_true(field) => carries(presented, needed),
        _ => Ok(()),
    }
}

fn carries(presented: Option<&Presented>, needed: Scope) -> Result<(), Problem> {
    let carried = presented.is_none_or(|presented| presented.scopes.contains(&needed));
    carried.then_some(()).ok_or(Problem::MissingScope)
}

/// The caller with what the board lets them see now; nothing of it is kept.
pub(super) async fn caller(
    bearer: Option<Bearer>,
    authority: &dyn Authority,
) -> Result<Caller, Problem> {
    let Some(bearer) = bearer else {
        return Ok(Caller::Guest(authority.guest().await?));
    };
    let standing = authority
        .member(&bearer.owner)
        .await?
        .ok_or(Problem::OwnerUnavailable)?;
    Ok(Caller::bearer(bearer.owner, standing, bearer.presented))
}

/// An offline board is there for those who may see it.
pub(super) fn online(caller: &Caller) -> Result<(), Problem> {
    (!caller.standing().locked_out)
        .then_some(())
        .ok_or(Problem::BoardOffline)
}

/// Whether the caller sees the place that a path names.
///
/// A forum is answered from the standing. The rest is asked of the board, before writes alone: what a read gives is
/// checked when it is there.
pub(super) async fn sees(
    board: &dyn Board,
    caller: &Caller,
    place: Place<'_>,
    row: &Row,
) -> Result<(), Problem> {
    let seen = |forum| caller.standing().forums.contains(forum);
    let sees = match place {
        Place::Nowhere => true,
        Place::Forum(forum) => seen(forum),
        _ if row.is_read() => true,
        place => {
            let forum = board.forum_of(caller, place).await;
            let forum = forum.inspect_err(|refusal| trace::unplaced(row.name, refusal))?;
            let sees = seen(&forum);
            if !sees {
                trace::withheld(row.name, &forum);
            }
            sees
        }
    };
    sees.then_some(()).ok_or(Problem::NotFound)
}

/// Checks that the caller can still see what a stored response is about.
///
/// `in_path` says whether the path names the forum or a resource in it. The path never names the thread or post that was
/// created, nor the thread that is followed. If the board does not implement `forum_of`, only the forum is checked.
pub(super) async fn still_sees(
    board: &dyn Board,
    caller: &Caller,
    resource: &ResourceIds,
    in_path: bool,
) -> Result<(), Problem> {
    let seen = |forum| caller.standing().forums.contains(forum);
    if !resource.forum_id.as_ref().is_none_or(seen) {
        return Err(if in_path {
            Problem::NotFound
        } else {
            Problem::ReplayNotFound
        });
    }
    let place = match (&resource.thread_id, &resource.post_id) {
        (Some(thread), Some(post)) => Place::Post(thread, post),
        (Some(thread), None) => Place::Thread(thread),
        (None, _) => return Ok(()),
    };
    match board.forum_of(caller, place).await {
        Ok(forum) if seen(&forum) => Ok(()),
        Ok(_) | Err(Refusal::Absent) => Err(Problem::ReplayNotFound),
        Err(Refusal::NotImplemented) => Ok(()),
        Err(refusal) => Err(refusal.into()),
    }
}

/// Checks that the member that the path of a repeated request names still exists.
pub(super) async fn still_there(
    board: &dyn Board,
    caller: &Caller,
    member: UserRef,
) -> Result<(), Problem> {
    match board.profile(caller, member).await {
        Ok(_) | Err(Refusal::NotImplemented) => Ok(()),
        Err(refusal) => Err(refusal.into()),
    }
}
