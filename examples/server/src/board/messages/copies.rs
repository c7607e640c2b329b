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
    let parameters = bind! {
        ":text": text(tx, message, false).await?, ":recipients": json(recipients)?, ":at": message.at,
        ":counts": true, ":sender": Some(message.sender),
    };
    let sent = tx.execute_all(&[COUNT, COPIES], parameters).await?;
    sent.ok_or(db::DbError::Invalid("the copy has no id"))
}

/// Delivers a receipt, which does not count for the quota and has no sender's copy.
pub async fn notify(
    tx: &Transaction<'_>,
    message: MessageInsert<'_>,
    recipient: i64,
) -> db::DbResult<()> {
    let no_sender: Option<i64> = None;
    let parameters = bind! {
        ":text": text(tx, message, true).await?, ":recipients": json(&[recipient])?,
        ":at": message.at, ":counts": false, ":sender": no_sender,
    };
    tx.execute_all(&[COUNT, COPIES], parameters).await.map(drop)
}

const COUNT: &str = "
    UPDATE member SET
        unread_count = unread_count + 1, inbox_used = inbox_used + CASE WHEN :counts THEN 1 ELSE 0 END
    WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(:recipients))";

/// Inserts the copies of the recipients, and then the copy of the sender.
const COPIES: &str = "
    INSERT INTO message_copy (message_id, owner_id, folder, sent_at, read_at)
    SELECT :text, owner_id, folder, :at, read_at
    FROM (
        SELECT key, CAST(value AS BIGINT) AS owner_id, 'inbox' AS folder, CAST(NULL AS BIGINT) AS read_at
        FROM json_each(:recipients)
        UNION ALL
        SELECT 0, CAST(:sender AS BIGINT), 'sent', CAST(:at AS BIGINT) WHERE CAST(:sender AS BIGINT) IS NOT NULL
    ) AS copies
    ORDER BY folder, key RETURNING id";

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

pub const fn stored(folder: Folder) -> &'static str {
    match folder {
        Folder::Inbox => "inbox",
        Folder::Sent => "sent",
    }
}
