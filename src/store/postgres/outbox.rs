//! Statements about the outbox: an operation of [`Outbox`](crate::store::Outbox) each.

use super::Statement;
use super::statement::{statements, time};
use crate::host::{Fault, Stored};
use crate::model::{DeliveryId, EventId, ForumId, Timestamp};
use crate::store::FanOut;
use crate::webhook::{Event, Topic};

/// Adds an event, once however often it is run: [`Event::INSERT`]. A host runs it in the transaction of the change that
/// caused the event.
pub fn put(event: &Event) -> Statement {
    Statement::new(Event::INSERT, event.parameters())
}

statements! {
    /// Lists events that were not fanned out yet, the oldest first: rows for [`event()`].
    waiting(limit: u32) binds [limit] to "\
SELECT id, topic, occurred_at::TEXT, coalesce(forum, ''), body
FROM forum_api_events event WHERE fanned_out_at IS NULL
ORDER BY event.occurred_at, number LIMIT $1::TEXT::BIGINT";

    /// Queues a delivery of an event to each endpoint that is there and enabled; an event that goes to nobody is taken
    /// away, and one that was fanned out already is left alone. Of many, all belong into one transaction.
    fan_out(fan_out: &FanOut, now: Timestamp) binds [
        fan_out.event,
        now.as_millis(),
        joined(fan_out.endpoints.iter().map(|to| DeliveryId::of(&fan_out.event, to))),
        joined(&fan_out.endpoints),
    ] to "\
WITH event AS (
    SELECT id, topic FROM forum_api_events WHERE id = $1 AND fanned_out_at IS NULL FOR UPDATE
), queued AS (
    INSERT INTO forum_api_deliveries (id, event, topic, endpoint, created_at, state, attempts, due_at)
    SELECT delivery.id, event.id, event.topic, endpoint.id, $2::TEXT::BIGINT, 'queued', 0, $2::TEXT::BIGINT
    FROM event
    CROSS JOIN unnest(string_to_array($3, ','), string_to_array($4, ',')) AS delivery (id, endpoint)
    JOIN forum_api_endpoints endpoint ON endpoint.id = delivery.endpoint AND endpoint.enabled
    ON CONFLICT (id) DO NOTHING
    RETURNING event
), kept AS (
    UPDATE forum_api_events SET fanned_out_at = $2::TEXT::BIGINT WHERE id IN (SELECT event FROM queued)
)
DELETE FROM forum_api_events
WHERE id IN (SELECT id FROM event) AND NOT EXISTS (SELECT FROM queued)";
}

/// The event that a row of [`waiting`] holds, of which every column is a text.
///
/// # Errors
/// When it is no such row.
pub fn event(columns: &[&str]) -> Stored<Event> {
    read(columns).ok_or_else(|| Fault::new("a row of forum_api_events holds no event"))
}

fn read(columns: &[&str]) -> Option<Event> {
    let [id, topic, occurred_at, forum, body] = columns else {
        return None;
    };
    let forum = match *forum {
        "" => None,
        forum => Some(ForumId::new(forum)?),
    };
    Some(Event {
        id: EventId::new(id)?,
        topic: Topic::new(topic)?,
        occurred_at: time(occurred_at)?,
        forum,
        body: (*body).into(),
    })
}

/// Ids hold no comma.
fn joined<T: ToString>(ids: impl IntoIterator<Item = T>) -> String {
    let ids: Vec<_> = ids.into_iter().map(|id| id.to_string()).collect();
    ids.join(",")
}
