//! The reference board: a small but real board over SQLite or Postgres.
//!
//! One file or folder for each resource holds its queries and commands. `access::permissions`, `rules`,
//! `posts::thread_view`, `polls::poll_rules` and `settings` hold the rules. Every command runs in one transaction, which also
//! records its events.

pub mod access;
pub mod accounts;
mod authorizer;
pub mod batches;
pub mod carried_changes;
mod commands;
pub mod copy;
pub mod db;
pub mod demo;
mod erasure;
mod events;
mod forum_count;
pub mod forums;
pub mod generate;
pub mod listings;
pub mod locks;
pub mod markdown;
mod messages;
mod polls;
pub mod posts;
mod ratings;
mod reference_board;
pub mod removal;
mod rules;
mod schema;
mod search;
pub mod settings;
mod subscriptions;
mod texts;
mod thread_row;
pub mod threads;

pub use reference_board::ReferenceBoard;
pub use schema::leave_gap;
