//! Where a fault sits: in the authority, in a command of the board, or in what the board's own pages do.

use forum_api::conformance::Audience;
use forum_api::host::{In, Standing};
use forum_api::model::*;
use forum_api::webhook::Event;

use super::twist::Twist;

/// A fault: where it sits, and what is wrong there.
pub enum Plant {
    /// The authority; `None` is the guest.
    Standing(Twist<(Option<UserId>,), Option<Standing>>),
    /// What is asked before a write; the place as it is printed.
    ForumOf(Twist<(String,), ForumId>),
    Me(Twist<(), Account>),
    Forums(Twist<(), Vec<Forum>>),
    Threads(Twist<(ForumId, ListThreads), Page<Thread>>),
    StartThread(Twist<(ForumId, StartThread), Thread>),
    Thread(Twist<(ThreadId,), Thread>),
    Posts(Twist<(ThreadId, ListPosts), In<Page<Post>>>),
    Reply(Twist<(ThreadId, Reply), In<Post>>),
    EditPost(Twist<(PostAt, EditPost), In<Post>>),
    DeletePost(Twist<(PostAt,), ()>),
    Profile(Twist<(UserRef,), Profile>),
    Rate(Twist<(UserRef, Rate), Rating>),
    Messages(Twist<(ListMessages,), Page<MessageSummary>>),
    SendMessage(Twist<(SendMessage,), Message>),
    Message(Twist<(MessageId, Opening), Message>),
    Poll(Twist<(ThreadId,), In<Poll>>),
    Vote(Twist<(PollId, Vote), In<Poll>>),
    EditPoll(Twist<(PollId, EditPoll), In<Poll>>),
    Subscriptions(Twist<(ListSubscriptions,), Page<Subscription>>),
    Follow(Twist<(Target,), Followed>),
    Unfollow(Twist<(Target,), ()>),
    Search(Twist<(Search,), Page<SearchHit>>),
    SetReaders(Twist<(ForumId, Audience), ()>),
    SetModerator(Twist<(ForumId, UserId, bool), ()>),
    SetBanned(Twist<(UserId, bool), ()>),
    SetOffline(Twist<(bool,), ()>),
    SetLocked(Twist<(ThreadId, bool), ()>),
    SetPinned(Twist<(ThreadId, bool), ()>),
    Approve(Twist<(PostId,), ()>),
    Restore(Twist<(PostId,), ()>),
    Ignore(Twist<(UserId, UserId), ()>),
    RemoveAccount(Twist<(UserId,), ()>),
    /// What is found in the outbox.
    Events(fn(&mut Vec<Event>)),
}
