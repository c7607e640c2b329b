//! What commands return: checked against what the caller sees, and turned into what goes over the wire.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::api::error::{Problem, Unauthenticated};
use crate::api::pagination::List;
use crate::api::trace;
use crate::host::{Caller, HasForum, In, Member};
use crate::model::{
    Account, Followed, Forum, ForumId, Me, Message, MessageSummary, Page, Poll, Position, Post,
    Profile, Rating, Subscription, TargetKind, Thread,
};
use crate::scope::Scope;
use crate::store::ResourceIds;

/// The caller's view of a reply, and what is noted of it on the way.
pub(super) struct View<'a> {
    pub(super) caller: &'a Caller,
    pub(super) list: Option<List>,
    pub(super) command: &'static str,
    /// The cursor of the next page.
    pub(super) next: Option<String>,
    /// The path of what was created.
    pub(super) location: Option<String>,
    /// The status, where the reply decides it.
    pub(super) status: Option<u16>,
    /// Ids of what the reply is about.
    pub(super) resource: ResourceIds,
}

impl<'a> View<'a> {
    pub(super) fn new(caller: &'a Caller, list: Option<List>, command: &'static str) -> Self {
        Self {
            caller,
            list,
            command,
            next: None,
            location: None,
            status: None,
            resource: ResourceIds::default(),
        }
    }

    /// Checks that the caller sees the forum that the reply is about.
    fn needs(&mut self, forum: &ForumId) -> Result<(), Problem> {
        self.resource.forum_id = Some(forum.clone());
        self.sees(forum).then_some(()).ok_or(Problem::Withheld)
    }

    /// Whether the caller sees `forum`.
    fn sees(&self, forum: &ForumId) -> bool {
        let seen = self.caller.standing().forums.contains(forum);
        if !seen {
            trace::withheld(self.command, forum);
        }
        seen
    }
}

/// Reply of a command, with its forum unless it concerns none.
pub(super) trait Reply: Send + Sized + 'static {
    /// What goes over the wire.
    type Wire: Serialize + JsonSchema;

    /// Statuses that the reply itself decides on, beside the row's own.
    const STATUSES: &'static [u16] = &[];

    /// Headers that the reply brings, where its status has them.
    const HEADERS: &'static [&'static str] = &[];

    fn wire(self, view: &mut View<'_>) -> Result<Self::Wire, Problem>;
}

/// Types that do not carry their forum are replies only within [`In`], which carries it.
pub(super) trait Content: Send + Sized + 'static {
    type Wire: Serialize + JsonSchema;

    const HEADERS: &'static [&'static str] = &[];

    fn wire(self, view: &mut View<'_>) -> Result<Self::Wire, Problem>;
}

/// A list is a reply only if its items carry their forums. It loses those that the caller does not see.
impl<T: HasForum + Serialize + JsonSchema + Send + 'static> Reply for Page<T> {
    type Wire = Self;

    const HEADERS: &'static [&'static str] = LINK;

    fn wire(mut self, view: &mut View<'_>) -> Result<Self, Problem> {
        self.items.retain(|item| view.sees(item.forum_id()));
        with_cursor(self, view)
    }
}

/// Private messages are in no forum: the board gives the caller's own.
impl Reply for Page<MessageSummary> {
    type Wire = Self;

    const HEADERS: &'static [&'static str] = LINK;

    fn wire(self, view: &mut View<'_>) -> Result<Self, Problem> {
        with_cursor(self, view)
    }
}

impl Content for Page<Post> {
    type Wire = Self;

    const HEADERS: &'static [&'static str] = LINK;

    fn wire(self, view: &mut View<'_>) -> Result<Self, Problem> {
        with_cursor(self, view)
    }
}

/// The header of a page that is followed by another.
const LINK: &[&str] = &["link"];

/// Replaces the host's position by the cursor that clients see.
fn with_cursor<T>(mut page: Page<T>, view: &mut View<'_>) -> Result<Page<T>, Problem> {
    if let Some(position) = &page.next {
        let cursor = view.list.and_then(|list| list.seal(position));
        let cursor = cursor.ok_or_else(|| Problem::internal(too_long(position)))?;
        view.next = Some(cursor.as_str().to_owned());
        page.next = Some(cursor);
    }
    Ok(page)
}

/// For the log: a host's own text, which no client sees.
fn too_long(position: &Position) -> String {
    let (is, most) = (position.as_str().len(), Position::MAX);
    format!("a position has {is} bytes, and {most} at most: make it of the sort key alone")
}

impl<T: Content> Reply for In<T> {
    type Wire = T::Wire;

    const HEADERS: &'static [&'static str] = T::HEADERS;

    fn wire(self, view: &mut View<'_>) -> Result<T::Wire, Problem> {
        view.needs(&self.forum)?;
        self.it.wire(view)
    }
}

impl Reply for Thread {
    type Wire = Self;

