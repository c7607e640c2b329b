//! Checks of the addresses to which webhooks are sent ([protocol](crate::guide::protocol), section 13.15).
//!
//! Webhooks must not reach the board's own network. An [`EndpointUrl`] is checked at registration and again at each
//! attempt, with the same rules: the [`AddressClass`] of each address to which its host resolves, in any notation.

mod class;
mod endpoint_url;
mod resolver;

pub use class::{AddressClass, classify_address};
pub(crate) use endpoint_url::without_query;
pub use endpoint_url::{AddressError, AllowedAddresses, EndpointUrl};
pub use resolver::{Resolver, SystemResolver};
