//! A complete board in memory: all endpoints, and all rules of the conformance suite.
//!
//! `cargo run --example memory [ADDRESS]` prints requests to try. `cargo test --example memory` runs the suite.
//!
//! The board stores the library's response types. It computes counts, states and permissions when it returns them. One
//! mutex takes the place of a database's transactions: a command checks everything before it changes anything.

#![cfg_attr(
    not(test),
    warn(
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::unwrap_used
    )
)]

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use forum_api::host::{
    Access, Authorizer, BackendResult, Board, BoardError, BoardResult, Caller, InForum,
    MemberCaller, RequestInfo, ResourceRef, VisibleForums,
};
use forum_api::model::*;
use forum_api::runtime::{Clock, OsRandom, SystemClock, TokioRuntime};
use forum_api::scope::Surface;
use forum_api::store::Stores;
use forum_api::token::{TokenRequest, issue_token};
use forum_api::webhook::{Event, EventContext, EventMeta, ForumSummary};
use forum_api::{ForumApi, async_trait};
use unicode_normalization::UnicodeNormalization;

/// Time in which authors can edit and delete their posts.
const EDIT_WINDOW: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Time between two ratings of one member without a post.
const RATING_INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

/// Length of the excerpt of a search hit, in characters.
const EXCERPT_LENGTH: usize = 200;

/// Roles in ascending order of permissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    Guest,
    /// A member whose posts await approval.
    Newcomer,
    Member,
    Staff,
    /// A member who moderates all forums.
    Administrator,
}

#[derive(Debug)]
struct MemoryBoard(Mutex<Data>);

#[derive(Debug)]
struct Data {
    clock: Arc<dyn Clock>,
    /// Last id of any resource.
    last_id: i64,
    offline: bool,
    accounts: BTreeMap<UserId, Account>,
    sections: BTreeMap<ForumId, Section>,
    threads: BTreeMap<ThreadId, Thread>,
    entries: BTreeMap<PostId, Entry>,
    ballots: BTreeMap<PollId, Ballot>,
    /// Ratings, each with the member who gave it.
    ratings: Vec<(UserId, Rating)>,
    /// Copies of messages, each with its owner.
    messages: Vec<(UserId, Message)>,
    subscriptions: Vec<StoredSubscription>,
    outbox: Vec<Event>,
}

#[derive(Debug)]
struct Account {
    author: Author,
    joined_at: Timestamp,
    role: Role,
    banned: bool,
    ignored: HashSet<UserId>,
}

/// A forum.
#[derive(Debug)]
struct Section {
    forum: Forum,
    /// Lowest role that sees the forum.
    readers: Role,
    /// Lowest role that writes in the forum.
    writers: Role,
    moderators: HashSet<UserId>,
}

/// A post. The state of a first post is the state of its thread.
#[derive(Debug)]
struct Entry {
    post: Post,
    approved: bool,
    deleted: bool,
}

/// A poll with the options that each member chose.
#[derive(Debug)]
struct Ballot {
    poll: Poll,
    votes: BTreeMap<UserId, Vec<OptionId>>,
}

#[derive(Debug)]
struct StoredSubscription {
    number: i64,
    owner: UserId,
    target: SubscriptionTarget,
    created_at: Timestamp,
}

/// The caller of a command; without an author for guests.
#[derive(Clone, Debug)]
struct Viewer {
    author: Option<Author>,
    role: Role,
}

/// A thread that a viewer sees.
struct VisibleThread<'a> {
    thread: &'a Thread,
    section: &'a Section,
    state: ContentState,
    is_moderator: bool,
    can_reply: bool,
}

const GUEST: Viewer = Viewer {
    author: None,
    role: Role::Guest,
};

/// Viewer that sees all content, for events and for checks that do not depend on a caller.
const SYSTEM: Viewer = Viewer {
    author: None,
    role: Role::Administrator,
};

impl Viewer {
    fn id(&self) -> Option<&UserId> {
        self.author.as_ref().map(|author| &author.user_id)
    }

    fn is_author(&self, author: &Option<Author>) -> bool {
        self.author.is_some() && self.author == *author
    }
}

impl Section {
    fn is_moderator(&self, viewer: &Viewer) -> bool {
        let is_appointed = viewer.id().is_some_and(|id| self.moderators.contains(id));
        is_appointed || viewer.role == Role::Administrator
    }

    fn is_visible(&self, viewer: &Viewer) -> bool {
        viewer.role >= self.readers || self.is_moderator(viewer)
    }

    fn is_writable(&self, viewer: &Viewer) -> bool {
        self.is_visible(viewer) && (viewer.role >= self.writers || self.is_moderator(viewer))
    }
}

impl Account {
    fn viewer(&self) -> Viewer {
        Viewer {
            author: Some(self.author.clone()),
            role: self.role,
        }
    }
}

impl Entry {
    fn path(&self) -> PostPath {
        PostPath {
            thread_id: self.post.thread_id.clone(),
            post_id: self.post.post_id.clone(),
        }
    }

    fn state(&self) -> ContentState {
        match (self.deleted, self.approved) {
            (true, _) => ContentState::Deleted,
            (false, false) => ContentState::AwaitingApproval,
            (false, true) => ContentState::Visible,
        }
    }

    fn is_first(&self) -> bool {
        self.post.number == 1
    }

    fn is_visible(&self, viewer: &Viewer, is_moderator: bool) -> bool {
        match self.state() {
            ContentState::Visible => true,
            ContentState::AwaitingApproval => is_moderator || viewer.is_author(&self.post.author),
            ContentState::Deleted => is_moderator,
        }
    }
}

impl Data {
    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn new_id(&mut self) -> i64 {
        self.last_id += 1;
        self.last_id
    }

    fn account(&self, user: &UserRef) -> Option<&Account> {
        let mut accounts = self.accounts.values();
        match user {
            UserRef::Id(id) => self.accounts.get(id),
            UserRef::Name(name) => accounts.find(|account| account.author.username == *name),
        }
    }

    fn viewer(&self, id: Option<&UserId>) -> Viewer {
        let account = id.and_then(|id| self.accounts.get(id));
        account.map_or(GUEST, Account::viewer)
    }

    fn access(&self, viewer: &Viewer) -> Access {
        let visible = self
            .sections
            .values()
            .filter(|section| section.is_visible(viewer));
        let forums = visible.map(|section| section.forum.forum_id.clone());
        let is_denied = self.offline && viewer.role < Role::Administrator;
        Access::new(VisibleForums::from_ids(forums)).deny_offline(is_denied)
    }

    /// Returns the member who runs a command. Fails if the member was banned after the request began.
    fn writer(&self, member: &MemberCaller) -> BoardResult<(Viewer, Author)> {
        let account = self.accounts.get(member.user_id());
        let account = account.filter(|account| !account.banned);
        let account = account.ok_or_else(|| BoardError::forbidden("The account is banned."))?;
        Ok((account.viewer(), account.author.clone()))
    }

    fn visible_section(&self, viewer: &Viewer, id: &ForumId) -> BoardResult<&Section> {
        let section = found(self.sections.get(id))?;
        match section.is_visible(viewer) {
            true => Ok(section),
            false => Err(BoardError::PathNotFound),
        }
    }

