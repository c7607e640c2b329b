//! The commands beside `serve`.

pub mod board;
pub mod delivery;
pub mod member;
pub mod token;
pub mod webhook;
