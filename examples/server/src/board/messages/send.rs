//! Sends messages.

use std::sync::LazyLock;

use forum_api::host::BoardResult;
use forum_api::model::{Author, Folder, Message, MessageSummary, NewMessage, Timestamp, UserId};
use forum_api::webhook::Event;

use super::copies::{MessageInsert, deliver};
use super::recipients::find_recipients;
use crate::board::db::{Connection, bind};
use crate::board::events::Command;
use crate::board::markdown::BodyHtml;
use crate::board::rules;
use crate::board::settings::{BODY_MAX, MESSAGES_PER_HOUR, SettingValues, TITLE_MAX};

/// Sends a message and returns the sender's copy. Checks the message first, then the limits of the sender, and then
/// those of the recipients.
pub async fn send(
    (tx, events, _, texts): Command<'_>,
    sender: i64,
    new: NewMessage,
    html: BodyHtml,
) -> BoardResult<Message> {
    let (settings, author, oldest) = load_limits(tx, sender, events.now).await?;
    let subject = rules::check_single_line(
        "subject",
        &new.subject,
        settings.of(&TITLE_MAX),
        (texts.subject_missing, texts.subject_too_long),
        texts,
    )?;
    rules::check_text(
        "body",
        &new.body,
        settings.of(&BODY_MAX),
        texts.message_missing,
        texts.body_too_long,
    )?;
    let most = settings.of(&MESSAGES_PER_HOUR);
    rules::check_frequency(
        oldest,
        events.now,
        most,
        rules::HOUR,
        texts.too_many_messages,
    )?;
    let recipients = find_recipients(tx, sender, &new.to, &settings, texts).await?;
    let message = MessageInsert {
        sender,
        subject,
        body: &new.body,
        html: html.as_str(texts)?,
        receipt_requested: new.request_receipt,
        at: events.now,
    };
    let ids: Vec<_> = recipients.iter().map(|to| to.user_id.clone()).collect();
    let to = ids
        .iter()
        .map(UserId::to_i64)
        .collect::<Result<Vec<_>, _>>()?;
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

/// Returns the settings, the sender, and the time of the oldest of the last N messages within an hour, where N is the
/// hourly limit.
async fn load_limits(
    connection: &Connection<'_>,
    sender: i64,
    now: Timestamp,
) -> BoardResult<(SettingValues, Option<Author>, Option<Timestamp>)> {
    static QUERY: LazyLock<String> = LazyLock::new(|| {
        format!(
            "SELECT {}, id, username, avatar_url, (
                SELECT sent_at FROM message_copy
                WHERE owner_id = :sender AND folder = 'sent' AND sent_at > :since AND sent_at <= :now
                ORDER BY sent_at DESC LIMIT 1
                OFFSET coalesce((SELECT CAST(value AS BIGINT) FROM setting WHERE key = :key), :default) - 1
            ) AS oldest
            FROM member WHERE id = :sender",
            SettingValues::COLUMN,
        )
    });
    let parameters = bind! {
        ":sender": sender, ":now": now, ":since": now.saturating_sub(rules::HOUR),
        ":key": MESSAGES_PER_HOUR.key, ":default": MESSAGES_PER_HOUR.default,
    };
    connection
        .one(&QUERY, parameters, |row| {
            let author = row.author(["id", "username", "avatar_url"])?;
            Ok((SettingValues::read(row)?, author, row.value("oldest")?))
        })
        .await
}
