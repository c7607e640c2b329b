//! Stores messages: one text, and a copy of it for each party.

use forum_api::host::{BoardError, BoardResult};
use forum_api::model::{Folder, Timestamp};

use crate::board::db::{Transaction, bind, json};

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

/// Delivers a message, and stores a copy for its sender. A receipt does not count for the quota and has no sender's copy.
/// Returns the id of the last copy.
pub async fn deliver(
    tx: &Transaction<'_>,
    message: MessageInsert<'_>,
    recipients: &[i64],
    is_receipt: bool,
) -> BoardResult<i64> {
    let parameters = bind! {
        ":sender": message.sender, ":subject": message.subject, ":body": message.body,
        ":html": message.html, ":requested": message.receipt_requested, ":is_receipt": is_receipt,
    };
    let insert = "
        INSERT INTO message (sender_id, subject, body, body_html, receipt_requested, is_receipt)
        VALUES (:sender, :subject, :body, :html, :requested, :is_receipt) RETURNING id";
    let text = tx.insert(insert, parameters).await?;
    let parameters = bind! {
        ":text": text, ":recipients": json(recipients)?, ":at": message.at, ":counts": !is_receipt,
        ":sender": (!is_receipt).then_some(message.sender),
    };
    tx.execute_independent(&[COUNT, COPIES], parameters)
        .await?
        .ok_or_else(|| BoardError::internal("the copy has no id"))
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

pub const fn stored(folder: Folder) -> &'static str {
    match folder {
        Folder::Inbox => "inbox",
        Folder::Sent => "sent",
    }
}
