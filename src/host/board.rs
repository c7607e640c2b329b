//! The board's commands: one method for each endpoint.

use async_trait::async_trait;

use super::{BoardError, BoardResult, Caller, CreateOutcome, InForum, MemberCaller};
use crate::model::{
    Forum, ForumId, List, MarkRead, Member, Message, MessageFilter, MessageId, MessageSummary,
    NewMessage, NewPost, NewRating, NewSubscription, NewThread, NewVote, OwnAccount, Page, Poll,
    PollId, PollUpdate, Post, PostFilter, PostId, PostPath, PostUpdate, Rating, SearchFilter,
    SearchHit, Subscription, SubscriptionFilter, SubscriptionTarget, Thread, ThreadFilter,
    ThreadId, UserRef,
};

/// Reference to the resource that the path of a request or a stored response names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResourceRef<'a> {
    /// A message or another resource that does not belong to a forum; also used for paths without an id.
    Global,
    /// A member.
    Member(&'a UserRef),
    /// A forum.
    Forum(&'a ForumId),
    /// A thread.
    Thread(&'a ThreadId),
    /// A post of a thread.
    Post(&'a ThreadId, &'a PostId),
    /// A poll.
    Poll(&'a PollId),
}

/// The board's commands, shared by the API and the board's web pages.
///
/// Each method of an endpoint takes the caller, the ids of the path, and the query parameters or the body, if the endpoint
/// has any. The caller is a [`Caller`] if guests can call the endpoint. It is a [`MemberCaller`] for every write, and for
/// every read of the member's own data. A signature does not change: later parameters are fields of the
/// `#[non_exhaustive]` structs, or come with another method, whose default calls the existing one.
///
/// Before the call, the library decodes path and parameters, and checks authentication, rate limit and scope. If the
/// path names a forum, the library also checks that the caller can see this forum. If the path of a write names a
/// thread, a post or a poll, the library checks the forum that [`containing_forum`](Self::containing_forum) returns. It
/// does not check the target of [`unsubscribe`](Self::unsubscribe).
///
/// [`containing_forum`](Self::containing_forum) is required, and [`exists`](Self::exists) has a default. Each other
/// method returns [`BoardError::NotImplemented`] by default, so that a host can implement the endpoints one by one.
/// `#[deny(clippy::missing_trait_methods)]` on the `impl` reports the methods that are missing.
///
/// A write must check permissions and the board's rules in its own transaction, because access can change after the
/// request began. A command that returns an error must not have changed anything. The library runs a write to
/// completion even if the client disconnects or the request times out.
///
/// # Errors
/// Every method can return [`BoardError::NotImplemented`] and, if the board's backend fails,
/// [`BoardError::Internal`]. Each method lists its other errors. A method returns the same error for a missing and for
/// a hidden resource.
///
/// The library checks the forum of each result against the caller's [`Access`](super::Access). If the caller cannot see
/// the forum, the library answers 404 or removes the item from the list, and logs a warning.
///
/// # Examples
/// A board with one endpoint:
///
/// ```
/// use forum_api::async_trait;
/// use forum_api::host::{Board, BoardError, BoardResult, Caller, ResourceRef};
/// use forum_api::model::{Forum, ForumId, Page};
///
/// struct MyBoard;
///
/// #[async_trait]
/// impl Board for MyBoard {
///     async fn containing_forum(&self, _: &Caller, _: ResourceRef<'_>) -> BoardResult<ForumId> {
///         Err(BoardError::NotImplemented) // the board implements no write
///     }
///
///     async fn list_forums(
///         &self,
///         caller: &Caller,
///     ) -> BoardResult<Page<Forum>> {
///         let mut general = Forum::new(ForumId::from(1), "General");
///         general.can_start_thread = caller.as_member().is_some();
///         Ok(Page::from(vec![general])) // a board with hidden forums omits those that the caller cannot see
///     }
/// }
/// ```
#[async_trait]
#[allow(unused_variables, reason = "the default methods do not use their parameters")]
#[doc(alias = "backend")]
pub trait Board: Send + Sync + 'static {
    /// Returns the forum that contains `resource`.
    ///
    /// The library calls this method in two cases:
    ///
    /// - before each write whose path names a thread, a post or a poll, except [`unsubscribe`](Self::unsubscribe);
    /// - before the replay of the stored response of a created thread, a created post or a subscription to a thread.
    ///
    /// `resource` is a thread, a post or a poll.
    ///
    /// The method is required because every such write depends on it. A host without writes returns
    /// [`BoardError::NotImplemented`]; the API then answers these writes with 501.
    ///
    /// Rules: [visibility](crate::conformance::rules::visibility), [deletion](crate::conformance::rules::deletion).
    ///
    /// # Errors
    /// [`BoardError::PathNotFound`] if the resource does not exist, is hidden from the caller, or is a post of another
    /// thread.
    async fn containing_forum(
        &self,
        caller: &Caller,
        resource: ResourceRef<'_>,
    ) -> BoardResult<ForumId>;

    /// Returns whether a forum or a member exists.
    ///
    /// The library calls this method in two cases:
    ///
    /// - for the forum of the path, before an error about the idempotency key, if the caller's
    ///   [`Access`](super::Access) contains ids that no forum has;
    /// - for the member of the path, before such an error and before the replay of a stored response.
    ///
    /// By default, it calls [`list_threads`](Self::list_threads) or [`get_member`](Self::get_member), and returns `true`
    /// if the board does not implement them.
    ///
    /// # Errors
    /// [`BoardError::Internal`] only. The response is a 503 with `retry-after`.
    async fn exists(&self, caller: &Caller, resource: ResourceRef<'_>) -> BoardResult<bool> {
        let error = match resource {
            ResourceRef::Forum(forum) => {
                let list = List::default();
                self.list_threads(caller, forum.clone(), list).await.err()
            }
            ResourceRef::Member(user) => self.get_member(caller, user.clone()).await.err(),
            _ => None,
        };
        match error {
            None | Some(BoardError::NotImplemented) => Ok(true),
            Some(BoardError::PathNotFound) => Ok(false),
            Some(error) => Err(error),
        }
    }

    /// `GET /me`: returns the member's own account.
    ///
    /// Rules: [members](crate::conformance::rules::members).
    ///
    /// # Errors
    /// [`BoardError::PathNotFound`] if the account was removed after the request began.
    async fn get_me(&self, member: &MemberCaller) -> BoardResult<OwnAccount> {
        Err(BoardError::NotImplemented)
    }

    /// `GET /forums`: lists the forums that the caller can see.
    ///
    /// The list omits hidden forums, and [`Forum::parent_id`] is the nearest visible ancestor. Parents precede their
    /// children; siblings are ordered by `position`. The library numbers the positions of the visible siblings from 1, so
    /// that gaps do not reveal hidden forums.
    ///
    /// The endpoint has no cursor: a host returns all forums, with [`Page::next`] `None`. A board with too many forums for
    /// one response lists a selection, such as the forums that the member reads. If `next` is set, the response is a 500.
    ///
    /// Rules: [forums](crate::conformance::rules::forums), [permission](crate::conformance::rules::permission).
    ///
    /// # Errors
    /// [`BoardError::NotImplemented`] and [`BoardError::Internal`] only.
    async fn list_forums(&self, caller: &Caller) -> BoardResult<Page<Forum>> {
        Err(BoardError::NotImplemented)
    }

    /// `GET /forums/{forumId}/threads`: lists the forum's threads, newest activity first.
    ///
    /// The library calls it only if the caller's [`Access`](super::Access) contains the forum.
    ///
    /// Rules: [threads](crate::conformance::rules::threads).
    ///
    /// # Errors
    /// - [`BoardError::PathNotFound`] if the forum does not exist or is hidden.
    /// - [`BoardError::InvalidParameter`] if `after` holds a key that this list cannot return.
    async fn list_threads(
        &self,
        caller: &Caller,
        forum_id: ForumId,
        list: List<ThreadFilter>,
    ) -> BoardResult<Page<Thread>> {
        Err(BoardError::NotImplemented)
    }

    /// `POST /forums/{forumId}/threads`: creates a thread with its first post and the requested poll, in one
    /// transaction.
    ///
    /// Rules: [thread_creation](crate::conformance::rules::thread_creation),
    /// [permission](crate::conformance::rules::permission), [polls](crate::conformance::rules::polls).
    ///
    /// # Errors
    /// - [`BoardError::PathNotFound`] if the forum does not exist or is hidden.
    /// - [`BoardError::Forbidden`] if the member may not start threads in the forum.
    /// - [`BoardError::Validation`] if the title, the text or the poll breaks a rule of the board.
    /// - [`BoardError::RateLimited`] if an anti-flood limit is exceeded.
    async fn create_thread(
        &self,
        member: &MemberCaller,
        forum_id: ForumId,
        new: NewThread,
    ) -> BoardResult<Thread> {
        Err(BoardError::NotImplemented)
    }

    /// `GET /threads/{threadId}`: returns a thread's metadata.
    ///
    /// Rules: [threads](crate::conformance::rules::threads), [permission](crate::conformance::rules::permission).
    ///
    /// # Errors
    /// [`BoardError::PathNotFound`] if the thread does not exist or is hidden.
    async fn get_thread(&self, caller: &Caller, thread_id: ThreadId) -> BoardResult<Thread> {
        Err(BoardError::NotImplemented)
    }

    /// `GET /threads/{threadId}/posts`: lists the thread's posts, oldest first unless `sort` is
    /// [`PostSort::Newest`](crate::model::PostSort::Newest).
    ///
    /// `from` is the first post of the list, and `since` excludes earlier posts, in both orders.
    ///
    /// Returns an empty page, not [`BoardError::PathNotFound`], if the thread exists and no post matches. A board of trees
    /// can return the places of deleted replies: see [`Post`](crate::model::Post#places-of-deleted-posts).
    ///
    /// Rules: [posts](crate::conformance::rules::posts).
    ///
    /// # Errors
    /// - [`BoardError::PathNotFound`] if the thread does not exist or is hidden.
    /// - [`BoardError::InvalidParameter`] if `from` is not a post of the thread that the caller can see, or `after` holds a
    ///   key that this list cannot return.
    async fn list_posts(
        &self,
        caller: &Caller,
        thread_id: ThreadId,
        list: List<PostFilter>,
    ) -> BoardResult<InForum<Page<Post>>> {
        Err(BoardError::NotImplemented)
    }

    /// `POST /threads/{threadId}/posts`: creates a reply.
    ///
    /// Rules: [replies](crate::conformance::rules::replies), [in_reply_to](crate::conformance::rules::in_reply_to),
    /// [permission](crate::conformance::rules::permission).
    ///
    /// # Errors
    /// - [`BoardError::PathNotFound`] if the thread does not exist or is hidden.
    /// - [`BoardError::Forbidden`] if the member may not reply in the forum, if the thread is deleted or awaits
    ///   approval, or if it is locked and the member is not a moderator.
    /// - [`BoardError::NotFound`] if `in_reply_to` is not a post of the thread that the member can see.
    /// - [`BoardError::Validation`] if the text breaks a rule of the board.
    /// - [`BoardError::RateLimited`] if an anti-flood limit is exceeded.
    async fn create_post(
        &self,
        member: &MemberCaller,
        thread_id: ThreadId,
        new: NewPost,
    ) -> BoardResult<InForum<Post>> {
        Err(BoardError::NotImplemented)
    }

    /// `PATCH /threads/{threadId}/posts/{postId}`: edits a post, or the title of its thread.
    ///
    /// At least one of `body` and `title` is set; `None` keeps the value. A new title increments the versions of the thread
    /// and of the post. A new title has the event [`Event::thread_updated`](crate::webhook::Event::thread_updated), and a
    /// new text the event [`Event::post_updated`](crate::webhook::Event::post_updated). An edit of title and text has both
    /// events.
    ///
    /// Rules: [edits](crate::conformance::rules::edits), [approval](crate::conformance::rules::approval).
    ///
    /// # Errors
    /// - [`BoardError::PathNotFound`] if the post does not exist, is hidden, or belongs to another thread.
    /// - [`BoardError::Forbidden`] for members who are not moderators: if the member is not the author, the thread is
    ///   locked, or the edit window is over.
    /// - [`BoardError::stale_version`] if `expected_version` is not the current version.
    /// - [`BoardError::Validation`] if the text, the title or the reason breaks a rule of the board; with `title`, also if
    ///   the post is not the first one of its thread, or if the board's titles cannot change.
    async fn update_post(
        &self,
        member: &MemberCaller,
        path: PostPath,
        update: PostUpdate,
    ) -> BoardResult<InForum<Post>> {
        Err(BoardError::NotImplemented)
    }

    /// `DELETE /threads/{threadId}/posts/{postId}`: soft-deletes a post. Deleting the first post deletes the thread.
    ///
    /// Rules: [deletion](crate::conformance::rules::deletion), [counters](crate::conformance::rules::counters).
    ///
    /// # Errors
    /// - [`BoardError::PathNotFound`] if the post does not exist, is hidden, or belongs to another thread; also if it is
    ///   deleted and the member is not a moderator.
    /// - [`BoardError::Forbidden`] if the member may not delete the post or, for a first post, the thread.
    /// - [`BoardError::Conflict`] if the post is already deleted and the member is a moderator.
    async fn delete_post(&self, member: &MemberCaller, path: PostPath) -> BoardResult<()> {
        Err(BoardError::NotImplemented)
    }

    /// `GET /members/{userId}`: returns a member's public profile.
    ///
    /// The library answers a guest who can see no forum with 404.
    ///
    /// Rules: [members](crate::conformance::rules::members).
    ///
    /// # Errors
    /// [`BoardError::PathNotFound`] if the board has no such member.
    async fn get_member(&self, caller: &Caller, user: UserRef) -> BoardResult<Member> {
        Err(BoardError::NotImplemented)
    }

    /// `POST /members/{userId}/reputation`: rates a member.
    ///
    /// If the rating is for a post and [`Rating::forum_id`] is `None`, the response is a 500.
    ///
    /// Rules: [reputation](crate::conformance::rules::reputation).
    ///
    /// # Errors
    /// - [`BoardError::PathNotFound`] if the board has no such member.
    /// - [`BoardError::NotFound`] if `post_id` is not a post of the rated member, or the caller cannot see the post.
    /// - [`BoardError::Forbidden`] if the member rates their own account.
    /// - [`BoardError::Conflict`] if the member has already rated the post. For a rating without a post: if the member
    ///   has already given `user` such a rating in the last 24 hours.
    /// - [`BoardError::Validation`] if the points are 0 or beyond the board's limits, or a required comment is empty.
    /// - [`BoardError::RateLimited`] if an anti-flood limit is exceeded.
    async fn rate_member(
        &self,
        member: &MemberCaller,
        user: UserRef,
        new: NewRating,
    ) -> BoardResult<Rating> {
        Err(BoardError::NotImplemented)
    }

    /// `GET /messages`: lists one folder of the member's messages, newest first. Does not mark messages as read.
    ///
    /// Rules: [messages](crate::conformance::rules::messages).
    ///
    /// # Errors
    /// [`BoardError::InvalidParameter`] if `after` holds a key that this list cannot return.
    async fn list_messages(
        &self,
        member: &MemberCaller,
        list: List<MessageFilter>,
    ) -> BoardResult<Page<MessageSummary>> {
        Err(BoardError::NotImplemented)
    }

    /// `POST /messages`: sends a message to all recipients or to none, and returns the sender's copy.
    ///
    /// Rules: [message_sending](crate::conformance::rules::message_sending).
    ///
    /// # Errors
    /// - [`BoardError::NotFound`] if a recipient does not exist.
    /// - [`BoardError::Forbidden`] if a recipient ignores the sender.
    /// - [`BoardError::Validation`] if the recipients, the subject or the text break a rule of the board.
    /// - [`BoardError::RateLimited`] if an anti-flood limit is exceeded.
    async fn send_message(&self, member: &MemberCaller, new: NewMessage) -> BoardResult<Message> {
        Err(BoardError::NotImplemented)
    }

    /// `GET /messages/{messageId}`: opens the member's copy of a message.
    ///
    /// With [`MarkRead::Yes`](crate::model::MarkRead::Yes) the first call marks the copy as read. If the sender
    /// requested a receipt, the call also sends the receipt, in the same transaction. The library runs such a call to
    /// completion, like a write. For `HEAD` the library passes [`MarkRead::No`](crate::model::MarkRead::No).
    ///
    /// Rules: [messages](crate::conformance::rules::messages), [receipts](crate::conformance::rules::receipts).
    ///
    /// # Errors
    /// [`BoardError::PathNotFound`] if the message does not exist or is another member's copy.
    async fn open_message(
        &self,
        member: &MemberCaller,
        message_id: MessageId,
        mark_read: MarkRead,
    ) -> BoardResult<Message> {
        Err(BoardError::NotImplemented)
    }

    /// `GET /threads/{threadId}/poll`: returns the thread's poll with the caller's own vote.
    ///
    /// Rules: [polls](crate::conformance::rules::polls).
    ///
    /// # Errors
    /// [`BoardError::PathNotFound`] if the thread does not exist, is hidden, or has no poll.
    async fn get_poll(&self, caller: &Caller, thread_id: ThreadId) -> BoardResult<InForum<Poll>> {
        Err(BoardError::NotImplemented)
    }

    /// `POST /polls/{pollId}/votes`: casts the member's vote, or replaces it if the poll allows that.
    ///
    /// Rules: [votes](crate::conformance::rules::votes).
    ///
    /// # Errors
    /// - [`BoardError::PathNotFound`] if the poll does not exist or is hidden.
    /// - [`BoardError::Forbidden`] if the poll is closed or its thread is deleted.
    /// - [`BoardError::Conflict`] if the member has voted and the vote cannot be changed.
    /// - [`BoardError::Validation`] if no option, a repeated option or too many options are chosen.
    /// - [`BoardError::NotFound`] if an id is not an option of the poll.
    async fn vote(
        &self,
        member: &MemberCaller,
        poll_id: PollId,
        new: NewVote,
    ) -> BoardResult<InForum<Poll>> {
        Err(BoardError::NotImplemented)
    }

    /// `PATCH /polls/{pollId}`: edits a poll.
    ///
    /// Rules: [poll_edits](crate::conformance::rules::poll_edits).
    ///
    /// # Errors
    /// - [`BoardError::PathNotFound`] if the poll does not exist or is hidden.
    /// - [`BoardError::Forbidden`] if the thread is deleted. For members who are not moderators, also if the member is
    ///   not the author or the thread is locked.
    /// - [`BoardError::stale_version`] if `expected_version` is not the current version.
    /// - [`BoardError::Conflict`] if an author who is not a moderator, after the first vote, changes the question or the
    ///   options, or lowers `max_choices` below the number of options in a vote.
    /// - [`BoardError::Validation`] if a field breaks a rule of the board.
    /// - [`BoardError::NotFound`] if an `option_id` is not an option of the poll.
    async fn update_poll(
        &self,
        member: &MemberCaller,
        poll_id: PollId,
        update: PollUpdate,
    ) -> BoardResult<InForum<Poll>> {
        Err(BoardError::NotImplemented)
    }

    /// `GET /subscriptions`: lists the member's subscriptions, newest first, without those whose target is hidden. A page can
    /// have fewer items than the limit, or none, although more follow.
    ///
    /// Rules: [subscriptions](crate::conformance::rules::subscriptions).
    ///
    /// # Errors
    /// [`BoardError::InvalidParameter`] if `after` holds a key that this list cannot return.
    async fn list_subscriptions(
        &self,
        member: &MemberCaller,
        list: List<SubscriptionFilter>,
    ) -> BoardResult<Page<Subscription>> {
        Err(BoardError::NotImplemented)
    }

    /// `POST /subscriptions`: subscribes the member to a thread or a forum.
    ///
    /// Rules: [subscriptions](crate::conformance::rules::subscriptions).
    ///
    /// # Errors
    /// [`BoardError::NotFound`] if the target does not exist or is hidden.
    async fn subscribe(
        &self,
        member: &MemberCaller,
        new: NewSubscription,
    ) -> BoardResult<CreateOutcome<Subscription>> {
        Err(BoardError::NotImplemented)
    }

    /// `DELETE /subscriptions/{target}/{targetId}`: removes a subscription, even if its target is hidden.
    ///
    /// Rules: [subscriptions](crate::conformance::rules::subscriptions).
    ///
    /// # Errors
    /// [`BoardError::NotFound`] if the member is not subscribed to the target.
    async fn unsubscribe(
        &self,
        member: &MemberCaller,
        target: SubscriptionTarget,
    ) -> BoardResult<()> {
        Err(BoardError::NotImplemented)
    }

    /// `GET /search`: lists the matches that the caller can see.
    ///
    /// Each hit is a post that matches. A search without a query has an author: each post of this member is a hit, with
    /// score 0, newest first unless `sort` is [`SearchSort::Oldest`](crate::model::SearchSort::Oldest), and
    /// [`SearchField::Titles`](crate::model::SearchField::Titles) selects the first posts of threads. With
    /// [`SearchShow::Threads`](crate::model::SearchShow::Threads) each thread has
    /// one hit: its newest matching post for [`SearchSort::Newest`](crate::model::SearchSort::Newest), its oldest for
    /// [`SearchSort::Oldest`](crate::model::SearchSort::Oldest), and its best for
    /// [`SearchSort::Relevance`](crate::model::SearchSort::Relevance). The hits are ordered by the same criterion. An
    /// unknown or hidden forum or member yields no hits and no error.
    ///
    /// Rules: [search](crate::conformance::rules::search),
    /// [search_visibility](crate::conformance::rules::search_visibility),
    /// [search_paging](crate::conformance::rules::search_paging).
    ///
    /// # Errors
    /// [`BoardError::InvalidParameter`] for `after` if it holds a key that this search cannot return, and for `q` if
    /// the query has more words than the board accepts.
    async fn search(
        &self,
        caller: &Caller,
        list: List<SearchFilter>,
    ) -> BoardResult<Page<SearchHit>> {
        Err(BoardError::NotImplemented)
    }
}

/// Passes the signature of each endpoint's method of [`Board`] to `$macro`, after the tokens `$prefix`. Boards that
/// treat all methods alike are generated from this list. The caller imports [`host`](crate::host) and
/// [`model`](crate::model).
#[doc(hidden)]
#[macro_export]
macro_rules! board_methods {
    ($macro:ident $($prefix:tt)*) => {
        $macro! { $($prefix)*
            MemberCaller get_me() -> OwnAccount;
            Caller list_forums() -> Page<Forum>;
            Caller list_threads(forum_id: ForumId, list: List<ThreadFilter>) -> Page<Thread>;
            MemberCaller create_thread(forum_id: ForumId, new: NewThread) -> Thread;
            Caller get_thread(thread_id: ThreadId) -> Thread;
            Caller list_posts(thread_id: ThreadId, list: List<PostFilter>) -> InForum<Page<Post>>;
            MemberCaller create_post(thread_id: ThreadId, new: NewPost) -> InForum<Post>;
            MemberCaller update_post(path: PostPath, update: PostUpdate) -> InForum<Post>;
            MemberCaller delete_post(path: PostPath) -> ();
            Caller get_member(user: UserRef) -> Member;
            MemberCaller rate_member(user: UserRef, new: NewRating) -> Rating;
            MemberCaller list_messages(list: List<MessageFilter>) -> Page<MessageSummary>;
            MemberCaller send_message(new: NewMessage) -> Message;
            MemberCaller open_message(message_id: MessageId, mark_read: MarkRead) -> Message;
            Caller get_poll(thread_id: ThreadId) -> InForum<Poll>;
            MemberCaller vote(poll_id: PollId, new: NewVote) -> InForum<Poll>;
            MemberCaller update_poll(poll_id: PollId, update: PollUpdate) -> InForum<Poll>;
            MemberCaller list_subscriptions(list: List<SubscriptionFilter>) -> Page<Subscription>;
            MemberCaller subscribe(new: NewSubscription) -> CreateOutcome<Subscription>;
            MemberCaller unsubscribe(target: SubscriptionTarget) -> ();
            Caller search(list: List<SearchFilter>) -> Page<SearchHit>;
        }
    };
}

macro_rules! forward_methods {
    ($($kind:ident $method:ident($($argument:ident: $type:ty),*) -> $result:ty;)+) => {
        impl_for_pointers!(Board {
            async fn containing_forum(caller: &Caller, resource: ResourceRef<'_>) -> BoardResult<ForumId>;
            async fn exists(caller: &Caller, resource: ResourceRef<'_>) -> BoardResult<bool>;
            $(async fn $method(caller: &$kind $(, $argument: $type)*) -> BoardResult<$result>;)+
        });
    };
}

board_methods!(forward_methods);

#[cfg(test)]
macro_rules! names {
    ($($caller:ident $method:ident($($argument:ident: $type:ty),*) -> $result:ty;)+) => {
        /// The names of the methods that have an endpoint.
        pub(crate) const METHODS_WITH_ENDPOINT: [&str; 21] = [$(stringify!($method)),+];
    };
}

#[cfg(test)]
board_methods!(names);
