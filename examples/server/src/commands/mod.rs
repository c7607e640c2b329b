//! The commands beside `serve`.

pub mod audit;
pub mod backup;
pub mod board;
pub mod config;
mod content;
pub mod delivery;
pub mod member;
pub mod token;
pub mod webhook;
pub mod worker;
