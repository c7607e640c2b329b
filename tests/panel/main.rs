//! The control panel, in process: who may be here, what a form may do, and what a page looks like to a machine.

mod ask;
mod deliveries;
mod gate;
mod house;
mod issuing;
mod nonces;
mod pages;
mod webhooks;
