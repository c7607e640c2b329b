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
        $crate::__board_cases!($crate::__board_tests, $host, $block_on);
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
