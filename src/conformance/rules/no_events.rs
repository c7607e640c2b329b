//! Changes without events: content that awaits approval, refused calls, and private actions.

use super::events::{recorded_poll, recorded_thread};
use super::reputation::rate;
use super::*;
use crate::webhook::Topic;

board_rules! {
    mod no_events;

    /// Content that awaits approval has its events when it is approved, and none for edits and deletions before.
    async fn content_awaiting_approval_emits_no_event(suite: &Suite) -> TestResult {
        let ThreadFixture { forum, at, .. } = recorded_thread(suite).await?;
        let nora = suite.newcomer("nora").await?;
        let first = suite.thread(&nora, &forum).await?;
        nora.edit(&first, "Better words").await.expect_ok()?;
        suite.expect_no_events().await?;
        suite.fixture.approve(&first.post_id).await?;
        let created = [
            event_of(&Topic::THREAD_CREATED, &first.thread_id),
            event_of(&Topic::POST_CREATED, &first.post_id),
        ];
        suite.expect_events(&created).await?;
        let edited = suite.post(&nora, &at.thread_id).await?;
        let deleted = suite.post(&nora, &at.thread_id).await?;
        nora.edit(&edited, "Better words").await.expect_ok()?;
        nora.delete_post(&deleted).await.expect_ok()?;
        suite.expect_no_events().await?;
        suite.fixture.approve(&edited.post_id).await?;
        suite.expect_one_event(&Topic::POST_CREATED, &edited.post_id).await
    }

    /// A poll that awaits approval with its thread has no events.
    async fn a_poll_awaiting_approval_emits_no_event(suite: &Suite) -> TestResult {
        let (forum, bob) = suite.forum_and_member().await?;
        let nora = suite.newcomer("nora").await?;
        let poll = PollFixture::by(nora, bob, forum, &with_poll(suite, tea())?).await?;
        poll.edit(&poll.alice, &to_question("Which tea, then?")).await.expect_ok()?;
        poll.cast(&poll.alice, &[0]).await.expect_ok()?;
        suite.expect_no_events().await
    }

    /// Opening a message has no event, and neither has its receipt.
    async fn opening_a_message_emits_no_event(suite: &Suite) -> TestResult {
        let [alice, bob, _] = three(suite).await?;
        let new = with(message(suite, [bob.id_ref()]), |new| new.request_receipt = true);
        alice.send_message(&new).await.expect_ok()?;
        suite.recorded().await?;
        bob.open_only().await?;
        suite.expect_no_events().await
    }

    /// Subscriptions have no events.
    async fn subscribing_emits_no_event(suite: &Suite) -> TestResult {
        let ThreadFixture { otto, at, .. } = recorded_thread(suite).await?;
        let target = SubscriptionTarget::Thread(at.thread_id);
        otto.subscribe(&target).await.expect_ok()?;
        otto.unsubscribe(&target).await.expect_ok()?;
        suite.expect_no_events().await
    }

    /// A refused thread or reply has no event.
    async fn a_refused_post_emits_no_event(suite: &Suite) -> TestResult {
        let ThreadFixture { forum, alice, at, .. } = recorded_thread(suite).await?;
        alice.start(&forum, "", "Words").await.expect_validation_error("title")?;
        alice.answer(&at.thread_id, "").await.expect_validation_error("body")?;
        suite.expect_no_events().await
    }

    /// A refused edit has no event.
    async fn a_refused_edit_emits_no_event(suite: &Suite) -> TestResult {
        let ThreadFixture { otto, alice, at, .. } = recorded_thread(suite).await?;
        otto.edit(&at, "Other words").await.expect_forbidden()?;
        alice.edit(&at, "").await.expect_validation_error("body")?;
        suite.expect_no_events().await
    }

    /// A refused deletion has no event.
    async fn a_refused_deletion_emits_no_event(suite: &Suite) -> TestResult {
        let ThreadFixture { otto, alice, first, at, .. } = recorded_thread(suite).await?;
        otto.delete_post(&at).await.expect_forbidden()?;
        alice.delete_post(&first).await.expect_forbidden()?;
        suite.expect_no_events().await
    }

    /// A refused vote and a refused edit of a poll have no events.
    async fn a_refused_vote_emits_no_event(suite: &Suite) -> TestResult {
        let poll = recorded_poll(suite).await?;
        poll.cast(&poll.bob, &[]).await.expect_validation_error("optionIds")?;
        poll.edit(&poll.bob, &to_question("Which?")).await.expect_forbidden()?;
        suite.expect_no_events().await
    }

    /// A refused rating has no event.
    async fn a_refused_rating_emits_no_event(suite: &Suite) -> TestResult {
        let [alice, bob, _] = three(suite).await?;
        alice.rate_member(&alice.id_ref(), &rate(1, None)).await.expect_forbidden()?;
        alice.rate_member(&bob.id_ref(), &rate(0, None)).await.expect_validation_error("points")?;
        suite.expect_no_events().await
    }

    /// A refused message has no event, not even for its valid recipients.
    async fn a_refused_message_emits_no_event(suite: &Suite) -> TestResult {
        let [alice, bob, _] = three(suite).await?;
        let new = message(suite, [bob.id_ref(), UserRef::Name("nobody".into())]);
        alice.send_message(&new).await.expect_not_found()?;
        suite.expect_no_events().await
    }
}
