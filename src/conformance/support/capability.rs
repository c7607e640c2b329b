//! What a board may lawfully lack.

use std::fmt;

macro_rules! parts {
    ($($(#[doc = $doc:literal])+ $name:ident: $text:literal,)+) => {
        /// What a board may lack and still be one: [`Host::lacks`](super::Host::lacks) names it, and the rules about it
        /// are skipped.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Capability {
            $($(#[doc = $doc])+ $name,)+
        }

        impl fmt::Display for Capability {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$name => $text,)+ })
            }
        }
    };
}

parts! {
    /// The account behind a token: `me` answers 501.
    Account: "the owner's account",
    /// Public profiles: `profile` answers 501.
    Profiles: "profiles",
    /// Lists of threads, and threads: `threads` and `thread` answer 501.
    Threads: "threads",
    /// Posts: `posts` answers 501.
    Posts: "posts",
    /// Threads started through the API: `create_thread` answers 501. [`Stage::write_thread`](super::Stage::write_thread)
    /// has to put them there otherwise.
    StartingThreads: "starting threads",
    /// Replies through the API: `reply` answers 501. [`Stage::write_reply`](super::Stage::write_reply) has to put them
    /// there otherwise.
    Replies: "replies",
    /// Edits of posts: `edit_post` answers 501.
    Editing: "edits",
    /// Soft deletion: `delete_post` answers 501.
    Deletion: "deletion",
    /// Polls: `poll`, `vote` and `edit_poll` answer 501, and no thread has a `pollId`.
    Polls: "polls",
    /// Reputation: `rate` answers 501, and every profile says 0.
    Reputation: "reputation",
    /// Private messages: `messages`, `send_message` and `message` answer 501, and `unreadMessages` is null.
    Messages: "messages",
    /// Receipts: `requestReceipt` is ignored.
    Receipts: "receipts",
    /// Ignoring a member: nobody's messages are refused.
    Ignoring: "ignoring a member",
    /// Subscriptions: `subscriptions`, `follow` and `unfollow` answer 501, and `subscribe` is ignored.
    Subscriptions: "subscriptions",
    /// Full-text search: `search` answers 501.
    Search: "search",
    /// Guests: they see no forum, and so nothing at all.
    Guests: "guests",
    /// Forums that some members see and others do not: every member sees every forum.
    HiddenForums: "hidden forums",
    /// Forums that a member sees and may not write in: whoever sees a forum writes in it.
    ReadOnlyForums: "forums that some only read",
    /// Sub-forums: no forum has a parent.
    SubForums: "sub-forums",
    /// Moderators of one forum: only administrators moderate, or nobody does.
    Moderators: "moderators",
    /// Banning: every account can act for ever.
    Bans: "bans",
    /// Going offline: no caller is ever locked out.
    Offline: "going offline",
    /// The approval queue: whatever is posted is there for everybody at once.
    Approval: "an approval queue",
    /// Locked threads.
    Locking: "locked threads",
    /// Pinned threads.
    Pinning: "pinned threads",
    /// Accounts that can be removed: nobody's author is ever null.
    Removal: "removed accounts",
    /// The numbers of posts: `number` is the post's place in the list at the time, or the same for all.
    PostNumbers: "numbers of posts",
    /// Versions: `version` is always 1, and `expectedVersion` is ignored.
    Versions: "versions",
    /// A time after which authors can no longer edit or delete what they wrote.
    EditWindow: "an edit window",
    /// Source markup: `body` is null in every post, and so is the form of a page that was asked for it.
    SourceMarkup: "source markup",
    /// Events: no change puts one into an outbox.
    Events: "events",
    /// Going by the suite's clock: times are the host's own. The rules that wait for something are skipped.
    SuiteClock: "going by the suite's clock",
}
