//! Puts messages into folders, and keeps the counts with them.

use forum_api::model::{Folder, Timestamp};
use rusqlite::{Result, Savepoint, named_params};
use serde_json::Value;

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
pub fn deliver(tx: &Savepoint<'_>, message: NewMessage<'_>, recipients: &[i64]) -> Result<i64> {
    let text = text(tx, message)?;
    receive(tx, message, text, recipients, true)?;
    let mut insert = tx.prepare_cached(
        "INSERT INTO message_copy (message_id, owner_id, folder, sent_at, read_at) VALUES (?1, ?2, ?3, ?4, ?4)",
    )?;
    insert.insert((text, message.sender, stored(Folder::Sent), message.at))
}

/// Gives somebody a message that uses no room in their inbox, and of which no copy is kept.
pub fn notify(tx: &Savepoint<'_>, message: NewMessage<'_>, recipient: i64) -> Result<()> {
    let text = text(tx, message)?;
    receive(tx, message, text, &[recipient], false)
}

fn text(tx: &Savepoint<'_>, message: NewMessage<'_>) -> Result<i64> {
    let mut insert = tx.prepare_cached(
        "INSERT INTO message (sender_id, subject, body, body_html, receipt_requested)
         VALUES (:sender, :subject, :body, :html, :receipt)",
    )?;
    insert.insert(named_params! {
        ":sender": message.sender,
        ":subject": message.subject,
        ":body": message.body,
        ":html": markdown::render(message.body),
        ":receipt": message.receipt_requested,
    })
}

fn receive(
    tx: &Savepoint<'_>,
    message: NewMessage<'_>,
    text: i64,
    recipients: &[i64],
    uses_room: bool,
) -> Result<()> {
    let recipients = Value::from(recipients).to_string();
    let mut insert = tx.prepare_cached(
        "INSERT INTO message_copy (message_id, owner_id, folder, sent_at)
         SELECT ?1, value, ?2, ?3 FROM json_each(?4) ORDER BY key",
    )?;
    insert.execute((text, stored(Folder::Inbox), message.at, &recipients))?;
    let mut count = tx.prepare_cached(
        "UPDATE member SET unread_count = unread_count + 1, inbox_used = inbox_used + ?2
         WHERE id IN (SELECT value FROM json_each(?1))",
    )?;
    count.execute((&recipients, uses_room))?;
    Ok(())
}
