//! Results of commands with the id of their forum.

use crate::model::{ForumId, SearchHit, Subscription, Thread};

/// A command's result with the id of its forum, for resources whose JSON does not contain the forum.
///
/// The library answers 404 if the caller cannot see the forum, even for an empty page.
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

/// A resource that contains the id of its forum.
///
/// From lists of threads, subscriptions and search hits, the library removes the items whose forum the caller cannot
/// see. It calls [`forum_id`](Self::forum_id) for each item.
///
/// ```
/// use forum_api::host::HasForum;
/// use forum_api::model::{Page, Thread};
///
/// fn is_a_list<T: HasForum>(_: Page<T>) {}
/// is_a_list(Page::<Thread> { items: Vec::new(), next: None });
/// ```
///
/// A post does not contain the id of its forum, so a command returns a page of the posts of one thread in an
/// [`InForum`]. The following does not compile:
///
/// ```compile_fail,E0277
/// use forum_api::host::HasForum;
/// use forum_api::model::{Page, Post};
///
/// fn is_a_list<T: HasForum>(_: Page<T>) {}
/// is_a_list(Page::<Post> { items: Vec::new(), next: None });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name its forum, so its visibility cannot be checked",
    note = "return `InForum<{Self}>`, or `NoForum<{Self}>` if it belongs to no forum"
)]
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
