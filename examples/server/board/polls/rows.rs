//! Puts polls and votes into their tables, and keeps the counts with them.

use forum_api::host::{Refusal, Result};
use rusqlite::{Savepoint, named_params};

use super::draft::{Choice, Draft};

/// Adds the poll of a thread.
pub fn add(tx: &Savepoint<'_>, thread: i64, draft: &Draft<'_>) -> Result<()> {
    let mut insert = tx.prepare_cached(
        "INSERT INTO poll (thread_id, question, max_choices, can_change_vote, closes_at)
         VALUES (:thread, :question, :max_choices, :can_change_vote, :closes_at)",
    )?;
    let poll = insert.insert(named_params! {
        ":thread": thread,
        ":question": draft.question,
        ":max_choices": draft.max_choices,
        ":can_change_vote": draft.can_change_vote,
        ":closes_at": draft.closes_at,
    })?;
    put_options(tx, poll, draft.options.as_deref().unwrap_or_default())
}

/// Makes a poll what it is to be. What was voted for an option that is gone goes with it.
pub fn update(tx: &Savepoint<'_>, poll: i64, draft: &Draft<'_>) -> Result<()> {
    let mut update = tx.prepare_cached(
        "UPDATE poll SET question = :question, max_choices = :max_choices, can_change_vote = :can_change_vote,
            closes_at = :closes_at, version = version + 1
         WHERE id = :poll",
    )?;
    update.execute(named_params! {
        ":poll": poll,
        ":question": draft.question,
        ":max_choices": draft.max_choices,
        ":can_change_vote": draft.can_change_vote,
        ":closes_at": draft.closes_at,
    })?;
    let Some(options) = &draft.options else {
        return Ok(());
    };
    remove_options_but(tx, poll, options)?;
    put_options(tx, poll, options)
}

/// Adds the new ones, and gives the others their texts and their order.
fn put_options(tx: &Savepoint<'_>, poll: i64, options: &[Choice<'_>]) -> Result<()> {
    let mut put = tx.prepare_cached(
        "INSERT INTO poll_option (id, poll_id, position, text)
         SELECT value ->> 'id', ?1, key, value ->> 'text' FROM json_each(?2) WHERE TRUE
         ON CONFLICT (id) DO UPDATE SET position = excluded.position, text = excluded.text",
    )?;
    put.execute((poll, json(options)?))?;
    Ok(())
}

/// Votes go with their option, and a ballot that names nothing any more is none.
fn remove_options_but(tx: &Savepoint<'_>, poll: i64, kept: &[Choice<'_>]) -> Result<()> {
    let mut remove = tx.prepare_cached(
        "DELETE FROM poll_option WHERE poll_id = ?1 AND id NOT IN (
            SELECT value ->> 'id' FROM json_each(?2) WHERE value ->> 'id' IS NOT NULL
         )",
    )?;
    if remove.execute((poll, json(kept)?))? == 0 {
        return Ok(());
    }
    let mut empty = tx.prepare_cached(
        "DELETE FROM ballot WHERE poll_id = ?1 AND NOT EXISTS (SELECT 1 FROM vote WHERE ballot_id = ballot.id)",
    )?;
    empty.execute([poll])?;
    tx.prepare_cached(
        "UPDATE poll SET voters = (SELECT count(*) FROM ballot WHERE poll_id = ?1) WHERE id = ?1",
    )?
    .execute([poll])?;
    Ok(())
}

/// Notes that a member who has not voted votes for these options.
pub fn cast(tx: &Savepoint<'_>, poll: i64, member: Option<i64>, options: &[i64]) -> Result<()> {
    let options = json(options)?;
    let mut ballot =
        tx.prepare_cached("INSERT INTO ballot (poll_id, member_id) VALUES (?1, ?2)")?;
    let ballot = ballot.insert((poll, member))?;
    tx.prepare_cached(
        "INSERT INTO vote (ballot_id, option_id) SELECT ?1, value FROM json_each(?2)",
    )?
    .execute((ballot, &options))?;
    tx.prepare_cached(
        "UPDATE poll_option SET votes = votes + 1 WHERE id IN (SELECT value FROM json_each(?1))",
    )?
    .execute([&options])?;
    tx.prepare_cached("UPDATE poll SET voters = voters + 1 WHERE id = ?1")?
        .execute([poll])?;
    Ok(())
}

/// Takes back what a member voted.
pub fn take_back(tx: &Savepoint<'_>, poll: i64, member: Option<i64>) -> Result<()> {
    tx.prepare_cached(
        "UPDATE poll_option SET votes = votes - 1 WHERE id IN (
            SELECT option_id FROM vote JOIN ballot ON ballot.id = vote.ballot_id
            WHERE ballot.poll_id = ?1 AND ballot.member_id = ?2
         )",
    )?
    .execute((poll, member))?;
    tx.prepare_cached("DELETE FROM ballot WHERE poll_id = ?1 AND member_id = ?2")?
        .execute((poll, member))?;
    tx.prepare_cached("UPDATE poll SET voters = voters - 1 WHERE id = ?1")?
        .execute([poll])?;
    Ok(())
}

fn json(list: impl serde::Serialize) -> Result<String> {
    serde_json::to_string(&list).map_err(Refusal::failed)
}
