//! Threads and posts that the rules write and read.

use super::{
    Audience, CallResult, Suite, TestCaller, TestResult, new_post, new_thread, only, post_update,
    succeed_concurrently, title_update,
};
use crate::model::*;

/// A thread by otto in a forum that all callers see, with a reply by alice.
#[derive(Debug)]
pub(crate) struct ThreadFixture {
    pub(crate) forum: ForumId,
    pub(crate) otto: TestCaller,
    pub(crate) alice: TestCaller,
    /// Otto's post.
    pub(crate) first: PostPath,
    /// Alice's post.
    pub(crate) reply: PostPath,
}

impl ThreadFixture {
    pub(crate) async fn new(suite: &Suite) -> TestResult<Self> {
        let forum = suite.forum(Audience::Guests).await?;
        let [otto, alice] = suite.members(["otto", "alice"]).await?;
        let first = suite.thread(&otto, &forum).await?;
        let reply = suite.post(&alice, &first.thread_id).await?;
        Ok(Self { forum, otto, alice, first, reply })
    }

    /// Adds mia, a moderator of the forum.
    pub(crate) async fn with_moderator(suite: &Suite) -> TestResult<(Self, TestCaller)> {
        let fixture = Self::new(suite).await?;
        let mia = suite.moderator("mia", &fixture.forum).await?;
        Ok((fixture, mia))
    }
}

impl Suite {
    /// Writes six replies concurrently.
    pub(crate) async fn write_replies_concurrently(
        &self,
        thread: &ThreadId,
    ) -> TestResult<Vec<Post>> {
        let authors = ["ann", "ben", "cem", "dan", "eve", "fay"];
        let replies = self.members(authors).await?.map(|author| {
            let thread = thread.clone();
            async move { author.reply(&thread, "Now").await.expect_ok() }
        });
        succeed_concurrently(replies).await
    }
}

impl TestCaller {
    pub(crate) async fn start_thread(
        &self,
        forum: &ForumId,
        title: &str,
        body: &str,
    ) -> CallResult<Thread> {
        self.create_thread(forum, &new_thread(title, body)).await
    }

    pub(crate) async fn reply(&self, thread: &ThreadId, body: &str) -> CallResult<Post> {
        let post = self.create_post(thread, &new_post(body)).await;
        post.map(|post| post.value)
    }

    pub(crate) async fn edit(&self, path: &PostPath, body: &str) -> CallResult<Post> {
        let post = self.update_post(path, &post_update(body)).await;
        post.map(|post| post.value)
    }

    pub(crate) async fn edit_title(&self, path: &PostPath, title: &str) -> CallResult<Post> {
        let post = self.update_post(path, &title_update(title)).await;
        post.map(|post| post.value)
    }

    pub(crate) async fn fetch_forums(&self) -> TestResult<Vec<Forum>> {
        Ok(self.list_forums().await.expect_ok()?.items)
    }

    pub(crate) async fn fetch_forum(&self, id: &ForumId) -> TestResult<Forum> {
        let forums = self.fetch_forums().await?.into_iter();
        only(forums.filter(|forum| forum.forum_id == *id))
    }

    pub(crate) async fn fetch_thread(&self, thread: &ThreadId) -> TestResult<Thread> {
        self.get_thread(thread).await.expect_ok()
    }

    /// Returns the first page of a forum's threads.
    pub(crate) async fn fetch_threads(&self, forum: &ForumId) -> TestResult<Vec<Thread>> {
        let params = List::<ThreadFilter>::default();
        Ok(self.list_threads(forum, &params).await.expect_ok()?.items)
    }

    pub(crate) async fn thread_ids(&self, forum: &ForumId) -> TestResult<Vec<ThreadId>> {
        Ok(thread_ids(self.fetch_threads(forum).await?))
    }

    /// Calls `list_posts` for the first page.
    pub(crate) async fn first_page(&self, thread: &ThreadId) -> CallResult<Vec<Post>> {
        let list = List::<PostFilter>::default();
        let page = self.list_posts(thread, &list).await;
        page.map(|page| page.value.items)
    }

    pub(crate) async fn fetch_posts(&self, thread: &ThreadId) -> TestResult<Vec<Post>> {
        self.first_page(thread).await.expect_ok()
    }

    /// Returns `None` if the caller cannot see the post in its thread.
    pub(crate) async fn find_post(&self, path: &PostPath) -> TestResult<Option<Post>> {
        let posts = self.fetch_posts(&path.thread_id).await?;
        Ok(posts.into_iter().find(|post| post.post_id == path.post_id))
    }

    pub(crate) async fn fetch_post(&self, path: &PostPath) -> TestResult<Post> {
        only(self.find_post(path).await?)
    }

    pub(crate) async fn post_state(&self, path: &PostPath) -> TestResult<Option<ContentState>> {
        Ok(self.find_post(path).await?.map(|post| post.state))
    }

    pub(crate) async fn fetch_member(&self, user: &UserRef) -> TestResult<Member> {
        self.get_member(user).await.expect_ok()
    }
}

pub(crate) fn thread_ids(threads: Vec<Thread>) -> Vec<ThreadId> {
    threads.into_iter().map(|thread| thread.thread_id).collect()
}

pub(crate) fn post_ids(posts: &[Post]) -> Vec<PostId> {
    posts.iter().map(|post| post.post_id.clone()).collect()
}

/// Returns the id of an author; `None` if the account was removed.
pub(crate) fn author_id(author: &Option<Author>) -> Option<UserId> {
    author.as_ref().map(|author| author.user_id.clone())
}
