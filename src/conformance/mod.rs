//! The rules that a board must keep, to be held against any host's (feature `conformance`).
//!
//! A host hands over a way to an empty board ([`Host`]), and what puts members, forums and content there ([`Stage`]);
//! [`board_tests!`] turns every rule into a test of its own, [`run_all`] into a line of a [`Report`].
//!
//! # Adding a rule
//!
//! A rule is a public `async fn` that takes an empty board, in the file of the resource that it is about, with its
//! name in the list of `cases.rs`. Its name says the rule, and a sentence of documentation whom it protects:
//!
//! ```ignore
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

pub mod approval;
mod asked;
#[macro_use]
mod cases;
mod commands;
pub mod deletion;
pub mod edits;
mod host;
mod mailbox;
pub mod messages;
mod part;
mod placed;
mod race;
pub mod receipts;
mod report;
mod scene;
pub mod sending;
mod someone;
pub mod subscriptions;
mod suite;
mod verdict;
mod walk;

pub mod forums;
pub mod members;
pub mod posts;
pub mod service;
pub mod standing;
pub mod threads;
pub mod visibility;

pub use asked::Asked;
pub use cases::CASES;
pub use host::{Audience, Host, NewForum, Role, Set, Stage};
pub use part::Part;
pub use placed::Placed;
pub use report::{Case, Report, run_all};
pub use someone::Someone;
pub use suite::{Suite, Written};
pub use verdict::{Stop, Verdict, equal, holds};

pub use super::board_tests;
#[doc(hidden)]
pub use super::{__board_cases, __board_tests};
