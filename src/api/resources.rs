//! Resources of the specification, as results of operations.

#![allow(
    private_interfaces,
    reason = "a host cannot name `Render`, and so cannot implement `Output`"
)]

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::host::{BoardResult, InForum, PresentedToken, ResourceRef, WebUrls};
use crate::model::{
    CursorPage, Forum, ForumId, ForumList, Me, Member, Message, MessageSummary, OwnAccount, Page,
    Poll, Post, Rating, SearchHit, Subscription, SubscriptionTarget, SubscriptionTargetKind,
    TargetId, Thread, ThreadId,
};
use crate::operation::{
    ApiError, ApiResponse, ApiResult, PathParams, PathSegments, Render, RenderContext, Resource,
    TokenOwner,
};
use crate::runtime::BoxFuture;
use crate::scope::Scope;

impl Resource for Thread {
    fn location(&self) -> Option<String> {
        Some(format!("/threads/{}", self.thread_id))
    }

    fn created(&self) -> ResourceRef<'_> {
        ResourceRef::Thread(&self.thread_id)
    }

    fn set_web_url(&mut self, web_urls: &WebUrls) {
        web_urls.link(self);
    }
}

impl Resource for Post {
    fn created(&self) -> ResourceRef<'_> {
        ResourceRef::Post(&self.thread_id, &self.post_id)
    }

    fn set_web_url(&mut self, web_urls: &WebUrls) {
        web_urls.link(self);
    }
}

impl Resource for Poll {}

impl Resource for SearchHit {
    fn set_web_url(&mut self, web_urls: &WebUrls) {
        web_urls.link(self);
    }
}

impl Resource for MessageSummary {
    fn set_web_url(&mut self, web_urls: &WebUrls) {
        web_urls.link(self);
    }
}

impl Resource for Subscription {
    fn shown_thread(&self) -> Option<ThreadId> {
        match &self.target {
            SubscriptionTarget::Thread(id) => Some(id.clone()),
            SubscriptionTarget::Forum(_) => None,
        }
    }
}

/// Path of a subscription. Its target is not checked, because a caller can unsubscribe from a target that became
/// hidden.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SubscriptionPath {
    /// Kind of the target: `thread` or `forum`.
    target: SubscriptionTargetKind,
    target_id: TargetId,
}

impl From<SubscriptionPath> for SubscriptionTarget {
    fn from(path: SubscriptionPath) -> Self {
        Self::new(path.target, path.target_id)
    }
}

impl PathParams for SubscriptionPath {
    fn resource(&self) -> ResourceRef<'_> {
        ResourceRef::Global
    }

    fn decode(segments: &PathSegments<'_>, _: &[&'static str]) -> Option<Self> {
        let target = match &*segments.text(0)? {
            "thread" => SubscriptionTargetKind::Thread,
            "forum" => SubscriptionTargetKind::Forum,
            _ => return None,
        };
        let target_id = segments.parse(1)?;
        Some(Self { target, target_id })
    }
}

/// Removes the totals of a poll of which the board returned only some.
pub(super) fn with_complete_totals<'a>(
    operation_id: &'static str,
    poll: BoxFuture<'a, BoardResult<InForum<Poll>>>,
) -> BoxFuture<'a, BoardResult<InForum<Poll>>> {
    Box::pin(async move {
        let mut poll = poll.await?;
        if poll.value.hide_partial_totals() {
            tracing::warn!(
                command = operation_id,
                poll = %poll.value.poll_id,
                "the board returned only some of a poll's totals; totals dropped"
            );
        }
        Ok(poll)
    })
}

/// Private messages do not belong to a forum. The board returns only the caller's own messages.
impl Render for Page<MessageSummary> {
    type Wire = CursorPage<MessageSummary>;

    const IS_PAGE: bool = true;

    fn render(
        self,
        context: &RenderContext<'_>,
    ) -> ApiResult<(CursorPage<MessageSummary>, ApiResponse)> {
        context.page(self)
    }
}

