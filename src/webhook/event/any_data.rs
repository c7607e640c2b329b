//! Data of an event of any topic, for the OpenAPI document.

use schemars::{JsonSchema, Schema};
use serde_json::json;

use super::ForumSummary;
use super::payload::{MessageIds, PublicView};
use crate::model::{Author, Poll, Post, Rating, Thread, UserId, first_paragraph};

/// Data of an event of any topic.
///
/// A client reads the topics that it knows, and receives those of a later version and of the host as well, because no field
/// is required and others are allowed.
#[derive(JsonSchema)]
#[schemars(rename = "EventData", transform = allow_other_data)]
#[expect(dead_code, reason = "describes the data of stored events")]
pub(crate) struct AnyEventData<'a> {
    /// In `thread.…`, `post.…` and `poll.…`: the thread.
    thread: PublicView<'a, Thread>,
    /// In `post.…`: the post.
    post: PublicView<'a, Post>,
    /// In `poll.…`: the poll.
    poll: PublicView<'a, Poll>,
    /// In `member.rated`: the rating.
    rating: PublicView<'a, Rating>,
    /// In `member.rated`: the rated member. In `member.erased`: the member, with `userId` only.
    member: EventMember,
    /// In `message.sent`: the ids of the message.
    message: MessageIds<'a>,
    /// Forum of the thread or of the rated post; null for a rating without a post.
    forum: Option<ForumSummary>,
    /// The member who made the change; null if no member made it, or if the topic does not name the member.
    actor: Option<Author>,
}

/// A member in an event.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = require_only_the_id)]
#[expect(dead_code, reason = "describes the data of stored events")]
struct EventMember {
    /// Id of the member.
    user_id: UserId,
    /// Current username.
    username: String,
    /// URL of the avatar.
    avatar_url: Option<String>,
}

fn allow_other_data(schema: &mut Schema) {
    first_paragraph(schema);
    schema.remove("required");
    schema.insert("additionalProperties".into(), true.into());
}

fn require_only_the_id(schema: &mut Schema) {
    schema.insert("required".into(), json!(["userId"]));
}
