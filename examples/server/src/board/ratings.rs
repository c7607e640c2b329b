//! Reputation: ratings of members, with or without a post.

use std::sync::LazyLock;

use forum_api::host::{BoardError, BoardResult};
use forum_api::model::{
    Author, ForumId, Member, NewRating, PostId, Rating, Timestamp, UserId, UserRef, is_blank,
};
use forum_api::webhook::{Event, ForumSummary};

use super::access::actor::Actor;
use super::access::visibility::{Visibility, sees_post, sees_thread};
use super::accounts;
use super::db::{self, Connection, Transaction, bind};
use super::events::Command;
use super::rules::{DAY, check_frequency, check_text};
use super::settings::{
    ALLOW_EMPTY_COMMENT, ALLOW_NEGATIVE, BODY_MAX, MAX_POINTS, RATINGS_PER_DAY, SettingValues,
};
use super::texts::{Texts, fill};

/// Rates a member. Banned members can be rated.
pub async fn rate(
    (tx, events, actor, texts): Command<'_>,
    user: UserRef,
    rate: NewRating,
) -> BoardResult<Rating> {
    let rated = accounts::profile(tx, &user).await?;
    let member = rated.user_id.to_i64()?;
    if actor.member == Some(member) {
        return Err(BoardError::forbidden(texts.self_rating));
    }
    let post = match &rate.post_id {
        Some(post) => Some(find_post(tx, actor, member, post, texts).await?),
        None => None,
    };
    let settings = SettingValues::load(tx).await?;
    let new = RatingInsert {
        member,
        rater: actor.member,
        post: post.map(|post| post.id),
        points: rate.points,
        comment: comment(&rate, &settings, texts)?,
        at: events.now,
    };
    new.check_limits(tx, settings.of(&RATINGS_PER_DAY), texts)
        .await?;
    let rating = new.insert(tx).await?;
    let forum = post.map(|post| post.forum);
    let reputation = rated.reputation + rate.points;
    let rating = new.answer(rating, reputation, forum.map(ForumId::from));
    if post.is_none_or(|post| post.public) && events.has_endpoints {
        let (rater, forum) = rater_and_forum(tx, events.actor, forum).await?;
        let rated = author(rated);
        events.record(|meta| {
            Event::member_rated(meta, &rating, &rated, forum.as_ref(), rater.as_ref())
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
    let found = connection
        .one(query, parameters, |row| {
            let actor = row.author(["actor_id", "actor_name", "actor_avatar"])?;
            let forum_id = row.maybe_id("forum_id")?;
            let title = row.value("title")?;
            let forum = forum_id.zip(title);
            let forum = forum.map(|(forum_id, title)| ForumSummary { forum_id, title });
            Ok((actor, forum))
        })
        .await;
    Ok(found?)
}

fn author(profile: Member) -> Author {
    let mut author = Author::new(profile.user_id, profile.username);
    author.avatar_url = profile.avatar_url;
    author
}

/// Checks the points and returns the comment.
fn comment<'a>(
    rate: &'a NewRating,
    settings: &SettingValues,
    texts: &Texts,
) -> BoardResult<&'a str> {
    let limits = Limits {
        points: settings.of(&MAX_POINTS),
        negative: settings.of(&ALLOW_NEGATIVE),
        empty_comment: settings.of(&ALLOW_EMPTY_COMMENT),
        comment: settings.of(&BODY_MAX),
    };
    check_points(rate.points, limits, texts)?;
    check_comment(&rate.comment, limits, texts)
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
    let subject = connection.first(&QUERY, &parameters, |row| {
        Ok(RatedPost {
            id: row.value("id")?,
            forum: row.value("forum_id")?,
            public: row.value("is_public")?,
        })
    });
    let absent = || BoardError::not_found(texts.unknown_rated_post);
    subject.await?.ok_or_else(absent)
}

/// A rating with valid points and comment.
struct RatingInsert<'a> {
    member: i64,
    rater: Option<i64>,
    post: Option<i64>,
    points: i64,
    comment: &'a str,
    at: Timestamp,
}

