//! Stores messages: one text, and a copy of it for each party.

use forum_api::model::{Folder, Timestamp};

use crate::board::db::{self, Transaction, bind, json};

/// A valid message.
#[derive(Clone, Copy, Debug)]
pub struct MessageInsert<'a> {
    pub sender: i64,
    pub subject: &'a str,
    pub body: &'a str,
    pub html: &'a str,
    pub receipt_requested: bool,
    pub at: Timestamp,
}

/// Delivers a message, stores a copy for its sender, and returns the id of that copy.
pub async fn deliver(
    tx: &Transaction<'_>,
    message: MessageInsert<'_>,
    recipients: &[i64],
) -> db::DbResult<i64> {
    let text = text(tx, message, false).await?;
    receive(tx, message, text, recipients, true).await?;
    let parameters = bind! {
        ":text": text, ":sender": message.sender, ":folder": stored(Folder::Sent),
        ":at": message.at,
    };
    tx.insert(
        "INSERT INTO message_copy (message_id, owner_id, folder, sent_at, read_at)
         VALUES (:text, :sender, :folder, :at, :at) RETURNING id",
        parameters,
    )
    .await
}

/// Delivers a receipt, which does not count for the quota and has no sender's copy.
pub async fn notify(
    tx: &Transaction<'_>,
    message: MessageInsert<'_>,
    recipient: i64,
) -> db::DbResult<()> {
    let text = text(tx, message, true).await?;
    receive(tx, message, text, &[recipient], false).await
}

async fn text(
    tx: &Transaction<'_>,
    message: MessageInsert<'_>,
    is_receipt: bool,
) -> db::DbResult<i64> {
    let parameters = bind! {
        ":sender": message.sender, ":subject": message.subject, ":body": message.body,
        ":html": message.html, ":requested": message.receipt_requested, ":is_receipt": is_receipt,
    };
    tx.insert(
        "INSERT INTO message (sender_id, subject, body, body_html, receipt_requested, is_receipt)
         VALUES (:sender, :subject, :body, :html, :requested, :is_receipt) RETURNING id",
        parameters,
    )
    .await
}

async fn receive(
    tx: &Transaction<'_>,
    message: MessageInsert<'_>,
    text: i64,
    recipients: &[i64],
    counts_for_quota: bool,
) -> db::DbResult<()> {
    let recipients = json(recipients);
    let parameters = bind! {
        ":text": text, ":folder": stored(Folder::Inbox), ":at": message.at,
        ":recipients": recipients,
    };
    tx.execute(
        "INSERT INTO message_copy (message_id, owner_id, folder, sent_at)
         SELECT :text, CAST(value AS BIGINT), :folder, :at FROM json_each(:recipients) ORDER BY key",
        parameters,
    )
    .await?;
    let parameters = bind![recipients, counts_for_quota];
    tx.execute(
        "UPDATE member SET
            unread_count = unread_count + 1, inbox_used = inbox_used + CASE WHEN ?2 THEN 1 ELSE 0 END
         WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(?1))",
        parameters,
    )
    .await?;
    Ok(())
}

pub const fn stored(folder: Folder) -> &'static str {
    match folder {
        Folder::Inbox => "inbox",
        Folder::Sent => "sent",
    }
}
