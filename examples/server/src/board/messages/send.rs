//! Sends messages.

use forum_api::host::BoardResult;
use forum_api::model::{Message, NewMessage, Timestamp, UserId};
use forum_api::webhook::Event;

use super::copies::{MessageInsert, deliver};
use super::folder::load;
use super::recipients::find_recipients;
use crate::board::db::{Connection, bind};
use crate::board::events::Command;
use crate::board::markdown::BodyHtml;
use crate::board::rules;
use crate::board::settings::{BODY_MAX, MESSAGES_PER_HOUR, TITLE_MAX};
use crate::board::texts::Texts;

/// Sends a message and returns the sender's copy. Checks the message first, then the limits of the sender, and then
/// those of the recipients.
pub async fn send(
    (tx, events, _, texts): Command<'_>,
    sender: i64,
    new: NewMessage,
    html: BodyHtml,
) -> BoardResult<Message> {
    let most = TITLE_MAX.get(tx).await?;
    let subject = rules::check_single_line(
        "subject",
        &new.subject,
        most,
        (texts.subject_missing, texts.subject_too_long),
        texts,
    )?;
    let most = BODY_MAX.get(tx).await?;
    rules::check_text(
        "body",
        &new.body,
        most,
        texts.message_missing,
        texts.body_too_long,
    )?;
    flood(tx, sender, events.now, texts).await?;
    let recipients = find_recipients(tx, sender, &new.to, texts).await?;
    let message = MessageInsert {
        sender,
        subject,
        body: &new.body,
        html: html.as_str(texts)?,
        receipt_requested: new.request_receipt,
        at: events.now,
    };
    let copy = deliver(tx, message, &recipients).await?;
    let recipients: Vec<_> = recipients.into_iter().map(UserId::from).collect();
    events.record(|meta| Event::message_sent(meta, &copy.into(), &sender.into(), &recipients))?;
    load(tx, sender, copy).await
}

/// Checks the number of messages in the last hour.
async fn flood(
    connection: &Connection<'_>,
    sender: i64,
    now: Timestamp,
    texts: &Texts,
) -> BoardResult<()> {
    let most = MESSAGES_PER_HOUR.get(connection).await?;
    let parameters = bind! {
        ":sender": sender, ":now": now, ":since": now.saturating_sub(rules::HOUR),
        ":others": i64::from(most) - 1,
    };
    let oldest = connection
        .first(
            "SELECT sent_at FROM message_copy
         WHERE owner_id = :sender AND folder = 'sent' AND sent_at > :since AND sent_at <= :now
         ORDER BY sent_at DESC LIMIT 1 OFFSET :others",
            parameters,
            |row| row.value("sent_at"),
        )
        .await?;
    rules::check_frequency(oldest, now, most, rules::HOUR, texts.too_many_messages)
}
