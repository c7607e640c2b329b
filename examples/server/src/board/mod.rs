//! The reference board: a small but real board over SQLite or Postgres.
//!
//! One file per resource holds its queries and commands; `permissions`, `rules`, `edit_rules`, `poll_rules` and `settings`
//! hold the rules. Every command runs in one transaction, which also records its events.

pub mod accounts;
pub mod actor;
mod authorizer;
mod commands;
pub mod copy;
pub mod db;
pub mod demo;
mod edit_rules;
mod events;
pub mod forums;
pub mod generate;
pub mod groups;
mod last_used;
pub mod listings;
pub mod locks;
pub mod markdown;
mod messages;
pub mod moderation;
pub mod passwords;
pub mod permissions;
mod poll_rules;
mod polls;
mod post_insert;
mod post_row;
pub mod posts;
mod ratings;
mod reference_board;
mod rules;
mod schema;
mod search;
pub mod sessions;
pub mod settings;
mod subscriptions;
mod texts;
pub mod threads;
mod visibility;

pub use reference_board::ReferenceBoard;
