//! API tokens: format, storage, expiry and issue ([protocol](crate::guide::protocol), section 3).
//!
//! A token is `forum_pat_<lookup>_<secret>`. The store holds a [`TokenRecord`] with the public [`Lookup`] and the hash of
//! the secret. [`issue_token`] creates a token for the host's control panel or command line; the library parses and checks
//! the tokens of requests.

mod expiry;
mod issue;
mod plain_token;
mod record;
pub(crate) mod store;

pub use expiry::Expiry;
#[cfg(feature = "panel")]
pub(crate) use issue::parse_label;
pub use issue::{IssueError, TokenRequest, issue_token};
pub(crate) use plain_token::parse_presented;
pub use plain_token::{Lookup, PlainToken, SecretDigest};
pub use record::{TokenRecord, TokenState};
