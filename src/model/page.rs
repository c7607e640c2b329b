//! Pages of lists, with keyset pagination ([protocol](crate::guide::protocol), section 7).

use std::fmt::{self, Display};

use schemars::json_schema;
use serde::{Deserialize, Deserializer, Serialize};
use thiserror::Error;

use super::serde_helpers::inline_schema;
use super::{Expected, Timestamp};
use crate::error::{ParseError, impl_as_str, impl_from_str};

/// Page of a list.
///
/// # Examples
/// A command that lists threads by time and id. The query starts after the page key, and fetches one row more than the
/// limit:
///
/// ```
/// use forum_api::host::BoardError;
/// use forum_api::model::{List, Page, PageKey, PageLimit, ThreadFilter};
///
/// struct Row {
///     active_at: i64,
///     id: i64,
/// }
///
/// fn page(
///     list: &List<ThreadFilter>,
///     query: impl Fn([i64; 2], i64) -> Vec<Row>,
/// ) -> Result<Page<i64>, BoardError> {
///     let start = list.after_or([i64::MAX, i64::MAX])?; // 400 for a key that this list cannot return
///     let rows = query(start, list.limit.plus_one());
///     let page = Page::from_overfetch(rows, list.limit, |last| [last.active_at, last.id].into());
///     Ok(page.map(|row| row.id))
/// }
///
/// let query = |[_, before]: [i64; 2], count: i64| {
///     let ids = (1..=3).rev().filter(|id| *id < before);
///     ids.take(count as usize).map(|id| Row { active_at: 100, id }).collect()
/// };
/// let mut list = List::<ThreadFilter>::default();
/// list.limit = PageLimit::new(2).unwrap();
/// let first = page(&list, query)?;
/// assert_eq!((first.items, first.next.as_ref()), (vec![3, 2], Some(&PageKey::new("100.2"))));
/// list.after = first.next;
/// let last = page(&list, query)?;
/// assert_eq!((last.items, last.next), (vec![1], None));
/// # Ok::<(), BoardError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[doc(alias = "pagination")]
pub struct Page<T> {
    /// The items, in the list's order.
    pub items: Vec<T>,
    /// Key of the last item; `None` on the last page. Clients receive it as an opaque cursor.
    pub next: Option<PageKey>,
}

impl<T> Page<T> {
    /// Builds a page from up to [`limit.plus_one()`](PageLimit::plus_one) items; the extra item only shows that another
    /// page follows.
    ///
    /// `key` returns the page key of the last item of the page. It is called only if another page follows.
    pub fn from_overfetch(
        items: Vec<T>,
        limit: PageLimit,
        key: impl FnOnce(&T) -> PageKey,
    ) -> Self {
        Self::from_sized_overfetch(items, limit, usize::MAX, |_| 0, key)
    }

    /// Builds a page like [`from_overfetch`](Self::from_overfetch), and ends it before the sum of the items' `size` exceeds
    /// `max_size`. The page has at least one item unless `items` is empty, so that a client can continue the list.
    ///
    /// Use it for lists of long texts: 100 posts of 100 kB each would be a response of 10 MB.
    ///
    /// ```
    /// use forum_api::model::{Page, PageKey, PageLimit};
    ///
    /// let texts = vec!["aaaa", "bbbb", "cccc"];
    /// let size = |text: &&str| text.len();
    /// let key = |text: &&str| PageKey::new(*text);
    /// let page = Page::from_sized_overfetch(texts, PageLimit::default(), 10, size, key);
    /// assert_eq!((page.items, page.next), (vec!["aaaa", "bbbb"], Some(PageKey::new("bbbb"))));
    /// ```
    pub fn from_sized_overfetch(
        mut items: Vec<T>,
        limit: PageLimit,
        max_size: usize,
        size: impl Fn(&T) -> usize,
        key: impl FnOnce(&T) -> PageKey,
    ) -> Self {
        let fetched = items.len();
        let mut total = 0_usize;
        let fits = |item: &&T| {
            total = total.saturating_add(size(item));
            total <= max_size
        };
        let fitting = items.iter().take(limit.get()).take_while(fits).count();
        items.truncate(fitting.max(1));
        let has_more = items.len() < fetched;
        let next = items.last().filter(|_| has_more).map(key);
        Self { items, next }
    }

    /// Converts the items.
    pub fn map<U>(self, convert: impl FnMut(T) -> U) -> Page<U> {
        Page { items: self.items.into_iter().map(convert).collect(), next: self.next }
    }
}