impl Render for Message {
    type Wire = Self;

    fn render(mut self, context: &RenderContext<'_>) -> ApiResult<(Self, ApiResponse)> {
        context.web_urls.link(&mut self.summary);
        let (message, mut response) = context.respond(self);
        response.location = <Self as Render>::location(&message);
        Ok((message, response))
    }

    fn location(message: &Self) -> Option<String> {
        Some(format!("/messages/{}", message.summary.message_id))
    }
}

impl Render for Member {
    type Wire = Self;

    fn render(self, context: &RenderContext<'_>) -> ApiResult<(Self, ApiResponse)> {
        context.require_visible_members()?;
        Ok(context.respond(context.linked(self)))
    }
}

/// Result of `getMe`: the account of a token's owner, and the token.
pub(super) struct TokenAccount {
    account: OwnAccount,
    token: PresentedToken,
}

/// Adds the token to the account that the board returns.
pub(super) fn with_token<'a>(
    owner: &'a TokenOwner,
    account: BoxFuture<'a, BoardResult<OwnAccount>>,
) -> BoxFuture<'a, BoardResult<TokenAccount>> {
    Box::pin(
        async move { Ok(TokenAccount { account: account.await?, token: owner.token.clone() }) },
    )
}

impl Render for TokenAccount {
    type Wire = Me;

    fn render(self, context: &RenderContext<'_>) -> ApiResult<(Me, ApiResponse)> {
        let PresentedToken { scopes, token, .. } = self.token;
        let can_read_messages = scopes.contains(Scope::MESSAGES_READ);
        Ok(context.respond(Me {
            owner: context.linked(self.account.owner),
            scopes: scopes.iter().map(|scope| scope.to_string()).collect(),
            token,
            unread_messages: self.account.unread_messages.filter(|_| can_read_messages),
        }))
    }
}

impl Render for Rating {
    type Wire = Self;

    fn render(self, context: &RenderContext<'_>) -> ApiResult<(Self, ApiResponse)> {
        match &self.forum_id {
            Some(forum) => context.require_visible(forum)?,
            None if self.post_id.is_some() => {
                let reason = "the rating of a post does not have the post's forum";
                return Err(ApiError::internal(reason));
            }
            None => {}
        }
        let forum_id = self.forum_id.clone();
        let (rating, mut response) = context.respond(self);
        response.shown.forum_id = forum_id;
        Ok((rating, response))
    }
}

/// Removes hidden forums and renumbers the positions, because a gap would reveal a hidden forum.
impl Render for Page<Forum> {
    type Wire = ForumList;

    fn render(self, context: &RenderContext<'_>) -> ApiResult<(ForumList, ApiResponse)> {
        if self.next.is_some() {
            return Err(ApiError::internal(
                "the list of forums has no pages, but the board returned one with `next`",
            ));
        }
        let ancestors = ForumAncestors::new(&self.items, context);
        let visible = self.items.into_iter().filter(|forum| ancestors.can_see(&forum.forum_id));
        let mut siblings: HashMap<Option<ForumId>, u32> = HashMap::new();
        let items = visible
            .map(|forum| {
                let parent_id = ancestors.nearest_visible(forum.parent_id);
                let position = siblings.entry(parent_id.clone()).or_default();
                *position += 1;
                context.linked(Forum { parent_id, position: *position, ..forum })
            })
            .collect();
        Ok(context.respond(ForumList { items }))
    }
}

/// Visibility and parent of each forum.
struct ForumAncestors(HashMap<ForumId, (bool, Option<ForumId>)>);

impl ForumAncestors {
    fn new(forums: &[Forum], context: &RenderContext<'_>) -> Self {
        let entry = |forum: &Forum| {
            let visibility = (context.can_see(&forum.forum_id), forum.parent_id.clone());
            (forum.forum_id.clone(), visibility)
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
