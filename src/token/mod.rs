//! Tokens: `forum_pat_<lookup>_<secret>` (spec, Authentication; contract, section 2).

mod expiry;
mod issue;
mod plain_token;
mod record;

pub use expiry::{BadExpiry, Expiry};
#[cfg(feature = "panel")]
pub(crate) use issue::check_label;
pub use issue::{Issue, IssueError, issue};
pub(crate) use plain_token::parse_presented;
pub use plain_token::{Lookup, Malformed, PlainToken};
pub use record::{Digest, TokenRecord, TokenState};
