//! Posts: the list and its pages.

use super::*;

board_rules! {
    mod posts;

    /// The oldest post comes first, and is the thread's first.
    async fn the_oldest_post_comes_first(suite: &Suite) -> TestResult {
        let (alice, thread, ids) = write_posts(suite, 4).await?;
        let page = alice.list_posts(&thread, &ListPostsParams::default()).await.expect_ok()?.value;
        check_eq!((post_ids(&page.items), page.next), (ids.clone(), None))?;
        check_eq!(Some(&alice.fetch_thread(&thread).await?.first_post_id), ids.first())
    }

    /// Posts are numbered upwards from 1.
    async fn post_numbers_increase_from_one(suite: &Suite) -> TestResult {
        suite.require(Capability::PostNumbers)?;
        let (alice, thread, _) = write_posts(suite, 4).await?;
        let posts = alice.fetch_posts(&thread).await?;
        check_eq!(posts.first().map(|post| post.number), Some(1))?;
        numbers_rise(&posts)
    }

    /// Pages of any size have no gap and no overlap, and `next` is null exactly when nothing follows.
    async fn pages_have_no_gap_or_overlap(suite: &Suite) -> TestResult {
        let (alice, thread, ids) = write_posts(suite, 6).await?;
        let limits = [1, 2, 3, 5, 6, 7, 100];
        check_pages(&alice, &thread, &limits, &ids, |post| post.post_id.clone()).await
    }

    /// Reading page by page finds each post that existed all along once, in order, whatever is written meanwhile.
    async fn pagination_finds_each_post_once_during_writes(suite: &Suite) -> TestResult {
        let (alice, thread, ids) = write_posts(suite, 9).await?;
        let mut pager = Pager::new(2);
        while pager.has_next() {
            pager.read(&alice, &thread).await?;
            if pager.pages <= 5 {
                suite.post(&alice, &thread).await?;
            }
        }
        contains_each_once(&post_ids(&pager.items), &ids)?;
        pager.items.truncate(ids.len());
        check_eq!(post_ids(&pager.items), ids)
    }

    /// Posts of the same moment are listed once each, too.
    async fn posts_with_equal_times_are_listed_once(suite: &Suite) -> TestResult {
        let (alice, thread, _) = write_posts(suite, 1).await?;
        let mut written = Vec::new();
        for author in suite.members(["ann", "ben", "cem", "dan", "eve"]).await? {
            let post = suite.fixture.write_reply(&author.id(), &thread, new_post("Now")).await?;
            written.push(post);
        }
        let posts = read_all(&alice, &thread, 2).await?.items;
        contains_each_once(&post_ids(&posts), &written)?;
        check_eq!(posts.len(), written.len() + 1)
    }

    /// An empty page of an existing thread is not an absent thread.
    async fn an_empty_page_is_not_an_error(suite: &Suite) -> TestResult {
        suite.require(Capability::SuiteClock)?;
        let (alice, thread, _) = write_posts(suite, 2).await?;
        let list = ListPostsParams { since: Some(suite.now()), ..ListPostsParams::default() };
        let page = alice.list_posts(&thread, &list).await.expect_ok()?.value;
        check_eq!((page.items, page.next), (vec![], None))?;
        let absent = ThreadId::from(987_654_321);
        alice.list_posts(&absent, &list).await.expect_path_not_found()
    }

    /// `since` selects posts later than that moment, and not at it.
    async fn since_selects_later_posts(suite: &Suite) -> TestResult {
        suite.require(Capability::SuiteClock)?;
        let (alice, thread, _) = write_posts(suite, 4).await?;
        let posts = alice.fetch_posts(&thread).await?;
        for (index, post) in posts.iter().enumerate() {
            let list = ListPostsParams { since: Some(post.created_at), ..ListPostsParams::default() };
            lists(&alice, &thread, &list, posts.iter().skip(index + 1)).await?;
        }
        Ok(())
    }

    /// A page can begin at a post, which is its first item.
    async fn from_selects_the_first_post(suite: &Suite) -> TestResult {
        let (alice, thread, _) = write_posts(suite, 4).await?;
        let posts = alice.fetch_posts(&thread).await?;
        for (index, post) in posts.iter().enumerate() {
            let list = ListPostsParams { from: Some(post.post_id.clone()), ..ListPostsParams::default() };
            lists(&alice, &thread, &list, posts.iter().skip(index)).await?;
        }
        Ok(())
    }

    /// With `from` and `since`, a page begins at the later of the two.
    async fn from_and_since_can_be_combined(suite: &Suite) -> TestResult {
        suite.require(Capability::SuiteClock)?;
        let (alice, thread, _) = write_posts(suite, 5).await?;
        let posts = alice.fetch_posts(&thread).await?;
        for (from, post) in posts.iter().enumerate() {
            for (since, other) in posts.iter().enumerate() {
                let list = ListPostsParams {
                    from: Some(post.post_id.clone()),
                    since: Some(other.created_at),
                    ..ListPostsParams::default()
                };
                let expected = posts.iter().skip(from.max(since + 1));
                lists(&alice, &thread, &list, expected).await?;
            }
        }
        Ok(())
    }

    /// `from` has to name a post of the thread.
    async fn from_rejects_a_post_of_another_thread(suite: &Suite) -> TestResult {
        let (alice, thread, _) = write_posts(suite, 2).await?;
        let forum = alice.fetch_thread(&thread).await?.forum_id;
        let other = suite.thread(&alice, &forum).await?.post_id;
        for from in [Some(other), PostId::parse("no-such_post"), Some(PostId::from(987_654_321))] {
            let list = ListPostsParams { from, ..ListPostsParams::default() };
            alice.list_posts(&thread, &list).await.expect_invalid_parameter("from")?;
        }
        Ok(())
    }

    /// A page key that no list returned is not a failure.
    async fn a_forged_page_key_is_not_a_failure(suite: &Suite) -> TestResult {
        let (alice, thread, _) = write_posts(suite, 1).await?;
        check_forged_page_keys(&alice, &thread).await
    }

    /// A page has the requested forms of the bodies, and null for the other.
    async fn a_page_has_the_requested_body_formats(suite: &Suite) -> TestResult {
        let (alice, thread, _) = write_posts(suite, 2).await?;
        let has_source = suite.require(Capability::SourceMarkup).is_ok();
        for (body, source, html) in [
            (BodyFormat::Both, has_source, true),
            (BodyFormat::Source, has_source, false),
            (BodyFormat::Html, false, true),
        ] {
            let list = ListPostsParams { body, ..ListPostsParams::default() };
            for post in alice.list_posts(&thread, &list).await.expect_ok()?.value.items {
                let found = (post.body.is_some(), post.body_html.is_some());
                check_eq!(found, (source, html), "whether {body:?} has source and HTML")?;
            }
        }
        Ok(())
    }
}

/// A member, and a thread of theirs with its posts.
pub(crate) async fn write_posts(
    suite: &Suite,
    count: usize,
) -> TestResult<(TestCaller, ThreadId, Vec<PostId>)> {
    let (forum, alice) = suite.forum_and_member().await?;
    let PostPath {
        thread_id: thread,
        post_id: post,
    } = suite.thread(&alice, &forum).await?;
    let mut ids = vec![post];
    while ids.len() < count {
        ids.push(suite.post(&alice, &thread).await?.post_id);
    }
    Ok((alice, thread, ids))
}

/// The page of `list` has these posts.
async fn lists(
    reader: &TestCaller,
    thread: &ThreadId,
    list: &ListPostsParams,
    expected: impl Iterator<Item = &Post>,
) -> TestResult {
    let expected: Vec<_> = expected.map(|post| post.post_id.clone()).collect();
    let page = reader.list_posts(thread, list).await.expect_ok()?.value;
    check_eq!(post_ids(&page.items), expected, "the page of {list:?}")
}

pub(crate) fn numbers_rise(posts: &[Post]) -> TestResult {
    let numbers: Vec<_> = posts.iter().map(|post| post.number).collect();
    check!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?} rise")
}
