//! The worker with manually advanced time and in-memory stores.

mod attempts;
mod endpoint_filter;
mod faults;
mod fixture;
mod leases;
mod limits;
mod log;
mod owners;
mod polling;
mod relay;
mod stopping;
mod transport;
