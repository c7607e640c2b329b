//! The board as it was: members, sections, topics, and a form to reply with.

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
    /// Its database.
    pub pool: Pool,
    /// How long a member waits from one entry to the next.
    pub pause: Duration,
}

impl Club {
    /// The board in this database, whose tables are made where they are missing.
    pub async fn open(pool: Pool, pause: Duration) -> Result<Self, ReplyError> {
        let client = pool.get().await?;
        client.batch_execute(include_str!("schema.sql")).await?;
        drop(client);
        let migrated = forum_api::store::postgres::migrate(&pool).await; // Added.
        migrated.map_err(|error| ReplyError::Failed(error.into()))?; // Added.
        Ok(Self { pool, pause })
    }
}
