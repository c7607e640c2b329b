//! The directory of a server, and its database there or in Postgres.

use std::env;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use rusqlite::Connection;
use serde_json::Value;
use tempfile::TempDir;

use crate::databases::Database;
use crate::program::{ExitedProcess, Server, run};

/// Where databases are: in SQLite; with `postgres`, there; with `redis`, there and rate limits in Redis.
const BACKEND: &str = "FORUM_API_BACKEND";

/// A directory and a database, which are removed with the last clone of this value.
#[derive(Clone, Debug)]
pub struct ServerDirectory {
    directory: Arc<TempDir>,
    postgres: Option<Arc<Database>>,
    /// The number of its own database of Redis: guests of different tests have the same address.
    redis: usize,
}

/// The demo board that directories begin with.
struct DemoBoard {
    files: Vec<(String, Vec<u8>)>,
    postgres: Option<Database>,
    startup: Value,
}

impl ServerDirectory {
    /// An empty one, with the backend of the environment.
    pub fn new() -> Self {
        let directory = Self::in_sqlite();
        match env::var(BACKEND) {
            Ok(_) => directory.with_postgres(Database::new()),
            Err(_) => directory,
        }
    }

    /// An empty one in SQLite, whatever the environment says.
    pub fn in_sqlite() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(1);
        Self {
            directory: Arc::new(TempDir::new().unwrap()),
            postgres: None,
            redis: NUMBER.fetch_add(1, Ordering::Relaxed),
        }
    }

    fn with_postgres(self, database: Database) -> Self {
        let postgres = Some(Arc::new(database));
        Self { postgres, ..self }
    }

    /// One with a copy of the demo board, and what the server printed that created it.
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

    /// The path of the directory.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The sorted names of the directory's files.
    pub fn files(&self) -> Vec<String> {
        let files = self.path().read_dir().unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort_unstable();
        names
    }

    /// The names of the files of a board that no process uses.
    pub fn board_files(&self) -> &[&str] {
        match self.postgres {
            Some(_) => &[],
            None => &["forum.db", "forum.db.key"],
        }
    }

    /// These arguments, with `--database` in front unless they have it.
    pub fn arguments(&self, arguments: &[&str]) -> Vec<String> {
        let named = arguments
            .iter()
            .any(|argument| argument.starts_with("--database"));
        let postgres = self.postgres.as_ref().filter(|_| !named);
        let database = postgres.map(|database| format!("--database={}", database.url()));
        let arguments = arguments.iter().map(ToString::to_string);
        database.into_iter().chain(arguments).collect()
    }

    /// `--redis`, if the environment has rate limits there.
    pub fn redis_option(&self) -> Option<String> {
        let redis = env::var(BACKEND).is_ok_and(|backend| backend == "redis");
        redis.then(|| {
            let address = env::var("FORUM_API_REDIS").unwrap();
            format!("--redis={}/{}", address.trim_end_matches("/0"), self.redis)
        })
    }

    /// Runs the program here until it ends.
    pub fn run(&self, arguments: &[&str], input: &str) -> ExitedProcess {
        run(self.path(), &self.arguments(arguments), input)
    }

    /// Returns whether an endpoint's secret is stored readable.
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

    /// Runs SQL beside the server. Returns the first column of all rows.
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
