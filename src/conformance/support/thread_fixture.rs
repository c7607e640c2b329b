//! A thread with a reply, and how it looks to somebody.

use super::{Audience, Someone, Stop, Suite, Verdict};
use crate::model::{
    EditPost, Forum, ForumId, ListPosts, ListThreads, Post, PostAt, State, Thread, ThreadId,
};

/// A thread by otto in a forum that everybody sees, with a reply by alice.
pub(crate) struct Scene {
    pub(crate) forum: ForumId,
    pub(crate) otto: Someone,
    pub(crate) alice: Someone,
    /// Otto's.
    pub(crate) first: PostAt,
    /// Alice's.
    pub(crate) at: PostAt,
}

impl Scene {
    pub(crate) async fn set(suite: &Suite) -> Verdict<Self> {
        let forum = suite.forum(Audience::Guests).await?;
        let (otto, alice) = (suite.member("otto").await?, suite.member("alice").await?);
        let first = suite.thread(&otto, &forum).await?.at();
        let post = suite.post(&alice, &first.thread).await?;
        let thread = first.thread.clone();
        Ok(Self {
            forum,
            otto,
            alice,
            first,
            at: PostAt { thread, post },
        })
    }
}

/// A post as somebody finds it in its thread.
pub(crate) async fn post(someone: &Someone, at: &PostAt) -> Verdict<Post> {
    let found = find(someone, at).await?;
    found.ok_or_else(|| missing(someone, format_args!("{at:?}")))
}

/// In which state somebody finds a post in its thread, if they do.
pub(crate) async fn state(someone: &Someone, at: &PostAt) -> Verdict<Option<State>> {
    Ok(find(someone, at).await?.map(|post| post.state))
}

async fn find(someone: &Someone, at: &PostAt) -> Verdict<Option<Post>> {
    let posts = posts(someone, &at.thread).await?.into_iter();
    let mut found = posts.filter(|post| post.post_id == at.post);
    Ok(found.next())
}

/// A thread's posts.
pub(crate) async fn posts(someone: &Someone, thread: &ThreadId) -> Verdict<Vec<Post>> {
    let page = someone.posts(thread, &ListPosts::default()).await?;
    Ok(page.granted()?.it.items)
}

/// A thread's posts are not there for somebody.
pub(crate) async fn no_posts(someone: &Someone, thread: &ThreadId) -> Verdict {
    let page = someone.posts(thread, &ListPosts::default()).await?;
    page.absent()
}

/// A forum's threads.
pub(crate) async fn threads(someone: &Someone, forum: &ForumId) -> Verdict<Vec<Thread>> {
    let page = someone.threads(forum, &ListThreads::default()).await?;
    Ok(page.granted()?.items)
}

/// A forum as somebody finds it in the list.
pub(crate) async fn forum(someone: &Someone, forum: &ForumId) -> Verdict<Forum> {
    let forums = someone.forums().await?.granted()?.into_iter();
    let mut found = forums.filter(|found| found.forum_id == *forum);
    found
        .next()
        .ok_or_else(|| missing(someone, format_args!("{forum:?}")))
}

fn missing(someone: &Someone, what: std::fmt::Arguments<'_>) -> Stop {
    let name = someone.name();
    let seen = format_args!("{name} finds it nowhere");
    Stop::broken(what, seen, "it is in the list")
}

/// An edit that says nothing but the new body.
pub(crate) fn edit(body: &str) -> EditPost {
    EditPost {
        body: body.into(),
        ..EditPost::default()
    }
}
