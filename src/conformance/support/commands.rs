//! Every command of the board, on the road on which the library asks for it.

use std::time::Duration;

use super::call_result::Asked;
use super::{Part, Someone, Stop, Verdict};
use crate::host::{Caller, In, Member, Place, Refusal, Result};
use crate::model::{
    Account, EditPoll, EditPost, Followed, Forum, ForumId, ListMessages, ListPosts,
    ListSubscriptions, ListThreads, Message, MessageId, MessageSummary, Opening, Page, Poll,
    PollId, Post, PostAt, Profile, Rate, Rating, Reply, Search, SearchHit, SendMessage,
    StartThread, Subscription, Target, Thread, ThreadId, UserRef, Vote,
};

macro_rules! commands {
    ($($road:ident $name:ident($($argument:ident: $type:ty),*) $(at $place:expr)? => $reply:ty, $part:ident;)+) => {
        impl Someone {$(
            #[doc = concat!("Asks for [`Board::", stringify!($name), "`](crate::host::Board::", stringify!($name), ").")]
            ///
            /// # Errors
            #[doc = concat!("When the host lacks it ([`Part::", stringify!($part), "`]), or the answer shows what the caller does not see.")]
            pub async fn $name(&self, $($argument: &$type),*) -> Verdict<Asked<$reply>> {
                let given: &[String] = &[$(format!("{:?}", $argument)),*];
                let what = format!("{}({}) as {}", stringify!($name), given.join(", "), self.name);
                let (who, road) = self.$road($($place)?).await?;
                let reply = self.ground.board.$name(&who, $($argument.clone()),*).await;
                let reply = road.agrees(&what, reply)?;
                Asked::new(&self.ground, (what, Part::$part), who.standing(), reply)
            }
        )+}
    };
}

commands! {
    read forums() => Vec<Forum>, Guests;
    read thread(thread: ThreadId) => Thread, Threads;
    read posts(thread: ThreadId, list: ListPosts) => In<Page<Post>>, Posts;
    read profile(user: UserRef) => Profile, Profiles;
    read poll(thread: ThreadId) => In<Poll>, Polls;
    read search(search: Search) => Page<SearchHit>, Search;

    own me() => Account, Account;
    own messages(list: ListMessages) => Page<MessageSummary>, Messages;
    own message(message: MessageId, opening: Opening) => Message, Messages;
    own subscriptions(list: ListSubscriptions) => Page<Subscription>, Subscriptions;

    write start_thread(forum: ForumId, new: StartThread) at Place::Forum(forum) => Thread, StartingThreads;
    write reply(thread: ThreadId, reply: Reply) at Place::Thread(thread) => In<Post>, Replies;
    write edit_post(at: PostAt, edit: EditPost) at Place::Post(&at.thread, &at.post) => In<Post>, Editing;
    write delete_post(at: PostAt) at Place::Post(&at.thread, &at.post) => (), Deletion;
    write rate(user: UserRef, rating: Rate) at Place::Nowhere => Rating, Reputation;
    write send_message(new: SendMessage) at Place::Nowhere => Message, Messages;
    write vote(poll: PollId, vote: Vote) at Place::Poll(poll) => In<Poll>, Polls;
    write edit_poll(poll: PollId, edit: EditPoll) at Place::Poll(poll) => In<Poll>, Polls;
    write follow(what: Target) at Place::Nowhere => Followed, Subscriptions;
    write unfollow(what: Target) at Place::Nowhere => (), Subscriptions;
}

impl Someone {
    /// Asks for [`Board::threads`](crate::host::Board::threads), unless the caller does not see the forum: then the
    /// library does not ask.
    ///
    /// # Errors
    /// When the host lacks it ([`Part::Threads`]), or the answer shows what the caller does not see.
    pub async fn threads(
        &self,
        forum: &ForumId,
        list: &ListThreads,
    ) -> Verdict<Asked<Page<Thread>>> {
        let what = format!("threads({forum:?}, {list:?}) as {}", self.name);
        let caller = self.caller().await?;
        let reply = match caller.standing().forums().contains(forum) {
            true => {
                self.ground
                    .board
                    .threads(&caller, forum.clone(), list.clone())
                    .await
            }
            false => Err(Refusal::Absent),
        };
        Asked::new(
            &self.ground,
            (what, Part::Threads),
            caller.standing(),
            reply,
        )
    }

    /// Asks for [`Board::forum_of`](crate::host::Board::forum_of).
    ///
    /// # Errors
    /// When the host lacks it ([`Part::Replies`]), or the answer is a forum that the caller does not see.
    pub async fn forum_of(&self, place: Place<'_>) -> Verdict<Asked<ForumId>> {
        let what = format!("forum_of({place:?}) as {}", self.name);
        let caller = self.caller().await?;
        let reply = self.ground.board.forum_of(&caller, place).await;
        Asked::new(
            &self.ground,
            (what, Part::Replies),
            caller.standing(),
            reply,
        )
    }

    async fn read(&self) -> Verdict<(Caller, Road)> {
        Ok((self.caller().await?, Road(Ok(()))))
    }

    async fn own(&self) -> Verdict<(Member, Road)> {
        Ok((self.member().await?, Road(Ok(()))))
    }

    /// A write, a minute after whatever was before: no flood limit is to be met by chance.
    async fn write(&self, place: Place<'_>) -> Verdict<(Member, Road)> {
        self.ground.clock.advance(Duration::from_secs(60));
        let by = self.member().await?;
        let found = match place {
            Place::Nowhere => return Ok((by, Road(Ok(())))),
            Place::Forum(forum) => Ok(forum.clone()),
            _ => {
                self.ground
                    .board
                    .forum_of(&Caller::Member(by.clone()), place)
                    .await
            }
        };
        let seen = found.and_then(|forum| {
            let seen = by.standing().forums().contains(&forum);
            seen.then_some(()).ok_or(Refusal::Absent)
        });
        Ok((by, Road(seen)))
    }
}

/// Whether the library lets a request through to the board's command.
struct Road(Result<()>);

impl Road {
    /// What the library does not let through, the command must refuse as absent by itself: it decides later, inside its
    /// own transaction.
    fn agrees<T: std::fmt::Debug>(self, what: &str, reply: Result<T>) -> Verdict<Result<T>> {
        match (self.0, reply) {
            (Err(Refusal::Absent), Ok(reply)) => Err(Stop::broken(
                what,
                format_args!("{reply:?}"),
                "Refusal::Absent, as the caller does not see the place",
            )),
            (Err(Refusal::NotImplemented), Ok(_)) => Err(Stop::broken(
                what,
                "501, for `Board::forum_of` is not written for such a place",
                "`Board::forum_of` says where it is, before each write",
            )),
            (Err(refusal), Ok(_) | Err(Refusal::Absent)) => Ok(Err(refusal)),
            (_, reply) => Ok(reply),
        }
    }
}
