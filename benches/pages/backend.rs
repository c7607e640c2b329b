//! Database of the board.

use std::any::Any;
use std::env;

use tempfile::TempDir;

use crate::measurements::Goal;
use crate::paths::Kind;
use forum_test_support::postgres::Database;

/// A server that the API is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Baseline {
    /// The handwritten server without tokens.
    WithoutToken,
    /// The handwritten server with one joined query for token and owner, in the same visit to the database as the data.
    WithTokenLookup,
    /// The server on sqlx with one query each for token, owner and data.
    Sqlx,
}

impl Baseline {
    pub const ALL: [Self; 3] = [Self::WithoutToken, Self::WithTokenLookup, Self::Sqlx];

    /// Name as printed in the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::WithoutToken => "handwritten handler without token and rate limit",
            Self::WithTokenLookup => "handwritten handler that also looks up token and owner",
            Self::Sqlx => "axum and sqlx with one query each for token, owner and data",
        }
    }
}

/// A database for the board, deleted on drop unless `BOARD` names it.
pub struct Backend {
    url: String,
    _guard: Box<dyn Any>,
}

impl Backend {
    /// Uses the database that the environment names.
    pub fn from_environment() -> Self {
        let (url, guard): (_, Box<dyn Any>) =
            match (env::var("BOARD"), env::var("FORUM_API_BACKEND")) {
                (Ok(url), _) => (url, Box::new(())),
                (_, Ok(_)) => {
                    let database = Database::new();
                    (database.url(), Box::new(database))
                }
                _ => {
                    let directory = TempDir::new().unwrap();
                    let file = directory.path().join("forum.db");
                    (format!("sqlite:{}", file.display()), Box::new(directory))
                }
            };
        Self { url, _guard: guard }
    }

    /// The URL for the server's option `--database`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The kind of database as printed in the table.
    pub fn name(&self) -> &str {
        if self.is_postgres() {
            "Postgres"
        } else {
            "SQLite"
        }
    }

    pub fn is_postgres(&self) -> bool {
        self.url.starts_with("postgres")
    }

    /// Goal: the API's rate as a ratio of the baseline's.
    pub fn goal(&self, baseline: Baseline, kind: Kind) -> f64 {
        match (baseline, self.is_postgres(), kind) {
            (Baseline::WithoutToken, false, _) => 0.8,
            (Baseline::WithoutToken, true, _) => 0.7,
            (Baseline::WithTokenLookup, false, Kind::Posts | Kind::Threads) => 0.9,
            (Baseline::WithTokenLookup, false, Kind::Forums | Kind::Thread) => 0.8,
            (Baseline::WithTokenLookup, true, Kind::Posts) => 1.0,
            (Baseline::WithTokenLookup, true, Kind::Threads) => 1.1,
            (Baseline::WithTokenLookup, true, Kind::Forums | Kind::Thread) => 0.9,
            (Baseline::Sqlx, ..) => 1.0,
        }
    }

    /// Goal: requests per second.
    pub fn goal_rate(&self, kind: Kind) -> Option<Goal> {
        let promised = kind == Kind::Posts && !self.is_postgres();
        promised.then_some(Goal::AtLeast(20_000.0))
    }
}
