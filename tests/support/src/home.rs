//! Where a server lives: a directory, and a database in it or in Postgres.

use std::env;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rusqlite::Connection;
use tempfile::TempDir;

use crate::databases::Database;
use crate::program::{Ended, run};

/// What says where databases are: in SQLite; with `postgres`, there; with `redis`, there and budgets in Redis.
const BACKEND: &str = "FORUM_API_BACKEND";

/// A directory and a database, which go with the last clone of this value.
#[derive(Clone, Debug)]
pub struct Home {
    directory: Arc<TempDir>,
    postgres: Option<Arc<Database>>,
    /// Which of Redis's databases is its own: others' guests have the same address.
    redis: usize,
}

static HOMES: AtomicUsize = AtomicUsize::new(1);

impl Home {
    /// A new one, where the environment says.
    pub fn new() -> Self {
        let postgres = || Arc::new(Database::new());
        Self {
            postgres: env::var(BACKEND).is_ok().then(postgres),
            ..Self::in_sqlite()
        }
    }

    /// A new one in SQLite, whatever the environment says.
    pub fn in_sqlite() -> Self {
        let directory = TempDir::new().unwrap();
        Self {
            directory: Arc::new(directory),
            postgres: None,
            redis: HOMES.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The names of the directory's files.
    pub fn files(&self) -> Vec<String> {
        let files = self.path().read_dir().unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort_unstable();
        names
    }

    /// The names of the files that there are when nothing goes on.
    pub fn files_of_a_board(&self) -> &[&str] {
        match self.postgres {
            Some(_) => &[],
            None => &["forum.db", "forum.db.key"],
        }
    }

    /// These arguments, with what names the database unless they do.
    pub fn arguments(&self, arguments: &[&str]) -> Vec<String> {
        let named = arguments
            .iter()
            .any(|argument| argument.starts_with("--database"));
        let postgres = self.postgres.as_ref().filter(|_| !named);
        let database = postgres.map(|database| format!("--database={}", database.url()));
        let arguments = arguments.iter().map(ToString::to_string);
        database.into_iter().chain(arguments).collect()
    }

    /// What a server is told beside: where the environment has its budgets.
    pub fn budgets(&self) -> Option<String> {
        let redis = env::var(BACKEND).is_ok_and(|backend| backend == "redis");
        let address = || env::var("FORUM_API_REDIS").unwrap();
        redis.then(|| {
            format!(
                "--redis={}/{}",
                address().trim_end_matches("/0"),
                self.redis
            )
        })
    }

    /// Runs the program here until it ends.
    pub fn run(&self, arguments: &[&str], input: &str) -> Ended {
        run(self.path(), &self.arguments(arguments), input)
    }

    /// Whether an endpoint's secret is kept as it is.
    pub fn keeps(&self, secret: &str) -> bool {
        let Some(database) = &self.postgres else {
            return is_in_files(self.path(), secret);
        };
        let secret: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
        let kept = database.ask("SELECT encode(secret, 'hex') FROM forum_api_endpoints");
        kept.iter().any(|kept| kept.contains(&secret))
    }

    /// Asks the database behind the server's back; gives the first column of all rows.
    pub fn ask(&self, sql: &str) -> Vec<String> {
        match &self.postgres {
            Some(database) => database.ask(sql),
            None => ask(&self.path().join("forum.db"), sql),
        }
    }
}

/// Whether one of the files has this text in it.
fn is_in_files(directory: &Path, text: &str) -> bool {
    directory.read_dir().unwrap().any(|file| {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        let mut parts = bytes.windows(text.len());
        parts.any(|part| part == text.as_bytes())
    })
}

fn ask(file: &Path, sql: &str) -> Vec<String> {
    let database = Connection::open(file).unwrap();
    let mut statement = database.prepare(sql).unwrap();
    let mut rows = statement.query([]).unwrap();
    let mut all = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        all.push(row.get_ref(0).unwrap().as_str().unwrap().into());
    }
    all
}
