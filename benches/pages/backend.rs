//! Where the board is.

use std::any::Any;
use std::env;

use tempfile::TempDir;

use crate::measurements::Goal;
use crate::paths::Kind;
use crate::program::databases::Database;

/// A database with a board, or for one, which goes with this value unless `BOARD` named it.
pub struct Backend {
    url: String,
    _kept: Box<dyn Any>,
}

impl Backend {
    /// The one that the environment chooses.
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

    /// What the program is told.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its kind, as the table has it.
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

    /// How much of the pace by hand there is to be.
    pub fn goal(&self) -> f64 {
        if self.is_postgres() { 0.7 } else { 0.8 }
    }

    /// How many requests a second there are to be.
    pub fn pace(&self, kind: Kind) -> Option<Goal> {
        let promised = kind == Kind::Posts && !self.is_postgres();
        promised.then_some(Goal::AtLeast(20_000.0))
    }
}
