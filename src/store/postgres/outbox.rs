//! Outbox store.

use async_trait::async_trait;

use super::PostgresStore;
use super::execute::{Parameters, Result, RowReader};
use crate::error::BackendResult;
use crate::model::{DeliveryId, EndpointId, EventId, Timestamp};
use crate::store::{
    FanOut, OutboxStore, Quarantine, QuarantinedEvent, decode_event, report_unreadable,
};
use crate::webhook::Event;

const PENDING: &str = "
SELECT id, topic, occurred_at, forum, body
FROM forum_api_events WHERE fanned_out_at IS NULL AND quarantine_reason IS NULL
ORDER BY occurred_at, number LIMIT $1";

const QUARANTINE: &str = "
UPDATE forum_api_events event SET quarantine_reason = unreadable.reason
FROM unnest($1::TEXT[], $2::TEXT[]) AS unreadable (id, reason)
WHERE event.id = unreadable.id AND event.fanned_out_at IS NULL";

const QUARANTINED: &str = include_str!("sql/quarantined_events.sql");
const BODY: &str = "SELECT body FROM forum_api_events WHERE id = $1";
const FAN_OUT: &str = include_str!("sql/fan_out.sql");

#[async_trait]
impl OutboxStore for PostgresStore {
    async fn insert(&self, event: &Event) -> BackendResult<()> {
        let [id, topic, occurred_at, forum, body] = event.insert_parameters();
        let parameters: Parameters<'_> = &[&id, &topic, &occurred_at, &forum, &body];
        self.execute(Event::INSERT_SQL, parameters).await?;
        Ok(())
    }

    async fn pending(&self, limit: u32) -> BackendResult<Vec<Event>> {
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

    async fn quarantined(&self, limit: u32) -> BackendResult<Quarantine> {
        let max_count = i64::try_from(Quarantine::MAX_COUNT).unwrap_or(i64::MAX);
        let read = |columns: &mut RowReader<'_>| {
            let count = columns.number("count")?;
            let id: Option<String> = columns.value("id")?;
            let reason: Option<String> = columns.value("reason")?;
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

    async fn body(&self, id: &EventId) -> BackendResult<Option<String>> {
        Ok(self
            .first(BODY, &[id], |columns| columns.value("body"))
            .await?)
    }

    async fn fan_out(&self, events: &[FanOut], now: Timestamp) -> BackendResult<()> {
        let ids: Vec<_> = events.iter().map(|one| &one.event_id).collect();
        let recipients = recipients(events);
        let (each_event, each_endpoint): (Vec<_>, Vec<_>) = recipients.iter().copied().unzip();
        let deliveries: Vec<_> = recipients
            .iter()
            .map(|(event, to)| DeliveryId::derive(event, to))
            .collect();
        let now = self.clock.time(now);
        let parameters: Parameters<'_> = &[&ids, &now, &deliveries, &each_event, &each_endpoint];
        self.execute(FAN_OUT, parameters).await?;
        Ok(())
    }
}

fn recipients(events: &[FanOut]) -> Vec<(&EventId, &EndpointId)> {
    let recipients = events
        .iter()
        .flat_map(|one| one.endpoint_ids.iter().map(|to| (&one.event_id, to)));
    recipients.collect()
}

/// Reads an event. `Err` holds the id and the reason of a row that cannot be decoded.
pub(super) fn read_event(
    columns: &mut RowReader<'_>,
) -> std::result::Result<Event, QuarantinedEvent> {
    let id = columns.value::<&str>("id").unwrap_or_default();
    let mut read = || -> Result<_> {
        Ok((
            columns.value("topic")?,
            columns.value("occurred_at")?,
            columns.value("forum")?,
            columns.value("body")?,
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
