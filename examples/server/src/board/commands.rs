//! The board's commands, as the API calls them: each is a read of one state, or one transaction.

use std::sync::Arc;

use forum_api::async_trait;
use forum_api::host::{self, Caller, In, Member, Place, Result};
use forum_api::model::{
    Account, EditPoll, EditPost, Followed, Forum, ForumId, ListMessages, ListPosts,
    ListSubscriptions, ListThreads, Message, MessageId, MessageSummary, Opening, Page, Poll,
    PollId, Post, PostAt, Profile, Rate, Rating, Reply, Search, SearchHit, SendMessage,
    StartThread, Subscription, Target, Thread, ThreadId, UserRef, Vote,
};

use super::actor::Actor;
use super::visibility::{self, ContentRef};
use super::{
    Board, accounts, forums, messages, polls, posts, ratings, search, subscriptions, threads,
};

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl host::Board for Board {
    async fn forum_of(&self, caller: &Caller, place: Place<'_>) -> Result<ForumId> {
        let (actor, named) = (actor(caller)?, ContentRef::try_from(place)?);
        let forum = self.read_short(move |connection| {
            Box::pin(async move { visibility::forum(connection, &actor, named).await })
        });
        forum.await.map(ForumId::from)
    }

    async fn me(&self, by: &Member) -> Result<Account> {
        let user = UserRef::Id(by.user().clone());
        let member = by.user().number()?;
        let account = self.read(move |connection| {
            Box::pin(async move {
                Ok(Account {
                    owner: accounts::profile(connection, &user).await?,
                    unread_messages: Some(messages::unread(connection, member).await?),
                })
            })
        });
        let mut account = account.await?;
        self.hints.complete(&mut account.owner)?;
        Ok(account)
    }

    async fn forums(&self, caller: &Caller) -> Result<Vec<Forum>> {
        let actor = actor(caller)?;
        self.read(move |connection| Box::pin(async move { forums::list(connection, &actor).await }))
            .await
    }

    async fn threads(
        &self,
        caller: &Caller,
        forum: ForumId,
        list: ListThreads,
    ) -> Result<Page<Thread>> {
        let (actor, forum) = (actor(caller)?, forum.number()?);
        self.read(move |connection| {
            Box::pin(async move { threads::list(connection, &actor, forum, &list).await })
        })
        .await
    }

    async fn start_thread(&self, by: &Member, forum: ForumId, new: StartThread) -> Result<Thread> {
        let forum = forum.number()?;
        self.act(by, move |command| {
            Box::pin(threads::start(command, forum, new))
        })
        .await
    }

    async fn thread(&self, caller: &Caller, thread: ThreadId) -> Result<Thread> {
        let (actor, thread) = (actor(caller)?, thread.number()?);
        self.read(move |connection| {
            Box::pin(async move { threads::one(connection, &actor, thread).await })
        })
        .await
    }

    async fn posts(
        &self,
        caller: &Caller,
        thread: ThreadId,
        list: ListPosts,
    ) -> Result<In<Page<Post>>> {
        let (actor, thread, now) = (actor(caller)?, thread.number()?, self.clock.now());
        self.read(move |connection| {
            Box::pin(async move { posts::list(connection, &actor, thread, &list, now).await })
        })
        .await
    }

    async fn reply(&self, by: &Member, thread: ThreadId, reply: Reply) -> Result<In<Post>> {
        let thread = thread.number()?;
        self.act(by, move |command| {
            Box::pin(posts::reply(command, thread, reply))
        })
        .await
    }

    async fn edit_post(&self, by: &Member, at: PostAt, edit: EditPost) -> Result<In<Post>> {
        let at = (at.thread.number()?, at.post.number()?);
        self.act(by, move |command| Box::pin(posts::edit(command, at, edit)))
            .await
    }

    async fn delete_post(&self, by: &Member, at: PostAt) -> Result<()> {
        let at = (at.thread.number()?, at.post.number()?);
        self.act(by, move |command| Box::pin(posts::delete(command, at)))
            .await
    }

    async fn profile(&self, _: &Caller, user: UserRef) -> Result<Profile> {
        let profile = self.read(move |connection| {
            Box::pin(async move { accounts::profile(connection, &user).await })
        });
        let mut profile = profile.await?;
        self.hints.complete(&mut profile)?;
        Ok(profile)
    }

    async fn rate(&self, by: &Member, user: UserRef, rating: Rate) -> Result<Rating> {
        self.act(by, move |command| {
            Box::pin(ratings::rate(command, user, rating))
        })
        .await
    }

    async fn messages(&self, by: &Member, list: ListMessages) -> Result<Page<MessageSummary>> {
        let owner = by.user().number()?;
        self.read(move |connection| {
            Box::pin(async move { messages::list(connection, owner, &list).await })
        })
        .await
    }

    async fn send_message(&self, by: &Member, new: SendMessage) -> Result<Message> {
        let member = by.user().number()?;
        self.act(by, move |command| {
            Box::pin(messages::send(command, member, new))
        })
        .await
    }

    async fn message(&self, by: &Member, message: MessageId, opening: Opening) -> Result<Message> {
        self.open_message(by.user().number()?, message.number()?, opening)
            .await
    }

    async fn poll(&self, caller: &Caller, thread: ThreadId) -> Result<In<Poll>> {
        let (actor, thread, now) = (actor(caller)?, thread.number()?, self.clock.now());
        self.read(move |connection| {
            Box::pin(async move { polls::of_thread(connection, &actor, thread, now).await })
        })
        .await
    }

    async fn vote(&self, by: &Member, poll: PollId, vote: Vote) -> Result<In<Poll>> {
        let poll = poll.number()?;
        self.act(by, move |command| {
            Box::pin(polls::vote(command, poll, vote))
        })
        .await
    }

    async fn edit_poll(&self, by: &Member, poll: PollId, edit: EditPoll) -> Result<In<Poll>> {
        let poll = poll.number()?;
        self.act(by, move |command| {
            Box::pin(polls::edit(command, poll, edit))
        })
        .await
    }

    async fn subscriptions(
        &self,
        by: &Member,
        list: ListSubscriptions,
    ) -> Result<Page<Subscription>> {
        let actor: Arc<Actor> = by.loaded().cloned()?;
        self.read(move |connection| {
            Box::pin(async move { subscriptions::list(connection, &actor, &list).await })
        })
        .await
    }

    async fn follow(&self, by: &Member, what: Target) -> Result<Followed> {
        self.act(by, move |command| {
            Box::pin(subscriptions::follow(command, what))
        })
        .await
    }

    async fn unfollow(&self, by: &Member, what: Target) -> Result<()> {
        self.act(by, move |command| {
            Box::pin(subscriptions::unfollow(command, what))
        })
        .await
    }

    async fn search(&self, caller: &Caller, search: Search) -> Result<Page<SearchHit>> {
        let (actor, now) = (actor(caller)?, self.clock.now());
        self.read(move |connection| {
            Box::pin(async move { search::page(connection, &actor, &search, now).await })
        })
        .await
    }
}

/// The caller as the [`Authority`](host::Authority) loaded them for this request.
fn actor(caller: &Caller) -> Result<Arc<Actor>> {
    caller.loaded().cloned()
}
