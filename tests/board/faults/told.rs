//! Counts, and what else is told.

use forum_api::model::{Author, Forum, UserId, UserRef};

use super::Fault;
use super::plant::Plant;

pub const FAULTS: &[Fault] = &[
    (
        "a forum counts what awaits approval",
        Plant::Forums(|forums, written| count_all(forums, written)),
        "forums::what_awaits_approval_counts_nowhere",
    ),
    (
        "a forum counts what others hold",
        Plant::Forums(|forums, written| count_all(forums, written)),
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
    (
        "who is gone is called somebody",
        Plant::Thread(|thread| {
            if let Ok(thread) = thread {
                thread.author.get_or_insert(Author {
                    user_id: UserId::from(0),
                    username: "somebody".into(),
                    avatar_url: None,
                });
            }
        }),
        "standing::a_removed_account_leaves_what_it_wrote",
    ),
    (
        "an empty forum was active in 1970",
        Plant::Forums(|forums, _| {
            for forum in forums {
                forum.last_activity_at.get_or_insert_default();
            }
        }),
        "forums::an_empty_forum_counts_nothing",
    ),
    (
        "a forum counts what is below it",
        Plant::Forums(|forums, written| count_all(forums, written)),
        "forums::a_forum_does_not_count_what_is_below_it",
    ),
    (
        "a forum counts what is in hidden ones",
        Plant::Forums(|forums, written| count_all(forums, written)),
        "forums::what_is_hidden_counts_nowhere",
    ),
    (
        "the profile of one who was banned is gone",
        Plant::HidesBanned,
        "members::a_banned_members_profile_stays",
    ),
    (
        "what is unread is not told",
        Plant::Me(|account| account.unread_messages = None),
        "members::what_is_unread_is_told_where_there_are_messages",
    ),
];

fn count_all(forums: &mut [Forum], written: u64) {
    forums
        .iter_mut()
        .for_each(|forum| forum.post_count = written);
}
