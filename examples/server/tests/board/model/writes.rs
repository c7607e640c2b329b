//! What a write answers, and what it leaves behind. What is new has no id until the board has given it one.

use super::act::{Act, Any, Target, Who};
use super::rules::{CONFLICT, FORBIDDEN, NAMED_NOTHING, NOT_FOUND, Refused, TOO_MANY};
use super::world::{Copy, Poll, Post, Rating, State, Thread, World};
use forum_api::conformance::Role;

const HOUR: u64 = 60 * 60;
const DAY: u64 = 24 * HOUR;
const MESSAGES_PER_HOUR: usize = 20;
const RATINGS_PER_DAY: usize = 10;
const INBOX_QUOTA: usize = 100;

type Status = Result<u16, Refused>;

impl World {
    /// The status of this write; `None` for what no member does.
    pub fn writes_of(&mut self, act: &Act) -> Option<Status> {
        Some(match *act {
            Act::Start(who, forum, poll) => self.start(who, forum, poll),
            Act::Reply(who, thread) => self.reply(who, thread),
            Act::Edit(who, post) => self.edit(who, post),
            Act::Delete(who, post) => self.delete(who, post),
            Act::Rate(who, member, post) => self.rate(who, member, post),
            Act::Send(who, to, asks) => self.send(who, to, asks),
            Act::Vote(who, thread, option) => self.vote(who, thread, option),
            Act::EditPoll(who, thread) => self.edit_poll(who, thread),
            Act::Follow(who, target) => self.follow(who, target),
            Act::Unfollow(who, target) => self.unfollow(who, target),
            _ => return None,
        })
    }

    fn start(&mut self, who: Who, forum: usize, poll: bool) -> Status {
        let author = self.member(who)?;
        if !self.sees_forum(who, forum) {
            return Err(NOT_FOUND);
        }
        if !self.writes(who, forum) {
            return Err(FORBIDDEN);
        }
        let thread = Thread {
            forum,
            first: self.posts.len(),
            poll: poll.then(Poll::default),
            ..Thread::default()
        };
        self.threads.push(thread);
        self.put(author, self.threads.len() - 1);
        Ok(201)
    }

    fn reply(&mut self, who: Who, thread: Any) -> Status {
        let author = self.member(who)?;
        let thread = self.seen_thread(who, self.thread(thread))?;
        if !self.may_reply(who, thread) {
            return Err(FORBIDDEN);
        }
        self.put(author, thread);
        Ok(201)
    }

    /// What newcomers write awaits approval.
    fn put(&mut self, author: usize, thread: usize) {
        let state = match self.members[author].role {
            Role::Newcomer => State::Awaiting,
            _ => State::Visible,
        };
        self.posts.push(Post {
            thread,
            author,
            state,
            written: self.now,
            version: 1,
            ..Post::default()
        });
    }

    /// Content that newcomers edit awaits approval.
    fn edit(&mut self, who: Who, post: Any) -> Status {
        let editor = self.member(who)?;
        let post = self.seen_post(who, self.post(post))?;
        self.may_change(who, post, false)?;
        if self.members[editor].role == Role::Newcomer && self.posts[post].state == State::Visible {
            self.posts[post].state = State::Awaiting;
        }
        self.posts[post].version += 1;
        Ok(200)
    }

    fn delete(&mut self, who: Who, post: Any) -> Status {
        self.member(who)?;
        let post = self.seen_post(who, self.post(post))?;
        self.may_change(who, post, true)?;
        let post = &mut self.posts[post];
        post.before = post.state;
        post.state = State::Deleted;
        post.version += 1;
        Ok(204)
    }

    fn rate(&mut self, who: Who, member: usize, post: Option<Any>) -> Status {
        let rater = self.member(who)?;
        if rater == member {
            return Err(FORBIDDEN);
        }
        let post = match post {
            Some(post) => Some(self.rated_post(who, member, post)?),
            None => None,
        };
        let now = self.now;
        let mut own = self.ratings.iter().filter(|rating| rating.rater == rater);
        let again = own.clone().any(|rating| {
            let lately = post.is_some() || now - rating.at < DAY;
            rating.member == member && rating.post == post && lately
        });
        if again {
            return Err(CONFLICT);
        }
        if own.by_ref().filter(|rating| now - rating.at < DAY).count() >= RATINGS_PER_DAY {
            return Err(TOO_MANY);
        }
        self.ratings.push(Rating {
            rater,
            member,
            post,
            at: now,
        });
        Ok(201)
    }

