//! The rules that the board keeps, as far as it goes.

use forum_api::conformance::board_tests;

use crate::fixture::Existing;
use crate::fixture::run_with_postgres;

board_tests!(Existing, run_with_postgres);
