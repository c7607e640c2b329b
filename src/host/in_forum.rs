//! Results of commands together with their forum.

use crate::model::{ForumId, SearchHit, Subscription, Thread};

/// A command's result together with its forum, for resources that do not carry the forum on the wire.
///
/// The library answers 404 if the caller cannot see the forum. This includes an empty page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InForum<T> {
    /// Id of the forum that contains the value.
    pub forum_id: ForumId,
    /// The command's result.
    pub value: T,
}

impl<T> InForum<T> {
    /// Creates a result in this forum.
    pub fn new(forum_id: ForumId, value: T) -> Self {
        Self { forum_id, value }
    }
}

/// A value that carries the id of its forum.
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
/// [`InForum`], which carries the forum.
///
/// ```compile_fail,E0277
/// use forum_api::host::HasForum;
/// use forum_api::model::{Page, Post};
///
/// fn is_a_list<T: HasForum>(_: Page<T>) {}
/// is_a_list(Page::<Post> { items: Vec::new(), next: None });
/// ```
pub trait HasForum {
    /// Returns the id of the forum.
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