impl RatingInsert<'_> {
    /// Checks that the rater has not rated the post before, and the daily limit. Without a post, checks that the rater has
    /// not rated the member within a day.
    async fn check_limits(
        &self,
        tx: &Transaction<'_>,
        most: u32,
        texts: &Texts,
    ) -> BoardResult<()> {
        let day_ago = self.at.saturating_sub(DAY);
        let (since, until, text) = match self.post {
            Some(_) => (i64::MIN, i64::MAX, texts.post_rated),
            None => (
                day_ago.as_millis(),
                self.at.saturating_add(DAY).as_millis(),
                texts.member_rated,
            ),
        };
        let parameters = bind! {
            ":rater": self.rater, ":member": self.member, ":post": self.post, ":since": since,
            ":until": until, ":now": self.at, ":day_ago": day_ago, ":others": i64::from(most) - 1,
        };
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
                    ORDER BY created_at DESC LIMIT 1 OFFSET :others
                ) AS oldest";
        let (is_rated, oldest) = tx
            .one(query, parameters, |row| {
                Ok((row.value("is_rated")?, row.value("oldest")?))
            })
            .await?;
        if is_rated {
            return Err(BoardError::conflict(text));
        }
        check_frequency(oldest, self.at, most, DAY, texts.too_many_ratings)
    }

    /// Inserts the rating, and returns its id.
    async fn insert(&self, tx: &Transaction<'_>) -> db::DbResult<i64> {
        let parameters = bind! {
            ":member": self.member, ":rater": self.rater, ":post": self.post,
            ":points": self.points, ":comment": self.comment, ":at": self.at,
        };
        let rating = tx
            .execute_all(
                &[
                    "UPDATE member SET reputation = reputation + :points WHERE id = :member",
                    "INSERT INTO rating (member_id, rater_id, post_id, points, comment, created_at)
                    VALUES (:member, :rater, :post, :points, :comment, :at) RETURNING id",
                ],
                parameters,
            )
            .await?;
        rating.ok_or(db::DbError::Invalid("the rating has no id"))
    }

    fn answer(&self, rating: i64, reputation: i64, forum_id: Option<ForumId>) -> Rating {
        let member = UserId::from(self.member);
        let mut rating = Rating::new(rating.into(), member, self.points, reputation, self.at);
        rating.post_id = self.post.map(PostId::from);
        rating.forum_id = forum_id;
        rating.comment = self.comment.into();
        rating
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub points: u32,
    pub negative: bool,
    pub empty_comment: bool,
    pub comment: u32,
}

fn check_points(points: i64, limits: Limits, texts: &Texts) -> BoardResult<()> {
    let denial = match points {
        0 => Some(texts.points_zero.into()),
        ..0 if !limits.negative => Some(texts.negative_points.into()),
        _ if points.unsigned_abs() > limits.points.into() => {
            Some(fill(texts.too_many_points, limits.points))
        }
        _ => None,
    };
    denial.map_or(Ok(()), |text| Err(BoardError::validation("points", text)))
}

/// Trims and checks the comment.
fn check_comment<'a>(text: &'a str, limits: Limits, texts: &Texts) -> BoardResult<&'a str> {
    if limits.empty_comment && is_blank(text) {
        return Ok("");
    }
    let missing = texts.comment_missing;
    let too_long = texts.comment_too_long;
    let text = text.trim();
    check_text("comment", text, limits.comment, missing, too_long)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use forum_api::Language;

    use super::*;

    #[test]
    fn points_and_comments_are_checked_against_the_settings() {
        let texts = Texts::of(Language::English);
        let strict = Limits {
            points: 5,
            negative: false,
            empty_comment: false,
            comment: 3,
        };
        let free = Limits {
            negative: true,
            empty_comment: true,
            ..strict
        };
        for (given, allowed, allowed_if_free) in [
            (0, false, false),
            (1, true, true),
            (5, true, true),
            (6, false, false),
            (-5, false, true),
            (-6, false, false),
            (i64::MIN, false, false),
        ] {
            assert_eq!(
                check_points(given, strict, texts).is_ok(),
                allowed,
                "{given}"
            );
            assert_eq!(
                check_points(given, free, texts).is_ok(),
                allowed_if_free,
                "{given}"
            );
        }
        for (text, kept, kept_if_free) in [
            (" \n", None, Some("")),
            (" äöü ", Some("äöü"), Some("äöü")),
            ("äöüß", None, None),
        ] {
            assert_eq!(check_comment(text, strict, texts).ok(), kept, "{text:?}");
            assert_eq!(
                check_comment(text, free, texts).ok(),
                kept_if_free,
                "{text:?}"
            );
        }
    }
}
