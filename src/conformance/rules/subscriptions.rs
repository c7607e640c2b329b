//! Subscriptions to threads and forums.

use super::*;

board_rules! {
    mod subscriptions;

    /// The first `follow` makes a subscription, and later ones return the same.
    async fn a_repeated_subscribe_returns_the_existing_subscription(suite: &Suite) -> TestResult {
        let ThreadFixture { forum, alice, reply, .. } = ThreadFixture::new(suite).await?;
        for target in [SubscriptionTarget::Thread(reply.thread_id), SubscriptionTarget::Forum(forum)] {
            let first = alice.subscribe(&target).await.expect_ok()?;
            let again = alice.subscribe(&target).await.expect_ok()?;
            match (&first, &again) {
                (SubscribeOutcome::Created(first), SubscribeOutcome::Existing(again)) => check_eq!(again, first)?,
                _ => check!(false, "{first:?} is new, and {again:?} is not")?,
            }
        }
        check_eq!(list(&alice).await?.len(), 2)
    }

    /// A subscription has its target, the target's title, and the forum.
    async fn a_subscription_names_its_target(suite: &Suite) -> TestResult {
        let ThreadFixture { forum, alice, reply, .. } = ThreadFixture::new(suite).await?;
        let titles =
            [alice.fetch_forum(&forum).await?.title, alice.fetch_thread(&reply.thread_id).await?.title];
        alice.subscribe(&SubscriptionTarget::Thread(reply.thread_id.clone())).await.expect_ok()?;
        alice.subscribe(&SubscriptionTarget::Forum(forum.clone())).await.expect_ok()?;
        let found = list(&alice).await?;
        let targets = found.iter().map(|it| (it.target, it.target_id.clone(), it.forum_id.clone()));
        let expected = [
            (SubscriptionTargetKind::Forum, forum.clone().into(), forum.clone()),
            (SubscriptionTargetKind::Thread, reply.thread_id.into(), forum),
        ];
        check_eq!(targets.collect::<Vec<_>>(), expected)?;
        check_eq!(found.into_iter().map(|it| it.title).collect::<Vec<_>>(), titles)
    }

    /// The list starts with the newest, its pages have no gap, and one kind can be selected.
    async fn subscriptions_are_listed_newest_first(suite: &Suite) -> TestResult {
        let ThreadFixture { forum, otto, alice, .. } = ThreadFixture::new(suite).await?;
        let mut threads = Vec::new();
        for _ in 0..5 {
            let thread = suite.thread(&otto, &forum).await?.thread_id;
            alice.subscribe(&SubscriptionTarget::Thread(thread.clone())).await.expect_ok()?;
            threads.insert(0, thread.into());
        }
        alice.subscribe(&SubscriptionTarget::Forum(forum.clone())).await.expect_ok()?;
        let forums = vec![forum.into()];
        for (target, expected) in [
            (Some(SubscriptionTargetKind::Thread), threads.clone()),
            (Some(SubscriptionTargetKind::Forum), forums.clone()),
            (None, [forums, threads].concat()),
        ] {
            check_pages(&alice, &target, &[2], &expected, |it| it.target_id.clone()).await?;
        }
        Ok(())
    }

    /// A subscription is only its owner's.
    async fn subscriptions_are_private_to_their_owner(suite: &Suite) -> TestResult {
        let ThreadFixture { otto, alice, reply, .. } = ThreadFixture::new(suite).await?;
        let target = SubscriptionTarget::Thread(reply.thread_id);
        alice.subscribe(&target).await.expect_ok()?;
        check_eq!(list(&otto).await?, [])?;
        otto.unsubscribe(&target).await.expect_not_found()?;
        check_eq!(list(&alice).await?.len(), 1)
    }

    /// A hidden or unknown target cannot be followed.
    async fn hidden_targets_cannot_be_subscribed_to(suite: &Suite) -> TestResult {
        let forum = suite.forum(Audience::Staff).await?;
        let (sam, alice) = (suite.staff("sam").await?, suite.member("alice").await?);
        let thread = suite.thread(&sam, &forum).await?.thread_id;
        for target in [
            SubscriptionTarget::Thread(thread),
            SubscriptionTarget::Forum(forum),
            SubscriptionTarget::Thread(999_999.into()),
            SubscriptionTarget::Forum(999_999.into()),
        ] {
            alice.subscribe(&target).await.expect_not_found()?;
        }
        check_eq!(list(&alice).await?, [])
    }

    /// A target that becomes hidden leaves the list, comes back when it is shown, and can be unfollowed meanwhile.
    async fn hidden_targets_leave_the_subscription_list(suite: &Suite) -> TestResult {
        suite.require(Capability::HiddenForums)?;
        let ThreadFixture { forum, alice, reply, .. } = ThreadFixture::new(suite).await?;
        let (thread, whole) = (SubscriptionTarget::Thread(reply.thread_id), SubscriptionTarget::Forum(forum.clone()));
        alice.subscribe(&thread).await.expect_ok()?;
        alice.subscribe(&whole).await.expect_ok()?;
        suite.fixture.set_readers(&forum, Audience::Staff).await?;
        check_eq!(list(&alice).await?, [])?;
        alice.unsubscribe(&whole).await.expect_ok()?;
        alice.unsubscribe(&whole).await.expect_not_found()?;
        suite.fixture.set_readers(&forum, Audience::Guests).await?;
        check_eq!(only(list(&alice).await?)?.target, SubscriptionTargetKind::Thread)
    }

    /// A deleted thread leaves the list of those who no longer see it, and comes back when it is restored.
    async fn a_deleted_thread_leaves_the_subscription_list(suite: &Suite) -> TestResult {
        let (ThreadFixture { alice, first, .. }, mia) = ThreadFixture::with_moderator(suite).await?;
        let target = SubscriptionTarget::Thread(first.thread_id.clone());
        for caller in [&alice, &mia] {
            caller.subscribe(&target).await.expect_ok()?;
        }
        mia.delete_post(&first).await.expect_ok()?;
        check_eq!(list(&mia).await?.len(), 1)?;
        check_eq!(list(&alice).await?, [])?;
        alice.subscribe(&target).await.expect_not_found()?;
        suite.fixture.restore(&first.post_id).await?;
        check_eq!(list(&alice).await?.len(), 1)
    }

    /// `unfollow` removes the subscription, and without one it is not found.
    async fn unsubscribing_requires_a_subscription(suite: &Suite) -> TestResult {
        let ThreadFixture { forum, alice, reply, .. } = ThreadFixture::new(suite).await?;
        for target in [SubscriptionTarget::Thread(reply.thread_id), SubscriptionTarget::Forum(forum)] {
            alice.unsubscribe(&target).await.expect_not_found()?;
            alice.subscribe(&target).await.expect_ok()?;
            alice.unsubscribe(&target).await.expect_ok()?;
            alice.unsubscribe(&target).await.expect_not_found()?;
        }
        check_eq!(list(&alice).await?, [])
    }

    /// `subscribe` makes the author of a thread or a reply follow the thread.
    async fn the_subscribe_flag_subscribes_the_author(suite: &Suite) -> TestResult {
        suite.require(Capability::Subscriptions)?;
        let ThreadFixture { forum, alice, reply, .. } = ThreadFixture::new(suite).await?;
        for (subscribe, count) in [(false, 0), (true, 2)] {
            let new = with(new_post("Words"), |new| new.subscribe = subscribe);
            alice.create_post(&reply.thread_id, &new).await.expect_ok()?;
            let new = with(new_thread("Thread", "Words"), |new| new.subscribe = subscribe);
            alice.create_thread(&forum, &new).await.expect_ok()?;
            check_eq!(list(&alice).await?.len(), count)?;
        }
        Ok(())
    }

    /// A target that is hidden, or a member who is banned, since the request began is decided when the subscription is made.
    async fn a_subscribe_in_progress_is_rejected_if_access_is_lost(suite: &Suite) -> TestResult {
        let ThreadFixture { forum, otto, alice, reply, .. } = ThreadFixture::new(suite).await?;
        let (target, cached) = (SubscriptionTarget::Thread(reply.thread_id), alice.cache_access().await?);
        suite.require(Capability::HiddenForums)?;
        suite.fixture.set_readers(&forum, Audience::Staff).await?;
        cached.subscribe(&target).await.expect_not_found()?;
        suite.fixture.set_readers(&forum, Audience::Guests).await?;
        check_eq!(list(&alice).await?, [])?;
        let cached = suite.ban_during_request(&otto).await?;
        cached.subscribe(&target).await.expect_denied()
    }

    /// A thread that awaits approval can be followed by its author, and not by those who do not see it.
    async fn authors_can_subscribe_to_threads_awaiting_approval(suite: &Suite) -> TestResult {
        let ThreadFixture { forum, alice, .. } = ThreadFixture::new(suite).await?;
        let nora = suite.newcomer("nora").await?;
        let target = SubscriptionTarget::Thread(suite.thread(&nora, &forum).await?.thread_id);
        alice.subscribe(&target).await.expect_not_found()?;
        nora.subscribe(&target).await.expect_ok()?;
        check_eq!(list(&nora).await?.len(), 1)
    }
}

async fn list(caller: &TestCaller) -> TestResult<Vec<Subscription>> {
    let page = caller
        .list_subscriptions(&ListSubscriptionsParams::default())
        .await;
    Ok(page.expect_ok()?.items)
}
