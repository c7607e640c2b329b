//! Command `member`.

use clap::{Args, Subcommand};
use forum_api::host::{BoardError, BoardResult};
use serde_json::json;

use crate::audit;
use crate::board::access::groups::Groups;
use crate::board::accounts::passwords;
use crate::board::listings::{self, MemberListing};
use crate::board::{ReferenceBoard, accounts, locks};
use crate::output::{ListItem, Output};
use crate::prompt;

/// The board's members.
#[derive(Debug, Subcommand)]
pub enum MemberCommand {
    /// List all members
    List,
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
    Ban(Name),
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
            Self::List => return list(board).await,
            Self::Add { name, groups } => return add(board, name, groups).await,
            Self::Password {
                name,
                password_stdin,
            } => {
                let password = new_password(&name, password_stdin).await?;
                let hash = passwords::hash_new(password).await?;
                (name, Change::PasswordHash(hash))
            }
            Self::Ban(Name { name }) => (name, Change::Banned(true)),
            Self::Unban(Name { name }) => (name, Change::Banned(false)),
            Self::Groups { name, groups } => (name, Change::Groups(Groups::named(&groups)?)),
        };
        change(board, name, new).await
    }
}

/// Reads the new password. At the terminal, asks for it twice.
async fn new_password(name: &str, from_stdin: bool) -> BoardResult<String> {
    let prompt = format!("New password of {name}");
    let password = prompt::password(&prompt, from_stdin).await?;
    passwords::check_length(&password)?;
    if !from_stdin && prompt::password("Repeat the password", false).await? != password {
        let reason = "the passwords differ; nothing was changed";
        return Err(BoardError::validation("password", reason));
    }
    Ok(password)
}

async fn list(board: &ReferenceBoard) -> BoardResult<Output> {
    let members = board
        .read(|connection| Box::pin(async move { Ok(listings::members(connection).await?) }))
        .await?;
    Output::list(members)
}

impl ListItem<7> for MemberListing {
    const HEADINGS: [&'static str; 7] = [
        "ID",
        "NAME",
        "GROUPS",
        "STATE",
        "JOINED",
        "LAST SEEN",
        "POSTS",
    ];

    fn cells(&self) -> [String; 7] {
        let seen = self.last_seen_at.map(|time| time.to_string());
        let state = if self.banned { "banned" } else { "active" };
        [
            self.user_id.to_string(),
            self.username.clone(),
            self.groups.join(","),
            state.into(),
            self.joined_at.to_string(),
            seen.unwrap_or_else(|| "never".into()),
            self.post_count.to_string(),
        ]
    }
}

async fn add(board: &ReferenceBoard, name: String, groups: String) -> BoardResult<Output> {
    let groups = Groups::named(&groups)?;
    let entry =
        audit::entry(audit::MEMBER_ADDED, &name)?.with_details(format_args!("groups {groups}"));
    let id = board
        .write_audited(entry, move |tx, events| {
            Box::pin(async move { accounts::add(tx, &name, groups, events.now).await })
        })
        .await?;
    Output::new(id, json!({ "userId": id.to_string() }))
}

async fn change(board: &ReferenceBoard, name: String, new: Change) -> BoardResult<Output> {
    let (action, details, done, unchanged) = match &new {
        Change::PasswordHash(_) => (
            audit::MEMBER_PASSWORD_CHANGED,
            String::new(),
            format!("Set the password of {name:?}."),
            String::new(),
        ),
        Change::Banned(true) => (
            audit::MEMBER_BANNED,
            String::new(),
            format!("Banned {name:?}. To undo, run `member unban {name}`."),
            format!("{name:?} is already banned."),
        ),
        Change::Banned(false) => (
            audit::MEMBER_UNBANNED,
            String::new(),
            format!("Unbanned {name:?}."),
            format!("{name:?} is not banned."),
        ),
        Change::Groups(groups) => (
            audit::MEMBER_GROUPS_CHANGED,
            format!("groups {groups}"),
            format!("Set the groups of {name:?} to {groups}."),
            format!("The groups of {name:?} are already {groups}."),
        ),
    };
    let entry = audit::entry(action, &name)?.with_details(details);
    let is_changed = board
        .set_audited(entry, move |tx, _| {
            Box::pin(async move {
                let member = accounts::named(tx, &name).await?;
                locks::member_and_administrators(tx, member).await?;
                let administrators = accounts::administrators(tx).await?;
                let changed = match new {
                    Change::PasswordHash(hash) => {
                        accounts::set_password(tx, member, &hash).await?;
                        true
                    }
                    Change::Banned(banned) => accounts::set_banned(tx, member, banned).await?,
                    Change::Groups(groups) => accounts::set_groups(tx, member, groups).await?,
                };
                if administrators > 0 && accounts::administrators(tx).await? == 0 {
                    let reason = format!(
                        "{name:?} is the last administrator who can sign in; make another member administrator and set their password first"
                    );
                    return Err(BoardError::conflict(reason));
                }
                Ok(changed)
            })
        })
        .await?;
    Output::message_if_changed(is_changed, done, unchanged)
}
