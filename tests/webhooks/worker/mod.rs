//! The worker over stores in memory, a transport that plays the receivers, and a clock that stands still.

pub(crate) mod people;
mod receivers;
mod scene;
pub(crate) mod stores;

mod attempts;
mod audience;
mod bounds;
mod faults;
mod leases;
mod log;
mod pace;
mod stopping;
mod sweeping;
mod threads;
mod waits;
