//! Texts to search in, and what a caller finds of them.

use super::{Capability, Suite, TestCaller, TestFailure, TestResult, with};
use crate::model::*;

/// A forum that everyone sees, and a member who writes there.
#[derive(Debug)]
pub(crate) struct SearchFixture<'a> {
    pub(crate) suite: &'a Suite,
    pub(crate) forum: ForumId,
    pub(crate) alice: TestCaller,
}

impl<'a> SearchFixture<'a> {
    pub(crate) async fn new(suite: &'a Suite) -> TestResult<Self> {
        let (forum, alice) = suite.forum_and_member().await?;
        Ok(Self {
            suite,
            forum,
            alice,
        })
    }

    pub(crate) async fn thread(&self, title: &str, body: &str) -> TestResult<PostPath> {
        self.suite.require(Capability::Search)?;
        self.suite
            .write_thread(&self.alice, &self.forum, title, body)
            .await
    }

    pub(crate) async fn reply(&self, thread: &ThreadId, body: &str) -> TestResult<PostPath> {
        self.suite.write_reply(&self.alice, thread, body).await
    }

    /// A thread by alice with each of these texts in it, the first of them as its first post.
    pub(crate) async fn posts<const N: usize>(
        &self,
        texts: [&str; N],
    ) -> TestResult<[PostPath; N]> {
        let mut posts: Vec<PostPath> = Vec::new();
        for text in texts {
            posts.push(match posts.first() {
                None => self.thread("Untitled", text).await?,
                Some(first) => self.reply(&first.thread_id, text).await?,
            });
        }
        let posts = posts.try_into();
        posts.map_err(|posts| TestFailure::mismatch("posts", format_args!("{posts:?}"), N))
    }

    /// Alice finds these posts, newest first.
    pub(crate) async fn finds(&self, q: &str, posts: &[&PostPath]) -> TestResult {
        self.alice.finds(&newest(q)?, posts).await
    }

    /// Alice finds these posts with a search for tea that is changed so.
    pub(crate) async fn finds_with(
        &self,
        change: impl FnOnce(&mut SearchParams),
        posts: &[&PostPath],
    ) -> TestResult {
        self.alice.finds(&with(newest("tea")?, change), posts).await
    }
}

impl TestCaller {
    pub(crate) async fn hits(&self, search: &SearchParams) -> TestResult<Vec<SearchHit>> {
        Ok(self.search(search).await.expect_ok()?.items)
    }

    /// The first page has exactly these posts, in this order.
    pub(crate) async fn finds(&self, search: &SearchParams, posts: &[&PostPath]) -> TestResult {
        let hits = self.hits(search).await?;
        let found: Vec<_> = hits.iter().map(|hit| &hit.post_id).collect();
        let expected: Vec<_> = posts.iter().map(|at| &at.post_id).collect();
        check_eq!(found, expected, "what {self:?} finds with {search:?}")
    }
}

/// A search for `q`, newest first.
pub(crate) fn newest(q: &str) -> TestResult<SearchParams> {
    let query = SearchQuery::parse(q);
    let query = query.ok_or_else(|| TestFailure::mismatch(q, "no query", "a query"))?;
    Ok(with(SearchParams::new(query), |search| {
        search.sort = SearchSort::Newest
    }))
}
