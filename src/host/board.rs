//! What the board does: one method per endpoint.

use async_trait::async_trait;

use super::{BoardError, BoardResult, Caller, InForum, MemberCaller};
use crate::model::{
    Forum, ForumId, ListMessagesParams, ListPostsParams, ListSubscriptionsParams,
    ListThreadsParams, MarkRead, Member, Message, MessageId, MessageSummary, NewMessage, NewPost,
    NewRating, NewThread, NewVote, OwnAccount, Page, Poll, PollId, PollUpdate, Post, PostId,
    PostPath, PostUpdate, Rating, SearchHit, SearchParams, SubscribeOutcome, Subscription,
    SubscriptionTarget, Thread, ThreadId, UserRef,
};

/// What the path of a write names; the library asks where that is before it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResourceRef<'a> {
    /// Nothing that is in a forum.
    Global,
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
/// show it answers with [`BoardError::Absent`]. The library checks the forum of every answer against the caller's
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
    /// [`BoardError::Absent`] when it is not there, or hidden from this caller.
    ///
    /// Rules: [hidden resources](crate::guide::board_rules#hidden-resources),
    /// [deletion](crate::guide::board_rules#deletion).
    async fn containing_forum(
        &self,
        caller: &Caller,
        place: ResourceRef<'_>,
    ) -> BoardResult<ForumId> {
        Err(BoardError::NotImplemented)
    }

    /// `GET /me`: the caller's own account.
    ///
    /// Rules: [members](crate::guide::board_rules#members).
    async fn get_me(&self, by: &MemberCaller) -> BoardResult<OwnAccount> {
        Err(BoardError::NotImplemented)
    }

    /// `GET /forums`: the forums that the caller sees, parents before children, by position. The library counts positions
    /// anew, so that no gap tells of a forum that is hidden.
    ///
    /// Rules: [forums](crate::guide::board_rules#forums), [permissions](crate::guide::board_rules#permissions).
    async fn list_forums(&self, caller: &Caller) -> BoardResult<Vec<Forum>> {
        Err(BoardError::NotImplemented)
    }

    /// `GET /forums/{forumId}/threads`: newest activity first. The library has seen that the caller sees the forum.
    ///
    /// Rules: [threads](crate::guide::board_rules#threads).
    async fn list_threads(
        &self,
        caller: &Caller,
        forum: ForumId,
        list: ListThreadsParams,
    ) -> BoardResult<Page<Thread>> {
        Err(BoardError::NotImplemented)
    }

    /// `POST /forums/{forumId}/threads`: starts a thread, with its poll in the same transaction.
    ///
    /// Rules: [threads](crate::guide::board_rules#threads), [permissions](crate::guide::board_rules#permissions),
    /// [polls](crate::guide::board_rules#polls).
    async fn create_thread(
        &self,
        by: &MemberCaller,
        forum: ForumId,
        new: NewThread,
    ) -> BoardResult<Thread> {
        Err(BoardError::NotImplemented)
    }

    /// `GET /threads/{threadId}`: one thread.
    ///
    /// Rules: [threads](crate::guide::board_rules#threads), [permissions](crate::guide::board_rules#permissions).
    async fn get_thread(&self, caller: &Caller, thread: ThreadId) -> BoardResult<Thread> {
        Err(BoardError::NotImplemented)
    }

    /// `GET /threads/{threadId}/posts`: oldest first. An empty page of a thread that is there is no absent thread.
    ///
    /// Rules: [posts](crate::guide::board_rules#posts).
    async fn list_posts(
        &self,
        caller: &Caller,
        thread: ThreadId,
        list: ListPostsParams,
    ) -> BoardResult<InForum<Page<Post>>> {
        Err(BoardError::NotImplemented)
    }

    /// `POST /threads/{threadId}/posts`: posts a reply.
    ///
    /// Rules: [posts](crate::guide::board_rules#posts), [permissions](crate::guide::board_rules#permissions).
    async fn create_post(
        &self,
        by: &MemberCaller,
        thread: ThreadId,
        reply: NewPost,
    ) -> BoardResult<InForum<Post>> {
        Err(BoardError::NotImplemented)
    }

    /// `PATCH /threads/{threadId}/posts/{postId}`: edits a post.
    ///
    /// Rules: [edits](crate::guide::board_rules#edits), [approval](crate::guide::board_rules#approval).
    async fn update_post(
        &self,
        by: &MemberCaller,
        at: PostPath,
        edit: PostUpdate,
    ) -> BoardResult<InForum<Post>> {
        Err(BoardError::NotImplemented)
    }

    /// `DELETE /threads/{threadId}/posts/{postId}`: soft-deletes a post, or with the first one the thread.
    ///
    /// Rules: [deletion](crate::guide::board_rules#deletion), [counters](crate::guide::board_rules#counters).
    async fn delete_post(&self, by: &MemberCaller, at: PostPath) -> BoardResult<()> {
        Err(BoardError::NotImplemented)
    }

    /// `GET /members/{userId}`: a public profile.
    ///
    /// Rules: [members](crate::guide::board_rules#members).
    async fn get_member(&self, caller: &Caller, user: UserRef) -> BoardResult<Member> {
        Err(BoardError::NotImplemented)
    }

    /// `POST /members/{userId}/reputation`: rates a member. The rating of a post carries the post's forum; without it
    /// the answer is 500.
    ///
    /// Rules: [reputation](crate::guide::board_rules#reputation).
    async fn rate_member(
        &self,
        by: &MemberCaller,
        user: UserRef,
        rating: NewRating,
    ) -> BoardResult<Rating> {
        Err(BoardError::NotImplemented)
    }

    /// `GET /messages`: one folder, newest first. Marks nothing read.
    ///
    /// Rules: [messages](crate::guide::board_rules#messages).
    async fn list_messages(
        &self,
        by: &MemberCaller,
        list: ListMessagesParams,
    ) -> BoardResult<Page<MessageSummary>> {
        Err(BoardError::NotImplemented)
    }

    /// `POST /messages`: sends a message, and gives the sender's copy.
    ///
    /// Rules: [messages](crate::guide::board_rules#messages).
    async fn send_message(&self, by: &MemberCaller, new: NewMessage) -> BoardResult<Message> {
        Err(BoardError::NotImplemented)
    }

    /// `GET /messages/{messageId}`: opens a message of the caller's; `HEAD` only peeks. Another's copy is absent.
    ///
    /// The first opening marks it read and sends the receipt that was asked for, in one transaction. Like a write it runs
    /// to its end whoever hangs up.
    ///
    /// Rules: [messages](crate::guide::board_rules#messages), [receipts](crate::guide::board_rules#receipts).
    async fn open_message(
        &self,
        by: &MemberCaller,
        message: MessageId,
        opening: MarkRead,
    ) -> BoardResult<Message> {
        Err(BoardError::NotImplemented)
    }

    /// `GET /threads/{threadId}/poll`: the thread's poll.
    ///
    /// Rules: [polls](crate::guide::board_rules#polls).
    async fn get_poll(&self, caller: &Caller, thread: ThreadId) -> BoardResult<InForum<Poll>> {
        Err(BoardError::NotImplemented)
    }

    /// `POST /polls/{pollId}/votes`: votes.
    ///
    /// Rules: [votes](crate::guide::board_rules#votes).
    async fn vote(
        &self,
        by: &MemberCaller,
        poll: PollId,
        vote: NewVote,
    ) -> BoardResult<InForum<Poll>> {
        Err(BoardError::NotImplemented)
    }

    /// `PATCH /polls/{pollId}`: edits a poll.
    ///
    /// Rules: [edits of polls](crate::guide::board_rules#edits-of-polls).
    async fn update_poll(
        &self,
        by: &MemberCaller,
        poll: PollId,
        edit: PollUpdate,
    ) -> BoardResult<InForum<Poll>> {
        Err(BoardError::NotImplemented)
    }

    /// `GET /subscriptions`: what the caller follows, newest first, without what became invisible.
    ///
    /// Rules: [subscriptions](crate::guide::board_rules#subscriptions).
    async fn list_subscriptions(
        &self,
        by: &MemberCaller,
        list: ListSubscriptionsParams,
    ) -> BoardResult<Page<Subscription>> {
        Err(BoardError::NotImplemented)
    }

    /// `POST /subscriptions`: follows a thread or a forum. One that is absent or hidden: [`BoardError::NotFound`].
    ///
    /// Rules: [subscriptions](crate::guide::board_rules#subscriptions).
    async fn subscribe(
        &self,
        by: &MemberCaller,
        what: SubscriptionTarget,
    ) -> BoardResult<SubscribeOutcome> {
        Err(BoardError::NotImplemented)
    }

    /// `DELETE /subscriptions/{target}/{targetId}`: unfollows, what became invisible too. What was not followed:
    /// [`BoardError::NotFound`].
    ///
    /// Rules: [subscriptions](crate::guide::board_rules#subscriptions).
    async fn unsubscribe(&self, by: &MemberCaller, what: SubscriptionTarget) -> BoardResult<()> {
        Err(BoardError::NotImplemented)
    }

    /// `GET /search`: lists the matches that the caller may read.
    ///
    /// A hit is a post. With [`Show::Threads`](crate::model::Show::Threads) it is one match of each thread: the newest
    /// under [`Sort::Newest`](crate::model::Sort::Newest), the oldest under [`Sort::Oldest`](crate::model::Sort::Oldest),
    /// the best under [`Sort::Relevance`](crate::model::Sort::Relevance). The hits are in that order, by time or by
    /// score. [`When::range`](crate::model::When::range) includes its start and excludes its end. A forum or a member
    /// that is absent or hidden gives no hits and no error.
    ///
    /// Rules: [search](crate::guide::board_rules#search).
    async fn search(&self, caller: &Caller, search: SearchParams) -> BoardResult<Page<SearchHit>> {
        Err(BoardError::NotImplemented)
    }
}
