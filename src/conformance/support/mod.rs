//! Fixtures, callers and results that the rules are written with.

mod board_fixture;
pub(crate) mod call_result;
mod capability;
mod commands;
pub(crate) mod concurrency;
pub(crate) mod delivery_fixture;
pub(crate) mod forum_scoped;
pub(crate) mod message_fixture;
pub(crate) mod pager;
pub(crate) mod poll_fixture;
pub(crate) mod recorded_event;
mod report;
pub(crate) mod sanitizing;
pub(crate) mod search_fixture;
pub(crate) mod store_fixture;
pub(crate) mod suite;
mod test_caller;
mod test_result;
pub(crate) mod thread_fixture;

pub use board_fixture::{Audience, Host, NewForum, Role, Set, Stage};
pub use call_result::Asked;
pub use capability::Part;
pub use forum_scoped::Placed;
pub(crate) use report::joined;
pub use report::{Case, Report, run_all};
pub use store_fixture::{Keeper, Shelf};
pub use suite::{Suite, Written};
pub use test_caller::Someone;
pub use test_result::{Stop, Verdict, equal, holds};
