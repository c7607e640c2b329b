//! `board`, `forum`, `thread`, `post`, `setting` and `generate`: commands on the reference board.

use std::collections::BTreeMap;
use std::time::Instant;

use clap::{Args, Subcommand};
use forum_api::audit::AuditEntry;
use forum_api::host::{BoardError, BoardResult, OrInternal};
use forum_api::model::{ContentState, Timestamp};
use forum_api::runtime::{Clock, SystemClock};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use tokio::select;
use tokio::time::sleep;

use super::content::{self, effective_groups};
use super::names::id_and_username;
use crate::audit;
use crate::board::access::groups::Groups;
use crate::board::access::permissions::{AccessLists, TOP_FORUM};
use crate::board::batches::BatchKind;
use crate::board::forums::{self, ForumInsert};
use crate::board::generate::{self, ContentSize};
use crate::board::posts::moderation::{self, PostCount, PostsOfMember, ThreadFlag};
use crate::board::{ReferenceBoard, accounts, demo, settings};
use crate::options::{time, whole};
use crate::output::{self, Column, Limit, Output, Table, counted, reason};
use crate::prompt::Confirm;
use crate::shutdown::StopSignals;

/// The whole board.
#[derive(Debug, Subcommand)]
pub enum BoardCommand {
    /// Take the board offline: the API returns 503 to all callers except administrators
    Offline {
        /// Time at which the board is expected to be online again, for `retry-after` of the responses; the board stays
        /// offline until `board online`
        #[arg(long, value_name = "TIME", value_parser = time)]
        until: Option<Timestamp>,
    },
    /// Bring the board online
    Online,
}

impl BoardCommand {
    pub async fn run(self, board: &ReferenceBoard) -> BoardResult<Output> {
        let (offline, until, action) = match self {
            Self::Offline { until } => (true, until, audit::BOARD_OFFLINE),
            Self::Online => (false, None, audit::BOARD_ONLINE),
        };
        if until.is_some_and(|until| until <= SystemClock.now()) {
            output::warn("the time is in the past: responses have no retry-after");
        }
        let details = until.map(|until| format!("until {until}")).unwrap_or_default();
        let entry = audit::entry(action, "")?.with_details(details);
        let is_changed = board
            .set_audited(entry, move |tx, _| Box::pin(settings::set_offline(tx, offline, until)))
            .await?;
        let (done, unchanged) = if offline {
            (
                "The board is now offline. To undo, run `board online`.",
                "The board is already offline.",
            )
        } else {
            ("The board is now online.", "The board is already online.")
        };
        Output::message_if_changed(is_changed, done.into(), unchanged.into())
    }
}

/// The board's forums.
#[derive(Debug, Subcommand)]
pub enum ForumCommand {
    /// List all forums
    List(Limit),
    /// Add a forum and print its id
    Add(AddForumArgs),
    /// Make a member moderator of a forum, but not of its sub-forums
    #[command(visible_alias = "add-moderator")]
    Moderator {
        /// Forum id
        #[arg(value_parser = id)]
        id: i64,
        /// Username
        name: String,
    },
}

#[derive(Debug, Args)]
pub struct AddForumArgs {
    /// Title of the forum
    title: String,
    /// Id of the parent forum
    #[arg(long, value_name = "ID", value_parser = id)]
    parent: Option<i64>,
    /// Groups that may read, comma-separated: guests, members, newcomers, staff, administrators [default: the parent's;
    /// without a parent: guests]
    #[arg(long, value_name = "g,…")]
    read: Option<String>,
    /// Groups that may start threads [default: the parent's; without a parent: members]
    #[arg(long, value_name = "g,…")]
    start: Option<String>,
    /// Groups that may reply [default: the parent's; without a parent: members]
    #[arg(long, value_name = "g,…")]
    reply: Option<String>,
}

impl ForumCommand {
    pub async fn run(self, board: &ReferenceBoard) -> BoardResult<Output> {
        match self {
            Self::List(limit) => content::list_forums(board, limit).await,
            Self::Add(args) => args.add(board).await,
            Self::Moderator { id, name } => {
                let (_, name) = id_and_username(board, name).await?;
                let done = format!("Made {name:?} a moderator of forum {id}.");
                let unchanged = format!("{name:?} is already a moderator of forum {id}.");
                let entry = audit::entry(audit::FORUM_MODERATOR_ADDED, id)?
                    .with_details(format_args!("member {name}"));
                let is_changed = board
                    .set_audited(entry, move |tx, _| {
                        Box::pin(async move {
                            let member = accounts::find_id(tx, &name).await?;
                            forums::add_moderator(tx, id, member).await
                        })
                    })
                    .await?;
                Output::message_if_changed(is_changed, done, unchanged)
            }
        }
    }
}

