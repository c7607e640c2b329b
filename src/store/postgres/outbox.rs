//! Statements about the outbox: an operation of [`Outbox`](crate::store::Outbox) each.

use super::lease_clock::clock;
use super::statement::statements;
use super::text::{joined, json, time};
use super::{LeaseClock, Statement};
use crate::error::{Fault, Stored};
use crate::model::{DeliveryId, EndpointId, EventId, Timestamp};
use crate::store::{FanOut, Quarantine, QuarantinedEvent, decode_event};
use crate::webhook::Event;

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
    /// Lists events that were not fanned out yet and are not in quarantine, the oldest first: rows for [`event()`]. A row
    /// that holds none is for [`quarantine`].
    waiting(limit: u32) binds [limit] to concat!("SELECT ", columns!(), "
FROM forum_api_events event WHERE fanned_out_at IS NULL AND quarantine_reason IS NULL
ORDER BY event.occurred_at, number LIMIT $1::TEXT::BIGINT");

    /// Puts events that cannot be read into quarantine.
    quarantine(events: &[QuarantinedEvent]) binds [
        json(events.iter().map(|event| [&event.id, &event.reason])),
    ] to "\
UPDATE forum_api_events event SET quarantine_reason = unreadable.row->>1
FROM json_array_elements($1::TEXT::JSON) AS unreadable (row)
WHERE event.id = unreadable.row->>0 AND event.fanned_out_at IS NULL";

    /// Counts and lists events in quarantine, the newest first: rows for [`quarantine_of`].
    quarantined(limit: u32) binds [limit, Quarantine::MAX_COUNT] to "\
SELECT counted.count::TEXT, latest.id, latest.quarantine_reason
FROM (
    SELECT count(*) FROM (
        SELECT FROM forum_api_events WHERE quarantine_reason IS NOT NULL LIMIT $2::TEXT::BIGINT
    ) few
) counted
LEFT JOIN (
    SELECT number, id, quarantine_reason FROM forum_api_events WHERE quarantine_reason IS NOT NULL
    ORDER BY number DESC LIMIT $1::TEXT::BIGINT
) latest ON TRUE
ORDER BY latest.number DESC";

    /// Queues a delivery of each event to each of its endpoints that is there and enabled; an event that goes to nobody
    /// is taken away, and one that was fanned out already is left alone.
    ///
    /// Its commit waits for no disk (`synchronous_commit`), as a claim of what it queued does, and what is lost before is
    /// queued again: it is run outside transactions.
    fan_out(events: &[FanOut], now: Timestamp, clock: LeaseClock) binds [
        joined(events.iter().map(|one| &one.event)),
        clock.parameter(now),
        joined(each(events).map(|(event, endpoint)| DeliveryId::of(event, endpoint))),
        joined(each(events).map(|(event, _)| event)),
        joined(each(events).map(|(_, endpoint)| endpoint)),
    ] to concat!("WITH ", clock!("$2"), ", event AS MATERIALIZED (
    SELECT id, topic, set_config('synchronous_commit', 'off', TRUE) FROM forum_api_events
    WHERE id = ANY (string_to_array($1, ',')) AND fanned_out_at IS NULL
    ORDER BY id FOR NO KEY UPDATE
), queued AS (
    INSERT INTO forum_api_deliveries (id, event, topic, endpoint, created_at, state, attempts, due_at)
    SELECT delivery.id, event.id, event.topic, endpoint.id, clock.now, 'queued', 0, clock.now
    FROM clock CROSS JOIN unnest(string_to_array($3, ','), string_to_array($4, ','), string_to_array($5, ','))
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
    UPDATE forum_api_events SET fanned_out_at = (SELECT now FROM clock)
    WHERE id = ANY (ARRAY(SELECT id FROM event)) AND id IN (SELECT id FROM told)
)
DELETE FROM forum_api_events
WHERE id = ANY (ARRAY(SELECT id FROM event)) AND id NOT IN (SELECT id FROM told)");
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
/// When the row holds none: the row as [`quarantine`] takes it.
pub fn event(columns: &[&str]) -> Result<Event, QuarantinedEvent> {
    read(columns).map_err(|reason| QuarantinedEvent {
        id: columns.first().copied().unwrap_or_default().into(),
        reason: reason.into(),
    })
}

pub(super) fn read(columns: &[&str]) -> Result<Event, &'static str> {
    let [id, topic, occurred_at, forum, body] = columns else {
        return Err("the row has other columns");
    };
    let occurred_at = time(occurred_at).ok_or("the time is malformed")?;
    let forum = Some(*forum).filter(|forum| !forum.is_empty());
    decode_event(id, topic, occurred_at, forum, body)
}

/// Decodes the rows of [`quarantined`], in which every column is a text.
///
/// # Errors
/// When they are other rows.
pub fn quarantine_of(rows: &[Vec<&str>]) -> Stored<Quarantine> {
    let count = rows.first().and_then(|row| row.first()?.parse().ok());
    let latest = rows.iter().filter_map(|row| match row.as_slice() {
        [_, id, reason] if !reason.is_empty() => Some(QuarantinedEvent {
            id: (*id).into(),
            reason: (*reason).into(),
        }),
        _ => None,
    });
    Ok(Quarantine {
        count: count.ok_or_else(|| Fault::new("a row of the quarantine holds no count"))?,
        latest: latest.collect(),
    })
}
