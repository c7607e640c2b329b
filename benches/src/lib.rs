//! Fixtures that several benchmarks share.

pub mod fixture;
pub mod measurements;
pub mod receiver;
pub mod static_board;
