//! The methods of the test board.

use forum_api::host::{CreateOutcome, MemberCaller};
use forum_api::model::*;

use super::board::IsModerator;
use super::fixtures::{MEMBERS, MESSAGES, POSTS, THREADS, page};
use super::*;

/// Implements methods that record their name and arguments before they run.
macro_rules! commands {
    ($board:ident: $($method:ident($caller:ident: $kind:ty $(, $argument:ident: $type:ty)*) -> $result:ty $body:block)+) => {
        #[deny(clippy::missing_trait_methods)]
        #[async_trait]
        impl Board for FullBoard {
            async fn containing_forum(&self, caller: &Caller, place: ResourceRef<'_>) -> BoardResult<ForumId> {
                self.look_up("containing_forum")?;
                containing_forum(self, caller, place)
            }

            async fn exists(&self, _: &Caller, resource: ResourceRef<'_>) -> BoardResult<bool> {
                self.look_up("exists")?;
                Ok(match resource {
                    ResourceRef::Member(user) => {
                        member_named(user).is_some_and(|member| !self.is_deleted(member))
                    }
                    ResourceRef::Forum(forum) => self.require_forum(forum).is_ok(),
                    _ => true,
                })
            }

            $(async fn $method(&self, $caller: $kind $(, $argument: $type)*) -> BoardResult<$result> {
                let $board = self;
                $board.run(format!("{} {:?}", stringify!($method), ($(&$argument,)*))).await?;
                $body
            })+
        }
    };
}

commands! { board:
    get_me(member: &MemberCaller) -> OwnAccount {
        let mut account = OwnAccount::new(fixtures::member(&member.user_id().to_string()));
        account.unread_messages = Some(2);
        Ok(account)
    }

    list_forums(caller: &Caller) -> Page<Forum> {
        let shown = board.shown(caller);
        let forum = |id| fixtures::forum(id, fixtures::nearest(id, &shown));
        Ok(Page::from(shown.iter().copied().map(forum).collect::<Vec<_>>()))
    }

    list_threads(_caller: &Caller, forum: ForumId, list: List<ThreadFilter>) -> Page<Thread> {
        board.require_forum(&forum)?;
        let thread = |n| fixtures::thread(&format!("{forum}-{n}"));
        Ok(page(list.limit, list.after.as_ref(), THREADS, thread))
    }

    create_thread(_member: &MemberCaller, forum: ForumId, new: NewThread) -> Thread {
        board.require_forum(&forum)?;
        require_text("title", &new.title)?;
        Ok(fixtures::thread(&format!("{forum}-{}", THREADS + 1)))
    }

    get_thread(caller: &Caller, thread: ThreadId) -> Thread {
        board.find(caller.access(), &thread.to_string(), &[THREADS])?;
        Ok(fixtures::thread(&thread.to_string()))
    }

    list_posts(caller: &Caller, thread: ThreadId, list: List<PostFilter>) -> InForum<Page<Post>> {
        let forum = board.find(caller.access(), &thread.to_string(), &[THREADS])?;
        let is_elsewhere = |from: PostId| !from.to_string().starts_with(&format!("{thread}-"));
        if list.filter.from.is_some_and(is_elsewhere) {
            return Err(BoardError::invalid_parameter("from", "a post of this thread"));
        }
        let post = |n| fixtures::post(&thread.to_string(), n, "Green?");
        Ok(InForum::new(forum, page(list.limit, list.after.as_ref(), POSTS, post)))
    }

    create_post(member: &MemberCaller, thread: ThreadId, new: NewPost) -> InForum<Post> {
        require_text("body", &new.body)?;
        let forum = board.find(member.access(), &thread.to_string(), &[THREADS])?;
        Ok(InForum::new(forum, fixtures::post(&thread.to_string(), POSTS + 1, &new.body)))
    }

    update_post(member: &MemberCaller, path: PostPath, update: PostUpdate) -> InForum<Post> {
        require_own(member, &path.post_id)?;
        let forum = board.find(member.access(), &path.thread_id.to_string(), &[THREADS])?;
        let body = update.body.as_deref().unwrap_or("Green?");
        Ok(InForum::new(forum, fixtures::post(&path.thread_id.to_string(), 1, body)))
    }

    delete_post(member: &MemberCaller, path: PostPath) -> () {
        require_own(member, &path.post_id)
    }

    get_member(_caller: &Caller, user: UserRef) -> Member {
        let member = member_named(&user).filter(|member| !board.is_deleted(member));
        Ok(fixtures::member(member.ok_or(BoardError::PathNotFound)?))
    }

    rate_member(member: &MemberCaller, user: UserRef, new: NewRating) -> Rating {
        let rated = member_named(&user).ok_or(BoardError::PathNotFound)?;
        let find = |post: &PostId| board.find(member.access(), &post.to_string(), &[THREADS, POSTS]);
        let forum_id = new.post_id.as_ref().map(find).transpose().map_err(|_| not_found("post"))?;
        let rated = UserId::parse(rated).unwrap();
        let mut rating = Rating::new(RatingId::from(1), rated, new.points, 2, fixtures::time());
        rating.post_id = new.post_id;
        rating.forum_id = forum_id;
        rating.comment = new.comment;
        Ok(rating)
    }

    list_messages(member: &MemberCaller, list: List<MessageFilter>) -> Page<MessageSummary> {
        let owner = member.user_id().to_string();
        let summary = |n| fixtures::message(&owner, n, list.filter.folder).summary;
        Ok(page(list.limit, list.after.as_ref(), MESSAGES, summary))
    }

    send_message(member: &MemberCaller, new: NewMessage) -> Message {
        require_text("subject", &new.subject)?;
        if new.to.iter().any(|recipient| member_named(recipient).is_none()) {
            return Err(not_found("recipient"));
        }
        Ok(fixtures::message(&member.user_id().to_string(), MESSAGES + 1, Folder::Sent))
    }

    open_message(member: &MemberCaller, message: MessageId, mark_read: MarkRead) -> Message {
        let owner = member.user_id().to_string();
        let own = (1..=MESSAGES).find(|n| message.to_string() == format!("{owner}-{n}"));
        Ok(fixtures::message(&owner, own.ok_or(BoardError::PathNotFound)?, Folder::Inbox))
    }

    get_poll(caller: &Caller, thread: ThreadId) -> InForum<Poll> {
        require_poll(&thread.to_string())?;
        let forum = board.find(caller.access(), &thread.to_string(), &[THREADS])?;
        Ok(InForum::new(forum, fixtures::poll(&thread.to_string())))
    }

    vote(member: &MemberCaller, poll: PollId, new: NewVote) -> InForum<Poll> {
        if new.option_ids.iter().any(|option| *option != OptionId::from(1)) {
            return Err(not_found("option"));
        }
        let forum = board.find(member.access(), &poll.to_string(), &[THREADS])?;
        Ok(InForum::new(forum, fixtures::poll(&poll.to_string())))
    }

    update_poll(member: &MemberCaller, poll: PollId, update: PollUpdate) -> InForum<Poll> {
        let _ = update;
        let forum = board.find(member.access(), &poll.to_string(), &[THREADS])?;
        Ok(InForum::new(forum, fixtures::poll(&poll.to_string())))
    }

    list_subscriptions(member: &MemberCaller, list: List<SubscriptionFilter>) -> Page<Subscription> {
        let shown = board.shown(&Caller::Member(member.clone()));
        let kind = list.filter.target.unwrap_or(SubscriptionTargetKind::Thread);
        let subscription = |n: usize| fixtures::subscription(fixtures::target(kind, shown[n - 1]));
        Ok(page(list.limit, list.after.as_ref(), shown.len(), subscription))
    }

    subscribe(member: &MemberCaller, new: NewSubscription) -> CreateOutcome<Subscription> {
        let target = new.target;
        let bounds: &[_] = match target {
            SubscriptionTarget::Thread(_) => &[THREADS],
            SubscriptionTarget::Forum(_) => &[],
        };
        let id = fixtures::target_id(&target);
        board.find(member.access(), &id, bounds).map_err(|_| not_found("target"))?;
        let outcome = match target {
            SubscriptionTarget::Thread(_) => CreateOutcome::Existing,
            SubscriptionTarget::Forum(_) => CreateOutcome::Created,
        };
        Ok(outcome(fixtures::subscription(target)))
    }

    unsubscribe(_member: &MemberCaller, target: SubscriptionTarget) -> () {
        let subscribed = ["open-1", "members-1"];
        match target {
            SubscriptionTarget::Thread(id) if subscribed.contains(&&*id.to_string()) => Ok(()),
            _ => Err(not_found("subscription")),
        }
    }

    search(caller: &Caller, list: List<SearchFilter>) -> Page<SearchHit> {
        let shown = board.shown(caller);
        let hit = |n: usize| fixtures::hit(shown[n - 1]);
        Ok(page(list.limit, list.after.as_ref(), shown.len(), hit))
    }
}

