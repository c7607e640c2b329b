//! The control panel, in process: access, forms and pages.

mod access;
mod audit;
mod deliveries;
mod endpoints;
mod fixture;
mod nonces;
mod pages;
mod recorded;
mod tokens;
mod usage;
