//! Command `member`.

use clap::{Args, Subcommand};
use forum_api::audit::AuditAction;
use forum_api::host::{BoardError, BoardResult};
use serde_json::json;

use super::board::delete_posts;
use super::names::{id_and_username, member_id};
use crate::audit;
use crate::board::access::groups::{Group, Groups};
use crate::board::accounts::passwords;
use crate::board::listings::{self, MemberListing};
use crate::board::{ReferenceBoard, accounts, locks};
use crate::output::{Column, Limit, ListItem, Output, counted, time};
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
        /// Also delete all posts of the member, and the threads that the member started
        #[arg(long)]
        delete_posts: bool,
    },
    /// Remove the account of a person with their personal data, which cannot be undone
    Erase {
        #[command(flatten)]
        member: Name,
        /// Also remove all posts of the member, and the threads that the member started with the replies of others
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
            Self::Ban { member: Name { name }, delete_posts: false } => {
                (name, Change::Banned(true))
            }
            Self::Ban { member, .. } => return ban_with_posts(board, member.name).await,
            Self::Erase { member, posts, confirm } => {
                return erase(board, member.name, posts, confirm).await;
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
async fn ban_with_posts(board: &ReferenceBoard, name: String) -> BoardResult<Output> {
    let (member, name) = id_and_username(board, name).await?;
    let banned = change(board, name.clone(), Change::Banned(true)).await?;
    let entry = audit::entry(audit::POST_DELETED, "")?.with_details(format_args!("by {name}"));
    let deleted = delete_posts(board, member, None, entry).await?;
    let posts = counted(deleted, "post", "posts");
    Output::message(format_args!("{banned} Deleted {posts}."))
}

/// Text about the data of an erased member that the database does not contain.
const ELSEWHERE: &str = "Backups, dumps, logs and receivers of webhooks still hold what they received before: see the section \
                         Personal data of docs/operating.md.";

/// Removes a member with their personal data.
async fn erase(
    board: &ReferenceBoard,
    name: String,
    with_posts: bool,
    confirm: Confirm,
) -> BoardResult<Output> {
    let member = member_id(board, name.clone()).await?;
    let posts_of = if with_posts {
        "Their posts, and the threads that they started with the replies of others, are removed."
    } else {
        "Their posts stay without author."
    };
    let checked = name.clone();
    board
        .read(move |connection| {
            Box::pin(async move {
                accounts::check_not_last_administrator(connection, member, &checked).await
            })
        })
        .await?;
    confirm.ask(&format!(
        "This removes the account {name:?} (member {member}) with its tokens, endpoints and inbox. {posts_of}"
    ))?;
    if with_posts {
        // The member writes no further posts. The deletion updates the counters and writes the events.
        let ban = audit::entry(audit::MEMBER_BANNED, member)?;
        board
            .set_audited(ban, move |tx, _| Box::pin(accounts::set_banned(tx, member, true)))
            .await?;
        let entry =
            audit::entry(audit::POST_DELETED, "")?.with_details(format_args!("by {member}"));
        delete_posts(board, member, None, entry).await?;
    }
    let entry = audit::entry(audit::MEMBER_ERASED, member)?;
    board.erase(member, with_posts, entry).await?;
    let remark = board.clear_free_space(member).await?;
    Output::message(format_args!("Erased the member {member}. {posts_of}{remark} {ELSEWHERE}"))
}

/// The entry of the audit log about a change of a member, and the texts about its result.
struct ChangeTexts {
    action: AuditAction,
    details: String,
    done: String,
    /// The text if the member is in this state already.
    unchanged: String,
}

/// Changes a member. Returns a text about the change.
async fn change(board: &ReferenceBoard, name: String, new: Change) -> BoardResult<String> {
    let (_, name) = id_and_username(board, name).await?;
    let ChangeTexts { action, details, done, unchanged } = match &new {
        Change::PasswordHash(_) => ChangeTexts {
            action: audit::MEMBER_PASSWORD_CHANGED,
            details: String::new(),
            done: format!("Set the password of {name:?}."),
            unchanged: String::new(),
        },
        Change::Banned(true) => ChangeTexts {
            action: audit::MEMBER_BANNED,
            details: String::new(),
            done: format!("Banned {name:?}. To undo, run `member unban {name}`."),
            unchanged: format!("{name:?} is already banned."),
        },
        Change::Banned(false) => ChangeTexts {
            action: audit::MEMBER_UNBANNED,
            details: String::new(),
            done: format!("Unbanned {name:?}."),
            unchanged: format!("{name:?} is not banned."),
        },
        Change::Groups(groups) => ChangeTexts {
            action: audit::MEMBER_GROUPS_CHANGED,
            details: format!("groups {groups}"),
            done: format!("Set the groups of {name:?} to {groups}."),
            unchanged: format!("The groups of {name:?} are already {groups}."),
        },
    };
    let entry = audit::entry(action, &name)?.with_details(details);
    let is_changed = board
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
        .await?;
    Ok(if is_changed { done } else { unchanged })
}
