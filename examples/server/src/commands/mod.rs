//! The commands beside `serve`.

pub mod backup;
pub mod board;
pub mod config;
pub mod delivery;
pub mod member;
pub mod token;
pub mod webhook;
pub mod worker;
