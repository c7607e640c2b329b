//! The existing board: members, sections, topics, and a form for replies.

mod connect;
pub mod error;
pub mod members;
pub mod pages;
pub mod reply;
pub mod topics;

use std::time::Duration;

pub use connect::{Pool, connect};
pub use error::ReplyError;

/// The club's board.
#[derive(Clone, Debug)]
pub struct Club {
    /// The database.
    pub pool: Pool,
    /// The minimum time between two entries of a member.
    pub pause: Duration,
}

impl Club {
    /// Opens the board in this database, and creates missing tables.
    pub async fn open(pool: Pool, pause: Duration) -> Result<Self, ReplyError> {
        let client = pool.get().await?;
        client.batch_execute(include_str!("schema.sql")).await?;
        drop(client);
        let migrated = forum_api::store::postgres::tokio_postgres_0_7::migrate(&pool).await; // Added.
        migrated.map_err(|error| ReplyError::Failed(error.into()))?; // Added.
        Ok(Self { pool, pause })
    }
}
