//! The reference board: a small but real board over SQLite.
//!
//! One file per resource holds its queries and commands; `rules`, `access` and `settings` hold what is decided. Every
//! command runs in one transaction, which also notes what happened.

pub mod access;
pub mod accounts;
mod actor;
mod authority;
mod changes;
mod counts;
pub mod demo;
mod edits;
mod events;
mod flood;
pub mod forums;
pub mod generate;
pub mod groups;
mod insert;
mod item;
pub mod look;
mod markdown;
mod members;
mod messages;
pub mod moderation;
pub mod passwords;
mod place;
#[cfg(test)]
mod plans;
mod polls;
mod position;
mod posts;
mod ratings;
mod replies;
mod row;
mod rules;
mod search;
pub mod settings;
mod sight;
mod subscriptions;
mod texts;
mod threads;
#[cfg(test)]
mod told;

use std::sync::Arc;

use forum_api::Language;
use forum_api::async_trait;
use forum_api::clock::Clock;
use forum_api::host::{self, Caller, In, Member, Place, Result};
use forum_api::model::{
    Account, EditPoll, EditPost, Followed, Forum, ForumId, ListMessages, ListPosts,
    ListSubscriptions, ListThreads, Message, MessageId, MessageSummary, Opening, Page, Poll,
    PollId, Post, PostAt, Profile, Rate, Rating, Reply, Search, SearchHit, SendMessage,
    StartThread, Subscription, Target, Thread, ThreadId, Timestamp, UserRef, Vote,
};
use forum_api::store::sqlite::{Database, migrate};
use rusqlite::{Connection, Savepoint};

use actor::Actor;
use events::Events;
use place::Named;
use texts::Texts;

/// The board's schema, in the steps in which it came to be.
const STEPS: &[&str] = &[
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
    include_str!("schema/5.sql"),
];

/// The table that holds which of them were applied.
const MIGRATIONS: &str = "board_migrations";

/// The board.
#[derive(Clone, Debug)]
pub struct Board {
    database: Database,
    clock: Arc<dyn Clock>,
    say: &'static Texts,
}

impl Board {
    /// The board in `database`, which speaks `language`.
    pub fn new(database: Database, clock: Arc<dyn Clock>, language: Language) -> Self {
        let say = Texts::of(language);
        Self {
            database,
            clock,
            say,
        }
    }

    /// Whether the database has a board already.
    pub async fn is_there(&self) -> Result<bool> {
        self.read(|connection| Ok(look::is_there(connection)?))
            .await
    }

    /// Brings the tables of a board that is there up to date.
    pub async fn migrate(&self) -> Result<()> {
        let migrated = self.write(|tx, _| Ok(migrate(tx, MIGRATIONS, STEPS)?));
        migrated.await.map(drop)
    }

    /// Begins a board with what `fill` puts there, all of it or nothing; `None`, and nothing, where there is one.
    pub async fn begin<T: Send + 'static>(
        &self,
        fill: impl FnOnce(&Savepoint<'_>, Timestamp) -> Result<T> + Send + 'static,
    ) -> Result<Option<T>> {
        let begun = self.write(|tx, events| match migrate(tx, MIGRATIONS, STEPS)? {
            0 => fill(tx, events.now).map(Some),
            _ => Ok(None),
        });
        begun.await
    }

    /// Looks at one state of the board.
    pub async fn read<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.database.read(look).await
    }

    /// Changes the board in one transaction, all of it or nothing; `change` notes what happens with it.
    pub async fn write<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Savepoint<'_>, &mut Events) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let clock = self.clock.clone();
        let change = self.database.write(move |tx| {
            let mut events = Events::at(clock.now());
            change(tx, &mut events).map(|done| (done, events))
        });
        let (done, events): (T, Events) = change.await?;
        events.trace();
        Ok(done)
    }

    /// Changes the board for `by`, who may what they may by then.
    async fn act<T: Send + 'static>(
        &self,
        by: &Member,
        command: impl FnOnce(&Savepoint<'_>, &mut Events, &Actor, &Texts) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (member, say) = (by.user().number()?, self.say);
        let act = self.write(move |tx, events| {
            let actor = Actor::acting(tx, member, say)?;
            command(tx, events, &actor, say)
        });
        act.await
    }
}

#[async_trait]
impl host::Board for Board {
    async fn forum_of(&self, caller: &Caller, place: Place<'_>) -> Result<ForumId> {
        let (actor, named) = (actor(caller)?, Named::try_from(place)?);
        let forum = self.read(move |connection| place::forum(connection, &actor, named));
        forum.await.map(ForumId::from)
    }

    async fn me(&self, by: &Member) -> Result<Account> {
        let user = UserRef::Id(by.user().clone());
        let member = by.user().number()?;
        let account = self.read(move |connection| {
            Ok(Account {
                owner: members::profile(connection, &user)?,
                unread_messages: Some(messages::unread(connection, member)?),
            })
        });
        account.await
    }

    async fn forums(&self, caller: &Caller) -> Result<Vec<Forum>> {
        let actor = actor(caller)?;
        self.read(move |connection| forums::list(connection, &actor))
            .await
    }

