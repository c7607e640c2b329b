//! A member's folders: listed, read and counted.

use std::sync::LazyLock;

use forum_api::host::{Refusal, Result};
use forum_api::model::{Author, Folder, ListMessages, Message, MessageSummary, Page};

use super::super::db::{self, Columns, Connection, bind};
use super::super::position;

/// A list of members with their ids, names and pictures, on SQLite and on Postgres.
const LISTS: [&str; 2] = [
    "json_group_array(json_array(member.id, member.username, member.avatar_url))",
    "CAST(json_agg(json_build_array(member.id, member.username, member.avatar_url) ORDER BY inbox.id) AS TEXT)",
];

/// The recipients are those whose inboxes hold the message, in the order in which they were named.
fn summaries(list: &str) -> String {
    format!(
        "copy.id, copy.folder = 'inbox', message.subject, sender.id, sender.username, sender.avatar_url,
        (
            SELECT {list}
            FROM message_copy AS inbox JOIN member ON member.id = inbox.owner_id
            WHERE inbox.message_id = message.id AND inbox.folder = 'inbox'
        ),
        copy.sent_at, copy.read_at, message.receipt_requested"
    )
}

const COPIES: &str = "
    FROM message_copy AS copy
    JOIN message ON message.id = copy.message_id
    LEFT JOIN member AS sender ON sender.id = message.sender_id
    WHERE copy.owner_id = :owner";

/// A query on SQLite and on Postgres.
pub type Query = LazyLock<[String; 2]>;

/// A whole folder.
pub static LIST: Query = LazyLock::new(|| page("CAST(:unread AS BOOLEAN) IS NULL"));

/// What is unread in a folder, or what is read.
pub static FILTERED: Query = LazyLock::new(|| page("(copy.read_at IS NULL) = :unread"));

fn page(filter: &str) -> [String; 2] {
    LISTS.map(summaries).map(|summaries| {
        format!(
            "SELECT {summaries} {COPIES} AND copy.folder = :folder AND {filter}
                AND (copy.sent_at, copy.id) < (:time, :id)
            ORDER BY copy.sent_at DESC, copy.id DESC LIMIT :rows"
        )
    })
}

/// A page of a folder, newest first.
pub async fn list(
    connection: &Connection<'_>,
    owner: i64,
    list: &ListMessages,
) -> Result<Page<MessageSummary>> {
    let (time, id) = position::read(list.after.as_ref())?.unwrap_or((i64::MAX, i64::MAX));
    let query = list.unread.map_or(&LIST, |_| &FILTERED);
    let parameters = bind! {
        ":owner": owner,
        ":folder": stored(list.folder),
        ":time": time,
        ":id": id,
        ":rows": position::rows(list.limit),
        ":unread": list.unread,
    };
    let found = connection.all(on(connection, query), parameters, summary);
    Ok(Page::cut(found.await?, list.limit, |last| {
        position::of(last.sent_at, &last.message_id)
    }))
}

/// One of the member's copies; another's is absent.
pub async fn one(connection: &Connection<'_>, owner: i64, copy: i64) -> Result<Message> {
    static QUERY: Query = LazyLock::new(|| {
        LISTS.map(summaries).map(|summaries| {
            format!(
                "SELECT {summaries}, message.body, message.body_html {COPIES} AND copy.id = :copy"
            )
        })
    });
    let parameters = bind! { ":owner": owner, ":copy": copy };
    let message = connection.first(on(connection, &QUERY), parameters, |columns| {
        Ok(Message {
            summary: summary(columns)?,
            body: columns.value()?,
            body_html: columns.value()?,
        })
    });
    message.await?.ok_or(Refusal::Absent)
}

fn on(connection: &Connection<'_>, query: &'static Query) -> &'static str {
    let [sqlite, postgres] = &**query;
    connection.either(sqlite, postgres)
}

/// How many messages of the member's inbox are unread.
pub async fn unread(connection: &Connection<'_>, owner: i64) -> db::Result<u64> {
    let query = "SELECT unread_count FROM member WHERE id = ?1";
    connection
        .one(query, bind![owner], |columns| columns.count())
        .await
}

fn summary(columns: &mut Columns<'_>) -> db::Result<MessageSummary> {
    Ok(MessageSummary {
        message_id: columns.id()?,
        folder: columns.value().map(folder)?,
        subject: columns.value()?,
        sender: columns.author()?,
        recipients: columns.text()?.map_or(Ok(Vec::new()), authors)?,
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

/// A list of members; Postgres has none that is empty.
fn authors(list: &str) -> db::Result<Vec<Author>> {
    let members: Vec<(i64, String, Option<String>)> = serde_json::from_str(list)
        .map_err(|_| db::Error::Wrong("the recipients of a message are no list"))?;
    let authors = members
        .into_iter()
        .map(|(id, username, avatar_url)| Author {
            user_id: id.into(),
            username,
            avatar_url,
        });
    Ok(authors.collect())
}
