//! Lists of threads.

use std::time::Duration;

use super::*;

board_rules! {
    mod threads, __rules_threads;

    /// Threads are listed by newest activity. A reply moves its thread to the top; reading does not.
    async fn the_newest_activity_comes_first(suite: &Suite) -> TestResult {
        let (forum, alice) = suite.forum_and_member().await?;
        let newest @ [.., oldest] = &write_threads::<3>(suite, &alice, &forum).await?;
        check_eq!(alice.thread_ids(&forum).await?, newest)?;
        alice.fetch_thread(oldest).await?;
        check_eq!(alice.thread_ids(&forum).await?, newest, "after one was read")?;
        suite.post(&alice, oldest).await?;
        check_eq!(alice.thread_ids(&forum).await?.first(), Some(oldest))
    }

    /// A thread that has no post yet is not found, and is not listed.
    async fn a_thread_without_a_post_is_not_found(suite: &Suite) -> TestResult {
        let (forum, alice) = suite.forum_and_member().await?;
        let other = suite.thread(&alice, &forum).await?.thread_id;
        let added = suite.fixture.add_thread_without_post(&forum).await?;
        let thread = added.ok_or(TestFailure::Unsupported(Capability::ThreadsWithoutPost))?;
        alice.get_thread(&thread).await.expect_path_not_found()?;
        alice.first_page(&thread).await.expect_path_not_found()?;
        alice.reply(&thread, "Some words").await.expect_path_not_found()?;
        check_eq!(alice.thread_ids(&forum).await?, [other])
    }

    /// Pages of any size have neither gaps nor overlaps. `next` is null exactly on the last page.
    async fn pages_have_no_gap_or_overlap(suite: &Suite) -> TestResult {
        let (forum, alice) = suite.forum_and_member().await?;
        let newest = write_threads::<6>(suite, &alice, &forum).await?;
        let limits = [1, 2, 3, 5, 6, 7, 100];
        check_pages(&alice, &forum, &limits, &newest, |it| it.thread_id.clone()).await
    }

    /// Threads with equal times are listed once each.
    async fn threads_with_equal_times_are_listed_once(suite: &Suite) -> TestResult {
        suite.require(Capability::Threads)?;
        let forum = suite.forum(Audience::Guests).await?;
        let reader = suite.member("reader").await?;
        let mut written = Vec::new();
        suite.advance(Duration::from_secs(60));
        for author in suite.members(["ann", "ben", "cem", "dan", "eve"]).await? {
            let new = new_thread(author.name(), author.name());
            written.push(suite.fixture.write_thread(&author.id(), &forum, new).await?.0);
        }
        let ids = read_all(&reader, &forum, 2).await?.ids(|it| it.thread_id.clone());
        check_eq!(ids.len(), written.len())?;
        contains_each_once(&ids, &written)
    }

    /// Pages contain each thread that existed from the start and has no new activity once, while other threads and
    /// posts are written.
    async fn pagination_finds_each_thread_once_during_writes(suite: &Suite) -> TestResult {
        let (forum, alice) = suite.forum_and_member().await?;
        let [busy, quiet @ ..] = write_threads::<9>(suite, &alice, &forum).await?;
        let mut pager = Pager::new(2);
        while pager.has_next() {
            pager.read(&alice, &forum).await?;
            suite.thread(&alice, &forum).await?;
            suite.post(&alice, &busy).await?;
        }
        contains_each_once(&pager.ids(|it| it.thread_id.clone()), &quiet)
    }

    /// `since` selects activity at that time and later.
    async fn since_selects_activity_from_that_time_on(suite: &Suite) -> TestResult {
        suite.require(Capability::InjectedClock)?;
        let (forum, alice) = suite.forum_and_member().await?;
        let newest = write_threads::<4>(suite, &alice, &forum).await?;
        let threads = alice.fetch_threads(&forum).await?;
        check_eq!(threads.len(), newest.len())?;
        for (index, thread) in threads.iter().enumerate() {
            for (millis, count) in [(0, index + 1), (1, index)] {
                let since = Some(thread.last_activity_at.saturating_add(Duration::from_millis(millis)));
                let params = List::new(ThreadFilter { since, ..ThreadFilter::default() });
                let later = alice.list_threads(&forum, &params).await.expect_ok()?;
                let expected: Vec<_> = newest.iter().take(count).cloned().collect();
                check_eq!((thread_ids(later.items), later.next), (expected, None))?;
            }
        }
        Ok(())
    }

    /// `since` with the time of a thread selects all threads with later activity, also without a change of the clock.
    async fn since_selects_later_activity_of_one_instant(suite: &Suite) -> TestResult {
        suite.require(Capability::Threads)?;
        suite.require(Capability::InjectedClock)?;
        let forum = suite.forum(Audience::Guests).await?;
        let reader = suite.member("reader").await?;
        let mut written = Vec::new();
        for author in suite.members(["ann", "ben", "cem"]).await? {
            let new = new_thread(author.name(), author.name());
            written.push(suite.fixture.write_thread(&author.id(), &forum, new).await?.0);
        }
        let threads = reader.fetch_threads(&forum).await?;
        let first = threads.iter().find(|thread| written.first() == Some(&thread.thread_id));
        let since = first.map(|thread| thread.last_activity_at);
        let params = List::new(ThreadFilter { since, ..ThreadFilter::default() });
        let later = reader.list_threads(&forum, &params).await.expect_ok()?;
        contains_each_once(&thread_ids(later.items), &written)
    }

    /// A list contains only threads of its own forum.
    async fn a_list_has_only_threads_of_its_forum(suite: &Suite) -> TestResult {
        let [one, other] = suite.two_forums().await?;
        let alice = suite.member("alice").await?;
        let newest = write_threads::<2>(suite, &alice, &one).await?;
        write_threads::<2>(suite, &alice, &other).await?;
        check_eq!(alice.thread_ids(&one).await?, newest)
    }

    /// A page key that no list returned gives a page or `InvalidParameter` of `after`, and causes no internal error.
    async fn a_forged_page_key_is_not_a_failure(suite: &Suite) -> TestResult {
        let (forum, alice) = suite.forum_and_member().await?;
        suite.thread(&alice, &forum).await?;
        check_forged_page_keys(&alice, &forum).await
    }

    /// `pinned` is true for a pinned thread, which keeps its position in the list.
    async fn a_pinned_thread_keeps_its_position(suite: &Suite) -> TestResult {
        suite.require(Capability::Pinning)?;
        let (forum, alice) = suite.forum_and_member().await?;
        let newest @ [.., oldest] = &write_threads::<3>(suite, &alice, &forum).await?;
        suite.fixture.set_pinned(oldest, true).await?;
        check!(alice.fetch_thread(oldest).await?.pinned)?;
        check_eq!(alice.thread_ids(&forum).await?, newest)
    }
}

paged! {
    ForumId, Thread: |self, reader, limit, after| {
        let params = List { limit, after, ..List::default() };
        reader.list_threads(self, &params).await
    };
}

/// Writes threads and returns their ids, newest first.
async fn write_threads<const N: usize>(
    suite: &Suite,
    author: &TestCaller,
    forum: &ForumId,
) -> TestResult<[ThreadId; N]> {
    let mut newest = std::array::from_fn(|_| ThreadId::empty());
    for thread in newest.iter_mut().rev() {
        *thread = suite.thread(author, forum).await?.thread_id;
    }
    Ok(newest)
}
