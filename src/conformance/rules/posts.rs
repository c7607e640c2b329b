//! Lists of posts.

use std::time::Duration;

use super::*;

board_rules! {
    mod posts, __rules_posts;

    /// Posts are listed oldest first, starting with the thread's first post.
    async fn the_oldest_post_comes_first(suite: &Suite) -> TestResult {
        let (alice, thread, ids) = write_posts(suite, 4).await?;
        let page = alice.list_posts(&thread, &List::<PostFilter>::default()).await.expect_ok()?.value;
        check_eq!((post_ids(&page.items), page.next), (ids.clone(), None))?;
        check_eq!(Some(&alice.fetch_thread(&thread).await?.first_post_id), ids.first())
    }

    /// Post numbers start at 1 and increase.
    async fn post_numbers_increase_from_one(suite: &Suite) -> TestResult {
        suite.require(Capability::StablePostNumbers)?;
        let (alice, thread, _) = write_posts(suite, 4).await?;
        let posts = alice.fetch_posts(&thread).await?;
        check_eq!(posts.first().map(|post| post.number), Some(1))?;
        check_numbers_increase(&posts)
    }

    /// Pages of any size have neither gaps nor overlaps. `next` is null exactly on the last page.
    async fn pages_have_no_gap_or_overlap(suite: &Suite) -> TestResult {
        let (alice, thread, ids) = write_posts(suite, 6).await?;
        let limits = [1, 2, 3, 5, 6, 7, 100];
        check_pages(&alice, &thread, &limits, &ids, |post| post.post_id.clone()).await
    }

    /// Pages contain each post that existed from the start once and in order, while other posts are written.
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

    /// Posts with equal times are listed once each.
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

    /// A page without posts of an existing thread is not an error.
    async fn an_empty_page_is_not_an_error(suite: &Suite) -> TestResult {
        suite.require(Capability::InjectedClock)?;
        let (alice, thread, _) = write_posts(suite, 2).await?;
        let later = suite.now().saturating_add(Duration::from_secs(60));
        let params = List::new(PostFilter { since: Some(later), ..PostFilter::default() });
        let page = alice.list_posts(&thread, &params).await.expect_ok()?.value;
        check_eq!((page.items, page.next), (vec![], None))?;
        let absent = ThreadId::from(987_654_321);
        alice.list_posts(&absent, &params).await.expect_path_not_found()
    }

    /// `since` selects posts at that time and later.
    async fn since_selects_posts_from_that_time_on(suite: &Suite) -> TestResult {
        suite.require(Capability::InjectedClock)?;
        let (alice, thread, _) = write_posts(suite, 4).await?;
        let posts = alice.fetch_posts(&thread).await?;
        check_eq!(posts.len(), 4)?;
        for (index, post) in posts.iter().enumerate() {
            for (millis, first) in [(0, index), (1, index + 1)] {
                let since = post.created_at.saturating_add(Duration::from_millis(millis));
                let params = List::new(PostFilter { since: Some(since), ..PostFilter::default() });
                expect_page(&alice, &thread, &params, posts.iter().skip(first)).await?;
            }
        }
        Ok(())
    }

    /// `since` with the time of a post selects all posts that are written later, also without a change of the clock.
    async fn since_selects_later_posts_of_one_instant(suite: &Suite) -> TestResult {
        suite.require(Capability::InjectedClock)?;
        let (alice, thread, _) = write_posts(suite, 1).await?;
        let mut written = Vec::new();
        for author in suite.members(["ann", "ben", "cem"]).await? {
            written.push(suite.fixture.write_reply(&author.id(), &thread, new_post("Now")).await?);
        }
        let posts = alice.fetch_posts(&thread).await?;
        let first = posts.iter().find(|post| written.first() == Some(&post.post_id));
        let since = first.map(|post| post.created_at);
        let params = List::new(PostFilter { since, ..PostFilter::default() });
        let page = alice.list_posts(&thread, &params).await.expect_ok()?.value;
        contains_each_once(&post_ids(&page.items), &written)
    }

    /// `from` selects the first post of the page.
    async fn from_selects_the_first_post(suite: &Suite) -> TestResult {
        let (alice, thread, _) = write_posts(suite, 4).await?;
        let posts = alice.fetch_posts(&thread).await?;
        check_eq!(posts.len(), 4)?;
        for (index, post) in posts.iter().enumerate() {
            let params = List::new(PostFilter { from: Some(post.post_id.clone()), ..PostFilter::default() });
            expect_page(&alice, &thread, &params, posts.iter().skip(index)).await?;
        }
        Ok(())
    }

    /// If `from` and `since` are both set, the page begins at the later of the two.
    async fn from_and_since_can_be_combined(suite: &Suite) -> TestResult {
        suite.require(Capability::InjectedClock)?;
        let (alice, thread, _) = write_posts(suite, 5).await?;
        let posts = alice.fetch_posts(&thread).await?;
        check_eq!(posts.len(), 5)?;
        for (first, post) in posts.iter().enumerate() {
            for (earliest, other) in posts.iter().enumerate() {
                let (from, since) = (Some(post.post_id.clone()), Some(other.created_at));
                let params = List::new(PostFilter { from, since, ..PostFilter::default() });
                let expected = posts.iter().skip(first.max(earliest));
                expect_page(&alice, &thread, &params, expected).await?;
            }
        }
        Ok(())
    }

    /// If `from` is not a post of the thread, the board returns `InvalidParameter` of `from`.
    async fn from_rejects_a_post_of_another_thread(suite: &Suite) -> TestResult {
        let (alice, thread, _) = write_posts(suite, 2).await?;
        let forum = alice.fetch_thread(&thread).await?.forum_id;
        let other = suite.thread(&alice, &forum).await?.post_id;
        for from in [other, PostId::parse("no-such_post")?, PostId::from(987_654_321)] {
            for sort in [PostSort::Oldest, PostSort::Newest] {
                let filter = PostFilter { from: Some(from.clone()), sort, ..PostFilter::default() };
                alice.list_posts(&thread, &List::new(filter)).await.expect_invalid_parameter("from")?;
            }
        }
        Ok(())
    }

    /// With `sort` `Newest`, the list begins at the newest post and goes on to older ones. Pages of any size have neither
    /// gaps nor overlaps.
    async fn the_newest_post_comes_first_on_request(suite: &Suite) -> TestResult {
        let (alice, thread, mut ids) = write_posts(suite, 6).await?;
        ids.reverse();
        let limits = [1, 2, 3, 5, 6, 7, 100];
        check_pages(&alice, &NewestFirst(thread), &limits, &ids, |post| post.post_id.clone()).await
    }

    /// With `sort` `Newest`, pages contain each post that existed from the start once and in order, and no post that is
    /// written after the first page.
    async fn newer_posts_do_not_move_the_pages_of_older_ones(suite: &Suite) -> TestResult {
        let (alice, thread, mut ids) = write_posts(suite, 7).await?;
        ids.reverse();
        let list = NewestFirst(thread.clone());
        let mut pager = Pager::new(2);
        while pager.has_next() {
            pager.read(&alice, &list).await?;
            suite.post(&alice, &thread).await?;
        }
        check_eq!(post_ids(&pager.items), ids)
    }

    /// With `sort` `Newest`, `from` is the first post of the list, which goes on to older posts, and `since` ends it.
    async fn from_and_since_enclose_a_list_of_the_newest_posts(suite: &Suite) -> TestResult {
        suite.require(Capability::InjectedClock)?;
        let (alice, thread, _) = write_posts(suite, 5).await?;
        let posts = alice.fetch_posts(&thread).await?;
        check_eq!(posts.len(), 5)?;
        for (newest, post) in posts.iter().enumerate() {
            let from = Some(post.post_id.clone());
            let all = PostFilter { from: from.clone(), sort: PostSort::Newest, ..PostFilter::default() };
            expect_page(&alice, &thread, &List::new(all), posts.iter().take(newest + 1).rev()).await?;
            for (oldest, other) in posts.iter().enumerate() {
                for (millis, first) in [(0, oldest), (1, oldest + 1)] {
                    let since = Some(other.created_at.saturating_add(Duration::from_millis(millis)));
                    let selected = posts.iter().take(newest + 1).skip(first).rev();
                    let filter = PostFilter { from: from.clone(), since, sort: PostSort::Newest, ..PostFilter::default() };
                    expect_page(&alice, &thread, &List::new(filter), selected).await?;
                    let filter = PostFilter { since, sort: PostSort::Newest, ..PostFilter::default() };
                    expect_page(&alice, &thread, &List::new(filter), posts.iter().skip(first).rev()).await?;
                }
            }
        }
        Ok(())
    }

    /// Both orders have the same posts, on pages of any size, wherever posts are deleted or await approval: at the start of
    /// the thread's replies, at its end, and between them. A list that begins at a post goes on to the same posts.
    async fn both_orders_have_the_same_posts(suite: &Suite) -> TestResult {
        let (ThreadFixture { otto, alice, first, reply, .. }, mia) = ThreadFixture::with_moderator(suite).await?;
        let thread = first.thread_id.clone();
        let nora = match suite.require(Capability::Approval) {
            Ok(()) => suite.newcomer("nora").await?,
            Err(_) => otto.clone(),
        };
        let mut deleted = vec![reply];
        suite.post(&nora, &thread).await?;
        for writer in [&otto, &alice, &otto, &nora] {
            suite.post(writer, &thread).await?;
            deleted.push(suite.post(&alice, &thread).await?);
        }
        for post in &deleted {
            alice.delete_post(post).await.expect_ok()?;
        }
        let mut readers = vec![otto, alice, mia, nora, suite.member("lena").await?];
        readers.extend(suite.guest());
        for reader in readers {
            let oldest = reader.fetch_posts(&thread).await?;
            let ids: Vec<_> = post_ids(&oldest).into_iter().rev().collect();
            let list = NewestFirst(thread.clone());
            check_pages(&reader, &list, &[1, 2, 3, 100], &ids, |post| post.post_id.clone()).await?;
            for (index, post) in oldest.iter().enumerate() {
                let from = Some(post.post_id.clone());
                let filter = PostFilter { from, sort: PostSort::Newest, ..PostFilter::default() };
                expect_page(&reader, &thread, &List::new(filter), oldest.iter().take(index + 1).rev()).await?;
            }
        }
        Ok(())
    }

    /// A page key that no list returned gives a page or `InvalidParameter` of `after`, and causes no internal error.
    async fn a_forged_page_key_is_not_a_failure(suite: &Suite) -> TestResult {
        let (alice, thread, _) = write_posts(suite, 1).await?;
        check_forged_page_keys(&alice, &NewestFirst(thread.clone())).await?;
        check_forged_page_keys(&alice, &thread).await
    }

    /// A page has the requested body formats, and null for the other ones.
    async fn a_page_has_the_requested_body_formats(suite: &Suite) -> TestResult {
        let (alice, thread, _) = write_posts(suite, 2).await?;
        let may_lack_source = suite.require(Capability::SourceMarkup).is_err();
        let may_lack_html = suite.require(Capability::RenderedPosts).is_err();
        for (body, source, html) in [
            (BodyFormat::Both, true, true),
            (BodyFormat::Source, true, false),
            (BodyFormat::Html, false, true),
        ] {
            let params = List::new(PostFilter { body, ..PostFilter::default() });
            let posts = alice.list_posts(&thread, &params).await.expect_ok()?.value.items;
            check_eq!(posts.len(), 2)?;
            for post in posts {
                let source = source && (post.body.is_some() || !may_lack_source);
                let html = html && (post.body_html.is_some() || !may_lack_html);
                let actual = (post.body.is_some(), post.body_html.is_some());
                check_eq!(actual, (source, html), "whether {:?} in {body:?} has source and HTML", post.post_id)?;
            }
        }
        Ok(())
    }
}

