//! The board follows the rules of the conformance suite.

use forum_api::conformance::board_tests;

use crate::fixture::{ClubFactory, try_in_postgres};

board_tests!(ClubFactory, try_in_postgres);
