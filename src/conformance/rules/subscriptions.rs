//! Follows of threads and forums.

use super::pager::Walk;
use super::sanitizing::{reply, start};
use super::thread_fixture::{self, Scene};
use super::{Audience, Part, Role, Someone, Suite, Verdict, equal, holds};
use crate::model::{
    Followed, ForumId, ListSubscriptions, Reply, StartThread, Subscription, Target, TargetKind,
    ThreadId,
};

board_rules!(
    mod subscriptions;

    /// What is followed for the first time is a new subscription, and the same one afterwards.
    async fn following_twice_is_following_once(suite: &Suite) -> Verdict {
        let Scene {
            forum, alice, at, ..
        } = Scene::set(suite).await?;
        for target in [Target::Thread(at.thread), Target::Forum(forum)] {
            let first = alice.follow(&target).await?.granted()?;
            let again = alice.follow(&target).await?.granted()?;
            let (Followed::New(first), Followed::Already(again)) = (&first, &again) else {
                return holds(
                    format_args!("{first:?} is new, and {again:?} is not"),
                    false,
                );
            };
            equal("the subscription", again, first)?;
        }
        equal("how many there are", list(&alice).await?.len(), 2)
    }

    /// A subscription tells what is followed, and where it is.
    async fn a_subscription_tells_what_is_followed(suite: &Suite) -> Verdict {
        let Scene {
            forum, alice, at, ..
        } = Scene::set(suite).await?;
        let thread = alice.thread(&at.thread).await?.granted()?;
        let whole = thread_fixture::forum(&alice, &forum).await?;
        alice
            .follow(&Target::Thread(at.thread.clone()))
            .await?
            .granted()?;
        alice
            .follow(&Target::Forum(forum.clone()))
            .await?
            .granted()?;
        let found = list(&alice).await?;
        let told = found
            .iter()
            .map(|it| (it.target, it.target_id.clone(), it.forum_id.clone()));
        let expected = [
            (TargetKind::Forum, forum.clone().into(), forum.clone()),
            (TargetKind::Thread, at.thread.into(), forum),
        ];
        equal("what is followed", told.collect::<Vec<_>>(), expected)?;
        let titles: Vec<_> = found.into_iter().map(|it| it.title).collect();
        equal("their titles", titles, [whole.title, thread.title])
    }

    /// The list begins with the newest, and is walked to its end without a gap; one kind can be asked for.
    async fn subscriptions_are_walked_newest_first(suite: &Suite) -> Verdict {
        let Scene {
            forum, otto, alice, ..
        } = Scene::set(suite).await?;
        let mut followed = Vec::new();
        for _ in 0..5 {
            let thread = suite.thread(&otto, &forum).await?.thread;
            alice
                .follow(&Target::Thread(thread.clone()))
                .await?
                .granted()?;
            followed.insert(0, thread.into());
        }
        alice
            .follow(&Target::Forum(forum.clone()))
            .await?
            .granted()?;
        for (target, expected) in [
            (Some(TargetKind::Thread), followed.clone()),
            (Some(TargetKind::Forum), vec![forum.clone().into()]),
            (None, [vec![forum.into()], followed].concat()),
        ] {
            let mut walk = Walk::of(2);
            while walk.goes_on() {
                let page = ListSubscriptions {
                    target,
                    limit: walk.limit,
                    after: walk.after.clone(),
                };
                walk.take(alice.subscriptions(&page).await?.granted()?)?;
            }
            let walked: Vec<_> = walk.items.into_iter().map(|it| it.target_id).collect();
            equal(format_args!("the list of {target:?}"), walked, expected)?;
        }
        Ok(())
    }

    /// What somebody follows is nobody else's matter.
    async fn subscriptions_are_personal(suite: &Suite) -> Verdict {
        let Scene {
            otto, alice, at, ..
        } = Scene::set(suite).await?;
        let target = Target::Thread(at.thread);
        alice.follow(&target).await?.granted()?;
        equal("what another one follows", list(&otto).await?, [])?;
        otto.unfollow(&target).await?.not_found()?;
        equal("how many there are", list(&alice).await?.len(), 1)
    }

    /// What is hidden or not there cannot be followed.
    async fn nobody_follows_what_they_do_not_see(suite: &Suite) -> Verdict {
        let (forum, thread) = hidden(suite).await?;
        let alice = suite.member("alice").await?;
        for target in [
            Target::Thread(thread),
            Target::Forum(forum),
            Target::Thread(999_999.into()),
            Target::Forum(999_999.into()),
        ] {
            alice.follow(&target).await?.not_found()?;
        }
        equal("what she follows", list(&alice).await?, [])
    }

    /// What becomes hidden leaves the list, comes back with visibility, and can be unfollowed meanwhile.
    async fn what_becomes_hidden_leaves_the_list(suite: &Suite) -> Verdict {
        suite.needs(Part::HiddenForums)?;
        let Scene {
            forum, alice, at, ..
        } = Scene::set(suite).await?;
        let (thread, whole) = (Target::Thread(at.thread), Target::Forum(forum.clone()));
        alice.follow(&thread).await?.granted()?;
        alice.follow(&whole).await?.granted()?;
        suite.stage.set_readers(&forum, Audience::Staff).await?;
        equal("what is left", list(&alice).await?, [])?;
        alice.unfollow(&whole).await?.granted()?;
        alice.unfollow(&whole).await?.not_found()?;
        suite.stage.set_readers(&forum, Audience::Guests).await?;
        let kinds: Vec<_> = list(&alice)
            .await?
            .into_iter()
            .map(|it| it.target)
            .collect();
        equal("what came back", kinds, [TargetKind::Thread])
    }

    /// A thread that is deleted leaves the list with it, and comes back.
    async fn a_deleted_thread_leaves_the_list(suite: &Suite) -> Verdict {
        let Scene {
            forum,
            alice,
            first,
            ..
        } = Scene::set(suite).await?;
        let mia = suite.moderator("mia", &forum).await?;
        let target = Target::Thread(first.thread.clone());
        for someone in [&alice, &mia] {
            someone.follow(&target).await?.granted()?;
        }
        mia.delete_post(&first).await?.granted()?;
        equal("what the moderator follows", list(&mia).await?.len(), 1)?;
        equal("what others follow", list(&alice).await?, [])?;
        alice.follow(&target).await?.not_found()?;
        suite.stage.restore(&first.post).await?;
        equal("what came back", list(&alice).await?.len(), 1)
    }

    /// What is unfollowed is gone; what is not followed is not found.
    async fn unfollowing_takes_a_subscription(suite: &Suite) -> Verdict {
        let Scene {
            forum, alice, at, ..
        } = Scene::set(suite).await?;
        for target in [Target::Thread(at.thread), Target::Forum(forum)] {
            alice.unfollow(&target).await?.not_found()?;
            alice.follow(&target).await?.granted()?;
            alice.unfollow(&target).await?.granted()?;
            alice.unfollow(&target).await?.not_found()?;
        }
        equal("what is left", list(&alice).await?, [])
    }

    /// Who starts a thread or replies may follow it with that.
    async fn authors_follow_what_they_write_in(suite: &Suite) -> Verdict {
        suite.needs(Part::Subscriptions)?;
        let Scene {
            forum, alice, at, ..
        } = Scene::set(suite).await?;
        for subscribe in [false, true] {
            let reply = Reply {
                subscribe,
                ..reply("Words")
            };
            alice.reply(&at.thread, &reply).await?.granted()?;
            let new = StartThread {
                subscribe,
                ..start("Thread", "Words")
            };
            alice.start_thread(&forum, &new).await?.granted()?;
            let followed = list(&alice).await?.len();
            equal(
                "how many she follows",
                followed,
                if subscribe { 2 } else { 0 },
            )?;
        }
        Ok(())
    }

    /// Who loses sight of something while they are about to follow it does not follow it, and neither does who is banned.
    async fn a_follow_is_decided_when_it_is_made(suite: &Suite) -> Verdict {
        let Scene {
            forum,
            otto,
            alice,
            at,
            ..
        } = Scene::set(suite).await?;
        let (target, under_way) = (Target::Thread(at.thread), alice.hold().await?);
        suite.needs(Part::HiddenForums)?;
        suite.stage.set_readers(&forum, Audience::Staff).await?;
        under_way.follow(&target).await?.not_found()?;
        suite.stage.set_readers(&forum, Audience::Guests).await?;
        equal("what she follows", list(&alice).await?, [])?;
        suite.needs(Part::Bans)?;
        let under_way = otto.hold().await?;
        suite.stage.set_banned(&otto.id(), true).await?;
        under_way.follow(&target).await?.barred()
    }

    /// A thread that awaits approval is followed by its author, and by none of those who do not see it.
    async fn a_waiting_thread_is_followed_by_its_author(suite: &Suite) -> Verdict {
        let Scene { forum, alice, .. } = Scene::set(suite).await?;
        let nora = suite.newcomer("nora").await?;
        let target = Target::Thread(suite.thread(&nora, &forum).await?.thread);
        alice.follow(&target).await?.not_found()?;
        nora.follow(&target).await?.granted()?;
        equal("what its author follows", list(&nora).await?.len(), 1)
    }
);

async fn hidden(suite: &Suite) -> Verdict<(ForumId, ThreadId)> {
    let forum = suite.forum(Audience::Staff).await?;
    let sam = suite.join("sam", Role::Staff).await?;
    let thread = suite.thread(&sam, &forum).await?.thread;
    Ok((forum, thread))
}

async fn list(someone: &Someone) -> Verdict<Vec<Subscription>> {
    let page = someone.subscriptions(&ListSubscriptions::default()).await?;
    Ok(page.granted()?.items)
}
