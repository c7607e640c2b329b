//! The board in memory, and what the conformance suite needs to test it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use forum_api::async_trait;
use forum_api::host::BoardError::{self, PathNotFound};
use forum_api::host::{
    Access, Authorizer, BackendResult, Board, BoardResult, Caller, CreateOutcome, InForum,
    MemberCaller, RequestInfo, ResourceRef, VisibleForums,
};
use forum_api::model::*;
use forum_api::runtime::Clock;
use forum_api::webhook::{Event, EventContext, EventMeta, ForumSummary};
use unicode_normalization::UnicodeNormalization;

/// Time in which authors can edit and delete their posts.
const EDIT_WINDOW: Duration = Duration::from_secs(30 * 60);

/// Minimum time between two ratings of a member by the same rater, if the ratings name no post.
const RATING_INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

/// Length of the excerpt of a search hit, in characters.
const EXCERPT_LENGTH: usize = 200;

/// Roles in ascending order of permissions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    Guest,
    /// A member whose posts await approval.
    Newcomer,
    Member,
    Staff,
    /// A member who moderates all forums.
    Administrator,
}

pub(crate) struct MemoryBoard {
    clock: Arc<dyn Clock>,
    data: Mutex<Data>,
}

/// Effect of the deletion of a reply on the thread.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Deletions {
    /// Only moderators see the reply. The replies to it stay.
    #[default]
    HideReply,
    /// A reply that was visible leaves a place.
    LeavePlace,
    /// The replies to it are deleted with it.
    TakeReplies,
}

#[derive(Default)]
struct Data {
    /// Time of the current command.
    now: Timestamp,
    /// The last id that was assigned to a resource of any kind.
    last_id: i64,
    offline: bool,
    deletions: Deletions,
    accounts: BTreeMap<UserId, Account>,
    sections: BTreeMap<ForumId, Section>,
    threads: BTreeMap<ThreadId, Thread>,
    /// The state of a first post is the state of its thread.
    posts: BTreeMap<PostId, Post>,
    /// State of each deleted post before its deletion.
    deleted: BTreeMap<PostId, ContentState>,
    /// State of each post in its last event. The events of a first post are also those of its thread.
    last_states: BTreeMap<PostId, ContentState>,
    /// Posts whose text was edited after their last event.
    edited: HashSet<PostId>,
    ballots: BTreeMap<PollId, Ballot>,
    /// Ratings, each with the member who gave it.
    ratings: Vec<(UserId, Rating)>,
    /// Copies of messages, each with its owner.
    messages: BTreeMap<MessageId, (UserId, Message)>,
    /// Number and time of each subscription.
    subscriptions: BTreeMap<(UserId, SubscriptionTarget), (i64, Timestamp)>,
    outbox: Vec<Event>,
}

struct Account {
    author: Author,
    joined_at: Timestamp,
    role: Role,
    banned: bool,
    ignored: HashSet<UserId>,
}

/// A forum.
struct Section {
    forum: Forum,
    /// Lowest role that sees the forum.
    readers: Role,
    /// Lowest role that writes in the forum.
    writers: Role,
    moderators: HashSet<UserId>,
}

/// A poll with the options that each member chose.
struct Ballot {
    poll: Poll,
    votes: BTreeMap<UserId, Vec<OptionId>>,
}

/// The caller of a command. `author` is `None` for a guest.
struct Viewer {
    author: Option<Author>,
    role: Role,
    /// The request of a command; `None` for a query or a fixture.
    request: Option<RequestInfo>,
}

/// A thread that a viewer sees.
struct VisibleThread<'a> {
    thread: &'a Thread,
    section: &'a Section,
    first_post: &'a Post,
    is_moderator: bool,
}

/// A viewer who sees all forums, and in each forum only the content that every reader sees. Counts and events contain
/// only content that this viewer sees.
const READER: Viewer = Viewer { author: None, role: Role::Staff, request: None };

impl Viewer {
    fn is_author(&self, author: &Option<Author>) -> bool {
        self.author.is_some() && self.author == *author
    }

    fn can_see(&self, post: &Post, is_moderator: bool) -> bool {
        match post.state {
            ContentState::Visible => true,
            ContentState::AwaitingApproval => is_moderator || self.is_author(&post.author),
            _ => is_moderator,
        }
    }
}

impl Section {
    fn is_moderator(&self, viewer: &Viewer) -> bool {
        let author = viewer.author.as_ref();
        let is_appointed = author.is_some_and(|author| self.moderators.contains(&author.user_id));
        is_appointed && self.is_visible(viewer) || viewer.role == Role::Administrator
    }

    fn is_visible(&self, viewer: &Viewer) -> bool {
        viewer.role >= self.readers
    }

    fn is_writable(&self, viewer: &Viewer) -> bool {
        self.is_visible(viewer) && viewer.role >= self.writers
    }
}

/// Methods that read.
impl Data {
    fn account(&self, user: &UserRef) -> Option<&Account> {
        let mut accounts = self.accounts.values();
        accounts.find(|account| is_user(&account.author, user))
    }

    /// Returns the member with this id. Returns a guest if `id` is `None`, or if the account is banned or does not
    /// exist.
    fn viewer(&self, id: Option<&UserId>) -> Viewer {
        let account = id.and_then(|id| self.accounts.get(id)).filter(|account| !account.banned);
        Viewer {
            author: account.map(|account| account.author.clone()),
            role: account.map_or(Role::Guest, |account| account.role),
            request: None,
        }
    }

    fn access(&self, viewer: &Viewer) -> Access {
        let sections = self.sections.values();
        let visible = sections.filter(|section| section.is_visible(viewer));
        let forums = visible.map(|section| section.forum.forum_id.clone());
        let is_denied = self.offline && viewer.role < Role::Administrator;
        Access::new(VisibleForums::from_ids(forums)).board_offline(is_denied)
    }

    fn visible_section(&self, viewer: &Viewer, id: &ForumId) -> BoardResult<&Section> {
        let section = self.sections.get(id);
        found(section.filter(|section| section.is_visible(viewer)))
    }

    /// Returns a section and then its ancestors, nearest first.
    fn lineage<'a>(&'a self, section: &'a Section) -> impl Iterator<Item = &'a Section> {
        let parent = move |section: &&Section| self.sections.get(section.forum.parent_id.as_ref()?);
        std::iter::successors(Some(section), parent)
    }

