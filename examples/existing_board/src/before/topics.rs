//! Topics and the entries below them, as the pages show them.

use deadpool_postgres::GenericClient;
use tokio_postgres::Row;

use super::ReplyError;

/// Who wrote something.
#[derive(Clone, Debug)]
pub struct Writer {
    /// The member's id.
    pub id: i64,
    /// The member's name.
    pub name: String,
}

/// A topic.
#[derive(Clone, Debug)]
pub struct Topic {
    /// Its id.
    pub id: i64,
    /// The section that it is in.
    pub section: i64,
    /// The title of that.
    pub section_title: String,
    /// What it is about.
    pub subject: String,
    /// Whether only administrators write in it.
    pub locked: bool,
    /// How many entries it has.
    pub entries: i64,
    /// Its first entry.
    pub first: i64,
    /// Who wrote that.
    pub writer: Writer,
    /// When.
    pub started_at: i64,
    /// Its last entry.
    pub last: i64,
    /// Who wrote that.
    pub last_writer: Writer,
    /// When.
    pub active_at: i64,
}

/// An entry.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its id.
    pub id: i64,
    /// The topic that it is in.
    pub topic: i64,
    /// Its place in that, from 1.
    pub number: i64,
    /// Who wrote it.
    pub writer: Writer,
    /// Plain text.
    pub body: String,
    /// When it was written.
    pub written_at: i64,
}

/// The topic with this id, if this rank sees it.
pub async fn find(
    db: &impl GenericClient,
    id: i64,
    rank: i16,
) -> Result<Option<Topic>, ReplyError> {
    let find = "SELECT * FROM topic_view WHERE id = $1 AND rank <= $2";
    let find = db.prepare_cached(find).await?;
    let row = db.query_opt(&find, &[&id, &rank]).await?;
    Ok(row.map(|row| Topic::from(&row)))
}

/// All topics that this rank sees, the latest first.
pub async fn all(db: &impl GenericClient, rank: i16) -> Result<Vec<Topic>, ReplyError> {
    let all = "SELECT * FROM topic_view WHERE rank <= $1 ORDER BY active_at DESC, id DESC";
    let all = db.prepare_cached(all).await?;
    let rows = db.query(&all, &[&rank]).await?;
    Ok(rows.iter().map(Topic::from).collect())
}

/// The entries of a topic, the oldest first.
pub async fn entries(db: &impl GenericClient, topic: i64) -> Result<Vec<Entry>, ReplyError> {
    let entries = "SELECT * FROM entry_view WHERE topic = $1 ORDER BY number";
    let entries = db.prepare_cached(entries).await?;
    let rows = db.query(&entries, &[&topic]).await?;
    Ok(rows.iter().map(Entry::from).collect())
}

impl Topic {
    /// Whether this rank may write in it.
    pub fn takes_entries_of(&self, rank: i16) -> bool {
        rank >= if self.locked { 3 } else { 1 }
    }

    /// The topic with one more entry.
    pub fn and(self, entry: &Entry) -> Self {
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
    Writer {
        id: row.get(id),
        name: row.get(name),
    }
}
