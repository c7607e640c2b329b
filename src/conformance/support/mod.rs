//! Fixtures, callers and results of the rules.
//!
//! - The callers ([`TestCaller`]) have a method for each method of the board. Each result ([`CallResult`]) has a method
//!   for each expected outcome. [`check_eq`] and [`check`] compare other values.
//! - Each rule fails if the backend fails, or if a result has content of a forum that the caller cannot see.
//! - An optional feature is a [`Capability`]. A call or a helper that needs an unsupported capability skips the
//!   rule; [`Suite::require`] does the same explicitly.
//! - A change that bypasses the API is a method of [`BoardFixture`]. The default implementation of such a method
//!   returns an error with the method's name. The default implementations of `write_thread` and
//!   `write_reply` call the board.
//! - Each write takes place a minute after the previous one, so that no rule exceeds an anti-flood limit.
//!   [`Suite::advance`] advances the clock further, and [`run_concurrently`] makes calls concurrently.

mod board_fixture;
mod call_result;
mod capability;
mod concurrency;
mod content;
mod delivery_fixture;
mod forum_scoped;
mod message_fixture;
mod pager;
mod poll_fixture;
mod recorded_event;
mod report;
mod search_fixture;
mod store_fixture;
mod subject;
mod suite;
mod test_caller;
mod test_result;
mod thread_fixture;

pub use board_fixture::{Audience, BoardFactory, BoardFixture, FixtureResult, NewForum, Role};
pub use capability::Capability;
pub use report::{Report, report_test};
pub use store_fixture::{PendingEventFixture, StoreFactory};
pub use test_result::{TestFailure, TestResult};

pub(crate) use std::iter::repeat_n;

pub(crate) use crate::test_util::{attempt_record, audit_entry, claim_request};
pub(crate) use call_result::CallResult;
pub(crate) use concurrency::{run_concurrently, succeed_concurrently};
pub(crate) use content::*;
pub(crate) use delivery_fixture::*;
pub(crate) use forum_scoped::ForumScoped;
pub(crate) use message_fixture::*;
pub(crate) use pager::*;
pub(crate) use poll_fixture::*;
pub(crate) use recorded_event::*;
pub(crate) use report::{Case, find};
pub(crate) use search_fixture::*;
pub(crate) use store_fixture::{StoreFixture, instant, lookup, token};
pub(crate) use subject::Subject;
pub(crate) use suite::Suite;
pub(crate) use test_caller::TestCaller;
pub(crate) use test_result::{check, check_eq, exactly, only};
pub(crate) use thread_fixture::*;
