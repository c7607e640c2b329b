//! Command `member`.

use std::collections::HashSet;

use clap::{Args, Subcommand};
use forum_api::audit::AuditEntry;
use forum_api::host::{BoardError, BoardResult};
use serde_json::{Map, Value, json};

use super::board::{PostDeletion, Stops, count_posts, describe_count};
use super::names::id_and_username;
use crate::audit;
use crate::board::access::groups::{Group, Groups};
use crate::board::accounts::passwords;
use crate::board::carried_changes::WITH_POSTS;
use crate::board::listings::{self, MemberListing};
use crate::board::{ReferenceBoard, accounts, locks};
use crate::output::{Column, Limit, ListItem, Output, counted, reason, time};
use crate::prompt::{self, Confirm};

/// The board's members.
#[derive(Debug, Subcommand)]
pub enum MemberCommand {
    /// List all members, the newest first
    List(Limit),
    /// Add a member and print the id
    Add {
        /// Username
        name: String,
        /// Comma-separated groups: guests, members, newcomers (their posts await approval), staff, administrators; name
        /// each group, because administrators and staff are not automatically members
        #[arg(long, value_name = "g,…")]
        groups: String,
    },
    /// Set a member's password
    #[command(visible_alias = "set-password")]
    Password {
        /// Username
        name: String,
        /// Read the password from the first line of standard input [default: ask at the terminal]
        #[arg(long)]
        password_stdin: bool,
    },
    /// Ban a member; their tokens and webhooks stop working
    Ban {
        #[command(flatten)]
        member: Name,
        /// Also delete all posts of the member, and the threads that the member started; asks for confirmation
        #[arg(long)]
        delete_posts: bool,
        #[command(flatten)]
        confirm: Confirm,
    },
    /// Remove the accounts of persons with their personal data, which cannot be undone
    Erase {
        /// Usernames
        #[arg(value_name = "NAME", required = true)]
        names: Vec<String>,
        /// Also remove all posts of the members, and the threads that they started with the replies of others
        #[arg(long)]
        posts: bool,
        #[command(flatten)]
        confirm: Confirm,
    },
    /// Lift a ban; the member's tokens work again
    Unban(Name),
    /// Set a member's groups
    #[command(visible_alias = "set-groups")]
    Groups {
        /// Username
        name: String,
        /// Comma-separated groups that replace the current ones: guests, members, newcomers (their posts await
        /// approval), staff, administrators; name each group, because administrators and staff are not automatically
        /// members
        #[arg(value_name = "g,…")]
        groups: String,
    },
}

#[derive(Debug, Args)]
pub struct Name {
    /// Username
    name: String,
}

#[derive(Clone)]
enum Change {
    PasswordHash(String),
    Banned(bool),
    Groups(Groups),
}

impl MemberCommand {
    pub async fn run(self, board: &ReferenceBoard) -> BoardResult<Output> {
        let (name, new) = match self {
            Self::List(limit) => return list(board, limit).await,
            Self::Add { name, groups } => return add(board, name, groups).await,
            Self::Password { name, password_stdin } => {
                let password = new_password(&name, password_stdin).await?;
                let hash = passwords::hash_new(password).await?;
                (name, Change::PasswordHash(hash))
            }
            Self::Ban { member: Name { name }, delete_posts: false, .. } => {
                (name, Change::Banned(true))
            }
            Self::Ban { member, confirm, .. } => {
                return ban_with_posts(board, member.name, confirm).await;
            }
            Self::Erase { names, posts, confirm } => {
                return erase(board, names, posts, confirm).await;
            }
            Self::Unban(Name { name }) => (name, Change::Banned(false)),
            Self::Groups { name, groups } => {
                (name, Change::Groups(Groups::parse_non_empty(&groups)?))
            }
        };
        Output::message(change(board, name, new).await?)
    }
}

/// Reads the new password. At the terminal, asks for it twice.
async fn new_password(name: &str, from_stdin: bool) -> BoardResult<String> {
    let prompt = format!("New password of {name}");
    let password = prompt::password(&prompt, from_stdin).await?;
    passwords::check_length(&password)?;
    if !from_stdin && prompt::password("Repeat the password", false).await? != password {
        return Err(BoardError::validation(
            "password",
            "the passwords differ; nothing was changed",
        ));
    }
    Ok(password)
}

async fn list(board: &ReferenceBoard, limit: Limit) -> BoardResult<Output> {
    let members = board.read(|connection| Box::pin(listings::members(connection))).await?;
    Output::list(members, limit)
}

impl ListItem for MemberListing {
    const COLUMNS: &'static [Column] = &[
        Column::new("ID"),
        Column::new("NAME").long(),
        Column::new("GROUPS").long(),
        Column::new("STATE"),
        Column::new("JOINED"),
        Column::new("LAST SEEN"),
        Column::new("POSTS"),
    ];

    fn cells(&self) -> Vec<String> {
        let state = if self.banned { "banned" } else { "active" };
        vec![
            self.user_id.to_string(),
            self.username.clone(),
            self.groups.join(","),
            state.into(),
            time(self.joined_at),
            self.last_seen_at.map_or("never".into(), time),
            self.post_count.to_string(),
        ]
    }
}

