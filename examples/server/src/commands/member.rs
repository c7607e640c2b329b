//! `member add`, `member password`, `member ban`, `member unban`, `member groups`.

use clap::Subcommand;
use forum_api::host::{Refusal, Result};
use serde_json::json;

use crate::board::groups::Groups;
use crate::board::{Board, accounts, passwords};
use crate::output::Output;
use crate::password;

/// The board's members.
#[derive(Debug, Subcommand)]
pub enum Member {
    /// Add a member, and print the id
    Add {
        /// The member's name
        name: String,
        /// The groups, with commas between them
        #[arg(long, value_name = "g,…")]
        groups: String,
    },
    /// Give a member a password
    Password {
        /// The member's name
        name: String,
        /// Read the password from the first line of standard input [default: ask at the terminal]
        #[arg(long)]
        password_stdin: bool,
    },
    /// Ban a member, whose tokens open nothing from then on
    Ban {
        /// The member's name
        name: String,
    },
    /// Take a ban back
    Unban {
        /// The member's name
        name: String,
    },
    /// Put a member into these groups and no others
    Groups {
        /// The member's name
        name: String,
        /// The groups, with commas between them
        #[arg(value_name = "g,…")]
        groups: String,
    },
}

/// What is new about a member.
enum Change {
    /// The hash of a password.
    Password(String),
    Banned(bool),
    Groups(Groups),
}

impl Member {
    /// Carries it out.
    pub async fn run(self, board: &Board) -> Result<Output> {
        let (name, new) = match self {
            Self::Add { name, groups } => return add(board, name, groups).await,
            Self::Password {
                name,
                password_stdin,
            } => {
                let prompt = format!("New password of {name}");
                let hash = passwords::hash_new(password::read(&prompt, password_stdin)?).await?;
                (name, Change::Password(hash))
            }
            Self::Ban { name } => (name, Change::Banned(true)),
            Self::Unban { name } => (name, Change::Banned(false)),
            Self::Groups { name, groups } => (name, Change::Groups(Groups::named(&groups)?)),
        };
        change(board, name, new).await
    }
}

async fn add(board: &Board, name: String, groups: String) -> Result<Output> {
    let groups = Groups::named(&groups)?;
    let add = board.write(move |tx, events| {
        Box::pin(async move { accounts::add(tx, &name, groups, events.now).await })
    });
    let id = add.await?;
    Output::new(id, json!({ "userId": id.to_string() }))
}

async fn change(board: &Board, name: String, new: Change) -> Result<Output> {
    let set = board.write(move |tx, _| {
        Box::pin(async move {
            let member = accounts::named(tx, &name).await?;
            let administrators = accounts::administrators(tx).await?;
            match new {
                Change::Password(hash) => accounts::set_password(tx, member, &hash).await?,
                Change::Banned(banned) => accounts::set_banned(tx, member, banned).await?,
                Change::Groups(groups) => accounts::set_groups(tx, member, groups).await?,
            }
            if administrators > 0 && accounts::administrators(tx).await? == 0 {
                let reason = format!("{name:?} is the last administrator who can sign in");
                return Err(Refusal::Conflict(reason));
            }
            Ok(())
        })
    });
    set.await?;
    Output::done()
}
