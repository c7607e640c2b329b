//! Members, as others see them.

use std::time::Duration;

use forum_api::host::{Refusal, Result};
use forum_api::model::{Profile, UserRef};

use super::db::{Connection, bind};

/// How much later a member has to be seen than the last time that was noted.
pub const SEEN_GRAIN: Duration = Duration::from_secs(5 * 60);

/// A member's public profile.
pub async fn profile(connection: &Connection<'_>, user: &UserRef) -> Result<Profile> {
    let (id, name) = match user {
        UserRef::Id(id) => (Some(id.number()?), None),
        UserRef::Name(name) => (None, Some(name.to_ascii_lowercase())),
    };
    let query = "
        SELECT id, username, title, avatar_url, joined_at, last_seen_at, post_count, reputation
        FROM member WHERE id = ?1 OR lower(username) = ?2";
    let profile = connection
        .first(query, bind![id, name], |columns| {
            Ok(Profile {
                user_id: columns.id()?,
                username: columns.value()?,
                title: columns.value()?,
                avatar_url: columns.value()?,
                joined_at: columns.value()?,
                last_seen_at: columns.value()?,
                post_count: columns.count()?,
                reputation: columns.value()?,
            })
        })
        .await;
    profile?.ok_or(Refusal::Absent)
}
