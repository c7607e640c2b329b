//! Reputation: members rate each other, by themselves or for a post.

mod rules;
pub mod texts;

use std::sync::LazyLock;

use forum_api::host::{Refusal, Result};
use forum_api::model::{Author, PostId, Profile, Rate, Rating, Timestamp, UserId, UserRef};
use rusqlite::{Connection, OptionalExtension, Savepoint, named_params};

use super::actor::Actor;
use super::events::{Events, Happening};
use super::members;
use super::row::Columns;
use super::rules::{DAY, pace};
use super::settings::{ALLOW_EMPTY_COMMENT, ALLOW_NEGATIVE, BODY_MAX, MAX_POINTS, RATINGS_PER_DAY};
use super::sight::{Sight, sees_post, sees_thread};
use super::texts::Texts;
use rules::Limits;

/// Rates a member. One who is banned can be rated as well: the profile is there.
pub fn rate(
    tx: &Savepoint<'_>,
    events: &mut Events,
    actor: &Actor,
    user: &UserRef,
    rate: &Rate,
    say: &Texts,
) -> Result<Rating> {
    let rated = members::profile(tx, user)?;
    let member = rated.user_id.number()?;
    if actor.member == Some(member) {
        return Err(Refusal::Forbidden(say.ratings.oneself.into()));
    }
    let post = rate.post_id.as_ref();
    let post = post.map(|post| find_post(tx, actor, member, post, say));
    let post = post.transpose()?;
    let new = NewRating {
        member,
        rater: actor.member,
        post: post.map(|post| post.id),
        points: rate.points,
        comment: comment(tx, rate, say)?,
        at: events.now,
    };
    new.is_first(tx, say)?;
    new.is_in_time(tx, say)?;
    let (rating, reputation) = new.insert(tx)?;
    let rating = new.answer(rating, reputation);
    if post.is_none_or(|post| post.public) {
        let forum = post.map(|post| post.forum);
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
fn comment<'a>(tx: &Savepoint<'_>, rate: &'a Rate, say: &Texts) -> Result<&'a str> {
    let limits = Limits {
        points: MAX_POINTS.get(tx)?,
        negative: ALLOW_NEGATIVE.get(tx)?,
        empty_comment: ALLOW_EMPTY_COMMENT.get(tx)?,
        comment: BODY_MAX.get(tx)?,
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
fn find_post(
    connection: &Connection,
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
    let parameters = named_params! { ":post": post.number().ok(), ":author": author };
    let mut query = connection.prepare_cached(&QUERY)?;
    let subject = query.query_row(&*sight.with(parameters), |row| {
        let mut columns = Columns::of(row);
        Ok(Subject {
            id: columns.value()?,
            forum: columns.value()?,
            public: columns.value()?,
        })
    });
    let absent = || Refusal::NotFound(say.ratings.no_such_post.into());
    subject.optional()?.ok_or_else(absent)
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
    fn is_first(&self, tx: &Savepoint<'_>, say: &Texts) -> Result<()> {
        let (since, text) = match self.post {
            Some(_) => (i64::MIN, say.ratings.post_rated),
            None => (self.at.minus(DAY).as_millis(), say.ratings.member_rated),
        };
        let mut query = tx.prepare_cached(
            "SELECT EXISTS (
                SELECT 1 FROM rating
                WHERE rater_id = ?1 AND member_id = ?2 AND post_id IS ?3 AND created_at > ?4
             )",
        )?;
        let parameters = (self.rater, self.member, self.post, since);
        let is_there: bool = query.query_row(parameters, |row| row.get(0))?;
        (!is_there)
            .then_some(())
            .ok_or_else(|| Refusal::Conflict(text.into()))
    }

    fn is_in_time(&self, tx: &Savepoint<'_>, say: &Texts) -> Result<()> {
        let most = RATINGS_PER_DAY.get(tx)?;
        let mut query = tx.prepare_cached(
            "SELECT created_at FROM rating WHERE rater_id = ?1 AND created_at > ?3
             ORDER BY created_at DESC LIMIT 1 OFFSET ?2 - 1",
        )?;
        let parameters = (self.rater, most, self.at.minus(DAY));
        let oldest = query.query_row(parameters, |row| row.get(0));
        pace(oldest.optional()?, self.at, most, DAY, say.ratings.too_many)
    }

    /// Gives its id, and the member's new total.
    fn insert(&self, tx: &Savepoint<'_>) -> rusqlite::Result<(i64, i64)> {
        let mut insert = tx.prepare_cached(
            "INSERT INTO rating (member_id, rater_id, post_id, points, comment, created_at)
             VALUES (:member, :rater, :post, :points, :comment, :at)",
        )?;
        let rating = insert.insert(named_params! {
            ":member": self.member,
            ":rater": self.rater,
            ":post": self.post,
            ":points": self.points,
            ":comment": self.comment,
            ":at": self.at,
        })?;
        let mut total = tx.prepare_cached(
            "UPDATE member SET reputation = reputation + ?2 WHERE id = ?1 RETURNING reputation",
        )?;
        let total = total.query_row((self.member, self.points), |row| row.get(0))?;
        Ok((rating, total))
    }

    fn answer(&self, rating: i64, reputation: i64) -> Rating {
        Rating {
            rating_id: rating.into(),
            user_id: UserId::from(self.member),
            post_id: self.post.map(PostId::from),
            points: self.points,
            comment: self.comment.into(),
            created_at: self.at,
            reputation,
        }
    }
}
