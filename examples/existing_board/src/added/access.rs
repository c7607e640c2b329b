//! Added: a member's rank decides which sections the member sees.

use forum_api::async_trait;
use forum_api::host::{
    Access, Authorizer, BackendResult, BoardResult, Caller, LoadedToken, RequestInfo, VisibleForums,
};
use forum_api::model::{ForumId, UserId};
use forum_api::store::postgres::read_token;
use forum_api::token::Lookup;
use tokio_postgres::Row;

use crate::before::{Club, ReplyError};

/// The caller's rank at the start of the request.
struct Rank(i16);

pub fn rank(caller: &Caller) -> BoardResult<i16> {
    Ok(caller.extension::<Rank>()?.0)
}

const GUEST: &str =
    "SELECT 0::smallint AS rank, ARRAY(SELECT id FROM section WHERE rank = 0) AS sections";

const MEMBER: &str = "
    SELECT rank, ARRAY(SELECT id FROM section WHERE section.rank <= member.rank) AS sections
    FROM member WHERE id = $1 AND NOT banned";

/// Query of a token and its owner. The last two columns are those of [`MEMBER`]. The rank is null if the owner is
/// banned or does not exist.
const TOKEN: &str = "
    SELECT lookup, digest, owner, label, scopes, created_at, expires_at, revoked_at, last_used_at,
        rank, ARRAY(SELECT id FROM section WHERE section.rank <= member.rank) AS sections
    FROM forum_api_tokens
    LEFT JOIN member ON NOT banned
        AND member.id = CASE WHEN owner ~ '^[1-9][0-9]{0,17}$' THEN CAST(owner AS BIGINT) END
    WHERE lookup = $1";

#[async_trait]
impl Authorizer for Club {
    /// The tokens are in the board's database, so that one query finds a token and its owner.
    async fn load_token(&self, lookup: &Lookup) -> BackendResult<Option<LoadedToken>> {
        let client = self.pool.get().await?;
        let query = client.prepare_cached(TOKEN).await?;
        let Some(row) = client.query_opt(&query, &[lookup]).await? else {
            return Ok(None);
        };
        let access = row_access(&row);
        Ok(Some(LoadedToken::new(read_token(&row)?, move |_| access.clone())))
    }

    async fn guest_access(&self, _: &RequestInfo) -> BackendResult<Access> {
        let guest = access(self, GUEST, None).await?;
        Ok(guest.unwrap_or_else(|| Access::new(VisibleForums::none())))
    }

    async fn member_access(
        &self,
        owner: &UserId,
        _: &RequestInfo,
    ) -> BackendResult<Option<Access>> {
        match owner.to_i64() {
            Ok(id) => Ok(access(self, MEMBER, Some(id)).await?),
            Err(_) => Ok(None),
        }
    }
}

async fn access(club: &Club, query: &str, id: Option<i64>) -> Result<Option<Access>, ReplyError> {
    let client = club.pool.get().await?;
    let query = client.prepare_cached(query).await?;
    let parameters: Vec<_> = id.iter().map(|id| id as _).collect();
    let row = client.query_opt(&query, &parameters).await?;
    Ok(row.as_ref().and_then(row_access))
}

fn row_access(row: &Row) -> Option<Access> {
    let rank: i16 = row.get::<_, Option<_>>("rank")?;
    let sections: Vec<i64> = row.get("sections");
    let forums = VisibleForums::from_ids(sections.into_iter().map(ForumId::from));
    Some(Access::new(forums).with_extension(Rank(rank)))
}
