//! Lists: `{"items":[…],"next":…}`, keyset-paged (`docs/protocol.md`, section 7).

use std::fmt::Display;

use schemars::json_schema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

use super::Expected;
use super::serde_helpers::inline_schema;

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// The items, in the list's order.
    pub items: Vec<T>,
    /// Position after the last item; `None` on the last page. Clients receive it as an opaque cursor.
    pub next: Option<PageKey>,
}

impl<T> Page<T> {
    /// A page from up to `limit + 1` items: what was fetched beyond the limit tells that more follows, and is cut.
    pub fn from_overfetch(
        mut items: Vec<T>,
        limit: PageLimit,
        position: impl FnOnce(&T) -> PageKey,
    ) -> Self {
        let more = items.len() > limit.get();
        items.truncate(limit.get());
        let next = items.last().filter(|_| more).map(position);
        Self { items, next }
    }
}

/// A place in a list, in the host's own short text: a sort key that a query can start after, such as `time.id`.
///
/// The library binds it to its list, checks it and encodes it as the opaque cursor that clients see. It holds
/// nothing that the client may not see, and it is the client's word: read it as carefully as any input. At most
/// 120 bytes; a list with a longer one answers `internal_error`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PageKey(String);

/// A position was asked for its numbers, and has others, or none: no list of this board gave it.
///
/// `?` in a command turns it into [`BoardError::Unusable`](crate::host::BoardError::Unusable), of `after`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the page key is invalid")]
pub struct InvalidPageKeyError;

impl PageKey {
    /// The longest position, in bytes.
    pub const MAX_LEN: usize = 120;

    /// A position that reads `text`.
    pub fn new(text: impl Display) -> Self {
        Self(text.to_string())
    }

    /// The host's own text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The numbers of a position that was made of numbers with dots between them.
    ///
    /// # Errors
    /// [`InvalidPageKeyError`] when it holds anything else.
    pub fn parse_ints<const N: usize>(&self) -> Result<[i64; N], InvalidPageKeyError> {
        let numbers: Result<Vec<i64>, _> = self.0.split('.').map(str::parse).collect();
        numbers
            .ok()
            .and_then(|numbers| numbers.try_into().ok())
            .ok_or(InvalidPageKeyError)
    }
}

/// How many items a page holds: 1-100, 20 by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PageLimit(u8);

impl PageLimit {
    /// `None` unless it is 1-100.
    pub fn new(items: u8) -> Option<Self> {
        (1..=100).contains(&items).then_some(Self(items))
    }

    /// The number of items.
    pub fn get(self) -> usize {
        self.0.into()
    }
}

impl Default for PageLimit {
    fn default() -> Self {
        Self(20)
    }
}

impl Serialize for PageLimit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(self.0)
    }
}

impl<'de> Deserialize<'de> for PageLimit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = || Expected::Limit.error();
        let items = u64::deserialize(deserializer).map_err(|_: D::Error| expected())?;
        u8::try_from(items)
            .ok()
            .and_then(Self::new)
            .ok_or_else(expected)
    }
}

inline_schema!(
    PageLimit,
    "Limit",
    json_schema!({ "type": "integer", "minimum": 1, "maximum": 100, "default": 20 })
);
