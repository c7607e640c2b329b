//! The methods of the board that the API calls. A method reads, and changes the board in at most one transaction.

use std::sync::Arc;

use forum_api::async_trait;
use forum_api::host::{
    self, BoardResult, Caller, CreateOutcome, InForum, MemberCaller, ResourceRef,
};
use forum_api::model::{
    Forum, ForumId, List, MarkRead, Member, Message, MessageFilter, MessageId, MessageSummary,
    NewMessage, NewPost, NewRating, NewSubscription, NewThread, NewVote, OwnAccount, Page, Poll,
    PollId, PollUpdate, Post, PostFilter, PostPath, PostUpdate, Rating, SearchFilter, SearchHit,
    Subscription, SubscriptionFilter, SubscriptionTarget, Thread, ThreadFilter, ThreadId, UserRef,
};

use super::access::actor::Actor;
use super::access::visibility::{self, ContentRef};
use super::db::{LogPosition, ReadKind};
use super::locks::{LockTarget, PostTarget};
use super::markdown::BodyHtml;
use super::settings::BODY_MAX;
use super::{
    ReferenceBoard, accounts, forums, messages, polls, posts, ratings, search, subscriptions,
    threads,
};

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl host::Board for ReferenceBoard {
    async fn containing_forum(
        &self,
        caller: &Caller,
        place: ResourceRef<'_>,
    ) -> BoardResult<ForumId> {
        let actor = actor_of(caller)?;
        let named = ContentRef::try_from(place)?;
        self.read_short(move |connection| {
            Box::pin(async move { visibility::forum(connection, &actor, named).await })
        })
        .await
        .map(ForumId::from)
    }

    async fn exists(&self, caller: &Caller, resource: ResourceRef<'_>) -> BoardResult<bool> {
        let ResourceRef::Member(user) = resource else {
            return Ok(true); // The access of a caller contains only forums that exist.
        };
        let position = actor_of(caller)?.position;
        let user = user.clone();
        self.read_at(position, move |connection| {
            Box::pin(async move { Ok(accounts::find(connection, &user).await?.is_some()) })
        })
        .await
    }

    async fn get_me(&self, by: &MemberCaller) -> BoardResult<OwnAccount> {
        let member = by.user_id().to_i64()?;
        let mut account = self
            .read_at(position(by)?, move |connection| Box::pin(accounts::own(connection, member)))
            .await?;
        self.last_seen.apply_to(&mut account.owner)?;
        Ok(account)
    }

    async fn list_forums(&self, caller: &Caller) -> BoardResult<Page<Forum>> {
        let actor = actor_of(caller)?;
        self.read_at(actor.position, move |connection| Box::pin(forums::list(connection, actor)))
            .await
            .map(Page::from)
    }

    async fn list_threads(
        &self,
        caller: &Caller,
        forum: ForumId,
        list: List<ThreadFilter>,
    ) -> BoardResult<Page<Thread>> {
        let actor = actor_of(caller)?;
        let forum = forum.to_i64()?;
        self.read_at(actor.position, move |connection| {
            Box::pin(async move { threads::list(connection, &actor, forum, &list).await })
        })
        .await
    }

    async fn create_thread(
        &self,
        by: &MemberCaller,
        forum: ForumId,
        new: NewThread,
    ) -> BoardResult<Thread> {
        let forum = forum.to_i64()?;
        let html = render(by, &new.body).await?;
        self.act(by, LockTarget::Nothing, move |command| {
            Box::pin(threads::start(command, forum, new, html))
        })
        .await
    }

    async fn get_thread(&self, caller: &Caller, thread: ThreadId) -> BoardResult<Thread> {
        let actor = actor_of(caller)?;
        let thread = thread.to_i64()?;
        self.read_at(actor.position, move |connection| {
            Box::pin(async move { threads::load(connection, &actor, thread).await })
        })
        .await
    }

    async fn list_posts(
        &self,
        caller: &Caller,
        thread: ThreadId,
        list: List<PostFilter>,
    ) -> BoardResult<InForum<Page<Post>>> {
        let actor = actor_of(caller)?;
        let thread = thread.to_i64()?;
        let now = self.clock.now();
        self.read_at(actor.position, move |connection| {
            Box::pin(async move { posts::list(connection, &actor, thread, &list, now).await })
        })
        .await
    }

    async fn create_post(
        &self,
        by: &MemberCaller,
        thread: ThreadId,
        reply: NewPost,
    ) -> BoardResult<InForum<Post>> {
        let thread = thread.to_i64()?;
        let html = render(by, &reply.body).await?;
        let actor: Arc<Actor> = by.extension().cloned()?;
        let answered = reply.in_reply_to.clone();
        self.act_on(
            by,
            LockTarget::Thread(thread),
            move |tx, now| {
                Box::pin(async move {
                    posts::load_for_reply(tx, &actor, thread, answered.as_ref(), now).await
                })
            },
            move |command, context| Box::pin(posts::reply(command, context, reply, html)),
        )
        .await
    }

    async fn update_post(
        &self,
        by: &MemberCaller,
        at: PostPath,
        edit: PostUpdate,
    ) -> BoardResult<InForum<Post>> {
        let (thread, post) = (at.thread_id.to_i64()?, at.post_id.to_i64()?);
        let html = match &edit.body {
            Some(body) => Some(render(by, body).await?),
            None => None,
        };
        self.act(by, LockTarget::Post(PostTarget { thread: Some(thread), post }), move |command| {
            Box::pin(posts::edit(command, thread, post, edit, html))
        })
        .await
    }

    async fn delete_post(&self, by: &MemberCaller, at: PostPath) -> BoardResult<()> {
        let (thread, post) = (at.thread_id.to_i64()?, at.post_id.to_i64()?);
        self.act(by, LockTarget::Post(PostTarget { thread: Some(thread), post }), move |command| {
            Box::pin(posts::delete(command, thread, post))
        })
        .await
    }

    async fn get_member(&self, caller: &Caller, user: UserRef) -> BoardResult<Member> {
        let position = actor_of(caller)?.position;
        let mut profile = self
            .read_at(position, move |connection| Box::pin(accounts::profile(connection, user)))
            .await?;
        self.last_seen.apply_to(&mut profile)?;
        Ok(profile)
    }

    async fn rate_member(
        &self,
        by: &MemberCaller,
        user: UserRef,
        rating: NewRating,
    ) -> BoardResult<Rating> {
        self.act(by, LockTarget::Member(user.clone()), move |command| {
            Box::pin(ratings::rate(command, user, rating))
        })
        .await
    }

    async fn list_messages(
        &self,
        by: &MemberCaller,
        list: List<MessageFilter>,
    ) -> BoardResult<Page<MessageSummary>> {
        let owner = by.user_id().to_i64()?;
        self.read_at(position(by)?, move |connection| {
            Box::pin(async move { messages::list(connection, owner, &list).await })
        })
        .await
    }

    async fn send_message(&self, by: &MemberCaller, new: NewMessage) -> BoardResult<Message> {
        let member = by.user_id().to_i64()?;
        let html = render(by, &new.body).await?;
        self.act(by, LockTarget::Recipients(new.clone()), move |command| {
            Box::pin(messages::send(command, member, new, html))
        })
        .await
    }

    async fn open_message(
        &self,
        by: &MemberCaller,
        message: MessageId,
        mark_read: MarkRead,
    ) -> BoardResult<Message> {
        let owner = by.user_id().to_i64()?;
        let copy = message.to_i64()?;
        let texts = self.texts;
        let mut found =
            self.read(move |connection| Box::pin(messages::load(connection, owner, copy))).await?;
        // Only the first opening waits for a write.
        if mark_read == MarkRead::No || found.summary.read {
            return Ok(found);
        }
        let target = LockTarget::MessageCopy(copy);
        self.write_locked(target, owner, move |tx, events| {
            Box::pin(async move {
                if !messages::mark_read(tx, owner, copy, events.now, texts).await? {
                    return messages::load(tx, owner, copy).await;
                }
                found.summary.read = true;
                found.summary.read_at = Some(events.now);
                Ok(found)
            })
        })
        .await
    }

    async fn get_poll(&self, caller: &Caller, thread: ThreadId) -> BoardResult<InForum<Poll>> {
        let actor = actor_of(caller)?;
        let thread = thread.to_i64()?;
        let now = self.clock.now();
        self.read_at(actor.position, move |connection| {
            Box::pin(async move { polls::of_thread(connection, &actor, thread, now).await })
        })
        .await
    }

    async fn vote(
        &self,
        by: &MemberCaller,
        poll: PollId,
        vote: NewVote,
    ) -> BoardResult<InForum<Poll>> {
        let poll = poll.to_i64()?;
        self.act(by, LockTarget::Poll(poll), move |command| {
            Box::pin(polls::vote(command, poll, vote))
        })
        .await
    }

    async fn update_poll(
        &self,
        by: &MemberCaller,
        poll: PollId,
        edit: PollUpdate,
    ) -> BoardResult<InForum<Poll>> {
        let poll = poll.to_i64()?;
        self.act(by, LockTarget::Poll(poll), move |command| {
            Box::pin(polls::edit(command, poll, edit))
        })
        .await
    }

    async fn list_subscriptions(
        &self,
        by: &MemberCaller,
        list: List<SubscriptionFilter>,
    ) -> BoardResult<Page<Subscription>> {
        let actor: Arc<Actor> = by.extension().cloned()?;
        self.read_at(actor.position, move |connection| {
            Box::pin(async move { subscriptions::list(connection, &actor, &list).await })
        })
        .await
    }

    async fn subscribe(
        &self,
        by: &MemberCaller,
        new: NewSubscription,
    ) -> BoardResult<CreateOutcome<Subscription>> {
        self.act(by, LockTarget::Nothing, move |command| {
            Box::pin(subscriptions::subscribe(command, new.target))
        })
        .await
    }

    async fn unsubscribe(&self, by: &MemberCaller, what: SubscriptionTarget) -> BoardResult<()> {
        self.act(by, LockTarget::Nothing, move |command| {
            Box::pin(subscriptions::unsubscribe(command, what))
        })
        .await
    }

    async fn search(
        &self,
        caller: &Caller,
        search: List<SearchFilter>,
    ) -> BoardResult<Page<SearchHit>> {
        let actor = actor_of(caller)?;
        let now = self.clock.now();
        self.database
            .read_at(actor.position, ReadKind::Search, move |connection| {
                Box::pin(async move { search::page(connection, &actor, &search, now).await })
            })
            .await
    }
}

/// Renders a body that a member sends.
async fn render(by: &MemberCaller, body: &str) -> BoardResult<BodyHtml> {
    let actor: Arc<Actor> = by.extension().cloned()?;
    BodyHtml::render(body, actor.settings.of(&BODY_MAX)).await
}

/// Returns the position of the log that belongs to the caller's access.
fn position(by: &MemberCaller) -> BoardResult<Option<LogPosition>> {
    let actor: &Arc<Actor> = by.extension()?;
    Ok(actor.position)
}

/// Returns the actor that the [`Authorizer`](host::Authorizer) loaded for this request.
fn actor_of(caller: &Caller) -> BoardResult<Arc<Actor>> {
    caller.extension().cloned()
}
