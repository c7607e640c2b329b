//! Members and their sessions.

use std::time::Duration;

use deadpool_postgres::GenericClient;
use tokio_postgres::Row;

use super::{Club, ReplyError};

/// A member who is not banned.
#[derive(Clone, Debug)]
pub struct Member {
    /// The member's id.
    pub id: i64,
    /// The member's name.
    pub name: String,
    /// 1 for a member, 2 for staff, 3 for an administrator.
    pub rank: i16,
    /// The time since the member's last entry.
    pub since_last_entry: Option<Duration>,
}

const FIND: &str = "
    SELECT id, name, rank, club_now() - wrote_at AS since_last_entry FROM member WHERE id = $1 AND NOT banned";

/// Returns the id of the session's member.
pub async fn signed_in(db: &impl GenericClient, session: &str) -> Result<Option<i64>, ReplyError> {
    let statement = db.prepare_cached("SELECT member FROM session WHERE key = $1").await?;
    let row = db.query_opt(&statement, &[&session]).await?;
    Ok(row.map(|row| row.get("member")))
}

/// Returns the member with this id; `None` if the member is banned or does not exist.
pub async fn find(db: &impl GenericClient, id: i64) -> Result<Option<Member>, ReplyError> {
    let statement = db.prepare_cached(FIND).await?;
    let row = db.query_opt(&statement, &[&id]).await?;
    Ok(row.map(|row| Member::from(&row)))
}

impl From<&Row> for Member {
    fn from(row: &Row) -> Self {
        let since_last_entry: Option<i64> = row.get("since_last_entry");
        Self {
            id: row.get("id"),
            name: row.get("name"),
            rank: row.get("rank"),
            since_last_entry: since_last_entry
                .map(|millis| Duration::from_millis(millis.max(0).unsigned_abs())),
        }
    }
}

/// Adds sample content to an empty board. Returns the id of the member alice and the key of her session.
pub async fn sample(club: &Club) -> Result<(i64, String), ReplyError> {
    let client = club.pool.get().await?;
    client.batch_execute(include_str!("sample.sql")).await?;
    let session = client.query_one(OPEN, &[]).await?;
    Ok((session.get("member"), session.get("key")))
}

const OPEN: &str = "
    INSERT INTO session (key, member)
    SELECT gen_random_uuid()::text, id FROM member WHERE name = 'alice'
    RETURNING key, member";
