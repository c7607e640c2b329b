//! Which forum a reply is in.

use crate::model::{ForumId, SearchHit, Subscription, Thread};

/// What a command returns, with the forum that it is in, for things that do not carry it on the wire.
///
/// The library drops what the caller's standing does not cover, an empty page included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InForum<T> {
    /// The forum.
    pub forum_id: ForumId,
    /// What is in it.
    pub value: T,
}

impl<T> InForum<T> {
    /// `it`, which is in `forum`.
    pub fn new(forum: ForumId, it: T) -> Self {
        Self {
            forum_id: forum,
            value: it,
        }
    }
}

/// A value that carries the id of the forum that it is in.
///
/// The items of a list implement it. The library removes the items whose forum the caller cannot see.
///
/// ```
/// use forum_api::host::HasForum;
/// use forum_api::model::{Page, Thread};
///
/// fn is_a_list<T: HasForum>(_: Page<T>) {}
/// is_a_list(Page::<Thread> { items: Vec::new(), next: None });
/// ```
///
/// A post does not carry its forum, so a command cannot return a page of posts by itself. It returns the page within
/// [`In`], which carries the forum.
///
/// ```compile_fail,E0277
/// use forum_api::host::HasForum;
/// use forum_api::model::{Page, Post};
///
/// fn is_a_list<T: HasForum>(_: Page<T>) {}
/// is_a_list(Page::<Post> { items: Vec::new(), next: None });
/// ```
pub trait HasForum {
    /// The id of the forum.
    fn forum_id(&self) -> &ForumId;
}

impl HasForum for Thread {
    fn forum_id(&self) -> &ForumId {
        &self.forum_id
    }
}

impl HasForum for SearchHit {
    fn forum_id(&self) -> &ForumId {
        &self.forum_id
    }
}

impl HasForum for Subscription {
    fn forum_id(&self) -> &ForumId {
        &self.forum_id
    }
}

impl<T> HasForum for InForum<T> {
    fn forum_id(&self) -> &ForumId {
        &self.forum_id
    }
}
