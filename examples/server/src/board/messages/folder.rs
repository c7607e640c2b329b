//! Lists and opens messages, and counts unread ones.

use std::iter;
use std::sync::LazyLock;

use forum_api::host::{BackendError, BackendResult, BoardError, BoardResult};
use forum_api::model::{
    Author, Folder, List, Message, MessageFilter, MessageSummary, Page, PageKey, Timestamp,
};

use super::copies::{MessageInsert, deliver, stored};
use crate::board::db::{Connection, Dialects, Row, Transaction, bind};
use crate::board::markdown;
use crate::board::texts::Texts;

/// A list of members with their ids, names and pictures.
const LISTS: Dialects<&str> = Dialects {
    sqlite: "json_group_array(json_array(member.id, member.username, member.avatar_url))",
    postgres: "CAST(json_agg(json_build_array(member.id, member.username, member.avatar_url) ORDER BY inbox.id) AS TEXT)",
};

/// Returns the columns of a message summary. The recipients are the owners of the inbox copies, in the order of the
/// request.
fn summaries(list: &str) -> String {
    format!(
        "copy.id, copy.folder, message.subject, copy.sent_at,
        sender.id AS sender_id, sender.username AS sender_name, sender.avatar_url AS sender_avatar,
        (
            SELECT {list}
            FROM message_copy AS inbox JOIN member ON member.id = inbox.owner_id
            WHERE inbox.message_id = message.id AND inbox.folder = 'inbox'
        ) AS recipients,
        copy.read_at, message.receipt_requested"
    )
}

const COPIES: &str = "
    FROM message_copy AS copy
    JOIN message ON message.id = copy.message_id
    LEFT JOIN member AS sender ON sender.id = message.sender_id
    WHERE copy.owner_id = :owner";

static LIST: LazyLock<Dialects<String>> =
    LazyLock::new(|| page("CAST(:unread AS BOOLEAN) IS NULL"));

/// Query of the unread or the read messages of a folder.
static FILTERED: LazyLock<Dialects<String>> =
    LazyLock::new(|| page("(copy.read_at IS NULL) = :unread"));

fn page(filter: &str) -> Dialects<String> {
    LISTS.map(summaries).map(|summaries| {
        format!(
            "SELECT {summaries} {COPIES} AND copy.folder = :folder AND {filter}
                AND (copy.sent_at, copy.id) < (:time, :id)
            ORDER BY copy.sent_at DESC, copy.id DESC LIMIT :rows"
        )
    })
}

pub async fn list(
    connection: &Connection<'_>,
    owner: i64,
    list: &List<MessageFilter>,
) -> BoardResult<Page<MessageSummary>> {
    let [time, id] = list.after_or([i64::MAX; 2])?;
    let query = if list.filter.unread.is_some() { &FILTERED } else { &LIST };
    let parameters = bind! {
        ":owner": owner, ":folder": stored(list.filter.folder), ":time": time, ":id": id,
        ":rows": list.limit.plus_one(), ":unread": list.filter.unread,
    };
    let read_sized = |row: &Row<'_>| {
        let summary = read_summary(row)?;
        let size = size_in_json(list, &summary);
        Ok((summary, size))
    };
    let key = |last: &MessageSummary| PageKey::from_time_and_id(last.sent_at, &last.message_id);
    connection.page(connection.on(query), parameters, list, read_sized, key).await
}

/// Size of a recipient in JSON without name and picture, in bytes.
const RECIPIENT_BYTES: usize = 64;

/// Returns the size of the parts of a message that settings limit, in bytes.
fn size_in_json(list: &List<MessageFilter>, summary: &MessageSummary) -> usize {
    let of_recipients = summary.recipients.iter().map(|member| {
        let texts = iter::once(&member.username).chain(&member.avatar_url);
        RECIPIENT_BYTES + texts.map(|text| list.json_size(text)).sum::<usize>()
    });
    list.json_size(&summary.subject) + of_recipients.sum::<usize>()
}

