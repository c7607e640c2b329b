//! Addresses of the pages for people, which resources have as `webUrl`.

use std::sync::Arc;

use crate::model::{
    Forum, ForumId, Member, MessageId, MessageSummary, Post, PostId, SearchHit, SearchHitKind,
    Thread, ThreadId, UserId,
};

/// A page of the board for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WebPage<'a> {
    /// The threads of a forum.
    Forum(&'a ForumId),
    /// A thread.
    Thread(&'a ThreadId),
    /// A post, in its thread.
    Post(&'a ThreadId, &'a PostId),
    /// The profile of a member.
    Member(&'a UserId),
    /// A private message, which only its owner can open.
    Message(&'a MessageId),
}

/// Returns the absolute URLs of the board's pages for people. Resources and events have them as `webUrl`. The default has
/// no URLs: `webUrl` is then null.
///
/// ```
/// use forum_api::host::{WebPage, WebUrls};
/// use forum_api::model::ThreadId;
///
/// let web_urls = WebUrls::new(|page| match page {
///     WebPage::Thread(thread) => Some(format!("https://board.example/threads/{thread}")),
///     WebPage::Post(thread, post) => Some(format!("https://board.example/threads/{thread}#{post}")),
///     _ => None,
/// });
/// let url = web_urls.url(WebPage::Thread(&ThreadId::from(16)));
/// assert_eq!(url.as_deref(), Some("https://board.example/threads/16"));
/// ```
///
/// Pass one value to [`Environment::web_urls`](crate::Environment::web_urls), for the responses of the API, and to
/// [`EventMeta::web_urls`](crate::webhook::EventMeta::web_urls), for events.
#[derive(Clone, Default)]
pub struct WebUrls(Option<Arc<UrlOf>>);

type UrlOf = dyn Fn(WebPage<'_>) -> Option<String> + Send + Sync;

impl WebUrls {
    /// Creates the URLs from a function, which returns `None` for a page that the board does not have. It runs for each
    /// resource of each response, and must not panic.
    pub fn new(url: impl Fn(WebPage<'_>) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(url)))
    }

    /// Returns the URL of a page.
    pub fn url(&self, page: WebPage<'_>) -> Option<String> {
        self.0.as_ref().and_then(|url| url(page))
    }

    /// Sets `webUrl` of a resource, unless the board has set it.
    pub(crate) fn link(&self, resource: &mut impl Linked) {
        if resource.web_url_mut().is_none() {
            *resource.web_url_mut() = self.url(resource.web_page());
        }
    }

    /// Returns `true` if there is a function.
    pub(crate) const fn is_set(&self) -> bool {
        self.0.is_some()
    }
}

debug_fields!(WebUrls, |it| is_set: it.is_set());

/// A resource with the field `webUrl`.
pub(crate) trait Linked {
    fn web_page(&self) -> WebPage<'_>;

    fn web_url_mut(&mut self) -> &mut Option<String>;
}

macro_rules! linked {
    ($($resource:ty: |$it:ident| $page:expr;)+) => {$(
        impl Linked for $resource {
            fn web_page(&self) -> WebPage<'_> {
                let $it = self;
                $page
            }

            fn web_url_mut(&mut self) -> &mut Option<String> {
                &mut self.web_url
            }
        }
    )+};
}

linked! {
    Forum: |forum| WebPage::Forum(&forum.forum_id);
    Thread: |thread| WebPage::Thread(&thread.thread_id);
    Post: |post| WebPage::Post(&post.thread_id, &post.post_id);
    Member: |member| WebPage::Member(&member.user_id);
    MessageSummary: |message| WebPage::Message(&message.message_id);
    SearchHit: |hit| match hit.kind {
        SearchHitKind::Post => WebPage::Post(&hit.thread_id, &hit.post_id),
        SearchHitKind::Thread => WebPage::Thread(&hit.thread_id),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hit_has_the_page_of_its_kind() {
        let mut hit = SearchHit::example();
        assert_eq!(hit.web_page(), WebPage::Post(&hit.thread_id, &hit.post_id));
        hit.kind = SearchHitKind::Thread;
        assert_eq!(hit.web_page(), WebPage::Thread(&hit.thread_id));
    }
}
