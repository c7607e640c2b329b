//! Lists that the rules read page by page.

use std::fmt::Debug;

use async_trait::async_trait;

use super::{CallResult, TestCaller, TestResult};
use crate::model::*;

/// Maximum number of pages of one list; the rules write shorter lists.
const MAX_PAGES: usize = 200;

/// A list of the board with all parameters except the limit and the page key.
#[async_trait]
pub(crate) trait Paged: Sync {
    type Item: Send + Debug;

    async fn page(
        &self,
        reader: &TestCaller,
        limit: PageLimit,
        after: Option<PageKey>,
    ) -> CallResult<Page<Self::Item>>;
}

/// Implements [`Paged`] for the lists of a file of rules.
macro_rules! paged {
    ($($list:ty, $item:ty: |$self:ident, $reader:ident, $limit:ident, $after:ident| $page:expr;)+) => {$(
        #[async_trait::async_trait]
        impl Paged for $list {
            type Item = $item;

            async fn page(
                &$self,
                $reader: &TestCaller,
                $limit: PageLimit,
                $after: Option<PageKey>,
            ) -> CallResult<Page<$item>> {
                $page
            }
        }
    )+};
}

pub(crate) use paged;

/// Reads a list page by page.
#[derive(Debug)]
pub(crate) struct Pager<T> {
    /// The items of all pages so far.
    pub(crate) items: Vec<T>,
    /// The number of pages so far.
    pub(crate) pages: usize,
    limit: PageLimit,
    after: Option<PageKey>,
}

impl<T: Debug> Pager<T> {
    pub(crate) fn new(limit: u8) -> Self {
        Self {
            items: Vec::new(),
            pages: 0,
            limit: PageLimit::new(limit).unwrap_or_default(),
            after: None,
        }
    }

    pub(crate) fn has_next(&self) -> bool {
        self.pages == 0 || self.after.is_some()
    }

    pub(crate) async fn read<L: Paged<Item = T>>(
        &mut self,
        reader: &TestCaller,
        list: &L,
    ) -> TestResult {
        let page = list.page(reader, self.limit, self.after.take()).await.expect_ok()?;
        let limit = self.limit.get();
        let count = page.items.len();
        check!(count <= limit, "a page has at most {limit} items, found {count}")?;
        let length = page.next.as_ref().map_or(0, |next| next.as_str().len());
        check!(
            length <= PageKey::MAX_LEN,
            "a page key has at most `PageKey::MAX_LEN` bytes, found {length}"
        )?;
        self.pages += 1;
        self.items.extend(page.items);
        self.after = page.next;
        check!(self.pages < MAX_PAGES, "the list has fewer than {MAX_PAGES} pages")
    }

    pub(crate) fn ids<I>(&self, id: impl Fn(&T) -> I) -> Vec<I> {
        self.items.iter().map(id).collect()
    }
}

pub(crate) async fn read_all<L: Paged>(
    reader: &TestCaller,
    list: &L,
    limit: u8,
) -> TestResult<Pager<L::Item>> {
    let mut pager = Pager::new(limit);
    while pager.has_next() {
        pager.read(reader, list).await?;
    }
    Ok(pager)
}

/// Checks with each of the page limits that the list has the `expected` items in order, on the fewest possible pages.
pub(crate) async fn check_pages<L: Paged, I: PartialEq + Debug>(
    reader: &TestCaller,
    list: &L,
    limits: &[u8],
    expected: &[I],
    id: impl Fn(&L::Item) -> I,
) -> TestResult {
    for limit in limits {
        let pager = read_all(reader, list, *limit).await?;
        check_eq!(pager.ids(&id), expected, "the pages of {limit}")?;
        let count = expected.len().div_ceil(usize::from(*limit));
        check_eq!(pager.pages, count, "the number of pages of {limit}")?;
    }
    Ok(())
}

/// Checks that a page key that no list returned causes success or `InvalidParameter`: clients can send any page key.
pub(crate) async fn check_forged_page_keys(reader: &TestCaller, list: &impl Paged) -> TestResult {
    for key in [
        "",
        ".",
        "x",
        "1",
        "1.2.3",
        "1.2.3.4",
        "9999999999999999999999.1",
        "-9223372036854775808",
        "-1.-1",
        "';--",
        "ä\0",
    ] {
        list.page(reader, PageLimit::default(), Some(PageKey::new(key)))
            .await
            .expect_ok_or_invalid_parameter()?;
    }
    Ok(())
}

/// Checks that `items` contains each of the `expected` ones once.
pub(crate) fn contains_each_once<I: PartialEq + Debug>(items: &[I], expected: &[I]) -> TestResult {
    for item in expected {
        let count = items.iter().filter(|other| *other == item).count();
        check_eq!(count, 1, "the number of {item:?} in {items:?}")?;
    }
    Ok(())
}
