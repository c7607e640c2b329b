//! Actions without events: content that awaits approval, refused calls, and private actions.

use super::events::{recorded_poll, recorded_thread};
use super::reputation::new_rating;
use super::*;
use crate::webhook::Topic;

board_rules! {
    mod no_events, __rules_no_events;

    /// Content that awaits approval emits its events when it is approved. Edits and deletions before the approval emit
    /// no events.
    async fn content_awaiting_approval_emits_no_event(suite: &Suite) -> TestResult {
        let ThreadFixture { forum, reply, .. } = recorded_thread(suite).await?;
        let nora = suite.newcomer("nora").await?;
        let first = suite.thread(&nora, &forum).await?;
        nora.edit(&first, "Better words").await.expect_ok()?;
        suite.expect_no_events().await?;
        suite.fixture.approve(&first.post_id).await?;
        let created = [
            event_name(&Topic::THREAD_CREATED, &first.thread_id),
            event_name(&Topic::POST_CREATED, &first.post_id),
        ];
        suite.expect_events(&created).await?;
        let edited = suite.post(&nora, &reply.thread_id).await?;
        let deleted = suite.post(&nora, &reply.thread_id).await?;
        nora.edit(&edited, "Better words").await.expect_ok()?;
        nora.delete_post(&deleted).await.expect_ok()?;
        suite.expect_no_events().await?;
        suite.fixture.approve(&edited.post_id).await?;
        suite.expect_one_event(&Topic::POST_CREATED, &edited.post_id).await
    }

    /// Edits with the current text of a post and the current title of a thread emit no event.
    async fn an_edit_without_a_change_emits_no_event(suite: &Suite) -> TestResult {
        let ThreadFixture { otto, alice, first, reply, .. } = recorded_thread(suite).await?;
        alice.edit(&reply, "New words").await.expect_ok()?;
        let has_titles = suite.require(Capability::TitleEdits).is_ok();
        if has_titles {
            otto.edit_title(&first, "Kettles").await.expect_ok()?;
        }
        suite.recorded().await?;
        alice.edit(&reply, "New words").await.expect_ok()?;
        if has_titles {
            otto.edit_title(&first, "Kettles").await.expect_ok()?;
        }
        suite.expect_no_events().await
    }

    /// An edit of a poll with the current values emits no event.
    async fn an_edit_of_a_poll_without_a_change_emits_no_event(suite: &Suite) -> TestResult {
        let poll = recorded_poll(suite).await?;
        let question = poll.fetch(&poll.alice).await?.question;
        poll.edit(&poll.alice, &question_update(&question)).await.expect_ok()?;
        suite.expect_no_events().await
    }

    /// A second vote for the same options emits no event.
    async fn a_vote_without_a_change_emits_no_event(suite: &Suite) -> TestResult {
        let poll = recorded_poll(suite).await?;
        let voted = poll.vote(&poll.bob, &[1]).await.expect_ok()?;
        suite.recorded().await?;
        check_eq!(poll.vote(&poll.bob, &[1]).await.expect_ok()?, voted)?;
        suite.expect_no_events().await
    }

    /// A poll that awaits approval with its thread emits no event.
    async fn a_poll_awaiting_approval_emits_no_event(suite: &Suite) -> TestResult {
        let (forum, bob) = suite.forum_and_member().await?;
        let nora = suite.newcomer("nora").await?;
        let poll = PollFixture::create(nora, bob, forum, &thread_with_poll(suite, new_poll())?).await?;
        poll.edit(&poll.alice, &question_update("Which tea, then?")).await.expect_ok()?;
        poll.vote(&poll.alice, &[0]).await.expect_ok()?;
        suite.expect_no_events().await
    }

    /// Opening a message and its receipt emit no event.
    async fn opening_a_message_emits_no_event(suite: &Suite) -> TestResult {
        let [alice, bob, _] = three_members(suite).await?;
        let new = with(new_message(suite, [bob.id_ref()]), |new| new.request_receipt = true);
        alice.send_message(&new).await.expect_ok()?;
        suite.recorded().await?;
        bob.open_only().await?;
        suite.expect_no_events().await
    }

    /// Subscribing and unsubscribing emit no event.
    async fn subscribing_emits_no_event(suite: &Suite) -> TestResult {
        let ThreadFixture { otto, reply, .. } = recorded_thread(suite).await?;
        let target = SubscriptionTarget::Thread(reply.thread_id);
        otto.subscribe(&target).await.expect_ok()?;
        otto.unsubscribe(&target).await.expect_ok()?;
        suite.expect_no_events().await
    }

    /// A refused thread or reply emits no event.
    async fn a_refused_post_emits_no_event(suite: &Suite) -> TestResult {
        let ThreadFixture { forum, alice, reply, .. } = recorded_thread(suite).await?;
        alice.start_thread(&forum, "", "Words").await.expect_validation_error("title")?;
        alice.reply(&reply.thread_id, "").await.expect_validation_error("body")?;
        suite.expect_no_events().await
    }

    /// A refused edit emits no event.
    async fn a_refused_edit_emits_no_event(suite: &Suite) -> TestResult {
        let ThreadFixture { otto, alice, reply, .. } = recorded_thread(suite).await?;
        otto.edit(&reply, "Other words").await.expect_forbidden()?;
        alice.edit(&reply, "").await.expect_validation_error("body")?;
        suite.expect_no_events().await
    }

    /// A refused deletion emits no event.
    async fn a_refused_deletion_emits_no_event(suite: &Suite) -> TestResult {
        let ThreadFixture { otto, alice, first, reply, .. } = recorded_thread(suite).await?;
        otto.delete_post(&reply).await.expect_forbidden()?;
        alice.delete_post(&first).await.expect_forbidden()?;
        suite.expect_no_events().await
    }

    /// A refused vote and a refused edit of a poll emit no event.
    async fn a_refused_vote_emits_no_event(suite: &Suite) -> TestResult {
        let poll = recorded_poll(suite).await?;
        poll.vote(&poll.bob, &[]).await.expect_validation_error("optionIds")?;
        poll.edit(&poll.bob, &question_update("Which?")).await.expect_forbidden()?;
        suite.expect_no_events().await
    }

    /// A refused rating emits no event.
    async fn a_refused_rating_emits_no_event(suite: &Suite) -> TestResult {
        let [alice, bob, _] = three_members(suite).await?;
        alice.rate_member(&alice.id_ref(), &new_rating(1, None)).await.expect_forbidden()?;
        alice.rate_member(&bob.id_ref(), &new_rating(0, None)).await.expect_validation_error("points")?;
        suite.expect_no_events().await
    }

    /// A refused message emits no event, even if some of its recipients are valid.
    async fn a_refused_message_emits_no_event(suite: &Suite) -> TestResult {
        let [alice, bob, _] = three_members(suite).await?;
        let to = [bob.id_ref(), UserRef::Name("unknown".into())];
        let new = new_message(suite, suite.recipients(&to));
        alice.send_message(&new).await.expect_not_found()?;
        suite.expect_no_events().await
    }
}
