//! Pages of lists, with keyset pagination (`docs/protocol.md`, section 7).

use std::fmt::Display;

use schemars::json_schema;
use serde::{Deserialize, Deserializer, Serialize};
use thiserror::Error;

use super::Expected;
use super::serde_helpers::inline_schema;

/// Page of a list.
///
/// # Examples
/// A command that lists threads by time and id. The query starts after the page key, and fetches one row more than the
/// limit:
///
/// ```
/// use forum_api::host::BoardError;
/// use forum_api::model::{Page, PageKey, PageLimit};
///
/// struct Row {
///     active_at: i64,
///     id: i64,
/// }
///
/// fn page(
///     after: Option<&PageKey>,
///     limit: PageLimit,
///     query: impl Fn([i64; 2], usize) -> Vec<Row>,
/// ) -> Result<Page<Row>, BoardError> {
///     let [active_at, id] = match after {
///         Some(key) => key.parse_ints()?, // 400 for a key that this list cannot return
///         None => [i64::MAX, i64::MAX],
///     };
///     let rows = query([active_at, id], limit.get() + 1);
///     Ok(Page::from_overfetch(rows, limit, |last| {
///         PageKey::new(format_args!("{}.{}", last.active_at, last.id))
///     }))
/// }
///
/// let query = |[_, before]: [i64; 2], count| {
///     let ids = (1..=3).rev().filter(|id| *id < before);
///     ids.take(count).map(|id| Row { active_at: 100, id }).collect()
/// };
/// let limit = PageLimit::new(2).unwrap();
/// let first = page(None, limit, query)?;
/// assert_eq!((first.items.len(), first.next.as_ref()), (2, Some(&PageKey::new("100.2"))));
/// let last = page(first.next.as_ref(), limit, query)?;
/// assert_eq!((last.items.len(), last.next), (1, None));
/// # Ok::<(), BoardError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// The items, in the list's order.
    pub items: Vec<T>,
    /// Key of the last item; `None` on the last page. Clients receive it as an opaque cursor.
    pub next: Option<PageKey>,
}

impl<T> Page<T> {
    /// Builds a page from up to `limit + 1` items; the extra item only signals that another page follows.
    ///
    /// `key` returns the page key of the last item of the page. It is called only if another page follows.
    pub fn from_overfetch(
        mut items: Vec<T>,
        limit: PageLimit,
        key: impl FnOnce(&T) -> PageKey,
    ) -> Self {
        let has_more = items.len() > limit.get();
        items.truncate(limit.get());
        let next = items.last().filter(|_| has_more).map(key);
        Self { items, next }
    }
}

/// Creates a page that is the whole list.
impl<T> From<Vec<T>> for Page<T> {
    fn from(items: Vec<T>) -> Self {
        Self { items, next: None }
    }
}

/// Sort key of the last item of a page, in a text format that the host chooses, such as `time.id`. The next page starts
/// after this item.
///
/// The library encodes it as an opaque cursor with a checksum, bound to the list and its filters. The cursor is neither
/// encrypted nor signed: a client can read and forge the key. Do not put data in it that the client may not see, and
/// validate it like any other input.
///
/// # Examples
/// ```
/// use forum_api::model::PageKey;
///
/// let key = PageKey::new(format_args!("{}.{}", 1_769_860_800_000_i64, 17));
/// assert_eq!(key.parse_ints(), Ok([1_769_860_800_000, 17]));
/// assert!(PageKey::new("tea").parse_ints::<2>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PageKey(String);

/// Error of a page key with an unexpected format: no list of the board returned it.
///
/// `?` converts it to [`BoardError::InvalidParameter`](crate::host::BoardError::InvalidParameter) for `after`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the page key is invalid")]
#[non_exhaustive]
pub struct InvalidPageKeyError;

impl PageKey {
    /// Maximum length in bytes. A list that returns a longer key fails with a 500 `internal_error`.
    pub const MAX_LEN: usize = 120;

    /// Creates a page key from the host's text.
    pub fn new(text: impl Display) -> Self {
        Self(text.to_string())
    }

    /// Returns the host's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Parses exactly `N` integers that are separated by dots.
    ///
    /// # Errors
    /// [`InvalidPageKeyError`] if the text has another format.
    pub fn parse_ints<const N: usize>(&self) -> Result<[i64; N], InvalidPageKeyError> {
        let numbers: Result<Vec<i64>, _> = self.0.split('.').map(str::parse).collect();
        numbers
            .ok()
            .and_then(|numbers| numbers.try_into().ok())
            .ok_or(InvalidPageKeyError)
    }
}

/// Maximum number of items of a page, from 1 to 100. Default: 20.
///
/// ```
/// use forum_api::model::PageLimit;
///
/// assert_eq!(PageLimit::default().get(), 20);
/// assert_eq!(PageLimit::new(101), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct PageLimit(u8);

impl PageLimit {
    /// Creates a limit; `None` unless `items` is from 1 to 100.
    pub fn new(items: u8) -> Option<Self> {
        (1..=100).contains(&items).then_some(Self(items))
    }

    /// Returns the number of items.
    pub fn get(self) -> usize {
        self.0.into()
    }
}

impl Default for PageLimit {
    fn default() -> Self {
        Self(20)
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
    json_schema!({ "type": "integer", "minimum": 1, "maximum": 100, "default": 20 })
);
