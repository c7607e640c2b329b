//! The board in a schema of its own.

use forum_test_support::postgres;

use std::time::Duration;

use crate::before::{Club, Pool, connect};

pub use postgres::try_in_postgres;

/// A schema that nothing is in.
pub async fn schema() -> Pool {
    connect(&postgres::schema().await).unwrap()
}

/// A board that nothing is in, whose members wait for so long between two entries.
pub async fn club(pause: Duration) -> Club {
    Club::open(schema().await, pause).await.unwrap()
}
