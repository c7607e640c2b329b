//! A database for a board, deleted on drop.

use std::any::Any;
use std::env;
use std::path::PathBuf;

use forum_api::store::postgres::{connect, migrate};
use forum_api::store::sqlite::{self, DatabasePath};

use forum_server::board::db::BoardDatabase;
use forum_test_support::postgres;

/// Number of connections to Postgres.
const CONNECTIONS: usize = 16;

/// A database and its guard.
#[expect(missing_debug_implementations, reason = "a fixture")]
pub struct Place {
    pub database: BoardDatabase,
    /// File of a SQLite database.
    pub file: Option<PathBuf>,
    _kept: Box<dyn Any + Send + Sync>,
}

impl Place {
    /// Creates a database with the library's tables on the backend of the environment.
    pub async fn new() -> Self {
        if is_postgres() {
            in_postgres().await
        } else {
            in_sqlite()
        }
    }
}

/// Name of the backend.
pub fn name() -> &'static str {
    if is_postgres() { "Postgres" } else { "SQLite" }
}

pub fn is_postgres() -> bool {
    env::var_os("FORUM_API_BACKEND").is_some()
}

fn in_sqlite() -> Place {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("forum.db");
    let file = Some(path.clone());
    let database = sqlite::Database::open(&DatabasePath::File { path, create: true }).unwrap();
    Place {
        database: database.into(),
        file,
        _kept: Box::new(directory),
    }
}

async fn in_postgres() -> Place {
    let made = postgres::Database::new();
    let pool = connect(&made.url(), CONNECTIONS).unwrap();
    migrate(&pool).await.unwrap();
    Place {
        database: pool.into(),
        file: None,
        _kept: Box::new(made),
    }
}