    fn visible_thread(&self, viewer: &Viewer, id: &ThreadId) -> BoardResult<VisibleThread<'_>> {
        let thread = found(self.threads.get(id))?;
        let section = self.visible_section(viewer, &thread.forum_id)?;
        let is_moderator = section.is_moderator(viewer);
        let first_post =
            self.posts.get(&thread.first_post_id).filter(|post| viewer.can_see(post, is_moderator));
        Ok(VisibleThread { thread, section, first_post: found(first_post)?, is_moderator })
    }

    fn posts_of<'a>(&'a self, thread: &'a ThreadId) -> impl Iterator<Item = &'a Post> {
        let posts = self.posts.values();
        posts.filter(move |post| post.thread_id == *thread)
    }

    /// Returns the posts that every reader of their forum sees.
    fn public_posts(&self) -> impl Iterator<Item = (VisibleThread<'_>, &Post)> {
        let posts = self.posts.values();
        let visible = posts.filter(|post| post.state == ContentState::Visible);
        visible.filter_map(move |post| {
            let thread = self.visible_thread(&READER, &post.thread_id).ok()?;
            Some((thread, post))
        })
    }

    fn forum(&self, viewer: &Viewer, section: &Section) -> Forum {
        let id = &section.forum.forum_id;
        let posts: Vec<_> =
            self.public_posts().filter(|(place, _)| place.thread.forum_id == *id).collect();
        let mut ancestors = self.lineage(section).skip(1);
        let parent = ancestors.find(|ancestor| ancestor.is_visible(viewer));
        let mut forum = section.forum.clone();
        forum.parent_id = parent.map(|parent| parent.forum.forum_id.clone());
        forum.thread_count = posts.iter().filter(|(_, post)| post.number == 1).count() as u64;
        forum.post_count = posts.len() as u64;
        forum.last_activity_at = posts.last().map(|(_, post)| post.created_at);
        forum.can_start_thread = section.is_writable(viewer);
        forum
    }

    fn thread(&self, viewer: &Viewer, id: &ThreadId) -> BoardResult<Thread> {
        let visible = self.visible_thread(viewer, id)?;
        let mut thread = visible.thread.clone();
        let first = visible.first_post;
        let is_counted = |post: &&Post| post.number > 1 && post.state == ContentState::Visible;
        let replies: Vec<_> = self.posts_of(id).filter(is_counted).collect();
        let last = replies.last().unwrap_or(&first);
        let is_open = !thread.locked || visible.is_moderator;
        let takes_replies = is_open && first.state == ContentState::Visible;
        thread.state = first.state;
        thread.last_activity_at = last.created_at;
        thread.last_post = Some(LastPost::from(*last));
        thread.reply_count = replies.len() as u64;
        thread.can_reply = takes_replies && visible.section.is_writable(viewer);
        Ok(thread)
    }

    /// Returns whether a post of a visible thread is the place of a deleted reply.
    fn is_place(&self, post: &Post) -> bool {
        let was_visible = self.deleted.get(&post.post_id) == Some(&ContentState::Visible);
        self.deletions == Deletions::LeavePlace && was_visible && post.number > 1
    }

    /// Returns the replies to a post, the replies to these, and so on.
    fn replies_to(&self, id: &PostId) -> Vec<PostPath> {
        let mut paths = Vec::new();
        let mut answered = vec![id.clone()];
        while let Some(id) = answered.pop() {
            for post in self.posts.values().filter(|post| post.in_reply_to.as_ref() == Some(&id)) {
                answered.push(post.post_id.clone());
                paths.push(post.path());
            }
        }
        paths
    }

    /// Deletes a reply, unless it is deleted.
    fn delete_reply(&mut self, actor: &Viewer, path: &PostPath) -> BoardResult<()> {
        let post = found(self.posts.get_mut(&path.post_id))?;
        if post.state == ContentState::Deleted {
            return Ok(());
        }
        self.deleted.insert(path.post_id.clone(), post.state);
        post.state = ContentState::Deleted;
        self.emit_post(actor, path)
    }

    /// Returns a post, which is not the place of a deleted one, and the forum that contains it.
    fn post(&self, viewer: &Viewer, path: &PostPath) -> BoardResult<InForum<Post>> {
        let post = self.listed_post(viewer, path)?;
        let is_place = post.value.state == ContentState::Deleted && !post.value.can_read_deleted;
        found((!is_place).then_some(post))
    }

    /// Returns a post or the place of a deleted one, and the forum that contains it.
    fn listed_post(&self, viewer: &Viewer, path: &PostPath) -> BoardResult<InForum<Post>> {
        let visible = self.visible_thread(viewer, &path.thread_id)?;
        let thread = visible.thread;
        let is_moderator = visible.is_moderator;
        let find = |id: &PostId| {
            let post = self.posts.get(id).filter(|post| post.thread_id == path.thread_id);
            post.filter(|post| viewer.can_see(post, is_moderator) || self.is_place(post))
        };
        let mut post = found(find(&path.post_id))?.clone();
        let is_recent = self.now < post.created_at.saturating_add(EDIT_WINDOW);
        let is_own = viewer.is_author(&post.author) && !thread.locked && is_recent;
        let is_deleted = post.state == ContentState::Deleted;
        let can_change = (is_moderator || is_own) && !is_deleted;
        post.in_reply_to = post.in_reply_to.filter(|id| find(id).is_some());
        post.can_edit = can_change && visible.section.is_writable(viewer);
        post.can_delete = can_change && (post.number > 1 || is_moderator);
        post.can_read_deleted = is_moderator;
        Ok(InForum::new(thread.forum_id.clone(), post))
    }

    fn poll(&self, viewer: &Viewer, id: &PollId) -> BoardResult<InForum<Poll>> {
        let Ballot { poll, votes } = found(self.ballots.get(id))?;
        let thread = self.visible_thread(viewer, &poll.thread_id)?.thread;
        let voter = viewer.author.as_ref();
        let mut poll = poll.clone();
        poll.total_votes = Some(votes.len() as u64);
        poll.closed = poll.closes_at.is_some_and(|end| end <= self.now);
        poll.own_vote = voter.and_then(|voter| votes.get(&voter.user_id).cloned());
        for option in &mut poll.options {
            let chosen = votes.values().filter(|vote| vote.contains(&option.option_id));
            option.votes = Some(chosen.count() as u64);
        }
        Ok(InForum::new(thread.forum_id.clone(), poll))
    }

    /// Returns a poll and its thread for a change. Fails if the thread is deleted.
    fn open_poll(&self, writer: &Viewer, id: &PollId) -> BoardResult<(Poll, VisibleThread<'_>)> {
        let poll = self.poll(writer, id)?.value;
        let thread = self.visible_thread(writer, &poll.thread_id)?;
        let is_deleted = thread.first_post.state == ContentState::Deleted;
        ensure(!is_deleted, || {
            BoardError::forbidden("The thread is deleted.").with_reason("closed")
        })?;
        Ok((poll, thread))
    }

    fn member(&self, account: &Account) -> Member {
        let author = &account.author;
        let posts = self
            .public_posts()
            .filter(|(place, _)| place.section.readers <= Role::Newcomer)
            .filter(|(_, post)| post.author.as_ref() == Some(author));
        let user_id = author.user_id.clone();
        let mut member = Member::new(user_id, &author.username, account.joined_at);
        member.avatar_url = author.avatar_url.clone();
        member.post_count = posts.count() as u64;
        member.reputation = self.reputation(&author.user_id);
        member
    }

    fn reputation(&self, member: &UserId) -> i64 {
        let ratings = self
            .ratings
            .iter()
            .map(|(_, rating)| rating)
            .filter(|rating| rating.user_id == *member);
        ratings.map(|rating| rating.points).sum()
    }

    /// Returns a subscription. Fails if its target is hidden from the viewer.
    fn subscription(
        &self,
        viewer: &Viewer,
        target: &SubscriptionTarget,
        created_at: Timestamp,
    ) -> BoardResult<Subscription> {
        let (forum, title) = match target {
            SubscriptionTarget::Forum(id) => {
                let forum = &self.visible_section(viewer, id)?.forum;
                (forum, &forum.title)
            }
            SubscriptionTarget::Thread(id) => {
                let visible = self.visible_thread(viewer, id)?;
                (&visible.section.forum, &visible.thread.title)
            }
        };
        let forum_id = forum.forum_id.clone();
        Ok(Subscription::new(target.clone(), forum_id, title, created_at))
    }

    /// Returns the hit of a post of a thread; `None` if it does not match the search.
    fn hit(
        &self,
        viewer: &Viewer,
        visible: &VisibleThread<'_>,
        post: &Post,
        list: &List<SearchFilter>,
    ) -> Option<SearchHit> {
        let thread = visible.thread;
        let section = visible.section;
        let is_searched = |section: &Section| {
            section.is_visible(viewer) && list.filter.forum.contains(&section.forum.forum_id)
        };
        let is_in_forum = list.filter.forum.is_empty() || self.lineage(section).any(is_searched);
        let author = post.author.as_ref();
        let is_by = |user: &UserRef| author.is_some_and(|author| is_user(author, user));
        let is_by_author = list.filter.by.as_ref().is_none_or(is_by);
        let when = list.filter.when.as_ref();
        let is_in_period = when.is_none_or(|when| when.contains(post.created_at, self.now));
        if !(section.is_visible(viewer) && is_in_forum && is_by_author && is_in_period) {
            return None;
        }
        let title = match post.number {
            1 => words(&thread.title),
            _ => String::new(),
        };
        let body = post.body.as_deref().unwrap_or_default();
        let text = match list.filter.field {
            SearchField::All => format!("{title}, {}", words(body)),
            SearchField::Titles => title,
            SearchField::Posts => words(body),
        };
        let mut hit = SearchHit::new(
            match list.filter.show {
                SearchShow::Posts => SearchHitKind::Post,
                SearchShow::Threads => SearchHitKind::Thread,
            },
            thread.forum_id.clone(),
            thread.thread_id.clone(),
            post.post_id.clone(),
            &thread.title,
            post.created_at,
        );
        hit.author = post.author.clone();
        hit.excerpt = body.chars().take(EXCERPT_LENGTH).collect();
        hit.score = match (&list.filter.q, list.filter.field) {
            (Some(query), _) => score(query, &text)?,
            (None, SearchField::Titles) if post.number != 1 => return None,
            (None, _) => 0.0,
        };
        Some(hit)
    }
}

