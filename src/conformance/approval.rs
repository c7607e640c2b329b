//! What newcomers write awaits approval.

use super::scene::{Scene, edit, forum, posts, state, threads};
use super::{Someone, Suite, Verdict, equal};
use crate::model::{PostAt, Reply, State};

/// A reply that awaits approval is there for its author and the moderators, and is not counted.
pub async fn a_reply_that_awaits_is_for_author_and_moderators(suite: &Suite) -> Verdict {
    let (scene, nora, mia) = scene(suite).await?;
    let before = forum(&scene.alice, &scene.forum).await?;
    let thread = scene.alice.thread(&scene.at.thread).await?.granted()?;
    let post = suite.post(&nora, &scene.at.thread).await?;
    let at = PostAt { post, ..scene.at };
    let awaiting = Some(State::AwaitingApproval);
    for (someone, found) in [
        (&nora, awaiting),
        (&mia, awaiting),
        (&scene.alice, None),
        (&scene.otto, None),
    ] {
        let seen = state(someone, &at).await?;
        equal(
            format_args!("what {} finds of it", someone.name()),
            seen,
            found,
        )?;
    }
    for someone in [&nora, &scene.alice] {
        let now = someone.thread(&at.thread).await?.granted()?;
        equal("replies", now.reply_count, thread.reply_count)?;
        equal("the last post", &now.last_post, &thread.last_post)?;
    }
    equal(
        "the forum",
        forum(&scene.alice, &scene.forum).await?,
        before,
    )
}

/// A thread that awaits approval is there for its author and the moderators, and is not counted.
pub async fn a_thread_that_awaits_is_for_author_and_moderators(suite: &Suite) -> Verdict {
    let (scene, nora, mia) = scene(suite).await?;
    let before = forum(&scene.alice, &scene.forum).await?;
    let thread = suite.thread(&nora, &scene.forum).await?.thread;
    for (someone, seen) in [
        (&nora, true),
        (&mia, true),
        (&scene.alice, false),
        (&scene.otto, false),
    ] {
        let listed = threads(someone, &scene.forum).await?;
        let (who, number) = (someone.name(), if seen { 2 } else { 1 });
        equal(
            format_args!("how many threads {who} finds"),
            listed.len(),
            number,
        )?;
        let found = someone.thread(&thread).await?;
        match seen {
            true => equal("its state", found.granted()?.state, State::AwaitingApproval)?,
            false => found.absent()?,
        }
    }
    equal(
        "the forum",
        forum(&scene.alice, &scene.forum).await?,
        before,
    )
}

/// Nobody replies in a thread that awaits approval: not its author, and not who does not see it.
pub async fn nobody_replies_in_a_thread_that_awaits(suite: &Suite) -> Verdict {
    let (scene, nora, mia) = scene(suite).await?;
    let thread = suite.thread(&nora, &scene.forum).await?.thread;
    let reply = Reply {
        body: "Hello!".into(),
        ..Reply::default()
    };
    scene.alice.reply(&thread, &reply).await?.absent()?;
    nora.reply(&thread, &reply).await?.forbidden()?;
    mia.reply(&thread, &reply).await?.forbidden()
}

/// An approved reply is there for everybody, and counted.
pub async fn an_approved_reply_is_for_everybody(suite: &Suite) -> Verdict {
    let (scene, nora, _) = scene(suite).await?;
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
pub async fn an_approved_thread_is_for_everybody(suite: &Suite) -> Verdict {
    let (scene, nora, _) = scene(suite).await?;
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
pub async fn an_author_changes_what_awaits(suite: &Suite) -> Verdict {
    let (scene, nora, _) = scene(suite).await?;
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
    equal(
        "the forum",
        forum(&scene.alice, &scene.forum).await?,
        before,
    )
}

/// A thread with a reply, a newcomer, and a moderator.
async fn scene(suite: &Suite) -> Verdict<(Scene, Someone, Someone)> {
    let scene = Scene::set(suite).await?;
    let nora = suite.newcomer("nora").await?;
    let mia = suite.moderator("mia", &scene.forum).await?;
    Ok((scene, nora, mia))
}
