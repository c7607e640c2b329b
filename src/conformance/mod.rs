//! The rules that every board must keep (feature `conformance`).
//!
//! A host implements [`Host`], which makes an empty board, and [`Stage`], which puts members, forums and content there
//! behind the API's back. [`board_tests!`] makes a test of every rule, and [`run_all`] a [`Report`]. The host names the
//! features that its board lacks ([`Capability`]), and their rules are skipped. The rules for stores are in [`stores`].
//! The guide's chapter [`board_rules`](crate::guide::board_rules) lists the rules for boards with the expected errors.
//!
//! A board that has forums and members, and nothing else yet:
//!
//! ```
//! use std::sync::{Arc, Mutex};
//! use forum_api::async_trait;
//! use forum_api::runtime::ManualClock;
//! use forum_api::conformance::{Host, NewForum, Capability, Role, Set, Stage, run_all};
//! use forum_api::host::{Authorizer, Board, Caller, Forums, Result, Access, Stored};
//! use forum_api::model::{Forum, ForumId, UserId};
//!
//! #[derive(Clone, Default)]
//! struct MyBoard(Arc<Mutex<(Vec<String>, Vec<String>)>>); // the names of members, the titles of forums
//!
//! #[async_trait]
//! impl Authorizer for MyBoard {
//!     async fn guest(&self) -> Stored<Access> {
//!         Ok(Access::new(Forums::all()))
//!     }
//!
//!     async fn member(&self, owner: &UserId) -> Stored<Option<Access>> {
//!         let members = 1..=self.0.lock().unwrap().0.len() as i64;
//!         let is_one = owner.to_i64().is_ok_and(|number| members.contains(&number));
//!         Ok(is_one.then(|| Access::new(Forums::all())))
//!     }
//! }
//!
//! #[async_trait]
//! impl Board for MyBoard {
//!     async fn forums(&self, _: &Caller) -> Result<Vec<Forum>> {
//!         let forums = self.0.lock().unwrap().1.clone().into_iter();
//!         let forum = |(position, title)| Forum {
//!             forum_id: ForumId::from(i64::from(position)),
//!             parent_id: None,
//!             title,
//!             description: String::new(),
//!             position,
//!             thread_count: 0,
//!             post_count: 0,
//!             last_activity_at: None,
//!             can_start_thread: false,
//!         };
//!         Ok((1..).zip(forums).map(forum).collect())
//!     }
//! }
//!
//! #[async_trait]
//! impl Stage for MyBoard {
//!     fn board(&self) -> (Arc<dyn Authorizer>, Arc<dyn Board>) {
//!         (Arc::new(self.clone()), Arc::new(self.clone()))
//!     }
//!
//!     async fn add_member(&self, name: &str, _: Role) -> Set<UserId> {
//!         let members = &mut self.0.lock().unwrap().0;
//!         members.push(name.into());
//!         Ok(UserId::from(members.len() as i64))
//!     }
//!
//!     async fn add_forum(&self, new: &NewForum) -> Set<ForumId> {
//!         let forums = &mut self.0.lock().unwrap().1;
//!         forums.push(new.title.clone());
//!         Ok(ForumId::from(forums.len() as i64))
//!     }
//! }
//!
//! struct MyHost;
//!
//! #[async_trait]
//! impl Host for MyHost {
//!     async fn empty(&self, _: Arc<ManualClock>) -> Set<Box<dyn Stage>> {
//!         Ok(Box::new(MyBoard::default())) // a new database, rather
//!     }
//!
//!     fn lacks(&self) -> &[Capability] {
//!         use Capability::*;
//!         &[
//!             Account, Approval, Bans, Deletion, Editing, Events, HiddenForums, Ignoring, Messages, Moderators, Offline,
//!             Polls, Posts, Profiles, ReadOnlyForums, Removal, Replies, Reputation, Search, StartingThreads, SubForums,
//!             Subscriptions, Threads,
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
//!     forum_api::conformance::board_tests!(MyHost, block_on); // `cargo test rules::` names each
//! }
//!
//! let report = block_on(run_all(&MyHost));
//! println!("{report}");
//! assert_eq!(report.failed().count(), 0);
//! ```
//!
//! `board_tests!` takes an expression that makes the [`Host`], and a function that runs a future to its end.
//!
//! # Adding a rule
//!
//! A rule is an `async fn` inside the `board_rules!` of the file of its resource:
//!
//! ```
//! # use forum_api::conformance::{Audience, Suite, TestResult};
//! /// The poll of a hidden thread is absent.
//! async fn a_hidden_threads_poll_is_not_found(suite: &Suite) -> TestResult {
//!     let forum = suite.forum(Audience::Staff).await?;           // skipped if the host cannot hide forums
//!     let (sam, alice) = (suite.staff("sam").await?, suite.member("alice").await?);
//!     let thread = suite.thread(&sam, &forum).await?.thread;
//!     alice.poll(&thread).await.expect_path_not_found()          // skipped if the host has no polls
//! }
//! ```
//!
//! - The callers ([`TestCaller`]) have a method for every call of the board, and each result ([`CallResult`]) has
//!   methods for the expected outcome. [`check_eq`] and [`check`] compare the rest.
//! - A result with anything in a forum that the caller does not see breaks every rule, and so does a failure of the
//!   backend.
//! - A feature that a board may lack is a [`Capability`]: calls and helpers that need it skip the rule, and so does
//!   [`Suite::require`].
//! - A change behind the API's back is a method of [`Stage`], whose default reports that it is missing.
//! - Each write comes a minute after the one before, so that no rule meets a flood limit. [`Suite::advance`] advances
//!   the clock further, and [`Suite::race`] runs calls at the same time.

#[macro_use]
mod macros;
mod rules;
pub mod stores;
mod support;

pub use rules::CASES;
pub use support::{
    Audience, BoardFactory, BoardFixture, CallResult, Capability, Case, FixtureResult, ForumScoped,
    NewForum, Report, Role, Suite, TestCaller, TestFailure, TestResult, check, check_eq, run_all,
};

pub use super::{board_tests, store_tests};
