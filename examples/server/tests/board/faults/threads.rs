//! Lists of threads.

use std::time::Duration;

use forum_api::host::{Refusal, Result};
use forum_api::model::{ForumId, Limit, ListThreads, Page, Position, Thread};

use super::Fault;
use super::plant::Plant;
use super::sound::Sound;
use super::twist::{Question, Twist};

pub const FAULTS: &[Fault] = &[
    (
        "newest_activity_comes_first",
        "a reply leaves its thread where it is",
        Plant::Threads(Twist::Granted(|page, _| {
            page.items.sort_by_key(|thread| thread.created_at);
            page.items.reverse();
        })),
    ),
    (
        "pages_of_any_size_meet",
        "a page that is full says that more follows",
        Plant::Threads(Twist::Granted(|page, question| {
            if page.items.len() == question.it.1.limit.get() {
                page.next = page.items.last().map(|last| {
                    let active = last.last_activity_at.as_millis();
                    Position::new(format_args!("{active}.{}", last.thread_id))
                });
            }
        })),
    ),
    (
        "pages_of_any_size_meet",
        "the last item of a page is lost",
        Plant::Threads(Twist::Granted(|page, _| {
            let left = page.items.len() - usize::from(page.next.is_some());
            page.items.truncate(left);
        })),
    ),
    (
        "pages_of_any_size_meet",
        "the limit is ignored",
        Plant::Threads(Twist::Ask(|question| {
            question.it.1.limit = Limit::new(100).unwrap();
        })),
    ),
    (
        "threads_of_one_moment_are_walked_once",
        "threads of one moment share a place",
        Plant::Threads(Twist::Granted(|page, _| {
            if let (Some(last), Some(next)) = (page.items.last(), &mut page.next) {
                *next = Position::new(format_args!("{}.0", last.last_activity_at.as_millis()));
            }
        })),
    ),
    (
        "a_walk_meets_each_thread_once_while_others_write",
        "pages are counted from the top of the list",
        Plant::Threads(Twist::Instead(|sound, question| {
            Box::pin(by_offset(sound, question))
        })),
    ),
    (
        "since_takes_what_was_active_later",
        "`since` counts the moment itself",
        Plant::Threads(Twist::Ask(|question| {
            let since = &mut question.it.1.since;
            *since = since.map(|since| since.minus(Duration::from_millis(1)));
        })),
    ),
    (
        "a_list_is_of_one_forum",
        "a list is of all forums",
        Plant::Threads(Twist::Instead(|sound, question| {
            Box::pin(async {
                let (forum, list) = question.it.clone();
                let mut page = sound.board.threads(&question.by, forum.clone(), list).await?;
                for other in sound.board.forums(&question.by).await? {
                    if other.forum_id != forum {
                        page.items.extend(sound.threads(&other.forum_id).await?);
                    }
                }
                Ok(page)
            })
        })),
    ),
    (
        "a_forged_place_is_no_failure",
        "a place that no list gave is a failure",
        Plant::Threads(Twist::Refused(|refusal| *refusal = Refusal::failed("no place"))),
    ),
    (
        "a_pinned_thread_is_not_lifted",
        "a pin is not kept",
        Plant::SetPinned(Twist::Made(|_| Ok(()))),
    ),
    (
        "a_pinned_thread_is_not_lifted",
        "pinned threads are lifted to the top",
        Plant::Threads(Twist::Granted(|page, _| {
            page.items.sort_by_key(|thread| !thread.pinned);
        })),
    ),
];

async fn by_offset(
    sound: &Sound,
    question: &Question<(ForumId, ListThreads)>,
) -> Result<Page<Thread>> {
    let (forum, list) = &question.it;
    let mut whole = ListThreads::default();
    whole.limit = Limit::new(100).unwrap();
    let all = sound.board.threads(&question.by, forum.clone(), whole).await?;
    Ok(page(all.items, list.after.as_ref(), list.limit))
}

/// The page of a whole list that begins after so many items.
pub fn page<T>(all: Vec<T>, after: Option<&Position>, limit: Limit) -> Page<T> {
    let start = after.and_then(|after| after.as_str().parse().ok()).unwrap_or(0);
    let end = start + limit.get();
    Page {
        next: (end < all.len()).then(|| Position::new(end)),
        items: all.into_iter().skip(start).take(limit.get()).collect(),
    }
}
