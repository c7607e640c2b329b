//! The reference board's rules: the conformance suite, in memory and in a file.

use forum_api::conformance::board_tests;

use crate::stage::Reference;

fn block_on(case: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(case);
}

mod memory {
    use super::*;

    board_tests!(Reference::Memory, block_on);
}

mod file {
    use super::*;

    board_tests!(Reference::File, block_on);
}
