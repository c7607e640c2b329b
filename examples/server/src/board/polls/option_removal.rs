//! Removal of options of polls, with their votes.
//!
//! A removed option is neither shown nor counted at once. Its votes, and the voters without other votes, are removed in
//! batches, because there can be any number of them; the stored number of voters is exact after the last batch.

use forum_api::host::BoardResult;
use serde::Serialize;

use crate::board::db::{Transaction, bind, json};

/// Maximum number of votes that one transaction removes.
const MAX_VOTES: i64 = 100;

/// Marks the options with the ids `:removed`.
pub const MARK: &str = "
    UPDATE poll_option SET removed = TRUE WHERE id IN (
        SELECT CAST(value AS BIGINT) FROM json_each(:removed)
    )";

/// Returns a poll with marked options; `None` if no poll has one.
pub async fn unfinished_poll(tx: &Transaction<'_>) -> BoardResult<Option<i64>> {
    let find = "SELECT poll_id FROM poll_option WHERE removed ORDER BY id LIMIT 1";
    tx.first(find, &[], |row| row.value("poll_id")).await
}

#[derive(Debug, Serialize)]
struct RemovedVote {
    ballot: i64,
    option: i64,
}

/// Removes the next votes for marked options of a poll, whose thread is locked, and ballots without other votes. Removes
/// the options after their last votes.
pub async fn run_batch(tx: &Transaction<'_>, poll: i64) -> BoardResult<()> {
    const REMOVE_VOTES: [&str; 2] = [
        "DELETE FROM vote WHERE (ballot_id, option_id) IN (
            SELECT CAST(value ->> 'ballot' AS BIGINT), CAST(value ->> 'option' AS BIGINT) FROM json_each(:votes)
        )",
        "UPDATE ballot SET choices = choices - part.votes
        FROM (
            SELECT CAST(value ->> 'ballot' AS BIGINT) AS ballot_id, count(*) AS votes
            FROM json_each(:votes) GROUP BY value ->> 'ballot'
        ) AS part
        WHERE ballot.id = part.ballot_id",
    ];
    const REMOVE_BALLOTS: &str = "
        DELETE FROM ballot WHERE choices = 0 AND id IN (
            SELECT CAST(value ->> 'ballot' AS BIGINT) FROM json_each(?1)
        )";
    const REMOVE_OPTIONS: &str = "DELETE FROM poll_option WHERE poll_id = ?1 AND removed";

    let find = "
        SELECT vote.ballot_id, vote.option_id
        FROM poll_option JOIN vote ON vote.option_id = poll_option.id
        WHERE poll_option.poll_id = ?1 AND poll_option.removed LIMIT ?2";
    let votes = tx
        .all(find, bind![poll, MAX_VOTES], |row| {
            Ok(RemovedVote { ballot: row.value("ballot_id")?, option: row.value("option_id")? })
        })
        .await?;
    if !votes.is_empty() {
        let removed = json(&votes)?;
        tx.execute_independent(&REMOVE_VOTES, bind! { ":votes": removed }).await?;
        let voters = tx.execute(REMOVE_BALLOTS, bind![removed]).await? as i64;
        let count = "UPDATE poll SET voters = voters - ?2 WHERE id = ?1";
        tx.execute(count, bind![poll, voters]).await?;
    }
    if (votes.len() as i64) < MAX_VOTES {
        tx.execute(REMOVE_OPTIONS, bind![poll]).await?;
    }
    Ok(())
}
