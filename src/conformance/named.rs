//! A test of its own for each rule of the list.

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
