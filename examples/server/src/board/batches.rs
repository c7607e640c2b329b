//! Changes of many rows that commands leave to batches: each batch is a short transaction, so that other writes do not wait.
//!
//! A command writes what is left to do with its change. After a crash, the batches go on. Reads before the batches are
//! correct, except the number of voters of a poll with removed options in which a member can choose several options, and
//! the numbers of posts on profiles while more than 1,000 threads wait. Events that are left to batches are late.

use std::time::Duration;

use forum_api::host::BoardResult;
use forum_api::runtime::Clock;
use futures_util::future::join_all;

use super::ReferenceBoard;
use super::accounts::post_count::{self, RecountBatch};
use super::db::{Driver, LastChange, Transaction, bind};
use super::events::EventRecorder;
use super::locks::{self, LockTarget};
use super::polls::option_removal;
use super::posts::waiting_replies;

/// Time between two looks for changes that are left to do.
const INTERVAL: Duration = Duration::from_secs(5);

/// Time between two batches, for other writes.
const PAUSE: Duration = Duration::from_millis(50);

/// A kind of changes that commands leave to batches.
#[derive(Clone, Copy, Debug)]
pub enum BatchKind {
    /// The number of posts on the profiles of the authors of threads that were hidden or shown.
    Recount,
    /// The events of replies that were changed while their thread was hidden.
    Events,
    /// The votes for removed options of polls.
    Votes,
}

impl BatchKind {
    pub const ALL: [Self; 3] = [Self::Recount, Self::Events, Self::Votes];

    /// Returns a query of whether anything is left to do.
    const fn remaining_query(self) -> &'static str {
        match self {
            Self::Recount => "SELECT EXISTS (SELECT 1 FROM thread_recount) AS is_left",
            Self::Events => "SELECT EXISTS (SELECT 1 FROM thread_publication) AS is_left",
            Self::Votes => "SELECT EXISTS (SELECT 1 FROM poll_option WHERE removed) AS is_left",
        }
    }
}

impl ReferenceBoard {
    /// Runs the next batch of a kind. Returns `false` if nothing is left to do: then it does not wait for other writes.
    pub async fn run_batch(&self, kind: BatchKind) -> BoardResult<bool> {
        let is_left = self
            .read_short(move |connection| {
                Box::pin(
                    connection.one(kind.remaining_query(), &[], |row| row.value::<bool>("is_left")),
                )
            })
            .await?;
        if !is_left {
            return Ok(false);
        }
        match kind {
            BatchKind::Recount => self.database.write_background(|tx| Box::pin(recount(tx))).await,
            BatchKind::Votes => {
                self.database.write_background(|tx| Box::pin(remove_votes(tx))).await
            }
            // A crash must not lose events that readers of the feed have seen.
            BatchKind::Events => {
                let clock = self.clock.clone();
                self.write(move |tx, events| {
                    Box::pin(async move { send_events(tx, events, &*clock).await })
                })
                .await
            }
        }
    }

    /// Runs batches whenever commands have left changes. Never returns. The kinds do not wait for each other.
    pub async fn run_batches_periodically(&self) {
        join_all(BatchKind::ALL.map(|kind| self.run_periodically(kind))).await;
    }

    async fn run_periodically(&self, kind: BatchKind) {
        loop {
            let pause = match self.run_batch(kind).await {
                Ok(true) => PAUSE,
                Ok(false) => INTERVAL,
                Err(error) => {
                    tracing::warn!(%error, ?kind, "failed to run a batch; trying again");
                    INTERVAL
                }
            };
            tokio::time::sleep(pause).await;
        }
    }
}

/// Recounts the next authors of a marked thread, and commits. Returns `false` if no thread is marked.
async fn recount(tx: &Transaction<'_>) -> BoardResult<bool> {
    let Some(thread) = post_count::marked_thread(tx).await? else {
        return Ok(false);
    };
    LockTarget::Thread(thread).lock(tx, None).await?;
    let batch = RecountBatch::of_thread(tx, thread).await?;
    let authors = locks::array(batch.authors());
    let named = bind! { ":members": authors };
    let lock = match tx.driver {
        Driver::Sqlite(_) => None,
        Driver::Postgres(_) => Some(LastChange::Statements(&[locks::MEMBERS], named)),
    };
    batch.commit(tx, lock).await?;
    Ok(true)
}

/// Records the next events of a marked thread. Returns `false` if no thread is marked.
async fn send_events(
    tx: &Transaction<'_>,
    events: &mut EventRecorder,
    clock: &dyn Clock,
) -> BoardResult<bool> {
    let Some(thread) = waiting_replies::marked_thread(tx).await? else {
        return Ok(false);
    };
    LockTarget::Thread(thread).lock(tx, None).await?;
    events.now = clock.now();
    waiting_replies::run_batch(tx, events, thread).await?;
    Ok(true)
}

/// Removes the next votes for removed options. Returns `false` if there are none.
async fn remove_votes(tx: &Transaction<'_>) -> BoardResult<bool> {
    let Some(poll) = option_removal::unfinished_poll(tx).await? else {
        return Ok(false);
    };
    LockTarget::Poll(poll).lock(tx, None).await?;
    option_removal::run_batch(tx, poll).await?;
    Ok(true)
}
