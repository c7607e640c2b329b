//! Search: the order of the hits, page by page.

use super::pager::{Walk, forged, once};
use super::search_fixture::{Library, newest, reply};
use super::{Someone, Suite, Verdict, equal, holds};
use crate::model::{PostAt, PostId, Search, SearchHit, Show, Sort, ThreadId};

const SORTS: [Sort; 3] = [Sort::Relevance, Sort::Newest, Sort::Oldest];

board_rules!(
    mod search_paging;

    /// Pages of any size meet without gap or overlap, newest or oldest first, and `next` is null exactly when nothing
    /// follows.
    async fn pages_of_any_size_meet(suite: &Suite) -> Verdict {
        let library = Library::open(suite).await?;
        let (_, mut posts) = library.posts(["tea"; 6]).await?;
        for sort in [Sort::Oldest, Sort::Newest] {
            for limit in [1, 2, 3, 5, 6, 7] {
                let walk = walked(&library.alice, &by(sort)?, limit).await?;
                let found = ids(&walk, |hit| hit.post_id.clone());
                equal(
                    format_args!("a walk by {limit}, {sort:?}"),
                    found,
                    posts.clone(),
                )?;
                let pages = posts.len().div_ceil(limit.into());
                equal(format_args!("the pages of {limit}"), walk.pages(), pages)?;
            }
            posts.reverse();
        }
        Ok(())
    }

    /// The best come first, and each comes once.
    async fn the_best_come_first(suite: &Suite) -> Verdict {
        let library = Library::open(suite).await?;
        let texts = ["tea", "tea tea tea", "a long text on tea", "tea cup", "tea"];
        let (_, posts) = library.posts(texts).await?;
        for limit in [1, 2, 5] {
            let walk = walked(&library.alice, &by(Sort::Relevance)?, limit).await?;
            let scores = ids(&walk, |hit| hit.score);
            let fall = scores.is_sorted_by(|better, worse| better >= worse);
            holds(format_args!("the scores {scores:?} do not rise"), fall)?;
            all_once(&walk, &posts)?;
            let pages = posts.len().div_ceil(limit.into());
            equal(format_args!("the pages of {limit}"), walk.pages(), pages)?;
        }
        Ok(())
    }

    /// A walk in any order meets what was there all along once, whatever is written meanwhile.
    async fn a_walk_meets_each_hit_once_while_others_write(suite: &Suite) -> Verdict {
        let library = Library::open(suite).await?;
        let texts = ["tea", "tea tea", "tea cup", "no more tea", "tea, tea"];
        let (thread, posts) = library.posts(texts).await?;
        for sort in SORTS {
            let (search, mut walk) = (by(sort)?, Walk::of(2));
            while walk.goes_on() {
                read(&library.alice, &search, &mut walk).await?;
                if walk.pages() < texts.len() {
                    reply(suite, &library.alice, &thread, "tea tea tea").await?;
                }
            }
            all_once(&walk, &posts)?;
        }
        Ok(())
    }

    /// With `show=threads`, a thread's hit is its newest match under `sort=newest` and its oldest one under `sort=oldest`,
    /// and the hits are in that order. Posts that do not match move no thread.
    async fn a_thread_comes_by_its_newest_or_oldest_match(suite: &Suite) -> Verdict {
        let library = Library::open(suite).await?;
        let (one, [_]) = &library.posts(["no"]).await?;
        let (two, [two_first]) = &library.posts(["tea"]).await?;
        let (three, [three_first]) = &library.posts(["tea"]).await?;
        let reply = |thread, text| reply(suite, &library.alice, thread, text);
        let one_last = &reply(one, "tea").await?;
        let two_last = &reply(two, "tea").await?;
        reply(three, "no").await?;
        for (sort, expected) in [
            (
                Sort::Newest,
                [(two, two_last), (one, one_last), (three, three_first)],
            ),
            (
                Sort::Oldest,
                [(two, two_first), (three, three_first), (one, one_last)],
            ),
        ] {
            for limit in [1, 2, 3] {
                let walk = walked(&library.alice, &threads_by(sort)?, limit).await?;
                let hits = walk.items.iter();
                let found: Vec<_> = hits.map(|hit| (&hit.thread_id, &hit.post_id)).collect();
                let what = format_args!("threads and their hits by {limit}, {sort:?}");
                equal(what, found, expected)?;
            }
        }
        Ok(())
    }

    /// With `show=threads` and `sort=relevance`, a thread's hit is its best match, with that match's score, and the best
    /// thread comes first.
    async fn a_thread_comes_by_its_best_match(suite: &Suite) -> Verdict {
        let library = Library::open(suite).await?;
        library.posts(["a long text on tea", "tea"]).await?;
        library.posts(["tea tea tea", "no more tea"]).await?;
        library.posts(["tea and cake and cups"]).await?;
        library
            .posts(["tea, tea", "tea", "tea tea tea tea"])
            .await?;
        let posts = walked(&library.alice, &by(Sort::Relevance)?, 100).await?;
        for limit in [1, 3, 4] {
            let walk = walked(&library.alice, &threads_by(Sort::Relevance)?, limit).await?;
            let scores = ids(&walk, |hit| hit.score);
            let fall = scores.is_sorted_by(|better, worse| better >= worse);
            holds(format_args!("the scores {scores:?} do not rise"), fall)?;
            for hit in &walk.items {
                let of_thread = posts.items.iter();
                let of_thread = of_thread.filter(|post| post.thread_id == hit.thread_id);
                let best = of_thread.map(|post| post.score).reduce(f64::max);
                let what = format_args!("the score of thread {}'s hit", hit.thread_id);
                equal(what, Some(hit.score), best)?;
                let own = posts.items.iter().find(|post| post.post_id == hit.post_id);
                let what = format_args!("the score of post {}, which is that hit", hit.post_id);
                equal(what, own.map(|post| post.score), best)?;
            }
        }
        Ok(())
    }

    /// A walk through threads meets each once, in any order, however far apart its matches are.
    async fn a_walk_meets_each_thread_once(suite: &Suite) -> Verdict {
        let library = Library::open(suite).await?;
        let mut threads = Vec::new();
        for _ in 0..3 {
            threads.push(library.posts(["tea", "tea"]).await?.0);
        }
        for thread in &threads {
            reply(suite, &library.alice, thread, "tea").await?;
        }
        for sort in SORTS {
            for limit in [1, 2, 3] {
                let walk = walked(&library.alice, &threads_by(sort)?, limit).await?;
                let what = format_args!("the threads by {limit}, {sort:?}");
                let mut found = ids(&walk, |hit| hit.thread_id.clone());
                found.sort();
                equal(what, found, threads.clone())?;
                let pages = threads.len().div_ceil(limit.into());
                equal(format_args!("the pages of {limit}"), walk.pages(), pages)?;
            }
        }
        Ok(())
    }

    /// A walk through threads in any order meets each that was there all along once, whatever is written meanwhile: matches
    /// in threads that it has met and in others, and new threads. Nor does a match take its thread along that is deleted
    /// before the walk comes to it, or is not the one by which the thread was met.
    async fn a_walk_meets_each_thread_once_while_others_write(suite: &Suite) -> Verdict {
        let library = Library::open(suite).await?;
        let mia = suite.moderator("mia", &library.forum).await?;
        for sort in SORTS {
            let (search, mut walk) = (threads_by(sort)?, Walk::of(1));
            let mut talks = Vec::new();
            for _ in 0..4 {
                let (thread, posts) = library.posts(["tea"; 5]).await?;
                talks.push((thread, Vec::from(posts)));
            }
            while walk.goes_on() {
                read(&library.alice, &search, &mut walk).await?;
                if walk.pages() <= talks.len() {
                    stir(&library, &mia, &mut talks, &walk).await?;
                    library.posts(["tea"]).await?;
                }
            }
            let threads: Vec<_> = talks.into_iter().map(|(thread, _)| thread).collect();
            once(&ids(&walk, |hit| hit.thread_id.clone()), &threads)?;
        }
        Ok(())
    }

    /// What a client made up for a cursor is no failure, and shows nothing that the caller does not see.
    async fn a_forged_place_is_no_failure(suite: &Suite) -> Verdict {
        let library = Library::open(suite).await?;
        library.posts(["tea", "tea"]).await?;
        for place in forged() {
            for sort in SORTS {
                let mut search = by(sort)?;
                search.after = Some(place.clone());
                library.alice.search(&search).await?.page_or_unusable()?;
            }
        }
        Ok(())
    }
);

