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
                a_list_is_paged_in_the_order_of_lookups
            }
            budgets {
                exactly_the_budget_is_granted_however_many_race
                every_key_has_a_budget_of_its_own
                a_charge_is_all_or_nothing
                a_window_is_over_at_its_very_end
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
