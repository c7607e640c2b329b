//! Outbox store.

use async_trait::async_trait;

use super::Postgres;
use super::execute::{Columns, Parameters, Result};
use super::lease_clock::clock;
use crate::error::Stored;
use crate::model::{DeliveryId, Timestamp};
use crate::store::{FanOut, Outbox, Quarantine, QuarantinedEvent, decode_event, report_unreadable};
use crate::webhook::Event;

const PENDING: &str = "
SELECT id, topic, occurred_at, forum, body
FROM forum_api_events WHERE fanned_out_at IS NULL AND quarantine_reason IS NULL
ORDER BY occurred_at, number LIMIT $1";

const QUARANTINE: &str = "
UPDATE forum_api_events event SET quarantine_reason = unreadable.reason
FROM unnest($1::TEXT[], $2::TEXT[]) AS unreadable (id, reason)
WHERE event.id = unreadable.id AND event.fanned_out_at IS NULL";

const QUARANTINED: &str = "
SELECT counted.count, latest.id, latest.quarantine_reason
FROM (
    SELECT count(*) FROM (SELECT FROM forum_api_events WHERE quarantine_reason IS NOT NULL LIMIT $2) few
) counted
LEFT JOIN (
    SELECT number, id, quarantine_reason FROM forum_api_events WHERE quarantine_reason IS NOT NULL
    ORDER BY number DESC LIMIT $1
) latest ON TRUE
ORDER BY latest.number DESC";

/// Queues a delivery of each event to each of its endpoints that exists and is enabled. Deletes an event without
/// recipients, and skips one that was fanned out already.
///
/// Its commit does not wait for the disk (`synchronous_commit`), and neither does a claim of what it queued. What a crash
/// loses is queued again.
const FAN_OUT: &str = concat!(
    "WITH ",
    clock!("$2"),
    ", event AS MATERIALIZED (
    SELECT id, topic, set_config('synchronous_commit', 'off', TRUE) FROM forum_api_events
    WHERE id = ANY ($1) AND fanned_out_at IS NULL
    ORDER BY id FOR NO KEY UPDATE
), queued AS (
    INSERT INTO forum_api_deliveries (id, event, topic, endpoint, created_at, state, attempts, due_at)
    SELECT delivery.id, event.id, event.topic, endpoint.id, clock.now, 'queued', 0, clock.now
    FROM clock CROSS JOIN unnest($3::TEXT[], $4::TEXT[], $5::TEXT[]) AS delivery (id, event, endpoint)
    JOIN event ON event.id = delivery.event
    JOIN forum_api_endpoints endpoint ON endpoint.id = delivery.endpoint AND endpoint.enabled
    FOR KEY SHARE OF endpoint
    ON CONFLICT (id) DO NOTHING
    RETURNING event
), delivered AS (
    SELECT event AS id FROM queued
    UNION
    SELECT event.id FROM event WHERE EXISTS (SELECT FROM forum_api_deliveries WHERE event = event.id)
), kept AS (
    UPDATE forum_api_events SET fanned_out_at = (SELECT now FROM clock)
    WHERE id = ANY (ARRAY(SELECT id FROM event)) AND id IN (SELECT id FROM delivered)
)
DELETE FROM forum_api_events
WHERE id = ANY (ARRAY(SELECT id FROM event)) AND id NOT IN (SELECT id FROM delivered)"
);

#[async_trait]
impl Outbox for Postgres {
    async fn put(&self, event: &Event) -> Stored<()> {
        let [id, topic, occurred_at, forum, body] = event.parameters();
        let parameters: Parameters<'_> = &[&id, &topic, &occurred_at, &forum, &body];
        self.execute(Event::INSERT, parameters).await?;
        Ok(())
    }

    async fn waiting(&self, limit: u32) -> Stored<Vec<Event>> {
        let rows = self
            .all(PENDING, &[&i64::from(limit)], |columns| {
                Ok(read_event(columns))
            })
            .await?;
        let (mut events, mut ids, mut reasons) = (Vec::new(), Vec::new(), Vec::new());
        for row in rows {
            match row {
                Ok(event) => events.push(event),
                Err(unreadable) => {
                    ids.push(unreadable.id);
                    reasons.push(unreadable.reason);
                }
            }
        }
        if !ids.is_empty() {
            self.execute(QUARANTINE, &[&ids, &reasons]).await?;
            for (id, reason) in ids.iter().zip(&reasons) {
                report_unreadable("events", id, reason);
            }
        }
        Ok(events)
    }

    async fn quarantined(&self, limit: u32) -> Stored<Quarantine> {
        let max_count = i64::try_from(Quarantine::MAX_COUNT).unwrap_or(i64::MAX);
        let read = |columns: &mut Columns<'_>| {
            let count = columns.number()?;
            let id: Option<String> = columns.value()?;
            let reason: Option<String> = columns.value()?;
            Ok((count, id.zip(reason)))
        };
        let rows = self
            .all(QUARANTINED, &[&i64::from(limit), &max_count], read)
            .await?;
        let mut quarantine = Quarantine::default();
        for (count, latest) in rows {
            quarantine.count = count;
            let latest = latest.map(|(id, reason)| QuarantinedEvent { id, reason });
            quarantine.latest.extend(latest);
        }
        Ok(quarantine)
    }

    async fn fan_out(&self, events: &[FanOut], now: Timestamp) -> Stored<()> {
        let ids: Vec<_> = events.iter().map(|one| &one.event).collect();
        let pairs = || {
            let pairs = |one: &'_ FanOut| {
                one.endpoints
                    .iter()
                    .map(|to| (one.event.clone(), to.clone()))
                    .collect::<Vec<_>>()
            };
            events.iter().flat_map(pairs)
        };
        let deliveries: Vec<_> = pairs()
            .map(|(event, to)| DeliveryId::of(&event, &to))
            .collect();
        let (each_event, each_endpoint): (Vec<_>, Vec<_>) = pairs().unzip();
        let now = self.clock.time(now);
        let parameters: Parameters<'_> = &[&ids, &now, &deliveries, &each_event, &each_endpoint];
        self.execute(FAN_OUT, parameters).await?;
        Ok(())
    }
}

/// The columns of an event, as [`read_event`] reads them.
macro_rules! event_columns {
    () => {
        "event.id, event.topic, event.occurred_at, event.forum, event.body"
    };
}

pub(super) use event_columns;

/// Reads an event. `Err` holds the id and the reason of a row that cannot be decoded.
pub(super) fn read_event(
    columns: &mut Columns<'_>,
) -> std::result::Result<Event, QuarantinedEvent> {
    let id = columns.value::<&str>().unwrap_or_default();
    let mut read = || -> Result<_> {
        Ok((
            columns.value()?,
            columns.value()?,
            columns.value()?,
            columns.value()?,
        ))
    };
    let event = match read() {
        Ok((topic, occurred_at, forum, body)) => {
            decode_event(id, topic, occurred_at, forum, body).map_err(str::to_owned)
        }
        Err(error) => Err(error.to_string()),
    };
    event.map_err(|reason| QuarantinedEvent {
        id: id.into(),
        reason,
    })
}
