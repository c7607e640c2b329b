//! The order of the hits.

use forum_api::runtime::BoxFuture;
use forum_api::host::{Refusal, Result};
use forum_api::model::{Limit, Page, Search, SearchHit, Show, Sort};

use super::Fault;
use super::plant::Plant;
use super::sound::Sound;
use super::threads::page;
use super::twist::{Question, Twist};

pub const FAULTS: &[Fault] = &[
    (
        "pages_of_any_size_meet",
        "the oldest do not come first",
        Plant::Search(Twist::Ask(|question| {
            let sort = &mut question.it.0.sort;
            if let Sort::Oldest = sort {
                *sort = Sort::Newest;
            }
        })),
    ),
    (
        "the_best_come_first",
        "the best come last",
        Plant::Search(Twist::Granted(|page, question| {
            if let Sort::Relevance = question.it.0.sort {
                page.items.reverse();
            }
        })),
    ),
    (
        "a_walk_meets_each_hit_once_while_others_write",
        "pages are counted from the top of the list",
        Plant::Search(Twist::Instead(counted)),
    ),
    (
        "a_thread_comes_by_its_newest_or_oldest_match",
        "threads come by their ids",
        Plant::Search(Twist::Granted(|page, question| {
            let search = &question.it.0;
            if search.show == Show::Threads && search.sort != Sort::Relevance {
                page.items.sort_by(|one, other| one.thread_id.cmp(&other.thread_id));
            }
        })),
    ),
    (
        "a_thread_comes_by_its_newest_or_oldest_match",
        "a thread's hit is its first post",
        Plant::Search(Twist::Instead(|sound, question| {
            Box::pin(async {
                let (search,) = question.it.clone();
                let is_by_time = search.sort != Sort::Relevance;
                let shows_threads = search.show == Show::Threads;
                let mut page = sound.board.search(&question.by, search).await?;
                for hit in page.items.iter_mut().filter(|_| shows_threads && is_by_time) {
                    hit.post_id = sound.thread(&hit.thread_id).await?.first_post_id;
                }
                Ok(page)
            })
        })),
    ),
    (
        "a_thread_comes_by_its_best_match",
        "all threads have the same score",
        Plant::Search(Twist::Granted(|page, question| {
            if question.it.0.show == Show::Threads {
                page.items.iter_mut().for_each(|hit| hit.score = 1.0);
            }
        })),
    ),
    (
        "a_thread_comes_by_its_best_match",
        "the best threads come last",
        Plant::Search(Twist::Granted(|page, question| {
            let search = &question.it.0;
            if search.show == Show::Threads && search.sort == Sort::Relevance {
                page.items.reverse();
            }
        })),
    ),
    (
        "a_walk_meets_each_thread_once",
        "posts are shown from the second page on",
        Plant::Search(Twist::Ask(|question| {
            let search = &mut question.it.0;
            if search.after.is_some() {
                search.show = Show::Posts;
            }
        })),
    ),
    (
        "a_walk_meets_each_thread_once_while_others_write",
        "pages of threads are counted from the top of the list",
        Plant::Search(Twist::Instead(counted)),
    ),
    (
        "a_forged_place_is_no_failure",
        "a place that no list gave is a failure",
        Plant::Search(Twist::Refused(|refusal| {
            *refusal = Refusal::failed("no place");
        })),
    ),
];

/// The page that begins so many hits below the top.
fn counted<'a>(
    sound: &'a Sound,
    question: &'a Question<(Search,)>,
) -> BoxFuture<'a, Result<Page<SearchHit>>> {
    Box::pin(async {
        let (search,) = &question.it;
        let mut whole = search.clone();
        (whole.limit, whole.after) = (Limit::new(100).unwrap(), None);
        let all = sound.board.search(&question.by, whole).await?.items;
        Ok(page(all, search.after.as_ref(), search.limit))
    })
}
