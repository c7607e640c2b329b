//! The addresses that webhooks may be sent to (`docs/protocol.md`, section 13.15).
//!
//! A webhook must not become a way into the board's own network. So a [`Target`] is checked when it is registered and
//! again at each attempt, by the same rules: the [`Verdict`] on each address to which its name resolves, in any notation.

mod class;
mod endpoint_url;
mod resolver;

pub use class::{AddressClass, classify_address};
pub use endpoint_url::{AddressError, EndpointUrl};
pub use resolver::{Resolver, SystemResolver};
