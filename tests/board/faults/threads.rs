//! Lists of threads.

use std::time::Duration;

use forum_api::host::Refusal;
use forum_api::model::{ForumId, Limit, Page, Position};

use super::Fault;
use super::plant::Plant;

pub const FAULTS: &[Fault] = &[
    (
        "threads are listed from the oldest activity",
        Plant::Threads(|page, _| page.iter_mut().for_each(|page| page.items.reverse())),
        "threads::newest_activity_comes_first",
    ),
    (
        "pages are counted from the top of the list",
        Plant::Offsets,
        "threads::a_walk_meets_each_thread_once_while_others_write",
    ),
    (
        "a page that is full says that more follows",
        Plant::Threads(|page, list| {
            if let Ok(page) = page
                && page.items.len() == list.limit.get()
            {
                let last = page.items.last().unwrap();
                page.next = Some(Position::new(format_args!(
                    "{}.{}",
                    last.last_activity_at.as_millis(),
                    last.thread_id
                )));
            }
        }),
        "threads::pages_of_any_size_meet",
    ),
    (
        "the last item of a page is lost",
        Plant::Threads(|page, _| {
            if let Ok(page) = page
                && page.next.is_some()
            {
                page.items.pop();
            }
        }),
        "threads::pages_of_any_size_meet",
    ),
    (
        "threads of one moment share a place",
        Plant::Threads(|page, _| {
            if let Ok(Page {
                items,
                next: next @ Some(_),
            }) = page
            {
                *next = Some(Position::new(format_args!(
                    "{}.0",
                    items.last().unwrap().last_activity_at.as_millis()
                )));
            }
        }),
        "threads::threads_of_one_moment_are_walked_once",
    ),
    (
        "the limit is ignored",
        Plant::AskThreads(|list| list.limit = Limit::new(100).unwrap()),
        "threads::pages_of_any_size_meet",
    ),
    (
        "`since` counts the moment itself",
        Plant::AskThreads(|list| {
            list.since = list
                .since
                .map(|since| since.minus(Duration::from_millis(1)))
        }),
        "threads::since_takes_what_was_active_later",
    ),
    (
        "a place that no list gave is a failure",
        Plant::Threads(|page, list| {
            let forged = list
                .after
                .as_ref()
                .is_some_and(|after| after.numbers::<2>().is_err());
            if forged {
                *page = Err(Refusal::failed("no place"));
            }
        }),
        "threads::a_forged_place_is_no_failure",
    ),
    (
        "places are too long for a cursor",
        Plant::Threads(|page, _| {
            if let Ok(Page {
                next: Some(next), ..
            }) = page
            {
                *next = Position::new(format_args!("{:0200}", 1));
            }
        }),
        "service::cursors_lead_to_the_end",
    ),
    (
        "the list is another forum's",
        Plant::AskForum(|forum| *forum = ForumId::from(2)),
        "threads::a_list_is_of_one_forum",
    ),
    (
        "pinned threads are lifted to the top",
        Plant::Threads(|page, _| {
            if let Ok(page) = page {
                page.items.sort_by_key(|thread| !thread.pinned);
            }
        }),
        "threads::a_pinned_thread_is_not_lifted",
    ),
];
