//! Events: each change has one. Changes without an event are in `no_events`, and the payloads in `event_payload`.

use std::collections::BTreeSet;

use super::reputation::new_rating;
use super::*;
use crate::webhook::Topic;

board_rules! {
    mod events;

    /// A new thread has two events, its own before that of its first post; a reply has one.
    async fn posting_emits_an_event(suite: &Suite) -> TestResult {
        let (forum, alice) = suite.forum_and_member().await?;
        let thread = alice.start_thread(&forum, "Kettles", "Which one?").await.expect_ok()?;
        let created = [
            event_name(&Topic::THREAD_CREATED, &thread.thread_id),
            event_name(&Topic::POST_CREATED, &thread.first_post_id),
        ];
        suite.expect_events(&created).await?;
        let post = alice.reply(&thread.thread_id, "The red one.").await.expect_ok()?;
        suite.expect_one_event(&Topic::POST_CREATED, &post.post_id).await
    }

    /// An edit has an event, also that of a first post.
    async fn an_edit_emits_an_event(suite: &Suite) -> TestResult {
        let ThreadFixture { otto, alice, first, reply, .. } = recorded_thread(suite).await?;
        for (author, reply) in [(otto, first), (alice, reply)] {
            author.edit(&reply, "Better words").await.expect_ok()?;
            suite.expect_one_event(&Topic::POST_UPDATED, &reply.post_id).await?;
        }
        Ok(())
    }

    /// An edit of an approved post has one event, `post.updated`: at once, or, if it awaits approval, when it is approved
    /// again. The same holds for a first post.
    async fn an_edit_of_approved_content_emits_an_event(suite: &Suite) -> TestResult {
        let ThreadFixture { forum, reply, .. } = recorded_thread(suite).await?;
        let nora = suite.newcomer("nora").await?;
        let first = suite.thread(&nora, &forum).await?;
        for reply in [first, suite.post(&nora, &reply.thread_id).await?] {
            suite.fixture.approve(&reply.post_id).await?;
            suite.recorded().await?;
            let edited = nora.edit(&reply, "Other words").await.expect_ok()?;
            if edited.state == ContentState::AwaitingApproval {
                suite.expect_no_events().await?;
                suite.fixture.approve(&reply.post_id).await?;
            }
            suite.expect_one_event(&Topic::POST_UPDATED, &reply.post_id).await?;
        }
        Ok(())
    }

    /// The deletion and the restoration of a reply have an event each.
    async fn a_deletion_emits_an_event(suite: &Suite) -> TestResult {
        let ThreadFixture { alice, reply, .. } = recorded_thread(suite).await?;
        alice.delete_post(&reply).await.expect_ok()?;
        suite.expect_one_event(&Topic::POST_DELETED, &reply.post_id).await?;
        suite.fixture.restore(&reply.post_id).await?;
        suite.expect_one_event(&Topic::POST_RESTORED, &reply.post_id).await
    }

    /// The deletion and the restoration of a first post are events of its thread; meanwhile its replies have none.
    async fn a_first_post_emits_a_thread_event(suite: &Suite) -> TestResult {
        let ThreadFixture { first, reply, .. } = recorded_thread(suite).await?;
        let ada = suite.admin("ada").await?;
        ada.delete_post(&first).await.expect_ok()?;
        suite.expect_one_event(&Topic::THREAD_DELETED, &first.thread_id).await?;
        ada.delete_post(&reply).await.expect_ok()?;
        suite.fixture.restore(&reply.post_id).await?;
        suite.expect_no_events().await?;
        suite.fixture.restore(&first.post_id).await?;
        suite.expect_one_event(&Topic::THREAD_RESTORED, &first.thread_id).await
    }

    /// A vote and a changed vote have an event each.
    async fn a_vote_emits_an_event(suite: &Suite) -> TestResult {
        let poll = recorded_poll(suite).await?;
        for places in [[0], [1]] {
            poll.vote(&poll.bob, &places).await.expect_ok()?;
            suite.expect_one_event(&Topic::POLL_VOTED, &poll.id).await?;
        }
        Ok(())
    }

    /// An edit of a poll has an event.
    async fn a_poll_edit_emits_an_event(suite: &Suite) -> TestResult {
        let poll = recorded_poll(suite).await?;
        poll.edit(&poll.alice, &question_update("Which tea, then?")).await.expect_ok()?;
        suite.expect_one_event(&Topic::POLL_UPDATED, &poll.id).await
    }

    /// A rating has an event, for a post or without one.
    async fn a_rating_emits_an_event(suite: &Suite) -> TestResult {
        let ThreadFixture { otto, alice, reply, .. } = recorded_thread(suite).await?;
        for post in [None, Some(&reply.post_id)] {
            let rating = otto.rate_member(&alice.id_ref(), &new_rating(1, post)).await.expect_ok()?;
            suite.expect_one_event(&Topic::MEMBER_RATED, &rating.rating_id).await?;
        }
        Ok(())
    }

    /// A message has one event, however many recipients it has.
    async fn a_message_emits_one_event(suite: &Suite) -> TestResult {
        let [alice, bob, carol] = three_members(suite).await?;
        let sent = alice.send(suite, &[&bob, &carol]).await?.summary;
        suite.expect_one_event(&Topic::MESSAGE_SENT, &sent.message_id).await
    }

    /// Replies that are written at once have one event each.
    async fn concurrent_replies_emit_one_event_each(suite: &Suite) -> TestResult {
        let ThreadFixture { reply, .. } = recorded_thread(suite).await?;
        let replies = suite.write_replies_concurrently(&reply.thread_id).await?;
        let replies = replies.iter().map(|post| event_name(&Topic::POST_CREATED, &post.post_id));
        let events = suite.recorded().await?;
        let found: BTreeSet<_> = events.iter().map(|event| event.name.clone()).collect();
        check_eq!(found, replies.collect::<BTreeSet<_>>())?;
        check_eq!(events.len(), 6)?;
        let ids: BTreeSet<_> = events.into_iter().map(|event| event.id).collect();
        check_eq!(ids.len(), 6)
    }

    /// Of deletions of one post at once, one has an event.
    async fn concurrent_deletions_emit_one_event(suite: &Suite) -> TestResult {
        let ThreadFixture { alice, reply, .. } = recorded_thread(suite).await?;
        let deletions = repeat_n((alice.clone(), reply.clone()), 16)
            .map(|(alice, reply)| async move { alice.delete_post(&reply).await });
        for deletion in suite.race(deletions).await {
            deletion.into_result()?.ok();
        }
        suite.expect_one_event(&Topic::POST_DELETED, &reply.post_id).await
    }

    /// Of votes of one member at once, one has an event.
    async fn concurrent_votes_emit_one_event(suite: &Suite) -> TestResult {
        let poll = PollFixture::new(suite, new_poll()).await?;
        suite.recorded().await?;
        let votes = (0..16).map(|number| {
            let (bob, id, vote) = (poll.bob.clone(), poll.id.clone(), poll.new_vote(&[number % 3]));
            async move { bob.vote(&id, &vote).await }
        });
        suite.race_for_one(votes).await?;
        suite.expect_one_event(&Topic::POLL_VOTED, &poll.id).await
    }
}

/// A thread with a reply, whose events are discarded.
pub(crate) async fn recorded_thread(suite: &Suite) -> TestResult<ThreadFixture> {
    suite.require(Capability::Events)?;
    let fixture = ThreadFixture::new(suite).await?;
    suite.recorded().await.map(|_| fixture)
}

/// A poll in which votes can be changed, whose events are discarded.
pub(crate) async fn recorded_poll(suite: &Suite) -> TestResult<PollFixture> {
    let terms = with(new_poll(), |poll| poll.can_change_vote = true);
    let poll = PollFixture::new(suite, terms).await?;
    suite.recorded().await.map(|_| poll)
}
