//! Subscriptions to threads and forums.

use super::*;
use crate::host::CreateOutcome;

board_rules! {
    mod subscriptions, __rules_subscriptions;

    /// The first `subscribe` creates a subscription. Later ones return it as `CreateOutcome::Existing`.
    async fn a_repeated_subscribe_returns_the_existing_subscription(suite: &Suite) -> TestResult {
        let ThreadFixture { forum, alice, reply, .. } = ThreadFixture::new(suite).await?;
        for target in [SubscriptionTarget::Thread(reply.thread_id), SubscriptionTarget::Forum(forum)] {
            let first = alice.subscribe(&target).await.expect_ok()?;
            let again = alice.subscribe(&target).await.expect_ok()?;
            match (&first, &again) {
                (CreateOutcome::Created(first), CreateOutcome::Existing(again)) => check_eq!(again, first)?,
                _ => check!(false, "{first:?} is `Created`, and {again:?} is `Existing`")?,
            }
        }
        check_eq!(subscriptions(&alice).await?.len(), 2)
    }

    /// A subscription has its target, the target's title and the forum.
    async fn a_subscription_names_its_target(suite: &Suite) -> TestResult {
        let ThreadFixture { forum, alice, reply, .. } = ThreadFixture::new(suite).await?;
        let titles =
            [alice.fetch_forum(&forum).await?.title, alice.fetch_thread(&reply.thread_id).await?.title];
        alice.subscribe(&SubscriptionTarget::Thread(reply.thread_id.clone())).await.expect_ok()?;
        alice.subscribe(&SubscriptionTarget::Forum(forum.clone())).await.expect_ok()?;
        let mut actual = subscriptions(&alice).await?;
        actual.sort_by_key(|it| it.target.kind() == SubscriptionTargetKind::Thread);
        let targets = actual.iter().map(|it| (it.target.clone(), it.forum_id.clone()));
        let expected = [
            (SubscriptionTarget::Forum(forum.clone()), forum.clone()),
            (SubscriptionTarget::Thread(reply.thread_id), forum),
        ];
        check_eq!(targets.collect::<Vec<_>>(), expected)?;
        check_eq!(actual.into_iter().map(|it| it.title).collect::<Vec<_>>(), titles)
    }

    /// Subscriptions are listed newest first, or in any order on a board that does not store their times, without gaps
    /// between pages. A filter selects one kind of target.
    async fn subscriptions_are_listed_newest_first(suite: &Suite) -> TestResult {
        let ThreadFixture { forum, otto, alice, first, .. } = ThreadFixture::new(suite).await?;
        let mut ids = vec![first.thread_id];
        for _ in 0..4 {
            ids.push(suite.thread(&otto, &forum).await?.thread_id);
        }
        let mut threads = Vec::new();
        for thread in ids {
            let target = SubscriptionTarget::Thread(thread);
            alice.subscribe(&target).await.expect_ok()?;
            threads.insert(0, target);
        }
        let subscribed_forum = SubscriptionTarget::Forum(forum);
        alice.subscribe(&subscribed_forum).await.expect_ok()?;
        let forums = vec![subscribed_forum];
        for (target, expected) in [
            (Some(SubscriptionTargetKind::Thread), threads.clone()),
            (Some(SubscriptionTargetKind::Forum), forums.clone()),
            (None, [forums, threads].concat()),
        ] {
            // A forum and a thread can have the same id.
            let id = |it: &Subscription| it.target.clone();
            if suite.require(Capability::SubscriptionTimes).is_ok() {
                check_pages(&alice, &target, &[2], &expected, id).await?;
            }
            let listed = read_all(&alice, &target, 2).await?.ids(id);
            contains_each_once(&listed, &expected)?;
            check_eq!(listed.len(), expected.len())?;
        }
        Ok(())
    }

    /// A subscription has the time at which the member subscribed, or a time that the board chooses if it does not
    /// store the times.
    async fn a_subscription_has_the_time_of_its_creation(suite: &Suite) -> TestResult {
        suite.require(Capability::SubscriptionTimes)?;
        suite.require(Capability::InjectedClock)?;
        let ThreadFixture { forum, alice, reply, .. } = ThreadFixture::new(suite).await?;
        for target in [SubscriptionTarget::Thread(reply.thread_id), SubscriptionTarget::Forum(forum)] {
            alice.subscribe(&target).await.expect_ok()?;
            let created_at = suite.now();
            alice.subscribe(&target).await.expect_ok()?;
            let listed = subscriptions(&alice).await?;
            check_eq!(listed.first().map(|newest| newest.created_at), Some(created_at))?;
        }
        Ok(())
    }

    /// Only the owner of a subscription can see and remove it. Other members do not find it.
    async fn subscriptions_are_private_to_their_owner(suite: &Suite) -> TestResult {
        let ThreadFixture { otto, alice, reply, .. } = ThreadFixture::new(suite).await?;
        let target = SubscriptionTarget::Thread(reply.thread_id);
        alice.subscribe(&target).await.expect_ok()?;
        check_eq!(subscriptions(&otto).await?, [])?;
        otto.unsubscribe(&target).await.expect_not_found()?;
        check_eq!(subscriptions(&alice).await?.len(), 1)
    }

    /// A hidden or unknown target is not found.
    async fn hidden_targets_cannot_be_subscribed_to(suite: &Suite) -> TestResult {
        let (forum, sam, alice) = suite.staff_forum().await?;
        let thread = suite.thread(&sam, &forum).await?.thread_id;
        for target in [
            SubscriptionTarget::Thread(thread),
            SubscriptionTarget::Forum(forum),
            SubscriptionTarget::Thread(999_999.into()),
            SubscriptionTarget::Forum(999_999.into()),
        ] {
            alice.subscribe(&target).await.expect_not_found()?;
        }
        check_eq!(subscriptions(&alice).await?, [])
    }

    /// A subscription with a hidden target leaves the list until the target is shown again. The owner of the
    /// subscription can unsubscribe in the meantime.
    async fn hidden_targets_leave_the_subscription_list(suite: &Suite) -> TestResult {
        suite.require(Capability::HiddenForums)?;
        let ThreadFixture { forum, alice, reply, .. } = ThreadFixture::new(suite).await?;
        let thread = SubscriptionTarget::Thread(reply.thread_id);
        let whole = SubscriptionTarget::Forum(forum.clone());
        alice.subscribe(&thread).await.expect_ok()?;
        alice.subscribe(&whole).await.expect_ok()?;
        suite.fixture.set_readers(&forum, Audience::Staff).await?;
        check_eq!(subscriptions(&alice).await?, [])?;
        alice.unsubscribe(&whole).await.expect_ok()?;
        alice.unsubscribe(&whole).await.expect_not_found()?;
        suite.fixture.set_readers(&forum, Audience::Guests).await?;
        check_eq!(only(subscriptions(&alice).await?)?.target, thread)
    }

    /// A deleted thread leaves the lists of callers who cannot see it, until it is restored.
    async fn a_deleted_thread_leaves_the_subscription_list(suite: &Suite) -> TestResult {
        let (ThreadFixture { alice, first, .. }, mia) = ThreadFixture::with_moderator(suite).await?;
        let target = SubscriptionTarget::Thread(first.thread_id.clone());
        for caller in [&alice, &mia] {
            caller.subscribe(&target).await.expect_ok()?;
        }
        mia.delete_post(&first).await.expect_ok()?;
        check_eq!(subscriptions(&alice).await?, [])?;
        alice.subscribe(&target).await.expect_not_found()?;
        let seen = usize::from(suite.require(Capability::SoftDeletion).is_ok());
        check_eq!(subscriptions(&mia).await?.len(), seen)?;
        if suite.restore(&first.post_id).await? {
            check_eq!(subscriptions(&alice).await?.len(), 1)?;
        }
        Ok(())
    }

    /// `unsubscribe` removes the subscription. A missing subscription is not found.
    async fn unsubscribing_requires_a_subscription(suite: &Suite) -> TestResult {
        let ThreadFixture { forum, alice, reply, .. } = ThreadFixture::new(suite).await?;
        for target in [SubscriptionTarget::Thread(reply.thread_id), SubscriptionTarget::Forum(forum)] {
            alice.unsubscribe(&target).await.expect_not_found()?;
            alice.subscribe(&target).await.expect_ok()?;
            alice.unsubscribe(&target).await.expect_ok()?;
            alice.unsubscribe(&target).await.expect_not_found()?;
        }
        check_eq!(subscriptions(&alice).await?, [])
    }

    /// The flag `subscribe` subscribes the author of a thread or a reply to the thread.
    async fn the_subscribe_flag_subscribes_the_author(suite: &Suite) -> TestResult {
        suite.require(Capability::Subscriptions)?;
        let ThreadFixture { forum, alice, reply, .. } = ThreadFixture::new(suite).await?;
        for (subscribe, count) in [(false, 0), (true, 2)] {
            let new = with(new_post("Words"), |new| new.subscribe = subscribe);
            alice.create_post(&reply.thread_id, &new).await.expect_ok()?;
            let new = with(new_thread("Thread", "Words"), |new| new.subscribe = subscribe);
            alice.create_thread(&forum, &new).await.expect_ok()?;
            check_eq!(subscriptions(&alice).await?.len(), count)?;
        }
        Ok(())
    }

    /// `subscribe` checks the target and the member when it writes: it rejects a target that was hidden, or a member
    /// who was banned, after the request began.
    async fn a_subscribe_in_progress_is_rejected_if_access_is_lost(suite: &Suite) -> TestResult {
        let ThreadFixture { forum, otto, alice, reply, .. } = ThreadFixture::new(suite).await?;
        let target = SubscriptionTarget::Thread(reply.thread_id);
        let cached = alice.cache_access().await?;
        suite.require(Capability::HiddenForums)?;
        suite.fixture.set_readers(&forum, Audience::Staff).await?;
        cached.subscribe(&target).await.expect_not_found()?;
        suite.fixture.set_readers(&forum, Audience::Guests).await?;
        check_eq!(subscriptions(&alice).await?, [])?;
        let cached = suite.ban_during_request(&otto).await?;
        cached.subscribe(&target).await.expect_denied()
    }

    /// The author of a thread that awaits approval can subscribe to it. For callers who cannot see the thread, it is
    /// not found.
    async fn authors_can_subscribe_to_threads_awaiting_approval(suite: &Suite) -> TestResult {
        let ThreadFixture { forum, alice, .. } = ThreadFixture::new(suite).await?;
        let nora = suite.newcomer("nora").await?;
        let target = SubscriptionTarget::Thread(suite.thread(&nora, &forum).await?.thread_id);
        alice.subscribe(&target).await.expect_not_found()?;
        nora.subscribe(&target).await.expect_ok()?;
        check_eq!(subscriptions(&nora).await?.len(), 1)
    }
}

paged! {
    Option<SubscriptionTargetKind>, Subscription: |self, reader, limit, after| {
        let params = List { limit, after, ..List::new(SubscriptionFilter { target: *self }) };
        reader.list_subscriptions(&params).await
    };
}

async fn subscriptions(caller: &TestCaller) -> TestResult<Vec<Subscription>> {
    let params = List::<SubscriptionFilter>::default();
    Ok(caller.list_subscriptions(&params).await.expect_ok()?.items)
}
