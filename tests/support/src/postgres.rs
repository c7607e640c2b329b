//! Schemas and databases in the Postgres that `tests/run` starts.

use std::fmt;
use std::pin::{Pin, pin};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, thread};

use forum_api::runtime::BoxFuture;
use forum_api::store::postgres::tokio_postgres_0_7::connect;
use forum_api::store::postgres::tokio_postgres_0_7::deadpool_postgres::Pool;
use tokio::runtime::Builder;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

/// Environment variable with the URL of a Postgres in which tests may create databases.
pub(crate) const VARIABLE: &str = "FORUM_API_POSTGRES";

/// Returns the URL of the Postgres.
///
/// # Panics
/// Panics if the environment variable is not set.
pub fn url() -> String {
    env::var(VARIABLE).unwrap_or_else(|_| panic!("set {VARIABLE} to the URL of a Postgres"))
}

/// Runs a test that needs Postgres on a multi-threaded runtime.
pub fn run_with_postgres(test: impl Future<Output = ()>) {
    url();
    let runtime = Builder::new_multi_thread().enable_all().build();
    // The compiler instantiates `block_on` for this type, not for each test.
    let test: Pin<&mut dyn Future<Output = ()>> = pin!(test);
    runtime.unwrap().block_on(test);
}

fn unique_name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("test_{}_{number}", process::id())
}

/// Creates an empty schema and returns its URL.
pub async fn schema() -> String {
    let name = unique_name();
    let url = format!("{}?options=-csearch_path%3D{name}", url());
    let client = pool(&url, 1).get().await.unwrap();
    let create = format!("CREATE SCHEMA {name}");
    client.batch_execute(&create).await.unwrap();
    url
}

pub fn pool(url: &str, size: usize) -> Pool {
    connect(url, size).unwrap()
}

/// A database that is dropped with this value.
#[derive(Debug)]
pub struct Database {
    server: String,
    name: String,
}

impl Database {
    /// Creates an empty database.
    pub fn new() -> Self {
        Self::from_template(&url(), "template1")
    }

    /// Creates an empty database in the Postgres with this URL.
    pub fn in_server(server: &str) -> Self {
        Self::from_template(server, "template1")
    }

    /// Creates a copy of another database, which must have no connections.
    pub fn copy_of(other: &Self) -> Self {
        Self::from_template(&other.server, &other.name)
    }

    /// Creates an empty database with another encoding than UTF8.
    pub fn with_encoding(encoding: &str) -> Self {
        let options = format!("TEMPLATE template0 ENCODING {encoding} LOCALE 'C'");
        Self::with_options(&url(), &options)
    }

    fn from_template(server: &str, template: &str) -> Self {
        Self::with_options(server, &format!("TEMPLATE {template} STRATEGY FILE_COPY"))
    }

    fn with_options(server: &str, options: &str) -> Self {
        let name = unique_name();
        query(server.into(), format!("CREATE DATABASE {name} {options}")).unwrap();
        let server = server.into();
        Self { server, name }
    }

    /// Changes the database, for example its defaults.
    pub fn alter(&self, change: &str) {
        let alter = format!("ALTER DATABASE {} {change}", self.name);
        query(self.server.clone(), alter).unwrap();
    }

    /// Moves the files of the database to an empty directory.
    pub fn move_to_disk(&self, directory: &str) {
        let name = &self.name;
        let create = format!("CREATE TABLESPACE {name} LOCATION '{directory}'");
        query(self.server.clone(), create).unwrap();
        self.alter(&format!("SET TABLESPACE {name}"));
    }

    pub fn url(&self) -> String {
        self.url_in(&self.server)
    }

    /// Returns the URL of the database in another server, which replicates this one.
    pub fn url_in(&self, server: &str) -> String {
        let parameters = server.find('?').unwrap_or(server.len());
        let (server, parameters) = server.split_at(parameters);
        let (server, _) = server.rsplit_once('/').unwrap();
        format!("{server}/{}{parameters}", self.name)
    }

    /// Runs SQL and returns the first column of all rows.
    pub fn query(&self, sql: impl fmt::Display) -> Vec<String> {
        query(self.url(), sql.to_string()).unwrap()
    }

    pub async fn connect(&self) -> Client {
        open(&self.url()).await.unwrap()
    }

    pub async fn execute(&self, statements: &str) {
        let client = self.connect().await;
        client.batch_execute(statements).await.unwrap();
    }

    /// Returns the number that a query selects.
    pub async fn count(&self, query: &str) -> i64 {
        let client = self.connect().await;
        client.query_one(query, &[]).await.unwrap().get(0)
    }

    /// Makes the leases of all deliveries expire.
    pub async fn end_leases(&self) {
        let due = "UPDATE forum_api_deliveries SET due_at = 0 WHERE due_at IS NOT NULL AND leased";
        self.execute(due).await;
    }

    /// Makes the leases of all interrupted requests with an idempotency key expire.
    pub async fn end_runs(&self) {
        self.execute(
            "UPDATE forum_api_idempotency_keys SET began_at = began_at - 60000 WHERE NOT ended",
        )
        .await;
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let drop_database = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        // A test may have stopped the Postgres.
        query(self.server.clone(), drop_database).ok();
    }
}

/// Runs a future on a runtime in a new thread and waits for it, inside or outside of another runtime. No connection of the
/// future outlives it.
pub fn block_on_thread<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> T {
    // The compiler instantiates `block_on` for this type, not for each call.
    let future: BoxFuture<'static, T> = Box::pin(future);
    let thread = thread::spawn(move || {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(future)
    });
    thread.join().unwrap()
}

/// Runs SQL in the database with this URL and returns the first column of all rows.
pub fn query(url: String, sql: String) -> Result<Vec<String>, tokio_postgres::Error> {
    block_on_thread(async move {
        let messages = open(&url).await?.simple_query(&sql).await?;
        let first_column = |message| match message {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        };
        Ok(messages.into_iter().filter_map(first_column).collect())
    })
}

async fn open(url: &str) -> Result<Client, tokio_postgres::Error> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}
