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