async fn add(board: &ReferenceBoard, name: String, groups: String) -> BoardResult<Output> {
    let groups = Groups::parse_non_empty(&groups)?;
    let entry =
        audit::entry(audit::MEMBER_ADDED, &name)?.with_details(format_args!("groups {groups}"));
    let added = name.clone();
    let id = board
        .write_audited(entry, move |tx, events| {
            Box::pin(async move { accounts::add(tx, &name, groups, events.now).await })
        })
        .await?;
    let text = format_args!("Added member {added:?} with the id {id}.");
    Output::new(text, json!({ "userId": id.to_string() }))
}

/// Bans a member and soft-deletes their posts.
async fn ban_with_posts(
    board: &ReferenceBoard,
    name: String,
    confirm: Confirm,
) -> BoardResult<Output> {
    let (member, name) = id_and_username(board, name).await?;
    let checked = name.clone();
    board
        .read(move |connection| {
            Box::pin(async move {
                accounts::check_not_last_administrator(connection, member, &checked).await
            })
        })
        .await?;
    let count = describe_count(count_posts(board, member, None).await?);
    confirm.ask(&format!("This bans {name:?} and deletes {count}."))?;
    let is_changed = apply(board, name.clone(), Change::Banned(true)).await?;
    let deletion = PostDeletion { member, name: &name, since: None };
    let deleted = deletion.run(board, Stops::AtSignals).await;
    let posts = counted(deleted.count, "post", "posts");
    if is_changed {
        let done = format!("Banned {name:?}. Deleted {posts}.");
        return deleted.output(&done, "To undo", vec![format!("member unban {name}")]);
    }
    let done = match (deleted.count, &deleted.failure) {
        (0, None) => format!("{name:?} is already banned, and has no posts to delete."),
        _ => format!("{name:?} is already banned. Deleted {posts}."),
    };
    deleted.output(&done, "To undo the deletion", Vec::new())
}

/// Text about the data of an erased member that the database does not contain.
const ELSEWHERE: &str = "Backups, dumps, logs and receivers of webhooks still hold what they received before: see the section \
                         Personal data of docs/operating.md.";

/// A member who is erased.
#[derive(Debug)]
struct ErasedAccount {
    member: i64,
    name: String,
}

/// Removes members with their personal data. A SQLite database is rewritten once for all of them.
async fn erase(
    board: &ReferenceBoard,
    names: Vec<String>,
    with_posts: bool,
    confirm: Confirm,
) -> BoardResult<Output> {
    let mut accounts: Vec<ErasedAccount> = Vec::new();
    let mut named = HashSet::new();
    for name in names {
        let (member, name) = id_and_username(board, name).await?;
        if named.insert(member) {
            accounts.push(ErasedAccount { member, name });
        }
    }
    let members: Vec<_> = accounts.iter().map(|account| account.member).collect();
    board
        .read(move |connection| {
            Box::pin(
                async move { accounts::check_not_last_administrators(connection, &members).await },
            )
        })
        .await?;
    let posts_of = if with_posts {
        "Their posts, and the threads that they started with the replies of others, are removed."
    } else {
        "Their posts stay without author."
    };
    let names: Vec<_> = accounts
        .iter()
        .map(|ErasedAccount { member, name }| format!("{name:?} (member {member})"))
        .collect();
    let described = names.join(", ");
    confirm.ask(&match accounts.len() {
        1 => format!(
            "This removes the account {described} with its tokens, endpoints and inbox. {posts_of}"
        ),
        _ => format!(
            "This removes the accounts {described} with their tokens, endpoints and inboxes. {posts_of}"
        ),
    })?;
    let mut erased: Vec<String> = Vec::new();
    let mut failure = None;
    for (place, account) in accounts.iter().enumerate() {
        let Err(error) = account.erase(board, with_posts).await else {
            erased.push(account.member.to_string());
            continue;
        };
        let left: Vec<_> = accounts.iter().skip(place).map(|account| &*account.name).collect();
        let command = erase_command(&left, with_posts);
        let reason = reason(&error);
        let error = BoardError::conflict(format!(
            "{reason}. Run `forum-server {command}` to remove the rest"
        ));
        if erased.is_empty() {
            return Err(error);
        }
        failure = Some(error);
        break;
    }
    let done = match &erased[..] {
        [member] => format!("Erased the member {member}."),
        members => format!("Erased the members {}.", members.join(", ")),
    };
    let cleared = board.clear_free_space(&done).await;
    let Some(failure) = failure else {
        let remark = cleared?;
        let mut fields = Map::new();
        fields.insert("erased".into(), json!(erased));
        if !remark.is_empty() {
            fields.insert("warning".into(), remark.trim_start().into());
        }
        let text = format!("{done} {posts_of}{remark} {ELSEWHERE}");
        return Output::change(text, Value::Object(fields));
    };
    let cleared = cleared.map_or_else(|error| reason(&error), |remark| format!("{done}{remark}"));
    Err(BoardError::conflict(format!("{}. {cleared}", reason(&failure))))
}

