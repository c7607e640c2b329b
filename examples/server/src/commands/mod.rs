//! Commands other than `serve`.

use std::path::Path;

use forum_api::host::{BoardError, BoardResult};

use crate::own_files::find_log;

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
mod names;
pub mod restore;
pub mod status;
mod token;
mod webhook;
pub mod worker;

/// Checks that no log of another database is beside the path of a new one: SQLite would apply the log to it.
fn check_no_log(path: &Path) -> BoardResult<()> {
    if let Some(log) = find_log(path) {
        let log = log.display();
        return Err(refused(&format!(
            "the log \"{log}\" of another database exists; move it to another path"
        )));
    }
    Ok(())
}

fn refused(reason: &str) -> BoardError {
    BoardError::conflict(reason)
}