/// Methods that write.
impl Data {
    fn new_id<T: From<i64>>(&mut self) -> T {
        self.last_id += 1;
        self.last_id.into()
    }

    /// Returns the time of a new post: later than the other posts of its thread, and not earlier than those of its
    /// forum, even if the clock was set back.
    fn next_time(&self, thread: &ThreadId, forum: &ForumId) -> Timestamp {
        let posts = self.posts.values().filter(|post| {
            let thread = self.threads.get(&post.thread_id);
            thread.is_some_and(|thread| thread.forum_id == *forum)
        });
        let earliest = posts.map(|post| {
            let is_same = post.thread_id == *thread;
            post.created_at.saturating_add(Duration::from_millis(is_same.into()))
        });
        earliest.fold(self.now, Timestamp::max)
    }

    fn add_post(
        &mut self,
        writer: &Viewer,
        path: &PostPath,
        new: NewPost,
        created_at: Timestamp,
    ) -> BoardResult<()> {
        let PostPath { thread_id, post_id } = path.clone();
        let mut post = Post::new(
            post_id.clone(),
            thread_id.clone(),
            self.posts_of(&thread_id).count() as u64 + 1,
            match writer.role {
                Role::Newcomer => ContentState::AwaitingApproval,
                _ => ContentState::Visible,
            },
            created_at,
        );
        post.in_reply_to = new.in_reply_to;
        post.author = writer.author.clone();
        post.body_html = Some(text_to_html(&new.body));
        post.body = Some(new.body);
        self.posts.insert(post_id, post);
        if new.subscribe {
            self.subscribe(writer, SubscriptionTarget::Thread(thread_id))?;
        }
        self.emit_shown(writer, path)
    }

    /// Checks and adds the poll of a new thread.
    fn add_poll(
        &mut self,
        writer: &Viewer,
        thread_id: &ThreadId,
        new: NewPoll,
    ) -> BoardResult<PollId> {
        let options =
            new.options.into_iter().map(|text| PollOption::new(self.new_id(), text)).collect();
        let mut poll = Poll::new(self.new_id(), thread_id.clone(), new.question, options);
        poll.author = writer.author.clone();
        poll.max_choices = new.max_choices.try_into().unwrap_or_default();
        poll.can_change_vote = new.can_change_vote;
        poll.closes_at = new.closes_at;
        check_poll(&poll, "").map_err(in_poll)?;
        let is_later = poll.closes_at.is_none_or(|end| end > self.now);
        validate(is_later, "poll.closesAt", "It is in the past.", "out_of_range")?;
        let poll_id = poll.poll_id.clone();
        let votes = BTreeMap::new();
        self.ballots.insert(poll_id.clone(), Ballot { poll, votes });
        Ok(poll_id)
    }

    fn new_message(&self, sender: Option<Author>, to: Vec<Author>, new: NewMessage) -> Message {
        let id = MessageId::from(0);
        let mut summary = MessageSummary::new(id, Folder::Inbox, new.subject, self.now);
        summary.sender = sender;
        summary.recipients = to;
        summary.receipt_requested = new.request_receipt;
        let html = text_to_html(&new.body);
        Message::new(summary, new.body, html)
    }

    /// Stores and returns a member's copy of a message.
    fn add_copy(&mut self, owner: &UserId, folder: Folder, message: &Message) -> Message {
        let mut copy = message.clone();
        copy.summary.message_id = self.new_id();
        copy.summary.folder = folder;
        copy.summary.read = folder == Folder::Sent;
        copy.summary.read_at = copy.summary.read.then_some(self.now);
        let id = copy.summary.message_id.clone();
        self.messages.insert(id, (owner.clone(), copy.clone()));
        copy
    }

    fn subscribe(
        &mut self,
        writer: &Viewer,
        target: SubscriptionTarget,
    ) -> BoardResult<CreateOutcome<Subscription>> {
        let new = (self.new_id(), self.now);
        let owner = found(writer.author.as_ref())?.user_id.clone();
        let key = (owner, target);
        let existing = self.subscriptions.get(&key).copied();
        let (number, created_at) = existing.unwrap_or(new);
        let subscription = self.subscription(writer, &key.1, created_at)?;
        self.subscriptions.insert(key, (number, created_at));
        Ok(match existing {
            Some(_) => CreateOutcome::Existing(subscription),
            None => CreateOutcome::Created(subscription),
        })
    }

