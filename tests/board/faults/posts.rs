//! Lists of posts.

use forum_api::host::Refusal;
use forum_api::model::{BodyFormat, Position};

use super::Fault;
use super::plant::Plant;

pub const FAULTS: &[Fault] = &[
    (
        "posts are listed from the newest",
        Plant::Posts(|page, _| page.iter_mut().for_each(|page| page.it.items.reverse())),
        "posts::the_oldest_comes_first",
    ),
    (
        "a thread without posts to show is absent",
        Plant::Posts(|page, _| {
            if matches!(page, Ok(found) if found.it.items.is_empty()) {
                *page = Err(Refusal::Absent);
            }
        }),
        "posts::an_empty_page_is_no_absent_thread",
    ),
    (
        "`since` is ignored",
        Plant::AskPosts(|list| list.since = None),
        "posts::since_takes_what_was_posted_later",
    ),
    (
        "`from` is ignored",
        Plant::AskPosts(|list| list.from = None),
        "posts::a_page_begins_at_the_post_that_is_named",
    ),
    (
        "`from` of another thread is ignored",
        Plant::AskPosts(|list| list.from = None),
        "posts::a_page_begins_at_no_post_of_another_thread",
    ),
    (
        "both forms of a body always come",
        Plant::AskPosts(|list| list.body = BodyFormat::Both),
        "posts::a_page_carries_the_forms_that_are_asked_for",
    ),
    (
        "numbers count from 0",
        Plant::Posts(|page, _| {
            page.iter_mut()
                .flat_map(|page| &mut page.it.items)
                .for_each(|post| post.number -= 1);
        }),
        "posts::numbers_go_up_from_one",
    ),
    (
        "a walk ends with its second page",
        Plant::Posts(|page, list| {
            if let (Ok(page), Some(_)) = (page, &list.after) {
                page.it.next = None;
            }
        }),
        "posts::a_walk_meets_each_post_once_while_others_write",
    ),
    (
        "posts of one moment share a place",
        Plant::Posts(|page, _| {
            if let Ok(page) = page
                && let (Some(last), Some(next)) = (page.it.items.last(), &mut page.it.next)
            {
                let time = last.created_at.as_millis();
                *next = Position::new(format_args!("{time}.{}", i64::MAX));
            }
        }),
        "posts::posts_of_one_moment_are_walked_once",
    ),
    (
        "`from` takes the place of `since`",
        Plant::AskPosts(|list| list.since = list.since.filter(|_| list.from.is_none())),
        "posts::from_and_since_both_hold",
    ),
];
