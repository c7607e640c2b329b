//! Cursors: a position in a list, bound to that list and checksummed (contract, section 5).

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::api::extract::error::Complaint;
use crate::model::{Position, UserId};

/// Which list a cursor belongs to: a hash of all that makes it that list.
#[derive(Clone, Copy, Debug)]
pub(super) struct List(u64);

const TAG: usize = 8;

impl List {
    /// The list behind `path` with these filters, `owner`'s own if it is personal.
    pub(super) fn new(path: &str, filters: &[u8], owner: Option<&UserId>) -> Self {
        let owner = owner.map(ToString::to_string).unwrap_or_default();
        let parts = [path.as_bytes(), filters, owner.as_bytes()];
        let hash = |of_those_before, part: &[u8]| xxh3_64_with_seed(part, of_those_before);
        Self(parts.into_iter().fold(0, hash))
    }

    fn tag(self, position: &[u8]) -> [u8; TAG] {
        xxh3_64_with_seed(position, self.0).to_be_bytes()
    }

    /// The opaque cursor for a position; `None` for one that is too long.
    pub(super) fn seal(self, position: &Position) -> Option<Position> {
        let bytes = position.as_str().as_bytes();
        let sealed = [&self.tag(bytes), bytes].concat();
        (bytes.len() <= Position::MAX).then(|| Position::new(BASE64_URL_SAFE_NO_PAD.encode(sealed)))
    }

    /// The position in a cursor, if this list gave it.
    pub(super) fn open(self, cursor: &Position) -> Result<Position, Complaint> {
        let sealed = BASE64_URL_SAFE_NO_PAD
            .decode(cursor.as_str())
            .unwrap_or_default();
        let opened = sealed
            .split_at_checked(TAG)
            .filter(|(tag, position)| self.tag(position) == *tag);
        let text = opened.and_then(|(_, position)| std::str::from_utf8(position).ok());
        text.map(Position::new)
            .ok_or_else(|| Complaint::expected("after", "a cursor that this list gave"))
    }
}

#[cfg(test)]
mod tests {
    use super::{List, Position};
    use crate::model::UserId;

    #[test]
    fn is_good_for_its_own_list_alone() {
        let list = List::new("/threads/1/posts", b"{}", None);
        let position = Position::new("17.4");
        let cursor = list.seal(&position).unwrap();
        assert_eq!(list.open(&cursor), Ok(position));
        let others = [
            List::new("/threads/2/posts", b"{}", None),
            List::new("/threads/1/posts", b"{\"since\":null}", None),
            List::new("/threads/1/posts", b"{}", Some(&UserId::from(1))),
        ];
        for other in others {
            assert!(other.open(&cursor).is_err());
        }
    }

    #[test]
    fn an_edited_one_is_refused() {
        let list = List::new("/forums/1/threads", b"", None);
        let cursor = list.seal(&Position::new("5")).unwrap();
        let text = cursor.as_str();
        let edited = [
            String::new(),
            format!("{text}A"),
            format!("{text}="),
            text[1..].into(),
            text.replace(&text[3..4], "-"),
            "%%%".into(),
        ];
        for edited in edited {
            assert!(list.open(&Position::new(&edited)).is_err(), "{edited}");
        }
    }

    #[test]
    fn the_longest_position_fits_into_200_characters() {
        let list = List::new("", b"", None);
        let longest = Position::new("x".repeat(Position::MAX));
        assert!(list.seal(&longest).unwrap().as_str().len() <= 200);
        assert!(
            list.seal(&Position::new("x".repeat(Position::MAX + 1)))
                .is_none()
        );
    }
}