    /// Writes an event of a thread to the outbox.
    fn emit(
        &mut self,
        actor: &Viewer,
        thread: &Thread,
        event: impl FnOnce(EventMeta, EventContext<'_>) -> Event,
    ) -> BoardResult<()> {
        let section = found(self.sections.get(&thread.forum_id))?;
        let context = EventContext::new(thread, &section.forum.title).actor(actor.author.as_ref());
        let meta = match &actor.request {
            Some(request) => request.event(self.now)?,
            None => RequestInfo::background(self.now).event(self.now)?,
        };
        self.outbox.push(event(meta, context));
        Ok(())
    }

    /// Writes `thread.updated` to the outbox if every reader of the forum can see the thread.
    fn emit_updated(&mut self, actor: &Viewer, thread: &ThreadId) -> BoardResult<()> {
        match self.thread(&READER, thread) {
            Ok(thread) => self.emit(actor, &thread, Event::thread_updated),
            Err(_) => Ok(()),
        }
    }

    /// Writes an event of a poll to the outbox if every reader of the forum can see the poll. Unlike the protocol, this
    /// board sends no event of such a change when the thread is visible again.
    fn emit_poll(
        &mut self,
        actor: &Viewer,
        id: &PollId,
        event: fn(EventMeta, &Poll, EventContext<'_>) -> Event,
    ) -> BoardResult<()> {
        let Ok(InForum { value: poll, .. }) = self.poll(&READER, id) else {
            return Ok(());
        };
        let thread = self.thread(&READER, &poll.thread_id)?;
        self.emit(actor, &thread, |meta, context| event(meta, &poll, context))
    }

    /// Writes the event of the change of a post since its last event to the outbox if every reader of the forum can see the
    /// thread. Otherwise the event follows when they can.
    fn emit_post(&mut self, actor: &Viewer, path: &PostPath) -> BoardResult<()> {
        use ContentState::{Deleted, Visible};
        let Ok(thread) = self.thread(&READER, &path.thread_id) else {
            return Ok(());
        };
        let mut post = found(self.posts.get(&path.post_id))?.clone();
        let event = match (self.last_states.get(&path.post_id), post.state) {
            (None, Visible) => Event::post_created,
            (Some(Deleted), Visible) => Event::post_restored,
            (Some(Visible), Visible) if self.edited.contains(&path.post_id) => Event::post_updated,
            (Some(Visible), Deleted) => Event::post_deleted,
            _ => return Ok(()),
        };
        self.last_states.insert(path.post_id.clone(), post.state);
        self.edited.remove(&path.post_id);
        post.in_reply_to = post.in_reply_to.filter(|id| {
            let answered = PostPath::new(path.thread_id.clone(), id.clone());
            self.listed_post(&READER, &answered).is_ok()
        });
        self.emit(actor, &thread, |meta, context| event(meta, &post, context))
    }

    /// Writes the events of a post that was written, approved or restored. Those of a first post are those of its thread, and
    /// of the changes in it while it was hidden.
    fn emit_shown(&mut self, actor: &Viewer, path: &PostPath) -> BoardResult<()> {
        let thread = match self.thread(&READER, &path.thread_id) {
            Ok(thread) if thread.first_post_id == path.post_id => thread,
            _ => return self.emit_post(actor, path),
        };
        match self.last_states.get_mut(&path.post_id) {
            None => self.emit(actor, &thread, Event::thread_created)?,
            Some(last) => {
                *last = ContentState::Visible;
                self.emit(actor, &thread, Event::thread_restored)?;
            }
        }
        let posts: Vec<_> = self.posts_of(&path.thread_id).map(Post::path).collect();
        posts.iter().try_for_each(|path| self.emit_post(actor, path))
    }
}

impl MemoryBoard {
    /// Creates a board without members and forums.
    pub(crate) fn new(clock: Arc<dyn Clock>, deletions: Deletions) -> Self {
        let data = Mutex::new(Data { deletions, ..Data::default() });
        Self { clock, data }
    }

    fn data(&self) -> MutexGuard<'_, Data> {
        let mut data = self.data.lock().unwrap_or_else(PoisonError::into_inner);
        data.now = self.clock.now();
        data
    }

    /// Locks the data for a read. Returns the data and the caller.
    fn read(&self, caller: &Caller) -> (MutexGuard<'_, Data>, Viewer) {
        let data = self.data();
        let viewer = data.viewer(caller.user_id());
        (data, viewer)
    }

    /// Locks the data for a write. Returns the data and the caller. Fails if the member was banned after the request
    /// began.
    fn write(&self, member: &MemberCaller) -> BoardResult<(MutexGuard<'_, Data>, Viewer)> {
        let data = self.data();
        let mut writer = data.viewer(Some(member.user_id()));
        writer.request = Some(member.request().clone());
        let is_banned = writer.role == Role::Guest;
        ensure(!is_banned, || {
            BoardError::forbidden("The account is banned.").with_reason("not_allowed")
        })?;
        Ok((data, writer))
    }

    pub(crate) fn add_member(&self, name: &str, role: Role) -> UserId {
        let mut data = self.data();
        let author = Author::new(data.new_id(), name);
        let user_id = author.user_id.clone();
        let account =
            Account { author, joined_at: data.now, role, banned: false, ignored: HashSet::new() };
        data.accounts.insert(user_id.clone(), account);
        user_id
    }

    /// Adds a forum after its siblings.
    pub(crate) fn add_forum(
        &self,
        title: &str,
        parent: Option<ForumId>,
        readers: Role,
        writers: Role,
    ) -> ForumId {
        let mut data = self.data();
        let sections = data.sections.values();
        let siblings = sections.filter(|section| section.forum.parent_id == parent);
        let position = siblings.count() as u32 + 1;
        let mut forum = Forum::new(data.new_id(), title);
        forum.position = position;
        forum.parent_id = parent;
        let forum_id = forum.forum_id.clone();
        let section = Section { forum, readers, writers, moderators: HashSet::new() };
        data.sections.insert(forum_id.clone(), section);
        forum_id
    }
}

#[async_trait]
impl Authorizer for MemoryBoard {
    async fn guest_access(&self, _: &RequestInfo) -> BackendResult<Access> {
        let data = self.data();
        Ok(data.access(&data.viewer(None)))
    }

    async fn member_access(
        &self,
        owner: &UserId,
        _: &RequestInfo,
    ) -> BackendResult<Option<Access>> {
        let data = self.data();
        let viewer = data.viewer(Some(owner));
        Ok((viewer.role > Role::Guest).then(|| data.access(&viewer)))
    }
}

#[async_trait]
impl Board for MemoryBoard {
    async fn containing_forum(
        &self,
        caller: &Caller,
        resource: ResourceRef<'_>,
    ) -> BoardResult<ForumId> {
        let (data, viewer) = self.read(caller);
        match resource {
            ResourceRef::Thread(id) => Ok(data.thread(&viewer, id)?.forum_id),
            ResourceRef::Post(thread, post) => {
                let path = PostPath::new(thread.clone(), post.clone());
                Ok(data.post(&viewer, &path)?.forum_id)
            }
            ResourceRef::Poll(id) => Ok(data.poll(&viewer, id)?.forum_id),
            _ => Err(PathNotFound),
        }
    }

    async fn get_me(&self, member: &MemberCaller) -> BoardResult<OwnAccount> {
        let data = self.data();
        let id = member.user_id();
        let messages = data.messages.values();
        let unread = messages.filter(|(owner, message)| owner == id && !message.summary.read);
        let mut account = OwnAccount::new(data.member(found(data.accounts.get(id))?));
        account.unread_messages = Some(unread.count() as u64);
        Ok(account)
    }

    async fn list_forums(&self, caller: &Caller) -> BoardResult<Page<Forum>> {
        let (data, viewer) = self.read(caller);
        let sections = data.sections.values();
        let visible = sections.filter(|section| section.is_visible(&viewer));
        let forums = visible.map(|section| data.forum(&viewer, section));
        Ok(Page::from(forums.collect::<Vec<_>>()))
    }

    async fn list_threads(
        &self,
        caller: &Caller,
        forum_id: ForumId,
        list: List<ThreadFilter>,
    ) -> BoardResult<Page<Thread>> {
        let (data, viewer) = self.read(caller);
        data.visible_section(&viewer, &forum_id)?;
        let threads = data
            .threads
            .values()
            .filter(|thread| thread.forum_id == forum_id)
            .filter_map(|thread| data.thread(&viewer, &thread.thread_id).ok())
            .filter(|thread| Some(thread.last_activity_at) >= list.filter.since);
        let page = list.page(threads, |thread| {
            let number = thread.thread_id.to_i64().unwrap_or_default();
            [-thread.last_activity_at.as_millis(), -number]
        });
        Ok(page?)
    }

