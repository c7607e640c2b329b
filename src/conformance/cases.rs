//! The list of all rules, from which the tests and the report are made.

use super::Case;

/// Hands the list of all rules to a macro: the files, and the cases in each.
#[doc(hidden)]
#[macro_export]
macro_rules! __board_cases {
    ($with:path, $($arguments:tt)*) => {
        $with! { ($($arguments)*)
            visibility {
                what_guests_see_every_member_sees
                a_hidden_forum_is_in_no_list
                a_hidden_thread_is_absent
                nobody_writes_where_they_see_nothing
            }
            edits {
                an_edit_shows
                an_edit_counts
                a_stale_edit_is_a_conflict
                one_of_many_edits_of_a_version_is_made
                an_edit_needs_a_body
                authors_and_moderators_edit
                a_guest_changes_nothing
                a_post_that_is_not_seen_there_is_not_edited
                a_hidden_post_is_not_edited
                a_locked_thread_is_edited_by_moderators
                an_edit_window_closes
                a_moderator_who_is_one_no_longer_edits_no_longer
            }
            deletion {
                a_deleted_post_is_for_moderators
                authors_and_moderators_delete_replies
                moderators_delete_threads
                nobody_replies_in_a_deleted_thread
                one_of_many_deletions_is_made
                counts_follow_a_reply
                an_older_post_takes_no_activity_along
                a_thread_falls_back_with_its_last_post
                counts_follow_a_thread
                a_restored_thread_brings_no_deleted_reply_back
                a_profile_counts_what_is_there
            }
            approval {
                a_reply_that_awaits_is_for_author_and_moderators
                a_thread_that_awaits_is_for_author_and_moderators
                nobody_replies_in_a_thread_that_awaits
                an_approved_reply_is_for_everybody
                an_approved_thread_is_for_everybody
                an_author_changes_what_awaits
            }
            subscriptions {
                following_twice_is_following_once
                a_subscription_tells_what_is_followed
                subscriptions_are_walked_newest_first
                subscriptions_are_personal
                nobody_follows_what_they_do_not_see
                what_becomes_hidden_leaves_the_list
                a_deleted_thread_leaves_the_list
                unfollowing_takes_a_subscription
                authors_follow_what_they_write_in
            }
            polls {
                a_poll_comes_with_its_thread
                a_refused_poll_leaves_no_thread
                a_hidden_threads_poll_is_absent
                a_guest_sees_polls
                an_unknown_poll_is_absent
                a_poll_awaits_approval_with_its_thread
                a_poll_is_deleted_with_its_thread
                a_poll_closes_by_itself
            }
            votes {
                a_vote_counts_and_is_its_voters_own
                a_vote_for_several_is_one_voters
                a_vote_stands
                a_vote_can_be_changed_where_the_poll_says_so
                a_vote_names_what_can_be_chosen
                of_many_votes_at_once_one_counts
                a_locked_thread_takes_votes
                voting_takes_sight_alone
                a_vote_is_decided_when_it_is_counted
                a_vote_outlives_its_account
            }
            poll_edits {
                its_writer_and_moderators_edit_a_poll
                a_locked_threads_poll_is_a_moderators
                an_edit_is_decided_when_it_is_made
                what_an_edit_leaves_out_stays
                options_that_were_voted_for_are_a_moderators
                a_removed_option_takes_its_votes
                a_refused_edit_changes_nothing
                an_end_is_set_and_taken_away
                a_stale_edit_is_a_conflict
            }
            reputation {
                ratings_add_up
                nobody_rates_themselves
                an_unknown_member_is_absent
                a_rating_has_points
                a_post_is_rated_once
                a_member_is_rated_once_a_day
                a_rating_is_for_a_post_of_the_member
                nobody_rates_for_a_post_that_they_do_not_see
                nobody_rates_for_a_post_that_is_hidden
                of_many_ratings_at_once_one_counts
            }
            messages {
                each_party_has_a_copy_of_its_own
                a_message_tells_who_sent_it_and_to_whom
                anothers_copy_is_absent
                a_folder_is_walked_while_messages_come
                unread_and_read_ones_are_told_apart
                unread_messages_are_counted
                a_message_outlives_accounts
            }
            sending {
                a_recipient_who_is_named_twice_gets_one_copy
                a_member_may_write_to_themselves
                an_incomplete_message_is_refused
                nobody_gets_a_message_with_an_unknown_recipient
                an_ignored_member_may_not_write
            }
            receipts {
                a_message_is_read_once
                a_peek_changes_nothing
                no_receipt_comes_unasked
                one_receipt_comes_however_many_race
                each_reader_is_told_of_once
                a_receipt_is_unread
                an_ignored_reader_opens_as_any_other
                a_message_is_opened_when_nobody_is_left_to_be_told
            }
        }
    };
}

macro_rules! list {
    (() $($file:ident { $($case:ident)+ })+) => {
        /// All rules.
        pub const CASES: &[Case] = &[$($(
            Case::new(
                concat!(stringify!($file), "::", stringify!($case)),
                |suite| Box::pin(super::$file::$case(suite)),
            ),
        )+)+];
    };
}

__board_cases!(list,);

/// Names a test for each rule of the suite: see the [module](crate::conformance).
#[macro_export]
macro_rules! board_tests {
    ($host:expr, $block_on:expr) => {
        $crate::conformance::__board_cases!($crate::conformance::__board_tests, $host, $block_on);
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __board_tests {
    (($host:expr, $block_on:expr) $($file:ident { $($case:ident)+ })+) => {$(
        mod $file {
            #[allow(unused_imports)]
            use super::*;
            $(
                #[test]
                fn $case() {
                    let case = $crate::conformance::Case::new(
                        concat!(stringify!($file), "::", stringify!($case)),
                        |suite| ::std::boxed::Box::pin($crate::conformance::$file::$case(suite)),
                    );
                    ($block_on)(case.must_hold(&$host));
                }
            )+
        }
    )+};
}
