//! What commands return: checked against what the caller sees, and turned into what goes over the wire.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::cursor::List;
use super::log;
use super::problem::{Problem, Unauthenticated};
use crate::host::{Caller, In, Member};
use crate::model::{
    Account, Followed, Forum, ForumId, Me, Message, MessageSummary, Page, Poll, Position, Post,
    Profile, Rating, SearchHit, Subscription, Thread,
};
use crate::scope::Scope;

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
        }
    }

    /// What is in `forum` is for this caller, or was never there.
    fn needs(&self, forum: &ForumId) -> Result<(), Problem> {
        self.sees(forum).then_some(()).ok_or(Problem::Withheld)
    }

    /// Whether the caller sees `forum`.
    fn sees(&self, forum: &ForumId) -> bool {
        let seen = self.caller.standing().forums.contains(forum);
        if !seen {
            log::withheld(self.command, forum);
        }
        seen
    }
}

/// The reply of a command.
pub(super) trait Reply: Send + Sized + 'static {
    /// What goes over the wire.
    type Wire: Serialize + JsonSchema;

    /// Statuses that the reply itself decides on, beside the row's own.
    const STATUSES: &'static [u16] = &[];

    /// Headers that the reply brings, where its status has them.
    const HEADERS: &'static [&'static str] = &[];

    fn wire(self, view: &mut View<'_>) -> Result<Self::Wire, Problem>;
}

/// An item of a list; where it is, if it says so itself.
pub(super) trait Item: Serialize + JsonSchema + Send + 'static {
    fn forum(&self) -> Option<&ForumId>;
}

macro_rules! items {
    ($($name:ident $forum:expr;)+) => {$(
        impl Item for $name {
            fn forum(&self) -> Option<&ForumId> {
                let forum: fn(&Self) -> Option<&ForumId> = $forum;
                forum(self)
            }
        }
    )+};
}

items! {
    Thread |thread| Some(&thread.forum_id);
    SearchHit |hit| Some(&hit.forum_id);
    Subscription |subscription| Some(&subscription.forum_id);
    Post |_| None;
    MessageSummary |_| None;
}

impl<T: Item> Reply for Page<T> {
    type Wire = Self;

    const HEADERS: &'static [&'static str] = &["link"];

    fn wire(mut self, view: &mut View<'_>) -> Result<Self, Problem> {
        self.items
            .retain(|item| item.forum().is_none_or(|forum| view.sees(forum)));
        if let Some(position) = &self.next {
            let cursor = view.list.and_then(|list| list.seal(position));
            let cursor = cursor.ok_or_else(|| Problem::internal(too_long(position)))?;
            view.next = Some(cursor.as_str().to_owned());
            self.next = Some(cursor);
        }
        Ok(self)
    }
}

/// For the log: a host's own text, which no client sees.
fn too_long(position: &Position) -> String {
    let (is, most) = (position.as_str().len(), Position::MAX);
    format!("a position has {is} bytes, and {most} at most: make it of the sort key alone")
}

impl<T: Reply> Reply for In<T> {
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

macro_rules! as_it_is {
    ($($name:ty)+) => {$(
        impl Reply for $name {
            type Wire = Self;

            fn wire(self, _: &mut View<'_>) -> Result<Self, Problem> {
                Ok(self)
            }
        }
    )+};
}

as_it_is! { () Post Poll Rating }
