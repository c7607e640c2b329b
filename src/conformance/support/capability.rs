//! Optional features of a board.

use std::fmt;

macro_rules! capabilities {
    ($($(#[doc = $doc:literal])+ $name:ident: $text:literal,)+) => {
        /// An optional feature of a board. [`BoardFactory::unsupported`](super::BoardFactory::unsupported) lists the
        /// features that a board does not have; the suite skips the rules about them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Capability {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Capability {
            /// All capabilities, from which a factory can remove those that its board has.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];
        }

        impl fmt::Display for Capability {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$name => $text,)+ })
            }
        }
    };
}

capabilities! {
    /// The account of a token's owner. Without it `get_me` returns `NotImplemented`.
    Account: "the owner's account",
    /// Public profiles. Without them `get_member` returns `NotImplemented`.
    Profiles: "profiles",
    /// Post counts of members that cover the visible posts in forums that every member can read. Without them `postCount`
    /// is a counter of the board, equal for every caller.
    PublicPostCounts: "post counts without hidden posts",
    /// Threads. Without them `list_threads` and `get_thread` return `NotImplemented`.
    Threads: "threads",
    /// Threads that have no post yet, which
    /// [`BoardFixture::add_thread_without_post`](super::BoardFixture::add_thread_without_post) adds. A board for which this
    /// method returns `None` need not list the capability.
    ThreadsWithoutPost: "threads without a post",
    /// Posts. Without them `list_posts` returns `NotImplemented`.
    Posts: "posts",
    /// New threads through the API. Without them `create_thread` returns `NotImplemented`, and
    /// [`BoardFixture::write_thread`](super::BoardFixture::write_thread) has to be implemented.
    StartingThreads: "starting threads",
    /// Replies through the API. Without them `create_post` returns `NotImplemented`, and
    /// [`BoardFixture::write_reply`](super::BoardFixture::write_reply) has to be implemented.
    Replies: "replies",
    /// Replies to a post. Without them `inReplyTo` is always null, and the board ignores it in new replies.
    InReplyTo: "replies to a post",
    /// Edits of posts. Without them `update_post` returns `NotImplemented`.
    Editing: "edits",
    /// Times of edits. Without them `editedAt` is null after some or all edits.
    EditTimes: "times of edits",
    /// Authors of edits. Without them `editedBy` is null after some or all edits.
    Editors: "authors of edits",
    /// Edits by moderators. Without them only the author edits a post or a poll.
    ModeratorEdits: "edits by moderators",
    /// Edits of the title of a thread. Without them a `title` in an edit is a validation error of `title`.
    TitleEdits: "edits of titles",
    /// Deletion of posts. Without it `delete_post` returns `NotImplemented`.
    Deletion: "deletion",
    /// Deleted posts that moderators see and that can be restored. Without them `delete_post` removes a post, and a first
    /// post with its thread, for every caller.
    SoftDeletion: "deleted posts that moderators see",
    /// Deleted posts that only moderators see. Without them a deleted reply that was visible leaves a place:
    /// `list_posts` returns it to every caller who sees its thread, and `inReplyTo` names it.
    HiddenDeletedPosts: "deleted posts that only moderators see",
    /// Replies that stay when the post that they answer is deleted or hidden. Without them the replies to this post, the
    /// replies to these, and so on, are deleted with it: no list contains them, no count includes them, and each of them has
    /// an event of its own.
    SurvivingReplies: "replies that survive the answered post",
    /// Polls. Without them `get_poll`, `vote` and `update_poll` return `NotImplemented`, and `pollId` is always null.
    Polls: "polls",
    /// Poll totals that every caller sees. Without them `totalVotes` and `votes` are null for some callers or at some
    /// times.
    PollTotals: "poll totals for every caller",
    /// Reputation. Without it `rate_member` returns `NotImplemented`, and `reputation` is any number that the API does not
    /// change.
    Reputation: "reputation",
    /// Private messages. Without them `list_messages`, `send_message` and `open_message` return `NotImplemented`, and
    /// `unreadMessages` is null.
    Messages: "messages",
    /// Messages to oneself. Without them the board refuses a message whose sender is a recipient.
    SelfMessages: "messages to oneself",
    /// Subjects of messages. Without them the board accepts an empty `subject`, and the suite sends only empty
    /// subjects.
    Subjects: "subjects of messages",
    /// Messages to several recipients. Without them more than one recipient is a validation error of `to`.
    SeveralRecipients: "several recipients",
    /// Times at which messages were read. Without them `readAt` of a copy in the inbox is always null.
    ReadTimes: "times of reading",
    /// Read receipts. Without them the board ignores `requestReceipt`.
    Receipts: "receipts",
    /// Ignore lists. Without them a member accepts messages from every other member.
    IgnoreLists: "ignore lists",
    /// Subscriptions. Without them `list_subscriptions`, `subscribe` and `unsubscribe` return `NotImplemented`, and the
    /// board ignores the field `subscribe`.
    Subscriptions: "subscriptions",
    /// Times of subscriptions. Without them the board chooses `createdAt` and the order of the list.
    SubscriptionTimes: "times of subscriptions",
    /// Full-text search. Without it `search` returns `NotImplemented`.
    Search: "search",
    /// Search that finds a word in any Unicode form, and in a text without spaces between words. Without it a search can
    /// distinguish a letter with a combining accent from its precomposed form, and find only whole runs of Chinese letters.
    UnicodeSearch: "search in any Unicode form",
    /// Guest access. Without it guests see no forum.
    Guests: "guests",
    /// Forums that only some members see. Without them every member sees every forum.
    HiddenForums: "hidden forums",
    /// Forums that every member sees, and guests do not. Without them a forum that guests do not see is for some members.
    MemberForums: "forums for all members",
    /// Forums in which some members cannot start threads. Without them every member who sees a forum can write in it. If only
    /// moderators start threads in such a forum, the fixture appoints all members with the role `Staff` as its moderators.
    ReadOnlyForums: "read-only forums",
    /// Forums in which some members cannot reply. Without them a read-only forum takes replies of every member who sees it.
    RestrictedReplies: "forums with restricted replies",
    /// Sub-forums. Without them no forum has a parent.
    SubForums: "sub-forums",
    /// Moderators of a single forum. Without them only administrators moderate.
    Moderators: "moderators",
    /// Bans. Without them every account keeps its access.
    Bans: "bans",
    /// Bans that revoke all access. Without them banned members still read, and their writes are `Forbidden`.
    BansRevokeAccess: "bans that revoke all access",
    /// Taking the board offline. Without it the board never locks out a caller.
    Offline: "going offline",
    /// The approval queue. Without it every new post is visible immediately.
    Approval: "an approval queue",
    /// Locked threads.
    Locking: "locked threads",
    /// Moderators who write in locked threads. Without them a lock forbids moderators what it forbids other members.
    ModeratorsInLockedThreads: "moderators who write in locked threads",
    /// Locks that forbid edits and deletions. Without them a lock forbids replies only.
    LockedEdits: "locks that forbid edits",
    /// Pinned threads.
    Pinning: "pinned threads",
    /// Removal of accounts. Without it `author` is never null.
    AccountRemoval: "removal of accounts",
    /// Activity of visible posts. Without it `lastActivityAt` and the order of threads can keep the time of a deleted post.
    VisibleActivity: "activity of visible posts",
    /// Stable post numbers. Without them `number` is the current index in the list, or the same for all posts.
    StablePostNumbers: "stable post numbers",
    /// Versions. Without them `version` is always 1, and the board ignores `expectedVersion`.
    Versions: "versions",
    /// An edit window, after which authors can no longer edit or delete their posts.
    EditWindow: "an edit window",
    /// Source markup. Without it `body` is null in some or all posts.
    SourceMarkup: "source markup",
    /// Rendered texts of posts. Without them `bodyHtml` is null in some or all posts.
    RenderedPosts: "rendered texts of posts",
    /// Commands that check and write atomically. Without them several conflicting concurrent calls can succeed, and the
    /// suite skips the rules about them.
    AtomicCommands: "atomic commands",
    /// [`Authorizer::load_token`](crate::host::Authorizer::load_token). Without it the library finds a token and its owner
    /// with separate calls.
    TokenLoading: "loading of tokens with their owners",
    /// [`Authorizer::access_of_members`](crate::host::Authorizer::access_of_members). Without it the worker loads the access of
    /// each owner of an endpoint with a separate call.
    BatchAccess: "the access of several members in one call",
    /// [Operations](super::BoardFixture::operations) that only this board has.
    OwnOperations: "operations of its own",
    /// Events. Without them no change writes to an outbox.
    Events: "events",
    /// A [`PendingEventStore`](crate::store::PendingEventStore), which
    /// [`StoreFactory::create_pending_events`](crate::conformance::stores::StoreFactory::create_pending_events)
    /// creates. Without it the board's transactions write to the outbox.
    PendingEvents: "pending events in the board's own database",
    /// The board reads the clock that [`BoardFactory::create`](super::BoardFactory::create) receives. Without it the suite
    /// skips rules that advance time.
    InjectedClock: "an injected clock",
}
