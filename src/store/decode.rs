//! Conversions that the SQL backends share.

use crate::model::{EventId, ForumId, Timestamp};
use crate::webhook::{Event, Topic};

/// Encodes scopes as a JSON array.
pub(crate) fn scopes_to_json(scopes: &[String]) -> String {
    serde_json::json!(scopes).to_string()
}

/// Decodes scopes from a JSON array.
pub(crate) fn scopes_from_json<S: From<Vec<String>>>(text: &str) -> Option<S> {
    let scopes: Vec<String> = serde_json::from_str(text).ok()?;
    Some(scopes.into())
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
        id: EventId::parse(id).ok_or("the id is malformed")?,
        topic: Topic::parse(topic).ok_or("the topic is malformed")?,
        occurred_at,
        forum: match forum {
            Some(forum) => Some(ForumId::parse(forum).ok_or("the forum is malformed")?),
            None => None,
        },
        body: body.into(),
    })
}

/// Logs and counts a row that cannot be decoded, and is therefore set aside.
pub(crate) fn report_unreadable(table: &'static str, id: &str, reason: &str) {
    crate::metrics::recorder::record_unreadable_row(table);
    tracing::error!(table, id, reason, "failed to decode row; row skipped");
}
