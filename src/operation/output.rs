//! Results of handlers: checked against the caller's access and converted to their wire form.

use std::collections::HashMap;

use http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;

use super::checks::can_see;
use super::error::ApiError;
use super::pagination::{self, CursorScope};
use super::response::ApiResponse;
use crate::host::{Caller, HasForum, InForum, MemberCaller};
use crate::model::{
    CursorPage, Forum, ForumId, ForumList, Me, Member, Message, MessageSummary, OwnAccount, Page,
    Poll, Post, Rating, SubscribeOutcome, Subscription, SubscriptionTargetKind, Thread,
};
use crate::scope::Scope;

/// The caller and the list for which a result is rendered.
pub(crate) struct RenderContext<'a> {
    pub(crate) caller: &'a Caller,
    /// The list that cursors belong to; `None` for an endpoint that is not a list.
    pub(crate) cursor_scope: Option<CursorScope>,
    pub(crate) operation_id: &'static str,
}

impl RenderContext<'_> {
    fn can_see(&self, forum: &ForumId) -> bool {
        can_see(self.caller, forum, self.operation_id)
    }

    /// Rejects a result from a forum that the caller cannot see. Otherwise sets the forum of the response, for a stored
    /// response.
    fn require_visible(&self, forum: ForumId, response: &mut ApiResponse) -> Result<(), ApiError> {
        if !self.can_see(&forum) {
            return Err(ApiError::HiddenResult);
        }
        response.resource.forum_id = Some(forum);
        Ok(())
    }
}

/// Result of a handler. It contains the id of its forum, or does not belong to a forum.
///
/// A result whose forum is unknown does not compile: [`ForumContent`] is a result only within [`InForum`].
pub(crate) trait ToWire: Send + Sized + 'static {
    type Wire: Serialize + JsonSchema;

    /// Statuses that the result can choose in addition to the handler's status.
    const STATUSES: &'static [StatusCode] = &[];

    /// Headers that the result adds.
    const HEADERS: &'static [&'static str] = &[];

    /// Checks the result, sets its headers and ids in `response`, and converts it to the body.
    fn to_wire(
        self,
        context: &RenderContext<'_>,
        response: &mut ApiResponse,
    ) -> Result<Self::Wire, ApiError>;
}

/// Content of a forum whose type does not contain the id of the forum.
pub(crate) trait ForumContent: Send + Sized + 'static {
    type Wire: Serialize + JsonSchema;

    const HEADERS: &'static [&'static str] = &[];

    fn to_wire(
        self,
        context: &RenderContext<'_>,
        response: &mut ApiResponse,
    ) -> Result<Self::Wire, ApiError>;
}

impl<T: ForumContent> ToWire for InForum<T> {
    type Wire = T::Wire;

    const HEADERS: &'static [&'static str] = T::HEADERS;

    fn to_wire(
        self,
        context: &RenderContext<'_>,
        response: &mut ApiResponse,
    ) -> Result<T::Wire, ApiError> {
        context.require_visible(self.forum_id, response)?;
        self.value.to_wire(context, response)
    }
}

impl ForumContent for Poll {
    type Wire = Self;

    fn to_wire(
        mut self,
        context: &RenderContext<'_>,
        _: &mut ApiResponse,
    ) -> Result<Self, ApiError> {
        if self.hide_partial_totals() {
            tracing::warn!(
                command = context.operation_id,
                poll = %self.poll_id,
                "the board returned only some of a poll's totals; totals dropped"
            );
        }
        Ok(self)
    }
}

impl ForumContent for Post {
    type Wire = Self;

    fn to_wire(self, _: &RenderContext<'_>, response: &mut ApiResponse) -> Result<Self, ApiError> {
        response.resource.thread_id = Some(self.thread_id.clone());
        response.resource.post_id = Some(self.post_id.clone());
        Ok(self)
    }
}

impl ForumContent for Page<Post> {
    type Wire = CursorPage<Post>;

    const HEADERS: &'static [&'static str] = LINK;

    fn to_wire(
        self,
        context: &RenderContext<'_>,
        response: &mut ApiResponse,
    ) -> Result<CursorPage<Post>, ApiError> {
        page_to_wire(self, context, response)
    }
}

/// Removes the items that the caller does not see.
///
/// [`InForum`] does not implement `Serialize`: a page of [`InForum`] items needs its own implementation, which converts
/// each item to its value after the check.
impl<T: HasForum + Serialize + JsonSchema + Send + 'static> ToWire for Page<T> {
    type Wire = CursorPage<T>;

    const HEADERS: &'static [&'static str] = LINK;

    fn to_wire(
        mut self,
        context: &RenderContext<'_>,
        response: &mut ApiResponse,
    ) -> Result<CursorPage<T>, ApiError> {
        self.items.retain(|item| context.can_see(item.forum_id()));
        if context.caller.access().visible_forums.is_empty() {
            self.next = None; // contains the sort key of a hidden item, and no page has visible items
        }
        page_to_wire(self, context, response)
    }
}

/// Private messages do not belong to a forum. The board returns only the caller's own messages.
impl ToWire for Page<MessageSummary> {
    type Wire = CursorPage<MessageSummary>;

