//! Opens messages: read once, and told once.

use forum_api::host::Result;
use forum_api::model::{Message, Opening, Timestamp};

use super::super::Board;
use super::super::db::{Transaction, bind};
use super::super::texts::Texts;
use super::copies::{NewMessage, notify};
use super::folder::one;

/// Before the subject of the message that was read.
const RECEIPT: &str = "Read: ";

impl Board {
    /// A copy of the member's. Only the opening that is the first waits for the writer.
    pub async fn open_message(&self, owner: i64, copy: i64, opening: Opening) -> Result<Message> {
        let say = self.say;
        let found = self.read(move |connection| Box::pin(one(connection, owner, copy)));
        let found = found.await?;
        if opening == Opening::Peek || found.summary.read_at.is_some() {
            return Ok(found);
        }
        let open = self.write(move |tx, events| {
            Box::pin(async move {
                mark_read(tx, owner, copy, events.now, say).await?;
                one(tx, owner, copy).await
            })
        });
        open.await
    }
}

/// Whoever comes second finds it read, and tells nobody.
async fn mark_read(
    tx: &Transaction<'_>,
    owner: i64,
    copy: i64,
    now: Timestamp,
    say: &Texts,
) -> Result<()> {
    let parameters = bind! { ":now": now, ":copy": copy, ":owner": owner };
    let message = tx.first(
        "UPDATE message_copy SET read_at = :now WHERE id = :copy AND owner_id = :owner AND read_at IS NULL
         RETURNING message_id",
        parameters,
        |columns| columns.value(),
    );
    if let Some(message) = message.await? {
        let count = "UPDATE member SET unread_count = unread_count - 1 WHERE id = ?1";
        tx.change(count, bind![owner]).await?;
        tell(tx, owner, message, now, say).await?;
    }
    Ok(())
}

/// Sends the receipt, if it was asked for and there is still somebody to get it. Neither quotas nor ignore lists keep
/// it back, for it was asked for.
async fn tell(
    tx: &Transaction<'_>,
    reader: i64,
    message: i64,
    now: Timestamp,
    say: &Texts,
) -> Result<()> {
    let parameters = bind![message];
    let asked = tx.first(
        "SELECT sender_id, subject FROM message
         WHERE id = ?1 AND receipt_requested AND sender_id IS NOT NULL",
        parameters,
        |columns| Ok((columns.value()?, columns.value()?)),
    );
    let asked: Option<(i64, String)> = asked.await?;
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
    Ok(notify(tx, receipt, sender).await?)
}