/// In each of the threads a new match is written, and one of these posts deleted that is no hit and not the first.
async fn stir(
    library: &Library<'_>,
    moderator: &Someone,
    talks: &mut [(ThreadId, Vec<PostId>)],
    walk: &Walk<SearchHit>,
) -> Verdict {
    let hits = ids(walk, |hit| hit.post_id.clone());
    for (thread, posts) in talks {
        reply(library.suite, &library.alice, thread, "tea tea").await?;
        let spare = posts.iter().rposition(|post| !hits.contains(post));
        let spare = spare.filter(|place| *place > 0);
        if let Some(post) = spare.map(|place| posts.remove(place)) {
            let thread = thread.clone();
            let deleted = moderator.delete_post(&PostAt { thread, post }).await?;
            deleted.granted()?;
        }
    }
    Ok(())
}

fn by(sort: Sort) -> Verdict<Search> {
    let mut search = newest("tea")?;
    search.sort = sort;
    Ok(search)
}

fn threads_by(sort: Sort) -> Verdict<Search> {
    let mut search = by(sort)?;
    search.show = Show::Threads;
    Ok(search)
}

async fn walked(someone: &Someone, search: &Search, limit: u8) -> Verdict<Walk<SearchHit>> {
    let mut walk = Walk::of(limit);
    while walk.goes_on() {
        read(someone, search, &mut walk).await?;
    }
    Ok(walk)
}

/// Reads the next page.
async fn read(someone: &Someone, search: &Search, walk: &mut Walk<SearchHit>) -> Verdict {
    let mut search = search.clone();
    search.limit = walk.limit;
    search.after.clone_from(&walk.after);
    walk.take(someone.search(&search).await?.granted()?)
}

fn all_once(walk: &Walk<SearchHit>, posts: &[PostId]) -> Verdict {
    once(&ids(walk, |hit| hit.post_id.clone()), posts)
}

fn ids<I>(walk: &Walk<SearchHit>, id: impl Fn(&SearchHit) -> I) -> Vec<I> {
    walk.items.iter().map(id).collect()
}
