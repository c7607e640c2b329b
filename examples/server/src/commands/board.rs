//! `board`, `forum`, `thread`, `post`, `setting` and `generate`: commands on the reference board.

use std::collections::BTreeMap;

use clap::{Args, Subcommand, value_parser};
use forum_api::host::{BoardError, BoardResult};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use crate::board::forums::{self, ForumInsert};
use crate::board::generate::{self, Amount};
use crate::board::groups::Groups;
use crate::board::moderation::{self, Mark};
use crate::board::permissions::Lists;
use crate::board::{Board, accounts, demo, settings};
use crate::output::Output;
use crate::prompt::Confirm;

/// The whole board.
#[derive(Debug, Subcommand)]
pub enum BoardCommand {
    /// Let nobody but administrators see it
    Offline,
    /// Let everybody see it again
    Online,
}

impl BoardCommand {
    pub async fn run(self, board: &Board) -> BoardResult<Output> {
        let offline = matches!(self, Self::Offline);
        let set = board.write(move |tx, _| {
            Box::pin(async move { Ok(settings::set_offline(tx, offline).await?) })
        });
        set.await?;
        Output::done()
    }
}

/// The board's forums.
#[derive(Debug, Subcommand)]
pub enum ForumCommand {
    /// Add a forum, and print its id
    Add(AddForumArgs),
    /// Name a member as a moderator of a forum
    Moderator {
        /// The forum's id
        id: i64,
        /// The member's name
        name: String,
    },
}

#[derive(Debug, Args)]
pub struct AddForumArgs {
    /// The forum's title
    title: String,
    /// The id of the forum above
    #[arg(long, value_name = "ID")]
    parent: Option<i64>,
    /// Who may read it; as the forum above when left out, like the other two
    #[arg(long, value_name = "g,…")]
    read: Option<String>,
    /// Who may start threads
    #[arg(long, value_name = "g,…")]
    start: Option<String>,
    /// Who may reply
    #[arg(long, value_name = "g,…")]
    reply: Option<String>,
}

impl ForumCommand {
    pub async fn run(self, board: &Board) -> BoardResult<Output> {
        match self {
            Self::Add(args) => args.add(board).await,
            Self::Moderator { id, name } => {
                let set = board.write(move |tx, _| {
                    Box::pin(async move {
                        let member = accounts::named(tx, &name).await?;
                        forums::name_moderator(tx, id, member).await
                    })
                });
                set.await?;
                Output::done()
            }
        }
    }
}

impl AddForumArgs {
    async fn add(self, board: &Board) -> BoardResult<Output> {
        let groups = |names: Option<String>| names.map(|names| Groups::named(&names)).transpose();
        let forum = ForumInsert {
            title: self.title,
            description: String::new(),
            parent: self.parent,
            lists: Lists {
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
    /// Let nobody but moderators post in a thread, or change its posts
    Lock(Id),
    /// Let everybody post in a thread again
    Unlock(Id),
    /// Lift a thread to the top of the board's own pages
    Pin(Id),
    /// Let a thread go its way again
    Unpin(Id),
}

#[derive(Debug, Args)]
pub struct Id {
    /// The id of the thread or post
    id: i64,
}

impl ThreadCommand {
    pub async fn run(self, board: &Board) -> BoardResult<Output> {
        let (thread, mark, on) = match self {
            Self::Lock(Id { id }) => (id, Mark::Locked, true),
            Self::Unlock(Id { id }) => (id, Mark::Locked, false),
            Self::Pin(Id { id }) => (id, Mark::Pinned, true),
            Self::Unpin(Id { id }) => (id, Mark::Pinned, false),
        };
        let set = board.write(move |tx, _| Box::pin(moderation::mark(tx, thread, mark, on)));
        set.await?;
        Output::done()
    }
}

/// The board's posts; a thread's first post stands for the thread.
#[derive(Debug, Subcommand)]
pub enum PostCommand {
    /// Let everybody see a post that awaits approval
    Approve(Id),
    /// Bring a deleted post back
    Restore(Id),
}

impl PostCommand {
    pub async fn run(self, board: &Board) -> BoardResult<Output> {
        let change = board.write(move |tx, events| {
            Box::pin(async move {
                match self {
                    Self::Approve(Id { id }) => moderation::approve(tx, events, id).await,
                    Self::Restore(Id { id }) => moderation::restore(tx, events, id).await,
                }
            })
        });
        change.await?;
        Output::done()
    }
}

/// The board's settings.
#[derive(Debug, Args)]
#[command(subcommand_negates_reqs = true)]
pub struct SettingCommand {
    #[command(subcommand)]
    list: Option<SettingList>,
    /// The setting's name
    #[arg(required = true)]
    key: Option<String>,
    /// Its new value
    #[arg(required = true, allow_hyphen_values = true)]
    value: Option<String>,
}

#[derive(Debug, Subcommand)]
enum SettingList {
    /// List all settings with their values
    List,
}

impl SettingCommand {
    pub async fn run(self, board: &Board) -> BoardResult<Output> {
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

async fn set(board: &Board, key: String, value: String) -> BoardResult<Output> {
    let setting = settings::named(&key)
        .ok_or_else(|| BoardError::NotFound(format!("there is no setting {key:?}")))?;
    let set = board.write(move |tx, _| {
        Box::pin(async move {
            let set = setting.set(tx, &value).await?;
            set.ok_or_else(|| BoardError::invalid("value", format!("{key} is {}", setting.rule())))
        })
    });
    set.await?;
    Output::done()
}

/// Bulk content: half of the threads in General, and half of the replies in one of them.
#[derive(Debug, Args)]
pub struct GenerateCommand {
    /// How many members
    #[arg(long, value_name = "N", default_value = "100", value_parser = value_parser!(u64).range(1..=MAX))]
    members: u64,
    /// How many threads [default: a tenth of the posts]
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..=MAX))]
    threads: Option<u64>,
    /// How many posts, the first ones of the threads among them
    #[arg(long, value_name = "N", default_value = "1000", value_parser = value_parser!(u64).range(1..=MAX))]
    posts: u64,
    /// The same number makes the same content
    #[arg(long, default_value = "1")]
    seed: u64,
    #[command(flatten)]
    confirm: Confirm,
}

const MAX: u64 = 1_000_000_000;

impl GenerateCommand {
    pub async fn run(self, board: &Board) -> BoardResult<Output> {
        let fresh = board.read(|connection| Box::pin(demo::is_fresh(connection)));
        if !fresh.await? {
            let what =
                "This board holds more than the demo content. Generated content cannot be removed.";
            self.confirm.ask(what)?;
        }
        let amount = Amount {
            members: self.members,
            threads: self.threads.unwrap_or_else(|| (self.posts / 10).max(1)),
            posts: self.posts,
        };
        let style =
            ProgressStyle::with_template("{bar:40} {human_pos} of {human_len}, {eta} to go")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::new(amount.total()).with_style(style);
        generate::run(board, amount, self.seed, |made| bar.set_position(made)).await?;
        bar.finish_and_clear();
        Output::done()
    }
}
