//! The few rules of the test board.

use forum_api::host::{Member, Refusal, Result};
use forum_api::model::{PostId, UserRef};

use super::board::Moderates;
use super::world::MEMBERS;

pub(super) fn member_of(user: &UserRef) -> Option<&'static str> {
    let name = user.to_string();
    let name = name.trim_start_matches('@');
    MEMBERS.into_iter().find(|member| *member == name)
}

/// Threads that end in 1 carry a poll of the same id.
pub(super) fn has_poll(id: &str) -> Result<()> {
    id.ends_with("-1").then_some(()).ok_or(Refusal::Absent)
}

/// Odd posts are alice's, even ones bob's; a moderator may change any.
pub(super) fn may_change(by: &Member, post: &PostId) -> Result<()> {
    let number: usize = post
        .to_string()
        .rsplit('-')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let own = by.user().to_string() == if number % 2 == 1 { "alice" } else { "bob" };
    (own || by.loaded::<Moderates>()?.0)
        .then_some(())
        .ok_or_else(|| Refusal::Forbidden("It is not yours.".into()))
}

pub(super) fn typed(field: &'static str, text: &str) -> Result<()> {
    (!text.is_empty())
        .then_some(())
        .ok_or_else(|| Refusal::invalid(field, "it is empty"))
}
