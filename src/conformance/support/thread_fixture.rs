//! A thread with a reply, and resources as a caller sees them.

use super::{Audience, CallResult, Suite, TestCaller, TestResult, edit, only, reply, start};
use crate::model::*;

/// A thread by otto in a forum that everyone sees, with otto's post `first` and alice's reply `at`.
#[derive(Debug)]
pub(crate) struct ThreadFixture {
    pub(crate) forum: ForumId,
    pub(crate) otto: TestCaller,
    pub(crate) alice: TestCaller,
    pub(crate) first: PostAt,
    pub(crate) at: PostAt,
}

impl ThreadFixture {
    pub(crate) async fn new(suite: &Suite) -> TestResult<Self> {
        let forum = suite.forum(Audience::Guests).await?;
        let [otto, alice] = suite.members(["otto", "alice"]).await?;
        let first = suite.thread(&otto, &forum).await?;
        let at = suite.post(&alice, &first.thread).await?;
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
        self.start_thread(forum, &start(title, body)).await
    }

    pub(crate) async fn answer(&self, thread: &ThreadId, body: &str) -> CallResult<Post> {
        self.reply(thread, &reply(body)).await.map(|post| post.it)
    }

    pub(crate) async fn edit(&self, at: &PostAt, body: &str) -> CallResult<Post> {
        self.edit_post(at, &edit(body)).await.map(|post| post.it)
    }

    pub(crate) async fn get_forums(&self) -> TestResult<Vec<Forum>> {
        self.forums().await.expect_ok()
    }

    pub(crate) async fn get_forum(&self, forum: &ForumId) -> TestResult<Forum> {
        let forums = self.get_forums().await?;
        only(forums.into_iter().filter(|found| found.forum_id == *forum))
    }

    pub(crate) async fn get_thread(&self, thread: &ThreadId) -> TestResult<Thread> {
        self.thread(thread).await.expect_ok()
    }

    /// The first page of a forum's threads.
    pub(crate) async fn get_threads(&self, forum: &ForumId) -> TestResult<Vec<Thread>> {
        let list = ListThreads::default();
        Ok(self.threads(forum, &list).await.expect_ok()?.items)
    }

    pub(crate) async fn thread_ids(&self, forum: &ForumId) -> TestResult<Vec<ThreadId>> {
        let threads = self.get_threads(forum).await?.into_iter();
        Ok(threads.map(|thread| thread.thread_id).collect())
    }

    /// The first page of a thread's posts.
    pub(crate) async fn first_page(&self, thread: &ThreadId) -> CallResult<Vec<Post>> {
        let page = self.posts(thread, &ListPosts::default()).await;
        page.map(|page| page.it.items)
    }

    pub(crate) async fn get_posts(&self, thread: &ThreadId) -> TestResult<Vec<Post>> {
        self.first_page(thread).await.expect_ok()
    }

    /// `None` if the caller does not find the post in its thread.
    pub(crate) async fn find_post(&self, at: &PostAt) -> TestResult<Option<Post>> {
        let posts = self.get_posts(&at.thread).await?;
        Ok(posts.into_iter().find(|post| post.post_id == at.post))
    }

    pub(crate) async fn get_post(&self, at: &PostAt) -> TestResult<Post> {
        only(self.find_post(at).await?)
    }

    pub(crate) async fn post_state(&self, at: &PostAt) -> TestResult<Option<State>> {
        Ok(self.find_post(at).await?.map(|post| post.state))
    }

    pub(crate) async fn get_profile(&self, user: &UserRef) -> TestResult<Profile> {
        self.profile(user).await.expect_ok()
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
