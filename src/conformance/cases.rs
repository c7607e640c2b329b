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
                each_audience_sees_its_forums_and_no_other
                a_hidden_thread_is_absent
                a_hidden_thread_is_absent_for_the_guest
                nobody_writes_where_they_see_nothing
                what_no_id_names_is_absent
                a_waiting_reply_is_for_its_author_and_moderators
                a_waiting_thread_is_for_its_author_and_moderators
                a_waiting_thread_takes_no_replies
            }
            standing {
                sight_that_is_taken_away_is_gone_at_once
                a_guests_sight_is_asked_anew
                a_write_under_way_loses_what_is_hidden_meanwhile
                a_write_under_way_ends_with_a_ban
                a_banned_account_has_no_standing
                nobody_has_no_standing
                a_removed_account_leaves_what_it_wrote
                offline_is_for_administrators
                a_moderator_is_one_of_one_forum_while_it_lasts
            }
            service {
                reads_are_answered_to_members_and_guests
                hidden_and_absent_are_the_same_bytes
                a_token_never_outlives_its_owners_standing
                an_offline_board_answers_administrators_alone
                cursors_lead_to_the_end
            }
            forums {
                parents_stand_before_children_by_position
                a_parent_is_the_nearest_that_is_seen
                an_empty_forum_counts_nothing
                what_is_posted_counts_in_its_forum_alone
                a_forum_does_not_count_what_is_below_it
                what_awaits_approval_counts_nowhere
                what_is_hidden_counts_nowhere
            }
            threads {
                newest_activity_comes_first
                pages_of_any_size_meet
                threads_of_one_moment_are_walked_once
                a_walk_meets_each_thread_once_while_others_write
                since_takes_what_was_active_later
                a_list_is_of_one_forum
                a_forged_place_is_no_failure
                a_pinned_thread_is_not_lifted
            }
            starting {
                a_thread_is_started_with_its_first_post
                an_empty_title_or_body_is_invalid
            }
            posts {
                the_oldest_comes_first
                numbers_go_up_from_one
                pages_of_any_size_meet
                a_walk_meets_each_post_once_while_others_write
                posts_of_one_moment_are_walked_once
                an_empty_page_is_no_absent_thread
                since_takes_what_was_posted_later
                a_page_begins_at_the_post_that_is_named
                from_and_since_both_hold
                a_page_begins_at_no_post_of_another_thread
                a_forged_place_is_no_failure
                a_page_carries_the_forms_that_are_asked_for
            }
            replies {
                a_body_is_kept_as_it_was_typed
                what_people_type_does_not_run
                a_reply_is_the_last_of_its_thread_at_once
                an_empty_body_is_invalid
                replies_at_once_are_all_there
            }
            permission {
                who_may_start_a_thread_is_told
                a_guest_is_told_that_they_may_write_nowhere
                who_may_not_write_is_forbidden
                a_locked_thread_takes_replies_of_moderators_alone
            }
            members {
                a_profile_is_found_by_id_and_by_name
                who_is_nobody_is_absent
                a_banned_members_profile_stays
                posts_count_where_every_member_may_read
                an_account_is_the_callers_own
                what_is_unread_is_told_where_there_are_messages
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
                    let case = $crate::conformance::Case::<$crate::conformance::Suite>::new(
                        concat!(stringify!($file), "::", stringify!($case)),
                        |suite| ::std::boxed::Box::pin($crate::conformance::$file::$case(suite)),
                    );
                    ($block_on)(case.must_hold($crate::conformance::Suite::new(&$host)));
                }
            )+
        }
    )+};
}
