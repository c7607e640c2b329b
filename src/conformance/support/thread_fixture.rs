//! A thread with a reply, and resources as a caller sees them.

use super::{Audience, CallResult, Suite, TestCaller, TestResult, edit, only, reply, start};
use crate::model::*;

/// A thread by otto in a forum that everyone sees, with otto's post `first` and alice's reply `at`.
#[derive(Debug)]
pub(crate) struct ThreadFixture {
    pub(crate) forum: ForumId,
    pub(crate) otto: TestCaller,
    pub(crate) alice: TestCaller,
    pub(crate) first: PostPath,
    pub(crate) at: PostPath,
}

impl ThreadFixture {
    pub(crate) async fn new(suite: &Suite) -> TestResult<Self> {
        let forum = suite.forum(Audience::Guests).await?;
        let [otto, alice] = suite.members(["otto", "alice"]).await?;
        let first = suite.thread(&otto, &forum).await?;
        let at = suite.post(&alice, &first.thread_id).await?;
        Ok(Self {
            forum,
            otto,
            alice,
            first,
            at,
        })
    }
}

/// The same, and a moderator of the forum.
pub(crate) async fn moderated_thread(suite: &Suite) -> TestResult<(ThreadFixture, TestCaller)> {
    let fixture = ThreadFixture::new(suite).await?;
    let mia = suite.moderator("mia", &fixture.forum).await?;
    Ok((fixture, mia))
}

impl Suite {
    /// Replies by six members that are written at once.
    pub(crate) async fn replies_at_once(&self, thread: &ThreadId) -> TestResult<Vec<Post>> {
        let authors = self
            .members(["ann", "ben", "cem", "dan", "eve", "fay"])
            .await?;
        let replies = authors.map(|author| {
            let thread = thread.clone();
            async move { author.answer(&thread, "Now").await.expect_ok() }
        });
        self.race(replies).await.into_iter().collect()
    }
}

impl TestCaller {
    pub(crate) async fn start(
        &self,
        forum: &ForumId,
        title: &str,
        body: &str,
    ) -> CallResult<Thread> {
        self.create_thread(forum, &start(title, body)).await
    }

    pub(crate) async fn answer(&self, thread: &ThreadId, body: &str) -> CallResult<Post> {
        self.create_post(thread, &reply(body))
            .await
            .map(|post| post.value)
    }

    pub(crate) async fn edit(&self, at: &PostPath, body: &str) -> CallResult<Post> {
        self.update_post(at, &edit(body))
            .await
            .map(|post| post.value)
    }

    pub(crate) async fn fetch_forums(&self) -> TestResult<Vec<Forum>> {
        self.list_forums().await.expect_ok()
    }

    pub(crate) async fn fetch_forum(&self, forum: &ForumId) -> TestResult<Forum> {
        let forums = self.fetch_forums().await?;
        only(forums.into_iter().filter(|found| found.forum_id == *forum))
    }

    pub(crate) async fn fetch_thread(&self, thread: &ThreadId) -> TestResult<Thread> {
        self.get_thread(thread).await.expect_ok()
    }

    /// The first page of a forum's threads.
    pub(crate) async fn fetch_threads(&self, forum: &ForumId) -> TestResult<Vec<Thread>> {
        let list = ListThreadsParams::default();
        Ok(self.threads(forum, &list).await.expect_ok()?.items)
    }

    pub(crate) async fn thread_ids(&self, forum: &ForumId) -> TestResult<Vec<ThreadId>> {
        let threads = self.fetch_threads(forum).await?.into_iter();
        Ok(threads.map(|thread| thread.thread_id).collect())
    }

    /// The first page of a thread's posts.
    pub(crate) async fn first_page(&self, thread: &ThreadId) -> CallResult<Vec<Post>> {
        let page = self.list_posts(thread, &ListPostsParams::default()).await;
        page.map(|page| page.value.items)
    }

    pub(crate) async fn fetch_posts(&self, thread: &ThreadId) -> TestResult<Vec<Post>> {
        self.first_page(thread).await.expect_ok()
    }

    /// `None` if the caller does not find the post in its thread.
    pub(crate) async fn find_post(&self, at: &PostPath) -> TestResult<Option<Post>> {
        let posts = self.fetch_posts(&at.thread_id).await?;
        Ok(posts.into_iter().find(|post| post.post_id == at.post_id))
    }

    pub(crate) async fn fetch_post(&self, at: &PostPath) -> TestResult<Post> {
        only(self.find_post(at).await?)
    }

    pub(crate) async fn post_state(&self, at: &PostPath) -> TestResult<Option<ContentState>> {
        Ok(self.find_post(at).await?.map(|post| post.state))
    }

    pub(crate) async fn fetch_member(&self, user: &UserRef) -> TestResult<Member> {
        self.get_member(user).await.expect_ok()
    }
}

pub(crate) fn thread_ids(threads: &[Thread]) -> Vec<ThreadId> {
    threads
        .iter()
        .map(|thread| thread.thread_id.clone())
        .collect()
}

pub(crate) fn post_ids(posts: &[Post]) -> Vec<PostId> {
    posts.iter().map(|post| post.post_id.clone()).collect()
}

/// The id of an author whose account exists.
pub(crate) fn author_id(author: &Option<Author>) -> Option<UserId> {
    author.as_ref().map(|author| author.user_id.clone())
}
