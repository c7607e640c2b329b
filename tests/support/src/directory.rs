//! The directory of a server, and its database there or in Postgres.

use std::env;
use std::fs;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use rusqlite::Connection;
use serde_json::Value;
use tempfile::TempDir;

use crate::postgres::Database;
use crate::program::{ExitedProcess, Server, run};

/// Environment variable of the backend. The value `postgres` selects Postgres. Default: SQLite.
const BACKEND: &str = "FORUM_API_BACKEND";

/// A directory and a database, which are removed with the last clone of this value.
#[derive(Clone, Debug)]
pub struct ServerDirectory {
    directory: Arc<TempDir>,
    postgres: Option<Arc<Database>>,
}

/// The demo board that directories are copied from.
struct DemoBoard {
    files: Vec<(String, Vec<u8>)>,
    postgres: Option<Database>,
    startup: Value,
}

impl ServerDirectory {
    /// Creates an empty directory, with the backend of the environment.
    pub fn new() -> Self {
        let directory = Self::in_sqlite();
        match env::var(BACKEND) {
            Ok(_) => directory.with_postgres(Database::new()),
            Err(_) => directory,
        }
    }

    /// Creates an empty directory with SQLite, independent of the environment.
    pub fn in_sqlite() -> Self {
        Self { directory: Arc::new(TempDir::new().unwrap()), postgres: None }
    }

    /// Uses this database.
    pub fn with_postgres(self, database: Database) -> Self {
        let postgres = Some(Arc::new(database));
        Self { postgres, ..self }
    }

    /// Creates a directory with a copy of the demo board. Returns the startup output of the server that created the board.
    pub fn with_demo_board() -> (Self, Value) {
        static DEMO: OnceLock<DemoBoard> = OnceLock::new();
        let demo = DEMO.get_or_init(DemoBoard::create);
        let mut directory = Self::in_sqlite();
        for (name, bytes) in &demo.files {
            fs::write(directory.path().join(name), bytes).unwrap();
        }
        if let Some(database) = &demo.postgres {
            directory = directory.with_postgres(Database::copy_of(database));
        }
        (directory, demo.startup.clone())
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Returns the sorted names of the directory's files.
    pub fn files(&self) -> Vec<String> {
        let files = self.path().read_dir().unwrap();
        let mut names: Vec<_> =
            files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names
    }

    /// Adds `--database` to arguments without it.
    pub fn arguments(&self, arguments: &[&str]) -> Vec<String> {
        let named = arguments.iter().any(|argument| argument.starts_with("--database"));
        let postgres = self.postgres.as_ref().filter(|_| !named);
        let database = postgres.map(|database| format!("--database={}", database.url()));
        let arguments = arguments.iter().map(ToString::to_string);
        database.into_iter().chain(arguments).collect()
    }

    /// Returns the URL of the database, which need not exist in SQLite.
    pub fn database_url(&self) -> String {
        match &self.postgres {
            Some(database) => database.url(),
            None => format!("sqlite:{}", self.path().join("forum.db").display()),
        }
    }

    /// Runs the program in the directory until it exits.
    pub fn run(&self, arguments: &[&str], input: &str) -> ExitedProcess {
        run(self.path(), &self.arguments(arguments), input)
    }

    /// Runs a command, split at spaces.
    pub fn run_line(&self, line: &str, input: &str) -> ExitedProcess {
        let words: Vec<_> = line.split_whitespace().collect();
        self.run(&words, input)
    }

    /// Returns whether an endpoint's secret is stored in plain text.
    pub fn stores_in_plain_text(&self, secret: &str) -> bool {
        let Some(database) = &self.postgres else {
            return self.files().iter().any(|name| {
                let bytes = fs::read(self.path().join(name)).unwrap();
                let mut parts = bytes.windows(secret.len());
                parts.any(|part| part == secret.as_bytes())
            });
        };
        let secret: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
        let stored = database.query("SELECT encode(secret, 'hex') FROM forum_api_endpoints");
        stored.iter().any(|stored| stored.contains(&secret))
    }

    pub const fn is_in_postgres(&self) -> bool {
        self.postgres.is_some()
    }

    /// Runs statements on the database.
    pub fn execute(&self, statements: &str) {
        match &self.postgres {
            Some(database) => drop(database.query(statements)),
            None => {
                let database = Connection::open(self.path().join("forum.db")).unwrap();
                database.execute_batch(statements).unwrap();
            }
        }
    }

    /// Runs SQL on the database. Returns the first column of all rows.
    pub fn query(&self, sql: &str) -> Vec<String> {
        if let Some(database) = &self.postgres {
            return database.query(sql);
        }
        let database = Connection::open(self.path().join("forum.db")).unwrap();
        let mut statement = database.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get(0));
        rows.unwrap().map(Result::unwrap).collect()
    }
}

impl DemoBoard {
    fn create() -> Self {
        let mut server = Server::start(ServerDirectory::new(), &["--no-worker"]);
        let greeting = server.startup.take();
        let directory = server.stop();
        let read = |name: String| {
            let bytes = fs::read(directory.path().join(&name)).unwrap();
            (name, bytes)
        };
        Self {
            files: directory.files().into_iter().map(read).collect(),
            postgres: directory.postgres.and_then(Arc::into_inner),
            startup: greeting,
        }
    }
}
