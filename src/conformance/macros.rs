//! Macros that define the rules of a file and that make a `#[test]` of each rule.

/// Compares two values by reference. The compared expression is the description, unless one is given.
macro_rules! check_eq {
    ($found:expr, $expected:expr $(,)?) => {
        $crate::conformance::check_eq(stringify!($found), &$found, &$expected)
    };
    ($found:expr, $expected:expr, $($description:tt)+) => {
        match (&$found, &$expected) {
            (found, expected) => {
                $crate::conformance::check_eq(format_args!($($description)+), found, expected)
            }
        }
    };
}

/// Checks a condition, which is the description, unless one is given.
macro_rules! check {
    ($condition:expr $(,)?) => {
        $crate::conformance::check(stringify!($condition), $condition)
    };
    ($condition:expr, $($description:tt)+) => {
        match $condition {
            condition => $crate::conformance::check(format_args!($($description)+), condition),
        }
    };
}

/// Defines the rules of one file for boards, and `RULES`, the list of them.
///
/// `mod name;` comes first and repeats the file's name. The macro also defines a hidden exported macro of that name,
/// which [`board_tests!`] expands to a `#[test]` for each rule.
macro_rules! board_rules {
    (mod $file:ident; $($rules:tt)+) => {
        rules! {
            $file, $crate::conformance::Suite, $crate::conformance::CASES; $($rules)+
        }
    };
}

/// Defines the rules of one file for stores, as [`board_rules!`] does for boards.
macro_rules! store_rules {
    (mod $file:ident; $($rules:tt)+) => {
        rules! {
            $file, $crate::conformance::stores::StoreFixture, $crate::conformance::stores::CASES; $($rules)+
        }
    };
}

macro_rules! rules {
    (
        $file:ident, $fixture:ty, $cases:path;
        $($(#[$doc:meta])+ async fn $rule:ident($subject:ident: &$type:ty) -> TestResult $body:block)+
    ) => {
        /// The rules of this file.
        pub(crate) const RULES: &[$crate::conformance::Case<$fixture>] = &[$(
            $crate::conformance::Case::new(
                concat!(stringify!($file), "::", stringify!($rule)),
                |subject| Box::pin($rule(subject)),
            ),
        )+];

        $($(#[$doc])+ async fn $rule($subject: &$type) -> TestResult $body)+

        #[doc(hidden)]
        #[macro_export]
        macro_rules! $file {
            ($host:expr, $block_on:expr) => {
                mod $file {
                    #[allow(unused_imports)]
                    use super::*;
                    $(
                        #[test]
                        fn $rule() {
                            let name = concat!(stringify!($file), "::", stringify!($rule));
                            let case = $cases.iter().find(|case| case.name == name).unwrap();
                            ($block_on)(case.run_or_panic(<$fixture>::new(&$host)));
                        }
                    )+
                }
            };
        }
    };
}

/// Joins the rules of a folder's files to `CASES`, and defines the macro that makes their tests.
macro_rules! rule_files {
    ($tests:ident, $fixture:ty; $($file:ident)+) => {
        /// All rules, in the order of their files.
        pub const CASES: &[$crate::conformance::Case<$fixture>] =
            &joined::<$fixture, { 0 $(+ $file::RULES.len())+ }>(&[$($file::RULES),+]);

        #[doc(hidden)]
        #[macro_export]
        macro_rules! $tests {
            ($host:expr, $block_on:expr) => {
                $($crate::$file!($host, $block_on);)+
            };
        }
    };
}

/// Makes a `#[test]` of each rule for boards: see the [module](crate::conformance).
#[macro_export]
macro_rules! board_tests {
    ($host:expr, $block_on:expr) => {
        $crate::__board_tests!($host, $block_on);
    };
}

/// Makes a `#[test]` of each rule for stores: see the [module](crate::conformance::stores).
#[macro_export]
macro_rules! store_tests {
    ($keeper:expr, $block_on:expr) => {
        $crate::__store_tests!($keeper, $block_on);
    };
}
