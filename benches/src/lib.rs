//! Fixtures that several benchmarks share.

pub mod cpu_time;
pub mod fixture;
pub mod measurements;
pub mod receiver;
pub mod static_board;
pub mod storage;
pub mod wrk;
