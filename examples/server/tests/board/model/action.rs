//! Random actions: requests of the API, and changes by operators.

use proptest::prelude::*;
use proptest::sample::select;

use super::state::MEMBERS;

/// Selects one of the existing things: the number modulo their count.
pub type Any = usize;

/// A member, by number, or the guest.
pub type Who = Option<usize>;

/// The target of a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    Forum(usize),
    Thread(Any),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[rustfmt::skip]
pub enum Kind {
    Forums, Threads, Thread, Posts, Profile, Poll, Search, Inbox, Open, Followed,
    Start, Reply, Edit, Delete, Rate, Send, Vote, UpdatePoll, Follow, Unfollow,
    Ban, Offline, Readers, Moderator, Lock, Approve, Restore, Ignore, Wait,
}

use Kind::*;

const READS: &[Kind] = &[
    Forums, Threads, Thread, Posts, Profile, Poll, Search, Inbox, Open, Followed,
];
const WRITES: &[Kind] = &[
    Start, Reply, Edit, Delete, Rate, Send, Vote, UpdatePoll, Follow, Unfollow,
];
const OPERATIONS: &[Kind] = &[
    Ban, Offline, Readers, Moderator, Lock, Approve, Restore, Ignore, Wait,
];

/// An action of a kind. The kind decides what the numbers and the flag select.
#[derive(Clone, Copy, Debug)]
pub struct Action {
    pub kind: Kind,
    pub who: Who,
    pub one: Any,
    pub another: Any,
    pub flag: bool,
}

/// Reads are as frequent as writes, and operations are rare.
pub fn action() -> impl Strategy<Value = Action> {
    let kind = prop_oneof![8 => select(READS), 8 => select(WRITES), 2 => select(OPERATIONS)];
    let who = proptest::option::weighted(0.9, 0..MEMBERS.len());
    let action = (kind, who, 0..1_000_usize, 0..1_000_usize, any::<bool>());
    action.prop_map(|(kind, who, one, another, flag)| Action {
        kind,
        who,
        one,
        another,
        flag,
    })
}
