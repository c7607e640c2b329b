//! The few rules of the test board.

use forum_api::host::{BoardError, BoardResult, MemberCaller};
use forum_api::model::{PostId, UserRef};

use super::board::Moderates;
use super::world::MEMBERS;

pub(super) fn member_of(user: &UserRef) -> Option<&'static str> {
    let name = user.to_string();
    let name = name.trim_start_matches('@');
    MEMBERS.into_iter().find(|member| *member == name)
}

/// Threads that end in 1 carry a poll of the same id.
pub(super) fn has_poll(id: &str) -> BoardResult<()> {
    id.ends_with("-1")
        .then_some(())
        .ok_or(BoardError::PathNotFound)
}

/// Odd posts are alice's, even ones bob's; a moderator may change any.
pub(super) fn may_change(by: &MemberCaller, post: &PostId) -> BoardResult<()> {
    let number: usize = post
        .to_string()
        .rsplit('-')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let own = by.user_id().to_string() == if number % 2 == 1 { "alice" } else { "bob" };
    (own || by.extension::<Moderates>()?.0)
        .then_some(())
        .ok_or_else(|| BoardError::Forbidden("It is not yours.".into()))
}

pub(super) fn typed(field: &'static str, text: &str) -> BoardResult<()> {
    (!text.is_empty())
        .then_some(())
        .ok_or_else(|| BoardError::invalid(field, "it is empty"))
}
