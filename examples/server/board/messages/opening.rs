//! Opens messages: read once, and told once.

use forum_api::host::Result;
use forum_api::model::{Message, Opening, Timestamp};
use rusqlite::{OptionalExtension, Savepoint, named_params};

use super::super::Board;
use super::super::texts::Texts;
use super::copies::{NewMessage, notify};
use super::folder::one;

/// Before the subject of the message that was read.
const RECEIPT: &str = "Read: ";

impl Board {
    /// A copy of the member's. Only the opening that is the first waits for the writer.
    pub async fn open_message(&self, owner: i64, copy: i64, opening: Opening) -> Result<Message> {
        let say = self.say;
        let found = self.read(move |connection| one(connection, owner, copy));
        let found = found.await?;
        if opening == Opening::Peek || found.summary.read_at.is_some() {
            return Ok(found);
        }
        let open = self.write(move |tx, events| {
            mark_read(tx, owner, copy, events.now, say)?;
            one(tx, owner, copy)
        });
        open.await
    }
}

/// Whoever comes second finds it read, and tells nobody.
fn mark_read(tx: &Savepoint<'_>, owner: i64, copy: i64, now: Timestamp, say: &Texts) -> Result<()> {
    let mut update = tx.prepare_cached(
        "UPDATE message_copy SET read_at = :now WHERE id = :copy AND owner_id = :owner AND read_at IS NULL
         RETURNING message_id",
    )?;
    let parameters = named_params! { ":now": now, ":copy": copy, ":owner": owner };
    let message = update.query_row(parameters, |row| row.get(0)).optional()?;
    if let Some(message) = message {
        tx.prepare_cached("UPDATE member SET unread_count = unread_count - 1 WHERE id = ?1")?
            .execute([owner])?;
        tell(tx, owner, message, now, say)?;
    }
    Ok(())
}

/// Sends the receipt, if it was asked for and there is still somebody to get it. Neither quotas nor ignore lists keep
/// it back, for it was asked for.
fn tell(tx: &Savepoint<'_>, reader: i64, message: i64, now: Timestamp, say: &Texts) -> Result<()> {
    let mut query = tx.prepare_cached(
        "SELECT sender_id, subject FROM message
         WHERE id = ?1 AND receipt_requested AND sender_id IS NOT NULL",
    )?;
    let asked = query.query_row([message], |row| Ok((row.get(0)?, row.get(1)?)));
    let asked: Option<(i64, String)> = asked.optional()?;
    let Some((sender, subject)) = asked else {
        return Ok(());
    };
    let receipt = NewMessage {
        sender: reader,
        subject: &format!("{RECEIPT}{subject}"),
        body: say.receipt,
        receipt_requested: false,
        at: now,
    };
    Ok(notify(tx, receipt, sender)?)
}
