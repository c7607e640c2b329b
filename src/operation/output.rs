//! Results of operations: checked against the caller's access and converted to the body of the response.

#![allow(
    private_interfaces,
    reason = "a host cannot name `Render`, and so cannot implement `Output`"
)]

use http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;

use super::checks::can_see;
use super::error::{ApiError, ApiResult};
use super::pagination;
use super::response::ApiResponse;
use crate::host::{Access, CreateOutcome, HasForum, InForum, Linked, ResourceRef, WebUrls};
use crate::model::{CursorPage, CursorScope, ForumId, Page, ThreadId};
use crate::store::ResourceIds;

/// Value that a response contains as JSON.
///
/// ```
/// use forum_api::operation::Resource;
/// use schemars::JsonSchema;
/// use serde::Serialize;
///
/// /// The votes for a post.
/// #[derive(Serialize, JsonSchema)]
/// #[serde(rename_all = "camelCase")]
/// struct PostVotes {
///     vote_count: u64,
/// }
///
/// impl Resource for PostVotes {}
/// ```
pub trait Resource: Serialize + JsonSchema + Send + 'static {
    /// Returns the path of this resource below the base path, such as `/threads/16`, for the `location` header of a 201
    /// response; `None` for a response without the header, the default.
    fn location(&self) -> Option<String> {
        None
    }

    /// Sets `webUrl`; does nothing for a resource without this field.
    #[doc(hidden)]
    fn set_web_url(&mut self, _: &WebUrls) {}

    /// Returns the thread or the post that an operation created. Default: [`ResourceRef::Global`], for a resource that
    /// is not a thread or a post.
    ///
    /// Before the library replays a stored response, it checks that the caller can still see this thread or post.
    fn created(&self) -> ResourceRef<'_> {
        ResourceRef::Global
    }

    /// Returns the thread whose visibility is checked before a stored response is replayed.
    #[doc(hidden)]
    fn shown_thread(&self) -> Option<ThreadId> {
        match self.created() {
            ResourceRef::Thread(thread) | ResourceRef::Post(thread, _) => Some(thread.clone()),
            _ => None,
        }
    }
}

/// A result that does not belong to a forum. The library does not check its visibility: the service has checked it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoForum<T>(pub T);

/// Result of an operation. A host cannot implement this trait.
///
/// | result | check | body |
/// |---|---|---|
/// | [`InForum<T>`](InForum), with `T:` [`Resource`] | 404 if the caller cannot see the forum | `T` |
/// | [`InForum`] of a [`Page<T>`](Page) | 404 if the caller cannot see the forum | [`CursorPage<T>`](CursorPage) |
/// | `T:` [`Resource`] `+` [`HasForum`] | 404 if the caller cannot see the forum | `T` |
/// | [`Page<T>`](Page), with `T:` [`HasForum`]; [`Page`] of [`InForum<T>`](InForum) | removes the items that the caller cannot see | [`CursorPage<T>`](CursorPage) |
/// | [`NoForum<T>`](NoForum), [`NoForum`] of a [`Page<T>`](Page) | none | `T`, [`CursorPage<T>`](CursorPage) |
/// | [`CreateOutcome`] of a result for one resource | that of the result | that of the result |
/// | `()` | none | none: the response is a 204 |
///
/// A resource that is in none of these types is not a result, so that an operation cannot omit the visibility check by
/// mistake:
///
/// ```compile_fail,E0277
/// use forum_api::operation::Output;
/// use forum_api::model::Post;
///
/// fn is_result<T: Output>() {}
/// is_result::<Post>();
/// ```
pub trait Output: Render<Wire = Self::Body> {
    /// Body of the response.
    type Body: Serialize + JsonSchema;
}

impl<T: Render> Output for T {
    type Body = T::Wire;
}

/// Check and conversion of a result.
pub trait Render: Send + Sized + 'static {
    type Wire: Serialize + JsonSchema;

    /// True if the result is a page: responses then have a `link` header, except for the last page.
    const IS_PAGE: bool = false;

    /// True if the response is a 404 `not_found` for a caller who cannot see the forum of the result.
    const IS_IN_FORUM: bool = false;

    /// True if the result can be a resource that existed before: the status is then 200.
    const CAN_EXIST: bool = false;

    /// Returns the body, and the response without it.
    fn render(self, context: &RenderContext<'_>) -> ApiResult<(Self::Wire, ApiResponse)>;

    /// Returns the location of an example, to document the header.
    fn location(_: &Self::Wire) -> Option<String> {
        None
    }
}

/// The access of the caller and the list for which a result is rendered.
pub(crate) struct RenderContext<'a> {
    pub(crate) access: &'a Access,
    pub(crate) is_guest: bool,
    /// The list that cursors belong to; `None` for an operation that is not a list.
    pub(crate) cursor_scope: Option<CursorScope>,
    pub(crate) operation_id: &'static str,
    /// Status of the response, unless the resource existed before.
    pub(crate) status: StatusCode,
    /// True if the path names a member.
    pub(crate) names_member: bool,
    pub(crate) web_urls: &'a WebUrls,
}