/// Reads a message from a copy of the member.
pub async fn load(connection: &Connection<'_>, owner: i64, copy: i64) -> BoardResult<Message> {
    static QUERY: LazyLock<Dialects<String>> = LazyLock::new(|| {
        LISTS.map(summaries).map(|summaries| {
            format!(
                "SELECT {summaries}, message.body, message.body_html {COPIES} AND copy.id = :copy"
            )
        })
    });
    let parameters = bind! { ":owner": owner, ":copy": copy };
    connection
        .first(connection.on(&QUERY), parameters, |row| {
            Ok(Message::new(
                read_summary(row)?,
                row.value::<String>("body")?,
                row.value::<String>("body_html")?,
            ))
        })
        .await?
        .ok_or(BoardError::PathNotFound)
}

fn read_summary(row: &Row<'_>) -> BackendResult<MessageSummary> {
    let folder = match row.text("folder")? {
        Some("inbox") => Folder::Inbox,
        _ => Folder::Sent,
    };
    let mut summary = MessageSummary::new(
        row.id("id")?,
        folder,
        row.value::<String>("subject")?,
        row.value("sent_at")?,
    );
    summary.sender = row.author(["sender_id", "sender_name", "sender_avatar"])?;
    if let Some(list) = row.text("recipients")? {
        summary.recipients = parse_authors(list)?;
    }
    summary.read_at = row.value("read_at")?;
    summary.read = summary.read_at.is_some();
    summary.receipt_requested = row.value("receipt_requested")?;
    Ok(summary)
}

/// Parses a list of members.
fn parse_authors(list: &str) -> BackendResult<Vec<Author>> {
    let members: Vec<(i64, String, Option<String>)> = serde_json::from_str(list)
        .map_err(|_| BackendError::new("the recipients of a message are malformed"))?;
    let authors = members.into_iter().map(|(id, username, avatar_url)| {
        let mut author = Author::new(id.into(), username);
        author.avatar_url = avatar_url;
        author
    });
    Ok(authors.collect())
}

/// Prefix of a receipt's subject.
const RECEIPT: &str = "Read: ";

/// Marks a copy as read; the first call sends the receipt. Returns `false` if the copy is read already.
pub async fn mark_read(
    tx: &Transaction<'_>,
    owner: i64,
    copy: i64,
    now: Timestamp,
    texts: &Texts,
) -> BoardResult<bool> {
    let parameters = bind! { ":now": now, ":copy": copy, ":owner": owner };
    let update = "
        UPDATE message_copy SET read_at = :now WHERE id = :copy AND owner_id = :owner AND read_at IS NULL
        RETURNING
            message_id,
            (SELECT sender_id FROM message WHERE id = message_id AND receipt_requested) AS asked_by,
            (SELECT subject FROM message WHERE id = message_id) AS subject";
    let found: Option<(i64, Option<i64>, String)> = tx
        .first(update, parameters, |row| {
            Ok((row.value("message_id")?, row.value("asked_by")?, row.value("subject")?))
        })
        .await?;
    let Some((message, sender, subject)) = found else {
        return Ok(false);
    };
    let count = "
        UPDATE member SET
            unread_count = unread_count - 1,
            inbox_used = inbox_used - (SELECT CASE WHEN is_receipt THEN 0 ELSE 1 END FROM message WHERE id = ?2)
        WHERE id = ?1";
    tx.execute(count, bind![owner, message]).await?;
    if let Some(sender) = sender {
        // Neither quotas nor ignore lists apply to a receipt.
        let receipt = MessageInsert {
            sender: owner,
            subject: &format!("{RECEIPT}{subject}"),
            body: texts.receipt,
            html: &markdown::render_blocking(texts.receipt),
            receipt_requested: false,
            at: now,
        };
        deliver(tx, receipt, &[sender], true).await?;
    }
    Ok(true)
}
