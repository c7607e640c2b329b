//! Puts messages into folders, and keeps the counts with them.

use forum_api::model::{Folder, Timestamp};
use serde_json::Value;

use super::super::db::{Result, Transaction, bind};
use super::super::markdown;
use super::folder::stored;

/// A message that was found good.
#[derive(Clone, Copy, Debug)]
pub struct NewMessage<'a> {
    /// Who sends it.
    pub sender: i64,
    /// Its subject.
    pub subject: &'a str,
    /// Its source markup.
    pub body: &'a str,
    /// Whether the sender is to hear of each recipient's first reading.
    pub receipt_requested: bool,
    /// When it is sent.
    pub at: Timestamp,
}

/// Gives a message to its recipients and keeps a copy for its sender, whose id is given.
pub async fn deliver(
    tx: &Transaction<'_>,
    message: NewMessage<'_>,
    recipients: &[i64],
) -> Result<i64> {
    let text = text(tx, message).await?;
    receive(tx, message, text, recipients, true).await?;
    let parameters = bind! {
        ":text": text,
        ":sender": message.sender,
        ":folder": stored(Folder::Sent),
        ":at": message.at,
    };
    let insert = tx.insert(
        "INSERT INTO message_copy (message_id, owner_id, folder, sent_at, read_at)
         VALUES (:text, :sender, :folder, :at, :at) RETURNING id",
        parameters,
    );
    insert.await
}

/// Gives somebody a message that uses no room in their inbox, and of which no copy is kept.
pub async fn notify(tx: &Transaction<'_>, message: NewMessage<'_>, recipient: i64) -> Result<()> {
    let text = text(tx, message).await?;
    receive(tx, message, text, &[recipient], false).await
}

async fn text(tx: &Transaction<'_>, message: NewMessage<'_>) -> Result<i64> {
    let html = markdown::render(message.body);
    let parameters = bind! {
        ":sender": message.sender,
        ":subject": message.subject,
        ":body": message.body,
        ":html": html,
        ":receipt": message.receipt_requested,
    };
    let insert = tx.insert(
        "INSERT INTO message (sender_id, subject, body, body_html, receipt_requested)
         VALUES (:sender, :subject, :body, :html, :receipt) RETURNING id",
        parameters,
    );
    insert.await
}

async fn receive(
    tx: &Transaction<'_>,
    message: NewMessage<'_>,
    text: i64,
    recipients: &[i64],
    uses_room: bool,
) -> Result<()> {
    let recipients = Value::from(recipients).to_string();
    let parameters = bind! {
        ":text": text,
        ":folder": stored(Folder::Inbox),
        ":at": message.at,
        ":recipients": recipients,
    };
    let insert = tx.change(
        "INSERT INTO message_copy (message_id, owner_id, folder, sent_at)
         SELECT :text, CAST(value AS BIGINT), :folder, :at FROM json_each(:recipients) ORDER BY key",
        parameters,
    );
    insert.await?;
    let parameters = bind![recipients, uses_room];
    let count = tx.change(
        "UPDATE member SET
            unread_count = unread_count + 1, inbox_used = inbox_used + CASE WHEN ?2 THEN 1 ELSE 0 END
         WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(?1))",
        parameters,
    );
    count.await?;
    Ok(())
}