    async fn create_thread(
        &self,
        member: &MemberCaller,
        forum_id: ForumId,
        new: NewThread,
    ) -> BoardResult<Thread> {
        let (mut data, writer) = self.write(member)?;
        let section = data.visible_section(&writer, &forum_id)?;
        let can_start = section.is_writable(&writer);
        ensure(can_start, || {
            BoardError::forbidden("You may not start threads here.").with_reason("not_allowed")
        })?;
        check_line("title", &new.title)?;
        check_text("body", &new.body)?;
        let path = PostPath::new(data.new_id(), data.new_id());
        let poll_id = match new.poll {
            Some(poll) => Some(data.add_poll(&writer, &path.thread_id, poll)?),
            None => None,
        };
        let created_at = data.next_time(&path.thread_id, &forum_id);
        let mut thread = Thread::new(
            path.thread_id.clone(),
            forum_id,
            new.title,
            ContentState::Visible,
            path.post_id.clone(),
            created_at,
        );
        thread.author = writer.author.clone();
        thread.poll_id = poll_id;
        data.threads.insert(path.thread_id.clone(), thread);
        let mut first = NewPost::default();
        (first.body, first.subscribe) = (new.body, new.subscribe);
        data.add_post(&writer, &path, first, created_at)?;
        data.thread(&writer, &path.thread_id)
    }

    async fn get_thread(&self, caller: &Caller, id: ThreadId) -> BoardResult<Thread> {
        let (data, viewer) = self.read(caller);
        data.thread(&viewer, &id)
    }

    async fn list_posts(
        &self,
        caller: &Caller,
        id: ThreadId,
        list: List<PostFilter>,
    ) -> BoardResult<InForum<Page<Post>>> {
        let (data, viewer) = self.read(caller);
        let forum_id = data.thread(&viewer, &id)?.forum_id;
        let posts: Vec<_> = data
            .posts_of(&id)
            .filter_map(|post| Some(data.listed_post(&viewer, &post.path()).ok()?.value))
            .collect();
        let position = |post: &Post| match list.filter.sort {
            PostSort::Oldest => post.number as i64,
            PostSort::Newest => -(post.number as i64),
        };
        let first = match &list.filter.from {
            Some(from) => posts.iter().find(|post| post.post_id == *from).map(position),
            None => Some(i64::MIN),
        };
        let expected = "a post of the thread";
        let first = first.ok_or(BoardError::invalid_parameter("from", expected))?;
        let selected = posts
            .into_iter()
            .filter(|post| position(post) >= first)
            .filter(|post| Some(post.created_at) >= list.filter.since)
            .map(|mut post| {
                post.body = post.body.filter(|_| list.filter.body.has_source());
                post.body_html = post.body_html.filter(|_| list.filter.body.has_html());
                post
            });
        let page = list.page(selected, |post| [position(post)])?;
        Ok(InForum::new(forum_id, page))
    }

    async fn create_post(
        &self,
        member: &MemberCaller,
        id: ThreadId,
        new: NewPost,
    ) -> BoardResult<InForum<Post>> {
        let (mut data, writer) = self.write(member)?;
        let thread = data.thread(&writer, &id)?;
        ensure(thread.can_reply, || {
            BoardError::forbidden("You may not reply in this thread.").with_reason("not_allowed")
        })?;
        check_text("body", &new.body)?;
        if let Some(answered) = new.in_reply_to.clone() {
            let answered = data.post(&writer, &PostPath::new(id.clone(), answered));
            ensure(answered.is_ok(), || {
                BoardError::not_found("No such post.").with_field("inReplyTo")
            })?;
        }
        let created_at = data.next_time(&id, &thread.forum_id);
        let path = PostPath::new(id, data.new_id());
        data.add_post(&writer, &path, new, created_at)?;
        data.post(&writer, &path)
    }

    async fn update_post(
        &self,
        member: &MemberCaller,
        path: PostPath,
        update: PostUpdate,
    ) -> BoardResult<InForum<Post>> {
        let (mut data, writer) = self.write(member)?;
        let post = data.post(&writer, &path)?.value;
        let section = data.visible_thread(&writer, &path.thread_id)?.section;
        let can_write = section.is_writable(&writer);
        ensure(can_write, || {
            BoardError::forbidden("You may not write here.").with_reason("not_allowed")
        })?;
        let is_deleted = post.state == ContentState::Deleted;
        ensure(!is_deleted, || {
            BoardError::conflict("The post is deleted.").with_reason("already_deleted")
        })?;
        ensure(post.can_edit, || {
            BoardError::forbidden("You may not edit this post.").with_reason("not_allowed")
        })?;
        check_version(update.expected_version, post.version)?;
        if let Some(body) = &update.body {
            check_text("body", body)?;
        }
        if let Some(title) = &update.title {
            validate(post.number == 1, "title", "This is not the first post.", "not_first_post")?;
            check_line("title", title)?;
        }
        let now = data.now;
        let thread = found(data.threads.get_mut(&path.thread_id))?;
        let title = update.title.filter(|title| *title != thread.title);
        let body = update.body.filter(|body| post.body.as_ref() != Some(body));
        if title.is_none() && body.is_none() {
            return data.post(&writer, &path);
        }
        let has_new_title = title.is_some();
        if let Some(title) = title {
            thread.title = title;
            thread.version += 1;
        }
        let has_new_body = body.is_some();
        let post = found(data.posts.get_mut(&path.post_id))?;
        post.edited_at = Some(now);
        post.edited_by = writer.author.clone();
        if let Some(body) = body {
            post.body_html = Some(text_to_html(&body));
            post.body = Some(body);
        }
        post.version += 1;
        if has_new_title {
            data.emit_updated(&writer, &path.thread_id)?;
        }
        if has_new_body {
            data.edited.insert(path.post_id.clone());
            data.emit_post(&writer, &path)?;
        }
        data.post(&writer, &path)
    }

    async fn delete_post(&self, member: &MemberCaller, path: PostPath) -> BoardResult<()> {
        let (mut data, writer) = self.write(member)?;
        let post = data.post(&writer, &path)?.value;
        let state = ContentState::Deleted;
        ensure(post.state != state, || {
            BoardError::conflict("The post is deleted.").with_reason("already_deleted")
        })?;
        ensure(post.can_delete, || {
            BoardError::forbidden("You may not delete this post.").with_reason("not_allowed")
        })?;
        if post.number > 1 {
            data.delete_reply(&writer, &path)?;
            if data.deletions == Deletions::TakeReplies {
                for reply in data.replies_to(&path.post_id) {
                    data.delete_reply(&writer, &reply)?;
                }
            }
            return Ok(());
        }
        let public = data.thread(&READER, &path.thread_id);
        found(data.posts.get_mut(&path.post_id))?.state = state;
        data.deleted.insert(path.post_id.clone(), post.state);
        let Ok(mut thread) = public else {
            return Ok(());
        };
        thread.state = state;
        data.last_states.insert(path.post_id, state);
        data.emit(&writer, &thread, Event::thread_deleted)
    }

    async fn get_member(&self, _: &Caller, user: UserRef) -> BoardResult<Member> {
        let data = self.data();
        Ok(data.member(found(data.account(&user))?))
    }

