//! Macros that define the rules of a file and a `#[test]` for each rule.

/// Compares two values by reference. The description defaults to the text of the first expression.
macro_rules! check_eq {
    ($actual:expr, $expected:expr $(,)?) => {
        $crate::conformance::check_eq(stringify!($actual), &$actual, &$expected)
    };
    ($actual:expr, $expected:expr, $($description:tt)+) => {
        match (&$actual, &$expected) {
            (actual, expected) => {
                $crate::conformance::check_eq(format_args!($($description)+), actual, expected)
            }
        }
    };
}

/// Checks a condition. The description defaults to its text.
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

/// Defines the board rules of one file, their list `CASES`, and their documentation `RULES`.
///
/// The first line, `mod name, __rules_name;`, repeats the name of the file. The macro also exports a hidden macro with the
/// second name, which defines a `#[test]` for each rule of the file.
macro_rules! board_rules {
    (mod $file:ident, $tests:ident; $($rules:tt)+) => {
        rules! {
            $file, $tests, $crate::conformance::support::Suite, $crate::conformance::run; $($rules)+
        }
    };
}

/// Defines the store rules of one file, as [`board_rules!`] does for boards.
macro_rules! store_rules {
    (mod $file:ident, $tests:ident; $($rules:tt)+) => {
        rules! {
            $file, $tests, $crate::conformance::support::StoreFixture, $crate::conformance::stores::run; $($rules)+
        }
    };
}

macro_rules! rules {
    (
        $file:ident, $tests:ident, $fixture:ty, $run:path;
        $($(#[$doc:meta])+ async fn $rule:ident($subject:ident: &$type:ty) -> TestResult $body:block)+
    ) => {
        /// The rules of this module.
        $(
            #[doc = concat!("\n# `", stringify!($rule), "`")]
            $(#[$doc])+
        )+
        pub const RULES: &[&str] = &[$(concat!(stringify!($file), "::", stringify!($rule))),+];

        pub(super) const CASES: &[$crate::conformance::support::Case<$fixture>] = &[$(
            $crate::conformance::support::Case {
                name: concat!(stringify!($file), "::", stringify!($rule)),
                run: |subject| Box::pin($rule(subject)),
            },
        )+];

        $(async fn $rule($subject: &$type) -> TestResult $body)+

        #[doc(hidden)]
        #[macro_export]
        macro_rules! $tests {
            ($factory:expr, $block_on:expr) => {
                mod $file {
                    #[allow(unused_imports)]
                    use super::*;
                    $(
                        #[test]
                        fn $rule() {
                            let name = concat!(stringify!($file), "::", stringify!($rule));
                            let factory = &$factory;
                            // The futures of all tests have one type, for which the compiler instantiates `block_on`.
                            ($block_on)($crate::conformance::report_test(name, $run(name, factory)));
                        }
                    )+
                }
            };
        }
    };
}

/// Defines `CASES`, the rules of all files of a folder, and a macro that defines their tests.
macro_rules! rule_files {
    ($tests:ident, $fixture:ty; $($file:ident: $file_tests:ident;)+) => {
        /// Returns all rules, in the order of their files.
        fn cases() -> impl Iterator<Item = &'static Case<$fixture>> {
            [$($file::CASES),+].into_iter().flatten()
        }

        #[doc(hidden)]
        #[macro_export]
        macro_rules! $tests {
            ($factory:expr, $block_on:expr) => {
                $($crate::$file_tests!($factory, $block_on);)+
            };
        }
    };
}

/// Defines a `#[test]` for each board rule. See the [module](crate::conformance).
#[macro_export]
macro_rules! board_tests {
    ($factory:expr, $block_on:expr) => {
        $crate::__board_tests!($factory, $block_on);

        #[test]
        fn expected_differences_name_rules() {
            $crate::conformance::rules::check_expected_differences(&$factory);
        }
    };
}

/// Defines a `#[test]` for each store rule. See the [module](crate::conformance::stores).
#[macro_export]
macro_rules! store_tests {
    ($factory:expr, $block_on:expr) => {
        $crate::__store_tests!($factory, $block_on);
    };
}
