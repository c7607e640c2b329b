//! Added: votes for entries, an operation that only this board has.

use std::sync::Arc;

use forum_api::host::{BoardResult, CreateOutcome, InForum, MemberCaller};
use forum_api::model::{PostId, PostPath};
use forum_api::operation::{Operation, Resource, Tag};
use forum_api::scope::Scope;
use forum_api::webhook::{Event, Topic};
use schemars::JsonSchema;
use serde::Serialize;

use super::events;
use crate::before::Club;

/// The scope of tokens that may vote.
pub const VOTES_WRITE: Scope = Scope::from_static("votes:write", "Vote for posts.");

/// The topic of votes.
pub const POST_VOTED: Topic = Topic::from_static("post.voted");

const PATH: &str = "/threads/{threadId}/posts/{postId}/votes";

/// Locks the entry until the end of the transaction, so that each vote counts the earlier ones and its event follows theirs.
const LOCK: &str = "SELECT FROM entry WHERE id = $1 FOR NO KEY UPDATE";

const VOTE: &str = "
    WITH voted AS (INSERT INTO vote (entry, member) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING entry)
    SELECT section, (SELECT count(*) FROM vote WHERE entry = $1) + (SELECT count(*) FROM voted) AS vote_count,
        EXISTS (SELECT FROM voted) AS is_new
    FROM entry JOIN topic ON topic.id = entry.topic WHERE entry.id = $1";

/// The votes for a post.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PostVotes {
    /// Number of members who voted for the post.
    vote_count: i64,
}

impl Resource for PostVotes {}

impl PostVotes {
    const EXAMPLE: Self = Self { vote_count: 3 };
}

/// Data of the event of a vote.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PostVoted {
    /// The post.
    post_id: PostId,
    /// The votes for the post.
    votes: PostVotes,
}

impl PostVoted {
    pub fn example() -> Self {
        Self { post_id: PostId::from(54), votes: PostVotes::EXAMPLE }
    }
}

/// Returns the operation: a second vote of a member for the same post changes nothing.
pub fn vote_post(club: &Arc<Club>) -> Operation {
    Operation::post(PATH, "votePost", VOTES_WRITE)
        .tag(Tag::new("votes", "Votes for posts."))
        .summary("Votes for a post.")
        .cost(5)
        .created(
            club,
            |club, member: &MemberCaller, post, ()| Box::pin(vote(club, member, post)),
            || PostVotes::EXAMPLE,
        )
}

/// Writes a vote and its event in one transaction. The library has checked that the member can see the post.
async fn vote(
    club: &Club,
    member: &MemberCaller,
    post: PostPath,
) -> BoardResult<CreateOutcome<InForum<PostVotes>>> {
    let mut client = club.pool.get().await?;
    let transaction = client.transaction().await?;
    let entry = post.post_id.to_i64()?;
    let voter = member.user_id().to_i64()?;
    transaction.execute(LOCK, &[&entry]).await?;
    let row = transaction.query_one(VOTE, &[&entry, &voter]).await?;
    let (section, vote_count): (i64, _) = (row.get("section"), row.get("vote_count"));
    let votes = InForum::new(section.into(), PostVotes { vote_count });
    let is_new = row.get("is_new");
    if is_new {
        let request = member.request();
        let meta = request.event(request.received_at())?;
        let data = PostVoted { post_id: post.post_id, votes: votes.value };
        let event = Event::new(POST_VOTED, meta, Some(votes.forum_id.clone()), &data);
        events::insert(&transaction, &event).await?;
    }
    transaction.commit().await?;
    Ok(if is_new { CreateOutcome::Created(votes) } else { CreateOutcome::Existing(votes) })
}
