//! The control panel, in process: who may be here, what a form may do, and what a page looks like to a machine.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    unreachable_pub,
    reason = "a test that goes wrong is to fail, and nobody imports it"
)]

mod ask;
mod deliveries;
mod gate;
mod house;
mod issuing;
mod pages;
mod webhooks;