    fn is_within(&self, forum: &ForumId, ancestor: &ForumId) -> bool {
        let parent = |id: &ForumId| self.sections.get(id)?.forum.parent_id.clone();
        let mut ancestors = std::iter::successors(Some(forum.clone()), parent);
        ancestors.any(|id| id == *ancestor)
    }

    fn entries_of<'a>(&'a self, thread: &'a ThreadId) -> impl Iterator<Item = &'a Entry> {
        let entries = self.entries.values();
        entries.filter(move |entry| entry.post.thread_id == *thread)
    }

    fn find_thread(&self, viewer: &Viewer, id: &ThreadId) -> BoardResult<VisibleThread<'_>> {
        let thread = found(self.threads.get(id))?;
        let section = self.visible_section(viewer, &thread.forum_id)?;
        let first = found(self.entries.get(&thread.first_post_id))?;
        let is_moderator = section.is_moderator(viewer);
        if !first.is_visible(viewer, is_moderator) {
            return Err(BoardError::PathNotFound);
        }
        let is_open = first.state() == ContentState::Visible && (!thread.locked || is_moderator);
        Ok(VisibleThread {
            thread,
            section,
            state: first.state(),
            is_moderator,
            can_reply: is_open && section.is_writable(viewer),
        })
    }

    fn thread(&self, viewer: &Viewer, id: &ThreadId) -> BoardResult<Thread> {
        let visible = self.find_thread(viewer, id)?;
        let is_counted =
            |entry: &&Entry| entry.is_first() || entry.state() == ContentState::Visible;
        let counted: Vec<_> = self.entries_of(id).filter(is_counted).collect();
        let last = counted.last().map(|entry| &entry.post);
        Ok(Thread {
            state: visible.state,
            last_activity_at: last.map_or(visible.thread.created_at, |last| last.created_at),
            last_post: last.map(|last| LastPost {
                post_id: last.post_id.clone(),
                author: last.author.clone(),
                created_at: last.created_at,
            }),
            reply_count: (counted.len() as u64).saturating_sub(1),
            can_reply: visible.can_reply,
            ..visible.thread.clone()
        })
    }

    /// Returns a post and the forum that contains it.
    fn post(&self, viewer: &Viewer, path: &PostPath) -> BoardResult<InForum<Post>> {
        let visible = self.find_thread(viewer, &path.thread_id)?;
        let entry = found(self.entries.get(&path.post_id))?;
        let is_found = entry.post.thread_id == path.thread_id
            && entry.is_visible(viewer, visible.is_moderator);
        if !is_found {
            return Err(BoardError::PathNotFound);
        }
        let window_ends_at = entry.post.created_at.saturating_add(EDIT_WINDOW);
        let is_editable_by_author = !visible.thread.locked && self.now() < window_ends_at;
        let is_author = viewer.is_author(&entry.post.author);
        let can_edit = visible.is_moderator || is_author && is_editable_by_author;
        let is_answer_visible = |id: &PostId| {
            let answered = self.entries.get(id);
            answered.is_some_and(|answered| answered.is_visible(viewer, visible.is_moderator))
        };
        let post = Post {
            in_reply_to: entry.post.in_reply_to.clone().filter(is_answer_visible),
            state: entry.state(),
            can_edit,
            can_delete: can_edit && (!entry.is_first() || visible.is_moderator),
            ..entry.post.clone()
        };
        Ok(InForum::new(visible.section.forum.forum_id.clone(), post))
    }

    /// Returns whether every reader of the forum sees the post.
    fn is_public(&self, entry: &Entry) -> bool {
        let thread = self.find_thread(&SYSTEM, &entry.post.thread_id);
        entry.state() == ContentState::Visible
            && thread.is_ok_and(|visible| visible.state == ContentState::Visible)
    }

    fn public_entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values().filter(|entry| self.is_public(entry))
    }

    fn forum(&self, viewer: &Viewer, section: &Section) -> Forum {
        let id = &section.forum.forum_id;
        let in_forum = |entry: &&Entry| {
            let thread = self.find_thread(&SYSTEM, &entry.post.thread_id);
            thread.is_ok_and(|visible| visible.section.forum.forum_id == *id)
        };
        let public: Vec<_> = self.public_entries().filter(in_forum).collect();
        Forum {
            thread_count: public.iter().filter(|entry| entry.is_first()).count() as u64,
            post_count: public.len() as u64,
            last_activity_at: public.last().map(|entry| entry.post.created_at),
            can_start_thread: section.is_writable(viewer),
            ..section.forum.clone()
        }
    }

    fn member(&self, account: &Account) -> Member {
        let id = &account.author.user_id;
        let is_for_members = |entry: &&Entry| {
            let thread = self.find_thread(&SYSTEM, &entry.post.thread_id);
            thread.is_ok_and(|visible| visible.section.readers <= Role::Newcomer)
        };
        let posts = self.public_entries().filter(is_for_members);
        let posts = posts.filter(|entry| entry.post.author.as_ref() == Some(&account.author));
        Member {
            user_id: id.clone(),
            username: account.author.username.clone(),
            title: None,
            avatar_url: account.author.avatar_url.clone(),
            joined_at: account.joined_at,
            last_seen_at: None,
            post_count: posts.count() as u64,
            reputation: self.reputation(id),
            extra: None,
        }
    }

    fn reputation(&self, member: &UserId) -> i64 {
        let ratings = self.ratings.iter().map(|(_, rating)| rating);
        let ratings = ratings.filter(|rating| rating.user_id == *member);
        ratings.map(|rating| rating.points).sum()
    }

    fn add_post(
        &mut self,
        thread_id: &ThreadId,
        writer: &Viewer,
        body: &str,
        in_reply_to: Option<PostId>,
    ) -> PostPath {
        let path = PostPath {
            thread_id: thread_id.clone(),
            post_id: PostId::from(self.new_id()),
        };
        let post = Post {
            post_id: path.post_id.clone(),
            thread_id: path.thread_id.clone(),
            number: self.entries_of(thread_id).count() as u64 + 1,
            in_reply_to,
            author: writer.author.clone(),
            state: ContentState::Visible,
            created_at: self.now(),
            edited_at: None,
            edited_by: None,
            body: Some(body.into()),
            body_html: Some(text_to_html(body)),
            can_edit: false,
            can_delete: false,
            version: 1,
            extra: None,
        };
        let entry = Entry {
            post,
            approved: writer.role > Role::Newcomer,
            deleted: false,
        };
        self.entries.insert(path.post_id.clone(), entry);
        path
    }

    /// Writes an event of a thread to the outbox.
    fn emit(
        &mut self,
        thread: &ThreadId,
        actor: &Viewer,
        event: impl FnOnce(EventMeta, EventContext<'_>) -> Event,
    ) -> BoardResult<()> {
        let meta = self.event_meta()?;
        let context = EventContext {
            thread: &self.thread(&SYSTEM, thread)?,
            forum_title: &self.find_thread(&SYSTEM, thread)?.section.forum.title,
            actor: actor.author.as_ref(),
        };
        let event = event(meta, context);
        self.outbox.push(event);
        Ok(())
    }

    fn emit_post(
        &mut self,
        path: &PostPath,
        actor: &Viewer,
        event: fn(EventMeta, &Post, EventContext<'_>) -> Event,
    ) -> BoardResult<()> {
        let mut post = self.post(&SYSTEM, path)?.value;
        let is_public = |id: &mut PostId| {
            let answered = self.entries.get(id);
            answered.is_some_and(|entry| self.is_public(entry))
        };
        post.in_reply_to = post.in_reply_to.take_if(is_public);
        self.emit(&path.thread_id, actor, |meta, context| {
            event(meta, &post, context)
        })
    }

    /// Writes the events of a new post, or of a post that was approved.
    fn emit_created(&mut self, path: &PostPath, actor: &Viewer) -> BoardResult<()> {
        let entry = found(self.entries.get(&path.post_id))?;
        if !self.is_public(entry) {
            return Ok(());
        }
        if entry.is_first() {
            self.emit(&path.thread_id, actor, Event::thread_created)?;
        }
        self.emit_post(path, actor, Event::post_created)
    }

    fn event_meta(&self) -> BoardResult<EventMeta> {
        EventMeta::new(&OsRandom, self.now()).map_err(BoardError::internal)
    }

    fn poll(&self, viewer: &Viewer, id: &PollId) -> BoardResult<InForum<Poll>> {
        let Ballot { poll, votes } = found(self.ballots.get(id))?;
        let visible = self.find_thread(viewer, &poll.thread_id)?;
        let options = poll.options.iter().map(|option| {
            let has_option = |vote: &&Vec<OptionId>| vote.contains(&option.option_id);
            PollOption {
                votes: Some(votes.values().filter(has_option).count() as u64),
                ..option.clone()
            }
        });
        let poll = Poll {
            options: options.collect(),
            total_votes: Some(votes.len() as u64),
            closed: poll.closes_at.is_some_and(|end| end <= self.now()),
            own_vote: viewer.id().and_then(|id| votes.get(id).cloned()),
            ..poll.clone()
        };
        Ok(InForum::new(visible.section.forum.forum_id.clone(), poll))
    }

    /// Returns a poll whose thread is not deleted.
    fn open_poll(&self, writer: &Viewer, id: &PollId) -> BoardResult<(Poll, VisibleThread<'_>)> {
        let poll = self.poll(writer, id)?.value;
        let visible = self.find_thread(writer, &poll.thread_id)?;
        match visible.state {
            ContentState::Deleted => Err(BoardError::forbidden("The thread is deleted.")),
            _ => Ok((poll, visible)),
        }
    }

    fn emit_poll(
        &mut self,
        poll: &Poll,
        actor: &Viewer,
        event: fn(EventMeta, &Poll, EventContext<'_>) -> Event,
    ) -> BoardResult<()> {
        match self.find_thread(&SYSTEM, &poll.thread_id)?.state {
            ContentState::Visible => {
                let poll = self.poll(&SYSTEM, &poll.poll_id)?.value;
                let event = |meta, context: EventContext<'_>| event(meta, &poll, context);
                self.emit(&poll.thread_id, actor, event)
            }
            _ => Ok(()),
        }
    }

    /// Checks and creates a poll. The caller sets its thread and its author.
    fn new_poll(&mut self, new: NewPoll) -> BoardResult<Poll> {
        let options = new.options.iter();
        let options = options.map(|option| line("options", option));
        let options = options.collect::<BoardResult<Vec<_>>>()?;
        let max_choices = check_options(&options, new.max_choices)?;
        if new.closes_at.is_some_and(|end| end <= self.now()) {
            return Err(BoardError::validation("closesAt", "It is in the past."));
        }
        let options = options.into_iter().map(|text| PollOption {
            option_id: OptionId::from(self.new_id()),
            text,
            votes: None,
        });
        let options = options.collect();
        Ok(Poll {
            poll_id: PollId::from(self.new_id()),
            thread_id: ThreadId::from(0),
            question: line("question", &new.question)?,
            author: None,
            options,
            total_votes: None,
            max_choices,
            can_change_vote: new.can_change_vote,
            closes_at: new.closes_at,
            closed: false,
            own_vote: None,
            version: 1,
        })
    }

    /// Returns the option of an edited poll, with a new id if it has none.
    fn updated_option(&mut self, poll: &Poll, update: PollOptionUpdate) -> BoardResult<PollOption> {
        let text = line("options", &update.text)?;
        let Some(id) = update.option_id else {
            return Ok(PollOption {
                option_id: OptionId::from(self.new_id()),
                text,
                votes: None,
            });
        };
        let option = poll.options.iter().find(|option| option.option_id == id);
        let option = option.ok_or_else(|| BoardError::not_found("No such option."))?;
        Ok(PollOption {
            text,
            ..option.clone()
        })
    }

    /// Returns the forum of a post that a member rates.
    fn forum_of_post(&self, writer: &Viewer, id: &PostId, author: &Author) -> BoardResult<ForumId> {
        let entry = self.entries.get(id);
        let entry = entry.filter(|entry| entry.post.author.as_ref() == Some(author));
        let post = entry.and_then(|entry| self.post(writer, &entry.path()).ok());
        let post = post.ok_or_else(|| BoardError::not_found("No such post of this member."))?;
        Ok(post.forum_id)
    }

    /// Stores a copy of a message for each recipient and one for its sender, which it returns. A receipt has no copy for
    /// its sender.
    fn send(&mut self, from: &Author, to: &[Author], new: NewMessage, is_receipt: bool) -> Message {
        let sent_at = self.now();
        let mut message = Message {
            summary: MessageSummary {
                message_id: MessageId::from(self.new_id()),
                folder: Folder::Sent,
                subject: new.subject,
                sender: Some(from.clone()),
                recipients: to.to_vec(),
                sent_at,
                read: true,
                read_at: Some(sent_at),
                receipt_requested: new.request_receipt,
                extra: None,
            },
            body_html: text_to_html(&new.body),
            body: new.body,
        };
        let sent = message.clone();
        if !is_receipt {
            self.messages.push((from.user_id.clone(), sent.clone()));
        }
        message.summary.folder = Folder::Inbox;
        message.summary.read = false;
        message.summary.read_at = None;
        for recipient in to {
            message.summary.message_id = MessageId::from(self.new_id());
            self.messages
                .push((recipient.user_id.clone(), message.clone()));
        }
        sent
    }

    /// Returns a subscription, unless its target is hidden.
    fn subscription(
        &self,
        viewer: &Viewer,
        target: &SubscriptionTarget,
        created_at: Timestamp,
    ) -> BoardResult<Subscription> {
        let (kind, target_id, forum, title) = match target {
            SubscriptionTarget::Forum(id) => {
                let forum = &self.visible_section(viewer, id)?.forum;
                let target_id = TargetId::from(id.clone());
                (
                    SubscriptionTargetKind::Forum,
                    target_id,
                    forum,
                    &forum.title,
                )
            }
            SubscriptionTarget::Thread(id) => {
                let VisibleThread {
                    thread, section, ..
                } = self.find_thread(viewer, id)?;
                let target_id = TargetId::from(id.clone());
                (
                    SubscriptionTargetKind::Thread,
                    target_id,
                    &section.forum,
                    &thread.title,
                )
            }
        };
        Ok(Subscription {
            target: kind,
            target_id,
            forum_id: forum.forum_id.clone(),
            title: title.clone(),
            created_at,
        })
    }

    fn subscribe(
        &mut self,
        writer: &Viewer,
        owner: &UserId,
        target: &SubscriptionTarget,
    ) -> BoardResult<SubscribeOutcome> {
        let mut stored = self.subscriptions.iter();
        let existing = stored.find(|stored| stored.owner == *owner && stored.target == *target);
        let created_at = existing.map_or(self.now(), |stored| stored.created_at);
        let subscription = self.subscription(writer, target, created_at)?;
        if existing.is_some() {
            return Ok(SubscribeOutcome::Existing(subscription));
        }
        let number = self.new_id();
        self.subscriptions.push(StoredSubscription {
            number,
            owner: owner.clone(),
            target: target.clone(),
            created_at,
        });
        Ok(SubscribeOutcome::Created(subscription))
    }

    /// Returns the hit of a post that matches a search.
    fn hit(&self, viewer: &Viewer, entry: &Entry, params: &SearchParams) -> Option<SearchHit> {
        let post = &entry.post;
        let VisibleThread {
            thread, section, ..
        } = self.find_thread(viewer, &post.thread_id).ok()?;
        let forum_id = &section.forum.forum_id;
        let is_searched = |ancestor: &ForumId| {
            self.visible_section(viewer, ancestor).is_ok() && self.is_within(forum_id, ancestor)
        };
        let is_in_forum = params.forum.is_empty() || params.forum.iter().any(is_searched);
        let author = params.by.as_ref().map(|user| self.account(user));
        let is_by_author = author.is_none_or(|account| {
            account.is_some_and(|account| post.author.as_ref() == Some(&account.author))
        });
        let (from, until) = match &params.when {
            Some(when) => when.bounds(self.now()),
            None => (None, None),
        };
        let is_in_period = from.is_none_or(|from| post.created_at >= from)
            && until.is_none_or(|until| post.created_at < until);
        if !(is_in_forum && is_by_author && is_in_period) {
            return None;
        }
        let body = post.body.as_deref().unwrap_or_default();
        let title = match entry.is_first() {
            true => thread.title.as_str(),
            false => "",
        };
        let texts = match params.field {
            SearchField::All => vec![words(title), words(body)],
            SearchField::Titles => vec![words(title)],
            SearchField::Posts => vec![words(body)],
        };
        Some(SearchHit {
            kind: SearchHitKind::Post,
            forum_id: forum_id.clone(),
            thread_id: post.thread_id.clone(),
            post_id: post.post_id.clone(),
            title: thread.title.clone(),
            author: post.author.clone(),
            created_at: post.created_at,
            excerpt: body.chars().take(EXCERPT_LENGTH).collect(),
            score: score(&params.q, &texts)?,
        })
    }
}

impl MemoryBoard {
    /// Creates a board without members and forums.
    fn new(clock: Arc<dyn Clock>) -> Self {
        Self(Mutex::new(Data {
            clock,
            last_id: 0,
            offline: false,
            accounts: BTreeMap::new(),
            sections: BTreeMap::new(),
            threads: BTreeMap::new(),
            entries: BTreeMap::new(),
            ballots: BTreeMap::new(),
            ratings: Vec::new(),
            messages: Vec::new(),
            subscriptions: Vec::new(),
            outbox: Vec::new(),
        }))
    }

    fn data(&self) -> MutexGuard<'_, Data> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add_member(&self, name: &str, role: Role) -> UserId {
        let mut data = self.data();
        let user_id = UserId::from(data.new_id());
        let joined_at = data.now();
        let account = Account {
            author: Author {
                user_id: user_id.clone(),
                username: name.into(),
                avatar_url: None,
            },
            joined_at,
            role,
            banned: false,
            ignored: HashSet::new(),
        };
        data.accounts.insert(user_id.clone(), account);
        user_id
    }

    /// Adds a forum after its siblings.
    fn add_forum(
        &self,
        title: &str,
        parent: Option<&ForumId>,
        readers: Role,
        writers: Role,
    ) -> ForumId {
        let mut data = self.data();
        let forum_id = ForumId::from(data.new_id());
        let siblings = data.sections.values();
        let siblings = siblings.filter(|section| section.forum.parent_id.as_ref() == parent);
        let position = siblings.count() as u32 + 1;
        let section = Section {
            forum: Forum {
                forum_id: forum_id.clone(),
                parent_id: parent.cloned(),
                title: title.into(),
                description: String::new(),
                position,
                thread_count: 0,
                post_count: 0,
                last_activity_at: None,
                can_start_thread: false,
                extra: None,
            },
            readers,
            writers,
            moderators: HashSet::new(),
        };
        data.sections.insert(forum_id.clone(), section);
        forum_id
    }
}

#[async_trait]
impl Authorizer for MemoryBoard {
    async fn guest_access(&self, _: &RequestInfo) -> BackendResult<Access> {
        Ok(self.data().access(&GUEST))
    }

    async fn member_access(
        &self,
        owner: &UserId,
        _: &RequestInfo,
    ) -> BackendResult<Option<Access>> {
        let data = self.data();
        let account = data.accounts.get(owner);
        let account = account.filter(|account| !account.banned);
        Ok(account.map(|account| data.access(&account.viewer())))
    }
}

#[async_trait]
impl Board for MemoryBoard {
    async fn containing_forum(
        &self,
        caller: &Caller,
        resource: ResourceRef<'_>,
    ) -> BoardResult<ForumId> {
        let data = self.data();
        let viewer = data.viewer(caller.user_id());
        match resource {
            ResourceRef::Thread(id) => Ok(data.thread(&viewer, id)?.forum_id),
            ResourceRef::Post(thread_id, post_id) => {
                let path = PostPath {
                    thread_id: thread_id.clone(),
                    post_id: post_id.clone(),
                };
                Ok(data.post(&viewer, &path)?.forum_id)
            }
            ResourceRef::Poll(id) => Ok(data.poll(&viewer, id)?.forum_id),
            _ => Err(BoardError::PathNotFound),
        }
    }

    async fn get_me(&self, member: &MemberCaller, _: GetMeParams) -> BoardResult<OwnAccount> {
        let data = self.data();
        let id = member.user_id();
        let account = data.accounts.get(id);
        let messages = data.messages.iter().filter(|(owner, _)| owner == id);
        let unread = messages.filter(|(_, message)| !message.summary.read);
        Ok(OwnAccount {
            owner: data.member(found(account)?),
            unread_messages: Some(unread.count() as u64),
        })
    }

    async fn list_forums(&self, caller: &Caller, _: ListForumsParams) -> BoardResult<Page<Forum>> {
        let data = self.data();
        let viewer = data.viewer(caller.user_id());
        let visible = data
            .sections
            .values()
            .filter(|section| section.is_visible(&viewer));
        let forums = visible.map(|section| {
            let parent = |id: &ForumId| data.sections.get(id)?.forum.parent_id.clone();
            let mut ancestors = std::iter::successors(section.forum.parent_id.clone(), parent);
            Forum {
                parent_id: ancestors.find(|id| data.visible_section(&viewer, id).is_ok()),
                ..data.forum(&viewer, section)
            }
        });
        Ok(Page::from(forums.collect::<Vec<_>>()))
    }

    async fn list_threads(
        &self,
        caller: &Caller,
        forum_id: ForumId,
        params: ListThreadsParams,
    ) -> BoardResult<Page<Thread>> {
        let data = self.data();
        let viewer = data.viewer(caller.user_id());
        data.visible_section(&viewer, &forum_id)?;
        let threads = data
            .threads
            .values()
            .filter(|thread| thread.forum_id == forum_id);
        let threads = threads.filter_map(|thread| data.thread(&viewer, &thread.thread_id).ok());
        let is_later = |thread: &Thread| {
            let since = params.since;
            since.is_none_or(|since| thread.last_activity_at > since)
        };
        page(
            threads.filter(is_later),
            params.after,
            params.limit,
            |thread| {
                let number = thread.thread_id.to_i64().unwrap_or_default();
                [-thread.last_activity_at.as_millis(), -number, 0]
            },
        )
    }

    async fn create_thread(
        &self,
        member: &MemberCaller,
        forum_id: ForumId,
        new: NewThread,
    ) -> BoardResult<Thread> {
        let mut data = self.data();
        let (writer, author) = data.writer(member)?;
        if !data
            .visible_section(&writer, &forum_id)?
            .is_writable(&writer)
        {
            return Err(BoardError::forbidden("You may not start threads here."));
        }
        let title = line("title", &new.title)?;
        text("body", &new.body)?;
        let poll = new.poll.map(|poll| data.new_poll(poll)).transpose()?;

        let thread_id = ThreadId::from(data.new_id());
        let path = data.add_post(&thread_id, &writer, &new.body, None);
        let created_at = data.now();
        let thread = Thread {
            thread_id: thread_id.clone(),
            forum_id,
            title,
            author: Some(author.clone()),
            state: ContentState::Visible,
            created_at,
            last_activity_at: created_at,
            last_post: None,
            reply_count: 0,
            pinned: false,
            locked: false,
            first_post_id: path.post_id.clone(),
            poll_id: poll.as_ref().map(|poll| poll.poll_id.clone()),
            can_reply: false,
            version: 1,
            extra: None,
        };
        data.threads.insert(thread_id.clone(), thread);
        if let Some(mut poll) = poll {
            poll.thread_id = thread_id.clone();
            poll.author = Some(author.clone());
            let votes = BTreeMap::new();
            data.ballots
                .insert(poll.poll_id.clone(), Ballot { poll, votes });
        }
        if new.subscribe {
            let target = SubscriptionTarget::Thread(thread_id.clone());
            data.subscribe(&writer, &author.user_id, &target)?;
        }
        data.emit_created(&path, &writer)?;
        data.thread(&writer, &thread_id)
    }

    async fn get_thread(
        &self,
        caller: &Caller,
        thread_id: ThreadId,
        _: GetThreadParams,
    ) -> BoardResult<Thread> {
        let data = self.data();
        data.thread(&data.viewer(caller.user_id()), &thread_id)
    }

    async fn list_posts(
        &self,
        caller: &Caller,
        thread_id: ThreadId,
        params: ListPostsParams,
    ) -> BoardResult<InForum<Page<Post>>> {
        let data = self.data();
        let viewer = data.viewer(caller.user_id());
        let forum_id = data.thread(&viewer, &thread_id)?.forum_id;
        let posts = data.entries_of(&thread_id).map(|entry| entry.path());
        let posts = posts.filter_map(|path| Some(data.post(&viewer, &path).ok()?.value));
        let posts: Vec<_> = posts.collect();
        let first = params.from.map(|from| {
            let first = posts.iter().find(|post| post.post_id == from);
            let first = first.map(|post| post.number);
            first.ok_or(BoardError::invalid_parameter(
                "from",
                "a post of the thread",
            ))
        });
        let first = first.transpose()?.unwrap_or_default();
        let posts = posts.into_iter().filter(|post| {
            let is_later = params.since.is_none_or(|since| post.created_at > since);
            post.number >= first && is_later
        });
        let posts = posts.map(|post| match params.body {
            BodyFormat::Both => post,
            BodyFormat::Source => Post {
                body_html: None,
                ..post
            },
            BodyFormat::Html => Post { body: None, ..post },
        });
        let page = page(posts, params.after, params.limit, |post| {
            [post.number as i64, 0, 0]
        });
        Ok(InForum::new(forum_id, page?))
    }

    async fn create_post(
        &self,
        member: &MemberCaller,
        thread_id: ThreadId,
        new: NewPost,
    ) -> BoardResult<InForum<Post>> {
        let mut data = self.data();
        let (writer, author) = data.writer(member)?;
        if !data.find_thread(&writer, &thread_id)?.can_reply {
            return Err(BoardError::forbidden("You may not reply in this thread."));
        }
        text("body", &new.body)?;
        if let Some(answered) = &new.in_reply_to {
            let path = PostPath {
                thread_id: thread_id.clone(),
                post_id: answered.clone(),
            };
            let is_found = data.post(&writer, &path).is_ok();
            is_found
                .then_some(())
                .ok_or_else(|| BoardError::not_found("No such post."))?;
        }
        let path = data.add_post(&thread_id, &writer, &new.body, new.in_reply_to);
        if new.subscribe {
            let target = SubscriptionTarget::Thread(thread_id);
            data.subscribe(&writer, &author.user_id, &target)?;
        }
        data.emit_created(&path, &writer)?;
        data.post(&writer, &path)
    }

    async fn update_post(
        &self,
        member: &MemberCaller,
        path: PostPath,
        update: PostUpdate,
    ) -> BoardResult<InForum<Post>> {
        let mut data = self.data();
        let (writer, author) = data.writer(member)?;
        let post = data.post(&writer, &path)?.value;
        if !post.can_edit {
            return Err(BoardError::forbidden("You may not edit this post."));
        }
        check_version(update.expected_version, post.version)?;
        text("body", &update.body)?;
        let now = data.now();
        let entry = found(data.entries.get_mut(&path.post_id))?;
        entry.post = Post {
            edited_at: Some(now),
            edited_by: Some(author),
            body_html: Some(text_to_html(&update.body)),
            body: Some(update.body),
            version: post.version + 1,
            ..entry.post.clone()
        };
        if data.is_public(found(data.entries.get(&path.post_id))?) {
            data.emit_post(&path, &writer, Event::post_updated)?;
        }
        data.post(&writer, &path)
    }

    async fn delete_post(
        &self,
        member: &MemberCaller,
        path: PostPath,
        _: DeletePostParams,
    ) -> BoardResult<()> {
        let mut data = self.data();
        let (writer, _) = data.writer(member)?;
        let post = data.post(&writer, &path)?.value;
        if post.state == ContentState::Deleted {
            return Err(BoardError::conflict("The post is already deleted."));
        }
        if !post.can_delete {
            return Err(BoardError::forbidden("You may not delete this post."));
        }
        let was_public = data.is_public(found(data.entries.get(&path.post_id))?);
        found(data.entries.get_mut(&path.post_id))?.deleted = true;
        match (was_public, post.number) {
            (false, _) => Ok(()),
            (true, 1) => data.emit(&path.thread_id, &writer, Event::thread_deleted),
            (true, _) => data.emit_post(&path, &writer, Event::post_deleted),
        }
    }

    async fn get_member(
        &self,
        _: &Caller,
        user: UserRef,
        _: GetMemberParams,
    ) -> BoardResult<Member> {
        let data = self.data();
        let account = found(data.account(&user))?;
        Ok(data.member(account))
    }

    async fn rate_member(
        &self,
        member: &MemberCaller,
        user: UserRef,
        new: NewRating,
    ) -> BoardResult<Rating> {
        let mut data = self.data();
        let (writer, author) = data.writer(member)?;
        let rated = found(data.account(&user))?;
        let rated = rated.author.clone();
        if rated == author {
            return Err(BoardError::forbidden("You may not rate yourself."));
        }
        if new.points == 0 {
            return Err(BoardError::validation("points", "A rating needs points."));
        }
        let forum_id = new
            .post_id
            .as_ref()
            .map(|post| data.forum_of_post(&writer, post, &rated));
        let forum_id = forum_id.transpose()?;
        let now = data.now();
        let is_repeated = data.ratings.iter().any(|(rater, rating)| {
            let is_recent = now < rating.created_at.saturating_add(RATING_INTERVAL);
            *rater == author.user_id
                && rating.user_id == rated.user_id
                && rating.post_id == new.post_id
                && (new.post_id.is_some() || is_recent)
        });
        if is_repeated {
            return Err(BoardError::conflict("You have already rated this."));
        }
        let rating = Rating {
            rating_id: RatingId::from(data.new_id()),
            user_id: rated.user_id.clone(),
            post_id: new.post_id,
            forum_id: forum_id.clone(),
            points: new.points,
            comment: new.comment,
            created_at: now,
            reputation: data.reputation(&rated.user_id) + new.points,
        };
        data.ratings.push((author.user_id.clone(), rating.clone()));
        let forum = forum_id
            .map(|forum_id| found(data.sections.get(&forum_id)))
            .transpose()?;
        let forum = forum.map(|section| ForumSummary {
            forum_id: section.forum.forum_id.clone(),
            title: section.forum.title.clone(),
        });
        let meta = data.event_meta()?;
        let event = Event::member_rated(meta, &rating, &rated, forum.as_ref(), Some(&author));
        data.outbox.push(event);
        Ok(rating)
    }

    async fn list_messages(
        &self,
        member: &MemberCaller,
        params: ListMessagesParams,
    ) -> BoardResult<Page<MessageSummary>> {
        let data = self.data();
        let owned = data
            .messages
            .iter()
            .filter(|(owner, _)| owner == member.user_id());
        let summaries = owned.map(|(_, message)| message.summary.clone());
        let summaries = summaries.filter(|summary| {
            let is_selected = params.unread.is_none_or(|unread| unread != summary.read);
            summary.folder == params.folder && is_selected
        });
        page(summaries, params.after, params.limit, |summary| {
            [-summary.message_id.to_i64().unwrap_or_default(), 0, 0]
        })
    }

    async fn send_message(&self, member: &MemberCaller, new: NewMessage) -> BoardResult<Message> {
        let mut data = self.data();
        let (_, author) = data.writer(member)?;
        if new.to.is_empty() {
            return Err(BoardError::validation(
                "to",
                "The message has no recipient.",
            ));
        }
        line("subject", &new.subject)?;
        text("body", &new.body)?;
        let mut recipients = Vec::new();
        for user in &new.to {
            let account = data.account(user);
            let account = account.ok_or_else(|| BoardError::not_found("No such recipient."))?;
            if account.ignored.contains(&author.user_id) {
                return Err(BoardError::forbidden("A recipient ignores you."));
            }
            if !recipients.contains(&account.author) {
                recipients.push(account.author.clone());
            }
        }
        let ids = recipients.iter().map(|author| author.user_id.clone());
        let ids: Vec<_> = ids.collect();
        let sent = data.send(&author, &recipients, new, false);
        let meta = data.event_meta()?;
        let event = Event::message_sent(meta, &sent.summary.message_id, &author.user_id, &ids);
        data.outbox.push(event);
        Ok(sent)
    }

    async fn open_message(
        &self,
        member: &MemberCaller,
        message_id: MessageId,
        params: OpenMessageParams,
    ) -> BoardResult<Message> {
        let mut data = self.data();
        let now = data.now();
        let message = data.messages.iter_mut().find(|(owner, message)| {
            owner == member.user_id() && message.summary.message_id == message_id
        });
        let (_, message) = found(message)?;
        if message.summary.read || params.mark_read == MarkRead::No {
            return Ok(message.clone());
        }
        message.summary.read = true;
        message.summary.read_at = Some(now);
        let message = message.clone();
        let reader = data.viewer(Some(member.user_id())).author;
        let sender = message.summary.sender.clone();
        let parties = reader
            .zip(sender)
            .filter(|_| message.summary.receipt_requested);
        if let Some((reader, sender)) = parties {
            let mut receipt = NewMessage::default();
            receipt.subject = format!("Read: {}", message.summary.subject);
            receipt.body = "The message was read.".into();
            data.send(&reader, &[sender], receipt, true);
        }
        Ok(message)
    }

    async fn get_poll(
        &self,
        caller: &Caller,
        thread_id: ThreadId,
        _: GetPollParams,
    ) -> BoardResult<InForum<Poll>> {
        let data = self.data();
        let viewer = data.viewer(caller.user_id());
        let poll_id = data.thread(&viewer, &thread_id)?.poll_id;
        data.poll(&viewer, &found(poll_id)?)
    }

    async fn vote(
        &self,
        member: &MemberCaller,
        poll_id: PollId,
        new: NewVote,
    ) -> BoardResult<InForum<Poll>> {
        let mut data = self.data();
        let (writer, author) = data.writer(member)?;
        let (poll, _) = data.open_poll(&writer, &poll_id)?;
        if poll.closed {
            return Err(BoardError::forbidden("The poll is closed."));
        }
        if poll.own_vote.is_some() && !poll.can_change_vote {
            return Err(BoardError::conflict("You have already voted."));
        }
        let chosen: BTreeSet<_> = new.option_ids.iter().collect();
        let count = new.option_ids.len();
        if count == 0 || count > poll.max_choices as usize || chosen.len() < count {
            return Err(BoardError::validation("optionIds", "Choose other options."));
        }
        let is_option = |id: &&OptionId| poll.options.iter().any(|option| option.option_id == **id);
        if !chosen.iter().all(is_option) {
            return Err(BoardError::not_found("No such option."));
        }
        let ballot = found(data.ballots.get_mut(&poll_id))?;
        ballot.votes.insert(author.user_id, new.option_ids);
        data.emit_poll(&poll, &writer, Event::poll_voted)?;
        data.poll(&writer, &poll_id)
    }

    async fn update_poll(
        &self,
        member: &MemberCaller,
        poll_id: PollId,
        update: PollUpdate,
    ) -> BoardResult<InForum<Poll>> {
        let mut data = self.data();
        let (writer, _) = data.writer(member)?;
        let (mut poll, visible) = data.open_poll(&writer, &poll_id)?;
        let is_moderator = visible.is_moderator;
        let is_own = writer.is_author(&poll.author) && !visible.thread.locked;
        if !(is_moderator || is_own) {
            return Err(BoardError::forbidden("You may not edit this poll."));
        }
        check_version(update.expected_version, poll.version)?;
        let before = poll.clone();
        if let Some(question) = &update.question {
            poll.question = line("question", question)?;
        }
        if let Some(options) = update.options {
            let options = options
                .into_iter()
                .map(|option| data.updated_option(&poll, option));
            poll.options = options.collect::<BoardResult<_>>()?;
        }
        let texts: Vec<_> = poll
            .options
            .iter()
            .map(|option| option.text.clone())
            .collect();
        let max_choices = update.max_choices.unwrap_or(poll.max_choices.into());
        poll.max_choices = check_options(&texts, max_choices)?;
        poll.can_change_vote = update.can_change_vote.unwrap_or(poll.can_change_vote);
        poll.closes_at = update.closes_at.apply(poll.closes_at);
        poll.version += 1;

        let ballot = found(data.ballots.get_mut(&poll_id))?;
        let largest_vote = ballot
            .votes
            .values()
            .map(Vec::len)
            .max()
            .unwrap_or_default();
        let is_changed = poll.question != before.question || poll.options != before.options;
        let is_refused =
            largest_vote > 0 && is_changed || (poll.max_choices as usize) < largest_vote;
        if is_refused && !is_moderator {
            return Err(BoardError::conflict("The poll has votes."));
        }
        let remaining: BTreeSet<_> = poll
            .options
            .iter()
            .map(|option| &option.option_id)
            .collect();
        ballot.votes.retain(|_, vote| {
            vote.retain(|id| remaining.contains(id));
            !vote.is_empty()
        });
        ballot.poll = poll.clone();
        data.emit_poll(&poll, &writer, Event::poll_updated)?;
        data.poll(&writer, &poll_id)
    }

    async fn list_subscriptions(
        &self,
        member: &MemberCaller,
        params: ListSubscriptionsParams,
    ) -> BoardResult<Page<Subscription>> {
        let data = self.data();
        let viewer = data.viewer(Some(member.user_id()));
        let owned = data
            .subscriptions
            .iter()
            .filter(|stored| stored.owner == *member.user_id());
        let visible = owned.filter_map(|stored| {
            let subscription = data.subscription(&viewer, &stored.target, stored.created_at);
            Some((stored.number, subscription.ok()?))
        });
        let selected = visible.filter(|(_, subscription)| {
            params
                .target
                .is_none_or(|target| target == subscription.target)
        });
        let page = page(selected, params.after, params.limit, |(number, _)| {
            [-number, 0, 0]
        })?;
        Ok(page.map(|(_, subscription)| subscription))
    }

    async fn subscribe(
        &self,
        member: &MemberCaller,
        new: NewSubscription,
    ) -> BoardResult<SubscribeOutcome> {
        let mut data = self.data();
        let (writer, author) = data.writer(member)?;
        let outcome = data.subscribe(&writer, &author.user_id, &new.target);
        outcome.map_err(|_| BoardError::not_found("No such forum or thread."))
    }

    async fn unsubscribe(
        &self,
        member: &MemberCaller,
        target: SubscriptionTarget,
        _: UnsubscribeParams,
    ) -> BoardResult<()> {
        let mut data = self.data();
        let (_, author) = data.writer(member)?;
        let before = data.subscriptions.len();
        data.subscriptions
            .retain(|stored| stored.owner != author.user_id || stored.target != target);
        match data.subscriptions.len() < before {
            true => Ok(()),
            false => Err(BoardError::not_found("No such subscription.")),
        }
    }

    async fn search(&self, caller: &Caller, params: SearchParams) -> BoardResult<Page<SearchHit>> {
        let data = self.data();
        let viewer = data.viewer(caller.user_id());
        // Later pages ignore posts that were written after the first one, so that no thread moves between pages.
        let last_id = match &params.after {
            Some(after) => after.parse_ints::<3>()?[2],
            None => data.last_id,
        };
        let key = |hit: &SearchHit| {
            let id = hit.post_id.to_i64().unwrap_or_default();
            match params.sort {
                SearchSort::Relevance => [-(hit.score as i64), -id, last_id],
                SearchSort::Newest => [-id, 0, last_id],
                SearchSort::Oldest => [id, 0, last_id],
            }
        };
        let hits = data
            .public_entries()
            .filter_map(|entry| data.hit(&viewer, entry, &params));
        let mut hits: Vec<_> = hits
            .filter(|hit| hit.post_id.to_i64().is_ok_and(|id| id <= last_id))
            .collect();
        if params.show == SearchShow::Threads {
            let mut threads = HashSet::new();
            hits.sort_by_key(key);
            hits.retain_mut(|hit| {
                hit.kind = SearchHitKind::Thread;
                threads.insert(hit.thread_id.clone())
            });
        }
        page(hits, params.after, params.limit, key)
    }
}

fn found<T>(item: Option<T>) -> BoardResult<T> {
    item.ok_or(BoardError::PathNotFound)
}

/// Returns the items after a page key, in the ascending order of their keys.
fn page<T>(
    items: impl IntoIterator<Item = T>,
    after: Option<PageKey>,
    limit: PageLimit,
    key: impl Fn(&T) -> [i64; 3],
) -> BoardResult<Page<T>> {
    let after = after.map(|after| after.parse_ints()).transpose()?;
    let items = items
        .into_iter()
        .filter(|item| after.is_none_or(|after| key(item) > after));
    let mut items: Vec<_> = items.collect();
    items.sort_by_key(&key);
    items.truncate(limit.get() + 1);
    Ok(Page::from_overfetch(items, limit, |last| {
        let [first, second, third] = key(last);
        PageKey::new(format_args!("{first}.{second}.{third}"))
    }))
}

fn text(field: &'static str, text: &str) -> BoardResult<()> {
    match text.trim().is_empty() {
        true => Err(BoardError::validation(field, "It is empty.")),
        false => Ok(()),
    }
}

/// Trims and checks a single-line text.
fn line(field: &'static str, line: &str) -> BoardResult<String> {
    text(field, line)?;
    match is_single_line(line) {
        true => Ok(line.trim().into()),
        false => Err(BoardError::validation(field, "It is not a single line.")),
    }
}

/// Checks the options of a poll. Returns the maximum number of choices.
fn check_options(options: &[String], max_choices: i64) -> BoardResult<u32> {
    let different: BTreeSet<_> = options.iter().collect();
    if options.len() < 2 || different.len() < options.len() {
        let message = "At least two different options are required.";
        return Err(BoardError::validation("options", message));
    }
    let choices = u32::try_from(max_choices).ok();
    let choices = choices.filter(|choices| (1..=options.len()).contains(&(*choices as usize)));
    choices.ok_or_else(|| {
        BoardError::validation("maxChoices", "It must be 1 to the number of options.")
    })
}

fn check_version(expected: Option<i64>, version: i64) -> BoardResult<()> {
    match expected.is_none_or(|expected| expected == version) {
        true => Ok(()),
        false => Err(BoardError::conflict("It was changed in the meantime.")),
    }
}

/// Returns the words of a text in lower case and composed form.
fn words(text: &str) -> Vec<String> {
    let text: String = text.nfc().collect();
    let words = text.split(|letter: char| !letter.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// Returns the number of matches of a query per 1000 words; `None` if the texts do not match it.
fn score(query: &SearchQuery, texts: &[Vec<String>]) -> Option<f64> {
    let mut matches = 0;
    for term in query.terms() {
        let phrase = words(&term.text);
        let found = texts.iter().map(|text| {
            let windows = text.windows(phrase.len().max(1));
            windows.filter(|window| **window == *phrase).count()
        });
        match (found.sum(), term.excluded) {
            (0, true) => {}
            (0, false) | (_, true) => return None,
            (count, false) => matches += count,
        }
    }
    let words: usize = texts.iter().map(Vec::len).sum();
    Some((matches * 1000 / words.max(1)) as f64)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let board = Arc::new(MemoryBoard::new(Arc::new(SystemClock)));
    let alice = board.add_member("alice", Role::Administrator);
    board.add_member("bob", Role::Member);
    let forum = board.add_forum("General", None, Role::Guest, Role::Newcomer);
    board.add_forum("Staff", None, Role::Staff, Role::Staff);

    let stores = Stores::in_memory();
    let scopes: Vec<_> = Surface::Full.scopes().collect();
    let request = TokenRequest::new(&alice, &scopes);
    let now = SystemClock.now();
    let (token, _) = issue_token(&*stores.tokens, &OsRandom, Surface::Full, request, now).await?;

    let address = std::env::args().nth(1);
    let address = address.as_deref().unwrap_or("127.0.0.1:8080");
    let listener = tokio::net::TcpListener::bind(address).await?;
    let url = format!("http://{}/api/v1", listener.local_addr()?);
    println!("TOKEN={}", token.expose_secret());
    println!(
        r#"curl -H "authorization: Bearer $TOKEN" --json '{{"title":"Tea","body":"Green?"}}' {url}/forums/{forum}/threads"#
    );
    println!(
        r#"curl -H "authorization: Bearer $TOKEN" --json '{{"to":["@bob"],"subject":"Tea","body":"At five?"}}' {url}/messages"#
    );
    println!("curl {url}/forums/{forum}/threads");
    println!("curl '{url}/search?q=tea'");

    let api = ForumApi::builder(board, stores, TokioRuntime).build()?;
    Ok(axum::serve(listener, axum::Router::new().fallback_service(api)).await?)
}

#[cfg(test)]
mod tests {
    use forum_api::conformance::{
        Audience, BoardFactory, BoardFixture, Capability, FixtureResult, NewForum, Role as TestRole,
    };
    use forum_api::host::Host;
    use forum_api::runtime::{ManualClock, Runtime};

    use super::*;

    struct Factory;

    #[async_trait]
    impl BoardFactory for Factory {
        async fn create(&self, clock: Arc<ManualClock>) -> FixtureResult<Box<dyn BoardFixture>> {
            Ok(Box::new(Fixture(Arc::new(MemoryBoard::new(clock)))))
        }

        fn unsupported(&self) -> &[Capability] {
            &[Capability::TokenLoader]
        }

        fn runtime(&self) -> Arc<dyn Runtime> {
            Arc::new(TokioRuntime)
        }
    }

    struct Fixture(Arc<MemoryBoard>);

    impl Fixture {
        fn section(&self, id: &ForumId, change: impl FnOnce(&mut Section)) {
            change(self.0.data().sections.get_mut(id).unwrap());
        }

        fn account(&self, id: &UserId, change: impl FnOnce(&mut Account)) {
            change(self.0.data().accounts.get_mut(id).unwrap());
        }

        fn thread(&self, id: &ThreadId, change: impl FnOnce(&mut Thread)) {
            change(self.0.data().threads.get_mut(id).unwrap());
        }
    }

    /// Commands of the pages for moderators, which the example does not have.
    impl MemoryBoard {
        /// Approves a post, and its thread if it is the first one.
        fn approve(&self, post: &PostId) -> BoardResult<()> {
            let mut data = self.data();
            let entry = found(data.entries.get_mut(post))?;
            let was_approved = std::mem::replace(&mut entry.approved, true);
            let path = entry.path();
            match was_approved {
                true => Ok(()),
                false => data.emit_created(&path, &SYSTEM),
            }
        }

        /// Restores a deleted post, and its thread if it is the first one.
        fn restore(&self, post: &PostId) -> BoardResult<()> {
            let mut data = self.data();
            let entry = found(data.entries.get_mut(post))?;
            let was_deleted = std::mem::replace(&mut entry.deleted, false);
            let (path, is_first) = (entry.path(), entry.is_first());
            let is_public = data.is_public(found(data.entries.get(post))?);
            match (was_deleted && is_public, is_first) {
                (false, _) => Ok(()),
                (true, true) => data.emit(&path.thread_id, &SYSTEM, Event::thread_restored),
                (true, false) => data.emit_post(&path, &SYSTEM, Event::post_restored),
            }
        }

        /// Removes an account. Its content stays without an author.
        fn remove_account(&self, member: &UserId) {
            let mut data = self.data();
            data.accounts.remove(member);
            let is_removed = |author: &mut Author| author.user_id == *member;
            for thread in data.threads.values_mut() {
                thread.author.take_if(is_removed);
            }
            for entry in data.entries.values_mut() {
                entry.post.author.take_if(is_removed);
                entry.post.edited_by.take_if(is_removed);
            }
            for ballot in data.ballots.values_mut() {
                ballot.poll.author.take_if(is_removed);
            }
            for (_, message) in &mut data.messages {
                message.summary.sender.take_if(is_removed);
                message
                    .summary
                    .recipients
                    .retain(|author| author.user_id != *member);
            }
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
            Ok(self
                .0
                .add_forum(&new.title, new.parent_id.as_ref(), readers, writers))
        }

        async fn set_readers(&self, forum: &ForumId, readers: Audience) -> FixtureResult<()> {
            self.section(forum, |section| {
                section.readers = role(readers, Role::Guest)
            });
            Ok(())
        }

        async fn set_moderator(
            &self,
            forum: &ForumId,
            member: &UserId,
            is_moderator: bool,
        ) -> FixtureResult<()> {
            self.section(forum, |section| {
                match is_moderator {
                    true => section.moderators.insert(member.clone()),
                    false => section.moderators.remove(member),
                };
            });
            Ok(())
        }

        async fn set_banned(&self, member: &UserId, banned: bool) -> FixtureResult<()> {
            self.account(member, |account| account.banned = banned);
            Ok(())
        }

        async fn set_offline(&self, offline: bool) -> FixtureResult<()> {
            self.0.data().offline = offline;
            Ok(())
        }

        async fn set_locked(&self, thread: &ThreadId, locked: bool) -> FixtureResult<()> {
            self.thread(thread, |thread| thread.locked = locked);
            Ok(())
        }

        async fn set_pinned(&self, thread: &ThreadId, pinned: bool) -> FixtureResult<()> {
            self.thread(thread, |thread| thread.pinned = pinned);
            Ok(())
        }

        async fn approve(&self, post: &PostId) -> FixtureResult<()> {
            Ok(self.0.approve(post)?)
        }

        async fn restore(&self, post: &PostId) -> FixtureResult<()> {
            Ok(self.0.restore(post)?)
        }

        async fn ignore(&self, member: &UserId, ignored: &UserId) -> FixtureResult<()> {
            self.account(member, |account| {
                account.ignored.insert(ignored.clone());
            });
            Ok(())
        }

        async fn remove_account(&self, member: &UserId) -> FixtureResult<()> {
            self.0.remove_account(member);
            Ok(())
        }

        async fn events(&self) -> FixtureResult<Vec<Event>> {
            Ok(std::mem::take(&mut self.0.data().outbox))
        }
    }

    fn block_on<T>(case: impl Future<Output = T>) -> T {
        tokio::runtime::Runtime::new().unwrap().block_on(case)
    }

    forum_api::conformance::board_tests!(Factory, block_on);
}
