//! Reputation: ratings of members, with or without a post.

use std::sync::LazyLock;

use forum_api::host::{BackendError, BoardError, BoardResult};
use forum_api::model::{Author, ForumId, NewRating, PostId, Rating, Timestamp, UserRef, is_blank};
use forum_api::webhook::{Event, ForumSummary};

use super::access::actor::Actor;
use super::access::visibility::{Visibility, sees_post, sees_thread};
use super::accounts;
use super::db::{Connection, Transaction, bind};
use super::events::Command;
use super::rules::{DAY, check_frequency, check_text};
use super::settings::{
    ALLOW_EMPTY_COMMENT, ALLOW_NEGATIVE, BODY_MAX, MAX_POINTS, RATINGS_PER_DAY, SettingValues,
};
use super::texts::{Texts, fill};

/// Rates a member. Banned members can be rated. The event names a rated post only if all callers who see the forum see it.
pub async fn rate(
    Command { tx, events, actor, texts }: Command<'_>,
    user: UserRef,
    rate: NewRating,
) -> BoardResult<Rating> {
    let rated = accounts::profile(tx, user).await?;
    let member = rated.user_id.to_i64()?;
    if actor.member == Some(member) {
        return Err(BoardError::forbidden(texts.self_rating).with_reason("own_content"));
    }
    let post = match &rate.post_id {
        Some(post) => Some(find_post(tx, actor, member, post, texts).await?),
        None => None,
    };
    let post_id = post.map(|post| post.id);
    let most = actor.settings.of(&RATINGS_PER_DAY);
    let (is_rated, oldest) =
        load_limits(tx, actor.member, member, post_id, most, events.now).await?;
    let comment = check_comment(&rate, &actor.settings, texts)?;
    if is_rated {
        let text = if post.is_some() { texts.post_rated } else { texts.member_rated };
        return Err(BoardError::conflict(text).with_reason("already_rated"));
    }
    let now = events.now;
    check_frequency(oldest, now, most, DAY, texts.too_many_ratings)?;
    let parameters = bind! {
        ":member": member, ":rater": actor.member, ":post": post_id, ":points": rate.points,
        ":comment": comment, ":at": now,
    };
    let id = tx
        .execute_independent(&INSERT, parameters)
        .await?
        .ok_or_else(|| BackendError::new("the rating has no id"))?;
    let reputation = rated.reputation + rate.points;
    let mut rating = Rating::new(id.into(), member.into(), rate.points, reputation, now);
    let forum = post.map(|post| post.forum);
    rating.post_id = post_id.map(PostId::from);
    rating.forum_id = forum.map(ForumId::from);
    rating.comment = comment.into();
    if events.has_readers {
        let mut public = rating.clone();
        public.post_id = post.filter(|post| post.public).map(|post| post.id.into());
        let (rater, forum) = rater_and_forum(tx, events.actor, forum).await?;
        let mut author = Author::new(rated.user_id, rated.username);
        author.avatar_url = rated.avatar_url;
        events.record(|meta| {
            Event::member_rated(meta, &public, &author, forum.as_ref(), rater.as_ref())
        })?;
    }
    Ok(rating)
}

/// Loads the rater and the forum of the rated post.
async fn rater_and_forum(
    connection: &Connection<'_>,
    actor: Option<i64>,
    forum: Option<i64>,
) -> BoardResult<(Option<Author>, Option<ForumSummary>)> {
    let query = "
        SELECT
            actor.id AS actor_id, actor.username AS actor_name, actor.avatar_url AS actor_avatar,
            forum.id AS forum_id, forum.title
        FROM (SELECT 1) AS alone
        LEFT JOIN member AS actor ON actor.id = :actor
        LEFT JOIN forum ON forum.id = :forum";
    let parameters = bind! { ":actor": actor, ":forum": forum };
    connection
        .one(query, parameters, |row| {
            let actor = row.author(["actor_id", "actor_name", "actor_avatar"])?;
            let forum = match (row.maybe_id("forum_id")?, row.value::<Option<String>>("title")?) {
                (Some(forum_id), Some(title)) => Some(ForumSummary::new(forum_id, title)),
                _ => None,
            };
            Ok((actor, forum))
        })
        .await
}

