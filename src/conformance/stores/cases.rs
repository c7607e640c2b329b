//! The list of all rules for stores, from which the tests and the report are made.

use super::Shelf;
use crate::conformance::Case;

/// Hands the list of all rules to a macro: the files, and the cases in each.
#[doc(hidden)]
#[macro_export]
macro_rules! __store_cases {
    ($with:path, $($arguments:tt)*) => {
        $with! { ($($arguments)*)
            tokens {
                what_is_created_is_found_whole
                a_lookup_is_taken_once
                a_lookup_is_taken_once_however_many_race
                what_was_never_created_is_absent
                the_first_revocation_stands
                what_is_absent_is_not_revoked
                a_use_is_noted_once_a_minute
                a_list_is_paged_from_the_newest_to_the_oldest
            }
            budgets {
                exactly_the_budget_is_granted_however_many_race
                every_key_has_a_budget_of_its_own
                a_charge_is_all_or_nothing
                a_window_is_over_at_its_very_end
                a_clock_that_was_set_back_locks_no_budget
                a_refund_gives_back_units_of_the_running_window
                a_refund_of_an_ended_window_changes_nothing
                any_history_is_metered_alike
            }
            idempotency {
                of_fifty_at_once_one_is_the_first
                the_first_answer_is_repeated_whole
                another_request_is_told_so_in_every_state
                a_key_is_per_token
                a_key_is_taken_by_the_letter
                a_run_that_does_not_end_is_unknown_after_its_lease
                a_run_that_ends_late_is_repeated
                what_surely_did_not_run_frees_the_key
                what_nobody_knows_stays_unknown
                a_key_is_forgotten_after_a_day
                a_run_without_end_is_forgotten_too
                a_ticket_of_a_forgotten_key_changes_nothing
                many_keys_live_side_by_side
            }
            outbox {
                what_is_put_waits_whole
                an_event_is_put_once
                the_oldest_wait_first
                of_one_moment_the_first_put_waits_first
                what_comes_late_is_found_as_well
                what_is_fanned_out_waits_no_more
                what_waits_does_not_go_with_a_delivery
                an_event_is_fanned_out_once
                an_event_is_fanned_out_once_however_many_race
                who_is_away_or_disabled_is_told_nothing
            }
            endpoints {
                what_is_added_is_found_whole
                an_id_is_taken_once
                what_was_never_added_is_absent
                a_change_takes_the_place_of_what_it_was_made_from
                of_changes_at_once_one_is_made
                what_is_removed_is_away
                all_come_in_the_order_in_which_they_were_added
                a_key_is_recorded_in_the_place_of_the_former_one
                a_key_is_replaced_with_the_secrets_or_not_at_all
            }
            claims {
                what_is_claimed_is_told_whole
                what_is_not_due_waits
                the_backlog_is_what_could_be_claimed
                each_is_claimed_once_however_many_race
                no_more_is_claimed_than_there_is_room_for
                no_more_goes_to_one_endpoint_than_it_has_room_for
                the_oldest_due_is_claimed_first
                a_flooded_endpoint_starves_nobody
                the_next_is_the_earliest_that_was_left
                what_a_disabled_endpoint_has_queued_waits
                what_a_removed_endpoint_had_queued_is_away
            }
            leases {
                a_lease_in_force_is_respected
                a_lease_that_ran_out_is_told
                a_lease_that_ends_before_sending_is_not_an_attempt
                sending_begins_only_while_the_lease_holds
                a_lease_is_settled_once
                what_is_anothers_by_now_is_not_settled
                what_ends_late_is_settled_if_nobody_took_it
                what_ends_together_is_settled_together
                what_is_given_back_was_no_attempt
                what_is_given_back_after_sending_began_was_no_attempt
                what_is_anothers_by_now_is_not_given_back
                a_lease_that_ran_out_is_told_again_when_given_back
                attempts_are_kept_whole_and_in_their_order
                the_latest_attempts_are_kept
            }
            retries {
                a_finished_delivery_is_queued_again
                a_retrying_delivery_becomes_due_at_once
                a_queued_delivery_is_left_as_it_is
                the_dead_of_one_endpoint_are_queued_again_in_batches
                what_is_queued_again_may_die_again
                of_retries_at_once_one_is_made
                a_delivery_is_removed_in_any_state
                a_ping_goes_to_one_endpoint_alone
                a_ping_that_nobody_gets_is_not_kept
            }
            lists {
                the_newest_come_first_and_page_by_page
                a_list_holds_what_its_filter_lets_through
            }
            sweeps {
                what_ended_long_ago_is_swept
                what_is_pending_or_dead_is_kept
                what_is_queued_again_is_not_swept
                a_sweep_takes_no_more_than_its_limit
                what_a_removed_endpoint_left_is_swept
            }
            usage {
                deliveries_are_counted_by_hour_endpoint_and_state
                attempts_are_counted_by_their_duration
            }
        }
    };
}

macro_rules! list {
    (() $($file:ident { $($case:ident)+ })+) => {
        /// All rules.
        pub const CASES: &[Case<Shelf>] = &[$($(
            Case::new(
                concat!(stringify!($file), "::", stringify!($case)),
                |shelf| Box::pin(super::$file::$case(shelf)),
            ),
        )+)+];
    };
}

__store_cases!(list,);

/// Names a test for each rule of stores: see the [module](crate::conformance::stores).
#[macro_export]
macro_rules! store_tests {
    ($keeper:expr, $block_on:expr) => {
        $crate::conformance::__store_cases!($crate::conformance::__store_tests, $keeper, $block_on);
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __store_tests {
    (($keeper:expr, $block_on:expr) $($file:ident { $($case:ident)+ })+) => {$(
        mod $file {
            #[allow(unused_imports)]
            use super::*;
            $(
                #[test]
                fn $case() {
                    let case = $crate::conformance::Case::<$crate::conformance::stores::Shelf>::new(
                        concat!(stringify!($file), "::", stringify!($case)),
                        |shelf| ::std::boxed::Box::pin($crate::conformance::stores::$file::$case(shelf)),
                    );
                    ($block_on)(case.must_hold($crate::conformance::stores::Shelf::new(&$keeper)));
                }
            )+
        }
    )+};
}
