//! A database for a board, deleted on drop.

use std::any::Any;
use std::env;
use std::path::PathBuf;

use deadpool_postgres::Pool;
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
    /// URL of a Postgres database.
    url: Option<String>,
    _kept: Box<dyn Any + Send + Sync>,
}

impl Place {
    /// Creates a database with the library's tables on the backend of the environment.
    pub async fn new() -> Self {
        if is_postgres() {
            Self::postgres().await
        } else {
            Self::sqlite()
        }
    }

    pub fn sqlite() -> Self {
        in_sqlite()
    }

    pub async fn postgres() -> Self {
        in_postgres().await
    }

    /// The same database with connections of its own, for another node on Postgres.
    pub fn another_node(&self) -> BoardDatabase {
        match &self.url {
            Some(url) => connect(url, CONNECTIONS).unwrap().into(),
            None => self.database.clone(),
        }
    }

    /// Connections to a Postgres database.
    pub fn pool(&self) -> Pool {
        match &self.database {
            BoardDatabase::Postgres(database) => database.pool.clone(),
            BoardDatabase::Sqlite(_) => panic!("the database is in SQLite"),
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
        url: None,
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
        url: Some(made.url()),
        _kept: Box::new(made),
    }
}
