//! Added: writes events to the outbox.

use deadpool_postgres::GenericClient;
use forum_api::host::RequestInfo;
use forum_api::model::{BodyFormat, Timestamp};
use forum_api::webhook::{Event, EventContext, EventMeta};

use super::convert::{author, post, thread};
use crate::before::topics::{self, ADMINISTRATOR, Entry, Topic};
use crate::before::{Club, ReplyError};

/// Writes the event of a new entry in the entry's transaction.
pub async fn emit(
    transaction: &impl GenericClient,
    topic: &Topic,
    entry: &Entry,
    request: Option<&RequestInfo>,
) -> Result<(), ReplyError> {
    let now = Timestamp::from_millis(entry.written_at);
    let meta = event_meta(request, now)?;
    let thread = thread(topic, 0);
    let actor = author(&entry.writer);
    let context = EventContext::new(&thread, &topic.section_title).actor(&actor);
    let event = Event::post_created(meta, &post(entry, BodyFormat::Both), context);
    insert(transaction, &event).await
}

/// Locks or unlocks a topic, and writes the event of the change in the same transaction. Changes nothing if the topic has
/// this state already.
pub async fn lock_topic(club: &Club, topic: i64, locked: bool) -> Result<(), ReplyError> {
    let update = "
        UPDATE topic SET locked = $2 WHERE id = $1 AND locked <> $2 RETURNING club_now() AS locked_at";
    let mut client = club.pool.get().await?;
    let transaction = client.transaction().await?;
    let Some(row) = transaction.query_opt(update, &[&topic, &locked]).await? else {
        return Ok(());
    };
    let locked_at = Timestamp::from_millis(row.try_get("locked_at")?);
    let changed = topics::find(&transaction, topic, ADMINISTRATOR).await?;
    let topic = changed.ok_or(ReplyError::NoTopic)?;
    let meta = event_meta(None, locked_at)?;
    let thread = thread(&topic, 0);
    let event = Event::thread_updated(meta, EventContext::new(&thread, &topic.section_title));
    insert(&transaction, &event).await?;
    transaction.commit().await?;
    Ok(())
}

/// Creates the metadata of an event. `request` is the request that causes it, or `None` for a change without one.
fn event_meta(request: Option<&RequestInfo>, now: Timestamp) -> Result<EventMeta, ReplyError> {
    let background = RequestInfo::background(now);
    let caused = request.unwrap_or(&background).event(now);
    let meta = caused.map_err(|error| ReplyError::Failed(error.into()))?;
    Ok(meta.web_urls(&super::web_urls()))
}

/// Writes an event in the transaction of its change.
pub async fn insert(transaction: &impl GenericClient, event: &Event) -> Result<(), ReplyError> {
    let statement = transaction.prepare_cached(Event::INSERT_SQL).await?;
    let texts = event.insert_parameters();
    let parameters: Vec<_> = texts.iter().map(|text| text as _).collect();
    transaction.execute(&statement, &parameters).await?;
    Ok(())
}