/// Returns the forum that contains a resource. A thread or post that was created in a test has the number after the
/// last one.
fn containing_forum(
    board: &FullBoard,
    caller: &Caller,
    place: ResourceRef<'_>,
) -> BoardResult<ForumId> {
    let (id, bounds): (_, &[_]) = match place {
        ResourceRef::Thread(thread) => (thread.to_string(), &[THREADS + 1]),
        ResourceRef::Post(thread, post) if post.to_string().starts_with(&format!("{thread}-")) => {
            (post.to_string(), &[THREADS, POSTS + 1])
        }
        ResourceRef::Poll(poll) => {
            require_poll(&poll.to_string())?;
            (poll.to_string(), &[THREADS])
        }
        _ => return Err(BoardError::PathNotFound),
    };
    board.find(caller.access(), &id, bounds)
}

fn member_named(user: &UserRef) -> Option<&'static str> {
    let text = user.to_string();
    let name = text.trim_start_matches('@');
    MEMBERS.into_iter().find(|member| *member == name)
}

fn not_found(kind: &str) -> BoardError {
    BoardError::not_found(format!("There is no such {kind}."))
}

/// Checks that a poll exists. Threads whose id ends in `-1` have a poll with the same id.
fn require_poll(id: &str) -> BoardResult<()> {
    if id.ends_with("-1") { Ok(()) } else { Err(BoardError::PathNotFound) }
}

/// Checks that the member may change a post. Posts with odd numbers are alice's, the others bob's. A moderator may
/// change all posts.
fn require_own(member: &MemberCaller, post: &PostId) -> BoardResult<()> {
    let is_odd = post.to_string().ends_with(['1', '3', '5', '7', '9']);
    let is_own = member.user_id().to_string() == if is_odd { "alice" } else { "bob" };
    if is_own || member.extension::<IsModerator>()?.0 {
        Ok(())
    } else {
        Err(BoardError::forbidden("It is not yours."))
    }
}

fn require_text(field: &'static str, text: &str) -> BoardResult<()> {
    if text.is_empty() { Err(BoardError::validation(field, "it is empty")) } else { Ok(()) }
}
