//! The results of handlers: checked against what the caller sees, and turned into what goes over the wire.

use std::collections::HashMap;

use http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;

use super::access;
use super::error::ApiError;
use super::pagination::CursorScope;
use crate::host::{Caller, HasForum, InForum, MemberCaller};
use crate::model::{
    Forum, ForumId, Me, Member, Message, MessageSummary, OwnAccount, Page, PageKey, Poll, Post,
    Rating, SubscribeOutcome, Subscription, SubscriptionTargetKind, Thread,
};
use crate::scope::Scope;
use crate::store::ResourceIds;

/// For whom a result is rendered.
pub(super) struct RenderContext<'a> {
    pub(super) caller: &'a Caller,
    /// The list that cursors belong to; `None` where there is no list.
    pub(super) cursor_scope: Option<CursorScope>,
    pub(super) operation_id: &'static str,
}

impl RenderContext<'_> {
    fn require_visible(&self, forum: &ForumId) -> Result<(), ApiError> {
        self.can_see(forum)
            .then_some(())
            .ok_or(ApiError::HiddenResult)
    }

    fn can_see(&self, forum: &ForumId) -> bool {
        access::can_see(self.caller, forum, self.operation_id)
    }

    /// Renders `wire`, which is in `forum`, if the caller sees it.
    fn in_forum<T>(&self, forum: ForumId, wire: T) -> Result<Rendered<T>, ApiError> {
        self.require_visible(&forum)?;
        let mut rendered = Rendered::from(wire);
        rendered.resource.forum_id = Some(forum);
        Ok(rendered)
    }
}

/// A result as it goes over the wire.
pub(super) struct Rendered<T> {
    pub(super) wire: T,
    /// The status, where the result decides it.
    pub(super) status: Option<StatusCode>,
    /// The path of what was created.
    pub(super) location: Option<String>,
    /// The cursor of the next page.
    pub(super) next: Option<String>,
    /// Ids of what the result is about.
    pub(super) resource: ResourceIds,
}

impl<T> From<T> for Rendered<T> {
    fn from(wire: T) -> Self {
        Self {
            wire,
            status: None,
            location: None,
            next: None,
            resource: ResourceIds::default(),
        }
    }
}

/// The result of a handler. It carries the forum that it is in, or is in no forum.
///
/// A result without a forum to check does not compile: [`ForumContent`] is a result only within [`In`].
pub(super) trait ToWire: Send + Sized + 'static {
    type Wire: Serialize + JsonSchema;

    /// Statuses that the result itself decides on, beside the endpoint's own.
    const STATUSES: &'static [StatusCode] = &[];

    /// Headers that the result adds.
    const HEADERS: &'static [&'static str] = &[];

    fn to_wire(self, context: &RenderContext<'_>) -> Result<Rendered<Self::Wire>, ApiError>;
}

/// Something that is in a forum and does not say in which one.
pub(super) trait ForumContent: Serialize + JsonSchema + Send + Sized + 'static {
    const HEADERS: &'static [&'static str] = &[];

    fn render(self, _: &RenderContext<'_>) -> Result<Rendered<Self>, ApiError> {
        Ok(self.into())
    }
}

impl<T: ForumContent> ToWire for InForum<T> {
    type Wire = T;

    const HEADERS: &'static [&'static str] = T::HEADERS;

    fn to_wire(self, context: &RenderContext<'_>) -> Result<Rendered<T>, ApiError> {
        context.require_visible(&self.forum_id)?;
        let mut rendered = self.value.render(context)?;
        rendered.resource.forum_id = Some(self.forum_id);
        Ok(rendered)
    }
}

impl ForumContent for Poll {}

impl ForumContent for Post {
    fn render(self, _: &RenderContext<'_>) -> Result<Rendered<Self>, ApiError> {
        let mut rendered = Rendered::from(self);
        rendered.resource.thread_id = Some(rendered.wire.thread_id.clone());
        rendered.resource.post_id = Some(rendered.wire.post_id.clone());
        Ok(rendered)
    }
}

impl ForumContent for Page<Post> {
    const HEADERS: &'static [&'static str] = LINK;

    fn render(self, context: &RenderContext<'_>) -> Result<Rendered<Self>, ApiError> {
        encode_cursor(self, context)
    }
}

/// A list loses the items that the caller does not see.
impl<T: HasForum + Serialize + JsonSchema + Send + 'static> ToWire for Page<T> {
    type Wire = Self;

    const HEADERS: &'static [&'static str] = LINK;

    fn to_wire(mut self, context: &RenderContext<'_>) -> Result<Rendered<Self>, ApiError> {
        self.items.retain(|item| context.can_see(item.forum_id()));
        encode_cursor(self, context)
    }
}

/// Private messages are in no forum: the board returns the caller's own.
impl ToWire for Page<MessageSummary> {
    type Wire = Self;

    const HEADERS: &'static [&'static str] = LINK;

    fn to_wire(self, context: &RenderContext<'_>) -> Result<Rendered<Self>, ApiError> {
        encode_cursor(self, context)
    }
}

/// The header of a page that is followed by another.
const LINK: &[&str] = &["link"];

/// Replaces the host's position by the cursor that clients see.
fn encode_cursor<T>(
    mut page: Page<T>,
    context: &RenderContext<'_>,
) -> Result<Rendered<Page<T>>, ApiError> {
    let Some(position) = &page.next else {
        return Ok(page.into());
    };
    let scope = context.cursor_scope;
    let cursor = scope.and_then(|scope| scope.encode(position));
    let cursor = cursor.ok_or_else(|| {
        let (length, max) = (position.as_str().len(), PageKey::MAX_LEN);
        ApiError::internal(format!(
            "a page key has {length} bytes, and the maximum is {max}; use only the sort key"
        ))
    })?;
    page.next = Some(PageKey::new(&cursor));
    Ok(Rendered {
        next: Some(cursor),
        ..page.into()
    })
}

