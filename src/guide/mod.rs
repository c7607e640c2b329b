//! The guide: how a board gets this API, a chapter at a time. Every example in it compiles.
//!
//! | chapter | answers |
//! |---|---|
//! | [`board`] | How do I come from an empty `impl` that answers 501 to a whole board? |
//! | [`fields`] | What do I answer for a field that my board does not have? |
//! | [`road`] | What happens to a request before my code runs, and after? |
//! | [`testing`] | Is my board right? |
//! | [`mounting`] | How does it stand beside my own routes, behind a proxy, with CORS and compression? |
//! | [`stores`] | Where are tokens, budgets, repeats and webhooks kept? |
//! | [`outbox`] | How do my transactions tell what happened? |
//! | [`webhooks`] | How are events sent, to whom, and how are they received? |
//! | [`nodes`] | How do many servers share one board, and what becomes of it when one of them fails? |
//! | [`logging`] | What is in the log, what is counted, and what should wake me up? |
//! | [`operating`] | Which commands does the example server have? |
//! | [`figures`] | What does it cost, and how is that measured? |
//!
//! For a board in an hour: the first section of [`board`], then [`testing`], then the rest of [`board`] with
//! [`fields`] beside it. `examples/existing_board` is a board that had its own tables, pages and form before, and
//! `examples/server` one that answers everything.

#[doc = include_str!("board.md")]
pub mod board {}

#[doc = include_str!("fields.md")]
pub mod fields {}

#[doc = include_str!("road.md")]
pub mod road {}

#[doc = include_str!("testing.md")]
pub mod testing {}

#[doc = include_str!("mounting.md")]
pub mod mounting {}

#[doc = include_str!("stores.md")]
pub mod stores {}

#[doc = include_str!("outbox.md")]
pub mod outbox {}

#[doc = include_str!("webhooks.md")]
pub mod webhooks {}

#[doc = include_str!("nodes.md")]
pub mod nodes {}

#[doc = include_str!("logging.md")]
pub mod logging {}

#[doc = include_str!("operating.md")]
pub mod operating {}

#[doc = include_str!("figures.md")]
pub mod figures {}
