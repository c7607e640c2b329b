//! The commands of the test board.

use forum_api::async_trait;
use forum_api::host::{Board, BoardError, BoardResult, Caller, InForum, MemberCaller, ResourceRef};
use forum_api::model::*;

use super::FullBoard;
use super::rules::{has_poll, may_change, member_of, typed};
use super::world::{self, MESSAGES, POSTS, THREADS, page};

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Board for FullBoard {
    /// The thread and the post that are created follow the last ones.
    async fn containing_forum(
        &self,
        caller: &Caller,
        place: ResourceRef<'_>,
    ) -> BoardResult<ForumId> {
        match place {
            ResourceRef::Thread(thread) => self.find(caller, &thread.to_string(), &[THREADS + 1]),
            ResourceRef::Post(thread, post)
                if post.to_string().starts_with(&format!("{thread}-")) =>
            {
                self.find(caller, &post.to_string(), &[THREADS, POSTS + 1])
            }
            ResourceRef::Poll(poll) => {
                has_poll(&poll.to_string())?;
                self.find(caller, &poll.to_string(), &[THREADS])
            }
            _ => Err(BoardError::PathNotFound),
        }
    }

    async fn get_me(&self, by: &MemberCaller) -> BoardResult<OwnAccount> {
        self.run("me", ()).await?;
        Ok(OwnAccount {
            owner: world::profile(&by.user_id().to_string()),
            unread_messages: Some(2),
        })
    }

    async fn list_forums(&self, caller: &Caller) -> BoardResult<Vec<Forum>> {
        self.run("forums", ()).await?;
        let shown = self.shown(caller.access());
        let forum = |id| world::forum(id, world::nearest(id, &shown));
        Ok(shown.iter().copied().map(forum).collect())
    }

    async fn list_threads(
        &self,
        _: &Caller,
        forum: ForumId,
        list: ListThreadsParams,
    ) -> BoardResult<Page<Thread>> {
        self.run("threads", &list).await?;
        let thread = |n| world::thread(&format!("{forum}-{n}"));
        Ok(page(list.limit, list.after.as_ref(), THREADS, thread))
    }

    async fn create_thread(
        &self,
        _: &MemberCaller,
        forum: ForumId,
        new: NewThread,
    ) -> BoardResult<Thread> {
        self.run("start_thread", &new).await?;
        typed("title", &new.title)?;
        Ok(world::thread(&format!("{forum}-{}", THREADS + 1)))
    }

    async fn get_thread(&self, caller: &Caller, thread: ThreadId) -> BoardResult<Thread> {
        self.run("thread", ()).await?;
        self.find(caller, &thread.to_string(), &[THREADS])?;
        Ok(world::thread(&thread.to_string()))
    }

    async fn list_posts(
        &self,
        caller: &Caller,
        thread: ThreadId,
        list: ListPostsParams,
    ) -> BoardResult<InForum<Page<Post>>> {
        self.run("posts", &list).await?;
        let forum = self.find(caller, &thread.to_string(), &[THREADS])?;
        if list
            .from
            .is_some_and(|from| !from.to_string().starts_with(&format!("{thread}-")))
        {
            return Err(BoardError::InvalidParameter(
                "from",
                "a post of this thread",
            ));
        }
        let post = |n| world::post(&thread.to_string(), n, "Green?");
        let page = page(list.limit, list.after.as_ref(), POSTS, post);
        Ok(InForum::new(forum, page))
    }

    async fn create_post(
        &self,
        by: &MemberCaller,
        thread: ThreadId,
        reply: NewPost,
    ) -> BoardResult<InForum<Post>> {
        self.run("reply", &reply).await?;
        typed("body", &reply.body)?;
        let caller = Caller::Member(by.clone());
        let forum = self.find(&caller, &thread.to_string(), &[THREADS])?;
        let post = world::post(&thread.to_string(), POSTS + 1, &reply.body);
        Ok(InForum::new(forum, post))
    }

    async fn update_post(
        &self,
        by: &MemberCaller,
        at: PostPath,
        edit: PostUpdate,
    ) -> BoardResult<InForum<Post>> {
        self.run("edit_post", &edit).await?;
        may_change(by, &at.post_id)?;
        let caller = Caller::Member(by.clone());
        let forum = self.find(&caller, &at.thread_id.to_string(), &[THREADS])?;
        Ok(InForum::new(
            forum,
            world::post(&at.thread_id.to_string(), 1, &edit.body),
        ))
    }

    async fn delete_post(&self, by: &MemberCaller, at: PostPath) -> BoardResult<()> {
        self.run("delete_post", &at).await?;
        may_change(by, &at.post_id)
    }

    async fn get_member(&self, _: &Caller, user: UserRef) -> BoardResult<Member> {
        self.run("profile", &user).await?;
        let member = member_of(&user).filter(|member| !self.is_deleted(member));
        let member = member.ok_or(BoardError::PathNotFound)?;
        Ok(world::profile(member))
    }

    async fn rate_member(
        &self,
        by: &MemberCaller,
        user: UserRef,
        rating: NewRating,
    ) -> BoardResult<Rating> {
        self.run("rate", &rating).await?;
        let member = member_of(&user).ok_or(BoardError::PathNotFound)?;
        let caller = Caller::Member(by.clone());
        let find = |post: &PostId| self.find(&caller, &post.to_string(), &[THREADS, POSTS]);
        let forum_id = rating.post_id.as_ref().map(find).transpose();
        Ok(Rating {
            rating_id: RatingId::from(1),
            user_id: UserId::parse(member).unwrap(),
            post_id: rating.post_id,
            forum_id: forum_id
                .map_err(|_| BoardError::NotFound("There is no such post.".into()))?,
            points: rating.points,
            comment: rating.comment,
            created_at: world::time(),
            reputation: 2,
        })
    }

    async fn list_messages(
        &self,
        by: &MemberCaller,
        list: ListMessagesParams,
    ) -> BoardResult<Page<MessageSummary>> {
        self.run("messages", &list).await?;
        let owner = by.user_id().to_string();
        let summary = |n| world::message(&owner, n, list.folder).summary;
        Ok(page(list.limit, list.after.as_ref(), MESSAGES, summary))
    }

    async fn send_message(&self, by: &MemberCaller, new: NewMessage) -> BoardResult<Message> {
        self.run("send_message", &new).await?;
        typed("subject", &new.subject)?;
        if new
            .to
            .iter()
            .any(|recipient| member_of(recipient).is_none())
        {
            return Err(BoardError::NotFound("There is no such recipient.".into()));
        }
        let owner = by.user_id().to_string();
        Ok(world::message(&owner, MESSAGES + 1, Folder::Sent))
    }

    async fn open_message(
        &self,
        by: &MemberCaller,
        message: MessageId,
        opening: MarkRead,
    ) -> BoardResult<Message> {
        self.run("message", opening).await?;
        let owner = by.user_id().to_string();
        let own = (1..=MESSAGES).find(|n| message.to_string() == format!("{owner}-{n}"));
        let number = own.ok_or(BoardError::PathNotFound)?;
        Ok(world::message(&owner, number, Folder::Inbox))
    }

    async fn get_poll(&self, caller: &Caller, thread: ThreadId) -> BoardResult<InForum<Poll>> {
        self.run("poll", ()).await?;
        has_poll(&thread.to_string())?;
        let forum = self.find(caller, &thread.to_string(), &[THREADS])?;
        Ok(InForum::new(forum, world::poll(&thread.to_string())))
    }

    async fn vote(
        &self,
        by: &MemberCaller,
        poll: PollId,
        vote: NewVote,
    ) -> BoardResult<InForum<Poll>> {
        self.run("vote", &vote).await?;
        if vote
            .option_ids
            .iter()
            .any(|option| *option != OptionId::from(1))
        {
            return Err(BoardError::NotFound("There is no such option.".into()));
        }
        let forum = self.find(&Caller::Member(by.clone()), &poll.to_string(), &[THREADS])?;
        Ok(InForum::new(forum, world::poll(&poll.to_string())))
    }

    async fn update_poll(
        &self,
        by: &MemberCaller,
        poll: PollId,
        edit: PollUpdate,
    ) -> BoardResult<InForum<Poll>> {
        self.run("edit_poll", &edit).await?;
        let forum = self.find(&Caller::Member(by.clone()), &poll.to_string(), &[THREADS])?;
        Ok(InForum::new(forum, world::poll(&poll.to_string())))
    }

    async fn list_subscriptions(
        &self,
        by: &MemberCaller,
        list: ListSubscriptionsParams,
    ) -> BoardResult<Page<Subscription>> {
        self.run("subscriptions", &list).await?;
        let shown = self.shown(by.access());
        let kind = list.target.unwrap_or(SubscriptionTargetKind::Thread);
        let followed = |n: usize| world::subscription(kind, &format!("{}-1", shown[n - 1]));
        Ok(page(list.limit, list.after.as_ref(), shown.len(), followed))
    }

    async fn subscribe(
        &self,
        by: &MemberCaller,
        what: SubscriptionTarget,
    ) -> BoardResult<SubscribeOutcome> {
        self.run("follow", &what).await?;
        let (kind, id, bounds): (_, _, &[_]) = match what {
            SubscriptionTarget::Thread(thread) => (
                SubscriptionTargetKind::Thread,
                thread.to_string(),
                &[THREADS],
            ),
            SubscriptionTarget::Forum(forum) => {
                (SubscriptionTargetKind::Forum, forum.to_string(), &[])
            }
        };
        let caller = Caller::Member(by.clone());
        self.find(&caller, &id, bounds)
            .map_err(|_| BoardError::NotFound("There is no such thing to follow.".into()))?;
        let subscription = world::subscription(kind, &id);
        Ok(match kind {
            SubscriptionTargetKind::Thread => SubscribeOutcome::Existing(subscription),
            SubscriptionTargetKind::Forum => SubscribeOutcome::Created(subscription),
        })
    }

    async fn unsubscribe(&self, _: &MemberCaller, what: SubscriptionTarget) -> BoardResult<()> {
        self.run("unfollow", &what).await?;
        let SubscriptionTarget::Thread(thread) = what else {
            return Err(BoardError::NotFound("You do not follow that.".into()));
        };
        matches!(&*thread.to_string(), "open-1" | "members-1")
            .then_some(())
            .ok_or_else(|| BoardError::NotFound("You do not follow that.".into()))
    }

    async fn search(&self, caller: &Caller, search: SearchParams) -> BoardResult<Page<SearchHit>> {
        self.run("search", &search).await?;
        let shown = self.shown(caller.access());
        let hit = |n: usize| world::hit(shown[n - 1]);
        Ok(page(search.limit, search.after.as_ref(), shown.len(), hit))
    }
}
