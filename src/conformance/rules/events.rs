//! Changes that emit events. `no_events` has the changes without one, `event_payload` the payloads.

use std::collections::BTreeSet;

use serde_json::json;

use super::reputation::new_rating;
use super::*;
use crate::webhook::Topic;

board_rules! {
    mod events, __rules_events;

    /// A new thread emits two events, `thread.created` before `post.created`. A reply emits `post.created`.
    async fn posting_emits_an_event(suite: &Suite) -> TestResult {
        let (forum, alice) = suite.forum_and_member().await?;
        let thread = alice.start_thread(&forum, "Kettles", "Which one?").await.expect_ok()?;
        let created = [
            event_name(&Topic::THREAD_CREATED, &thread.thread_id),
            event_name(&Topic::POST_CREATED, &thread.first_post_id),
        ];
        suite.expect_events(&created).await?;
        let post = alice.reply(&thread.thread_id, "The red one.").await.expect_ok()?;
        suite.expect_caused_event(&Topic::POST_CREATED, &post.post_id).await
    }

    /// An edit of a reply or a first post emits `post.updated`.
    async fn an_edit_emits_an_event(suite: &Suite) -> TestResult {
        let ThreadFixture { otto, alice, first, reply, .. } = recorded_thread(suite).await?;
        for (author, reply) in [(otto, first), (alice, reply)] {
            author.edit(&reply, "Better words").await.expect_ok()?;
            suite.expect_caused_event(&Topic::POST_UPDATED, &reply.post_id).await?;
        }
        Ok(())
    }

    /// A new title emits `thread.updated`, and in an edit with a new text also `post.updated`.
    async fn a_new_title_emits_a_thread_event(suite: &Suite) -> TestResult {
        suite.require(Capability::TitleEdits)?;
        let ThreadFixture { otto, first, .. } = recorded_thread(suite).await?;
        let renamed = event_name(&Topic::THREAD_UPDATED, &first.thread_id);
        otto.edit_title(&first, "Kettles").await.expect_ok()?;
        suite.expect_caused_event(&Topic::THREAD_UPDATED, &first.thread_id).await?;
        let both = with(title_update("Pots"), |edit| edit.body = Some("Which one?".into()));
        otto.update_post(&first, &both).await.expect_ok()?;
        let events = suite.recorded().await?;
        let titles = events.iter().map(|event| event.value("/thread/title"));
        check!(titles.clone().all(|title| title == "Pots"), "{:?}", titles.collect::<Vec<_>>())?;
        let names: Vec<_> = events.iter().map(|event| event.name.clone()).collect();
        check_eq!(names, [renamed, event_name(&Topic::POST_UPDATED, &first.post_id)])
    }

    /// A lock and a pin emit `thread.updated` with the state after the change. Setting a thread to its current state emits
    /// no event.
    async fn a_lock_and_a_pin_emit_a_thread_event(suite: &Suite) -> TestResult {
        let ThreadFixture { first, .. } = recorded_thread(suite).await?;
        let thread = &first.thread_id;
        for (capability, pointer) in
            [(Capability::Locking, "/thread/locked"), (Capability::Pinning, "/thread/pinned")]
        {
            if suite.require(capability).is_err() {
                continue;
            }
            for on in [true, true, false] {
                match capability {
                    Capability::Locking => suite.fixture.set_locked(thread, on).await?,
                    _ => suite.fixture.set_pinned(thread, on).await?,
                }
            }
            let events = suite.recorded().await?;
            let states: Vec<_> =
                events.iter().map(|event| (event.name.clone(), event.value(pointer))).collect();
            let updated = event_name(&Topic::THREAD_UPDATED, thread);
            check_eq!(states, [(updated.clone(), &true.into()), (updated, &false.into())])?;
        }
        Ok(())
    }

    /// An edit of an approved post emits one event, `post.updated`: immediately, or when the edit is approved if the
    /// edit awaits approval.
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

    /// The deletion of a reply emits `post.deleted`, and its restoration `post.restored`.
    async fn a_deletion_emits_an_event(suite: &Suite) -> TestResult {
        let ThreadFixture { alice, reply, .. } = recorded_thread(suite).await?;
        alice.delete_post(&reply).await.expect_ok()?;
        suite.expect_caused_event(&Topic::POST_DELETED, &reply.post_id).await?;
        if suite.restore(&reply.post_id).await? {
            suite.expect_one_event(&Topic::POST_RESTORED, &reply.post_id).await?;
        }
        Ok(())
    }

    /// The deletion of an approved reply or thread emits `post.deleted` or `thread.deleted`, also while an edit awaits approval.
    async fn a_deletion_of_an_edited_post_emits_an_event(suite: &Suite) -> TestResult {
        let ThreadFixture { forum, reply, .. } = recorded_thread(suite).await?;
        let nora = suite.newcomer("nora").await?;
        let reply = suite.post(&nora, &reply.thread_id).await?;
        suite.fixture.approve(&reply.post_id).await?;
        nora.edit(&reply, "Other words").await.expect_ok()?;
        suite.recorded().await?;
        let ada = suite.admin("ada").await?;
        ada.delete_post(&reply).await.expect_ok()?;
        suite.expect_one_event(&Topic::POST_DELETED, &reply.post_id).await?;
        let first = suite.thread(&nora, &forum).await?;
        suite.fixture.approve(&first.post_id).await?;
        nora.edit(&first, "Other words").await.expect_ok()?;
        suite.recorded().await?;
        ada.delete_post(&first).await.expect_ok()?;
        suite.expect_one_event(&Topic::THREAD_DELETED, &first.thread_id).await
    }

    /// The deletion of a first post emits `thread.deleted`, and its restoration `thread.restored`. The replies of the
    /// thread emit no events, not even those that are deleted and restored while the thread is deleted.
    async fn a_first_post_emits_a_thread_event(suite: &Suite) -> TestResult {
        let ThreadFixture { first, reply, .. } = recorded_thread(suite).await?;
        let ada = suite.admin("ada").await?;
        ada.delete_post(&first).await.expect_ok()?;
        suite.expect_one_event(&Topic::THREAD_DELETED, &first.thread_id).await?;
        if suite.require(Capability::SoftDeletion).is_err() {
            return Ok(());
        }
        ada.delete_post(&reply).await.expect_ok()?;
        suite.restore(&reply.post_id).await?;
        suite.expect_no_events().await?;
        suite.restore(&first.post_id).await?;
        suite.expect_one_event(&Topic::THREAD_RESTORED, &first.thread_id).await
    }

    /// The deletion and the restoration of replies while their thread is deleted emit their events when the thread is restored,
    /// after its event.
    async fn changes_in_a_deleted_thread_emit_events_with_its_restoration(suite: &Suite) -> TestResult {
        let ThreadFixture { first, reply, alice, .. } = recorded_thread(suite).await?;
        suite.require(Capability::SoftDeletion)?;
        let ada = suite.admin("ada").await?;
        let deleted = suite.post(&alice, &first.thread_id).await?;
        ada.delete_post(&reply).await.expect_ok()?;
        ada.delete_post(&first).await.expect_ok()?;
        suite.recorded().await?;
        suite.restore(&reply.post_id).await?;
        ada.delete_post(&deleted).await.expect_ok()?;
        suite.expect_no_events().await?;
        suite.restore(&first.post_id).await?;
        let expected = [
            event_name(&Topic::THREAD_RESTORED, &first.thread_id),
            event_name(&Topic::POST_RESTORED, &reply.post_id),
            event_name(&Topic::POST_DELETED, &deleted.post_id),
        ];
        suite.expect_events(&expected).await
    }

    /// The approval of an edited reply or thread that was deleted and restored meanwhile emits `post.restored` or
    /// `thread.restored`: the last event was its deletion.
    async fn an_approval_after_a_restoration_emits_an_event(suite: &Suite) -> TestResult {
        let ThreadFixture { forum, reply, .. } = recorded_thread(suite).await?;
        suite.require(Capability::SoftDeletion)?;
        let nora = suite.newcomer("nora").await?;
        let ada = suite.admin("ada").await?;
        let first = suite.thread(&nora, &forum).await?;
        let reply = suite.post(&nora, &reply.thread_id).await?;
        for (path, restored) in [
            (&first, event_name(&Topic::THREAD_RESTORED, &first.thread_id)),
            (&reply, event_name(&Topic::POST_RESTORED, &reply.post_id)),
        ] {
            suite.fixture.approve(&path.post_id).await?;
            let edited = nora.edit(path, "Other words").await.expect_ok()?;
            ada.delete_post(path).await.expect_ok()?;
            suite.recorded().await?;
            suite.restore(&path.post_id).await?;
            if edited.state == ContentState::AwaitingApproval {
                suite.expect_no_events().await?;
                suite.fixture.approve(&path.post_id).await?;
            }
            let events = suite.recorded().await?;
            check_eq!(events.first().map(|event| &event.name), Some(&restored))?;
        }
        Ok(())
    }

    /// A vote and a changed vote each emit `poll.voted`.
    async fn a_vote_emits_an_event(suite: &Suite) -> TestResult {
        let poll = recorded_poll(suite).await?;
        for indexes in [[0], [1]] {
            poll.vote(&poll.bob, &indexes).await.expect_ok()?;
            suite.expect_caused_event(&Topic::POLL_VOTED, &poll.id).await?;
        }
        Ok(())
    }

    /// An edit of a poll emits `poll.updated`.
    async fn a_poll_edit_emits_an_event(suite: &Suite) -> TestResult {
        let poll = recorded_poll(suite).await?;
        poll.edit(&poll.alice, &question_update("Which tea, then?")).await.expect_ok()?;
        suite.expect_caused_event(&Topic::POLL_UPDATED, &poll.id).await
    }

    /// A rating emits `member.rated`, with or without a post.
    async fn a_rating_emits_an_event(suite: &Suite) -> TestResult {
        let ThreadFixture { otto, alice, reply, .. } = recorded_thread(suite).await?;
        for post in [None, Some(&reply.post_id)] {
            let rating = otto.rate_member(&alice.id_ref(), &new_rating(1, post)).await.expect_ok()?;
            suite.expect_caused_event(&Topic::MEMBER_RATED, &rating.rating_id).await?;
        }
        Ok(())
    }

    /// A message emits one `message.sent` for all recipients.
    async fn a_message_emits_one_event(suite: &Suite) -> TestResult {
        let [alice, bob, carol] = three_members(suite).await?;
        let sent = alice.send(suite, suite.recipients(&[&bob, &carol])).await?.summary;
        suite.expect_caused_event(&Topic::MESSAGE_SENT, &sent.message_id).await
    }

    /// The removal of an account emits `member.erased` with the id of the member and nothing else. The event has no forum. The
    /// posts of the member, which remain, emit no events.
    async fn the_removal_of_an_account_emits_an_event(suite: &Suite) -> TestResult {
        suite.require(Capability::AccountRemoval)?;
        let ThreadFixture { alice, .. } = recorded_thread(suite).await?;
        suite.fixture.remove_account(&alice.id()).await?;
        let event = only(suite.recorded().await?)?;
        check_eq!(event.name, event_name(&Topic::MEMBER_ERASED, alice.id()))?;
        check_eq!(event.data, json!({ "member": { "userId": alice.id() } }))?;
        check_eq!(event.forum_id, None)
    }

    /// Each of several concurrent replies emits one event.
    async fn concurrent_replies_emit_one_event_each(suite: &Suite) -> TestResult {
        let ThreadFixture { reply, .. } = recorded_thread(suite).await?;
        let posts = suite.write_replies_concurrently(&reply.thread_id).await?;
        let replies = posts.iter().map(|post| event_name(&Topic::POST_CREATED, &post.post_id));
        let events = suite.recorded().await?;
        let actual: BTreeSet<_> = events.iter().map(|event| event.name.clone()).collect();
        check_eq!(actual, replies.collect::<BTreeSet<_>>())?;
        check_eq!(events.len(), 6)?;
        let ids: BTreeSet<_> = events.into_iter().map(|event| event.id).collect();
        check_eq!(ids.len(), 6)
    }

    /// Concurrent deletions of one post emit one event.
    async fn concurrent_deletions_emit_one_event(suite: &Suite) -> TestResult {
        let ThreadFixture { alice, reply, .. } = recorded_thread(suite).await?;
        suite.require(Capability::AtomicCommands)?;
        let deletions = repeat_n((alice.clone(), reply.clone()), 16)
            .map(|(alice, reply)| async move { alice.delete_post(&reply).await });
        for deletion in run_concurrently(deletions).await {
            deletion.into_result()?.ok();
        }
        suite.expect_one_event(&Topic::POST_DELETED, &reply.post_id).await
    }

    /// Concurrent votes of one member emit one event.
    async fn concurrent_votes_emit_one_event(suite: &Suite) -> TestResult {
        let poll = PollFixture::new(suite, new_poll()).await?;
        suite.recorded().await?;
        poll.race_to_vote(suite).await?;
        suite.expect_one_event(&Topic::POLL_VOTED, &poll.id).await
    }
}

/// Creates a thread with a reply, and discards their events.
pub(crate) async fn recorded_thread(suite: &Suite) -> TestResult<ThreadFixture> {
    suite.require(Capability::Events)?;
    let fixture = ThreadFixture::new(suite).await?;
    suite.recorded().await.map(|_| fixture)
}

/// Creates a poll whose votes can be changed, and discards its events.
pub(crate) async fn recorded_poll(suite: &Suite) -> TestResult<PollFixture> {
    let new = with(new_poll(), |poll| poll.can_change_vote = true);
    let poll = PollFixture::new(suite, new).await?;
    suite.recorded().await.map(|_| poll)
}
