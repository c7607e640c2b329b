//! The rules that the board keeps, as far as it goes.

use forum_api::conformance::board_tests;

use crate::database::try_in_postgres;
use crate::stage::Existing;

board_tests!(Existing, try_in_postgres);
