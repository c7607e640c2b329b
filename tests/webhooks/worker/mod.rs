//! The worker in time that the test advances, over stores in memory.

mod attempts;
mod endpoint_filter;
mod faults;
mod fixture;
mod leases;
mod limits;
mod log;
mod owners;
mod polling;
mod stopping;
mod threads;
mod transport;
