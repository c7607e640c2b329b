//! Added: writes events to the outbox.

use deadpool_postgres::GenericClient;
use forum_api::host::RequestInfo;
use forum_api::model::{BodyFormat, Timestamp};
use forum_api::webhook::{Event, EventContext};

use super::convert::{author, post, thread};
use crate::before::ReplyError;
use crate::before::topics::{Entry, Topic};

/// Writes the event of a new entry in the entry's transaction.
pub async fn emit(
    transaction: &impl GenericClient,
    topic: &Topic,
    entry: &Entry,
    request: Option<&RequestInfo>,
) -> Result<(), ReplyError> {
    let now = Timestamp::from_millis(entry.written_at);
    let background = RequestInfo::background(now);
    let caused = request.unwrap_or(&background).event(now);
    let meta =
        caused.map_err(|error| ReplyError::Failed(error.into()))?.web_urls(&super::web_urls());
    let thread = thread(topic, 0);
    let actor = author(&entry.writer);
    let context = EventContext::new(&thread, &topic.section_title).actor(&actor);
    let event = Event::post_created(meta, &post(entry, BodyFormat::Both), context);
    insert(transaction, &event).await
}

/// Writes an event in the transaction of its change.
pub async fn insert(transaction: &impl GenericClient, event: &Event) -> Result<(), ReplyError> {
    let statement = transaction.prepare_cached(Event::INSERT_SQL).await?;
    let texts = event.insert_parameters();
    let parameters: Vec<_> = texts.iter().map(|text| text as _).collect();
    transaction.execute(&statement, &parameters).await?;
    Ok(())
}
