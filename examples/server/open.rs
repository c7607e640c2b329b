//! Opens what `--database` and `--redis` name.

use std::sync::Arc;

use deadpool_postgres::Pool;
use forum_api::Language;
use forum_api::clock::SystemClock;
use forum_api::host::{Refusal, Result};
use forum_api::store::memory::MemoryBudgets;
use forum_api::store::redis::{self, RedisBudgets};
use forum_api::store::{Budgets, postgres, sqlite};

use crate::board::db::Database;
use crate::board::{Board, look};

/// How many connections to Postgres a process has at most.
const CONNECTIONS: usize = 16;

/// Where a board is, or is to be. No message about it shows the URL, which may hold a password.
#[derive(Debug)]
pub enum Place {
    /// In SQLite.
    Sqlite(sqlite::Location),
    /// In Postgres.
    Postgres(Pool),
}

/// The database of a board that was served before. One that holds none is left as it is.
pub async fn existing(url: &str) -> Result<(Database, Board)> {
    let place = Place::named(url, false)?;
    if place.holds_board().await? == Some(false) {
        let reason = "the database holds no board: serve it first";
        return Err(Refusal::NotFound(reason.into()));
    }
    let (database, board) = place.open(Language::English).await?;
    board.migrate().await?;
    Ok((database, board))
}

impl Place {
    /// What this URL names. To `create` it if it is not there goes for files.
    pub fn named(url: &str, create: bool) -> Result<Self> {
        let sqlite = |location| Ok(Self::Sqlite(location));
        match url.split_once(':') {
            Some(("sqlite", ":memory:")) => sqlite(sqlite::Location::Memory),
            Some(("sqlite", path)) if !path.is_empty() => sqlite(sqlite::Location::File {
                path: path.into(),
                create,
            }),
            Some(("postgres" | "postgresql", _)) => {
                Ok(Self::Postgres(postgres::connect(url, CONNECTIONS)?))
            }
            _ => Err(Refusal::invalid(
                "database",
                "the database is none that this server can use: \
                 expected sqlite:PATH, sqlite::memory: or postgres://…",
            )),
        }
    }

    /// Whether there is a board; `None` where there is no file yet, or none that could be asked. Nothing is changed by
    /// asking.
    pub async fn holds_board(&self) -> Result<Option<bool>> {
        match self {
            Self::Sqlite(sqlite::Location::Memory) => Ok(Some(false)),
            Self::Sqlite(sqlite::Location::File { path, .. }) => Ok(look::holds_board(path).ok()),
            Self::Postgres(pool) => {
                let board = board(pool.clone(), Language::English);
                board.is_there().await.map(Some)
            }
        }
    }

    /// The database, made if it may be, and what is to be a board in it.
    pub async fn open(self, language: Language) -> Result<(Database, Board)> {
        let database = match self {
            Self::Sqlite(location) => Database::from(sqlite::Database::open(&location)?),
            Self::Postgres(pool) => {
                postgres::migrate(&pool).await?;
                Database::from(pool)
            }
        };
        Ok((database.clone(), board(database, language)))
    }
}

fn board(database: impl Into<Database>, language: Language) -> Board {
    Board::new(database, Arc::new(SystemClock), language)
}

/// Budgets in this Redis, or else in memory.
pub async fn budgets(redis: Option<&str>) -> Result<Arc<dyn Budgets>> {
    Ok(match redis {
        Some(url) => Arc::new(RedisBudgets::connect(url, redis::Settings::default()).await?),
        None => Arc::new(MemoryBudgets::default()),
    })
}
