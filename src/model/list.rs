//! Parameters of a list: filters, limit and position.

use super::{InvalidPageKeyError, Page, PageKey, PageLimit, json_size};

/// Query parameters of a list: the filters `F`, the number of items and the position. `F` is `()` for a list of a host
/// without filters.
///
/// The position is a [`PageKey`], which the library decodes from the client's cursor. A cursor is valid only for the
/// list and the filters for which it was returned. A client may change a filter with `#[serde(skip_serializing)]`
/// between two pages.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct List<F> {
    /// The filters.
    pub filter: F,
    /// Number of items per page, 1 to 100. Default: 20.
    pub limit: PageLimit,
    /// Position after which the page starts; `None` for the first page.
    pub after: Option<PageKey>,
    /// Maximum size of the texts of a page, in bytes as [`json_size`](Self::json_size) counts them. The page ends before its
    /// limit once its texts exceed it. 512 KiB; 256 KiB for a tool of the Model Context Protocol, whose result contains each
    /// text twice.
    pub max_bytes: usize,
    pub(crate) form: PageForm,
    /// The list that the cursor of the next page belongs to.
    pub(crate) cursor_scope: CursorScope,
}

/// The list that a cursor belongs to: a hash of its path, its filters and, if it is personal, its owner.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CursorScope(pub(crate) u64);

/// Form in which a response contains a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PageForm {
    /// The JSON of the page is the body.
    #[default]
    Body,
    /// The result of a tool contains the JSON of the page in a string, and a second time as it is.
    #[cfg(feature = "mcp")]
    ToolResult,
}

impl PageForm {
    pub(crate) const fn max_bytes(self) -> usize {
        match self {
            Self::Body => 512 * 1024,
            #[cfg(feature = "mcp")]
            Self::ToolResult => 256 * 1024,
        }
    }

    /// Returns the size in bytes of an item that is written to the page as the stored JSON. The result of a tool
    /// contains the page as a string: there the size includes the escapes.
    #[cfg(feature = "webhooks")]
    pub(crate) fn stored_json_size(self, json: &str) -> usize {
        match self {
            Self::Body => json.len(),
            #[cfg(feature = "mcp")]
            Self::ToolResult => json_size::string_size(json),
        }
    }
}

impl<F: Default> Default for List<F> {
    fn default() -> Self {
        Self::new(F::default())
    }
}

impl<F> List<F> {
    /// Creates the parameters of the first page, with 20 items and 512 KiB of texts.
    pub fn new(filter: F) -> Self {
        Self::in_form(PageForm::default(), filter)
    }

    pub(crate) fn in_form(form: PageForm, filter: F) -> Self {
        Self {
            filter,
            limit: PageLimit::default(),
            after: None,
            max_bytes: form.max_bytes(),
            form,
            cursor_scope: CursorScope::default(),
        }
    }

    /// Returns the size of a text in the response, in bytes: that of the content of its JSON string. For a tool of the Model
    /// Context Protocol, that in the string that contains the JSON of the page.
    ///
    /// A board sums the sizes of the texts of a page up, and ends the page once they exceed [`max_bytes`](Self::max_bytes):
    ///
    /// ```
    /// use forum_api::model::{List, Page, PageKey};
    ///
    /// let mut list = List::new(());
    /// list.max_bytes = 10;
    /// assert_eq!(list.json_size("\"a\"\n"), 7);
    ///
    /// let texts = vec!["\"a\"\n", "bbb", "ccc"];
    /// let size = |text: &&str| list.json_size(text);
    /// let key = |text: &&str| PageKey::new(*text);
    /// let page = Page::from_sized_overfetch(texts, list.limit, list.max_bytes, size, key);
    /// assert_eq!(page.items, ["\"a\"\n", "bbb"]);
    /// ```
    pub fn json_size(&self, text: &str) -> usize {
        match self.form {
            PageForm::Body => json_size::string_size(text),
            #[cfg(feature = "mcp")]
            PageForm::ToolResult => json_size::contained_string_size(text),
        }
    }

    /// Returns the integers of [`after`](Self::after); `None` for the first page.
    ///
    /// # Errors
    /// [`InvalidPageKeyError`] if `after` is not `N` integers that are separated by dots. `?` converts it to a 400
    /// `bad_request`.
    pub fn after_ints<const N: usize>(&self) -> Result<Option<[i64; N]>, InvalidPageKeyError> {
        self.after.as_ref().map(PageKey::parse_ints).transpose()
    }

    /// Returns the integers of [`after`](Self::after), or `start` for the first page.
    ///
    /// # Errors
    /// [`InvalidPageKeyError`] in the same cases as [`after_ints`](Self::after_ints).
    pub fn after_or<const N: usize>(
        &self,
        start: [i64; N],
    ) -> Result<[i64; N], InvalidPageKeyError> {
        Ok(self.after_ints()?.unwrap_or(start))
    }

    /// Sorts the items of a list in memory by `key` in ascending order, and returns the page that begins after the key
    /// [`after`](Self::after).
    ///
    /// The keys must be unique. For a descending order, `key` returns negative numbers.
    ///
    /// # Errors
    /// [`InvalidPageKeyError`] in the same cases as [`after_ints`](Self::after_ints).
    ///
    /// # Examples
    /// ```
    /// use forum_api::model::{List, PageLimit};
    ///
    /// let mut list = List::new(());
    /// list.limit = PageLimit::new(2).unwrap();
    /// let newest_first = |number: &i64| [-number];
    /// let first = list.page([5, 7, 6], newest_first).unwrap();
    /// assert_eq!(first.items, [7, 6]);
    ///
    /// list.after = first.next;
    /// let last = list.page([5, 7, 6, 8], newest_first).unwrap();
    /// assert_eq!((last.items, last.next), (vec![5], None));
    /// ```
    pub fn page<T, const N: usize>(
        &self,
        items: impl IntoIterator<Item = T>,
        key: impl Fn(&T) -> [i64; N],
    ) -> Result<Page<T>, InvalidPageKeyError> {
        let after = self.after_ints()?;
        let is_later = |item: &T| after.is_none_or(|after| key(item) > after);
        let mut items: Vec<T> = items.into_iter().filter(is_later).collect();
        items.sort_by_cached_key(&key);
        Ok(Page::from_overfetch(items, self.limit, |last| key(last).into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A client whose cursor has a former format of the keys does not read the list again from its start.
    #[test]
    fn a_position_in_another_format_is_an_error() {
        let mut list = List::new(());
        for position in ["tea", "1", "1.x", "1.2.3"] {
            list.after = Some(PageKey::new(position));
            assert!(list.after_ints::<2>().is_err(), "{position}");
            assert!(list.after_or([0, 0]).is_err(), "{position}");
            assert!(list.page([1], |number: &i64| [*number, 0]).is_err(), "{position}");
        }
        list.after = None;
        assert_eq!(list.after_or([7, 8]), Ok([7, 8]));
    }
}
