//! What happens in a history: somebody asks something of the API, or an operator changes the board.

use forum_api::conformance::Audience;
use proptest::prelude::*;

use super::world::{FORUMS, MEMBERS};

/// Something of its kind, whichever it is by then: the numbers go round.
pub type Any = usize;

/// A member, by number, or the guest.
pub type Who = Option<usize>;

/// What is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    Forum(usize),
    Thread(Any),
}

/// One step.
#[derive(Clone, Copy, Debug)]
pub enum Act {
    Forums(Who),
    Threads(Who, usize),
    Thread(Who, Any),
    Posts(Who, Any),
    Profile(Who, usize),
    Poll(Who, Any),
    Search(Who),
    Inbox(Who),
    Open(Who, Any),
    Followed(Who),
    /// In a forum, with a poll or without.
    Start(Who, usize, bool),
    Reply(Who, Any),
    Edit(Who, Any),
    Delete(Who, Any),
    /// A member, for a post or without.
    Rate(Who, usize, Option<Any>),
    /// To a member, who is to acknowledge it or not.
    Send(Who, usize, bool),
    /// For one of the two options of a thread's poll.
    Vote(Who, Any, usize),
    EditPoll(Who, Any),
    Follow(Who, Target),
    Unfollow(Who, Target),
    Ban(usize, bool),
    Offline(bool),
    Readers(usize, Audience),
    Moderator(usize, usize, bool),
    Lock(Any, bool),
    Approve(Any),
    Restore(Any),
    Ignore(usize, usize),
    /// So many minutes go by.
    Wait(u64),
}

/// Any step. Reads are as many as writes, and what an operator does is rare.
pub fn step() -> impl Strategy<Value = Act> {
    prop_oneof![8 => read(), 8 => write(), 2 => operate()]
}

fn read() -> impl Strategy<Value = Act> {
    prop_oneof![
        who().prop_map(Act::Forums),
        (who(), forum()).prop_map(|(who, forum)| Act::Threads(who, forum)),
        (who(), thing()).prop_map(|(who, thread)| Act::Thread(who, thread)),
        (who(), thing()).prop_map(|(who, thread)| Act::Posts(who, thread)),
        (who(), member()).prop_map(|(who, member)| Act::Profile(who, member)),
        (who(), thing()).prop_map(|(who, thread)| Act::Poll(who, thread)),
        who().prop_map(Act::Search),
        who().prop_map(Act::Inbox),
        (who(), thing()).prop_map(|(who, message)| Act::Open(who, message)),
        who().prop_map(Act::Followed),
    ]
}

fn write() -> impl Strategy<Value = Act> {
    let post = proptest::option::of(thing());
    prop_oneof![
        (who(), forum(), any::<bool>()).prop_map(|(who, forum, poll)| Act::Start(who, forum, poll)),
        (who(), thing()).prop_map(|(who, thread)| Act::Reply(who, thread)),
        (who(), thing()).prop_map(|(who, post)| Act::Edit(who, post)),
        (who(), thing()).prop_map(|(who, post)| Act::Delete(who, post)),
        (who(), member(), post).prop_map(|(who, rated, post)| Act::Rate(who, rated, post)),
        (who(), member(), any::<bool>()).prop_map(|(who, to, asks)| Act::Send(who, to, asks)),
        (who(), thing(), 0..2_usize)
            .prop_map(|(who, thread, option)| Act::Vote(who, thread, option)),
        (who(), thing()).prop_map(|(who, thread)| Act::EditPoll(who, thread)),
        (who(), target()).prop_map(|(who, target)| Act::Follow(who, target)),
        (who(), target()).prop_map(|(who, target)| Act::Unfollow(who, target)),
    ]
}

fn operate() -> impl Strategy<Value = Act> {
    prop_oneof![
        (member(), any::<bool>()).prop_map(|(member, banned)| Act::Ban(member, banned)),
        proptest::bool::weighted(0.2).prop_map(Act::Offline),
        (forum(), audience()).prop_map(|(forum, readers)| Act::Readers(forum, readers)),
        (forum(), member(), any::<bool>())
            .prop_map(|(forum, member, is_one)| Act::Moderator(forum, member, is_one)),
        (thing(), any::<bool>()).prop_map(|(thread, locked)| Act::Lock(thread, locked)),
        thing().prop_map(Act::Approve),
        thing().prop_map(Act::Restore),
        (member(), member()).prop_map(|(member, ignored)| Act::Ignore(member, ignored)),
        (0..60_u64).prop_map(Act::Wait),
    ]
}

fn who() -> impl Strategy<Value = Who> {
    proptest::option::weighted(0.9, member())
}

fn member() -> impl Strategy<Value = usize> {
    0..MEMBERS.len()
}

fn forum() -> impl Strategy<Value = usize> {
    0..FORUMS.len()
}

fn thing() -> impl Strategy<Value = Any> {
    0..1_000_usize
}

fn target() -> impl Strategy<Value = Target> {
    prop_oneof![
        forum().prop_map(Target::Forum),
        thing().prop_map(Target::Thread)
    ]
}

fn audience() -> impl Strategy<Value = Audience> {
    prop_oneof![
        Just(Audience::Guests),
        Just(Audience::Members),
        Just(Audience::Staff)
    ]
}