impl ToWire for Thread {
    type Wire = Self;

    const HEADERS: &'static [&'static str] = &["location"];

    fn to_wire(self, context: &RenderContext<'_>) -> Result<Rendered<Self>, ApiError> {
        let thread_id = self.thread_id.clone();
        let mut rendered = context.in_forum(self.forum_id.clone(), self)?;
        rendered.location = Some(format!("/threads/{thread_id}"));
        rendered.resource.thread_id = Some(thread_id);
        Ok(rendered)
    }
}

impl ToWire for Message {
    type Wire = Self;

    const HEADERS: &'static [&'static str] = &["location"];

    fn to_wire(self, _: &RenderContext<'_>) -> Result<Rendered<Self>, ApiError> {
        Ok(Rendered {
            location: Some(format!("/messages/{}", self.summary.message_id)),
            ..self.into()
        })
    }
}

/// A guest who sees no forum sees no member either.
impl ToWire for Member {
    type Wire = Self;

    fn to_wire(self, context: &RenderContext<'_>) -> Result<Rendered<Self>, ApiError> {
        match context.caller {
            Caller::Guest(guest) if guest.visible_forums.is_empty() => Err(ApiError::NotFound),
            _ => Ok(self.into()),
        }
    }
}

impl ToWire for OwnAccount {
    type Wire = Me;

    fn to_wire(self, context: &RenderContext<'_>) -> Result<Rendered<Me>, ApiError> {
        let presented = context.caller.as_member().and_then(MemberCaller::presented);
        let presented = presented.ok_or_else(|| ApiError::internal("`me` ran without a token"))?;
        let can_read_messages = presented.scopes.contains(&Scope::MessagesRead);
        let me = Me {
            owner: self.owner,
            scopes: presented.scopes.iter().map(ToString::to_string).collect(),
            token: presented.token.clone(),
            unread_messages: self.unread_messages.filter(|_| can_read_messages),
        };
        Ok(me.into())
    }
}

impl ToWire for SubscribeOutcome {
    type Wire = Subscription;

    const STATUSES: &'static [StatusCode] = &[StatusCode::OK];

    fn to_wire(self, context: &RenderContext<'_>) -> Result<Rendered<Subscription>, ApiError> {
        let (status, subscription) = match self {
            Self::Created(subscription) => (StatusCode::CREATED, subscription),
            Self::Existing(subscription) => (StatusCode::OK, subscription),
        };
        let is_thread = subscription.target == SubscriptionTargetKind::Thread;
        let target_id = subscription.target_id.clone();
        let mut rendered = context.in_forum(subscription.forum_id.clone(), subscription)?;
        rendered.status = Some(status);
        rendered.resource.thread_id = is_thread.then(|| target_id.into());
        Ok(rendered)
    }
}

impl ToWire for Rating {
    type Wire = Self;

    fn to_wire(self, context: &RenderContext<'_>) -> Result<Rendered<Self>, ApiError> {
        match self.forum_id.clone() {
            Some(forum) => context.in_forum(forum, self),
            None if self.post_id.is_some() => Err(ApiError::internal(
                "the rating of a post does not have the post's forum",
            )),
            None => Ok(self.into()),
        }
    }
}

impl ToWire for () {
    type Wire = Self;

    fn to_wire(self, _: &RenderContext<'_>) -> Result<Rendered<Self>, ApiError> {
        Ok(self.into())
    }
}

/// The list of forums. It has no pages.
#[derive(Serialize, JsonSchema)]
pub(super) struct ForumList {
    /// The forums. Parents come before their children, siblings are ordered by position.
    items: Vec<Forum>,
}

/// Positions are counted anew: a gap would tell of a hidden forum.
impl ToWire for Vec<Forum> {
    type Wire = ForumList;

    fn to_wire(self, context: &RenderContext<'_>) -> Result<Rendered<ForumList>, ApiError> {
        let ancestors = ForumAncestors::new(&self, context);
        let visible = self
            .into_iter()
            .filter(|forum| ancestors.can_see(&forum.forum_id));
        let mut siblings: HashMap<Option<ForumId>, u32> = HashMap::new();
        let items = visible.map(|forum| {
            let parent_id = ancestors.nearest_visible(forum.parent_id);
            let position = siblings.entry(parent_id.clone()).or_default();
            *position += 1;
            Forum {
                parent_id,
                position: *position,
                ..forum
            }
        });
        let items = items.collect();
        Ok(ForumList { items }.into())
    }
}

/// Which forums the caller sees, and the parent of each.
struct ForumAncestors(HashMap<ForumId, (bool, Option<ForumId>)>);

impl ForumAncestors {
    fn new(forums: &[Forum], context: &RenderContext<'_>) -> Self {
        let entry = |forum: &Forum| {
            let is_visible = context.can_see(&forum.forum_id);
            (
                forum.forum_id.clone(),
                (is_visible, forum.parent_id.clone()),
            )
        };
        Self(forums.iter().map(entry).collect())
    }

    fn can_see(&self, forum: &ForumId) -> bool {
        self.0.get(forum).is_some_and(|(is_visible, _)| *is_visible)
    }

    /// The nearest visible forum from `parent` upwards; a cycle of parents ends.
    fn nearest_visible(&self, parent: Option<ForumId>) -> Option<ForumId> {
        let up = |forum: &ForumId| self.0.get(forum)?.1.clone();
        let mut chain = std::iter::successors(parent, up).take(self.0.len());
        chain.find(|forum| self.can_see(forum))
    }
}
