//! State of the model, and its rules on visibility and permissions.

use std::collections::{BTreeMap, BTreeSet};

use forum_api::conformance::{Audience, Role};

use super::action::{Caller, Index, Target};

/// Status and code of an error.
pub type ErrorStatus = (u16, &'static str);

pub const NOT_FOUND: ErrorStatus = (404, "not_found");
pub const DOMAIN_NOT_FOUND: ErrorStatus = (404, "NOT_FOUND");
pub const FORBIDDEN: ErrorStatus = (403, "FORBIDDEN");
pub const CONFLICT: ErrorStatus = (409, "CONFLICT");
pub const TOO_MANY: ErrorStatus = (429, "RATE_LIMITED");

/// Seconds in which an author may change a post.
const EDIT_WINDOW: u64 = 30 * 60;

/// Members with their roles.
pub const MEMBERS: [(&str, Role); 6] = [
    ("ada", Role::Administrator),
    ("sam", Role::Staff),
    ("alice", Role::Member),
    ("bob", Role::Member),
    ("carol", Role::Member),
    ("nina", Role::Newcomer),
];

/// Forums with their parent, readers and writers.
pub const FORUMS: [(Option<usize>, Audience, Audience); 5] = [
    (None, Audience::Guests, Audience::Members),
    (Some(0), Audience::Members, Audience::Members),
    (Some(1), Audience::Guests, Audience::Staff),
    (None, Audience::Staff, Audience::Staff),
    (None, Audience::Members, Audience::Guests),
];

/// Content of the modeled board.
#[derive(Debug, Default)]
pub struct ModelState {
    /// Seconds since the first step.
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
    pub subscriptions: BTreeSet<Target>,
    /// Times at which the member sent messages.
    pub sent: Vec<u64>,
}

#[derive(Debug, Default)]
pub struct Thread {
    pub id: String,
    pub forum: usize,
    /// Number of the first post, whose state is that of the thread.
    pub first: usize,
    pub locked: bool,
    pub poll: Option<Poll>,
}

#[derive(Debug, Default)]
pub struct Poll {
    pub id: String,
    pub options: Vec<String>,
    /// The poll has the question that [`Kind::UpdatePoll`](super::action::Kind::UpdatePoll) sets.
    pub edited: bool,
    /// Chosen option by voter.
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
    /// State before the deletion.
    pub before: State,
    pub written: u64,
    pub version: u32,
}

/// Copy of a message of one member.
#[derive(Debug, Default)]
pub struct Copy {
    /// Empty until the owner has listed the message.
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
    /// Returns an error for a banned caller, and for members without the administrator role while the board is offline.
    pub fn check_access(&self, caller: Caller) -> Result<(), ErrorStatus> {
        if caller.is_some_and(|member| self.members[member].banned) {
            return Err((403, "owner_unavailable"));
        }
        if self.offline && !self.is_administrator(caller) {
            return Err((503, "board_offline"));
        }
        Ok(())
    }

    /// Returns the calling member, or an error for the guest.
    pub fn member(&self, caller: Caller) -> Result<usize, ErrorStatus> {
        caller
            .ok_or((401, "unauthenticated"))
            .and_then(|member| self.check_access(caller).map(|()| member))
    }

    fn is_administrator(&self, caller: Caller) -> bool {
        caller.is_some_and(|member| self.members[member].role == Role::Administrator)
    }

    fn is_in_audience(&self, caller: Caller, audience: Audience) -> bool {
        let role = caller.map(|member| self.members[member].role);
        match audience {
            Audience::Guests => true,
            Audience::Members => role.is_some(),
            Audience::Staff => matches!(role, Some(Role::Staff | Role::Administrator)),
        }
    }

    pub fn sees_forum(&self, caller: Caller, forum: usize) -> bool {
        self.is_in_audience(caller, self.forums[forum].readers)
    }

    pub fn may_write(&self, caller: Caller, forum: usize) -> bool {
        caller.is_some()
            && self.sees_forum(caller, forum)
            && self.is_in_audience(caller, self.forums[forum].writers)
    }

    pub fn may_moderate(&self, caller: Caller, forum: usize) -> bool {
        let named = |member| self.forums[forum].moderators.contains(&member);
        self.is_administrator(caller) || self.sees_forum(caller, forum) && caller.is_some_and(named)
    }

    /// Returns whether the caller sees the post in its state. Authors and moderators see posts that await approval;
    /// moderators see deleted posts.
    fn sees_state(&self, caller: Caller, forum: usize, post: usize) -> bool {
        let post = &self.posts[post];
        match post.state {
            State::Visible => true,
            State::Awaiting => caller == Some(post.author) || self.may_moderate(caller, forum),
            State::Deleted => self.may_moderate(caller, forum),
        }
    }

    pub fn sees_thread(&self, caller: Caller, thread: usize) -> bool {
        let thread = &self.threads[thread];
        self.sees_forum(caller, thread.forum) && self.sees_state(caller, thread.forum, thread.first)
    }

    pub fn sees_post(&self, caller: Caller, post: usize) -> bool {
        let thread = self.posts[post].thread;
        self.sees_thread(caller, thread)
            && self.sees_state(caller, self.threads[thread].forum, post)
    }

    /// Returns whether all callers who see the forum see the post.
    pub fn is_public(&self, post: usize) -> bool {
        self.posts[post].state == State::Visible
            && self.state(self.posts[post].thread) == State::Visible
    }

    /// Returns whether a caller who sees the thread may reply.
    pub fn may_reply(&self, caller: Caller, thread: usize) -> bool {
        let entry = &self.threads[thread];
        let open = !entry.locked || self.may_moderate(caller, entry.forum);
        self.may_write(caller, entry.forum) && open && self.state(thread) == State::Visible
    }

    /// Returns an error if a caller who sees the post may not edit or delete it.
    pub fn may_change(
        &self,
        caller: Caller,
        post: usize,
        deletes: bool,
    ) -> Result<(), ErrorStatus> {
        let (number, post) = (post, &self.posts[post]);
        let thread = &self.threads[post.thread];
        if !deletes && !self.may_write(caller, thread.forum) {
            return Err(FORBIDDEN);
        }
        let in_time = self.now - post.written < EDIT_WINDOW;
        let takes_moderator = deletes && thread.first == number;
        let own = caller == Some(post.author) && in_time && !thread.locked && !takes_moderator;
        if !own && !self.may_moderate(caller, thread.forum) {
            return Err(FORBIDDEN);
        }
        (post.state != State::Deleted).then_some(()).ok_or(CONFLICT)
    }

    /// Returns the thread if the caller sees it.
    pub fn seen_thread(&self, caller: Caller, thread: Option<usize>) -> Result<usize, ErrorStatus> {
        thread
            .filter(|thread| self.sees_thread(caller, *thread))
            .ok_or(NOT_FOUND)
    }

    /// Returns the post if the caller sees it.
    pub fn seen_post(&self, caller: Caller, post: Option<usize>) -> Result<usize, ErrorStatus> {
        post.filter(|post| self.sees_post(caller, *post))
            .ok_or(NOT_FOUND)
    }

    /// Resolves the index of a thread; `None` if there are no threads.
    pub fn thread(&self, index: Index) -> Option<usize> {
        wrap_index(index, self.threads.len())
    }

    /// Resolves the index of a post; `None` if there are no posts.
    pub fn post(&self, index: Index) -> Option<usize> {
        wrap_index(index, self.posts.len())
    }

    /// Resolves the index of a copy; `None` if its id is not known yet.
    pub fn copy(&self, index: Index) -> Option<usize> {
        wrap_index(index, self.copies.len()).filter(|copy| !self.copies[*copy].id.is_empty())
    }

    pub fn state(&self, thread: usize) -> State {
        self.posts[self.threads[thread].first].state
    }

    /// Returns the numbers of the posts of a thread.
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

fn wrap_index(index: Index, count: usize) -> Option<usize> {
    index.checked_rem(count)
}
