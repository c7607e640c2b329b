//! `board`, `forum`, `thread`, `post`, `setting` and `generate`: commands on the reference board.

use std::collections::BTreeMap;

use clap::{Args, Subcommand, value_parser};
use forum_api::host::{BoardError, BoardResult};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use crate::board::forums::{self, ForumInsert};
use crate::board::generate::{self, ContentSize};
use crate::board::groups::Groups;
use crate::board::moderation::{self, ThreadFlag};
use crate::board::permissions::AccessLists;
use crate::board::{ReferenceBoard, accounts, demo, settings};
use crate::output::Output;
use crate::prompt::Confirm;

/// The whole board.
#[derive(Debug, Subcommand)]
pub enum BoardCommand {
    /// Take the board offline
    Offline,
    /// Bring the board online
    Online,
}

impl BoardCommand {
    pub async fn run(self, board: &ReferenceBoard) -> BoardResult<Output> {
        let offline = matches!(self, Self::Offline);
        let set = board.write(move |tx, _| {
            Box::pin(async move { Ok(settings::set_offline(tx, offline).await?) })
        });
        set.await?;
        Output::done_with(if offline {
            "The board is offline."
        } else {
            "The board is online."
        })
    }
}

/// The board's forums.
#[derive(Debug, Subcommand)]
pub enum ForumCommand {
    /// Add a forum and print its id
    Add(AddForumArgs),
    /// Make a member moderator of a forum
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
    /// Groups that may read [default: the parent's]
    #[arg(long, value_name = "g,…")]
    read: Option<String>,
    /// Groups that may start threads [default: the parent's]
    #[arg(long, value_name = "g,…")]
    start: Option<String>,
    /// Groups that may reply [default: the parent's]
    #[arg(long, value_name = "g,…")]
    reply: Option<String>,
}

impl ForumCommand {
    pub async fn run(self, board: &ReferenceBoard) -> BoardResult<Output> {
        match self {
            Self::Add(args) => args.add(board).await,
            Self::Moderator { id, name } => {
                let text = format!("Made {name:?} a moderator of forum {id}.");
                let set = board.write(move |tx, _| {
                    Box::pin(async move {
                        let member = accounts::named(tx, &name).await?;
                        forums::add_moderator(tx, id, member).await
                    })
                });
                set.await?;
                Output::done_with(text)
            }
        }
    }
}

impl AddForumArgs {
    async fn add(self, board: &ReferenceBoard) -> BoardResult<Output> {
        let groups = |names: Option<String>| names.map(|names| Groups::named(&names)).transpose();
        let forum = ForumInsert {
            title: self.title,
            description: String::new(),
            parent: self.parent,
            lists: AccessLists {
                read: groups(self.read)?,
                start: groups(self.start)?,
                reply: groups(self.reply)?,
            },
        };
        let add = board.write(move |tx, _| Box::pin(async move { forums::add(tx, &forum).await }));
        let id = add.await?;
        Output::new(id, json!({ "forumId": id.to_string() }))
    }
}

/// The board's threads.
#[derive(Debug, Subcommand)]
pub enum ThreadCommand {
    /// Lock a thread
    Lock(ThreadId),
    /// Unlock a thread
    Unlock(ThreadId),
    /// Pin a thread
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

#[derive(Clone, Debug, Args)]
pub struct PostId {
    /// Post id; the first post of a thread represents the thread
    #[arg(value_parser = id)]
    id: i64,
}

fn id(text: &str) -> Result<i64, &'static str> {
    text.parse().map_err(|_| "expected a whole number")
}

impl ThreadCommand {
    pub async fn run(self, board: &ReferenceBoard) -> BoardResult<Output> {
        let (thread, flag, on, done) = match self {
            Self::Lock(ThreadId { id }) => (id, ThreadFlag::Locked, true, "Locked"),
            Self::Unlock(ThreadId { id }) => (id, ThreadFlag::Locked, false, "Unlocked"),
            Self::Pin(ThreadId { id }) => (id, ThreadFlag::Pinned, true, "Pinned"),
            Self::Unpin(ThreadId { id }) => (id, ThreadFlag::Pinned, false, "Unpinned"),
        };
        let set = board.write(move |tx, _| Box::pin(moderation::set_flag(tx, thread, flag, on)));
        set.await?;
        Output::done_with(format_args!("{done} thread {thread}."))
    }
}