impl AddForumArgs {
    async fn add(self, board: &ReferenceBoard) -> BoardResult<Output> {
        let groups =
            |names: Option<String>| names.map(|names| Groups::parse_non_empty(&names)).transpose();
        let forum = ForumInsert {
            title: self.title.trim().to_owned(),
            description: String::new(),
            parent: self.parent,
            lists: AccessLists {
                read: groups(self.read)?,
                start: groups(self.start)?,
                reply: groups(self.reply)?,
            },
        };
        let entry = audit::entry(audit::FORUM_ADDED, &forum.title)?.with_details(details(&forum));
        let title = forum.title.clone();
        let id = board.write_audited(entry, move |tx, _| Box::pin(forums::add(tx, forum))).await?;
        let text = format_args!("Added forum {title:?} with the id {id}.");
        Output::new(text, json!({ "forumId": id.to_string() }))
    }
}

/// Formats the values of a new forum for the audit log.
fn details(forum: &ForumInsert) -> String {
    let title = &forum.title;
    let lists = &forum.lists;
    let parent = forum.parent.map_or("none".into(), |parent| parent.to_string());
    let groups = |list: Option<Groups>, default| {
        let list = list.map(|groups| groups.to_string());
        effective_groups(list, forum.parent.is_some(), default)
    };
    format!(
        "title {title:?}; parent {parent}; read {}; start {}; reply {}",
        groups(lists.read, TOP_FORUM.read),
        groups(lists.start, TOP_FORUM.start),
        groups(lists.reply, TOP_FORUM.reply),
    )
}

/// The board's threads.
#[derive(Debug, Subcommand)]
pub enum ThreadCommand {
    /// List the threads of all forums, or of one, the newest first
    List {
        /// Only the threads of this forum
        #[arg(long, value_name = "ID", value_parser = id)]
        forum: Option<i64>,
        #[command(flatten)]
        limit: Limit,
    },
    /// Lock a thread: only moderators can reply, edit and delete in it
    Lock(ThreadId),
    /// Unlock a thread
    Unlock(ThreadId),
    /// Pin a thread: the API marks it as pinned
    Pin(ThreadId),
    /// Unpin a thread
    Unpin(ThreadId),
}

#[derive(Debug, Args)]
pub struct ThreadId {
    /// Thread id
    #[arg(value_parser = id)]
    id: i64,
}

#[derive(Debug, Args)]
pub struct PostId {
    /// Post id; the id of a first post approves the whole thread
    #[arg(value_parser = id)]
    id: i64,
}

fn id(text: &str) -> Result<i64, &'static str> {
    text.parse().map_err(|_| "expected a whole number")
}

impl ThreadCommand {
    pub async fn run(self, board: &ReferenceBoard) -> BoardResult<Output> {
        use audit::{THREAD_LOCKED, THREAD_PINNED, THREAD_UNLOCKED, THREAD_UNPINNED};
        let (id, flag, on, action) = match self {
            Self::List { forum, limit } => {
                return content::list_threads(board, forum, limit).await;
            }
            Self::Lock(ThreadId { id }) => (id, ThreadFlag::Locked, true, THREAD_LOCKED),
            Self::Unlock(ThreadId { id }) => (id, ThreadFlag::Locked, false, THREAD_UNLOCKED),
            Self::Pin(ThreadId { id }) => (id, ThreadFlag::Pinned, true, THREAD_PINNED),
            Self::Unpin(ThreadId { id }) => (id, ThreadFlag::Pinned, false, THREAD_UNPINNED),
        };
        let (done, unchanged) = match (flag, on) {
            (ThreadFlag::Locked, true) => {
                (format!("Locked thread {id}."), format!("Thread {id} is already locked."))
            }
            (ThreadFlag::Locked, false) => {
                (format!("Unlocked thread {id}."), format!("Thread {id} is not locked."))
            }
            (ThreadFlag::Pinned, true) => {
                (format!("Pinned thread {id}."), format!("Thread {id} is already pinned."))
            }
            (ThreadFlag::Pinned, false) => {
                (format!("Unpinned thread {id}."), format!("Thread {id} is not pinned."))
            }
        };
        let entry = audit::entry(action, id)?;
        let is_changed = board
            .set_audited(entry, move |tx, events| {
                Box::pin(moderation::set_flag(tx, events, id, flag, on))
            })
            .await?;
        Output::message_if_changed(is_changed, done, unchanged)
    }
}

