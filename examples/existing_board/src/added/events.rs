//! Added: what is put into the outbox.

use deadpool_postgres::GenericClient;
use forum_api::model::{BodyFormat, Timestamp};
use forum_api::runtime::OsRandom;
use forum_api::webhook::{Event, EventContext, EventMeta};

use super::convert::{author, post, thread};
use crate::before::ReplyError;
use crate::before::topics::{Entry, Topic};

/// Tells of a new entry, in the transaction in which it was written.
pub async fn emit(
    transaction: &impl GenericClient,
    topic: &Topic,
    entry: &Entry,
) -> Result<(), ReplyError> {
    let now = Timestamp::from_millis(entry.written_at);
    let on = EventMeta::new(&OsRandom, now).map_err(|none| ReplyError::Failed(none.into()))?;
    let around = EventContext {
        thread: &thread(topic, 0),
        forum_title: &topic.section_title,
        actor: Some(&author(&entry.writer)),
    };
    let event = Event::post_created(on, &post(entry, BodyFormat::Both), around);
    let put = transaction.prepare_cached(Event::INSERT).await?;
    let parameters = event.parameters();
    let parameters: Vec<_> = parameters.iter().map(|text| text as _).collect();
    transaction.execute(&put, &parameters).await?;
    Ok(())
}
