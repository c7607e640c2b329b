//! The commands beside `serve`.

pub mod audit;
pub mod board;
pub mod delivery;
pub mod member;
pub mod token;
pub mod webhook;