    async fn rate_member(
        &self,
        member: &MemberCaller,
        user: UserRef,
        new: NewRating,
    ) -> BoardResult<Rating> {
        let (mut data, writer) = self.write(member)?;
        let rated = found(data.account(&user))?.author.clone();
        let is_self = rated.user_id == *member.user_id();
        ensure(!is_self, || {
            BoardError::forbidden("You may not rate yourself.").with_reason("own_content")
        })?;
        validate(new.points != 0, "points", "A rating needs points.", "out_of_range")?;
        let post = new
            .post_id
            .as_ref()
            .map(|id| {
                let post = data
                    .posts
                    .get(id)
                    .filter(|post| post.author.as_ref() == Some(&rated))
                    .and_then(|post| data.post(&writer, &post.path()).ok());
                let text = "No such post of this member.";
                post.ok_or_else(|| BoardError::not_found(text).with_field("postId"))
            })
            .transpose()?;
        let is_readable = |post: &InForum<Post>| data.post(&READER, &post.value.path()).is_ok();
        let is_public = post.as_ref().is_none_or(is_readable);
        let forum_id = post.map(|post| post.forum_id);
        let is_repeated = data.ratings.iter().any(|(rater, rating)| {
            let is_recent = data.now < rating.created_at.saturating_add(RATING_INTERVAL);
            (rater, &rating.user_id) == (member.user_id(), &rated.user_id)
                && rating.post_id == new.post_id
                && (new.post_id.is_some() || is_recent)
        });
        ensure(!is_repeated, || {
            BoardError::conflict("You have already rated this.").with_reason("already_rated")
        })?;
        let reputation = data.reputation(&rated.user_id) + new.points;
        let rating_id = data.new_id();
        let rated_id = rated.user_id.clone();
        let mut rating = Rating::new(rating_id, rated_id, new.points, reputation, data.now);
        rating.post_id = new.post_id;
        rating.forum_id = forum_id;
        rating.comment = new.comment;
        let rater = member.user_id().clone();
        data.ratings.push((rater, rating.clone()));
        let mut public = rating.clone();
        public.post_id = public.post_id.filter(|_| is_public);
        let forum_id = rating.forum_id.as_ref();
        let section = forum_id.and_then(|id| data.sections.get(id));
        let forum = section
            .map(|section| ForumSummary::new(section.forum.forum_id.clone(), &section.forum.title));
        let meta = member.request().event(data.now)?;
        let actor = writer.author.as_ref();
        let event = Event::member_rated(meta, &public, &rated, forum.as_ref(), actor);
        data.outbox.push(event);
        Ok(rating)
    }

    async fn list_messages(
        &self,
        member: &MemberCaller,
        list: List<MessageFilter>,
    ) -> BoardResult<Page<MessageSummary>> {
        let data = self.data();
        let messages = data.messages.values();
        let owned = messages.filter(|(owner, _)| owner == member.user_id());
        let summaries = owned.map(|(_, message)| message.summary.clone());
        let selected = summaries.filter(|summary| {
            let filter = &list.filter;
            let is_selected = filter.unread.is_none_or(|unread| unread != summary.read);
            summary.folder == filter.folder && is_selected
        });
        let id = |summary: &MessageSummary| summary.message_id.to_i64().unwrap_or_default();
        Ok(list.page(selected, |summary| [-id(summary)])?)
    }

    async fn send_message(&self, member: &MemberCaller, new: NewMessage) -> BoardResult<Message> {
        let (mut data, writer) = self.write(member)?;
        validate(!new.to.is_empty(), "to", "The message has no recipient.", "required")?;
        check_line("subject", &new.subject)?;
        check_text("body", &new.body)?;
        let mut recipients = BTreeMap::new();
        for (index, user) in new.to.iter().enumerate() {
            let of_recipient = |error: BoardError| error.with_field(format!("to[{index}]"));
            let account = data
                .account(user)
                .ok_or_else(|| of_recipient(BoardError::not_found("No such recipient.")))?;
            let is_ignored = account.ignored.contains(member.user_id());
            ensure(!is_ignored, || {
                let error = BoardError::forbidden("The recipient ignores you.");
                of_recipient(error.with_reason("not_allowed"))
            })?;
            recipients.insert(account.author.user_id.clone(), account.author.clone());
        }
        let ids: Vec<_> = recipients.keys().cloned().collect();
        let recipients = recipients.into_values().collect();
        let message = data.new_message(writer.author, recipients, new);
        let sent = data.add_copy(member.user_id(), Folder::Sent, &message);
        for id in &ids {
            data.add_copy(id, Folder::Inbox, &message);
        }
        let meta = member.request().event(data.now)?;
        let event = Event::message_sent(meta, &sent.summary.message_id, member.user_id(), &ids);
        data.outbox.push(event);
        Ok(sent)
    }

    async fn open_message(
        &self,
        member: &MemberCaller,
        id: MessageId,
        mark_read: MarkRead,
    ) -> BoardResult<Message> {
        let mut data = self.data();
        let now = data.now;
        let reader = data.viewer(Some(member.user_id())).author;
        let message = data.messages.get_mut(&id);
        let (_, message) = found(message.filter(|(owner, _)| owner == member.user_id()))?;
        if message.summary.read || mark_read == MarkRead::No {
            return Ok(message.clone());
        }
        message.summary.read = true;
        message.summary.read_at = Some(now);
        let message = message.clone();
        let sender = message.summary.sender.clone();
        if let Some(sender) = sender
            && message.summary.receipt_requested
        {
            let mut new = NewMessage::default();
            new.subject = format!("Read: {}", message.summary.subject);
            new.body = "The message was read.".into();
            let receipt = data.new_message(reader, vec![sender.clone()], new);
            data.add_copy(&sender.user_id, Folder::Inbox, &receipt);
        }
        Ok(message)
    }

    async fn get_poll(&self, caller: &Caller, id: ThreadId) -> BoardResult<InForum<Poll>> {
        let (data, viewer) = self.read(caller);
        let poll_id = data.thread(&viewer, &id)?.poll_id;
        data.poll(&viewer, &found(poll_id)?)
    }

    async fn vote(
        &self,
        member: &MemberCaller,
        id: PollId,
        new: NewVote,
    ) -> BoardResult<InForum<Poll>> {
        let (mut data, writer) = self.write(member)?;
        let (poll, _) = data.open_poll(&writer, &id)?;
        ensure(!poll.closed, || {
            BoardError::forbidden("The poll is closed.").with_reason("closed")
        })?;
        let is_free = poll.own_vote.is_none() || poll.can_change_vote;
        ensure(is_free, || {
            BoardError::conflict("You have already voted.").with_reason("already_voted")
        })?;
        let chosen: BTreeSet<_> = new.option_ids.iter().collect();
        validate(!chosen.is_empty(), "optionIds", "Choose an option.", "required")?;
        let of_option = |index| format!("optionIds[{index}]");
        reject_repeated(new.option_ids.iter(), of_option, "An option is repeated.")?;
        let is_possible = chosen.len() <= poll.max_choices as usize;
        validate(is_possible, "optionIds", "Choose fewer options.", "too_long")?;
        for (index, id) in new.option_ids.iter().enumerate() {
            ensure(poll.has_option(id), || no_option(of_option(index)))?;
        }
        let earlier: BTreeSet<_> = poll.own_vote.iter().flatten().collect();
        if chosen == earlier {
            return data.poll(&writer, &id);
        }
        let ballot = found(data.ballots.get_mut(&id))?;
        let voter = member.user_id().clone();
        ballot.votes.insert(voter, new.option_ids);
        data.emit_poll(&writer, &id, Event::poll_voted)?;
        data.poll(&writer, &id)
    }

