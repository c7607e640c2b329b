//! Statements about the outbox: an operation of [`Outbox`](crate::store::Outbox) each.

use super::Statement;
use super::statement::statements;
use super::text::{if_any, joined, time};
use crate::host::{Fault, Stored};
use crate::model::{DeliveryId, EndpointId, EventId, ForumId, Timestamp};
use crate::store::FanOut;
use crate::webhook::{Event, Topic};

/// Adds an event, once however often it is run: [`Event::INSERT`]. A host runs it in the transaction of the change that
/// caused the event.
pub fn put(event: &Event) -> Statement {
    Statement::new(Event::INSERT, event.parameters())
}

/// The columns of an event, as [`event`](event()) reads them.
macro_rules! columns {
    () => {
        "event.id, event.topic, event.occurred_at::TEXT, event.forum, event.body"
    };
}

pub(super) use columns;

/// How many they are.
pub(super) const COLUMNS: usize = 5;

statements! {
    /// Lists events that were not fanned out yet, the oldest first: rows for [`event()`].
    waiting(limit: u32) binds [limit] to concat!("SELECT ", columns!(), "
FROM forum_api_events event WHERE fanned_out_at IS NULL
ORDER BY event.occurred_at, number LIMIT $1::TEXT::BIGINT");

    /// Queues a delivery of each event to each of its endpoints that is there and enabled; an event that goes to nobody
    /// is taken away, and one that was fanned out already is left alone.
    ///
    /// Its commit waits for no disk (`synchronous_commit`), as a claim of what it queued does, and what is lost before is
    /// queued again: it is run outside transactions.
    fan_out(events: &[FanOut], now: Timestamp) binds [
        joined(events.iter().map(|one| &one.event)),
        now.as_millis(),
        joined(each(events).map(|(event, endpoint)| DeliveryId::of(event, endpoint))),
        joined(each(events).map(|(event, _)| event)),
        joined(each(events).map(|(_, endpoint)| endpoint)),
    ] to "\
WITH event AS MATERIALIZED (
    SELECT id, topic, set_config('synchronous_commit', 'off', TRUE) FROM forum_api_events
    WHERE id = ANY (string_to_array($1, ',')) AND fanned_out_at IS NULL
    ORDER BY id FOR NO KEY UPDATE
), queued AS (
    INSERT INTO forum_api_deliveries (id, event, topic, endpoint, created_at, state, attempts, due_at)
    SELECT delivery.id, event.id, event.topic, endpoint.id, $2::TEXT::BIGINT, 'queued', 0, $2::TEXT::BIGINT
    FROM unnest(string_to_array($3, ','), string_to_array($4, ','), string_to_array($5, ','))
        AS delivery (id, event, endpoint)
    JOIN event ON event.id = delivery.event
    JOIN forum_api_endpoints endpoint ON endpoint.id = delivery.endpoint AND endpoint.enabled
    FOR KEY SHARE OF endpoint
    ON CONFLICT (id) DO NOTHING
    RETURNING event
), told AS (
    SELECT event AS id FROM queued
    UNION
    SELECT event.id FROM event WHERE EXISTS (SELECT FROM forum_api_deliveries WHERE event = event.id)
), kept AS (
    UPDATE forum_api_events SET fanned_out_at = $2::TEXT::BIGINT
    WHERE id = ANY (ARRAY(SELECT id FROM event)) AND id IN (SELECT id FROM told)
)
DELETE FROM forum_api_events
WHERE id = ANY (ARRAY(SELECT id FROM event)) AND id NOT IN (SELECT id FROM told)";
}

fn each(events: &[FanOut]) -> impl Iterator<Item = (&EventId, &EndpointId)> {
    let each = events
        .iter()
        .map(|one| one.endpoints.iter().map(|to| (&one.event, to)));
    each.flatten()
}

/// The event that a row of [`waiting`] holds, of which every column is a text.
///
/// # Errors
/// When it is no such row.
pub fn event(columns: &[&str]) -> Stored<Event> {
    read(columns).ok_or_else(|| Fault::new("a row of forum_api_events holds no event"))
}

pub(super) fn read(columns: &[&str]) -> Option<Event> {
    let [id, topic, occurred_at, forum, body] = columns else {
        return None;
    };
    Some(Event {
        id: EventId::new(id)?,
        topic: Topic::new(topic)?,
        occurred_at: time(occurred_at)?,
        forum: if_any(forum, ForumId::new)?,
        body: (*body).into(),
    })
}