fn parse_hidden_state(text: &str) -> Result<ContentState, &'static str> {
    match text {
        "awaiting_approval" => Ok(ContentState::AwaitingApproval),
        "deleted" => Ok(ContentState::Deleted),
        _ => Err("expected awaiting_approval or deleted"),
    }
}

/// The board's posts. The first post of a thread represents the thread.
#[derive(Debug, Subcommand)]
pub enum PostCommand {
    /// List the posts in a state, the newest first
    List {
        #[command(flatten)]
        limit: Limit,
        /// State of the posts: awaiting_approval or deleted
        #[arg(long, value_name = "STATE", value_parser = parse_hidden_state)]
        state: ContentState,
    },
    /// Approve a post
    Approve(PostId),
    /// Restore a deleted post, or what was deleted of a member since a time
    Restore(RestoreArgs),
    /// Delete a post, or all posts of a member, as a moderator does; `post restore` restores them
    Delete(DeleteArgs),
}

#[derive(Debug, Args)]
pub struct DeleteArgs {
    /// Post id; the id of a first post deletes the whole thread
    #[arg(value_parser = id, required_unless_present = "by", conflicts_with_all = ["by", "since"])]
    id: Option<i64>,
    /// Delete all posts of this member, and the threads that the member started
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// Only posts since this time, for example 2026-01-31T18:00:00Z or 2026-01-31
    #[arg(long, value_name = "TIME", requires = "by", value_parser = time)]
    since: Option<Timestamp>,
    #[command(flatten)]
    confirm: Confirm,
}

impl DeleteArgs {
    async fn delete(self, board: &ReferenceBoard) -> BoardResult<Output> {
        if let Some(name) = self.by {
            let (member, name) = id_and_username(board, name).await?;
            let count = count_posts(board, member, self.since).await?;
            let described = describe_count(count);
            self.confirm.ask(&format!("This deletes the posts of {name:?}: {described}."))?;
            let deletion = PostDeletion { member, name: &name, since: self.since };
            let deleted = deletion.run(board, Stops::AtSignals).await;
            let done = format!("Deleted {} by {name:?}.", counted(deleted.count, "post", "posts"));
            return deleted.output(&done, "To undo", Vec::new());
        }
        let post = self.id.unwrap_or_default();
        let entry = audit::entry(audit::POST_DELETED, post)?;
        let is_changed = board
            .set_audited(entry, move |tx, events| Box::pin(moderation::delete(tx, events, post)))
            .await?;
        let done = format!("Deleted post {post}. To undo, run `post restore {post}`.");
        let unchanged = format!("Post {post} is already deleted.");
        Output::message_if_changed(is_changed, done, unchanged)
    }
}

#[derive(Debug, Args)]
pub struct RestoreArgs {
    /// Post id; the id of a first post restores the whole thread
    #[arg(value_parser = id, required_unless_present = "by", conflicts_with_all = ["by", "since"])]
    id: Option<i64>,
    /// Restore the posts of this member, and the threads that the member started
    #[arg(long, value_name = "NAME", requires = "since")]
    by: Option<String>,
    /// Only posts that were deleted at this time or later, for example 2026-01-31T18:00:00Z or 2026-01-31
    #[arg(long, value_name = "TIME", requires = "by", value_parser = time)]
    since: Option<Timestamp>,
}

