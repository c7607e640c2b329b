//! Replies that name the post that they answer.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;
use crate::conformance::support::event_name;
use crate::webhook::Topic;

board_rules! {
    mod in_reply_to, __rules_in_reply_to;

    /// A reply has the id of the post that it replies to, or null if it replies to the thread itself. The order of
    /// posts does not change.
    async fn a_reply_names_the_post_that_it_answers(suite: &Suite) -> TestResult {
        let ThreadFixture { otto, alice, first, reply, .. } = thread_with_reply(suite).await?;
        let plain = otto.reply(&reply.thread_id, "For all").await.expect_ok()?;
        let answer = otto.answer(&reply).await.expect_ok()?;
        let listed = alice.fetch_posts(&reply.thread_id).await?;
        check_eq!(post_ids(&listed), [&first, &reply, &plain.path(), &answer.path()].map(|it| it.post_id.clone()))?;
        check_eq!((plain.in_reply_to, &answer.in_reply_to), (None, &Some(reply.post_id.clone())))?;
        let answered: Vec<_> = listed.into_iter().map(|post| post.in_reply_to).collect();
        check_eq!(answered, [None, None, None, Some(reply.post_id)])
    }

    /// An edit keeps the answered post.
    async fn an_edit_keeps_the_answered_post(suite: &Suite) -> TestResult {
        let ThreadFixture { otto, reply, .. } = thread_with_reply(suite).await?;
        let answer = otto.answer(&reply).await.expect_ok()?.path();
        let edited = otto.edit(&answer, "New words").await.expect_ok()?;
        check_eq!(edited.in_reply_to, Some(reply.post_id.clone()))?;
        check_eq!(otto.fetch_post(&answer).await?.in_reply_to, Some(reply.post_id))
    }

    /// A post of another thread and an id that no post has are not found, and the board writes nothing.
    async fn an_unknown_post_cannot_be_answered(suite: &Suite) -> TestResult {
        let ThreadFixture { forum, otto, alice, reply, .. } = thread_with_reply(suite).await?;
        let other = suite.thread(&alice, &forum).await?;
        let elsewhere = suite.post(&alice, &other.thread_id).await?.post_id;
        let before = otto.fetch_thread(&reply.thread_id).await?;
        let unknown = [Ok(PostId::from(987_654_321)), PostId::parse("no-such_post")].into_iter().flatten();
        for post_id in unknown.chain([elsewhere, PostId::empty()]) {
            let answered = PostPath::new(reply.thread_id.clone(), post_id);
            otto.answer(&answered).await.expect_not_found()?;
        }
        check_eq!(otto.fetch_thread(&reply.thread_id).await?, before)
    }

    /// A deleted post is not found by callers who cannot see it. A moderator can answer it.
    async fn a_deleted_post_is_answered_only_by_moderators(suite: &Suite) -> TestResult {
        suite.require(Capability::HiddenDeletedPosts)?;
        let ThreadFixture { otto, alice, reply, .. } = thread_with_reply(suite).await?;
        let ada = suite.admin("ada").await?;
        alice.delete_post(&reply).await.expect_ok()?;
        for caller in [&otto, &alice] {
            caller.answer(&reply).await.expect_not_found()?;
        }
        if suite.require(Capability::SoftDeletion).is_err() {
            return ada.answer(&reply).await.expect_not_found();
        }
        suite.require(Capability::SurvivingReplies)?;
        let answer = ada.answer(&reply).await.expect_ok()?;
        check_eq!(&answer.in_reply_to, &Some(reply.post_id))?;
        check_eq!(otto.fetch_post(&answer.path()).await?.in_reply_to, None)
    }

    /// `inReplyTo` is null for callers who cannot see the answered post. A deleted post is invisible to all callers
    /// except moderators until it is restored.
    async fn a_deleted_answered_post_is_null(suite: &Suite) -> TestResult {
        suite.require(Capability::HiddenDeletedPosts)?;
        suite.require(Capability::SurvivingReplies)?;
        let ThreadFixture { otto, alice, reply, .. } = thread_with_reply(suite).await?;
        let ada = suite.admin("ada").await?;
        let answer = otto.answer(&reply).await.expect_ok()?.path();
        let answered = Some(reply.post_id.clone());
        alice.delete_post(&reply).await.expect_ok()?;
        let is_soft = suite.require(Capability::SoftDeletion).is_ok();
        let for_moderators = answered.clone().filter(|_| is_soft);
        for (caller, expected) in [(&otto, None), (&alice, None), (&ada, for_moderators)] {
            check_eq!(caller.fetch_post(&answer).await?.in_reply_to, expected, "for {caller:?}")?;
        }
        if suite.restore(&reply.post_id).await? {
            check_eq!(otto.fetch_post(&answer).await?.in_reply_to, answered)?;
        }
        Ok(())
    }

    /// `inReplyTo` names a deleted post that leaves a place, for every caller.
    async fn the_place_of_an_answered_post_is_named(suite: &Suite) -> TestResult {
        suite.require(Capability::SurvivingReplies)?;
        let ThreadFixture { otto, alice, reply, .. } = thread_with_reply(suite).await?;
        let answer = otto.answer(&reply).await.expect_ok()?.path();
        alice.delete_post(&reply).await.expect_ok()?;
        let expected = suite.deleted_state().map(|_| reply.post_id);
        for caller in [&otto, &alice] {
            check_eq!(caller.fetch_post(&answer).await?.in_reply_to, expected, "for {caller:?}")?;
        }
        Ok(())
    }

    /// The replies to a deleted post stay, or the board deletes them with it: then they are gone for every caller who does
    /// not moderate, the thread does not count them, and each deleted post emits an event.
    async fn replies_to_a_deleted_post_stay_or_are_deleted_with_it(suite: &Suite) -> TestResult {
        let AnsweredFixture { otto, alice, reply, answers, other } = AnsweredFixture::new(suite).await?;
        let has_events = suite.require(Capability::Events).is_ok();
        if has_events {
            suite.recorded().await?;
        }
        alice.delete_post(&reply).await.expect_ok()?;
        let stay = suite.require(Capability::SurvivingReplies).is_ok();
        let state = if stay { Some(ContentState::Visible) } else { suite.deleted_state() };
        for caller in [&otto, &alice] {
            for answer in &answers {
                check_eq!(caller.post_state(answer).await?, state, "{answer:?} for {caller:?}")?;
            }
            check_eq!(caller.post_state(&other).await?, Some(ContentState::Visible))?;
            let count = if stay { 3 } else { 1 };
            check_eq!(caller.fetch_thread(&reply.thread_id).await?.reply_count, count, "for {caller:?}")?;
        }
        if !has_events {
            return Ok(());
        }
        let deleted = std::iter::once(&reply).chain(answers.iter().filter(|_| !stay));
        let expected: BTreeSet<_> = deleted.map(|post| event_name(&Topic::POST_DELETED, &post.post_id)).collect();
        let names: Vec<_> = suite.recorded().await?.into_iter().map(|event| event.name).collect();
        check_eq!(names.len(), expected.len(), "the number of events in {names:?}")?;
        check_eq!(names.into_iter().collect::<BTreeSet<_>>(), expected)
    }

    /// A post that a moderator hides on the pages of the board is gone for every caller who does not moderate, like a
    /// deleted one. The replies to it stay, or are gone with it. The rule has no effect on boards whose fixture hides no
    /// posts.
    async fn replies_to_a_hidden_post_stay_or_are_hidden_with_it(suite: &Suite) -> TestResult {
        let AnsweredFixture { otto, alice, reply, answers, other } = AnsweredFixture::new(suite).await?;
        if !suite.fixture.hide(&reply.post_id).await? {
            return Ok(());
        }
        let stay = suite.require(Capability::SurvivingReplies).is_ok();
        let state = stay.then_some(ContentState::Visible);
        for caller in [&otto, &alice] {
            check_eq!(caller.post_state(&reply).await?, suite.deleted_state(), "the post for {caller:?}")?;
            for answer in &answers {
                check_eq!(caller.post_state(answer).await?, state, "{answer:?} for {caller:?}")?;
            }
            check_eq!(caller.post_state(&other).await?, Some(ContentState::Visible))?;
        }
        Ok(())
    }

    /// `inReplyTo` of a reply to a post that awaits approval is null, except for the answered post's author and for
    /// moderators, until the post is approved.
    async fn an_answered_post_awaiting_approval_is_null(suite: &Suite) -> TestResult {
        let ThreadFixture { otto, reply, .. } = thread_with_reply(suite).await?;
        let nora = suite.newcomer("nora").await?;
        let ada = suite.admin("ada").await?;
        let pending = suite.post(&nora, &reply.thread_id).await?;
        otto.answer(&pending).await.expect_not_found()?;
        let answer = ada.answer(&pending).await.expect_ok()?.path();
        let answered = Some(pending.post_id.clone());
        for (caller, expected) in [(&otto, None), (&nora, answered.clone()), (&ada, answered.clone())] {
            check_eq!(caller.fetch_post(&answer).await?.in_reply_to, expected, "for {caller:?}")?;
        }
        suite.fixture.approve(&pending.post_id).await?;
        check_eq!(otto.fetch_post(&answer).await?.in_reply_to, answered)
    }

    /// The event of a reply names the answered post only if every caller who sees the forum sees that post.
    async fn an_event_omits_an_invisible_answered_post(suite: &Suite) -> TestResult {
        suite.require(Capability::Events)?;
        let ThreadFixture { otto, alice, reply, .. } = thread_with_reply(suite).await?;
        let ada = suite.admin("ada").await?;
        suite.recorded().await?;
        otto.answer(&reply).await.expect_ok()?;
        let event = only(suite.recorded().await?)?;
        check_eq!(event.value("/post/inReplyTo"), &json!(reply.post_id))?;
        suite.require(Capability::HiddenDeletedPosts)?;
        suite.require(Capability::SoftDeletion)?;
        suite.require(Capability::SurvivingReplies)?;
        alice.delete_post(&reply).await.expect_ok()?;
        suite.recorded().await?;
        ada.answer(&reply).await.expect_ok()?;
        let event = only(suite.recorded().await?)?;
        check_eq!(event.value("/post/inReplyTo"), &Value::Null)
    }
}