/// Returns the arguments of the program that erase these members.
pub fn erase_command(names: &[&str], with_posts: bool) -> String {
    let posts = if with_posts { " --posts" } else { "" };
    format!("member erase {}{posts}", names.join(" "))
}

impl ErasedAccount {
    async fn erase(&self, board: &ReferenceBoard, with_posts: bool) -> BoardResult<()> {
        // The member writes nothing more. The last step of the erasure replaces the name in the audit log.
        apply(board, self.name.clone(), Change::Banned(true)).await?;
        self.remove(board, with_posts).await.map_err(|error| {
            let reason = reason(&error);
            let name = &self.name;
            BoardError::conflict(format!(
                "{reason}. {name:?} is banned, and a part of the data may have been removed"
            ))
        })
    }

    /// Removes the account of a banned member.
    async fn remove(&self, board: &ReferenceBoard, with_posts: bool) -> BoardResult<()> {
        let Self { member, name } = self;
        let mut entry = audit::entry(audit::MEMBER_ERASED, member)?;
        if with_posts {
            // The deletion updates the counters and writes the events.
            let deletion = PostDeletion { member: *member, name, since: None };
            let deleted = deletion.run(board, Stops::Never).await;
            if let Some(failure) = deleted.failure {
                return Err(failure);
            }
            entry = entry.with_details(WITH_POSTS);
        }
        board.erase(*member, with_posts, entry).await
    }
}

/// The texts about the result of a change of a member.
struct ChangeTexts {
    done: String,
    /// The text if the member is in this state already.
    unchanged: String,
}

impl Change {
    /// Returns the entry of the audit log about the change of a member.
    fn entry(&self, name: &str) -> BoardResult<AuditEntry> {
        match self {
            Self::PasswordHash(_) => audit::entry(audit::MEMBER_PASSWORD_CHANGED, name),
            Self::Banned(true) => audit::entry(audit::MEMBER_BANNED, name),
            Self::Banned(false) => audit::entry(audit::MEMBER_UNBANNED, name),
            Self::Groups(groups) => Ok(audit::entry(audit::MEMBER_GROUPS_CHANGED, name)?
                .with_details(format_args!("groups {groups}"))),
        }
    }

    fn texts(&self, name: &str) -> ChangeTexts {
        match self {
            Self::PasswordHash(_) => ChangeTexts {
                done: format!("Set the password of {name:?}."),
                unchanged: String::new(),
            },
            Self::Banned(true) => ChangeTexts {
                done: format!("Banned {name:?}. To undo, run `member unban {name}`."),
                unchanged: format!("{name:?} is already banned."),
            },
            Self::Banned(false) => ChangeTexts {
                done: format!("Unbanned {name:?}."),
                unchanged: format!("{name:?} is not banned."),
            },
            Self::Groups(groups) => ChangeTexts {
                done: format!("Set the groups of {name:?} to {groups}."),
                unchanged: format!("The groups of {name:?} are already {groups}."),
            },
        }
    }
}

/// Changes a member. Returns a text about the change.
async fn change(board: &ReferenceBoard, name: String, new: Change) -> BoardResult<String> {
    let (_, name) = id_and_username(board, name).await?;
    let ChangeTexts { done, unchanged } = new.texts(&name);
    Ok(if apply(board, name, new).await? { done } else { unchanged })
}

/// Changes the member with this name. Returns `false` if the member is in this state already.
async fn apply(board: &ReferenceBoard, name: String, new: Change) -> BoardResult<bool> {
    let entry = new.entry(&name)?;
    board
        .set_audited(entry, move |tx, _| {
            Box::pin(async move {
                let member = accounts::find_id(tx, &name).await?;
                locks::member_and_administrators(tx, member).await?;
                let leaves_administrators = match &new {
                    Change::PasswordHash(_) => false,
                    Change::Banned(banned) => *banned,
                    Change::Groups(groups) => !groups.contains(Group::Administrators),
                };
                if leaves_administrators {
                    accounts::check_not_last_administrator(tx, member, &name).await?;
                }
                Ok(match new {
                    Change::PasswordHash(hash) => {
                        accounts::set_password(tx, member, &hash).await?;
                        true
                    }
                    Change::Banned(banned) => accounts::set_banned(tx, member, banned).await?,
                    Change::Groups(groups) => accounts::set_groups(tx, member, groups).await?,
                })
            })
        })
        .await
}
