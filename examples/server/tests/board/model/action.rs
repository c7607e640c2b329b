//! Random actions: requests to the API and changes by operators.

use proptest::prelude::*;
use proptest::sample::select;

use super::state::MEMBERS;

/// Selects an existing item: the number modulo the count of the items.
pub type Index = usize;

/// Number of a member; `None` for the guest.
pub type Caller = Option<usize>;

/// Target of a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    Forum(usize),
    Thread(Index),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[rustfmt::skip]
pub enum Kind {
    Forums, Threads, Thread, Posts, Profile, Poll, Search, Inbox, Open, Subscriptions,
    Start, Reply, Edit, Delete, Rate, Send, Vote, UpdatePoll, Subscribe, Unsubscribe,
    Ban, Offline, Readers, Moderator, Lock, Approve, Restore, Ignore, Wait,
}

use Kind::*;

const READS: &[Kind] = &[
    Forums,
    Threads,
    Thread,
    Posts,
    Profile,
    Poll,
    Search,
    Inbox,
    Open,
    Subscriptions,
];
const WRITES: &[Kind] = &[
    Start,
    Reply,
    Edit,
    Delete,
    Rate,
    Send,
    Vote,
    UpdatePoll,
    Subscribe,
    Unsubscribe,
];
const OPERATIONS: &[Kind] = &[
    Ban, Offline, Readers, Moderator, Lock, Approve, Restore, Ignore, Wait,
];

/// An action. The meaning of its numbers and of its flag depends on its kind.
#[derive(Clone, Copy, Debug)]
pub struct Action {
    pub kind: Kind,
    pub caller: Caller,
    pub index: Index,
    pub other_index: Index,
    pub flag: bool,
}

/// Reads are as frequent as writes, and operations are rare.
pub fn action() -> impl Strategy<Value = Action> {
    let kind = prop_oneof![8 => select(READS), 8 => select(WRITES), 2 => select(OPERATIONS)];
    let caller = proptest::option::weighted(0.9, 0..MEMBERS.len());
    let action = (kind, caller, 0..1_000_usize, 0..1_000_usize, any::<bool>());
    action.prop_map(|(kind, caller, index, other_index, flag)| Action {
        kind,
        caller,
        index,
        other_index,
        flag,
    })
}
