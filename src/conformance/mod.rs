//! The rules that a board must keep, to be held against any host's (feature `conformance`).
//!
//! A host hands over a way to an empty board ([`Host`]), and what puts members, forums and content there behind the
//! API's back ([`Stage`]). [`board_tests!`] turns every rule into a test of its own, [`run_all`] into a line of a
//! [`Report`]. What the board lawfully lacks it names ([`Part`]), and the rules about that are skipped, so that a host
//! grows into the suite as it grows into the [`Board`](crate::host::Board). The same for stores is in [`stores`].
//!
//! A board that has forums and members, and nothing else yet:
//!
//! ```
//! use std::sync::{Arc, Mutex};
//! use forum_api::async_trait;
//! use forum_api::runtime::ManualClock;
//! use forum_api::conformance::{Host, NewForum, Part, Role, Set, Stage, run_all};
//! use forum_api::host::{Authority, Board, Caller, Forums, Result, Standing, Stored};
//! use forum_api::model::{Forum, ForumId, UserId};
//!
//! #[derive(Clone, Default)]
//! struct MyBoard(Arc<Mutex<(Vec<String>, Vec<String>)>>); // the names of members, the titles of forums
//!
//! #[async_trait]
//! impl Authority for MyBoard {
//!     async fn guest(&self) -> Stored<Standing> {
//!         Ok(Standing::new(Forums::all()))
//!     }
//!
//!     async fn member(&self, owner: &UserId) -> Stored<Option<Standing>> {
//!         let members = 1..=self.0.lock().unwrap().0.len() as i64;
//!         let is_one = owner.number().is_ok_and(|number| members.contains(&number));
//!         Ok(is_one.then(|| Standing::new(Forums::all())))
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
//!     fn board(&self) -> (Arc<dyn Authority>, Arc<dyn Board>) {
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
//!     fn lacks(&self) -> &[Part] {
//!         use Part::*;
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
//! `board_tests!` takes what makes the [`Host`], and what runs a future to its end: any executor will do.
//!
//! # Adding a rule
//!
//! A rule is an `async fn` that takes an empty board, inside the `board_rules!` of the file of the resource that it is
//! about, with a fault that it catches in the file of the same name in `examples/server/tests/board/faults`. Its name says the rule, and
//! a sentence of documentation whom it protects:
//!
//! ```
//! # use forum_api::conformance::{Audience, Role, Suite, Verdict};
//! /// Who does not see a thread finds no poll of it.
//! pub async fn a_hidden_threads_poll_is_absent(suite: &Suite) -> Verdict {
//!     let forum = suite.forum(Audience::Staff).await?;           // skipped where nothing can be hidden
//!     let (sam, alice) = (suite.join("sam", Role::Staff).await?, suite.member("alice").await?);
//!     let thread = suite.thread(&sam, &forum).await?.thread;
//!     alice.poll(&thread).await?.absent()                        // skipped where there are no polls
//! }
//! ```
//!
//! - The callers ([`Someone`]) have a method for every command of the board; each answer ([`Asked`]) is told what was
//!   expected of it. [`equal`] and [`holds`] compare the rest, and `?` ends the case at the first thing that is wrong.
//! - An answer with anything in a forum that the caller's standing does not cover breaks every rule: the library
//!   would have to drop it. So does a failure of the backend.
//! - What only some boards have is a [`Part`]: commands and helpers of a part skip the rule by themselves; for the
//!   rest there is [`Suite::needs`].
//! - What goes on behind the API's back is a method of [`Stage`] with a default that says it is missed.
//! - Each write comes a minute after what was before, so that no flood limit is met by chance; [`Suite::wait`] lets
//!   more time go by, and [`Suite::race`] runs work at once.

#[macro_use]
mod macros;
mod rules;
pub mod stores;
mod support;

pub use rules::CASES;
pub use support::{
    Audience, CallResult, Case, ForumScoped, Host, NewForum, Part, Report, Role, Set, Stage, Suite,
    TestCaller, TestFailure, TestResult, check, check_eq, run_all,
};

pub use super::{board_tests, store_tests};