    const HEADERS: &'static [&'static str] = &["location"];

    fn wire(self, view: &mut View<'_>) -> Result<Self, Problem> {
        view.needs(&self.forum_id)?;
        view.resource.thread_id = Some(self.thread_id.clone());
        view.location = Some(format!("/threads/{}", self.thread_id));
        Ok(self)
    }
}

impl Reply for Message {
    type Wire = Self;

    const HEADERS: &'static [&'static str] = &["location"];

    fn wire(self, view: &mut View<'_>) -> Result<Self, Problem> {
        view.location = Some(format!("/messages/{}", self.summary.message_id));
        Ok(self)
    }
}

/// A guest who sees no forum at all sees no member either: the board has no anonymous surface.
impl Reply for Profile {
    type Wire = Self;

    fn wire(self, view: &mut View<'_>) -> Result<Self, Problem> {
        let closed = matches!(view.caller, Caller::Guest(guest) if guest.forums.is_empty());
        (!closed).then_some(self).ok_or(Problem::NotFound)
    }
}

impl Reply for Account {
    type Wire = Me;

    fn wire(self, view: &mut View<'_>) -> Result<Me, Problem> {
        let presented = view.caller.member().and_then(Member::presented);
        let presented = presented.ok_or(Problem::Unauthenticated(Unauthenticated::Absent))?;
        let counts = presented.scopes.contains(&Scope::MessagesRead);
        Ok(Me {
            owner: self.owner,
            scopes: presented.scopes.iter().map(ToString::to_string).collect(),
            token: presented.token.clone(),
            unread_messages: self.unread_messages.filter(|_| counts),
        })
    }
}

impl Reply for Followed {
    type Wire = Subscription;

    const STATUSES: &'static [u16] = &[200];

    fn wire(self, view: &mut View<'_>) -> Result<Subscription, Problem> {
        let (status, subscription) = match self {
            Self::New(subscription) => (201, subscription),
            Self::Already(subscription) => (200, subscription),
        };
        view.needs(&subscription.forum_id)?;
        if subscription.target == TargetKind::Thread {
            view.resource.thread_id = Some(subscription.target_id.clone().into());
        }
        view.status = Some(status);
        Ok(subscription)
    }
}

/// The list of forums, which is one without pages.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ForumList")]
pub(super) struct Forums {
    /// The forums, parents before children, by position.
    items: Vec<Forum>,
}

impl Reply for Vec<Forum> {
    type Wire = Forums;

    fn wire(self, view: &mut View<'_>) -> Result<Forums, Problem> {
        let places: HashMap<ForumId, Above> =
            self.iter().map(|forum| Above::of(forum, view)).collect();
        let seen = |forum: &Forum| places.get(&forum.forum_id).is_some_and(|above| above.seen);
        let kept = self.into_iter().filter(seen);
        let mut siblings: HashMap<Option<ForumId>, u32> = HashMap::new();
        let items = kept.map(|forum| {
            let parent_id = nearest_seen(forum.parent_id, &places);
            // Counted anew: a gap would tell of a forum that is hidden.
            let position = siblings.entry(parent_id.clone()).or_default();
            *position += 1;
            Forum {
                parent_id,
                position: *position,
                ..forum
            }
        });
        Ok(Forums {
            items: items.collect(),
        })
    }
}

/// Whether the caller sees a forum, and what is above it.
struct Above {
    seen: bool,
    parent: Option<ForumId>,
}

impl Above {
    fn of(forum: &Forum, view: &View<'_>) -> (ForumId, Self) {
        let above = Self {
            seen: view.sees(&forum.forum_id),
            parent: forum.parent_id.clone(),
        };
        (forum.forum_id.clone(), above)
    }
}

/// The nearest forum from `parent` upwards that the caller sees; a chain that turns back on itself ends.
fn nearest_seen(parent: Option<ForumId>, places: &HashMap<ForumId, Above>) -> Option<ForumId> {
    let up = |forum: &ForumId| places.get(forum)?.parent.clone();
    let chain = std::iter::successors(parent, up).take(places.len());
    chain
        .into_iter()
        .find(|forum| places.get(forum).is_some_and(|above| above.seen))
}

impl Reply for () {
    type Wire = Self;

    fn wire(self, _: &mut View<'_>) -> Result<Self, Problem> {
        Ok(self)
    }
}

impl Reply for Rating {
    type Wire = Self;

    fn wire(self, view: &mut View<'_>) -> Result<Self, Problem> {
        match &self.forum_id {
            Some(forum) => view.needs(forum)?,
            None if self.post_id.is_some() => {
                return Err(Problem::internal(
                    "the rating of a post lacks the post's forum",
                ));
            }
            None => {}
        }
        Ok(self)
    }
}

impl Content for Post {
    type Wire = Self;

    fn wire(self, view: &mut View<'_>) -> Result<Self, Problem> {
        view.resource.thread_id = Some(self.thread_id.clone());
        view.resource.post_id = Some(self.post_id.clone());
        Ok(self)
    }
}

impl Content for Poll {
    type Wire = Self;

    fn wire(self, _: &mut View<'_>) -> Result<Self, Problem> {
        Ok(self)
    }
}