impl RestoreArgs {
    async fn restore(self, board: &ReferenceBoard) -> BoardResult<Output> {
        if let (Some(name), Some(since)) = (self.by, self.since) {
            let (member, name) = id_and_username(board, name).await?;
            let entry = audit::entry(audit::POST_RESTORED, "")?
                .with_details(format_args!("by {name}; since {since}"));
            let list = PostsOfMember::to_restore(member, since);
            let mut count = 0;
            let begins = format!("by {name};");
            let restoration = async {
                change_posts(board, list, entry, BEGINNING, Stops::AtSignals, &mut count).await?;
                board
                    .write(move |tx, _| Box::pin(moderation::end_deletions(tx, begins, since)))
                    .await
            };
            let restored = restoration.await;
            let done = format!("Restored {} by {name:?}.", counted(count, "post", "posts"));
            restored.map_err(|error| unfinished(&error, &done))?;
            return Output::change(done, json!({ "posts": count }));
        }
        let post = self.id.unwrap_or_default();
        let entry = audit::entry(audit::POST_RESTORED, post)?;
        board
            .write_audited(entry, move |tx, events| Box::pin(moderation::restore(tx, events, post)))
            .await?;
        Output::message(format_args!("Restored post {post}."))
    }
}

/// The earliest time: the beginning of a deletion without `--since`, and the lower bound of the time of a restoration.
const BEGINNING: Timestamp = Timestamp::from_millis(i64::MIN);

/// Counts the posts that [`PostDeletion`] deletes.
pub async fn count_posts(
    board: &ReferenceBoard,
    member: i64,
    since: Option<Timestamp>,
) -> BoardResult<PostCount> {
    let since = since.unwrap_or(BEGINNING);
    board.read(move |connection| Box::pin(moderation::count_posts(connection, member, since))).await
}

/// Formats the number of posts that are deleted, for example `12 posts, with 1 thread and its replies`.
pub fn describe_count(PostCount { posts, threads }: PostCount) -> String {
    let posts = counted(posts as u64, "post", "posts");
    match threads {
        0 => posts,
        1 => format!("{posts}, with 1 thread and its replies"),
        _ => format!("{posts}, with {threads} threads and their replies"),
    }
}

/// Returns the command that restores what was deleted of a member since a time.
pub fn restore_command(name: &str, since: Timestamp) -> String {
    format!("post restore --by {name} --since {since}")
}

/// Returns the error of a change that has not ended, with what was `done` until then.
fn unfinished(error: &BoardError, done: &str) -> BoardError {
    let reason = reason(error);
    BoardError::conflict(format!("{reason}. {done} Run the command again for the rest."))
}

/// A soft deletion of the posts of a member. Its entry in the audit log is marked as unfinished until all posts are deleted,
/// so that the undo of the next run with the same options includes what this run deletes.
#[derive(Debug)]
pub struct PostDeletion<'a> {
    pub member: i64,
    pub name: &'a str,
    /// The earliest time of creation.
    pub since: Option<Timestamp>,
}

/// Result of a [`PostDeletion`].
#[derive(Debug, Default)]
pub struct DeletedPosts {
    /// Number of posts that this run has deleted.
    pub count: u64,
    /// The command that restores the posts; `None` if none were deleted.
    undo: Option<String>,
    /// Whether an earlier run was unfinished.
    is_continued: bool,
    pub failure: Option<BoardError>,
}

impl PostDeletion<'_> {
    pub async fn run(&self, board: &ReferenceBoard, stops: Stops) -> DeletedPosts {
        let mut deleted = DeletedPosts::default();
        deleted.failure = self.continue_to_end(board, stops, &mut deleted).await.err();
        deleted
    }

    async fn continue_to_end(
        &self,
        board: &ReferenceBoard,
        stops: Stops,
        deleted: &mut DeletedPosts,
    ) -> BoardResult<()> {
        let Self { member, name, since } = *self;
        let only = since.map(|since| format!("; since {since}")).unwrap_or_default();
        let details = format!("by {name}{only}{}", moderation::UNFINISHED);
        let same = details.clone();
        let earlier = board
            .read(move |connection| Box::pin(moderation::unfinished_since(connection, same)))
            .await?;
        deleted.is_continued = earlier.is_some();
        let mut entry = audit::entry(audit::POST_DELETED, "")?.with_details(&details);
        let began_at = earlier.unwrap_or(entry.occurred_at);
        entry.occurred_at = entry.occurred_at.max(began_at);
        let list = PostsOfMember::to_delete(member, since.unwrap_or(BEGINNING));
        let ended = change_posts(board, list, entry, began_at, stops, &mut deleted.count).await;
        if deleted.is_continued || deleted.count > 0 {
            deleted.undo = Some(restore_command(name, began_at));
        }
        ended?;
        board.write(move |tx, _| Box::pin(moderation::end_deletions(tx, details, BEGINNING))).await
    }
}