    async fn threads(
        &self,
        caller: &Caller,
        forum: ForumId,
        list: ListThreads,
    ) -> Result<Page<Thread>> {
        let (actor, forum) = (actor(caller)?, forum.number()?);
        self.read(move |connection| threads::list(connection, &actor, forum, &list))
            .await
    }

    async fn start_thread(&self, by: &Member, forum: ForumId, new: StartThread) -> Result<Thread> {
        let forum = forum.number()?;
        let start = self.act(by, move |tx, events, actor, say| {
            threads::start(tx, events, actor, forum, &new, say)
        });
        start.await
    }

    async fn thread(&self, caller: &Caller, thread: ThreadId) -> Result<Thread> {
        let (actor, thread) = (actor(caller)?, thread.number()?);
        self.read(move |connection| threads::one(connection, &actor, thread))
            .await
    }

    async fn posts(
        &self,
        caller: &Caller,
        thread: ThreadId,
        list: ListPosts,
    ) -> Result<In<Page<Post>>> {
        let (actor, thread, now) = (actor(caller)?, thread.number()?, self.clock.now());
        self.read(move |connection| posts::list(connection, &actor, thread, &list, now))
            .await
    }

    async fn reply(&self, by: &Member, thread: ThreadId, reply: Reply) -> Result<In<Post>> {
        let thread = thread.number()?;
        let write = self.act(by, move |tx, events, actor, say| {
            replies::reply(tx, events, actor, thread, &reply, say)
        });
        write.await
    }

    async fn edit_post(&self, by: &Member, at: PostAt, edit: EditPost) -> Result<In<Post>> {
        let at = (at.thread.number()?, at.post.number()?);
        let change = self.act(by, move |tx, events, actor, say| {
            edits::edit(tx, events, actor, at, &edit, say)
        });
        change.await
    }

    async fn delete_post(&self, by: &Member, at: PostAt) -> Result<()> {
        let at = (at.thread.number()?, at.post.number()?);
        let delete = self.act(by, move |tx, events, actor, say| {
            edits::delete(tx, events, actor, at, say)
        });
        delete.await
    }

    async fn profile(&self, _: &Caller, user: UserRef) -> Result<Profile> {
        self.read(move |connection| members::profile(connection, &user))
            .await
    }

    async fn rate(&self, by: &Member, user: UserRef, rating: Rate) -> Result<Rating> {
        let rate = self.act(by, move |tx, events, actor, say| {
            ratings::rate(tx, events, actor, &user, &rating, say)
        });
        rate.await
    }

    async fn messages(&self, by: &Member, list: ListMessages) -> Result<Page<MessageSummary>> {
        let owner = by.user().number()?;
        self.read(move |connection| messages::list(connection, owner, &list))
            .await
    }

    async fn send_message(&self, by: &Member, new: SendMessage) -> Result<Message> {
        let member = by.user().number()?;
        let send = self.act(by, move |tx, events, _, say| {
            messages::send(tx, events, member, &new, say)
        });
        send.await
    }

    async fn message(&self, by: &Member, message: MessageId, opening: Opening) -> Result<Message> {
        self.open_message(by.user().number()?, message.number()?, opening)
            .await
    }

    async fn poll(&self, caller: &Caller, thread: ThreadId) -> Result<In<Poll>> {
        let (actor, thread, now) = (actor(caller)?, thread.number()?, self.clock.now());
        self.read(move |connection| polls::of_thread(connection, &actor, thread, now))
            .await
    }

    async fn vote(&self, by: &Member, poll: PollId, vote: Vote) -> Result<In<Poll>> {
        let poll = poll.number()?;
        let vote = self.act(by, move |tx, events, actor, say| {
            polls::vote(tx, events, actor, poll, &vote, say)
        });
        vote.await
    }

    async fn edit_poll(&self, by: &Member, poll: PollId, edit: EditPoll) -> Result<In<Poll>> {
        let poll = poll.number()?;
        let change = self.act(by, move |tx, events, actor, say| {
            polls::edit(tx, events, actor, poll, &edit, say)
        });
        change.await
    }

    async fn subscriptions(
        &self,
        by: &Member,
        list: ListSubscriptions,
    ) -> Result<Page<Subscription>> {
        let actor: Arc<Actor> = by.loaded().cloned()?;
        self.read(move |connection| subscriptions::list(connection, &actor, &list))
            .await
    }

    async fn follow(&self, by: &Member, what: Target) -> Result<Followed> {
        let follow = self.act(by, move |tx, events, actor, say| {
            subscriptions::follow(tx, actor, &what, events.now, say)
        });
        follow.await
    }

    async fn unfollow(&self, by: &Member, what: Target) -> Result<()> {
        let unfollow = self.act(by, move |tx, _, actor, say| {
            subscriptions::unfollow(tx, actor, &what, say)
        });
        unfollow.await
    }

    async fn search(&self, caller: &Caller, search: Search) -> Result<Page<SearchHit>> {
        let (actor, now) = (actor(caller)?, self.clock.now());
        self.read(move |connection| search::page(connection, &actor, &search, now))
            .await
    }
}

/// The caller, as the [`Authority`](host::Authority) loaded them for this request.
fn actor(caller: &Caller) -> Result<Arc<Actor>> {
    caller.loaded().cloned()
}
