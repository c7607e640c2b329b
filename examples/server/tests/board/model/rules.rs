//! Who sees what, and who may do what.

use forum_api::conformance::{Audience, Role};

use super::act::Who;
use super::world::{State, World};

/// A status and a code.
pub type Refused = (u16, &'static str);

pub const NOT_FOUND: Refused = (404, "not_found");
pub const NAMED_NOTHING: Refused = (404, "NOT_FOUND");
pub const FORBIDDEN: Refused = (403, "FORBIDDEN");
pub const CONFLICT: Refused = (409, "CONFLICT");
pub const TOO_MANY: Refused = (429, "RATE_LIMITED");

/// An author may change a post for half an hour.
const EDIT_WINDOW: u64 = 30 * 60;

impl World {
    /// Whether the API answers this caller at all.
    pub fn admits(&self, who: Who) -> Result<(), Refused> {
        if who.is_some_and(|member| self.members[member].banned) {
            return Err((403, "owner_unavailable"));
        }
        if self.offline && !self.administers(who) {
            return Err((503, "board_offline"));
        }
        Ok(())
    }

    /// The member who calls, as one has to for this.
    pub fn member(&self, who: Who) -> Result<usize, Refused> {
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

    /// What awaits approval is there for its author and moderators, what is deleted for moderators.
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

    /// Whether everybody who sees the forum sees the post.
    pub fn is_public(&self, post: usize) -> bool {
        self.posts[post].state == State::Visible
            && self.state(self.posts[post].thread) == State::Visible
    }

    /// Whether this caller, who sees the thread, may reply.
    pub fn may_reply(&self, who: Who, thread: usize) -> bool {
        let it = &self.threads[thread];
        let open = !it.locked || self.moderates(who, it.forum);
        self.writes(who, it.forum) && open && self.state(thread) == State::Visible
    }

    /// Whether this caller, who sees the post, may edit or delete it.
    pub fn may_change(&self, who: Who, post: usize, deletes: bool) -> Result<(), Refused> {
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

    /// The thread, if there is one that this caller sees.
    pub fn seen_thread(&self, who: Who, thread: Option<usize>) -> Result<usize, Refused> {
        thread
            .filter(|thread| self.sees_thread(who, *thread))
            .ok_or(NOT_FOUND)
    }

    /// The post, if there is one that this caller sees.
    pub fn seen_post(&self, who: Who, post: Option<usize>) -> Result<usize, Refused> {
        post.filter(|post| self.sees_post(who, *post))
            .ok_or(NOT_FOUND)
    }
}
