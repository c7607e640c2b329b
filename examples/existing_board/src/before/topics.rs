//! Topics and their entries.

use deadpool_postgres::GenericClient;
use tokio_postgres::Row;

use super::ReplyError;

/// Rank of a member.
const MEMBER: i16 = 1;

/// Rank of an administrator.
pub const ADMINISTRATOR: i16 = 3;

/// The author of an entry.
#[derive(Clone, Debug)]
pub struct Writer {
    /// The member's id.
    pub id: i64,
    /// The member's name.
    pub name: String,
}

/// A topic with its first and last entry.
#[derive(Clone, Debug)]
pub struct Topic {
    /// The id.
    pub id: i64,
    /// The id of the section.
    pub section: i64,
    /// The title of the section.
    pub section_title: String,
    /// The subject.
    pub subject: String,
    /// If `true`, only administrators may write in the topic.
    pub locked: bool,
    /// The number of entries.
    pub entries: i64,
    /// The first entry.
    pub first: i64,
    /// The author of the first entry.
    pub writer: Writer,
    /// The time of the first entry, in milliseconds since 1970.
    pub started_at: i64,
    /// The last entry.
    pub last: i64,
    /// The author of the last entry.
    pub last_writer: Writer,
    /// The time of the last entry, in milliseconds since 1970.
    pub active_at: i64,
}

/// An entry of a topic.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The id.
    pub id: i64,
    /// The id of the topic.
    pub topic: i64,
    /// The index in the topic, from 1.
    pub number: i64,
    /// The author.
    pub writer: Writer,
    /// Plain text.
    pub body: String,
    /// In milliseconds since 1970.
    pub written_at: i64,
}

/// Returns the topic with this id, if this rank sees it.
pub async fn find(
    db: &impl GenericClient,
    id: i64,
    rank: i16,
) -> Result<Option<Topic>, ReplyError> {
    let sql = "SELECT * FROM topic_view WHERE id = $1 AND rank <= $2";
    let statement = db.prepare_cached(sql).await?;
    let row = db.query_opt(&statement, &[&id, &rank]).await?;
    Ok(row.map(|row| Topic::from(&row)))
}

/// Returns all topics that this rank sees, newest activity first.
pub async fn all(db: &impl GenericClient, rank: i16) -> Result<Vec<Topic>, ReplyError> {
    let sql = "SELECT * FROM topic_view WHERE rank <= $1 ORDER BY active_at DESC, id DESC";
    let statement = db.prepare_cached(sql).await?;
    let rows = db.query(&statement, &[&rank]).await?;
    Ok(rows.iter().map(Topic::from).collect())
}

/// Returns the entries of a topic, oldest first.
pub async fn entries(db: &impl GenericClient, topic: i64) -> Result<Vec<Entry>, ReplyError> {
    let sql = "SELECT * FROM entry_view WHERE topic = $1 ORDER BY number";
    let statement = db.prepare_cached(sql).await?;
    let rows = db.query(&statement, &[&topic]).await?;
    Ok(rows.iter().map(Entry::from).collect())
}

impl Topic {
    /// Returns `true` if this rank may write in the topic.
    pub fn accepts_entries_of(&self, rank: i16) -> bool {
        rank >= if self.locked { ADMINISTRATOR } else { MEMBER }
    }

    /// Returns the topic with one more entry.
    pub fn with_entry(self, entry: &Entry) -> Self {
        Self {
            entries: entry.number,
            last: entry.id,
            last_writer: entry.writer.clone(),
            active_at: entry.written_at,
            ..self
        }
    }
}

impl From<&Row> for Topic {
    fn from(row: &Row) -> Self {
        Self {
            id: row.get("id"),
            section: row.get("section"),
            section_title: row.get("section_title"),
            subject: row.get("subject"),
            locked: row.get("locked"),
            entries: row.get("entries"),
            first: row.get("first_id"),
            writer: writer(row, "writer", "writer_name"),
            started_at: row.get("started_at"),
            last: row.get("last_id"),
            last_writer: writer(row, "last_writer", "last_writer_name"),
            active_at: row.get("active_at"),
        }
    }
}

impl From<&Row> for Entry {
    fn from(row: &Row) -> Self {
        Self {
            id: row.get("id"),
            topic: row.get("topic"),
            number: row.get("number"),
            writer: writer(row, "writer", "writer_name"),
            body: row.get("body"),
            written_at: row.get("written_at"),
        }
    }
}

fn writer(row: &Row, id: &str, name: &str) -> Writer {
    Writer { id: row.get(id), name: row.get(name) }
}
