//! What the board does: one method per endpoint.

use async_trait::async_trait;

use super::{Caller, In, Member, Refusal, Result};
use crate::model::{
    Account, EditPoll, EditPost, Followed, Forum, ForumId, ListMessages, ListPosts,
    ListSubscriptions, ListThreads, Message, MessageId, MessageSummary, Opening, Page, Poll,
    PollId, Post, PostAt, PostId, Profile, Rate, Rating, Reply, Search, SearchHit, SendMessage,
    StartThread, Subscription, Target, Thread, ThreadId, UserRef, Vote,
};

/// What the path of a write names; the library asks where that is before it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place<'a> {
    /// Nothing that is in a forum.
    Nowhere,
    /// A forum.
    Forum(&'a ForumId),
    /// A thread.
    Thread(&'a ThreadId),
    /// A post of a thread.
    Post(&'a ThreadId, &'a PostId),
    /// A poll.
    Poll(&'a PollId),
}

/// The board's own commands, the same that its web pages run.
///
/// Reads take a [`Caller`], who may be a guest; writes take a [`Member`]. Then follows what the path names, then what
/// the query or body says. Each method answers 501 until it is written, so that a host grows into the trait; one that
/// means to be complete turns on `clippy::missing_trait_methods`.
///
/// A command owns the board's rules and decides, inside its own transaction, on what it finds there. What it must not
/// show it answers with [`Refusal::Absent`]. The library checks the forum of every answer against the caller's
/// standing once more, and drops and logs what should not have been there.
#[async_trait]
#[allow(unused_variables, reason = "the defaults use none")]
pub trait Board: Send + Sync + 'static {
    /// The forum in which `place` is, if `caller` sees it there: asked before each write to a place, and before a
    /// stored response about it is given again.
    ///
    /// [`Place::Nowhere`] and [`Place::Forum`] never arrive here.
    ///
    /// # Errors
    /// [`Refusal::Absent`] when it is not there, or hidden from this caller.
    async fn forum_of(&self, caller: &Caller, place: Place<'_>) -> Result<ForumId> {
        Err(Refusal::NotImplemented)
    }

    /// `GET /me`: the caller's own account.
    async fn me(&self, by: &Member) -> Result<Account> {
        Err(Refusal::NotImplemented)
    }

    /// `GET /forums`: the forums that the caller sees, parents before children, by position. The library counts positions
    /// anew, so that no gap tells of a forum that is hidden.
    async fn forums(&self, caller: &Caller) -> Result<Vec<Forum>> {
        Err(Refusal::NotImplemented)
    }

    /// `GET /forums/{forumId}/threads`: newest activity first. The library has seen that the caller sees the forum.
    async fn threads(
        &self,
        caller: &Caller,
        forum: ForumId,
        list: ListThreads,
    ) -> Result<Page<Thread>> {
        Err(Refusal::NotImplemented)
    }

    /// `POST /forums/{forumId}/threads`: starts a thread, with its poll in the same transaction.
    async fn start_thread(&self, by: &Member, forum: ForumId, new: StartThread) -> Result<Thread> {
        Err(Refusal::NotImplemented)
    }

    /// `GET /threads/{threadId}`: one thread.
    async fn thread(&self, caller: &Caller, thread: ThreadId) -> Result<Thread> {
        Err(Refusal::NotImplemented)
    }

    /// `GET /threads/{threadId}/posts`: oldest first. An empty page of a thread that is there is no absent thread.
    async fn posts(
        &self,
        caller: &Caller,
        thread: ThreadId,
        list: ListPosts,
    ) -> Result<In<Page<Post>>> {
        Err(Refusal::NotImplemented)
    }

    /// `POST /threads/{threadId}/posts`: posts a reply.
    async fn reply(&self, by: &Member, thread: ThreadId, reply: Reply) -> Result<In<Post>> {
        Err(Refusal::NotImplemented)
    }

    /// `PATCH /threads/{threadId}/posts/{postId}`: edits a post.
    async fn edit_post(&self, by: &Member, at: PostAt, edit: EditPost) -> Result<In<Post>> {
        Err(Refusal::NotImplemented)
    }

    /// `DELETE /threads/{threadId}/posts/{postId}`: soft-deletes a post, or with the first one the thread.
    async fn delete_post(&self, by: &Member, at: PostAt) -> Result<()> {
        Err(Refusal::NotImplemented)
    }

    /// `GET /members/{userId}`: a public profile.
    async fn profile(&self, caller: &Caller, user: UserRef) -> Result<Profile> {
        Err(Refusal::NotImplemented)
    }

    /// `POST /members/{userId}/reputation`: rates a member. The rating of a post carries the post's forum; without it
    /// the answer is 500.
    async fn rate(&self, by: &Member, user: UserRef, rating: Rate) -> Result<Rating> {
        Err(Refusal::NotImplemented)
    }

    /// `GET /messages`: one folder, newest first. Marks nothing read.
    async fn messages(&self, by: &Member, list: ListMessages) -> Result<Page<MessageSummary>> {
        Err(Refusal::NotImplemented)
    }

    /// `POST /messages`: sends a message, and gives the sender's copy.
    async fn send_message(&self, by: &Member, new: SendMessage) -> Result<Message> {
        Err(Refusal::NotImplemented)
    }

    /// `GET /messages/{messageId}`: opens a message of the caller's; `HEAD` only peeks. Another's copy is absent.
    ///
    /// The first opening marks it read and sends the receipt that was asked for, in one transaction. Like a write it runs
    /// to its end whoever hangs up.
    async fn message(&self, by: &Member, message: MessageId, opening: Opening) -> Result<Message> {
        Err(Refusal::NotImplemented)
    }

    /// `GET /threads/{threadId}/poll`: the thread's poll.
    async fn poll(&self, caller: &Caller, thread: ThreadId) -> Result<In<Poll>> {
        Err(Refusal::NotImplemented)
    }

    /// `POST /polls/{pollId}/votes`: votes.
    async fn vote(&self, by: &Member, poll: PollId, vote: Vote) -> Result<In<Poll>> {
        Err(Refusal::NotImplemented)
    }

    /// `PATCH /polls/{pollId}`: edits a poll.
    async fn edit_poll(&self, by: &Member, poll: PollId, edit: EditPoll) -> Result<In<Poll>> {
        Err(Refusal::NotImplemented)
    }

    /// `GET /subscriptions`: what the caller follows, newest first, without what became invisible.
    async fn subscriptions(
        &self,
        by: &Member,
        list: ListSubscriptions,
    ) -> Result<Page<Subscription>> {
        Err(Refusal::NotImplemented)
    }

    /// `POST /subscriptions`: follows a thread or a forum. One that is absent or hidden: [`Refusal::NotFound`].
    async fn follow(&self, by: &Member, what: Target) -> Result<Followed> {
        Err(Refusal::NotImplemented)
    }

    /// `DELETE /subscriptions/{target}/{targetId}`: unfollows, what became invisible too. What was not followed:
    /// [`Refusal::NotFound`].
    async fn unfollow(&self, by: &Member, what: Target) -> Result<()> {
        Err(Refusal::NotImplemented)
    }

    /// `GET /search`: lists the matches that the caller may read.
    ///
    /// A hit is a post. With [`Show::Threads`](crate::model::Show::Threads) it is one match of each thread: the newest
    /// under [`Sort::Newest`](crate::model::Sort::Newest), the oldest under [`Sort::Oldest`](crate::model::Sort::Oldest),
    /// the best under [`Sort::Relevance`](crate::model::Sort::Relevance). The hits are in that order, by time or by
    /// score. [`When::range`](crate::model::When::range) includes its start and excludes its end. A forum or a member
    /// that is absent or hidden gives no hits and no error.
    async fn search(&self, caller: &Caller, search: Search) -> Result<Page<SearchHit>> {
        Err(Refusal::NotImplemented)
    }
}
