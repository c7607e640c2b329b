//! Opens what `--database` and `--redis` name.

use std::sync::Arc;

use forum_api::Language;
use forum_api::clock::SystemClock;
use forum_api::host::{Refusal, Result};
use forum_api::store::Budgets;
use forum_api::store::memory::MemoryBudgets;
use forum_api::store::redis::{self, RedisBudgets};
use forum_api::store::sqlite::{Database, Location};

use crate::board::{Board, look};

/// The database of a board that was served before. One that holds none is left as it is.
pub async fn existing(url: &str) -> Result<(Database, Board)> {
    let location = location(url, false)?;
    if holds_board(&location) == Some(false) {
        let reason = format!("{url} holds no board: serve it first");
        return Err(Refusal::NotFound(reason));
    }
    let (database, board) = open(&location, Language::English)?;
    board.migrate().await?;
    Ok((database, board))
}

/// The database of a board that is to be served, made if it is not there.
pub fn to_serve(url: &str, language: Language) -> Result<(Database, Board)> {
    open(&location(url, true)?, language)
}

/// Whether there is a board to be served.
pub fn is_board(url: &str) -> Result<bool> {
    Ok(holds_board(&location(url, true)?) == Some(true))
}

/// Budgets in this Redis, or else in memory.
pub async fn budgets(redis: Option<&str>) -> Result<Arc<dyn Budgets>> {
    Ok(match redis {
        Some(url) => Arc::new(RedisBudgets::connect(url, redis::Settings::default()).await?),
        None => Arc::new(MemoryBudgets::default()),
    })
}

/// `None` where there is no database that could be asked.
fn holds_board(location: &Location) -> Option<bool> {
    match location {
        Location::File { path, .. } => look::holds_board(path).ok(),
        Location::Memory => Some(false),
    }
}

fn open(location: &Location, language: Language) -> Result<(Database, Board)> {
    let database = Database::open(location)?;
    let board = Board::new(database.clone(), Arc::new(SystemClock), language);
    Ok((database, board))
}

fn location(url: &str, create: bool) -> Result<Location> {
    match url.strip_prefix("sqlite:") {
        Some(":memory:") => Ok(Location::Memory),
        Some(path) if !path.is_empty() => Ok(Location::File {
            path: path.into(),
            create,
        }),
        _ => Err(Refusal::Invalid(format!(
            "{url} is not a database that this server can use: expected sqlite:PATH or sqlite::memory:"
        ))),
    }
}
