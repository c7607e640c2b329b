//! Database of the board.

use std::any::Any;
use std::env;

use tempfile::TempDir;

use crate::measurements::Goal;
use crate::paths::Kind;
use forum_test_support::postgres::Database;

/// A database for the board, deleted on drop unless `BOARD` names it.
pub struct Backend {
    url: String,
    _kept: Box<dyn Any>,
}

impl Backend {
    /// Uses the database that the environment names.
    pub fn chosen() -> Self {
        let (url, kept): (_, Box<dyn Any>) =
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
        Self { url, _kept: kept }
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

    fn is_postgres(&self) -> bool {
        self.url.starts_with("postgres")
    }

    /// Goal: the API's rate as a ratio of the handwritten server's.
    pub fn goal(&self) -> f64 {
        if self.is_postgres() { 0.7 } else { 0.8 }
    }

    /// Goal: requests per second.
    pub fn pace(&self, kind: Kind) -> Option<Goal> {
        let promised = kind == Kind::Posts && !self.is_postgres();
        promised.then_some(Goal::AtLeast(20_000.0))
    }
}
