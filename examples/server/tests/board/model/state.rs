//! The state of the model: content, visibility and permissions.

use std::collections::{BTreeMap, BTreeSet};

use forum_api::conformance::{Audience, Role};

use super::action::{Any, Target, Who};

/// A status and a code.
pub type Denied = (u16, &'static str);

pub const NOT_FOUND: Denied = (404, "not_found");
pub const NAMED_NOTHING: Denied = (404, "NOT_FOUND");
pub const FORBIDDEN: Denied = (403, "FORBIDDEN");
pub const CONFLICT: Denied = (409, "CONFLICT");
pub const TOO_MANY: Denied = (429, "RATE_LIMITED");

/// An author may change a post for half an hour.
const EDIT_WINDOW: u64 = 30 * 60;

/// The members with their roles.
pub const MEMBERS: [(&str, Role); 6] = [
    ("ada", Role::Administrator),
    ("sam", Role::Staff),
    ("alice", Role::Member),
    ("bob", Role::Member),
    ("carol", Role::Member),
    ("nina", Role::Newcomer),
];

/// The forums: parent, readers and writers.
pub const FORUMS: [(Option<usize>, Audience, Audience); 5] = [
    (None, Audience::Guests, Audience::Members),
    (Some(0), Audience::Members, Audience::Members),
    (Some(1), Audience::Guests, Audience::Staff),
    (None, Audience::Staff, Audience::Staff),
    (None, Audience::Members, Audience::Guests),
];

/// The content of the board.
#[derive(Debug, Default)]
pub struct ModelState {
    /// Seconds since the beginning.
    pub now: u64,
    pub offline: bool,
    pub forums: Vec<Forum>,
    pub members: Vec<Member>,
    pub threads: Vec<Thread>,
    pub posts: Vec<Post>,
    pub copies: Vec<Copy>,
    pub ratings: Vec<Rating>,
}

#[derive(Debug)]
pub struct Forum {
    pub id: String,
    pub parent: Option<usize>,
    pub readers: Audience,
    pub writers: Audience,
    pub moderators: BTreeSet<usize>,
}

#[derive(Debug)]
pub struct Member {
    pub id: String,
    pub role: Role,
    pub banned: bool,
    pub ignores: BTreeSet<usize>,
    pub follows: BTreeSet<Target>,
    /// Times at which the member sent messages.
    pub sent: Vec<u64>,
}

#[derive(Debug, Default)]
pub struct Thread {
    pub id: String,
    pub forum: usize,
    /// The number of its first post, whose state is the thread's.
    pub first: usize,
    pub locked: bool,
    pub poll: Option<Poll>,
}

#[derive(Debug, Default)]
pub struct Poll {
    pub id: String,
    pub options: Vec<String>,
    /// True if the poll has the question that an edit gives it.
    pub edited: bool,
    /// The chosen option of each voter.
    pub votes: BTreeMap<usize, usize>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    #[default]
    Visible,
    Awaiting,
    Deleted,
}

#[derive(Debug, Default)]
pub struct Post {
    pub id: String,
    pub thread: usize,
    pub author: usize,
    pub state: State,
    /// The state before the deletion.
    pub before: State,
    pub written: u64,
    pub version: u32,
}

/// A message in a folder of one member.
#[derive(Debug, Default)]
pub struct Copy {
    /// Empty until its owner has seen it in a list.
    pub id: String,
    pub owner: usize,
    pub sender: usize,
    pub inbox: bool,
    pub read: bool,
    pub receipt_requested: bool,
    pub is_receipt: bool,
}

#[derive(Debug)]
pub struct Rating {
    pub rater: usize,
    pub member: usize,
    pub post: Option<usize>,
    pub at: u64,
}

impl ModelState {
    /// Checks that the API admits this caller.
    pub fn admits(&self, who: Who) -> Result<(), Denied> {
        if who.is_some_and(|member| self.members[member].banned) {
            return Err((403, "owner_unavailable"));
        }
        if self.offline && !self.administers(who) {
            return Err((503, "board_offline"));
        }
        Ok(())
    }

    /// Returns the calling member. Guests are denied.
    pub fn member(&self, who: Who) -> Result<usize, Denied> {
        who.ok_or((401, "unauthenticated"))
            .and_then(|member| self.admits(who).map(|()| member))
    }

    fn administers(&self, who: Who) -> bool {
        who.is_some_and(|member| self.members[member].role == Role::Administrator)
    }

    fn belongs(&self, who: Who, audience: Audience) -> bool {
        let role = who.map(|member| self.members[member].role);
        match audience {
            Audience::Guests => true,
            Audience::Members => role.is_some(),
            Audience::Staff => matches!(role, Some(Role::Staff | Role::Administrator)),
        }
    }

    pub fn sees_forum(&self, who: Who, forum: usize) -> bool {
        self.belongs(who, self.forums[forum].readers)
    }

    pub fn writes(&self, who: Who, forum: usize) -> bool {
        who.is_some()
            && self.sees_forum(who, forum)
            && self.belongs(who, self.forums[forum].writers)
    }

    pub fn moderates(&self, who: Who, forum: usize) -> bool {
        let named = |member| self.forums[forum].moderators.contains(&member);
        self.administers(who) || self.sees_forum(who, forum) && who.is_some_and(named)
    }

    /// The author and moderators see a post that awaits approval. Moderators see a deleted one.
    fn sees_state(&self, who: Who, forum: usize, post: usize) -> bool {
        let post = &self.posts[post];
        match post.state {
            State::Visible => true,
            State::Awaiting => who == Some(post.author) || self.moderates(who, forum),
            State::Deleted => self.moderates(who, forum),
        }
    }

    pub fn sees_thread(&self, who: Who, thread: usize) -> bool {
        let thread = &self.threads[thread];
        self.sees_forum(who, thread.forum) && self.sees_state(who, thread.forum, thread.first)
    }

    pub fn sees_post(&self, who: Who, post: usize) -> bool {
        let thread = self.posts[post].thread;
        self.sees_thread(who, thread) && self.sees_state(who, self.threads[thread].forum, post)
    }

    /// Returns whether all callers who see the forum see the post.
    pub fn is_public(&self, post: usize) -> bool {
        self.posts[post].state == State::Visible
            && self.state(self.posts[post].thread) == State::Visible
    }

    /// Returns whether this caller, who sees the thread, can reply.
    pub fn may_reply(&self, who: Who, thread: usize) -> bool {
        let it = &self.threads[thread];
        let open = !it.locked || self.moderates(who, it.forum);
        self.writes(who, it.forum) && open && self.state(thread) == State::Visible
    }

    /// Checks that this caller, who sees the post, can edit or delete it.
    pub fn may_change(&self, who: Who, post: usize, deletes: bool) -> Result<(), Denied> {
        let (number, post) = (post, &self.posts[post]);
        let thread = &self.threads[post.thread];
        if !deletes && !self.writes(who, thread.forum) {
            return Err(FORBIDDEN);
        }
        let in_time = self.now - post.written < EDIT_WINDOW;
        let takes_moderator = deletes && thread.first == number;
        let own = who == Some(post.author) && in_time && !thread.locked && !takes_moderator;
        if !own && !self.moderates(who, thread.forum) {
            return Err(FORBIDDEN);
        }
        (post.state != State::Deleted).then_some(()).ok_or(CONFLICT)
    }

    /// Returns the thread if this caller sees it.
    pub fn seen_thread(&self, who: Who, thread: Option<usize>) -> Result<usize, Denied> {
        thread
            .filter(|thread| self.sees_thread(who, *thread))
            .ok_or(NOT_FOUND)
    }

    /// Returns the post if this caller sees it.
    pub fn seen_post(&self, who: Who, post: Option<usize>) -> Result<usize, Denied> {
        post.filter(|post| self.sees_post(who, *post))
            .ok_or(NOT_FOUND)
    }

    /// Returns the number of a thread; `None` if there are none.
    pub fn thread(&self, any: Any) -> Option<usize> {
        round(any, self.threads.len())
    }

    /// Returns the number of a post; `None` if there are none.
    pub fn post(&self, any: Any) -> Option<usize> {
        round(any, self.posts.len())
    }

    /// Returns the number of a message's copy; `None` if its id is not known.
    pub fn copy(&self, any: Any) -> Option<usize> {
        round(any, self.copies.len()).filter(|copy| !self.copies[*copy].id.is_empty())
    }

    /// Returns the state of a thread.
    pub fn state(&self, thread: usize) -> State {
        self.posts[self.threads[thread].first].state
    }

    /// Returns the numbers of a thread's posts.
    pub fn posts_of(&self, thread: usize) -> impl Iterator<Item = usize> {
        let numbers = 0..self.posts.len();
        numbers.filter(move |post| self.posts[*post].thread == thread)
    }
}

impl State {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Visible => "visible",
            Self::Awaiting => "awaiting_approval",
            Self::Deleted => "deleted",
        }
    }
}

fn round(any: Any, count: usize) -> Option<usize> {
    any.checked_rem(count)
}
