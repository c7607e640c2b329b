//! Where a fault sits: what it does to a question before the board hears it, or to the answer afterwards.

use forum_api::host::{In, Refusal, Result, Standing};
use forum_api::model::*;

/// A fault.
#[derive(Clone, Copy, Debug)]
pub enum Plant {
    /// The authority's answer.
    Standing(fn(Option<&UserId>, &mut Option<Standing>)),
    /// The authority's first answer is its last one.
    Remembers,
    /// A command sees with an administrator's eyes.
    SeesAll(&'static str),
    /// A write that is refused like this is carried out all the same; whether the request's standing covers the forum.
    Forces(fn(&Refusal, bool) -> bool),
    ForumOf(fn(&mut Result<ForumId>)),
    /// The list of forums; and how many threads and posts were written, whoever sees them.
    Forums(fn(&mut Vec<Forum>, u64)),
    /// The forum of which threads are asked for.
    AskForum(fn(&mut ForumId)),
    AskThreads(fn(&mut ListThreads)),
    Threads(fn(&mut Result<Page<Thread>>, &ListThreads)),
    /// Positions count from the beginning of the list.
    Offsets,
    Thread(fn(&mut Result<Thread>)),
    AskPosts(fn(&mut ListPosts)),
    Posts(fn(&mut Result<In<Page<Post>>>, &ListPosts)),
    AskStart(fn(&mut StartThread)),
    Start(fn(&mut Result<Thread>)),
    AskReply(fn(&mut Reply)),
    Reply(fn(&mut Result<In<Post>>)),
    AskProfile(fn(&mut UserRef)),
    /// Who can no longer act is absent.
    HidesBanned,
    /// A profile; and how many threads and posts were written.
    Profile(fn(&mut Profile, u64)),
    Me(fn(&mut Account)),
    AskMessages(fn(&mut ListMessages)),
    AskMessage(fn(&mut Opening)),
    /// A message that is not the caller's is opened with the eyes of whoever it belongs to.
    OpensOthers,
    AskSend(fn(&mut SendMessage)),
}
