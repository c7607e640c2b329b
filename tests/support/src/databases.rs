//! Databases of their own in that Postgres.

use std::fmt;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use tokio::runtime::Builder;
use tokio_postgres::{NoTls, SimpleQueryMessage};

use crate::postgres::url;
pub use crate::postgres::run_with_postgres;

/// A database, which goes with this value.
#[derive(Debug)]
pub struct Database {
    name: String,
}

impl Database {
    /// A new one, with nothing in it.
    pub fn new() -> Self {
        Self::from("template1")
    }

    /// A new one that is like another, to which nobody is connected.
    pub fn copy_of(other: &Self) -> Self {
        Self::from(&other.name)
    }

    fn from(template: &str) -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("test_{}_{number}", process::id());
        ask(
            url(),
            format!("CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY"),
        );
        Self { name }
    }

    /// Its address.
    pub fn url(&self) -> String {
        let address = url();
        let (server, _) = address.rsplit_once('/').unwrap();
        format!("{server}/{}", self.name)
    }

    /// Runs SQL in it, and gives the first column of all rows.
    pub fn query(&self, sql: impl fmt::Display) -> Vec<String> {
        ask(self.url(), sql.to_string())
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        ask(
            url(),
            format!("DROP DATABASE {} WITH (FORCE)", self.name),
        );
    }
}

/// Does this in a runtime of its own, so that no connection outlives it. Tests wait for it, whether they are in a runtime
/// or not.
pub fn block_on_thread<T: Send + 'static>(doing: impl Future<Output = T> + Send + 'static) -> T {
    let apart = thread::spawn(move || {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(doing)
    });
    apart.join().unwrap()
}

fn ask(url: String, sql: String) -> Vec<String> {
    block_on_thread(async move { rows(&url, &sql).await })
}

async fn rows(url: &str, sql: &str) -> Vec<String> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    let told = client.simple_query(sql).await.unwrap();
    let row = |told| match told {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    };
    told.into_iter().filter_map(row).collect()
}
