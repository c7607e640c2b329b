//! `member add`, `member password`, `member ban`, `member unban`, `member groups`.

use clap::Subcommand;
use forum_api::host::Result;
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
        /// Read the password from the first line of standard input
        #[arg(long, required = true)]
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

impl Member {
    /// Carries it out.
    pub async fn run(self, board: &Board) -> Result<Output> {
        match self {
            Self::Add { name, groups } => add(board, name, groups).await,
            Self::Password { name, .. } => set_password(board, name).await,
            Self::Ban { name } => set_banned(board, name, true).await,
            Self::Unban { name } => set_banned(board, name, false).await,
            Self::Groups { name, groups } => set_groups(board, name, groups).await,
        }
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

async fn set_password(board: &Board, name: String) -> Result<Output> {
    let hash = passwords::hash(password::from_stdin()?).await?;
    let set = board.write(move |tx, _| {
        Box::pin(async move {
            let member = accounts::named(tx, &name).await?;
            Ok(accounts::set_password(tx, member, &hash).await?)
        })
    });
    set.await?;
    Output::done()
}

async fn set_banned(board: &Board, name: String, banned: bool) -> Result<Output> {
    let set = board.write(move |tx, _| {
        Box::pin(async move {
            let member = accounts::named(tx, &name).await?;
            Ok(accounts::set_banned(tx, member, banned).await?)
        })
    });
    set.await?;
    Output::done()
}

async fn set_groups(board: &Board, name: String, groups: String) -> Result<Output> {
    let groups = Groups::named(&groups)?;
    let set = board.write(move |tx, _| {
        Box::pin(async move {
            let member = accounts::named(tx, &name).await?;
            Ok(accounts::set_groups(tx, member, groups).await?)
        })
    });
    set.await?;
    Output::done()
}
