//! Rules that all backends share.

use super::Claim;
use crate::model::{EndpointId, EventId, ForumId, Timestamp};
use crate::webhook::{Event, Progress, State, Topic};

impl Claim {
    /// How many more attempts may go to this endpoint.
    pub(crate) fn room_at(&self, endpoint: &EndpointId) -> u32 {
        let running = self.running.get(endpoint).copied().unwrap_or_default();
        self.per_endpoint.saturating_sub(running)
    }

    /// What is taken, and when the next one is due, given what is pending at each endpoint with room: the oldest due,
    /// as many as it has room for.
    ///
    /// Of an endpoint that is full afterwards, none of these is left.
    pub(crate) fn pick<K: Ord>(
        &self,
        mut pending: Vec<(Timestamp, K)>,
        now: Timestamp,
    ) -> (Vec<K>, Option<Timestamp>) {
        pending.sort_unstable();
        let due = pending.partition_point(|(due_at, _)| *due_at <= now);
        let left = pending.split_off(due.min(self.room as usize));
        let next = left.first().map(|(due_at, _)| *due_at);
        (pending.into_iter().map(|(_, key)| key).collect(), next)
    }
}

/// From when on a delivery that has come so far at `now` is kept for some days only; `None` while it is kept.
pub(crate) fn ended_at(progress: &Progress, now: Timestamp) -> Option<Timestamp> {
    let has_ended = matches!(
        progress.state,
        State::Delivered | State::Gone | State::Withheld
    );
    has_ended.then_some(now)
}

/// Decodes an event from the texts that a database holds. `Err` is the reason why the row holds none.
pub(crate) fn decode_event(
    id: &str,
    topic: &str,
    occurred_at: Timestamp,
    forum: Option<&str>,
    body: &str,
) -> Result<Event, &'static str> {
    Ok(Event {
        id: EventId::new(id).ok_or("the id is malformed")?,
        topic: Topic::new(topic).ok_or("the topic is malformed")?,
        occurred_at,
        forum: match forum {
            Some(forum) => Some(ForumId::new(forum).ok_or("the forum is malformed")?),
            None => None,
        },
        body: body.into(),
    })
}

/// Logs and counts a row that cannot be decoded, and is therefore set aside.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(crate) fn report_unreadable(table: &'static str, id: &str, reason: &str) {
    crate::metrics::recorder::record_unreadable(table);
    tracing::error!(
        table,
        id,
        reason,
        "a row cannot be decoded and is set aside"
    );
}
