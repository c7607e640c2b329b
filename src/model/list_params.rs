//! Page keys of list parameters as integers, and pages of lists in memory.

use super::{
    InvalidPageKeyError, ListMessagesParams, ListPostsParams, ListSubscriptionsParams,
    ListThreadsParams, Page, PageKey, SearchParams,
};

/// Adds `after_ints`, `after_or` and `page` to the parameters of lists.
macro_rules! impl_after {
    ($($params:ident)+) => {$(
        impl $params {
            /// Returns the integers of [`after`](Self::after); `None` for the first page.
            ///
            /// # Errors
            /// [`InvalidPageKeyError`] if `after` is not `N` integers that are separated by dots. `?` converts it to a
            /// 400 `bad_request`.
            pub fn after_ints<const N: usize>(
                &self,
            ) -> Result<Option<[i64; N]>, InvalidPageKeyError> {
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

            /// Sorts the items of a list in memory by `key` in ascending order, and returns the page that begins
            /// after the key [`after`](Self::after).
            ///
            /// The keys must be unique. For a descending order, `key` returns negative numbers.
            ///
            /// # Errors
            /// [`InvalidPageKeyError`] in the same cases as [`after_ints`](Self::after_ints).
            ///
            /// # Examples
            /// ```
            /// use forum_api::model::{ListMessagesParams, PageLimit};
            ///
            /// let mut params = ListMessagesParams::default();
            /// params.limit = PageLimit::new(2).unwrap();
            /// let newest_first = |number: &i64| [-number];
            /// let first = params.page([5, 7, 6], newest_first).unwrap();
            /// assert_eq!(first.items, [7, 6]);
            ///
            /// params.after = first.next;
            /// let last = params.page([5, 7, 6, 8], newest_first).unwrap();
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
    )+};
}

impl_after!(ListThreadsParams ListPostsParams ListMessagesParams ListSubscriptionsParams SearchParams);
