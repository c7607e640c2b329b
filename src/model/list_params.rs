//! Page keys of list parameters as integers.

use super::{
    InvalidPageKeyError, ListMessagesParams, ListPostsParams, ListSubscriptionsParams,
    ListThreadsParams, PageKey, SearchParams,
};

/// Adds `after_ints` and `after_or` to the parameters of lists.
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
            /// [`InvalidPageKeyError`], as [`after_ints`](Self::after_ints).
            pub fn after_or<const N: usize>(
                &self,
                start: [i64; N],
            ) -> Result<[i64; N], InvalidPageKeyError> {
                Ok(self.after_ints()?.unwrap_or(start))
            }
        }
    )+};
}

impl_after!(ListThreadsParams ListPostsParams ListMessagesParams ListSubscriptionsParams SearchParams);
