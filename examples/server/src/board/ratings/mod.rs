//! Reputation: members rate each other, by themselves or for a post.

mod rules;
pub mod texts;

use std::sync::LazyLock;

use forum_api::host::{Refusal, Result};
use forum_api::model::{
    Author, ForumId, PostId, Profile, Rate, Rating, Timestamp, UserId, UserRef,
};

use super::actor::Actor;
use super::db::{self, Connection, Transaction, bind};
use super::events::{Events, Happening};
use super::members;
use super::rules::{DAY, pace};
use super::settings::{ALLOW_EMPTY_COMMENT, ALLOW_NEGATIVE, BODY_MAX, MAX_POINTS, RATINGS_PER_DAY};
use super::sight::{Sight, sees_post, sees_thread};
use super::texts::Texts;
use rules::Limits;

/// Rates a member. One who is banned can be rated as well: the profile is there.
pub async fn rate(
    tx: &Transaction<'_>,
    events: &mut Events,
    actor: &Actor,
    user: &UserRef,
    rate: &Rate,
    say: &Texts,
) -> Result<Rating> {
    let rated = members::profile(tx, user).await?;
    let member = rated.user_id.number()?;
    if actor.member == Some(member) {
        return Err(Refusal::Forbidden(say.ratings.oneself.into()));
    }
    let post = match &rate.post_id {
        Some(post) => Some(find_post(tx, actor, member, post, say).await?),
        None => None,
    };
    let new = NewRating {
        member,
        rater: actor.member,
        post: post.map(|post| post.id),
        points: rate.points,
        comment: comment(tx, rate, say).await?,
        at: events.now,
    };
    new.is_first(tx, say).await?;
    new.is_in_time(tx, say).await?;
    let (rating, reputation) = new.insert(tx).await?;
    let forum = post.map(|post| post.forum);
    let rating = new.answer(rating, reputation, forum.map(ForumId::from));
    if post.is_none_or(|post| post.public) {
        events.note(Happening::Rating(rating.clone(), author(rated), forum));
    }
    Ok(rating)
}

fn author(profile: Profile) -> Author {
    Author {
        user_id: profile.user_id,
        username: profile.username,
        avatar_url: profile.avatar_url,
    }
}

/// The comment, if the settings allow it and the points.
async fn comment<'a>(tx: &Transaction<'_>, rate: &'a Rate, say: &Texts) -> Result<&'a str> {
    let limits = Limits {
        points: MAX_POINTS.get(tx).await?,
        negative: ALLOW_NEGATIVE.get(tx).await?,
        empty_comment: ALLOW_EMPTY_COMMENT.get(tx).await?,
        comment: BODY_MAX.get(tx).await?,
    };
    rules::points(rate.points, limits, say)?;
    rules::comment(&rate.comment, limits, say)
}

/// A post that a rating is about.
#[derive(Clone, Copy)]
struct Subject {
    id: i64,
    forum: i64,
    /// Whether it is there for everybody who sees the forum.
    public: bool,
}

/// The post of this `author`, if the caller sees it.
async fn find_post(
    connection: &Connection<'_>,
    actor: &Actor,
    author: i64,
    post: &PostId,
    say: &Texts,
) -> Result<Subject> {
    static QUERY: LazyLock<String> = LazyLock::new(|| {
        format!(
            "SELECT post.id, thread.forum_id, post.state = 'visible' AND thread.state = 'visible'
            FROM post JOIN thread ON thread.id = post.thread_id
            WHERE post.id = :post AND post.author_id = :author AND {} AND {}",
            sees_post("post"),
            sees_thread(),
        )
    });
    let sight = Sight::of(actor);
    let post = post.number().ok();
    let parameters = sight.with(bind! { ":post": post, ":author": author });
    let subject = connection.first(&QUERY, &parameters, |columns| {
        Ok(Subject {
            id: columns.value()?,
            forum: columns.value()?,
            public: columns.value()?,
        })
    });
    let absent = || Refusal::NotFound(say.ratings.no_such_post.into());
    subject.await?.ok_or_else(absent)
}

/// A rating whose contents were found good.
struct NewRating<'a> {
    member: i64,
    rater: Option<i64>,
    post: Option<i64>,
    points: i64,
    comment: &'a str,
    at: Timestamp,
}

impl NewRating<'_> {
    /// A post is rated once, a member without one once in a day.
    async fn is_first(&self, tx: &Transaction<'_>, say: &Texts) -> Result<()> {
        let (since, until, text) = match self.post {
            Some(_) => (i64::MIN, i64::MAX, say.ratings.post_rated),
            None => (
                self.at.minus(DAY).as_millis(),
                self.at.plus(DAY).as_millis(),
                say.ratings.member_rated,
            ),
        };
        let parameters = bind! {
            ":rater": self.rater,
            ":member": self.member,
            ":post": self.post,
            ":since": since,
            ":until": until,
        };
        let is_there = tx.any(
            "SELECT 1 FROM rating
             WHERE rater_id = :rater AND member_id = :member AND post_id IS NOT DISTINCT FROM :post
                AND created_at > :since AND created_at < :until
             LIMIT 1",
            parameters,
        );
        (!is_there.await?)
            .then_some(())
            .ok_or_else(|| Refusal::Conflict(text.into()))
    }

    async fn is_in_time(&self, tx: &Transaction<'_>, say: &Texts) -> Result<()> {
        let most = RATINGS_PER_DAY.get(tx).await?;
        let parameters = bind! {
            ":rater": self.rater,
            ":now": self.at,
            ":since": self.at.minus(DAY),
            ":others": i64::from(most) - 1,
        };
        let oldest = tx.first(
            "SELECT created_at FROM rating
             WHERE rater_id = :rater AND created_at > :since AND created_at <= :now
             ORDER BY created_at DESC LIMIT 1 OFFSET :others",
            parameters,
            |columns| columns.value(),
        );
        pace(oldest.await?, self.at, most, DAY, say.ratings.too_many)
    }

    /// Gives its id, and the member's new total.
    async fn insert(&self, tx: &Transaction<'_>) -> db::Result<(i64, i64)> {
        let parameters = bind! {
            ":member": self.member,
            ":rater": self.rater,
            ":post": self.post,
            ":points": self.points,
            ":comment": self.comment,
            ":at": self.at,
        };
        let insert = tx.insert(
            "INSERT INTO rating (member_id, rater_id, post_id, points, comment, created_at)
             VALUES (:member, :rater, :post, :points, :comment, :at) RETURNING id",
            parameters,
        );
        let rating = insert.await?;
        let parameters = bind![self.member, self.points];
        let total = tx.one(
            "UPDATE member SET reputation = reputation + ?2 WHERE id = ?1 RETURNING reputation",
            parameters,
            |columns| columns.value(),
        );
        Ok((rating, total.await?))
    }

    fn answer(&self, rating: i64, reputation: i64, forum_id: Option<ForumId>) -> Rating {
        Rating {
            rating_id: rating.into(),
            user_id: UserId::from(self.member),
            post_id: self.post.map(PostId::from),
            forum_id,
            points: self.points,
            comment: self.comment.into(),
            created_at: self.at,
            reputation,
        }
    }
}
