//! Ratings: who gives them, for what, and how they add up.

use std::time::Duration;

use super::message_fixture::three;
use super::{Audience, Part, Role, Someone, Suite, Verdict, equal};
use crate::host::Refusal;
use crate::model::{PostAt, PostId, Rate, UserRef};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

board_rules!(
    mod reputation;

    /// A rating adds to its member's total at once, by whatever name the member goes.
    async fn ratings_add_up(suite: &Suite) -> Verdict {
        let (alice, bob, carol) = three(suite).await?;
        for (rater, user, points, total) in
            [(&alice, bob.by_id(), 2, 2), (&carol, bob.by_name(), 1, 3)]
        {
            let rating = rater.rate(&user, &rate(points, None)).await?.granted()?;
            equal("who was rated", &rating.user_id, &bob.id())?;
            equal("what for", &rating.post_id, &None)?;
            equal("points", rating.points, points)?;
            equal("comment", rating.comment, "Well said.")?;
            equal("the new total", rating.reputation, total)?;
            if suite.needs(Part::SuiteClock).is_ok() {
                equal("when", rating.created_at, suite.now())?;
            }
            equal("as the profile has it", total_of(&bob).await?, total)?;
        }
        equal("another's total", total_of(&alice).await?, 0)
    }

    /// Nobody rates themselves, by whatever name.
    async fn nobody_rates_themselves(suite: &Suite) -> Verdict {
        let (alice, ..) = three(suite).await?;
        for user in [alice.by_id(), alice.by_name()] {
            alice.rate(&user, &rate(1, None)).await?.forbidden()?;
        }
        equal("the total", total_of(&alice).await?, 0)
    }

    /// A member who is not there cannot be rated.
    async fn an_unknown_member_is_absent(suite: &Suite) -> Verdict {
        let (alice, ..) = three(suite).await?;
        for user in [UserRef::Id(i64::MAX.into()), UserRef::Name("nobody".into())] {
            alice.rate(&user, &rate(1, None)).await?.absent()?;
        }
        Ok(())
    }

    /// A rating gives points, or takes them: none at all is refused.
    async fn a_rating_has_points(suite: &Suite) -> Verdict {
        let (alice, bob, _) = three(suite).await?;
        alice
            .rate(&bob.by_id(), &rate(0, None))
            .await?
            .invalid("points")
    }

    /// Each member rates a post once, whatever else they rate.
    async fn a_post_is_rated_once(suite: &Suite) -> Verdict {
        let (alice, bob, carol) = three(suite).await?;
        let forum = suite.forum(Audience::Guests).await?;
        let (one, other) = (
            suite.thread(&bob, &forum).await?.first,
            suite.thread(&bob, &forum).await?.first,
        );
        let for_one = rate(1, Some(&one));
        let rating = alice.rate(&bob.by_id(), &for_one).await?.granted()?;
        equal("what for", rating.post_id, Some(one))?;
        equal("the forum of the post", rating.forum_id, Some(forum))?;
        alice.rate(&bob.by_id(), &for_one).await?.conflict()?;
        suite.wait(DAY * 2);
        alice.rate(&bob.by_name(), &for_one).await?.conflict()?;
        for (rater, post) in [
            (&alice, Some(&other)),
            (&alice, None),
            (&carol, for_one.post_id.as_ref()),
        ] {
            rater.rate(&bob.by_id(), &rate(1, post)).await?.granted()?;
        }
        equal("the total", total_of(&bob).await?, 4)
    }

    /// Without a post, a member is rated by another once in 24 hours.
    async fn a_member_is_rated_once_a_day(suite: &Suite) -> Verdict {
        suite.needs(Part::SuiteClock)?;
        let (alice, bob, carol) = three(suite).await?;
        let once = rate(1, None);
        alice.rate(&bob.by_id(), &once).await?.granted()?;
        let rated = suite.now();
        alice.rate(&bob.by_id(), &once).await?.conflict()?;
        for (rater, user) in [(&carol, &bob), (&alice, &carol)] {
            rater.rate(&user.by_id(), &once).await?.granted()?;
        }
        // Each write comes a minute later by itself: this one a minute before the day is over, the next at its very end.
        let minute = Duration::from_secs(60);
        suite.wait(DAY - suite.now().since(rated) - minute * 2);
        alice.rate(&bob.by_id(), &once).await?.conflict()?;
        alice.rate(&bob.by_id(), &once).await?.granted()?;
        equal("the total", total_of(&bob).await?, 3)
    }

    /// The post that a rating is for has to be the member's: another's, or none, is not found.
    async fn a_rating_is_for_a_post_of_the_member(suite: &Suite) -> Verdict {
        let (alice, bob, carol) = three(suite).await?;
        let forum = suite.forum(Audience::Guests).await?;
        let carols = suite.thread(&carol, &forum).await?.first;
        for post in [carols, PostId::from(i64::MAX), PostId::nothing()] {
            let rated = alice.rate(&bob.by_id(), &rate(1, Some(&post))).await?;
            rated.not_found()?;
        }
        equal("the total", total_of(&bob).await?, 0)
    }

    /// A post that the rater does not see when the rating is given is not found.
    async fn nobody_rates_for_a_post_that_they_do_not_see(suite: &Suite) -> Verdict {
        suite.needs(Part::HiddenForums)?;
        let (alice, ..) = three(suite).await?;
        let forum = suite.forum(Audience::Guests).await?;
        let (sam, sue) = (
            suite.join("sam", Role::Staff).await?,
            suite.join("sue", Role::Staff).await?,
        );
        let hidden = rate(1, Some(&suite.thread(&sam, &forum).await?.first));
        let held = alice.hold().await?;
        suite.stage.set_readers(&forum, Audience::Staff).await?;
        for someone in [&alice, &held] {
            let rated = someone.rate(&sam.by_id(), &hidden).await?;
            rated.not_found()?;
        }
        sue.rate(&sam.by_id(), &hidden).await?.granted()?;
        equal("the total", total_of(&sam).await?, 1)
    }

    /// A post that awaits approval, or is deleted, is not found by whom it is not there for.
    async fn nobody_rates_for_a_post_that_is_hidden(suite: &Suite) -> Verdict {
        let (alice, bob, _) = three(suite).await?;
        let forum = suite.forum(Audience::Guests).await?;
        let (moderator, newbie) = (
            suite.moderator("mod", &forum).await?,
            suite.newcomer("newbie").await?,
        );
        let thread = suite.thread(&bob, &forum).await?;
        let waiting = rate(1, Some(&suite.post(&newbie, &thread.thread).await?));
        alice.rate(&newbie.by_id(), &waiting).await?.not_found()?;
        moderator.rate(&newbie.by_id(), &waiting).await?.granted()?;
        let reply = suite.post(&bob, &thread.thread).await?;
        let deleted = rate(1, Some(&reply));
        let at = PostAt {
            thread: thread.thread,
            post: reply,
        };
        moderator.delete_post(&at).await?.granted()?;
        alice.rate(&bob.by_id(), &deleted).await?.not_found()
    }

    /// Of many ratings for one post at once, one counts.
    async fn of_many_ratings_at_once_one_counts(suite: &Suite) -> Verdict {
        let (alice, bob, _) = three(suite).await?;
        let forum = suite.forum(Audience::Guests).await?;
        let given = rate(1, Some(&suite.thread(&bob, &forum).await?.first));
        let ratings = (0..20).map(|_| {
            let (alice, bob, given) = (alice.clone(), bob.by_id(), given.clone());
            async move { alice.rate(&bob, &given).await }
        });
        let mut counted = 0;
        for rated in suite.race(ratings).await {
            let (what, reply) = rated?.reply();
            match reply {
                Ok(_) => counted += 1,
                Err(refusal) => equal(what, matches!(refusal, Refusal::Conflict(_)), true)?,
            }
        }
        equal("ratings that counted", counted, 1)?;
        equal("the total", total_of(&bob).await?, 1)
    }

    /// A rating by one who was banned since the request began does not count.
    async fn a_banned_member_rates_no_longer(suite: &Suite) -> Verdict {
        suite.needs(Part::Bans)?;
        let (alice, bob, _) = three(suite).await?;
        let under_way = alice.hold().await?;
        suite.stage.set_banned(&alice.id(), true).await?;
        let rated = under_way.rate(&bob.by_id(), &rate(1, None)).await?;
        rated.barred()?;
        equal("the total", total_of(&bob).await?, 0)
    }
);

/// What the member's profile says, to a member.
async fn total_of(member: &Someone) -> Verdict<i64> {
    let profile = member.profile(&member.by_id()).await?;
    Ok(profile.granted()?.reputation)
}

pub(crate) fn rate(points: i64, post: Option<&PostId>) -> Rate {
    Rate {
        points,
        comment: "Well said.".into(),
        post_id: post.cloned(),
    }
}
