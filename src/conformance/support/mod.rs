//! Fixtures, callers and results of the rules.

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
pub use call_result::CallResult;
pub use capability::Capability;
pub use forum_scoped::ForumScoped;
pub use report::{Case, Report};
pub use store_fixture::{PendingEventFixture, StoreFactory, StoreFixture};
pub use suite::Suite;
pub use test_caller::TestCaller;
pub use test_result::{TestFailure, TestResult};

pub(crate) use std::iter::repeat_n;

pub(crate) use crate::test_util::audit_entry;
pub(crate) use content::*;
pub(crate) use delivery_fixture::*;
pub(crate) use message_fixture::*;
pub(crate) use pager::*;
pub(crate) use poll_fixture::*;
pub(crate) use recorded_event::*;
pub(crate) use report::joined;
pub(crate) use search_fixture::*;
pub(crate) use store_fixture::{instant, lookup};
pub(crate) use subject::Subject;
pub(crate) use test_result::{check, check_eq, only};
pub(crate) use thread_fixture::*;
