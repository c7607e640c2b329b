//! What a caller sees, as queries ask it: what is hidden is not read.

use super::actor::Actor;
use super::db::Bound;

/// The parameters of a query that asks [`sees_thread`] or [`sees_post`].
#[derive(Clone, Debug)]
pub struct Sight {
    /// The forums that the caller sees: their ids, each between two commas.
    sees: String,
    /// The forums that the caller moderates.
    moderates: String,
    /// The caller's id; `None` for the guest.
    member: Option<i64>,
}

impl Sight {
    /// What `actor` sees.
    pub fn of(actor: &Actor) -> Self {
        Self {
            sees: between_commas(actor.sees()),
            moderates: between_commas(actor.moderates()),
            member: actor.member,
        }
    }

    /// Its parameters and the `others` of the query.
    pub fn with<'a>(&'a self, others: &[Bound<'a>]) -> Vec<Bound<'a>> {
        let mut all: Vec<Bound<'a>> = vec![
            (":sees", &self.sees),
            (":moderates", &self.moderates),
            (":member", &self.member),
        ];
        all.extend_from_slice(others);
        all
    }
}

/// Ids as a query looks for one with `instr`.
pub fn between_commas(forums: impl Iterator<Item = i64>) -> String {
    forums.fold(",".into(), |list, forum| format!("{list}{forum},"))
}

/// SQL: whether the caller sees the forum with the id `forum`.
pub fn sees_forum(forum: &str) -> String {
    format!("instr(:sees, ',' || {forum} || ',') > 0")
}

/// SQL: whether the caller sees the row `thread`.
pub fn sees_thread() -> String {
    let (forum, state) = (sees_forum("thread.forum_id"), sees_state("thread"));
    format!("{forum} AND {state}")
}

/// SQL: whether the caller, who sees the row `thread`, sees its post in the row `post`.
pub fn sees_post(post: &str) -> String {
    sees_state(post)
}

/// What awaits approval is there for its author and the moderators, what is deleted for the moderators.
fn sees_state(row: &str) -> String {
    format!(
        "({row}.state = 'visible'
            OR {row}.state = 'awaiting_approval' AND {row}.author_id = :member
            OR instr(:moderates, ',' || thread.forum_id || ',') > 0)"
    )
}
