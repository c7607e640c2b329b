//! The control panel, in process: who may use it, what a form does, and what a page contains.

mod access;
mod deliveries;
mod endpoints;
mod fixture;
mod nonces;
mod pages;
mod tokens;
