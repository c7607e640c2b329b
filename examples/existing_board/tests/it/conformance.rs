//! The board follows the rules of the conformance suite.

use forum_api::conformance::board_tests;

use crate::fixture::{ClubFactory, run_with_postgres};

board_tests!(ClubFactory, run_with_postgres);
