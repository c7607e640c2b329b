//! Bulk content for load tests, the same for the same seed. It has no events.

mod batch;
mod generator;
pub mod words;

use forum_api::audit::AuditEntry;
use forum_api::host::{BoardError, BoardResult};

use crate::board::{ReferenceBoard, locks, search};
use generator::ContentGenerator;
pub use generator::ContentSize;

/// Number of members and posts in one transaction. Other writes can run between two transactions.
const BATCH: u64 = 5_000;

/// Fills the forums General, Help and Members, and calls `report` with the amount written so far. The first transaction
/// writes `entry` to the audit log.
pub async fn run(
    board: &ReferenceBoard,
    amount: ContentSize,
    seed: u64,
    entry: AuditEntry,
    report: impl Fn(u64),
) -> BoardResult<()> {
    if amount.threads > amount.posts {
        let reason = "the number of threads must not exceed the number of posts";
        return Err(BoardError::validation("threads", reason));
    }
    let mut generator = board
        .write_audited(entry, move |tx, events| {
            Box::pin(async move {
                locks::board(tx).await?;
                ContentGenerator::begin(tx, amount, seed, events.now).await
            })
        })
        .await?;
    while generator.generated_items() < amount.total() {
        generator = board
            .database
            .write_without_timeout(move |tx| {
                Box::pin(async move {
                    locks::board(tx).await?;
                    search::index_in_bulk(tx, generator.generate(tx, BATCH)).await?;
                    Ok(generator)
                })
            })
            .await?;
        report(generator.generated_items());
    }
    board.database.write_without_timeout(|tx| Box::pin(search::update_statistics(tx))).await
}
