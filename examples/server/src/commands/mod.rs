//! Commands other than `serve`.

use std::path::Path;

use forum_api::host::{BoardError, BoardResult};

use crate::new_file::beside;

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

/// Suffixes of the files that can contain changes of a SQLite database.
const LOGS: [&str; 2] = ["-wal", "-journal"];

/// Checks that no log of another database is beside the path of a new one: SQLite would apply the log to it.
fn check_no_log(path: &Path) -> BoardResult<()> {
    let mut logs = LOGS.into_iter().map(|suffix| beside(path, suffix));
    if let Some(log) = logs.find(|log| log.symlink_metadata().is_ok()) {
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
