//! The order of hits, and their pages.

use super::*;
use crate::model::SearchSort::{Newest, Oldest, Relevance};

const SORTS: [SearchSort; 3] = [Relevance, Newest, Oldest];

board_rules! {
    mod search_paging, __rules_search_paging;

    /// Pages of any size have neither gaps nor overlaps, sorted by newest or oldest. `next` is null exactly on the last
    /// page.
    async fn pages_have_no_gap_or_overlap(suite: &Suite) -> TestResult {
        let fixture = SearchFixture::new(suite).await?;
        let mut posts = fixture.posts(["tea"; 6]).await?.map(|path| path.post_id);
        for sort in [Oldest, Newest] {
            let of_author = SearchFilter::of_author(fixture.alice.id_ref());
            for search in [posts_by(sort)?, with(of_author, |search| search.sort = sort)] {
                check_pages(&fixture.alice, &search, &[1, 2, 3, 5, 6, 7], &posts, post_id).await?;
            }
            posts.reverse();
        }
        Ok(())
    }

    /// With `sort=relevance` scores never increase, and each post is found once.
    async fn the_best_matches_come_first(suite: &Suite) -> TestResult {
        let fixture = SearchFixture::new(suite).await?;
        let texts = ["tea", "tea tea tea", "a long text on tea", "tea cup", "tea"];
        let posts = fixture.posts(texts).await?.map(|path| path.post_id);
        for limit in [1, 2, 5] {
            let pager = read_all(&fixture.alice, &posts_by(Relevance)?, limit).await?;
            check_scores_descend(&pager)?;
            contains_each_once(&pager.ids(post_id), &posts)?;
            check_eq!(pager.pages, posts.len().div_ceil(limit.into()), "the number of pages of {limit}")?;
        }
        Ok(())
    }

    /// Pages of any sort order contain each post that existed from the start once, while other posts are written.
    async fn pagination_finds_each_hit_once_during_writes(suite: &Suite) -> TestResult {
        let fixture = SearchFixture::new(suite).await?;
        let texts = ["tea", "tea tea", "tea cup", "no more tea", "tea, tea"];
        let posts = fixture.posts(texts).await?;
        let [PostPath { thread_id, .. }, ..] = &posts;
        for sort in SORTS {
            let search = posts_by(sort)?;
            let mut pager = Pager::new(2);
            while pager.has_next() {
                pager.read(&fixture.alice, &search).await?;
                if pager.pages < texts.len() {
                    fixture.reply(thread_id, "tea tea tea").await?;
                }
            }
            contains_each_once(&pager.ids(post_id), &posts.clone().map(|path| path.post_id))?;
        }
        Ok(())
    }

    /// With `show=threads` a thread's hit is its newest match under `sort=newest` and its oldest match under
    /// `sort=oldest`. Threads are sorted by these matches; other posts do not affect the order.
    async fn threads_are_sorted_by_their_newest_or_oldest_match(suite: &Suite) -> TestResult {
        let fixture = SearchFixture::new(suite).await?;
        let [one_first] = fixture.posts(["no"]).await?;
        let [two_first] = &fixture.posts(["tea"]).await?;
        let [three_first] = &fixture.posts(["tea"]).await?;
        let one_last = &fixture.reply(&one_first.thread_id, "tea").await?;
        let two_last = &fixture.reply(&two_first.thread_id, "tea").await?;
        fixture.reply(&three_first.thread_id, "no").await?;
        for (sort, expected) in [
            (Newest, [two_last, one_last, three_first]),
            (Oldest, [two_first, three_first, one_last]),
        ] {
            let search = threads_by(sort)?;
            let expected = expected.map(|path| (path.thread_id.clone(), path.post_id.clone()));
            let id = |hit: &SearchHit| (hit.thread_id.clone(), hit.post_id.clone());
            check_pages(&fixture.alice, &search, &[1, 2, 3], &expected, id).await?;
        }
        Ok(())
    }

    /// With `show=threads` and `sort=relevance` a thread's hit is its best match, with its score. Threads are sorted by
    /// these scores.
    async fn threads_are_sorted_by_their_best_match(suite: &Suite) -> TestResult {
        let fixture = SearchFixture::new(suite).await?;
        fixture.posts(["a long text on tea", "tea"]).await?;
        fixture.posts(["tea tea tea", "no more tea"]).await?;
        fixture.posts(["tea and cake and cups"]).await?;
        fixture.posts(["tea, tea", "tea", "tea tea tea tea"]).await?;
        let posts = read_all(&fixture.alice, &posts_by(Relevance)?, 100).await?.items;
        for limit in [1, 3, 4] {
            let pager = read_all(&fixture.alice, &threads_by(Relevance)?, limit).await?;
            check_scores_descend(&pager)?;
            check_eq!(pager.items.len(), 4)?;
            for hit in &pager.items {
                let of_thread = posts.iter().filter(|post| post.thread_id == hit.thread_id);
                let best = of_thread.map(|post| post.score).reduce(f64::max);
                check_eq!(Some(hit.score), best, "the score of thread {}", hit.thread_id)?;
                let own = posts.iter().find(|post| post.post_id == hit.post_id);
                check_eq!(own.map(|post| post.score), best, "the score of post {}", hit.post_id)?;
            }
        }
        Ok(())
    }

    /// Pages of any sort order contain each thread once, however far apart its matches are.
    async fn pagination_finds_each_thread_once(suite: &Suite) -> TestResult {
        let fixture = SearchFixture::new(suite).await?;
        let mut threads = Vec::new();
        for _ in 0..3 {
            let [first, _] = fixture.posts(["tea", "tea"]).await?;
            threads.push(first.thread_id);
        }
        for thread in &threads {
            fixture.reply(thread, "tea").await?;
        }
        threads.sort();
        for sort in SORTS {
            for limit in [1, 2, 3] {
                let pager = read_all(&fixture.alice, &threads_by(sort)?, limit).await?;
                let mut actual = pager.ids(|hit| hit.thread_id.clone());
                actual.sort();
                check_eq!(actual, threads, "the threads in pages of {limit}, sorted by {sort:?}")?;
                check_eq!(pager.pages, threads.len().div_ceil(limit.into()), "the number of pages of {limit}")?;
            }
        }
        Ok(())
    }

    /// Pages of any sort order contain each thread that existed from the start once, while matches are written in
    /// threads on earlier and on later pages, and in new threads. Deleting a match that is not the hit of its thread
    /// keeps the thread in the list.
    async fn pagination_finds_each_thread_once_during_writes(suite: &Suite) -> TestResult {
        let fixture = SearchFixture::new(suite).await?;
        let mia = suite.moderator("mia", &fixture.forum).await?;
        for sort in SORTS {
            let search = threads_by(sort)?;
            let mut pager = Pager::new(1);
            let mut matches = Vec::new();
            for _ in 0..4 {
                matches.push(fixture.posts(["tea"; 5]).await?.to_vec());
            }
            let threads: Vec<_> =
                matches.iter().flat_map(|posts| posts.first()).map(|path| path.thread_id.clone()).collect();
            while pager.has_next() {
                pager.read(&fixture.alice, &search).await?;
                if pager.pages > matches.len() {
                    continue;
                }
                let hits = pager.ids(post_id);
                for (posts, thread) in matches.iter_mut().zip(&threads) {
                    fixture.reply(thread, "tea tea").await?;
                    // The newest post that is neither a hit nor the first of its thread.
                    let deletable = posts.iter().rposition(|path| !hits.contains(&path.post_id));
                    if let Some(place) = deletable.filter(|place| *place > 0) {
                        mia.delete_post(&posts.remove(place)).await.expect_ok()?;
                    }
                }
                fixture.posts(["tea"]).await?;
            }
            contains_each_once(&pager.ids(|hit| hit.thread_id.clone()), &threads)?;
        }
        Ok(())
    }

    /// A page key that no list returned gives a page or `InvalidParameter` of `after`, and causes no internal error.
    async fn a_forged_page_key_is_not_a_failure(suite: &Suite) -> TestResult {
        let fixture = SearchFixture::new(suite).await?;
        fixture.posts(["tea", "tea"]).await?;
        for sort in SORTS {
            check_forged_page_keys(&fixture.alice, &posts_by(sort)?).await?;
        }
        Ok(())
    }
}

paged! {
    SearchFilter, SearchHit: |self, reader, limit, after| {
        let params = List { limit, after, ..List::new(self.clone()) };
        reader.search(&params).await
    };
}

fn posts_by(sort: SearchSort) -> TestResult<SearchFilter> {
    Ok(with(newest("tea")?, |search| search.sort = sort))
}

fn threads_by(sort: SearchSort) -> TestResult<SearchFilter> {
    let show_threads = |search: &mut SearchFilter| search.show = SearchShow::Threads;
    Ok(with(posts_by(sort)?, show_threads))
}

fn post_id(hit: &SearchHit) -> PostId {
    hit.post_id.clone()
}

fn check_scores_descend(pager: &Pager<SearchHit>) -> TestResult {
    let scores = pager.ids(|hit| hit.score);
    let is_sorted = scores.is_sorted_by(|better, worse| better >= worse);
    check!(is_sorted, "the scores {scores:?} do not increase")
}
