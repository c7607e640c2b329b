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