    async fn update_poll(
        &self,
        member: &MemberCaller,
        id: PollId,
        update: PollUpdate,
    ) -> BoardResult<InForum<Poll>> {
        let (mut data, writer) = self.write(member)?;
        let (poll, visible) = data.open_poll(&writer, &id)?;
        let is_moderator = visible.is_moderator;
        let is_own = writer.is_author(&poll.author) && !visible.thread.locked;
        let can_edit = (is_moderator || is_own) && visible.section.is_writable(&writer);
        ensure(can_edit, || {
            BoardError::forbidden("You may not edit this poll.").with_reason("not_allowed")
        })?;
        check_version(update.expected_version, poll.version)?;
        let before = found(data.ballots.get(&id))?.poll.clone();
        let mut poll = before.clone();
        poll.question = update.question.unwrap_or(poll.question);
        if let Some(options) = update.options {
            let options = options.into_iter().enumerate().map(|(index, option)| {
                let id = option.option_id;
                let is_option = id.as_ref().is_none_or(|id| before.has_option(id));
                ensure(is_option, || no_option(format!("options[{index}].optionId")))?;
                let id = id.unwrap_or_else(|| data.new_id());
                Ok(PollOption::new(id, option.text))
            });
            poll.options = options.collect::<BoardResult<_>>()?;
        }
        let max_choices = update.max_choices.unwrap_or(poll.max_choices.into());
        poll.max_choices = max_choices.try_into().unwrap_or_default();
        poll.can_change_vote = update.can_change_vote.unwrap_or(poll.can_change_vote);
        poll.closes_at = update.closes_at.apply(poll.closes_at);
        check_poll(&poll, ".text")?;
        if poll == before {
            return data.poll(&writer, &id);
        }
        poll.version += 1;

        let ballot = found(data.ballots.get_mut(&id))?;
        let votes = ballot.votes.values();
        let largest_vote = votes.map(Vec::len).max().unwrap_or_default();
        let is_changed = poll.question != before.question || poll.options != before.options;
        let most = largest_vote.min(before.max_choices as usize);
        let is_lowered = (poll.max_choices as usize) < most;
        let is_refused = largest_vote > 0 && (is_changed || is_lowered);
        ensure(is_moderator || !is_refused, || {
            BoardError::conflict("The poll has votes.").with_reason("has_votes")
        })?;
        ballot.votes.retain(|_, vote| {
            vote.retain(|id| poll.has_option(id));
            !vote.is_empty()
        });
        ballot.poll = poll;
        data.emit_poll(&writer, &id, Event::poll_updated)?;
        data.poll(&writer, &id)
    }

    async fn list_subscriptions(
        &self,
        member: &MemberCaller,
        list: List<SubscriptionFilter>,
    ) -> BoardResult<Page<Subscription>> {
        let data = self.data();
        let viewer = data.viewer(Some(member.user_id()));
        let stored = data.subscriptions.iter();
        let owned = stored.filter(|((owner, _), _)| owner == member.user_id());
        let visible = owned.filter_map(|((_, target), (number, created_at))| {
            let subscription = data.subscription(&viewer, target, *created_at).ok()?;
            Some((*number, subscription))
        });
        let selected = visible.filter(|(_, subscription)| {
            let kind = list.filter.target;
            kind.is_none_or(|kind| kind == subscription.target.kind())
        });
        let page = list.page(selected, |(number, _)| [-number])?;
        Ok(page.map(|(_, subscription)| subscription))
    }

    async fn subscribe(
        &self,
        member: &MemberCaller,
        new: NewSubscription,
    ) -> BoardResult<CreateOutcome<Subscription>> {
        let (mut data, writer) = self.write(member)?;
        let outcome = data.subscribe(&writer, new.target);
        outcome
            .map_err(|_| BoardError::not_found("No such forum or thread.").with_field("targetId"))
    }

    async fn unsubscribe(
        &self,
        member: &MemberCaller,
        target: SubscriptionTarget,
    ) -> BoardResult<()> {
        let (mut data, _) = self.write(member)?;
        let key = (member.user_id().clone(), target);
        let removed = data.subscriptions.remove(&key);
        ensure(removed.is_some(), || BoardError::not_found("No such subscription."))
    }

    async fn search(
        &self,
        caller: &Caller,
        list: List<SearchFilter>,
    ) -> BoardResult<Page<SearchHit>> {
        let (data, viewer) = self.read(caller);
        // Later pages ignore posts that were written after the first page was read, so that no thread moves between
        // pages.
        let [_, _, last_id] = list.after_or([0, 0, data.last_id])?;
        let key = |hit: &SearchHit| {
            let id = hit.post_id.to_i64().unwrap_or_default();
            match list.filter.sort {
                SearchSort::Relevance => [-(hit.score as i64), -id, last_id],
                SearchSort::Newest => [-id, 0, last_id],
                SearchSort::Oldest => [id, 0, last_id],
            }
        };
        let posts = data.public_posts().filter(|(_, post)| post.post_id <= PostId::from(last_id));
        let mut hits: Vec<_> =
            posts.filter_map(|(thread, post)| data.hit(&viewer, &thread, post, &list)).collect();
        if list.filter.show == SearchShow::Threads {
            let mut threads = HashSet::new();
            hits.sort_by_key(key);
            hits.retain(|hit| threads.insert(hit.thread_id.clone()));
        }
        Ok(list.page(hits, key)?)
    }
}

fn found<T>(item: Option<T>) -> BoardResult<T> {
    item.ok_or(PathNotFound)
}

fn ensure(condition: bool, error: impl FnOnce() -> BoardError) -> BoardResult<()> {
    if condition { Ok(()) } else { Err(error()) }
}

fn validate(
    condition: bool,
    field: impl Into<Cow<'static, str>>,
    message: &str,
    reason: &'static str,
) -> BoardResult<()> {
    ensure(condition, || BoardError::validation(field, message).with_reason(reason))
}

fn no_option(field: String) -> BoardError {
    BoardError::not_found("No such option.").with_field(field)
}

fn is_user(author: &Author, user: &UserRef) -> bool {
    match user {
        UserRef::Id(id) => author.user_id == *id,
        UserRef::Name(name) => author.username == *name,
    }
}

fn check_text(field: impl Into<Cow<'static, str>>, text: &str) -> BoardResult<()> {
    validate(!text.trim().is_empty(), field, "It is empty.", "required")
}

fn check_line(field: impl Into<Cow<'static, str>>, line: &str) -> BoardResult<()> {
    let field = field.into();
    check_text(field.clone(), line)?;
    validate(is_single_line(line), field, "It is not a single line.", "not_single_line")
}

fn check_version(expected: Option<i64>, version: i64) -> BoardResult<()> {
    let is_current = expected.is_none_or(|expected| expected == version);
    ensure(is_current, || BoardError::stale_version("It was changed in the meantime."))
}

/// Rejects an item that equals an earlier one. `field` returns the path of the item with an index.
fn reject_repeated<T: Ord>(
    mut items: impl Iterator<Item = T>,
    field: impl FnOnce(usize) -> String,
    message: &str,
) -> BoardResult<()> {
    let mut seen = BTreeSet::new();
    match items.position(|item| !seen.insert(item)) {
        Some(index) => Err(BoardError::validation(field(index), message).with_reason("duplicate")),
        None => Ok(()),
    }
}

/// Checks a poll. `of_text` follows the path of an option in the path of its text.
fn check_poll(poll: &Poll, of_text: &str) -> BoardResult<()> {
    check_line("question", &poll.question)?;
    for (index, option) in poll.options.iter().enumerate() {
        check_line(format!("options[{index}]{of_text}"), &option.text)?;
    }
    let count = poll.options.len();
    validate(count >= 2, "options", "At least two options are required.", "required")?;
    let texts = poll.options.iter().map(|option| option.text.trim());
    let of_option = |index| format!("options[{index}]{of_text}");
    reject_repeated(texts, of_option, "Two options are the same.")?;
    let is_possible = (1..=count).contains(&(poll.max_choices as usize));
    let message = "It must be 1 to the number of options.";
    validate(is_possible, "maxChoices", message, "out_of_range")
}

/// Adds the field that contains the poll in the body of a new thread.
fn in_poll(error: BoardError) -> BoardError {
    match error.field().map(|field| format!("poll.{field}")) {
        Some(path) => error.with_field(path),
        None => error,
    }
}

/// Returns the words of a text in lower case and Unicode NFKC, each between two spaces. A letter of a script without spaces
/// between words is a word.
fn words(text: &str) -> String {
    let mut spaced = String::new();
    for letter in text.nfkc() {
        match letter {
            // Thai and Lao, Myanmar, Khmer, kana and Han, Hangul.
            '\u{e00}'..='\u{eff}'
            | '\u{1000}'..='\u{109f}'
            | '\u{1780}'..='\u{17ff}'
            | '\u{2e80}'..='\u{9fff}'
            | '\u{ac00}'..='\u{d7a3}'
            | '\u{20000}'..='\u{3ffff}' => {
                spaced.extend([' ', letter, ' ']);
            }
            letter => spaced.push(letter),
        }
    }
    let text = spaced.to_lowercase();
    let words =
        text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| format!(" {word} ")).collect()
}