paged! {
    ThreadId, Post: |self, reader, limit, after| {
        let params = List { limit, after, ..List::default() };
        reader.list_posts(self, &params).await.map(|page| page.value)
    };
    NewestFirst, Post: |self, reader, limit, after| {
        let filter = PostFilter { sort: PostSort::Newest, ..PostFilter::default() };
        let params = List { limit, after, ..List::new(filter) };
        reader.list_posts(&self.0, &params).await.map(|page| page.value)
    };
}

/// The posts of a thread, newest first.
struct NewestFirst(ThreadId);

/// Writes a thread with `count` posts by alice.
pub(crate) async fn write_posts(
    suite: &Suite,
    count: usize,
) -> TestResult<(TestCaller, ThreadId, Vec<PostId>)> {
    let (forum, alice) = suite.forum_and_member().await?;
    let first = suite.thread(&alice, &forum).await?;
    let mut ids = vec![first.post_id];
    while ids.len() < count {
        ids.push(suite.post(&alice, &first.thread_id).await?.post_id);
    }
    Ok((alice, first.thread_id, ids))
}

/// Checks the posts of a page.
async fn expect_page(
    reader: &TestCaller,
    thread: &ThreadId,
    params: &List<PostFilter>,
    expected: impl Iterator<Item = &Post>,
) -> TestResult {
    let expected: Vec<_> = expected.map(|post| post.post_id.clone()).collect();
    let page = reader.list_posts(thread, params).await.expect_ok()?;
    let ids = post_ids(&page.value.items);
    check_eq!(ids, expected, "the page of {params:?}")
}

pub(crate) fn check_numbers_increase(posts: &[Post]) -> TestResult {
    let numbers: Vec<_> = posts.iter().map(|post| post.number).collect();
    let is_sorted = numbers.is_sorted_by(|a, b| a < b);
    check!(is_sorted, "the post numbers {numbers:?} increase")
}
