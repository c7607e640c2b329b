//! Random actions: requests to the API and changes by operators.

use proptest::prelude::*;
use proptest::sample::select;

use super::action_runner::{MEMBERS, NEWCOMER};
use crate::prelude::*;

/// Time between two actions: longer than the minimum interval between two posts.
const STEP: Duration = Duration::from_secs(61);

const MINUTE: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[rustfmt::skip]
pub enum Kind {
    Forums, Threads, Thread, Posts, Profile, Poll, Search, Inbox, Open, Subscriptions,
    Start, Reply, Edit, Delete, Rate, Send, Vote, UpdatePoll, Subscribe, Unsubscribe,
    Ban, Offline, Readers, Moderator, Lock, Approve, Restore, Ignore, Wait,
}

use Kind::*;

#[rustfmt::skip]
const READS: &[Kind] = &[
    Forums, Threads, Thread, Posts, Profile, Poll, Search, Inbox, Open, Subscriptions,
];
#[rustfmt::skip]
const WRITES: &[Kind] = &[
    Start, Reply, Edit, Delete, Rate, Send, Vote, UpdatePoll, Subscribe, Unsubscribe,
];
const OPERATIONS: &[Kind] =
    &[Ban, Offline, Readers, Moderator, Lock, Approve, Restore, Ignore, Wait];

/// An action. The meaning of its numbers and of its flag depends on its kind.
#[derive(Clone, Copy, Debug)]
pub struct Action {
    pub kind: Kind,
    /// Number of a member; `None` for the guest.
    pub caller: Option<usize>,
    /// Selects an item: the number modulo the count of the items.
    pub index: usize,
    pub other_index: usize,
    pub flag: bool,
}

/// Reads are as frequent as writes, and operations are rare. A newcomer edits nothing, because a board chooses whether
/// an approved post awaits approval again after an edit.
pub fn any_action() -> impl Strategy<Value = Action> {
    let kind = prop_oneof![8 => select(READS), 8 => select(WRITES), 2 => select(OPERATIONS)];
    let caller = proptest::option::weighted(0.9, 0..MEMBERS.len());
    (kind, caller, 0..1_000_usize, 0..1_000_usize, any::<bool>()).prop_map(
        |(kind, caller, index, other_index, flag)| Action {
            kind,
            caller: caller
                .filter(|member| *member != NEWCOMER || !matches!(kind, Edit | UpdatePoll)),
            index,
            other_index,
            flag,
        },
    )
}

/// Returns actions that write, hide and show content: of the administrator, a member and the newcomer, who also edits, and of
/// operators.
pub fn any_moderated_action() -> impl Strategy<Value = Action> {
    let kind = prop_oneof![
        2 => select(&[Start, Reply, Vote, UpdatePoll]),
        3 => select(&[Edit, Delete, Approve, Restore]),
        1 => select(&[Lock, Rate]),
    ];
    let caller = select(&[0, 2, NEWCOMER]).prop_map(Some);
    (kind, caller, 0..1_000_usize, 0..1_000_usize, any::<bool>()).prop_map(
        |(kind, caller, index, other_index, flag)| Action {
            kind,
            caller,
            index,
            other_index,
            flag,
        },
    )
}

impl Action {
    /// Returns the time that passes before the action.
    pub fn wait(&self) -> Duration {
        match self.kind {
            Wait => STEP + MINUTE * (self.index as u32 % 60),
            _ => STEP,
        }
    }

    /// Returns whether only the reference board may refuse the action: it appoints no moderator without access to the
    /// forum.
    pub fn may_differ(&self, actual: &Value) -> bool {
        self.kind == Moderator && actual["result"] == false
    }
}