    const HEADERS: &'static [&'static str] = LINK;

    fn to_wire(
        self,
        context: &RenderContext<'_>,
        response: &mut ApiResponse,
    ) -> Result<CursorPage<MessageSummary>, ApiError> {
        page_to_wire(self, context, response)
    }
}

/// Header of every page except the last.
const LINK: &[&str] = &["link"];

fn page_to_wire<T>(
    page: Page<T>,
    context: &RenderContext<'_>,
    response: &mut ApiResponse,
) -> Result<CursorPage<T>, ApiError> {
    let (page, next) = pagination::to_wire(page, context.cursor_scope)?;
    response.next = next;
    Ok(page)
}

impl ToWire for Thread {
    type Wire = Self;

    const HEADERS: &'static [&'static str] = &["location"];

    fn to_wire(
        self,
        context: &RenderContext<'_>,
        response: &mut ApiResponse,
    ) -> Result<Self, ApiError> {
        context.require_visible(self.forum_id.clone(), response)?;
        response.set_location(format!("/threads/{}", self.thread_id));
        response.resource.thread_id = Some(self.thread_id.clone());
        Ok(self)
    }
}

impl ToWire for Message {
    type Wire = Self;

    const HEADERS: &'static [&'static str] = &["location"];

    fn to_wire(self, _: &RenderContext<'_>, response: &mut ApiResponse) -> Result<Self, ApiError> {
        response.set_location(format!("/messages/{}", self.summary.message_id));
        Ok(self)
    }
}

/// Guests who see no forum see no member either.
impl ToWire for Member {
    type Wire = Self;

    fn to_wire(self, context: &RenderContext<'_>, _: &mut ApiResponse) -> Result<Self, ApiError> {
        match context.caller {
            Caller::Guest(guest) if guest.access().visible_forums.is_empty() => {
                Err(ApiError::NotFound)
            }
            _ => Ok(self),
        }
    }
}

impl ToWire for OwnAccount {
    type Wire = Me;

    fn to_wire(self, context: &RenderContext<'_>, _: &mut ApiResponse) -> Result<Me, ApiError> {
        let presented = context.caller.as_member().and_then(MemberCaller::presented);
        let presented = presented.ok_or_else(|| ApiError::internal("`me` ran without a token"))?;
        let can_read_messages = presented.scopes.contains(&Scope::MessagesRead);
        Ok(Me {
            owner: self.owner,
            scopes: presented
                .scopes
                .iter()
                .map(|scope| scope.to_string())
                .collect(),
            token: presented.token.clone(),
            unread_messages: self.unread_messages.filter(|_| can_read_messages),
        })
    }
}

impl ToWire for SubscribeOutcome {
    type Wire = Subscription;

    const STATUSES: &'static [StatusCode] = &[StatusCode::OK];

    fn to_wire(
        self,
        context: &RenderContext<'_>,
        response: &mut ApiResponse,
    ) -> Result<Subscription, ApiError> {
        let (status, subscription) = match self {
            Self::Created(subscription) => (StatusCode::CREATED, subscription),
            Self::Existing(subscription) => (StatusCode::OK, subscription),
        };
        context.require_visible(subscription.forum_id.clone(), response)?;
        response.status = status;
        if subscription.target == SubscriptionTargetKind::Thread {
            response.resource.thread_id = Some(subscription.target_id.clone().into());
        }
        Ok(subscription)
    }
}

impl ToWire for Rating {
    type Wire = Self;

    fn to_wire(
        self,
        context: &RenderContext<'_>,
        response: &mut ApiResponse,
    ) -> Result<Self, ApiError> {
        match &self.forum_id {
            Some(forum) => context.require_visible(forum.clone(), response)?,
            None if self.post_id.is_some() => {
                return Err(ApiError::internal(
                    "the rating of a post does not have the post's forum",
                ));
            }
            None => {}
        }
        Ok(self)
    }
}

impl ToWire for () {
    type Wire = Self;

    fn to_wire(self, _: &RenderContext<'_>, _: &mut ApiResponse) -> Result<Self, ApiError> {
        Ok(())
    }
}

/// Removes hidden forums and renumbers the positions, because a gap would reveal a hidden forum.
impl ToWire for Page<Forum> {
    type Wire = ForumList;

    fn to_wire(
        self,
        context: &RenderContext<'_>,
        _: &mut ApiResponse,
    ) -> Result<ForumList, ApiError> {
        if self.next.is_some() {
            return Err(ApiError::internal(
                "the list of forums has no pages, but the board returned one with `next`",
            ));
        }
        let ancestors = ForumAncestors::new(&self.items, context);
        let visible = self
            .items
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
        Ok(ForumList { items })
    }
}

/// Visibility and parent of each forum.
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

    /// Finds the nearest visible forum from `parent` upwards. Terminates even if the parents form a cycle.
    fn nearest_visible(&self, parent: Option<ForumId>) -> Option<ForumId> {
        let up = |forum: &ForumId| self.0.get(forum)?.1.clone();
        let mut chain = std::iter::successors(parent, up).take(self.0.len());
        chain.find(|forum| self.can_see(forum))
    }
}