/// Checks the points and the comment, and returns the trimmed comment.
fn check_comment<'a>(
    rate: &'a NewRating,
    settings: &SettingValues,
    texts: &Texts,
) -> BoardResult<&'a str> {
    let max = settings.of(&MAX_POINTS);
    let denial = match rate.points {
        0 => Some(texts.points_zero.into()),
        ..0 if !settings.is_true(&ALLOW_NEGATIVE) => Some(texts.negative_points.into()),
        points if points.unsigned_abs() > max.unsigned_abs() => {
            Some(fill(texts.too_many_points, max))
        }
        _ => None,
    };
    if let Some(text) = denial {
        return Err(BoardError::validation("points", text).with_reason("out_of_range"));
    }
    let comment = rate.comment.trim();
    if settings.is_true(&ALLOW_EMPTY_COMMENT) && is_blank(comment) {
        return Ok("");
    }
    check_text(
        "comment",
        comment,
        settings.of(&BODY_MAX),
        texts.comment_missing,
        texts.comment_too_long,
    )?;
    Ok(comment)
}

#[derive(Clone, Copy)]
struct RatedPost {
    id: i64,
    forum: i64,
    public: bool,
}

/// Finds a visible post of this `author`.
async fn find_post(
    connection: &Connection<'_>,
    actor: &Actor,
    author: i64,
    post: &PostId,
    texts: &Texts,
) -> BoardResult<RatedPost> {
    static QUERY: LazyLock<String> = LazyLock::new(|| {
        format!(
            "SELECT post.id, thread.forum_id, post.state = 'visible' AND thread.state = 'visible' AS is_public
            FROM post JOIN thread ON thread.id = post.thread_id
            WHERE post.id = :post AND post.author_id = :author AND {} AND {}",
            sees_post("post"),
            sees_thread(),
        )
    });
    let visibility = Visibility::of(actor);
    let post = post.to_i64().ok();
    let parameters = visibility.with(bind! { ":post": post, ":author": author });
    connection
        .first(&QUERY, &parameters, |row| {
            Ok(RatedPost {
                id: row.value("id")?,
                forum: row.value("forum_id")?,
                public: row.value("is_public")?,
            })
        })
        .await?
        .ok_or_else(|| BoardError::not_found(texts.unknown_rated_post).with_field("postId"))
}

/// Returns whether `rater` has rated the post before or, without a post, the member within a day, and the time of the
/// oldest of the last `most` ratings within a day.
async fn load_limits(
    tx: &Transaction<'_>,
    rater: Option<i64>,
    member: i64,
    post: Option<i64>,
    most: i64,
    now: Timestamp,
) -> BoardResult<(bool, Option<Timestamp>)> {
    let query = "
        SELECT
            EXISTS (
                SELECT 1 FROM rating
                WHERE rater_id = :rater AND member_id = :member AND post_id IS NOT DISTINCT FROM :post
                    AND created_at > :since AND created_at < :until
            ) AS is_rated,
            (
                SELECT created_at FROM rating
                WHERE rater_id = :rater AND created_at > :day_ago AND created_at <= :now
                ORDER BY created_at DESC LIMIT 1 OFFSET :offset
            ) AS oldest";
    let day_ago = now.saturating_sub(DAY);
    let (since, until) = match post {
        Some(_) => (i64::MIN, i64::MAX),
        None => (day_ago.as_millis(), now.saturating_add(DAY).as_millis()),
    };
    let parameters = bind! {
        ":rater": rater, ":member": member, ":post": post, ":since": since, ":until": until,
        ":now": now, ":day_ago": day_ago, ":offset": most - 1,
    };
    tx.one(query, parameters, |row| Ok((row.value("is_rated")?, row.value("oldest")?))).await
}

const INSERT: [&str; 2] = [
    "UPDATE member SET reputation = reputation + :points WHERE id = :member",
    "INSERT INTO rating (member_id, rater_id, post_id, points, comment, created_at)
    VALUES (:member, :rater, :post, :points, :comment, :at) RETURNING id",
];
