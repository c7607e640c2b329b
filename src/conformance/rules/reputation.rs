//! Reputation ratings.

use std::time::Duration;

use super::*;
use crate::model::DAY;

board_rules! {
    mod reputation, __rules_reputation;

    /// A rating changes the member's total immediately, whether the member is named by id or by name.
    async fn ratings_add_up(suite: &Suite) -> TestResult {
        let [alice, bob, carol] = three_members(suite).await?;
        let ratings = [(&alice, bob.id_ref(), 2, 2), (&carol, bob.name_ref(), 1, 3)];
        for (rater, user, points, total) in ratings {
            let rating = rater.rate_member(&user, &new_rating(points, None)).await.expect_ok()?;
            check_eq!((&rating.user_id, &rating.post_id), (&bob.id(), &None))?;
            check_eq!((rating.points, rating.reputation), (points, total))?;
            check_eq!(rating.comment, "Well said.")?;
            if suite.require(Capability::InjectedClock).is_ok() {
                check_eq!(rating.created_at, suite.now())?;
            }
            expect_reputation(&bob, total).await?;
        }
        expect_reputation(&alice, 0).await
    }

    /// A member who rates themselves is forbidden.
    async fn members_cannot_rate_themselves(suite: &Suite) -> TestResult {
        let alice = suite.member("alice").await?;
        for user in [alice.id_ref(), alice.name_ref()] {
            alice.rate_member(&user, &new_rating(1, None)).await.expect_forbidden()?;
        }
        expect_reputation(&alice, 0).await
    }

    /// An unknown member is not found.
    async fn an_unknown_member_cannot_be_rated(suite: &Suite) -> TestResult {
        let alice = suite.member("alice").await?;
        for user in [UserRef::Id(i64::MAX.into()), UserRef::Name("unknown".into())] {
            alice.rate_member(&user, &new_rating(1, None)).await.expect_path_not_found()?;
        }
        Ok(())
    }

    /// 0 is invalid as `points`.
    async fn a_rating_of_zero_points_is_invalid(suite: &Suite) -> TestResult {
        let [alice, bob, _] = three_members(suite).await?;
        alice.rate_member(&bob.id_ref(), &new_rating(0, None)).await.expect_validation_error("points")
    }

    /// A member rates each post at most once. A second rating is a conflict at any later time.
    async fn a_member_rates_a_post_once(suite: &Suite) -> TestResult {
        let [alice, bob, carol] = three_members(suite).await?;
        let forum = suite.forum(Audience::Guests).await?;
        let one = suite.thread(&bob, &forum).await?.post_id;
        let other = suite.thread(&bob, &forum).await?.post_id;
        let for_one = new_rating(1, Some(&one));
        let rating = alice.rate_member(&bob.id_ref(), &for_one).await.expect_ok()?;
        check_eq!((rating.post_id.as_ref(), rating.forum_id), (Some(&one), Some(forum)))?;
        alice.rate_member(&bob.id_ref(), &for_one).await.expect_conflict()?;
        suite.advance(DAY * 2);
        alice.rate_member(&bob.name_ref(), &for_one).await.expect_conflict()?;
        for (rater, post) in [(&alice, Some(&other)), (&alice, None), (&carol, Some(&one))] {
            rater.rate_member(&bob.id_ref(), &new_rating(1, post)).await.expect_ok()?;
        }
        expect_reputation(&bob, 4).await
    }

    /// A second rating of a member without a post is a conflict for 24 hours.
    async fn a_member_rates_another_once_a_day(suite: &Suite) -> TestResult {
        suite.require(Capability::InjectedClock)?;
        let [alice, bob, carol] = three_members(suite).await?;
        let once = new_rating(1, None);
        alice.rate_member(&bob.id_ref(), &once).await.expect_ok()?;
        let rated = suite.now();
        alice.rate_member(&bob.id_ref(), &once).await.expect_conflict()?;
        for (rater, user) in [(&carol, &bob), (&alice, &carol)] {
            rater.rate_member(&user.id_ref(), &once).await.expect_ok()?;
        }
        // Each write advances the clock by a minute. The first of these ratings is a minute before the end of the day,
        // the second one exactly at the end.
        let minute = Duration::from_secs(60);
        suite.advance(DAY - suite.now().saturating_duration_since(rated) - minute * 2);
        alice.rate_member(&bob.id_ref(), &once).await.expect_conflict()?;
        alice.rate_member(&bob.id_ref(), &once).await.expect_ok()?;
        expect_reputation(&bob, 3).await
    }

    /// A rated post must belong to the rated member. Any other post is not found.
    async fn a_rated_post_must_belong_to_the_member(suite: &Suite) -> TestResult {
        let [alice, bob, carol] = three_members(suite).await?;
        let forum = suite.forum(Audience::Guests).await?;
        let carols = suite.thread(&carol, &forum).await?.post_id;
        for post in [carols, PostId::from(i64::MAX), PostId::empty()] {
            alice.rate_member(&bob.id_ref(), &new_rating(1, Some(&post))).await.expect_not_found()?;
        }
        expect_reputation(&bob, 0).await
    }

    /// If the rater cannot see the rated post when the rating is made, the post is not found.
    async fn an_invisible_post_cannot_be_rated(suite: &Suite) -> TestResult {
        suite.require(Capability::HiddenForums)?;
        let (forum, alice) = suite.forum_and_member().await?;
        let sam = suite.staff("sam").await?;
        let sue = suite.staff("sue").await?;
        let hidden = new_rating(1, Some(&suite.thread(&sam, &forum).await?.post_id));
        let cached = alice.cache_access().await?;
        suite.fixture.set_readers(&forum, Audience::Staff).await?;
        for rater in [&alice, &cached] {
            rater.rate_member(&sam.id_ref(), &hidden).await.expect_not_found()?;
        }
        sue.rate_member(&sam.id_ref(), &hidden).await.expect_ok()?;
        expect_reputation(&sam, 1).await
    }

    /// A post that awaits approval or is deleted is not found by callers who cannot see it.
    async fn a_hidden_post_cannot_be_rated(suite: &Suite) -> TestResult {
        let [alice, bob, _] = three_members(suite).await?;
        let forum = suite.forum(Audience::Guests).await?;
        let moderator = suite.moderator("mod", &forum).await?;
        let nora = suite.newcomer("nora").await?;
        let thread = suite.thread(&bob, &forum).await?.thread_id;
        let pending = new_rating(1, Some(&suite.post(&nora, &thread).await?.post_id));
        alice.rate_member(&nora.id_ref(), &pending).await.expect_not_found()?;
        moderator.rate_member(&nora.id_ref(), &pending).await.expect_ok()?;
        let deleted = suite.post(&bob, &thread).await?;
        moderator.delete_post(&deleted).await.expect_ok()?;
        alice.rate_member(&bob.id_ref(), &new_rating(1, Some(&deleted.post_id))).await.expect_not_found()
    }

    /// Exactly one of several concurrent ratings of a post counts.
    async fn one_of_concurrent_ratings_counts(suite: &Suite) -> TestResult {
        let [alice, bob, _] = three_members(suite).await?;
        let forum = suite.forum(Audience::Guests).await?;
        let given = new_rating(1, Some(&suite.thread(&bob, &forum).await?.post_id));
        let ratings = repeat_n((alice.clone(), bob.id_ref(), given.clone()), 20)
            .map(|(alice, bob, given)| async move { alice.rate_member(&bob, &given).await });
        suite.race_for_one(ratings).await?;
        expect_reputation(&bob, 1).await
    }

    /// A rating by a member who was banned after the request began does not count.
    async fn a_banned_member_cannot_rate(suite: &Suite) -> TestResult {
        let [alice, bob, _] = three_members(suite).await?;
        let cached = suite.ban_during_request(&alice).await?;
        cached.rate_member(&bob.id_ref(), &new_rating(1, None)).await.expect_denied()?;
        expect_reputation(&bob, 0).await
    }
}

async fn expect_reputation(member: &TestCaller, total: i64) -> TestResult {
    let profile = member.fetch_member(&member.id_ref()).await?;
    check_eq!(profile.reputation, total, "the reputation of {member:?}")
}

pub(crate) fn new_rating(points: i64, post: Option<&PostId>) -> NewRating {
    NewRating { points, comment: "Well said.".into(), post_id: post.cloned() }
}
