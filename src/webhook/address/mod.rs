//! Which addresses webhooks may go to (contract, section 8).
//!
//! A webhook must not become a way into the network that the board itself stands in. So a [`Target`] is checked when
//! it is registered and again at each attempt, by the same rules: a [`verdict`] on each address that its name leads
//! to, in whatever form it is written.

mod class;
mod endpoint_url;
mod error;
mod lookups;
mod resolver;

pub use class::{Verdict, verdict};
pub use endpoint_url::Target;
pub use error::Refused;
pub use resolver::{Resolver, SystemResolver};