/// The board's posts. The first post of a thread represents the thread.
#[derive(Clone, Debug, Subcommand)]
pub enum PostCommand {
    /// Approve a post
    Approve(PostId),
    /// Restore a deleted post
    Restore(PostId),
}

impl PostCommand {
    pub async fn run(self, board: &ReferenceBoard) -> BoardResult<Output> {
        let text = match &self {
            Self::Approve(PostId { id }) => format!("Approved post {id}."),
            Self::Restore(PostId { id }) => format!("Restored post {id}."),
        };
        let change = board.write(move |tx, events| {
            Box::pin(async move {
                match self {
                    Self::Approve(PostId { id }) => moderation::approve(tx, events, id).await,
                    Self::Restore(PostId { id }) => moderation::restore(tx, events, id).await,
                }
            })
        });
        change.await?;
        Output::done_with(text)
    }
}

/// The board's settings.
#[derive(Debug, Args)]
#[command(
    subcommand_negates_reqs = true,
    override_usage = "forum-server setting [OPTIONS] <KEY> <VALUE>\n       forum-server setting [OPTIONS] list"
)]
pub struct SettingCommand {
    #[command(subcommand)]
    list: Option<SettingList>,
    /// Key of the setting
    #[arg(required = true)]
    key: Option<String>,
    /// New value
    #[arg(required = true, allow_hyphen_values = true)]
    value: Option<String>,
}

#[derive(Debug, Subcommand)]
enum SettingList {
    /// List all settings with their values
    List,
}

impl SettingCommand {
    pub async fn run(self, board: &ReferenceBoard) -> BoardResult<Output> {
        if let (Some(key), Some(value)) = (self.key, self.value) {
            return set(board, key, value).await;
        }
        let values =
            board.read(|connection| Box::pin(async move { Ok(settings::all(connection).await?) }));
        let values = values.await?;
        let line = |(key, value): &(&str, Value)| match value {
            Value::String(word) => format!("{key} {word}"),
            value => format!("{key} {value}"),
        };
        let lines: Vec<String> = values.iter().map(line).collect();
        let object: BTreeMap<&str, Value> = values.into_iter().collect();
        Output::new(lines.join("\n"), object)
    }
}

async fn set(board: &ReferenceBoard, key: String, value: String) -> BoardResult<Output> {
    let setting = settings::named(&key).ok_or_else(|| {
        BoardError::not_found(format!(
            "unknown setting {key:?}; expected one of {}",
            settings::keys()
        ))
    })?;
    let text = format!("Set {key} to {value}.");
    let set = board.write(move |tx, _| {
        Box::pin(async move {
            let set = setting.set(tx, &value).await?;
            set.ok_or_else(|| {
                BoardError::validation("value", format!("{key} must be {}", setting.rule()))
            })
        })
    });
    set.await?;
    Output::done_with(text)
}

/// Generates content: half of the threads are in General, and half of the replies in one of its threads.
#[derive(Debug, Args)]
pub struct GenerateCommand {
    /// Number of members
    #[arg(long, value_name = "N", default_value = "100", value_parser = value_parser!(u64).range(1..=MAX))]
    members: u64,
    /// Number of threads [default: a tenth of the posts]
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..=MAX))]
    threads: Option<u64>,
    /// Number of posts, including first posts
    #[arg(long, value_name = "N", default_value = "1000", value_parser = value_parser!(u64).range(1..=MAX))]
    posts: u64,
    /// Random seed
    #[arg(long, default_value = "1")]
    seed: u64,
    #[command(flatten)]
    confirm: Confirm,
}

const MAX: u64 = 1_000_000_000;

impl GenerateCommand {
    pub async fn run(self, board: &ReferenceBoard) -> BoardResult<Output> {
        let fresh = board.read(|connection| Box::pin(demo::is_fresh(connection)));
        if !fresh.await? {
            let what = "The board contains more than the demo content. Generated content cannot be removed.";
            self.confirm.ask(what)?;
        }
        let amount = ContentSize {
            members: self.members,
            threads: self.threads.unwrap_or_else(|| (self.posts / 10).max(1)),
            posts: self.posts,
        };
        let style = ProgressStyle::with_template("{bar:40} {human_pos} of {human_len}, {eta} left")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::new(amount.total()).with_style(style);
        generate::run(board, amount, self.seed, |made| bar.set_position(made)).await?;
        bar.finish_and_clear();
        let ContentSize {
            members,
            threads,
            posts,
        } = amount;
        Output::done_with(format_args!(
            "Generated content: members {members}, threads {threads}, posts {posts}."
        ))
    }
}
