//! Webhooks: the endpoints there are, adding them, and what is done to one.

mod add;
mod change;
mod list;
mod show;
mod topics;
mod wanted;

pub(super) use add::add;
pub(super) use change::{activate, enable, ping, remove, retry_dead, rotate, subscribe};
pub(super) use list::list;
pub(super) use show::show;
