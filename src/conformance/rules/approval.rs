//! What awaits approval is changed and approved; who sees it until then is in `visibility`.

use super::thread_fixture::{Scene, edit, forum, posts, state};
use super::{Someone, Suite, Verdict, Written, equal};
use crate::model::{PostAt, State};

board_rules!(
    mod approval;

    /// An approved reply is there for everybody, and counted.
    async fn an_approved_reply_is_for_everybody(suite: &Suite) -> Verdict {
        let (scene, nora) = scene(suite).await?;
        let before = forum(&scene.alice, &scene.forum).await?;
        let post = suite.post(&nora, &scene.at.thread).await?;
        suite.stage.approve(&post).await?;
        let at = PostAt { post, ..scene.at };
        let found = state(&scene.alice, &at).await?;
        equal("what others find of it", found, Some(State::Visible))?;
        let thread = scene.alice.thread(&at.thread).await?.granted()?;
        equal("replies", thread.reply_count, 2)?;
        let last = thread.last_post.map(|last| last.post_id);
        equal("the last post", last, Some(at.post))?;
        let after = forum(&scene.alice, &scene.forum).await?;
        equal("posts", after.post_count, before.post_count + 1)
    }

    /// An approved thread is there for everybody, with its first post, and counted.
    async fn an_approved_thread_is_for_everybody(suite: &Suite) -> Verdict {
        let (scene, nora) = scene(suite).await?;
        let before = forum(&scene.alice, &scene.forum).await?;
        let written = suite.thread(&nora, &scene.forum).await?;
        suite.stage.approve(&written.first).await?;
        let thread = scene.alice.thread(&written.thread).await?.granted()?;
        equal("its state", thread.state, State::Visible)?;
        let found = posts(&scene.alice, &written.thread).await?;
        let states: Vec<State> = found.iter().map(|post| post.state).collect();
        equal("the states of its posts", states, [State::Visible])?;
        let after = forum(&scene.alice, &scene.forum).await?;
        let (counts, expected) = (
            (after.thread_count, after.post_count),
            (before.thread_count + 1, before.post_count + 1),
        );
        equal("the forum's counts", counts, expected)?;
        equal(
            "the forum's last activity",
            after.last_activity_at,
            Some(thread.last_activity_at),
        )
    }

    /// An author edits what awaits approval, which it does from then on, too, and deletes it.
    async fn an_author_changes_what_awaits(suite: &Suite) -> Verdict {
        let (scene, nora) = scene(suite).await?;
        let before = forum(&scene.alice, &scene.forum).await?;
        let post = suite.post(&nora, &scene.at.thread).await?;
        let at = PostAt { post, ..scene.at };
        let edited = nora
            .edit_post(&at, &edit("Better words"))
            .await?
            .granted()?;
        equal("its state", edited.it.state, State::AwaitingApproval)?;
        equal("what others find", state(&scene.alice, &at).await?, None)?;
        nora.delete_post(&at).await?.granted()?;
        nora.delete_post(&at).await?.absent()?;
        let found = forum(&scene.alice, &scene.forum).await?;
        equal("the forum", found, before)
    }

    /// An edit of what was approved shows at once, or awaits approval: then others do not find the post until it is approved
    /// again, and it does not count.
    async fn an_edit_of_what_was_approved_shows_or_awaits(suite: &Suite) -> Verdict {
        let (scene, nora) = scene(suite).await?;
        let post = suite.post(&nora, &scene.at.thread).await?;
        suite.stage.approve(&post).await?;
        let at = PostAt { post, ..scene.at };
        let before = forum(&scene.alice, &scene.forum).await?;
        let edited = nora.edit_post(&at, &edit("Other words")).await?;
        if edited.granted()?.it.state == State::AwaitingApproval {
            equal("what others find", state(&scene.alice, &at).await?, None)?;
            let waiting = forum(&scene.alice, &scene.forum).await?;
            equal("posts", waiting.post_count, before.post_count - 1)?;
            suite.stage.approve(&at.post).await?;
        }
        let found = super::thread_fixture::post(&scene.alice, &at).await?;
        equal("its state", found.state, State::Visible)?;
        equal("its body", found.body.as_deref(), Some("Other words"))?;
        let after = forum(&scene.alice, &scene.forum).await?;
        equal("posts", after.post_count, before.post_count)
    }

    /// An edit of an approved first post shows at once, or awaits approval with its thread: then others find neither until it is
    /// approved again, and no post of the thread counts.
    async fn an_edit_of_an_approved_first_post_shows_or_awaits(suite: &Suite) -> Verdict {
        let (scene, nora) = scene(suite).await?;
        let Written { thread, first } = suite.thread(&nora, &scene.forum).await?;
        let at = PostAt {
            thread: thread.clone(),
            post: first,
        };
        suite.stage.approve(&at.post).await?;
        suite.post(&scene.alice, &thread).await?;
        let before = forum(&scene.alice, &scene.forum).await?;
        let edited = nora.edit_post(&at, &edit("Other words")).await?;
        if edited.granted()?.it.state == State::AwaitingApproval {
            let seen = nora.thread(&thread).await?.granted()?;
            equal("its thread", seen.state, State::AwaitingApproval)?;
            scene.alice.thread(&thread).await?.absent()?;
            let waiting = forum(&scene.alice, &scene.forum).await?;
            let (counts, expected) = (
                (waiting.thread_count, waiting.post_count),
                (before.thread_count - 1, before.post_count - 2),
            );
            equal("the forum's counts", counts, expected)?;
            suite.stage.approve(&at.post).await?;
        }
        let seen = scene.alice.thread(&thread).await?.granted()?;
        let found = (seen.state, seen.reply_count);
        equal("its thread", found, (State::Visible, 1))?;
        let after = forum(&scene.alice, &scene.forum).await?;
        equal("the forum", after, before)
    }

    /// A reply that awaited approval when it was deleted awaits it again when it is restored.
    async fn a_restored_reply_awaits_again(suite: &Suite) -> Verdict {
        let (scene, nora) = scene(suite).await?;
        let before = forum(&scene.alice, &scene.forum).await?;
        let post = suite.post(&nora, &scene.at.thread).await?;
        let at = PostAt { post, ..scene.at };
        nora.delete_post(&at).await?.granted()?;
        suite.stage.restore(&at.post).await?;
        let found = state(&nora, &at).await?;
        let waits = Some(State::AwaitingApproval);
        equal("what its author finds of it", found, waits)?;
        equal("what others find", state(&scene.alice, &at).await?, None)?;
        let after = forum(&scene.alice, &scene.forum).await?;
        equal("the forum", after, before.clone())?;
        suite.stage.approve(&at.post).await?;
        let found = state(&scene.alice, &at).await?;
        equal("what others find of it", found, Some(State::Visible))?;
        let after = forum(&scene.alice, &scene.forum).await?;
        equal("posts", after.post_count, before.post_count + 1)
    }

    /// A thread that awaited approval when it was deleted awaits it again when it is restored.
    async fn a_restored_thread_awaits_again(suite: &Suite) -> Verdict {
        let (scene, nora) = scene(suite).await?;
        let mia = suite.moderator("mia", &scene.forum).await?;
        let before = forum(&scene.alice, &scene.forum).await?;
        let Written { thread, first } = suite.thread(&nora, &scene.forum).await?;
        let at = PostAt {
            thread: thread.clone(),
            post: first,
        };
        mia.delete_post(&at).await?.granted()?;
        nora.thread(&thread).await?.absent()?;
        suite.stage.restore(&at.post).await?;
        let seen = nora.thread(&thread).await?.granted()?;
        equal("its state", seen.state, State::AwaitingApproval)?;
        scene.alice.thread(&thread).await?.absent()?;
        let after = forum(&scene.alice, &scene.forum).await?;
        equal("the forum", after, before)
    }

    /// A reply that is approved in a deleted thread is there, and counted, when the thread is restored.
    async fn a_reply_is_approved_in_a_deleted_thread(suite: &Suite) -> Verdict {
        let (scene, nora) = scene(suite).await?;
        let mia = suite.moderator("mia", &scene.forum).await?;
        let before = forum(&scene.alice, &scene.forum).await?;
        let post = suite.post(&nora, &scene.at.thread).await?;
        let at = PostAt { post, ..scene.at };
        mia.delete_post(&scene.first).await?.granted()?;
        let deleted = forum(&scene.alice, &scene.forum).await?;
        suite.stage.approve(&at.post).await?;
        scene.alice.thread(&at.thread).await?.absent()?;
        let after = forum(&scene.alice, &scene.forum).await?;
        equal("the forum without the thread", after, deleted)?;
        suite.stage.restore(&scene.first.post).await?;
        let found = state(&scene.alice, &at).await?;
        equal("what others find of it", found, Some(State::Visible))?;
        let thread = scene.alice.thread(&at.thread).await?.granted()?;
        equal("replies", thread.reply_count, 2)?;
        let after = forum(&scene.alice, &scene.forum).await?;
        equal("posts", after.post_count, before.post_count + 1)
    }
);

/// A thread with a reply, and a newcomer.
async fn scene(suite: &Suite) -> Verdict<(Scene, Someone)> {
    Ok((Scene::set(suite).await?, suite.newcomer("nora").await?))
}
