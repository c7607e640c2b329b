//! Statements about first answers by `Idempotency-Key`: an operation of
//! [`Idempotency`](crate::store::Idempotency) each.

use super::Statement;
use super::statement::statements;
use super::text::{base64, bytes, if_any, time, truth};
use crate::error::{Fault, Stored};
use crate::model::{ForumId, PostId, ThreadId, Timestamp};
use crate::store::{Attempt, Begin, Entry, Kept, Outcome, ResourceIds, Ticket};

statements! {
    /// Takes the key, if it is free or over, or finds whose it is: one row for [`begun`]. None when another request
    /// took or freed the key at this very moment; then it is run again. Who takes one forgets a few that are over.
    begin(attempt: &Attempt, now: Timestamp) binds [
        attempt.token,
        attempt.key,
        base64(&attempt.request),
        now.as_millis(),
        now.minus(Entry::LIFE).as_millis(),
    ] to "\
WITH taken AS (
    INSERT INTO forum_api_idempotency_keys AS old (token, key, request, began_at)
    VALUES ($1, $2, decode($3, 'base64'), $4::TEXT::BIGINT)
    ON CONFLICT (token, key) DO UPDATE SET
        request = EXCLUDED.request, began_at = EXCLUDED.began_at, ended = FALSE,
        status = NULL, location = NULL, body = NULL, forum_id = NULL, thread_id = NULL, post_id = NULL
    WHERE old.began_at <= $5::TEXT::BIGINT
    RETURNING TRUE AS first, old.*
), forgotten AS (
    DELETE FROM forum_api_idempotency_keys WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM forum_api_idempotency_keys
        WHERE began_at <= $5::TEXT::BIGINT AND (token, key) <> ($1, $2) AND EXISTS (SELECT FROM taken)
        ORDER BY began_at LIMIT 8 FOR UPDATE SKIP LOCKED
    ))
)
SELECT first::TEXT, encode(request, 'base64'), began_at::TEXT,
    ended::TEXT, status::TEXT, location, encode(body, 'base64'), forum_id, thread_id, post_id
FROM (
    SELECT * FROM taken
    UNION ALL
    SELECT FALSE, * FROM forum_api_idempotency_keys
    WHERE token = $1 AND key = $2 AND began_at > $5::TEXT::BIGINT AND NOT EXISTS (SELECT FROM taken)
) AS entry";

    /// Records how the first run ended: with this response, or with an unknown outcome. It changes nothing if the
    /// ticket is not the key's any more.
    end(ticket: &Ticket, kept: Option<&Kept>) binds [
        ticket.token,
        ticket.key,
        ticket.began.as_millis(),
        kept.map(|kept| kept.status.to_string()).unwrap_or_default(),
        kept.and_then(|kept| kept.location.as_deref()).unwrap_or_default(),
        kept.map(|kept| base64(&kept.body)).unwrap_or_default(),
        id_if_any(kept.and_then(|kept| kept.resource.forum_id.as_ref())),
        id_if_any(kept.and_then(|kept| kept.resource.thread_id.as_ref())),
        id_if_any(kept.and_then(|kept| kept.resource.post_id.as_ref())),
    ] to "\
UPDATE forum_api_idempotency_keys
SET ended = TRUE, status = NULLIF($4, '')::INTEGER, location = NULLIF($5, ''), body = decode($6, 'base64'),
    forum_id = NULLIF($7, ''), thread_id = NULLIF($8, ''), post_id = NULLIF($9, '')
WHERE token = $1 AND key = $2 AND began_at = $3::TEXT::BIGINT";

    /// Releases the key of a command that changed nothing, if the reservation is still current.
    free(ticket: &Ticket) binds [ticket.token, ticket.key, ticket.began.as_millis()] to "\
DELETE FROM forum_api_idempotency_keys WHERE token = $1 AND key = $2 AND began_at = $3::TEXT::BIGINT";
}

/// Notes how the first run ended: [`end`], or [`free`].
pub fn settle(ticket: &Ticket, outcome: &Outcome) -> Statement {
    match outcome {
        Outcome::Answered(kept) => end(ticket, Some(kept)),
        Outcome::Unknown => end(ticket, None),
        Outcome::DidNotRun => free(ticket),
    }
}

/// What a row of [`begin`] says to this attempt.
///
/// # Errors
/// When it is no such row.
pub fn begun(columns: &[&str], attempt: &Attempt, now: Timestamp) -> Stored<Begin> {
    let (first, entry) = read(columns)
        .ok_or_else(|| Fault::new("a row of forum_api_idempotency_keys holds no key"))?;
    Ok(match first {
        true => Begin::First(attempt.ticket(now)),
        false => entry.says(&attempt.request, now),
    })
}

fn id_if_any(id: Option<&impl ToString>) -> String {
    id.map(ToString::to_string).unwrap_or_default()
}

fn read(columns: &[&str]) -> Option<(bool, Entry)> {
    let [
        first,
        request,
        began,
        ended,
        status,
        location,
        body,
        forum,
        thread,
        post,
    ] = columns
    else {
        return None;
    };
    let kept = if_any(status, |status| {
        Some(Kept {
            status: status.parse().ok()?,
            location: if_any(location, |location| Some(location.into()))?,
            body: bytes(body)?.into(),
            resource: ResourceIds {
                forum_id: if_any(forum, ForumId::new)?,
                thread_id: if_any(thread, ThreadId::new)?,
                post_id: if_any(post, PostId::new)?,
            },
        })
    })?;
    let entry = Entry {
        request: bytes(request)?.try_into().ok()?,
        began: time(began)?,
        ended: truth(ended)?.then_some(kept),
    };
    Some((truth(first)?, entry))
}
