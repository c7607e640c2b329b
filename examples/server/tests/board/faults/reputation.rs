//! Ratings.

use forum_api::host::Refusal;
use forum_api::model::Timestamp;

use super::plant::Plant;
use super::sound::member;
use super::twist::Twist;
use super::{Fault, says};

pub const FAULTS: &[Fault] = &[
    (
        "ratings_add_up",
        "the last rating is the total",
        Plant::Rate(Twist::Granted(|rating, _| rating.reputation = rating.points)),
    ),
    (
        "nobody_rates_themselves",
        "members rate themselves",
        Plant::Rate(Twist::Forced(|refusal, _| {
            matches!(refusal, Refusal::Forbidden(_))
        })),
    ),
    (
        "an_unknown_member_is_absent",
        "a member who is not there is not found, as if the body had named them",
        Plant::Rate(Twist::Refused(|refusal| {
            if let Refusal::Absent = refusal {
                *refusal = Refusal::NotFound("There is no such member.".into());
            }
        })),
    ),
    (
        "a_rating_has_points",
        "no points are one",
        Plant::Rate(Twist::Ask(|question| {
            let rate = &mut question.it.1;
            rate.points += i64::from(rate.points == 0);
        })),
    ),
    (
        "a_post_is_rated_once",
        "a post is rated again",
        Plant::Rate(Twist::Repeats(|refusal, question| {
            let again = question.it.1.post_id.is_some() && !question.racing;
            again && matches!(refusal, Refusal::Conflict(_))
        })),
    ),
    (
        "a_post_is_rated_once",
        "the rating of a post lacks the post's forum",
        Plant::Rate(Twist::Granted(|rating, _| rating.forum_id = None)),
    ),
    (
        "a_member_is_rated_once_a_day",
        "a member is rated again on the same day",
        Plant::Rate(Twist::Repeats(|refusal, question| {
            question.it.1.post_id.is_none() && matches!(refusal, Refusal::Conflict(_))
        })),
    ),
    (
        "a_rating_is_for_a_post_of_the_member",
        "a post that is another's is left out of the rating",
        Plant::Rate(Twist::Instead(|sound, question| {
            Box::pin(async {
                let ((user, mut rate), by) = (question.it.clone(), member(&question.by)?);
                let rated = sound.board.rate(by, user.clone(), rate.clone()).await;
                if rate.post_id == Some(1.into()) && rated.is_err() {
                    rate.post_id = None;
                    return sound.board.rate(by, user, rate).await;
                }
                rated
            })
        })),
    ),
    (
        "nobody_rates_for_a_post_that_they_do_not_see",
        "hidden posts are rated",
        Plant::Rate(Twist::Forced(|_, question| {
            question.by.standing().forums().is_empty()
        })),
    ),
    (
        "nobody_rates_for_a_post_that_is_hidden",
        "posts that await approval, or are deleted, are rated",
        Plant::Rate(Twist::Forced(|refusal, _| says(refusal, "NotFound"))),
    ),
    (
        "of_many_ratings_at_once_one_counts",
        "ratings that race are all granted",
        Plant::Rate(Twist::Repeats(|_, question| question.racing)),
    ),
    (
        "a_banned_member_rates_no_longer",
        "who was banned meanwhile rates",
        Plant::Rate(Twist::Forced(|refusal, _| says(refusal, "account"))),
    ),
    (
        "ratings_add_up",
        "a rating was given in 1970",
        Plant::Rate(Twist::Granted(|rating, _| rating.created_at = Timestamp::default())),
    ),
];