impl DeletedPosts {
    /// Returns the output of a command. `done` is a sentence about what it did, and `undo` contains the commands that undo
    /// its other changes.
    ///
    /// # Errors
    /// If the deletion has failed.
    pub fn output(self, done: &str, to_undo: &str, mut undo: Vec<String>) -> BoardResult<Output> {
        undo.extend(self.undo);
        let mut text = done.to_owned();
        if !undo.is_empty() {
            text += &format!(" {to_undo}, run `{}`.", undo.join("` and `"));
        }
        if self.is_continued {
            text += " This also restores what earlier, unfinished runs deleted.";
        }
        match self.failure {
            Some(failure) => Err(unfinished(&failure, &text)),
            None => Output::change(text, json!({ "posts": self.count, "undo": undo })),
        }
    }
}

/// Whether a change ends after the current transaction when the process gets a signal to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stops {
    AtSignals,
    /// A signal ends the process.
    Never,
}

/// Deletes or restores posts in several transactions. After each transaction, waits as long as it took, so that other
/// commands run meanwhile. Recounts the authors of changed threads, because a profile reads all threads that wait for a
/// recount. Adds the number of posts to `count`, also before an error. The time of the change is at least `not_before`:
/// the undo of a deletion restores what was deleted since the beginning of the deletion.
async fn change_posts(
    board: &ReferenceBoard,
    mut rest: PostsOfMember,
    entry: AuditEntry,
    not_before: Timestamp,
    stops: Stops,
    count: &mut u64,
) -> BoardResult<()> {
    let mut signals = match stops {
        Stops::AtSignals => Some(StopSignals::listen().or_internal()?),
        Stops::Never => None,
    };
    loop {
        let began = Instant::now();
        let (changed, next) = board
            .write_counted(
                entry.clone(),
                |(count, _)| *count,
                move |tx, events| {
                    events.now = events.now.max(not_before);
                    Box::pin(rest.change_batch(tx, events))
                },
            )
            .await?;
        *count += changed;
        // A transaction changes at most as many threads as posts. The server recounts further authors of long threads.
        for _ in 0..changed {
            match board.run_batch(BatchKind::Recount).await {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    let reason = reason(&error);
                    output::warn(&format!(
                        "the server counts the posts of members later: {reason}"
                    ));
                    break;
                }
            }
        }
        match next {
            Some(next) => rest = next,
            None => return Ok(()),
        }
        let pause = sleep(began.elapsed());
        match &mut signals {
            None => pause.await,
            Some(signals) => select! {
                () = pause => {}
                signal = signals.next() => {
                    return Err(BoardError::conflict(format!("stopped by {signal}")));
                }
            },
        }
    }
}

impl PostCommand {
    pub async fn run(self, board: &ReferenceBoard) -> BoardResult<Output> {
        match self {
            Self::List { state, limit } => content::list_posts(board, state, limit).await,
            Self::Approve(PostId { id }) => {
                let entry = audit::entry(audit::POST_APPROVED, id)?;
                board
                    .write_audited(entry, move |tx, events| {
                        Box::pin(moderation::approve(tx, events, id))
                    })
                    .await?;
                Output::message(format_args!("Approved post {id}."))
            }
            Self::Restore(args) => args.restore(board).await,
            Self::Delete(args) => args.delete(board).await,
        }
    }
}

/// The board's settings.
#[derive(Debug, Args)]
#[command(
    subcommand_negates_reqs = true,
    override_usage = "forum-server setting [OPTIONS] [set] <KEY> <VALUE>\n       forum-server setting [OPTIONS] get <KEY>\n       forum-server setting [OPTIONS] list"
)]
pub struct SettingCommand {
    #[command(subcommand)]
    action: Option<SettingAction>,
    /// Key of the setting
    #[arg(required = true)]
    key: Option<String>,
    /// New value
    #[arg(required = true, allow_hyphen_values = true)]
    value: Option<String>,
}

