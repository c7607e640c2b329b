//! Members, and how they sign in.

use std::time::Duration;

use deadpool_postgres::GenericClient;
use tokio_postgres::Row;

use super::{Club, ReplyError};

/// A member who may act.
#[derive(Clone, Debug)]
pub struct Member {
    /// The member's id.
    pub id: i64,
    /// The member's name.
    pub name: String,
    /// What the member may see and do: 1 for a member, 2 for staff, 3 for an administrator.
    pub rank: i16,
    /// How long ago the member last wrote something.
    pub quiet_for: Option<Duration>,
}

const FIND: &str = "
    SELECT id, name, rank, club_now() - wrote_at AS quiet_for FROM member WHERE id = $1 AND NOT banned";

/// Whose session this is.
pub async fn signed_in(db: &impl GenericClient, session: &str) -> Result<Option<i64>, ReplyError> {
    let signed_in = "SELECT member FROM session WHERE key = $1";
    let signed_in = db.prepare_cached(signed_in).await?;
    let row = db.query_opt(&signed_in, &[&session]).await?;
    Ok(row.map(|row| row.get("member")))
}

/// The member with this id, unless banned.
pub async fn find(db: &impl GenericClient, id: i64) -> Result<Option<Member>, ReplyError> {
    let find = db.prepare_cached(FIND).await?;
    let row = db.query_opt(&find, &[&id]).await?;
    Ok(row.map(|row| Member::from(&row)))
}

impl From<&Row> for Member {
    fn from(row: &Row) -> Self {
        let quiet_for: Option<i64> = row.get("quiet_for");
        Self {
            id: row.get("id"),
            name: row.get("name"),
            rank: row.get("rank"),
            quiet_for: quiet_for.map(|millis| Duration::from_millis(millis.max(0).unsigned_abs())),
        }
    }
}

/// Something to look at, in a board where there is nothing: alice, and the key to a session of hers.
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
