//! The commands of the test board.

use forum_api::async_trait;
use forum_api::host::{Board, Caller, In, Member, Place, Refusal, Result};
use forum_api::model::*;

use super::FullBoard;
use super::rules::{has_poll, may_change, member_of, typed};
use super::world::{self, MESSAGES, POSTS, THREADS, page};

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Board for FullBoard {
    /// The thread and the post that are created follow the last ones.
    async fn forum_of(&self, caller: &Caller, place: Place<'_>) -> Result<ForumId> {
        match place {
            Place::Thread(thread) => self.find(caller, &thread.to_string(), &[THREADS + 1]),
            Place::Post(thread, post) if post.to_string().starts_with(&format!("{thread}-")) => {
                self.find(caller, &post.to_string(), &[THREADS, POSTS + 1])
            }
            Place::Poll(poll) => {
                has_poll(&poll.to_string())?;
                self.find(caller, &poll.to_string(), &[THREADS])
            }
            _ => Err(Refusal::Absent),
        }
    }

    async fn me(&self, by: &Member) -> Result<Account> {
        self.run("me", ()).await?;
        Ok(Account {
            owner: world::profile(&by.user().to_string()),
            unread_messages: Some(2),
        })
    }

    async fn forums(&self, caller: &Caller) -> Result<Vec<Forum>> {
        self.run("forums", ()).await?;
        let shown = self.shown(caller.standing());
        let forum = |id| world::forum(id, world::nearest(id, &shown));
        Ok(shown.iter().copied().map(forum).collect())
    }

    async fn threads(&self, _: &Caller, forum: ForumId, list: ListThreads) -> Result<Page<Thread>> {
        self.run("threads", &list).await?;
        let thread = |n| world::thread(&format!("{forum}-{n}"));
        Ok(page(list.limit, list.after.as_ref(), THREADS, thread))
    }

    async fn start_thread(&self, _: &Member, forum: ForumId, new: StartThread) -> Result<Thread> {
        self.run("start_thread", &new).await?;
        typed("title", &new.title)?;
        Ok(world::thread(&format!("{forum}-{}", THREADS + 1)))
    }

    async fn thread(&self, caller: &Caller, thread: ThreadId) -> Result<Thread> {
        self.run("thread", ()).await?;
        self.find(caller, &thread.to_string(), &[THREADS])?;
        Ok(world::thread(&thread.to_string()))
    }

    async fn posts(
        &self,
        caller: &Caller,
        thread: ThreadId,
        list: ListPosts,
    ) -> Result<In<Page<Post>>> {
        self.run("posts", &list).await?;
        let forum = self.find(caller, &thread.to_string(), &[THREADS])?;
        if list
            .from
            .is_some_and(|from| !from.to_string().starts_with(&format!("{thread}-")))
        {
            return Err(Refusal::Unusable("from", "a post of this thread"));
        }
        let post = |n| world::post(&thread.to_string(), n, "Green?");
        let page = page(list.limit, list.after.as_ref(), POSTS, post);
        Ok(In::new(forum, page))
    }

    async fn reply(&self, by: &Member, thread: ThreadId, reply: Reply) -> Result<In<Post>> {
        self.run("reply", &reply).await?;
        typed("body", &reply.body)?;
        let caller = Caller::Member(by.clone());
        let forum = self.find(&caller, &thread.to_string(), &[THREADS])?;
        let post = world::post(&thread.to_string(), POSTS + 1, &reply.body);
        Ok(In::new(forum, post))
    }

    async fn edit_post(&self, by: &Member, at: PostAt, edit: EditPost) -> Result<In<Post>> {
        self.run("edit_post", &edit).await?;
        may_change(by, &at.post)?;
        let caller = Caller::Member(by.clone());
        let forum = self.find(&caller, &at.thread.to_string(), &[THREADS])?;
        Ok(In::new(
            forum,
            world::post(&at.thread.to_string(), 1, &edit.body),
        ))
    }

    async fn delete_post(&self, by: &Member, at: PostAt) -> Result<()> {
        self.run("delete_post", &at).await?;
        may_change(by, &at.post)
    }

    async fn profile(&self, _: &Caller, user: UserRef) -> Result<Profile> {
        self.run("profile", &user).await?;
        let member = member_of(&user).filter(|member| !self.is_deleted(member));
        let member = member.ok_or(Refusal::Absent)?;
        Ok(world::profile(member))
    }

    async fn rate(&self, by: &Member, user: UserRef, rating: Rate) -> Result<Rating> {
        self.run("rate", &rating).await?;
        let member = member_of(&user).ok_or(Refusal::Absent)?;
        let caller = Caller::Member(by.clone());
        let find = |post: &PostId| self.find(&caller, &post.to_string(), &[THREADS, POSTS]);
        let forum_id = rating.post_id.as_ref().map(find).transpose();
        Ok(Rating {
            rating_id: RatingId::from(1),
            user_id: UserId::new(member).unwrap(),
            post_id: rating.post_id,
            forum_id: forum_id.map_err(|_| Refusal::NotFound("There is no such post.".into()))?,
            points: rating.points,
            comment: rating.comment,
            created_at: world::time(),
            reputation: 2,
        })
    }

    async fn messages(&self, by: &Member, list: ListMessages) -> Result<Page<MessageSummary>> {
        self.run("messages", &list).await?;
        let owner = by.user().to_string();
        let summary = |n| world::message(&owner, n, list.folder).summary;
        Ok(page(list.limit, list.after.as_ref(), MESSAGES, summary))
    }

    async fn send_message(&self, by: &Member, new: SendMessage) -> Result<Message> {
        self.run("send_message", &new).await?;
        typed("subject", &new.subject)?;
        if new
            .to
            .iter()
            .any(|recipient| member_of(recipient).is_none())
        {
            return Err(Refusal::NotFound("There is no such recipient.".into()));
        }
        let owner = by.user().to_string();
        Ok(world::message(&owner, MESSAGES + 1, Folder::Sent))
    }

    async fn message(&self, by: &Member, message: MessageId, opening: Opening) -> Result<Message> {
        self.run("message", opening).await?;
        let owner = by.user().to_string();
        let own = (1..=MESSAGES).find(|n| message.to_string() == format!("{owner}-{n}"));
        let number = own.ok_or(Refusal::Absent)?;
        Ok(world::message(&owner, number, Folder::Inbox))
    }

    async fn poll(&self, caller: &Caller, thread: ThreadId) -> Result<In<Poll>> {
        self.run("poll", ()).await?;
        has_poll(&thread.to_string())?;
        let forum = self.find(caller, &thread.to_string(), &[THREADS])?;
        Ok(In::new(forum, world::poll(&thread.to_string())))
    }

    async fn vote(&self, by: &Member, poll: PollId, vote: Vote) -> Result<In<Poll>> {
        self.run("vote", &vote).await?;
        if vote
            .option_ids
            .iter()
            .any(|option| *option != OptionId::from(1))
        {
            return Err(Refusal::NotFound("There is no such option.".into()));
        }
        let forum = self.find(&Caller::Member(by.clone()), &poll.to_string(), &[THREADS])?;
        Ok(In::new(forum, world::poll(&poll.to_string())))
    }

    async fn edit_poll(&self, by: &Member, poll: PollId, edit: EditPoll) -> Result<In<Poll>> {
        self.run("edit_poll", &edit).await?;
        let forum = self.find(&Caller::Member(by.clone()), &poll.to_string(), &[THREADS])?;
        Ok(In::new(forum, world::poll(&poll.to_string())))
    }

    async fn subscriptions(
        &self,
        by: &Member,
        list: ListSubscriptions,
    ) -> Result<Page<Subscription>> {
        self.run("subscriptions", &list).await?;
        let shown = self.shown(by.standing());
        let kind = list.target.unwrap_or(TargetKind::Thread);
        let followed = |n: usize| world::subscription(kind, &format!("{}-1", shown[n - 1]));
        Ok(page(list.limit, list.after.as_ref(), shown.len(), followed))
    }

    async fn follow(&self, by: &Member, what: Target) -> Result<Followed> {
        self.run("follow", &what).await?;
        let (kind, id, bounds): (_, _, &[_]) = match what {
            Target::Thread(thread) => (TargetKind::Thread, thread.to_string(), &[THREADS]),
            Target::Forum(forum) => (TargetKind::Forum, forum.to_string(), &[]),
        };
        let caller = Caller::Member(by.clone());
        self.find(&caller, &id, bounds)
            .map_err(|_| Refusal::NotFound("There is no such thing to follow.".into()))?;
        let subscription = world::subscription(kind, &id);
        Ok(match kind {
            TargetKind::Thread => Followed::Already(subscription),
            TargetKind::Forum => Followed::New(subscription),
        })
    }

    async fn unfollow(&self, _: &Member, what: Target) -> Result<()> {
        self.run("unfollow", &what).await?;
        let Target::Thread(thread) = what else {
            return Err(Refusal::NotFound("You do not follow that.".into()));
        };
        matches!(&*thread.to_string(), "open-1" | "members-1")
            .then_some(())
            .ok_or_else(|| Refusal::NotFound("You do not follow that.".into()))
    }

    async fn search(&self, caller: &Caller, search: Search) -> Result<Page<SearchHit>> {
        self.run("search", &search).await?;
        let shown = self.shown(caller.standing());
        let hit = |n: usize| world::hit(shown[n - 1]);
        Ok(page(search.limit, search.after.as_ref(), shown.len(), hit))
    }
}
