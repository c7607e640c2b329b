//! Sends messages.

use forum_api::host::BoardResult;
use forum_api::model::{Author, Folder, Message, MessageSummary, NewMessage, Timestamp, UserId};
use forum_api::webhook::Event;

use super::copies::{MessageInsert, deliver};
use super::recipients::find_recipients;
use crate::board::db::{Connection, bind};
use crate::board::events::Command;
use crate::board::markdown::BodyHtml;
use crate::board::rules;
use crate::board::settings::{BODY_MAX, MESSAGES_PER_HOUR, TITLE_MAX};

/// Sends a message and returns the sender's copy. Checks the message first, then the limits of the sender, and then
/// those of the recipients.
pub async fn send(
    Command { tx, events, actor, texts }: Command<'_>,
    sender: i64,
    new: NewMessage,
    html: BodyHtml,
) -> BoardResult<Message> {
    let settings = &*actor.settings;
    let most = settings.of(&MESSAGES_PER_HOUR);
    let (author, oldest) = load_limits(tx, sender, most, events.now).await?;
    let subject = rules::check_single_line(
        "subject",
        &new.subject,
        settings.of(&TITLE_MAX),
        texts.subject_missing,
        texts.subject_too_long,
        texts,
    )?;
    rules::check_text(
        "body",
        &new.body,
        settings.of(&BODY_MAX),
        texts.message_missing,
        texts.body_too_long,
    )?;
    rules::check_frequency(oldest, events.now, most, rules::HOUR, texts.too_many_messages)?;
    let recipients = find_recipients(tx, sender, &new.to, settings, texts).await?;
    let message = MessageInsert {
        sender,
        subject,
        body: &new.body,
        html: html.as_str(texts)?,
        receipt_requested: new.request_receipt,
        at: events.now,
    };
    let ids: Vec<_> = recipients.iter().map(|to| to.user_id.clone()).collect();
    let to = ids.iter().map(UserId::to_i64).collect::<Result<Vec<_>, _>>()?;
    let copy = deliver(tx, message, &to, false).await?;
    events.record(|meta| Event::message_sent(meta, &copy.into(), &sender.into(), &ids))?;
    let mut summary = MessageSummary::new(copy.into(), Folder::Sent, subject, message.at);
    summary.sender = author;
    summary.recipients = recipients;
    summary.read = true;
    summary.read_at = Some(message.at);
    summary.receipt_requested = message.receipt_requested;
    Ok(Message::new(summary, message.body, message.html))
}

/// Returns the sender, and the time of the oldest of the last `most` messages within an hour.
async fn load_limits(
    connection: &Connection<'_>,
    sender: i64,
    most: i64,
    now: Timestamp,
) -> BoardResult<(Option<Author>, Option<Timestamp>)> {
    let query = "
        SELECT id, username, avatar_url, (
            SELECT sent_at FROM message_copy
            WHERE owner_id = :sender AND folder = 'sent' AND sent_at > :since AND sent_at <= :now
            ORDER BY sent_at DESC LIMIT 1 OFFSET :offset
        ) AS oldest
        FROM member WHERE id = :sender";
    let parameters = bind! {
        ":sender": sender, ":now": now, ":since": now.saturating_sub(rules::HOUR), ":offset": most - 1,
    };
    connection
        .one(query, parameters, |row| {
            let author = row.author(["id", "username", "avatar_url"])?;
            Ok((author, row.value("oldest")?))
        })
        .await
}