/// Creates the only page of a list: [`next`](Page::next) is `None`.
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
/// let key = PageKey::from([1_769_860_800_000, 17]);
/// assert_eq!((key.as_str(), key.parse_ints()), ("1769860800000.17", Ok([1_769_860_800_000, 17])));
/// assert!(PageKey::new("tea").parse_ints::<2>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[doc(alias = "cursor")]
#[doc(alias = "keyset")]
pub struct PageKey(String);

/// Error of a page key whose format the list does not use, for example because a client forged the cursor.
///
/// `?` converts it to [`BoardError::InvalidParameter`](crate::host::BoardError::InvalidParameter) for `after`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the page key is invalid")]
#[non_exhaustive]
pub struct InvalidPageKeyError;

impl PageKey {
    /// Maximum length in bytes. A list that returns a longer key, or one with U+0000, fails with a 500 `internal_error`.
    pub const MAX_LEN: usize = 120;

    /// Creates a page key from the host's text. For integers, use `From<[i64; N]>`.
    pub fn new(text: impl Display) -> Self {
        Self(text.to_string())
    }

    /// Returns the host's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Creates the key `time.id` of a list that is ordered by time in milliseconds and id. On boards with numeric ids,
    /// [`parse_ints`](Self::parse_ints) returns both.
    pub fn from_time_and_id(time: Timestamp, id: impl Display) -> Self {
        Self::new(format_args!("{}.{id}", time.as_millis()))
    }

    /// Parses exactly `N` integers that are separated by dots.
    ///
    /// # Errors
    /// [`InvalidPageKeyError`] if the text has another format.
    pub fn parse_ints<const N: usize>(&self) -> Result<[i64; N], InvalidPageKeyError> {
        let numbers: Result<Vec<i64>, _> = self.0.split('.').map(str::parse).collect();
        numbers.ok().and_then(|numbers| numbers.try_into().ok()).ok_or(InvalidPageKeyError)
    }
}

/// Joins the integers with dots. [`PageKey::parse_ints`] is the inverse.
impl<const N: usize> From<[i64; N]> for PageKey {
    fn from(numbers: [i64; N]) -> Self {
        Self(numbers.map(|number| number.to_string()).join("."))
    }
}

impl_as_str!(PageKey);

/// Maximum of a [`PageLimit`].
const MAX_LIMIT: u8 = 100;

/// Default of a [`PageLimit`].
const DEFAULT_LIMIT: u8 = 20;

/// Maximum number of items of a page, from 1 to 100. Default: 20.
///
/// ```
/// use forum_api::model::PageLimit;
///
/// assert_eq!(PageLimit::default().get(), 20);
/// assert!(PageLimit::new(101).is_err());
/// let limit: PageLimit = "50".parse().unwrap();
/// assert_eq!(limit.plus_one(), 51);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct PageLimit(u8);

impl PageLimit {
    /// Creates a limit.
    ///
    /// # Errors
    /// [`ParseError`] unless `items` is from 1 to 100.
    pub fn new(items: u8) -> Result<Self, ParseError> {
        if (1..=MAX_LIMIT).contains(&items) { Ok(Self(items)) } else { Err(PARSE_ERROR) }
    }

    /// Returns the number of items.
    pub fn get(self) -> usize {
        self.0.into()
    }

    /// Returns the number of items plus one, for the `LIMIT` of a query whose rows [`Page::from_overfetch`] takes.
    pub fn plus_one(self) -> i64 {
        i64::from(self.0) + 1
    }

    /// Parses a number from 1 to 100.
    ///
    /// # Errors
    /// [`ParseError`] for any other text.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        text.parse().map_err(|_| PARSE_ERROR).and_then(Self::new)
    }
}

const PARSE_ERROR: ParseError = ParseError::new(Expected::LIMIT.as_str());

impl_from_str!(PageLimit);

impl TryFrom<i64> for PageLimit {
    type Error = ParseError;

    fn try_from(items: i64) -> Result<Self, ParseError> {
        let items = u8::try_from(items).map_err(|_| PARSE_ERROR)?;
        Self::new(items)
    }
}

impl fmt::Display for PageLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Default for PageLimit {
    fn default() -> Self {
        Self(DEFAULT_LIMIT)
    }
}

impl<'de> Deserialize<'de> for PageLimit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let items = u64::deserialize(deserializer).ok().and_then(|items| u8::try_from(items).ok());
        let limit = items.and_then(|items| Self::new(items).ok());
        limit.ok_or_else(|| Expected::LIMIT.error())
    }
}

inline_schema!(
    PageLimit,
    json_schema!({ "type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT })
);
