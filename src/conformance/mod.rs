//! Rules that every board must follow, as tests (feature `conformance`).
//!
//! A host implements [`BoardFactory`], which creates an empty board, and [`BoardFixture`], which adds members, forums
//! and content without the API. [`board_tests!`] defines a test for each rule, and [`run_all`] returns a [`Report`].
//! The host lists the features that its board does not have ([`Capability`]); the suite skips their rules. The
//! module [`rules`] lists the rules for boards, and [`rules::stores`] those for stores ([`stores`]).
//!
//! A board with forums and members, and without any other feature:
//!
//! ```
//! use std::sync::{Arc, Mutex};
//! use forum_api::async_trait;
//! use forum_api::conformance::{
//!     BoardFactory, BoardFixture, Capability, FixtureResult, NewForum, Role, run_all,
//! };
//! use forum_api::host::*;
//! use forum_api::model::{Forum, ForumId, Page, UserId};
//! use forum_api::runtime::ManualClock;
//!
//! #[derive(Clone, Default)]
//! struct MyBoard(Arc<Mutex<(Vec<String>, Vec<String>)>>); // the names of members, the titles of forums
//!
//! #[async_trait]
//! impl Authorizer for MyBoard {
//!     async fn guest_access(&self, _: &RequestInfo) -> BackendResult<Access> {
//!         Ok(Access::new(VisibleForums::all()))
//!     }
//!
//!     async fn member_access(
//!         &self,
//!         owner: &UserId,
//!         _: &RequestInfo,
//!     ) -> BackendResult<Option<Access>> {
//!         let members = 1..=self.0.lock().unwrap().0.len() as i64;
//!         let is_member = owner.to_i64().is_ok_and(|number| members.contains(&number));
//!         Ok(is_member.then(|| Access::new(VisibleForums::all())))
//!     }
//! }
//!
//! #[async_trait]
//! impl Board for MyBoard {
//!     async fn containing_forum(&self, _: &Caller, _: ResourceRef<'_>) -> BoardResult<ForumId> {
//!         Err(BoardError::NotImplemented)
//!     }
//!
//!     async fn list_forums(&self, _: &Caller) -> BoardResult<Page<Forum>> {
//!         let forums = self.0.lock().unwrap().1.clone().into_iter();
//!         let forum = |(id, title)| Forum::new(ForumId::from(id), title);
//!         Ok(Page::from((1..).zip(forums).map(forum).collect::<Vec<_>>()))
//!     }
//! }
//!
//! #[async_trait]
//! impl BoardFixture for MyBoard {
//!     fn board(&self) -> Host {
//!         Arc::new(self.clone()).into()
//!     }
//!
//!     async fn add_member(&self, name: &str, _: Role) -> FixtureResult<UserId> {
//!         let members = &mut self.0.lock().unwrap().0;
//!         members.push(name.into());
//!         Ok(UserId::from(members.len() as i64))
//!     }
//!
//!     async fn add_forum(&self, new: &NewForum) -> FixtureResult<ForumId> {
//!         let forums = &mut self.0.lock().unwrap().1;
//!         forums.push(new.title.clone());
//!         Ok(ForumId::from(forums.len() as i64))
//!     }
//! }
//!
//! struct MyBoardFactory;
//!
//! #[async_trait]
//! impl BoardFactory for MyBoardFactory {
//!     async fn create(&self, _: Arc<ManualClock>) -> FixtureResult<Box<dyn BoardFixture>> {
//!         Ok(Box::new(MyBoard::default())) // a host creates a new database
//!     }
//!
//!     fn unsupported(&self) -> &[Capability] {
//!         use Capability::*;
//!         &[
//!             Account, AccountRemoval, Approval, Bans, BatchAccess, Deletion, Editing, Events, HiddenForums,
//!             IgnoreLists, Messages, Moderators, Offline, Polls, Posts, Profiles, ReadOnlyForums, Replies, Reputation, Search,
//!             StartingThreads, SubForums, Subscriptions, Threads, TokenLoading,
//!         ]
//!     }
//! }
//!
//! fn block_on<T>(case: impl Future<Output = T>) -> T {
//!     tokio::runtime::Runtime::new().unwrap().block_on(case)
//! }
//!
//! mod rules {
//!     use super::*;
//!     forum_api::conformance::board_tests!(MyBoardFactory, block_on); // `cargo test rules::` runs all
//! }
//!
//! let report = block_on(run_all(&MyBoardFactory));
//! println!("{report}"); // a line for each rule, and the coverage of methods and rules
//! assert!(report.to_string().contains("coverage: 1 of "));
//! assert_eq!(report.failed().count(), 0);
//! ```
//!
//! `board_tests!` takes an expression that creates the [`BoardFactory`], and a function that runs a future to
//! completion.

#[macro_use]
mod macros;
pub mod rules;
pub mod stores;
mod support;

#[doc(inline)]
pub use rules::{run, run_all};
#[doc(hidden)]
pub use support::report_test;
pub use support::{
    Audience, BoardFactory, BoardFixture, Capability, FixtureResult, NewForum, Report, Role,
    TestFailure, TestResult,
};
pub(crate) use support::{check, check_eq};

pub use super::{board_tests, store_tests};
