//! What the model knows of the board.

use std::collections::{BTreeMap, BTreeSet};

use forum_api::conformance::{Audience, Role};

use super::act::{Any, Target};

/// Who there is.
pub const MEMBERS: [(&str, Role); 6] = [
    ("ada", Role::Administrator),
    ("sam", Role::Staff),
    ("alice", Role::Member),
    ("bob", Role::Member),
    ("carol", Role::Member),
    ("nina", Role::Newcomer),
];

/// Which forums there are: the one above, who reads, and who writes.
pub const FORUMS: [(Option<usize>, Audience, Audience); 5] = [
    (None, Audience::Guests, Audience::Members),
    (Some(0), Audience::Members, Audience::Members),
    (Some(1), Audience::Guests, Audience::Staff),
    (None, Audience::Staff, Audience::Staff),
    (None, Audience::Members, Audience::Guests),
];

/// The board.
#[derive(Debug, Default)]
pub struct World {
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
    /// When each of their messages was sent.
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
    /// Which option each voter chose.
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
    /// What it was before it was deleted.
    pub before: State,
    pub written: u64,
    pub version: u32,
}

/// What one member has of a message.
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

impl World {
    /// The number of a thread, if there is any.
    pub fn thread(&self, any: Any) -> Option<usize> {
        round(any, self.threads.len())
    }

    /// The number of a post, if there is any.
    pub fn post(&self, any: Any) -> Option<usize> {
        round(any, self.posts.len())
    }

    /// The number of a message's copy, if there is any whose id is known.
    pub fn copy(&self, any: Any) -> Option<usize> {
        round(any, self.copies.len()).filter(|copy| !self.copies[*copy].id.is_empty())
    }

    /// The state of a thread.
    pub fn state(&self, thread: usize) -> State {
        self.posts[self.threads[thread].first].state
    }

    /// The posts of a thread, by number.
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
