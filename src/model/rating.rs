//! Reputation ratings ([protocol](crate::guide::protocol), section 11).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::serde_helpers::first_paragraph;
use super::{ForumId, PostId, RatingId, Timestamp, UserId};

/// A reputation rating of a member.
///
/// A member can rate each post once. Within 24 hours, a member can rate the same other member at most once without a
/// [`post_id`](Self::post_id). The board rejects further ratings with
/// [`BoardError::Conflict`](crate::host::BoardError::Conflict).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = first_paragraph)]
#[non_exhaustive]
pub struct Rating {
    /// The rating's id.
    pub rating_id: RatingId,
    /// The rated member.
    pub user_id: UserId,
    /// The rated post; null for a rating without a post.
    pub post_id: Option<PostId>,
    /// The forum of that post; `None` for a rating without a post.
    ///
    /// The field is not sent to clients. The library checks that the caller can see the forum. The response is a 500 if
    /// `post_id` is set and this field is `None`.
    #[serde(skip)]
    pub forum_id: Option<ForumId>,
    /// The points given, positive or negative.
    pub points: i64,
    /// Comment; can be empty if the board allows it.
    pub comment: String,
    /// Time of the rating.
    pub created_at: Timestamp,
    /// The member's new reputation.
    pub reputation: i64,
}

impl Rating {
    /// Creates a rating without a post or a comment. `reputation` is the member's new reputation.
    pub fn new(
        rating_id: RatingId,
        user_id: UserId,
        points: i64,
        reputation: i64,
        created_at: Timestamp,
    ) -> Self {
        Self {
            rating_id,
            user_id,
            post_id: None,
            forum_id: None,
            points,
            comment: String::new(),
            created_at,
            reputation,
        }
    }

    pub(crate) fn example() -> Self {
        let created_at = Timestamp::from_millis(1_769_860_800_000);
        Self {
            post_id: Some(PostId::from(56)),
            forum_id: Some(ForumId::from(2)),
            comment: "Well said.".into(),
            ..Self::new(RatingId::from(1), UserId::from(4), 1, 8, created_at)
        }
    }
}

/// Body of `POST /members/{userId}/reputation`.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "RatingInput")]
#[non_exhaustive]
pub struct NewRating {
    /// Points, not 0; the board's settings limit them.
    pub points: i64,
    /// Comment; some boards require one. Default: empty.
    #[serde(default)]
    pub comment: String,
    /// The rated post, which must be by the rated member; null to rate the member without a post.
    #[serde(default)]
    pub post_id: Option<PostId>,
}

impl NewRating {
    pub(crate) fn example() -> Self {
        Self { points: 1, comment: "Well said.".into(), post_id: Some(PostId::from(56)) }
    }
}
