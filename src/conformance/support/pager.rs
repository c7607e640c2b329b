//! Lists, read page by page.

use std::fmt::Debug;

use async_trait::async_trait;

use super::{CallResult, TestCaller, TestFailure, TestResult};
use crate::model::*;

/// The limit on the pages of one list: more than any list of the suite has.
const MAX_PAGES: usize = 200;

/// A list of the board, with everything but its limit and its position.
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

macro_rules! paged {
    ($($list:ty, $item:ty: |$self:ident, $reader:ident, $limit:ident, $after:ident| $page:expr;)+) => {$(
        #[async_trait]
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

paged! {
    ForumId, Thread: |self, reader, limit, after| {
        let list = ListThreadsParams { limit, after, since: None };
        reader.threads(self, &list).await
    };
    ThreadId, Post: |self, reader, limit, after| {
        let list = ListPostsParams { limit, after, ..ListPostsParams::default() };
        reader.list_posts(self, &list).await.map(|page| page.value)
    };
    Folder, MessageSummary: |self, reader, limit, after| {
        let list = ListMessagesParams { folder: *self, limit, after, ..ListMessagesParams::default() };
        reader.list_messages(&list).await
    };
    Option<SubscriptionTargetKind>, Subscription: |self, reader, limit, after| {
        let list = ListSubscriptionsParams { target: *self, limit, after };
        reader.list_subscriptions(&list).await
    };
    SearchParams, SearchHit: |self, reader, limit, after| {
        let mut search = self.clone();
        (search.limit, search.after) = (limit, after);
        reader.search(&search).await
    };
}

/// The pages of a list that were read so far.
#[derive(Debug)]
pub(crate) struct Pager<T> {
    pub(crate) items: Vec<T>,
    pub(crate) pages: usize,
    limit: PageLimit,
    after: Option<PageKey>,
}

impl<T> Pager<T> {
    /// None read yet, with up to `limit` items a page.
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
    ) -> TestResult
    where
        T: Debug,
    {
        let page = list.page(reader, self.limit, self.after.take()).await;
        let page = page.expect_ok()?;
        let (limit, count) = (self.limit.get(), page.items.len());
        check!(count <= limit, "a page of {limit} has {count} items")?;
        let length = page.next.as_ref().map_or(0, |next| next.as_str().len());
        check!(length <= PageKey::MAX_LEN, "a position has {length} bytes")?;
        self.pages += 1;
        self.items.extend(page.items);
        self.after = page.next;
        check!(self.pages < MAX_PAGES, "the list has a last page")
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

/// Pages of any of these sizes have the `expected` items in order, and `next` is null exactly when nothing follows.
pub(crate) async fn pages_meet<L: Paged, I: PartialEq + Debug>(
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

/// Page keys that no list returned are not a failure: a cursor is a client's input.
pub(crate) async fn forged_page_keys_are_harmless(
    reader: &TestCaller,
    list: &impl Paged,
) -> TestResult {
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
        "ä\u{0}",
    ] {
        let page = list.page(reader, PageLimit::default(), Some(PageKey::new(key)));
        page.await.expect_ok_or_invalid_parameter()?;
    }
    Ok(())
}

/// Each of the `expected` items, which existed all along, is once among the items `read`.
pub(crate) fn each_once<I: PartialEq + Debug>(read: &[I], expected: &[I]) -> TestResult {
    for item in expected {
        let times = read.iter().filter(|other| *other == item).count();
        check_eq!(times, 1, "how often {item:?} is in {read:?}")?;
    }
    Ok(())
}

pub(crate) fn only<T: Debug>(items: impl IntoIterator<Item = T>) -> TestResult<T> {
    let mut items: Vec<T> = items.into_iter().collect();
    match (items.pop(), items.is_empty()) {
        (Some(item), true) => Ok(item),
        (last, _) => Err(TestFailure::mismatch(
            "a list",
            format_args!("{items:?} and {last:?}"),
            "one item",
        )),
    }
}
