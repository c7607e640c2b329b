//! API tokens: who has which, issuing and revoking.

mod issue;
mod list;
mod wanted;

pub(super) use issue::{ask, issue};
pub(super) use list::{list, revoke};
