//! Changes of many rows that commands leave to batches: each batch is a short transaction, so that other writes do not wait.
//!
//! A command writes what is left to do with its change. After a crash, the batches go on. Reads before the batches are
//! correct, except the number of voters of a poll whose options were removed.

use std::time::Duration;

use forum_api::host::BoardResult;

use super::ReferenceBoard;
use super::accounts::post_count::{self, RecountBatch};
use super::db::{Driver, LastChange, Transaction, bind};
use super::locks::{self, LockTarget};
use super::polls::option_removal;

/// Time between two looks for changes that are left to do.
const INTERVAL: Duration = Duration::from_secs(5);

/// Time between two batches, for other writes.
const PAUSE: Duration = Duration::from_millis(50);

impl ReferenceBoard {
    /// Runs the next batch. Returns `false` if nothing is left to do: then it does not wait for other writes.
    pub async fn run_batch(&self) -> BoardResult<bool> {
        let find = "
            SELECT EXISTS (SELECT 1 FROM thread_recount) OR EXISTS (SELECT 1 FROM poll_option WHERE removed) AS is_left";
        let is_left = self
            .read_short(move |connection| {
                Box::pin(connection.one(find, &[], |row| row.value::<bool>("is_left")))
            })
            .await?;
        if !is_left {
            return Ok(false);
        }
        self.database.write_background(|tx| Box::pin(run(tx))).await
    }

    /// Runs batches whenever commands have left changes. Never returns.
    pub async fn run_batches_periodically(&self) {
        loop {
            let pause = match self.run_batch().await {
                Ok(true) => PAUSE,
                Ok(false) => INTERVAL,
                Err(error) => {
                    tracing::warn!(%error, "failed to run a batch; trying again");
                    INTERVAL
                }
            };
            tokio::time::sleep(pause).await;
        }
    }
}

async fn run(tx: &Transaction<'_>) -> BoardResult<bool> {
    if let Some(thread) = post_count::marked_thread(tx).await? {
        LockTarget::Thread(thread).lock(tx, None).await?;
        let batch = RecountBatch::of_thread(tx, thread).await?;
        let authors = locks::array(batch.authors());
        let named = bind! { ":members": authors };
        let lock = match tx.driver {
            Driver::Sqlite(_) => None,
            Driver::Postgres(_) => Some(LastChange::Statements(&[locks::MEMBERS], named)),
        };
        batch.commit(tx, lock).await?;
        return Ok(true);
    }
    let Some(poll) = option_removal::unfinished_poll(tx).await? else {
        return Ok(false);
    };
    LockTarget::Poll(poll).lock(tx, None).await?;
    option_removal::run_batch(tx, poll).await?;
    Ok(true)
}
