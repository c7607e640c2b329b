//! A temporary database for a board.

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

/// A database that is deleted on drop.
#[expect(missing_debug_implementations, reason = "a fixture")]
pub struct Storage {
    pub database: BoardDatabase,
    /// File of a SQLite database.
    pub file: Option<PathBuf>,
    /// URL of a Postgres database.
    url: Option<String>,
    _guard: Box<dyn Any + Send + Sync>,
}

impl Storage {
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

    /// Opens new connections to the same Postgres database, as another node does. On SQLite returns the same database.
    pub fn another_node(&self) -> BoardDatabase {
        match &self.url {
            Some(url) => connect(url, CONNECTIONS).unwrap().into(),
            None => self.database.clone(),
        }
    }

    /// Returns the connections to Postgres. Panics for SQLite.
    pub fn pool(&self) -> Pool {
        match &self.database {
            BoardDatabase::Postgres(database) => database.pool.clone(),
            BoardDatabase::Sqlite(_) => panic!("the database is in SQLite"),
        }
    }
}

/// Name of the backend.
pub fn backend_name() -> &'static str {
    if is_postgres() { "Postgres" } else { "SQLite" }
}

pub fn is_postgres() -> bool {
    env::var_os("FORUM_API_BACKEND").is_some()
}

fn in_sqlite() -> Storage {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("forum.db");
    let file = Some(path.clone());
    let database = sqlite::Database::open(&DatabasePath::File { path, create: true }).unwrap();
    Storage {
        database: database.into(),
        file,
        url: None,
        _guard: Box::new(directory),
    }
}

async fn in_postgres() -> Storage {
    let database = postgres::Database::new();
    let pool = connect(&database.url(), CONNECTIONS).unwrap();
    migrate(&pool).await.unwrap();
    Storage {
        database: pool.into(),
        file: None,
        url: Some(database.url()),
        _guard: Box::new(database),
    }
}