impl RenderContext<'_> {
    /// Returns a body that the caller can see, with the rest of the response.
    pub(crate) fn respond<W>(&self, body: W) -> (W, ApiResponse) {
        let response = ApiResponse { status: self.status, ..ApiResponse::default() };
        (body, response)
    }

    /// Returns a resource with its `webUrl`.
    pub(crate) fn linked<W: Linked>(&self, mut resource: W) -> W {
        self.web_urls.link(&mut resource);
        resource
    }

    /// Returns a resource of `forum`, with the rest of the response.
    pub(crate) fn respond_in<W: Resource>(
        &self,
        forum: Option<ForumId>,
        mut resource: W,
    ) -> (W, ApiResponse) {
        resource.set_web_url(self.web_urls);
        let shown = ResourceIds {
            forum_id: forum,
            thread_id: resource.shown_thread(),
            post_id: match resource.created() {
                ResourceRef::Post(_, post) => Some(post.clone()),
                _ => None,
            },
        };
        let location = resource.location();
        let (body, response) = self.respond(resource);
        let response = ApiResponse { location, shown, ..response };
        (body, response)
    }

    pub(crate) fn can_see(&self, forum: &ForumId) -> bool {
        can_see(self.access, forum, self.operation_id)
    }

    /// Rejects a result from a forum that the caller cannot see.
    pub(crate) fn require_visible(&self, forum: &ForumId) -> ApiResult<()> {
        if self.can_see(forum) { Ok(()) } else { Err(ApiError::HiddenResult) }
    }

    /// Rejects a result about a member for a guest who sees no forum: such a guest sees no member either.
    pub(crate) fn require_visible_members(&self) -> ApiResult<()> {
        if self.is_guest && self.access.visible_forums.is_empty() {
            return Err(ApiError::NotFound);
        }
        Ok(())
    }

    /// Removes the items of hidden forums from a page.
    fn visible_items<T: HasForum>(&self, mut page: Page<T>) -> Page<T> {
        // The items of most lists are in one forum, which is looked up once.
        let mut visible: Option<ForumId> = None;
        page.items.retain(|item| {
            let forum = item.forum_id();
            if visible.as_ref() != Some(forum) && self.can_see(forum) {
                visible = Some(forum.clone());
            }
            visible.as_ref() == Some(forum)
        });
        if self.access.visible_forums.is_empty() {
            page.next = None; // contains the sort key of a hidden item, and no page has visible items
        }
        page
    }

    /// Renders a page. The items must be visible.
    pub(crate) fn page<T: Resource>(
        &self,
        mut page: Page<T>,
    ) -> ApiResult<(CursorPage<T>, ApiResponse)> {
        for item in &mut page.items {
            item.set_web_url(self.web_urls);
        }
        let page = pagination::to_wire(page, self.cursor_scope)?;
        let (page, mut response) = self.respond(page);
        response.next = page.next.as_ref().map(ToString::to_string);
        Ok((page, response))
    }
}

impl<T: Resource> Render for InForum<T> {
    type Wire = T;

    const IS_IN_FORUM: bool = true;

    fn render(self, context: &RenderContext<'_>) -> ApiResult<(T, ApiResponse)> {
        context.require_visible(&self.forum_id)?;
        Ok(context.respond_in(Some(self.forum_id), self.value))
    }

    fn location(body: &T) -> Option<String> {
        body.location()
    }
}

impl<T: Resource> Render for InForum<Page<T>> {
    type Wire = CursorPage<T>;

    const IS_IN_FORUM: bool = true;

    const IS_PAGE: bool = true;

    fn render(self, context: &RenderContext<'_>) -> ApiResult<(CursorPage<T>, ApiResponse)> {
        context.require_visible(&self.forum_id)?;
        context.page(self.value)
    }
}

impl<T: Resource + HasForum> Render for T {
    type Wire = T;

    const IS_IN_FORUM: bool = true;

    fn render(self, context: &RenderContext<'_>) -> ApiResult<(T, ApiResponse)> {
        context.require_visible(self.forum_id())?;
        let forum = self.forum_id().clone();
        Ok(context.respond_in(Some(forum), self))
    }

    fn location(body: &T) -> Option<String> {
        body.location()
    }
}

/// Removes the items that the caller does not see.
impl<T: Resource + HasForum> Render for Page<T> {
    type Wire = CursorPage<T>;

    const IS_PAGE: bool = true;

    fn render(self, context: &RenderContext<'_>) -> ApiResult<(CursorPage<T>, ApiResponse)> {
        context.page(context.visible_items(self))
    }
}

/// Removes the items that the caller does not see, and omits the forums of the others. A list below the path of a member
/// is a result about the member.
impl<T: Resource> Render for Page<InForum<T>> {
    type Wire = CursorPage<T>;

    const IS_PAGE: bool = true;

    fn render(self, context: &RenderContext<'_>) -> ApiResult<(CursorPage<T>, ApiResponse)> {
        if context.names_member {
            context.require_visible_members()?;
        }
        context.page(context.visible_items(self).map(|item| item.value))
    }
}

impl<T: Resource> Render for NoForum<T> {
    type Wire = T;

    fn render(self, context: &RenderContext<'_>) -> ApiResult<(T, ApiResponse)> {
        Ok(context.respond_in(None, self.0))
    }

    fn location(body: &T) -> Option<String> {
        body.location()
    }
}

impl<T: Resource> Render for NoForum<Page<T>> {
    type Wire = CursorPage<T>;

    const IS_PAGE: bool = true;

    fn render(self, context: &RenderContext<'_>) -> ApiResult<(CursorPage<T>, ApiResponse)> {
        context.page(self.0)
    }
}

impl<T: Render> Render for CreateOutcome<T> {
    type Wire = T::Wire;

    const CAN_EXIST: bool = true;

    fn render(self, context: &RenderContext<'_>) -> ApiResult<(T::Wire, ApiResponse)> {
        let (is_new, result) = match self {
            Self::Created(result) => (true, result),
            Self::Existing(result) => (false, result),
        };
        let (body, mut response) = result.render(context)?;
        if !is_new {
            response.status = StatusCode::OK;
        }
        Ok((body, response))
    }

    fn location(body: &T::Wire) -> Option<String> {
        T::location(body)
    }
}

impl Render for () {
    type Wire = Self;

    fn render(self, context: &RenderContext<'_>) -> ApiResult<((), ApiResponse)> {
        Ok(context.respond(()))
    }
}
