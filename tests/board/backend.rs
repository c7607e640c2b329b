//! Where the boards of these tests are.

use std::any::Any;
use std::env;

use forum_api::store::postgres::{connect, migrate};
use forum_api::store::sqlite::{self, Location};

use crate::board::db::Database;
use crate::databases;

/// A kind of database.
#[derive(Clone, Copy, Debug)]
pub enum Backend {
    /// SQLite, in memory.
    Memory,
    /// SQLite, in a file.
    File,
    /// Postgres.
    Postgres,
}

/// A database, and what it needs while it is used.
pub struct Place {
    /// The database.
    pub database: Database,
    _kept: Box<dyn Any + Send + Sync>,
}

impl Backend {
    /// The one that the environment chooses, or else this.
    pub fn unless_chosen(self) -> Self {
        env::var_os("FORUM_API_BACKEND").map_or(self, |_| Self::Postgres)
    }

    /// A new database without a board.
    pub async fn place(self) -> Place {
        match self {
            Self::Memory => Place::new(in_sqlite(&Location::Memory), ()),
            Self::File => {
                let directory = tempfile::tempdir().unwrap();
                let path = directory.path().join("forum.db");
                let database = in_sqlite(&Location::File { path, create: true });
                Place::new(database, directory)
            }
            Self::Postgres => {
                let kept = databases::Database::new();
                let pool = connect(&kept.url(), 16).unwrap();
                migrate(&pool).await.unwrap();
                Place::new(pool, kept)
            }
        }
    }
}

impl Place {
    fn new(database: impl Into<Database>, kept: impl Any + Send + Sync) -> Self {
        Self {
            database: database.into(),
            _kept: Box::new(kept),
        }
    }
}

fn in_sqlite(location: &Location) -> sqlite::Database {
    sqlite::Database::open(location).unwrap()
}
