//! Tokens: `forum_pat_<lookup>_<secret>` (`docs/protocol.md`, section 3).

mod expiry;
mod issue;
mod plain_token;
mod record;

pub use expiry::{Expiry, ParseExpiryError};
#[cfg(feature = "panel")]
pub(crate) use issue::check_label;
pub use issue::{IssueError, TokenRequest, issue_token};
pub(crate) use plain_token::parse_presented;
pub use plain_token::{Lookup, ParseTokenError, PlainToken};
pub use record::{SecretDigest, TokenRecord, TokenState};
