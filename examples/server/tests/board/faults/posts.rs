//! Lists of posts.

use forum_api::host::Refusal;
use forum_api::model::{BodyFormat, Position};

use super::Fault;
use super::plant::Plant;
use super::twist::Twist;

pub const FAULTS: &[Fault] = &[
    (
        "the_oldest_comes_first",
        "a whole thread is listed from its newest post",
        Plant::Posts(Twist::Granted(|page, question| {
            if question.it.1.since.is_none() && page.it.items.len() == 4 {
                page.it.items.reverse();
            }
        })),
    ),
    (
        "numbers_go_up_from_one",
        "numbers count from 0",
        Plant::Posts(Twist::Granted(|page, _| {
            page.it.items.iter_mut().for_each(|post| post.number -= 1);
        })),
    ),
    (
        "pages_of_any_size_meet",
        "the last item of a page is lost",
        Plant::Posts(Twist::Granted(|page, _| {
            let left = page.it.items.len() - usize::from(page.it.next.is_some());
            page.it.items.truncate(left);
        })),
    ),
    (
        "a_walk_meets_each_post_once_while_others_write",
        "a walk ends with its second page",
        Plant::Posts(Twist::Granted(|page, question| {
            page.it.next.take_if(|_| question.it.1.after.is_some());
        })),
    ),
    (
        "posts_of_one_moment_are_walked_once",
        "posts of one moment share a place",
        Plant::Posts(Twist::Granted(|page, _| {
            if let (Some(last), Some(next)) = (page.it.items.last(), &mut page.it.next) {
                let time = last.created_at.as_millis();
                *next = Position::new(format_args!("{time}.{}", i64::MAX));
            }
        })),
    ),
    (
        "an_empty_page_is_no_absent_thread",
        "a thread without posts to show is absent",
        Plant::Posts(Twist::Answer(|page, _| {
            if matches!(page, Ok(found) if found.it.items.is_empty()) {
                *page = Err(Refusal::Absent);
            }
        })),
    ),
    (
        "since_takes_what_was_posted_later",
        "`since` is ignored",
        Plant::Posts(Twist::Ask(|question| question.it.1.since = None)),
    ),
    (
        "a_page_begins_at_the_post_that_is_named",
        "`from` is ignored",
        Plant::Posts(Twist::Ask(|question| question.it.1.from = None)),
    ),
    (
        "from_and_since_both_hold",
        "`from` takes the place of `since`",
        Plant::Posts(Twist::Ask(|question| {
            let list = &mut question.it.1;
            list.since.take_if(|_| list.from.is_some());
        })),
    ),
    (
        "a_page_begins_at_no_post_of_another_thread",
        "`from` of another thread is ignored",
        Plant::Posts(Twist::Instead(|sound, question| {
            Box::pin(async {
                let (thread, mut list) = question.it.clone();
                let own = sound.posts(&thread).await?;
                list.from.take_if(|from| own.iter().all(|post| post.post_id != *from));
                sound.board.posts(&question.by, thread, list).await
            })
        })),
    ),
    (
        "a_page_begins_at_no_post_of_another_thread",
        "`from` of another thread is absent",
        Plant::Posts(Twist::Refused(|refusal| *refusal = Refusal::Absent)),
    ),
    (
        "a_forged_place_is_no_failure",
        "a place that no list gave is a failure",
        Plant::Posts(Twist::Refused(|refusal| {
            if let Refusal::Unusable("after", _) = refusal {
                *refusal = Refusal::failed("no place");
            }
        })),
    ),
    (
        "a_page_carries_the_forms_that_are_asked_for",
        "both forms of a body always come",
        Plant::Posts(Twist::Ask(|question| {
            question.it.1.body = BodyFormat::Both;
        })),
    ),
];
