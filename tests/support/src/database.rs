//! A database of a drill's own, and what only SQL can do to it.

use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio_postgres::{Client, NoTls};

/// A database in which one board is.
#[derive(Clone, Debug)]
pub struct Database {
    /// Its address.
    pub url: String,
}

impl Database {
    /// Makes one in this Postgres.
    pub async fn new(postgres: &str) -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("drill_{}_{number}", process::id());
        let create = format!("CREATE DATABASE {name}");
        let within = Self {
            url: postgres.into(),
        };
        within.run(&create).await;
        let (server, _) = postgres.rsplit_once('/').unwrap();
        Self {
            url: format!("{server}/{name}"),
        }
    }

    /// A connection to it.
    pub async fn connect(&self) -> Client {
        let (client, connection) = tokio_postgres::connect(&self.url, NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }

    /// Runs these statements.
    pub async fn run(&self, statements: &str) {
        self.connect()
            .await
            .batch_execute(statements)
            .await
            .unwrap();
    }

    /// The number that a query gives.
    pub async fn count(&self, query: &str) -> i64 {
        self.connect()
            .await
            .query_one(query, &[])
            .await
            .unwrap()
            .get(0)
    }

    /// Lets a minute pass for the deliveries that are on lease.
    pub async fn end_leases(&self) {
        self.run("UPDATE forum_api_deliveries SET due_at = 0 WHERE due_at IS NOT NULL AND leased")
            .await;
    }

    /// Lets a minute pass for the keys of requests that were cut off.
    pub async fn end_runs(&self) {
        self.run(
            "UPDATE forum_api_idempotency_keys SET began_at = began_at - 60000 WHERE NOT ended",
        )
        .await;
    }
}