#[derive(Debug, Subcommand)]
enum SettingAction {
    /// List all settings with their values
    List(Limit),
    /// Show the value of a setting
    Get {
        /// Key of the setting
        key: String,
    },
    /// Change a setting; `set` can be omitted
    Set {
        /// Key of the setting
        key: String,
        /// New value
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
}

impl SettingCommand {
    pub async fn run(self, board: &ReferenceBoard) -> BoardResult<Output> {
        if let Some(SettingAction::Set { key, value }) = self.action {
            return set(board, key, value).await;
        }
        if let (Some(key), Some(value)) = (self.key, self.value) {
            return set(board, key, value).await;
        }
        let mut values =
            board.read_snapshot(|connection| Box::pin(settings::all(connection))).await?;
        if let Some(SettingAction::Get { key }) = self.action {
            let (setting, value) = values
                .into_iter()
                .find(|(known, _)| known.key == key)
                .ok_or_else(|| unknown_setting(&key))?;
            return Output::new(setting.text(value), json!({ key: setting.json(value) }));
        }
        if let Some(SettingAction::List(limit)) = self.action {
            values.truncate(limit.max());
        }
        const COLUMNS: &[Column] =
            &[Column::new("KEY"), Column::new("VALUE").long(), Column::new("MEANING").long()];
        let mut table = Table::new(COLUMNS);
        for (setting, value) in &values {
            table.row([setting.key.into(), setting.text(*value), setting.description.into()]);
        }
        let object: BTreeMap<&str, Value> =
            values.into_iter().map(|(setting, value)| (setting.key, setting.json(value))).collect();
        Output::new(table, object)
    }
}

fn unknown_setting(key: &str) -> BoardError {
    let keys = settings::keys();
    BoardError::not_found(format!("unknown setting {key:?}; expected one of {keys}"))
}

async fn set(board: &ReferenceBoard, key: String, value: String) -> BoardResult<Output> {
    let setting = settings::find(&key).ok_or_else(|| unknown_setting(&key))?;
    let done = format!("Set {key} to {value}.");
    let unchanged = format!("{key} is already {value}.");
    let entry =
        audit::entry(audit::SETTING_CHANGED, &key)?.with_details(format_args!("value {value}"));
    let is_changed = board
        .set_audited(entry, move |tx, _| {
            Box::pin(async move {
                setting.set(tx, &value).await?.ok_or_else(|| {
                    BoardError::validation("value", format!("{key} must be {}", setting.rule()))
                })
            })
        })
        .await?;
    Output::message_if_changed(is_changed, done, unchanged)
}

/// Generates content: half of the threads are in General, and half of the replies in one of its threads.
#[derive(Debug, Args)]
pub struct GenerateCommand {
    /// Number of members
    #[arg(long, value_name = "N", default_value = "100", value_parser = whole::<1, 1_000_000_000, u64>)]
    members: u64,
    /// Number of threads [default: a tenth of the posts]
    #[arg(long, value_name = "N", value_parser = whole::<1, 1_000_000_000, u64>)]
    threads: Option<u64>,
    /// Number of posts, including first posts
    #[arg(long, value_name = "N", default_value = "1000", value_parser = whole::<1, 1_000_000_000, u64>)]
    posts: u64,
    /// Random seed; the same seed generates the same content
    #[arg(long, default_value = "1", value_parser = seed)]
    seed: u64,
    #[command(flatten)]
    confirm: Confirm,
}

fn seed(text: &str) -> Result<u64, &'static str> {
    text.parse().map_err(|_| "expected a whole number from 0 to 18446744073709551615")
}

impl GenerateCommand {
    pub async fn run(self, board: &ReferenceBoard) -> BoardResult<Output> {
        let is_fresh = board.read(|connection| Box::pin(demo::is_fresh(connection))).await?;
        if !is_fresh {
            let what = "This adds content to a board that is not a new demo board. Generated content cannot be removed.";
            self.confirm.ask(what)?;
        }
        let amount = ContentSize {
            members: self.members,
            threads: self.threads.unwrap_or_else(|| (self.posts / 10).max(1)),
            posts: self.posts,
        };
        let ContentSize { members, threads, posts } = amount;
        let style = ProgressStyle::with_template("{bar:40} {human_pos} of {human_len}, {eta} left")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::new(amount.total()).with_style(style);
        let details = format!("members {members}; threads {threads}; posts {posts}");
        let entry = audit::entry(audit::CONTENT_GENERATED, "")?.with_details(details);
        generate::run(board, amount, self.seed, entry, |made| bar.set_position(made)).await?;
        bar.finish_and_clear();
        Output::message(format_args!(
            "Generated content: members {members}, threads {threads}, posts {posts}."
        ))
    }
}
