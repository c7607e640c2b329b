//! Deliveries: which there are, how each fared, and sending again.

mod filter;
mod list;
mod show;

pub(super) use list::{list, table, url};
pub(super) use show::{remove, retry, show};