/// Returns the number of matches of a query in a text; `None` if the text does not match the query.
fn score(query: &SearchQuery, text: &str) -> Option<f64> {
    let mut score = 0;
    for term in query.terms() {
        let count = text.matches(&words(&term.text)).count();
        if term.excluded == (count > 0) {
            return None;
        }
        score += count;
    }
    Some(score as f64)
}

/// Creates boards for the conformance suite, and adds content without the API.
#[cfg(test)]
pub(crate) mod fixture {
    use forum_api::conformance::{
        Audience, BoardFactory, BoardFixture, Capability, FixtureResult, NewForum, Role as TestRole,
    };
    use forum_api::host::Host;
    use forum_api::runtime::ManualClock;

    use super::*;

    #[derive(Default)]
    pub(crate) struct Factory {
        pub(crate) deletions: Deletions,
    }

    #[async_trait]
    impl BoardFactory for Factory {
        async fn create(&self, clock: Arc<ManualClock>) -> FixtureResult<Box<dyn BoardFixture>> {
            let board = MemoryBoard::new(clock, self.deletions);
            Ok(Box::new(Fixture(Arc::new(board))))
        }

        fn unsupported(&self) -> &[Capability] {
            use Capability::{BatchAccess, HiddenDeletedPosts, SurvivingReplies, TokenLoading};
            match self.deletions {
                Deletions::HideReply => &[TokenLoading, BatchAccess],
                Deletions::LeavePlace => &[TokenLoading, BatchAccess, HiddenDeletedPosts],
                Deletions::TakeReplies => &[TokenLoading, BatchAccess, SurvivingReplies],
            }
        }
    }

    struct Fixture(Arc<MemoryBoard>);

    impl Fixture {
        fn set_flag(
            &self,
            id: &ThreadId,
            on: bool,
            flag: fn(&mut Thread) -> &mut bool,
        ) -> FixtureResult<()> {
            let mut data = self.0.data();
            let thread = data.threads.get_mut(id).unwrap();
            if std::mem::replace(flag(thread), on) != on {
                thread.version += 1;
                let no_actor = data.viewer(None);
                data.emit_updated(&no_actor, id)?;
            }
            Ok(())
        }
    }

    fn role(audience: Audience, guests: Role) -> Role {
        match audience {
            Audience::Guests => guests,
            Audience::Members => Role::Newcomer,
            Audience::Staff => Role::Staff,
        }
    }

    #[async_trait]
    impl BoardFixture for Fixture {
        fn board(&self) -> Host {
            self.0.clone().into()
        }

        async fn add_member(&self, name: &str, role: TestRole) -> FixtureResult<UserId> {
            let role = match role {
                TestRole::Newcomer => Role::Newcomer,
                TestRole::Member => Role::Member,
                TestRole::Staff => Role::Staff,
                TestRole::Administrator => Role::Administrator,
            };
            Ok(self.0.add_member(name, role))
        }

        async fn add_forum(&self, new: &NewForum) -> FixtureResult<ForumId> {
            let readers = role(new.readers, Role::Guest);
            let writers = role(new.writers, Role::Newcomer);
            let parent = new.parent_id.clone();
            Ok(self.0.add_forum(&new.title, parent, readers, writers))
        }

        async fn set_readers(&self, forum: &ForumId, readers: Audience) -> FixtureResult<()> {
            let readers = role(readers, Role::Guest);
            self.0.data().sections.get_mut(forum).unwrap().readers = readers;
            Ok(())
        }

        async fn set_moderator(
            &self,
            forum: &ForumId,
            member: &UserId,
            is_moderator: bool,
        ) -> FixtureResult<()> {
            let mut data = self.0.data();
            let section = data.sections.get_mut(forum).unwrap();
            if is_moderator {
                section.moderators.insert(member.clone())
            } else {
                section.moderators.remove(member)
            };
            Ok(())
        }

        async fn set_banned(&self, member: &UserId, banned: bool) -> FixtureResult<()> {
            self.0.data().accounts.get_mut(member).unwrap().banned = banned;
            Ok(())
        }

        async fn set_offline(&self, offline: bool) -> FixtureResult<()> {
            self.0.data().offline = offline;
            Ok(())
        }

        async fn set_locked(&self, thread: &ThreadId, locked: bool) -> FixtureResult<()> {
            self.set_flag(thread, locked, |thread| &mut thread.locked)
        }

        async fn set_pinned(&self, thread: &ThreadId, pinned: bool) -> FixtureResult<()> {
            self.set_flag(thread, pinned, |thread| &mut thread.pinned)
        }

        async fn approve(&self, id: &PostId) -> FixtureResult<()> {
            let mut data = self.0.data();
            let no_actor = data.viewer(None);
            let post = data.posts.get_mut(id).unwrap();
            let path = post.path();
            if post.state != ContentState::AwaitingApproval {
                return Err("the post does not await approval".into());
            }
            post.state = ContentState::Visible;
            Ok(data.emit_shown(&no_actor, &path)?)
        }

        async fn hide(&self, id: &PostId) -> FixtureResult<bool> {
            let mut data = self.0.data();
            let no_actor = data.viewer(None);
            let path = found(data.posts.get(id))?.path();
            data.delete_reply(&no_actor, &path)?;
            if data.deletions == Deletions::TakeReplies {
                for reply in data.replies_to(id) {
                    data.delete_reply(&no_actor, &reply)?;
                }
            }
            Ok(true)
        }

        async fn restore(&self, id: &PostId) -> FixtureResult<()> {
            let mut data = self.0.data();
            let no_actor = data.viewer(None);
            let state = data.deleted.remove(id).ok_or("the post is not deleted")?;
            let post = data.posts.get_mut(id).unwrap();
            post.state = state;
            let path = post.path();
            Ok(data.emit_shown(&no_actor, &path)?)
        }

        async fn ignore(&self, member: &UserId, ignored: &UserId) -> FixtureResult<()> {
            let mut data = self.0.data();
            let account = data.accounts.get_mut(member).unwrap();
            account.ignored.insert(ignored.clone());
            Ok(())
        }

        async fn remove_account(&self, member: &UserId) -> FixtureResult<()> {
            let mut data = self.0.data();
            let meta = RequestInfo::background(data.now).event(data.now)?;
            data.outbox.push(Event::member_erased(meta, member));
            data.accounts.remove(member);
            let is_removed = |author: &mut Author| author.user_id == *member;
            for thread in data.threads.values_mut() {
                thread.author.take_if(is_removed);
            }
            for post in data.posts.values_mut() {
                post.author.take_if(is_removed);
                post.edited_by.take_if(is_removed);
            }
            for ballot in data.ballots.values_mut() {
                ballot.poll.author.take_if(is_removed);
            }
            for (_, message) in data.messages.values_mut() {
                let summary = &mut message.summary;
                summary.sender.take_if(is_removed);
                let recipients = &mut summary.recipients;
                recipients.retain(|author| author.user_id != *member);
            }
            Ok(())
        }

        async fn events(&self) -> FixtureResult<Vec<Event>> {
            Ok(std::mem::take(&mut self.0.data().outbox))
        }
    }
}
