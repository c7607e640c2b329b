//! Puts polls and votes into their tables, and keeps the counts with them.

use std::sync::LazyLock;

use forum_api::host::{Refusal, Result};

use super::super::db::{Connection, Transaction, bind};
use super::draft::{Choice, Draft};

/// Adds the poll of a thread.
pub async fn add(tx: &Transaction<'_>, thread: i64, draft: &Draft<'_>) -> Result<()> {
    let parameters = bind! {
        ":thread": thread,
        ":question": draft.question,
        ":max_choices": draft.max_choices,
        ":can_change_vote": draft.can_change_vote,
        ":closes_at": draft.closes_at,
    };
    let insert = tx.insert(
        "INSERT INTO poll (thread_id, question, max_choices, can_change_vote, closes_at)
         VALUES (:thread, :question, :max_choices, :can_change_vote, :closes_at) RETURNING id",
        parameters,
    );
    let options = draft.options.as_deref().unwrap_or_default();
    put_options(tx, insert.await?, options).await
}

/// Makes a poll what it is to be. What was voted for an option that is gone goes with it.
pub async fn update(tx: &Transaction<'_>, poll: i64, draft: &Draft<'_>) -> Result<()> {
    let parameters = bind! {
        ":poll": poll,
        ":question": draft.question,
        ":max_choices": draft.max_choices,
        ":can_change_vote": draft.can_change_vote,
        ":closes_at": draft.closes_at,
    };
    let update = tx.change(
        "UPDATE poll SET question = :question, max_choices = :max_choices, can_change_vote = :can_change_vote,
            closes_at = :closes_at, version = version + 1
         WHERE id = :poll",
        parameters,
    );
    update.await?;
    let Some(options) = &draft.options else {
        return Ok(());
    };
    remove_options_but(tx, poll, options).await?;
    put_options(tx, poll, options).await
}

/// SQLite gives an id where there is none.
static PUT_ON_SQLITE: LazyLock<String> = LazyLock::new(|| put("value ->> 'id'"));

static PUT_ON_POSTGRES: LazyLock<String> = LazyLock::new(|| {
    put("coalesce(CAST(value ->> 'id' AS BIGINT), nextval('poll_option_id_seq'))")
});

fn put(id: &str) -> String {
    format!(
        "INSERT INTO poll_option (id, poll_id, position, text)
         SELECT {id}, ?1, key, value ->> 'text' FROM json_each(?2) WHERE TRUE
         ON CONFLICT (id) DO UPDATE SET position = excluded.position, text = excluded.text"
    )
}

/// Adds the new ones, and gives the others their texts and their order.
async fn put_options(tx: &Transaction<'_>, poll: i64, options: &[Choice<'_>]) -> Result<()> {
    let put = tx.either(&PUT_ON_SQLITE, &PUT_ON_POSTGRES);
    tx.change(put, bind![poll, json(options)?]).await?;
    Ok(())
}

/// Votes go with their option, and a ballot that names nothing any more is none.
async fn remove_options_but(tx: &Transaction<'_>, poll: i64, kept: &[Choice<'_>]) -> Result<()> {
    let remove = "DELETE FROM poll_option WHERE poll_id = ?1 AND id NOT IN (
            SELECT CAST(value ->> 'id' AS BIGINT) FROM json_each(?2) WHERE value ->> 'id' IS NOT NULL
         )";
    if tx.change(remove, bind![poll, json(kept)?]).await? == 0 {
        return Ok(());
    }
    let empty = "DELETE FROM ballot WHERE poll_id = ?1 AND NOT EXISTS (SELECT 1 FROM vote WHERE ballot_id = ballot.id)";
    tx.change(empty, bind![poll]).await?;
    let count =
        "UPDATE poll SET voters = (SELECT count(*) FROM ballot WHERE poll_id = ?1) WHERE id = ?1";
    tx.change(count, bind![poll]).await?;
    Ok(())
}

/// Largest number of options of one vote; 0 without votes.
pub async fn largest_vote(connection: &Connection<'_>, poll: i64) -> Result<i64> {
    let largest = "
        SELECT coalesce(max(options), 0) FROM (
            SELECT count(*) AS options FROM ballot JOIN vote ON vote.ballot_id = ballot.id
            WHERE ballot.poll_id = ?1 GROUP BY ballot.id
        ) AS votes";
    let largest = connection
        .one(largest, bind![poll], |columns| columns.value())
        .await;
    Ok(largest?)
}

/// Notes that a member who has not voted votes for these options.
pub async fn cast(
    tx: &Transaction<'_>,
    poll: i64,
    member: Option<i64>,
    options: &[i64],
) -> Result<()> {
    let options = json(options)?;
    let ballot = "INSERT INTO ballot (poll_id, member_id) VALUES (?1, ?2) RETURNING id";
    let ballot = tx.insert(ballot, bind![poll, member]).await?;
    let vote = "INSERT INTO vote (ballot_id, option_id)
         SELECT ?1, CAST(value AS BIGINT) FROM json_each(?2)";
    tx.change(vote, bind![ballot, options]).await?;
    let count = "UPDATE poll_option SET votes = votes + 1
         WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(?1))";
    tx.change(count, bind![options]).await?;
    let voters = "UPDATE poll SET voters = voters + 1 WHERE id = ?1";
    tx.change(voters, bind![poll]).await?;
    Ok(())
}

/// Takes back what a member voted.
pub async fn take_back(tx: &Transaction<'_>, poll: i64, member: Option<i64>) -> Result<()> {
    let count = "UPDATE poll_option SET votes = votes - 1 WHERE id IN (
            SELECT option_id FROM vote JOIN ballot ON ballot.id = vote.ballot_id
            WHERE ballot.poll_id = ?1 AND ballot.member_id = ?2
         )";
    tx.change(count, bind![poll, member]).await?;
    let ballot = "DELETE FROM ballot WHERE poll_id = ?1 AND member_id = ?2";
    tx.change(ballot, bind![poll, member]).await?;
    let voters = "UPDATE poll SET voters = voters - 1 WHERE id = ?1";
    tx.change(voters, bind![poll]).await?;
    Ok(())
}

fn json(list: impl serde::Serialize) -> Result<String> {
    serde_json::to_string(&list).map_err(Refusal::failed)
}
