//! Added: a member's rank decides which sections the member sees.

use forum_api::async_trait;
use forum_api::host::{
    Access, Authorizer, BackendResult, BoardResult, Caller, RequestInfo, VisibleForums,
};
use forum_api::model::{ForumId, UserId};

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

#[async_trait]
impl Authorizer for Club {
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
    Ok(row.map(|row| {
        let sections: Vec<i64> = row.get("sections");
        let forums = VisibleForums::from_ids(sections.into_iter().map(ForumId::from));
        Access::new(forums).with_extension(Rank(row.get("rank")))
    }))
}
