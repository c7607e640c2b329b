//! Commands other than `serve`.

use std::path::Path;

use forum_api::host::{BoardError, BoardResult};
use forum_api::model::UserId;

use crate::board::ReferenceBoard;
use crate::new_file::beside;
use crate::sign_in::accounts::names;

mod audit;
pub mod backup;
mod board;
pub mod config;
mod content;
pub mod copy;
pub mod database;
mod delivery;
pub mod health;
mod member;
pub mod restore;
pub mod status;
mod token;
mod webhook;
pub mod worker;

/// Suffixes of the files that can contain changes of a SQLite database.
const LOGS: [&str; 2] = ["-wal", "-journal"];

/// Checks that no log of another database is beside the path of a new one: SQLite would apply the log to it.
fn check_no_log(path: &Path) -> BoardResult<()> {
    let mut logs = LOGS.into_iter().map(|suffix| beside(path, suffix));
    logs.find(|log| log.symlink_metadata().is_ok())
        .map_or(Ok(()), |log| {
            let log = log.display();
            Err(refused(&format!(
                "the log \"{log}\" of another database exists; move it to another path"
            )))
        })
}

fn refused(reason: &str) -> BoardError {
    BoardError::conflict(reason)
}

async fn member_named(board: &ReferenceBoard, name: String) -> BoardResult<UserId> {
    content::member_id(board, name).await.map(UserId::from)
}

/// Returns the username of the member with this name, which can be written in other letters.
async fn stored_name(board: &ReferenceBoard, name: String) -> BoardResult<String> {
    let member = member_named(board, name).await?;
    username(board, &member).await
}

/// Returns the username of a member, or the id if the account was removed.
async fn username(board: &ReferenceBoard, member: &UserId) -> BoardResult<String> {
    let mut names = names(board, vec![member.clone()]).await?;
    Ok(names.remove(member).unwrap_or_else(|| member.to_string()))
}
