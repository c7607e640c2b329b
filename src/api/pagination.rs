//! Cursors: a position in a list, bound to that list and checksummed (`docs/protocol.md`, section 7.2).

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use xxhash_rust::xxh3::{Xxh3, xxh3_64_with_seed};

use super::extract::error::InputError;
use super::extract::params::Params;
use crate::model::{Expected, PageKey, UserId};

/// Which list a cursor belongs to: a hash of its path, its filters and its owner.
#[derive(Clone, Copy, Debug)]
pub(super) struct CursorScope(u64);

const CHECKSUM: usize = 8;

impl CursorScope {
    /// The list behind `path`, narrowed by `params`; it is `owner`'s own if it is personal.
    pub(super) fn new(
        path: &str,
        params: &impl Params,
        owner: Option<&UserId>,
    ) -> serde_json::Result<Self> {
        let path = xxh3_64_with_seed(path.as_bytes(), 0);
        let mut filters = Xxh3::with_seed(path);
        params.write_filters(&mut filters)?;
        let owner = owner.map(ToString::to_string).unwrap_or_default();
        Ok(Self(xxh3_64_with_seed(owner.as_bytes(), filters.digest())))
    }

    fn checksum(self, position: &[u8]) -> [u8; CHECKSUM] {
        xxh3_64_with_seed(position, self.0).to_be_bytes()
    }

    /// The opaque cursor of a position; `None` for one that is too long.
    pub(super) fn encode(self, position: &PageKey) -> Option<String> {
        let position = position.as_str().as_bytes();
        let cursor = [&self.checksum(position), position].concat();
        (position.len() <= PageKey::MAX_LEN).then(|| BASE64_URL_SAFE_NO_PAD.encode(cursor))
    }

    /// The position in a cursor, if this list made it.
    pub(super) fn decode(self, cursor: &str) -> Result<PageKey, InputError> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(cursor).unwrap_or_default();
        let parts = bytes.split_at_checked(CHECKSUM);
        let own = parts.filter(|(checksum, position)| self.checksum(position) == *checksum);
        let text = own.and_then(|(_, position)| std::str::from_utf8(position).ok());
        text.map(PageKey::new)
            .ok_or_else(|| InputError::expected("after", Expected::Cursor))
    }
}

#[cfg(test)]
mod tests {
    use super::{CursorScope, PageKey};
    use crate::model::ListPostsParams;

    #[test]
    fn the_longest_position_fits_into_200_characters() {
        let list = CursorScope::new("", &ListPostsParams::default(), None).unwrap();
        for (length, fits) in [(PageKey::MAX_LEN, true), (PageKey::MAX_LEN + 1, false)] {
            let cursor = list.encode(&PageKey::new("x".repeat(length)));
            assert_eq!(cursor.is_some_and(|cursor| cursor.len() <= 200), fits);
        }
    }
}
