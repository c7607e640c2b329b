//! `forum add`, `forum moderator`.

use clap::{Args, Subcommand};
use forum_api::host::Result;
use serde_json::json;

use crate::board::forums::{self, NewForum};
use crate::board::groups::Groups;
use crate::board::permissions::Lists;
use crate::board::{Board, accounts};
use crate::output::Output;

/// The board's forums.
#[derive(Debug, Subcommand)]
pub enum Forum {
    /// Add a forum, and print its id
    Add(Add),
    /// Name a member as a moderator of a forum
    Moderator {
        /// The forum's id
        id: i64,
        /// The member's name
        name: String,
    },
}

/// A forum to be.
#[derive(Debug, Args)]
pub struct Add {
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

impl Forum {
    /// Carries it out.
    pub async fn run(self, board: &Board) -> Result<Output> {
        match self {
            Self::Add(new) => add(board, new).await,
            Self::Moderator { id, name } => name_moderator(board, id, name).await,
        }
    }
}

async fn add(board: &Board, new: Add) -> Result<Output> {
    let forum = NewForum {
        title: new.title,
        description: String::new(),
        parent: new.parent,
        lists: Lists {
            read: named(new.read)?,
            start: named(new.start)?,
            reply: named(new.reply)?,
        },
    };
    let add = board.write(move |tx, _| Box::pin(async move { forums::add(tx, &forum).await }));
    let id = add.await?;
    Output::new(id, json!({ "forumId": id.to_string() }))
}

async fn name_moderator(board: &Board, forum: i64, name: String) -> Result<Output> {
    let set = board.write(move |tx, _| {
        Box::pin(async move {
            let member = accounts::named(tx, &name).await?;
            forums::name_moderator(tx, forum, member).await
        })
    });
    set.await?;
    Output::done()
}

fn named(groups: Option<String>) -> Result<Option<Groups>> {
    groups.map(|groups| Groups::named(&groups)).transpose()
}
