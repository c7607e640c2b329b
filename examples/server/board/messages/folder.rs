//! A member's folders: listed, read and counted.

use std::sync::LazyLock;

use forum_api::host::{Refusal, Result};
use forum_api::model::{Author, Folder, ListMessages, Message, MessageSummary, Page};
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ValueRef};
use rusqlite::{Connection, OptionalExtension, named_params};

use super::super::position;
use super::super::row::Columns;

/// The recipients are those whose inboxes hold the message, in the order in which they were named.
const SUMMARY: &str = "
    copy.id, copy.folder = 'inbox', message.subject, sender.id, sender.username, sender.avatar_url,
    (
        SELECT json_group_array(json_array(member.id, member.username, member.avatar_url))
        FROM message_copy AS inbox JOIN member ON member.id = inbox.owner_id
        WHERE inbox.message_id = message.id AND inbox.folder = 'inbox'
    ),
    copy.sent_at, copy.read_at, message.receipt_requested";

const COPIES: &str = "
    FROM message_copy AS copy
    JOIN message ON message.id = copy.message_id
    LEFT JOIN member AS sender ON sender.id = message.sender_id
    WHERE copy.owner_id = :owner";

/// A whole folder.
pub static LIST: LazyLock<String> = LazyLock::new(|| page(":unread IS NULL"));

/// What is unread in a folder, or what is read.
pub static FILTERED: LazyLock<String> = LazyLock::new(|| page("(copy.read_at IS NULL) = :unread"));

fn page(filter: &str) -> String {
    format!(
        "SELECT {SUMMARY} {COPIES} AND copy.folder = :folder AND {filter}
            AND (copy.sent_at, copy.id) < (:time, :id)
        ORDER BY copy.sent_at DESC, copy.id DESC LIMIT :rows"
    )
}

/// A page of a folder, newest first.
pub fn list(
    connection: &Connection,
    owner: i64,
    list: &ListMessages,
) -> Result<Page<MessageSummary>> {
    let (time, id) = position::read(list.after.as_ref())?.unwrap_or((i64::MAX, i64::MAX));
    let parameters = named_params! {
        ":owner": owner,
        ":folder": stored(list.folder),
        ":time": time,
        ":id": id,
        ":rows": position::rows(list.limit),
        ":unread": list.unread,
    };
    let query = list.unread.map_or(&LIST, |_| &FILTERED);
    let mut query = connection.prepare_cached(query)?;
    let found = query.query_map(parameters, |row| summary(&mut Columns::of(row)))?;
    let found = found.collect::<rusqlite::Result<_>>()?;
    Ok(Page::cut(found, list.limit, |last| {
        position::of(last.sent_at, &last.message_id)
    }))
}

/// One of the member's copies; another's is absent.
pub fn one(connection: &Connection, owner: i64, copy: i64) -> Result<Message> {
    static QUERY: LazyLock<String> = LazyLock::new(|| {
        format!("SELECT {SUMMARY}, message.body, message.body_html {COPIES} AND copy.id = :copy")
    });
    let mut query = connection.prepare_cached(&QUERY)?;
    let message = query.query_row(named_params! { ":owner": owner, ":copy": copy }, |row| {
        let mut columns = Columns::of(row);
        Ok(Message {
            summary: summary(&mut columns)?,
            body: columns.value()?,
            body_html: columns.value()?,
        })
    });
    message.optional()?.ok_or(Refusal::Absent)
}

/// How many messages of the member's inbox are unread.
pub fn unread(connection: &Connection, owner: i64) -> rusqlite::Result<u64> {
    let mut query = connection.prepare_cached("SELECT unread_count FROM member WHERE id = ?1")?;
    query.query_row([owner], |row| Columns::of(row).count())
}

fn summary(columns: &mut Columns<'_>) -> rusqlite::Result<MessageSummary> {
    Ok(MessageSummary {
        message_id: columns.id()?,
        folder: columns.value().map(folder)?,
        subject: columns.value()?,
        sender: columns.author()?,
        recipients: columns.value().map(|Authors(recipients)| recipients)?,
        sent_at: columns.value()?,
        read_at: columns.value()?,
        receipt_requested: columns.value()?,
    })
}

/// A folder as it is stored.
pub const fn stored(folder: Folder) -> &'static str {
    match folder {
        Folder::Inbox => "inbox",
        Folder::Sent => "sent",
    }
}

const fn folder(is_inbox: bool) -> Folder {
    if is_inbox {
        Folder::Inbox
    } else {
        Folder::Sent
    }
}

/// Members in one column: a JSON list of their ids, names and pictures.
struct Authors(Vec<Author>);

impl FromSql for Authors {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let members: Vec<(i64, String, Option<String>)> =
            serde_json::from_str(value.as_str()?).map_err(|e| FromSqlError::Other(Box::new(e)))?;
        let authors = members
            .into_iter()
            .map(|(id, username, avatar_url)| Author {
                user_id: id.into(),
                username,
                avatar_url,
            });
        Ok(Self(authors.collect()))
    }
}
