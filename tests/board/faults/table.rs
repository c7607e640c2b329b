//! The faults: what is wrong, where it sits, and the rule that has to catch it.

use forum_api::host::{Forums, Refusal, Standing};
use forum_api::model::*;

use super::plant::Plant;

/// A fault, its place, and the name of a rule.
type Fault = (&'static str, Plant, &'static str);

pub const FAULTS: &[Fault] = &[
    // Standings.
    (
        "a standing is asked once and remembered",
        Plant::Remembers,
        "standing::sight_that_is_taken_away_is_gone_at_once",
    ),
    (
        "the guest's standing is asked once and remembered",
        Plant::Remembers,
        "standing::a_guests_sight_is_asked_anew",
    ),
    (
        "a banned member keeps a standing, without any forum",
        Plant::Standing(|_, standing| {
            standing.get_or_insert(Standing::new(Forums::none()));
        }),
        "standing::a_banned_account_has_no_standing",
    ),
    (
        "nobody has a standing, too",
        Plant::Standing(|_, standing| {
            standing.get_or_insert(Standing::new(Forums::none()));
        }),
        "standing::nobody_has_no_standing",
    ),
    (
        "an offline board locks nobody out",
        Plant::Standing(|_, standing| {
            *standing = standing.take().map(|standing| standing.locked_out(false));
        }),
        "standing::offline_is_for_administrators",
    ),
    (
        "an offline board locks administrators out",
        Plant::Standing(|_, standing| {
            *standing = standing.take().map(|standing| standing.locked_out(true));
        }),
        "service::an_offline_board_answers_administrators_alone",
    ),
    (
        "the guest's standing covers no forum",
        Plant::Standing(|user, standing| {
            if user.is_none() {
                *standing = Some(Standing::new(Forums::none()));
            }
        }),
        "visibility::what_guests_see_every_member_sees",
    ),
    // What is seen.
    (
        "hidden forums are listed",
        Plant::SeesAll("forums"),
        "visibility::each_audience_sees_its_forums_and_no_other",
    ),
    (
        "the forums that only guests see are hidden from members",
        Plant::Forums(|forums, _| forums.clear()),
        "visibility::what_guests_see_every_member_sees",
    ),
    (
        "a hidden thread is shown",
        Plant::SeesAll("thread"),
        "visibility::a_hidden_thread_is_absent",
    ),
    (
        "a hidden thread is shown to guests",
        Plant::SeesAll("thread"),
        "visibility::a_hidden_thread_is_absent_for_the_guest",
    ),
    (
        "the posts of a hidden thread are shown",
        Plant::SeesAll("posts"),
        "visibility::a_hidden_thread_is_absent",
    ),
    (
        "a waiting reply is shown to all",
        Plant::SeesAll("posts"),
        "visibility::a_waiting_reply_is_for_its_author_and_moderators",
    ),
    (
        "a waiting thread is listed to all",
        Plant::SeesAll("threads"),
        "visibility::a_waiting_thread_is_for_its_author_and_moderators",
    ),
    (
        "a waiting reply is hidden from its author",
        Plant::Posts(|page, _| {
            if let Ok(page) = page {
                page.it.items.retain(|post| post.state == State::Visible);
            }
        }),
        "visibility::a_waiting_reply_is_for_its_author_and_moderators",
    ),
    (
        "what is hidden is forbidden, and so is known to be there",
        Plant::Thread(|thread| {
            if let Err(refusal) = thread {
                *refusal = Refusal::Forbidden("Not for you.".into());
            }
        }),
        "visibility::a_hidden_thread_is_absent",
    ),
    (
        "an id that is no number is a failure",
        Plant::Thread(|thread| {
            if let Err(refusal) = thread {
                *refusal = Refusal::failed("no number");
            }
        }),
        "visibility::what_no_id_names_is_absent",
    ),
    (
        "a write asks nobody where it is",
        Plant::ForumOf(|forum| *forum = Err(Refusal::Absent)),
        "replies::a_reply_is_the_last_of_its_thread_at_once",
    ),
    // Writes.
    (
        "a lock is ignored",
        Plant::Forces(|refusal| matches!(refusal, Refusal::Forbidden(_))),
        "permission::a_locked_thread_takes_replies_of_moderators_alone",
    ),
    (
        "whoever sees a forum starts threads there",
        Plant::Forces(|refusal| matches!(refusal, Refusal::Forbidden(_))),
        "permission::who_may_start_a_thread_is_told",
    ),
    (
        "a write decides on the standing with which its request began",
        Plant::Forces(|refusal| matches!(refusal, Refusal::Absent)),
        "standing::a_write_under_way_loses_what_is_hidden_meanwhile",
    ),
    (
        "a write of one who was banned meanwhile is carried out",
        Plant::Forces(|refusal| matches!(refusal, Refusal::Forbidden(_))),
        "standing::a_write_under_way_ends_with_a_ban",
    ),
    (
        "an empty body becomes a dash",
        Plant::AskReply(|reply| {
            if reply.body.trim().is_empty() {
                reply.body = "-".into();
            }
        }),
        "replies::an_empty_body_is_invalid",
    ),
    (
        "an empty title becomes the body",
        Plant::AskStart(|new| {
            if new.title.trim().is_empty() {
                new.title = new.body.clone();
            }
        }),
        "starting::an_empty_title_or_body_is_invalid",
    ),
    (
        "what is invalid does not say which field",
        Plant::Start(|thread| {
            if let Err(Refusal::Invalid(text)) = thread {
                *text = "Something is missing.".into();
            }
        }),
        "starting::an_empty_title_or_body_is_invalid",
    ),
    (
        "an empty body is a conflict",
        Plant::Reply(|post| {
            if let Err(refusal @ Refusal::Invalid(_)) = post {
                *refusal = Refusal::Conflict("body: it is empty".into());
            }
        }),
        "replies::an_empty_body_is_invalid",
    ),
    (
        "a body is trimmed, and read again otherwise",
        Plant::AskReply(|reply| reply.body = reply.body.replace("\n\n", "\n")),
        "replies::a_body_is_kept_as_it_was_typed",
    ),
    (
        "HTML is what was typed",
        Plant::Reply(|post| {
            if let Ok(post) = post {
                post.it.body_html = post.it.body.clone();
            }
        }),
        "replies::what_people_type_does_not_run",
    ),
    // Lists of threads.
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
                .map(|since| since.minus(std::time::Duration::from_millis(1)))
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
    // Lists of posts.
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
    // What is told.
    (
        "a forum counts what awaits approval",
        Plant::Forums(|forums, written| {
            forums
                .iter_mut()
                .for_each(|forum| forum.post_count = written)
        }),
        "forums::what_awaits_approval_counts_nowhere",
    ),
    (
        "a forum counts what others hold",
        Plant::Forums(|forums, written| {
            forums
                .iter_mut()
                .for_each(|forum| forum.post_count = written)
        }),
        "forums::what_is_posted_counts_in_its_forum_alone",
    ),
    (
        "a profile counts posts in hidden forums",
        Plant::Profile(|profile, written| profile.post_count = written),
        "members::posts_count_where_every_member_may_read",
    ),
    (
        "children stand before their parents",
        Plant::Forums(|forums, _| forums.reverse()),
        "forums::parents_stand_before_children_by_position",
    ),
    (
        "a forum below a hidden one hangs from none",
        Plant::Forums(|forums, _| {
            let listed: Vec<_> = forums.iter().map(|forum| forum.forum_id.clone()).collect();
            for forum in forums.iter_mut().filter(|_| listed.len() < 4) {
                forum.parent_id = None;
            }
        }),
        "forums::a_parent_is_the_nearest_that_is_seen",
    ),
    (
        "everybody is told that they may start threads",
        Plant::Forums(|forums, _| {
            forums
                .iter_mut()
                .for_each(|forum| forum.can_start_thread = true)
        }),
        "permission::a_guest_is_told_that_they_may_write_nowhere",
    ),
    (
        "everybody is told that they may reply",
        Plant::Thread(|thread| thread.iter_mut().for_each(|thread| thread.can_reply = true)),
        "permission::who_may_not_write_is_forbidden",
    ),
    (
        "the last post is the first",
        Plant::Thread(|thread| {
            if let Ok(thread) = thread {
                let first = thread.first_post_id.clone();
                thread
                    .last_post
                    .iter_mut()
                    .for_each(|last| last.post_id = first.clone());
            }
        }),
        "replies::a_reply_is_the_last_of_its_thread_at_once",
    ),
    (
        "nobody is found by name",
        Plant::AskProfile(|user| {
            if let UserRef::Name(_) = user {
                *user = UserRef::Id(UserId::from(0));
            }
        }),
        "members::a_profile_is_found_by_id_and_by_name",
    ),
    (
        "an unknown id is read as a number all the same",
        Plant::AskProfile(|user| {
            if let UserRef::Id(id) = user
                && id.to_string().starts_with('0')
            {
                *user = UserRef::Id(UserId::from(1));
            }
        }),
        "members::who_is_nobody_is_absent",
    ),
    (
        "an account is somebody else's",
        Plant::Me(|account| account.owner.user_id = UserId::from(1)),
        "members::an_account_is_the_callers_own",
    ),
];
