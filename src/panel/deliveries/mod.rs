//! Deliveries: list, details, and operator retry.

mod filter;
mod list;
mod show;

pub(super) use list::{list, quarantine, table, url};
pub(super) use show::{remove, retry, show};
