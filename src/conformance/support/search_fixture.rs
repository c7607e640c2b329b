//! Posts that the rules search for.

use super::{Capability, Suite, TestCaller, TestResult, exactly, with};
use crate::model::*;

/// A forum that all callers see, and the member alice who writes in it.
#[derive(Debug)]
pub(crate) struct SearchFixture<'a> {
    suite: &'a Suite,
    pub(crate) forum: ForumId,
    pub(crate) alice: TestCaller,
}

impl<'a> SearchFixture<'a> {
    pub(crate) async fn new(suite: &'a Suite) -> TestResult<Self> {
        suite.require(Capability::Search)?;
        let (forum, alice) = suite.forum_and_member().await?;
        Ok(Self { suite, forum, alice })
    }

    pub(crate) async fn thread(&self, title: &str, body: &str) -> TestResult<PostPath> {
        let alice = &self.alice;
        let forum = &self.forum;
        self.suite.write_thread(alice, forum, title, body).await
    }

    pub(crate) async fn reply(&self, thread: &ThreadId, body: &str) -> TestResult<PostPath> {
        self.suite.write_reply(&self.alice, thread, body).await
    }

    /// Writes a thread with one post for each text.
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
        exactly(posts)
    }

    /// Checks that alice finds exactly these posts, newest first.
    pub(crate) async fn expect_hits(&self, query: &str, posts: &[&PostPath]) -> TestResult {
        self.alice.expect_hits(&newest(query)?, posts).await
    }

    /// Checks that alice finds exactly these posts with a changed search for "tea".
    pub(crate) async fn expect_hits_with(
        &self,
        change: impl FnOnce(&mut SearchFilter),
        posts: &[&PostPath],
    ) -> TestResult {
        let params = with(newest("tea")?, change);
        self.alice.expect_hits(&params, posts).await
    }
}

impl TestCaller {
    /// Returns the first page of hits.
    pub(crate) async fn hits(&self, params: &SearchFilter) -> TestResult<Vec<SearchHit>> {
        Ok(self.search(&List::new(params.clone())).await.expect_ok()?.items)
    }

    /// Checks that the first page has exactly these posts in this order.
    pub(crate) async fn expect_hits(
        &self,
        params: &SearchFilter,
        posts: &[&PostPath],
    ) -> TestResult {
        let hits = self.hits(params).await?;
        let actual: Vec<_> = hits.iter().map(|hit| &hit.post_id).collect();
        let expected: Vec<_> = posts.iter().map(|path| &path.post_id).collect();
        check_eq!(actual, expected, "the hits of {params:?} for {self:?}")
    }
}

/// Returns a search for `query`, newest first.
pub(crate) fn newest(query: &str) -> TestResult<SearchFilter> {
    let parsed = SearchQuery::parse(query)?;
    let sort = |params: &mut SearchFilter| params.sort = SearchSort::Newest;
    Ok(with(SearchFilter::new(parsed), sort))
}