/// Creates a thread with a reply. Needs [`Capability::InReplyTo`].
async fn thread_with_reply(suite: &Suite) -> TestResult<ThreadFixture> {
    suite.require(Capability::InReplyTo)?;
    ThreadFixture::new(suite).await
}

/// A thread with a reply, a reply to it, a reply to this one, and a reply to the thread.
struct AnsweredFixture {
    otto: TestCaller,
    alice: TestCaller,
    /// Alice's reply to the thread.
    reply: PostPath,
    /// The direct and the indirect reply to [`reply`](Self::reply).
    answers: [PostPath; 2],
    /// The other reply to the thread.
    other: PostPath,
}

impl AnsweredFixture {
    /// Needs [`Capability::InReplyTo`] and [`Capability::Deletion`].
    async fn new(suite: &Suite) -> TestResult<Self> {
        suite.require(Capability::Deletion)?;
        let ThreadFixture { otto, alice, reply, .. } = thread_with_reply(suite).await?;
        let direct = otto.answer(&reply).await.expect_ok()?.path();
        let indirect = alice.answer(&direct).await.expect_ok()?.path();
        let other = suite.post(&otto, &reply.thread_id).await?;
        Ok(Self { otto, alice, reply, answers: [direct, indirect], other })
    }
}

impl TestCaller {
    /// Replies to a post.
    async fn answer(&self, answered: &PostPath) -> CallResult<Post> {
        let mut new = new_post("An answer");
        new.in_reply_to = Some(answered.post_id.clone());
        let post = self.create_post(&answered.thread_id, &new).await;
        post.map(|post| post.value)
    }
}
