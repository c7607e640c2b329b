//! The reference board's rules: the conformance suite, in each database.

use forum_api::conformance::board_tests;

use crate::prelude::*;

fn block_on(case: impl Future<Output = ()>) {
    tokio::runtime::Runtime::new().unwrap().block_on(case);
}

mod memory {
    use super::*;

    board_tests!(Backend::Memory, block_on);
}

mod file {
    use super::*;

    board_tests!(Backend::File, block_on);
}

mod postgres {
    use super::*;

    board_tests!(Backend::Postgres, run_with_postgres);
}