    fn rated_post(&self, who: Who, member: usize, post: Any) -> Result<usize, Refused> {
        let post = self
            .seen_post(who, self.post(post))
            .map_err(|_| NAMED_NOTHING)?;
        (self.posts[post].author == member)
            .then_some(post)
            .ok_or(NAMED_NOTHING)
    }

    fn send(&mut self, who: Who, to: usize, receipt_requested: bool) -> Status {
        let (sender, now) = (self.member(who)?, self.now);
        let lately = self.members[sender]
            .sent
            .iter()
            .filter(|sent| now - **sent < HOUR);
        if lately.count() >= MESSAGES_PER_HOUR {
            return Err(TOO_MANY);
        }
        if self.members[to].ignores.contains(&sender) {
            return Err(FORBIDDEN);
        }
        let used = self
            .copies
            .iter()
            .filter(|copy| copy.owner == to && copy.inbox && !copy.is_receipt);
        if used.count() >= INBOX_QUOTA {
            return Err((422, "VALIDATION"));
        }
        let sent = Copy {
            owner: sender,
            sender,
            read: true,
            receipt_requested,
            ..Copy::default()
        };
        let received = Copy {
            owner: to,
            inbox: true,
            sender,
            receipt_requested,
            ..Copy::default()
        };
        self.copies.extend([received, sent]);
        self.members[sender].sent.push(now);
        Ok(201)
    }

    /// The first reading is told to the sender, if they asked for it.
    pub fn mark_read(&mut self, copy: usize) {
        let copy = &mut self.copies[copy];
        let tells = !copy.read && copy.receipt_requested;
        copy.read = true;
        let receipt = Copy {
            owner: copy.sender,
            sender: copy.owner,
            inbox: true,
            is_receipt: true,
            ..Copy::default()
        };
        if tells {
            self.copies.push(receipt);
        }
    }

    /// A member who sees the thread may vote, unless it is deleted, and may change the vote.
    fn vote(&mut self, who: Who, thread: Any, option: usize) -> Status {
        let voter = self.member(who)?;
        let thread = self.seen_thread(who, self.thread(thread))?;
        let is_deleted = self.state(thread) == State::Deleted;
        let poll = self.threads[thread].poll.as_mut().ok_or(NOT_FOUND)?;
        if is_deleted {
            return Err(FORBIDDEN);
        }
        poll.votes.insert(voter, option);
        Ok(201)
    }

    fn edit_poll(&mut self, who: Who, thread: Any) -> Status {
        let member = self.member(who)?;
        let thread = self.seen_thread(who, self.thread(thread))?;
        let is_deleted = self.state(thread) == State::Deleted;
        let forum = self.threads[thread].forum;
        let (moderates, writes) = (self.moderates(who, forum), self.writes(who, forum));
        let it = &mut self.threads[thread];
        let poll = it.poll.as_mut().ok_or(NOT_FOUND)?;
        let own = self.posts[it.first].author == member && !it.locked;
        if is_deleted || !writes || !(moderates || own) {
            return Err(FORBIDDEN);
        }
        if !moderates && !poll.votes.is_empty() && !poll.edited {
            return Err(CONFLICT);
        }
        poll.edited = true;
        Ok(200)
    }

    fn follow(&mut self, who: Who, target: Target) -> Status {
        let member = self.member(who)?;
        let seen = self.following(target).filter(|target| match *target {
            Target::Forum(forum) => self.sees_forum(who, forum),
            Target::Thread(thread) => self.sees_thread(who, thread),
        });
        let is_new = self.members[member]
            .follows
            .insert(seen.ok_or(NAMED_NOTHING)?);
        Ok(if is_new { 201 } else { 200 })
    }

    /// What is hidden can be unfollowed as well.
    fn unfollow(&mut self, who: Who, target: Target) -> Status {
        let member = self.member(who)?;
        let target = self.following(target).ok_or(NAMED_NOTHING)?;
        let was_there = self.members[member].follows.remove(&target);
        was_there.then_some(204).ok_or(NAMED_NOTHING)
    }

    /// The same, with the thread's number.
    fn following(&self, target: Target) -> Option<Target> {
        match target {
            Target::Thread(thread) => self.thread(thread).map(Target::Thread),
            forum => Some(forum),
        }
    }
}
