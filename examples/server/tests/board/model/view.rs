//! What a caller reads: a row for each thing that is seen, of the fields that `request` picks out of an answer.

use serde_json::{Value, json};

use super::act::{Act, Any, Target, Who};
use super::rules::{NOT_FOUND, Refused};
use super::world::{State, World};

type Rows = Result<Vec<Value>, Refused>;

impl World {
    /// What this read gives; `None` for what is no read.
    pub fn reads(&mut self, act: &Act) -> Option<Rows> {
        Some(match *act {
            Act::Forums(who) => self.admits(who).map(|()| self.all_forums(who)),
            Act::Threads(who, forum) => self.all_threads(who, forum),
            Act::Thread(who, thread) => self.one_thread(who, thread),
            Act::Posts(who, thread) => self.all_posts(who, thread),
            Act::Profile(who, member) => self.profile(who, member),
            Act::Poll(who, thread) => self.poll(who, thread),
            Act::Search(who) => self.admits(who).map(|()| self.hits(who)),
            Act::Inbox(who) => self.inbox(who),
            Act::Open(who, message) => self.open(who, message),
            Act::Followed(who) => self.followed(who),
            _ => return None,
        })
    }

    fn all_forums(&self, who: Who) -> Vec<Value> {
        let seen = (0..self.forums.len()).filter(|forum| self.sees_forum(who, *forum));
        let row = |forum: usize| {
            let above = self.nearest(who, forum).map(|above| &self.forums[above].id);
            let public = (0..self.posts.len()).filter(|post| self.is_public(*post));
            let posts: Vec<_> = public
                .filter(|post| self.threads[self.posts[*post].thread].forum == forum)
                .collect();
            let firsts = posts.iter().filter(|post| self.is_first(**post));
            json!([
                self.forums[forum].id,
                above,
                self.writes(who, forum),
                firsts.count(),
                posts.len()
            ])
        };
        seen.map(row).collect()
    }

    /// The nearest forum above that this caller sees.
    fn nearest(&self, who: Who, forum: usize) -> Option<usize> {
        let above = self.forums[forum].parent?;
        if self.sees_forum(who, above) {
            Some(above)
        } else {
            self.nearest(who, above)
        }
    }

    fn is_first(&self, post: usize) -> bool {
        self.threads[self.posts[post].thread].first == post
    }

    fn all_threads(&self, who: Who, forum: usize) -> Rows {
        self.admits(who)?;
        if !self.sees_forum(who, forum) {
            return Err(NOT_FOUND);
        }
        let here = (0..self.threads.len()).filter(|thread| self.threads[*thread].forum == forum);
        let seen = here.filter(|thread| self.sees_thread(who, *thread));
        Ok(seen.map(|thread| self.thread_row(who, thread)).collect())
    }

    fn one_thread(&self, who: Who, thread: Any) -> Rows {
        self.admits(who)?;
        let thread = self.seen_thread(who, self.thread(thread))?;
        Ok(vec![self.thread_row(who, thread)])
    }

    fn thread_row(&self, who: Who, thread: usize) -> Value {
        let it = &self.threads[thread];
        let visible = self
            .posts_of(thread)
            .filter(|post| self.posts[*post].state == State::Visible);
        let replies = visible.filter(|post| !self.is_first(*post)).count();
        json!([
            it.id,
            self.state(thread).name(),
            it.locked,
            self.may_reply(who, thread),
            replies
        ])
    }

    fn all_posts(&self, who: Who, thread: Any) -> Rows {
        self.admits(who)?;
        let thread = self.seen_thread(who, self.thread(thread))?;
        let seen = self
            .posts_of(thread)
            .filter(|post| self.sees_post(who, *post));
        Ok(seen.map(|post| self.post_row(who, post)).collect())
    }

    fn post_row(&self, who: Who, post: usize) -> Value {
        let may = |deletes| self.may_change(who, post, deletes).is_ok();
        let it = &self.posts[post];
        json!([it.id, it.state.name(), may(false), may(true), it.version])
    }

    /// Posts count in the forums that every member may read.
    fn profile(&self, who: Who, member: usize) -> Rows {
        self.admits(who)?;
        let sees_any = (0..self.forums.len()).any(|forum| self.sees_forum(who, forum));
        if who.is_none() && !sees_any {
            return Err(NOT_FOUND);
        }
        let theirs = (0..self.posts.len()).filter(|post| self.posts[*post].author == member);
        let count = theirs.filter(|post| self.is_public(*post) && self.is_for_members(*post));
        let given = self.ratings.iter().filter(|rating| rating.member == member);
        Ok(vec![json!([
            self.members[member].id,
            count.count(),
            given.count()
        ])])
    }

    fn is_for_members(&self, post: usize) -> bool {
        let forum = self.threads[self.posts[post].thread].forum;
        self.forums[forum].readers != forum_api::conformance::Audience::Staff
    }

    fn poll(&self, who: Who, thread: Any) -> Rows {
        self.admits(who)?;
        let thread = self.seen_thread(who, self.thread(thread))?;
        let poll = self.threads[thread].poll.as_ref().ok_or(NOT_FOUND)?;
        let own = who.and_then(|member| poll.votes.get(&member));
        let own = own.map(|option| [&poll.options[*option]]);
        Ok(vec![json!([poll.id, poll.votes.len(), own])])
    }

    /// Every post has the word that is searched.
    fn hits(&self, who: Who) -> Vec<Value> {
        let public = (0..self.posts.len()).filter(|post| self.is_public(*post));
        let seen = public.filter(|post| self.sees_post(who, *post));
        seen.map(|post| json!([self.posts[post].id])).collect()
    }

    /// How many there are, and of which many are read: of receipts, too, nobody but the reader knows the id.
    fn inbox(&self, who: Who) -> Rows {
        let member = self.member(who)?;
        let inbox = self
            .copies
            .iter()
            .filter(|copy| copy.owner == member && copy.inbox);
        let row = |copy: &super::world::Copy| {
            json!([
                self.members[copy.sender].id,
                copy.read,
                copy.receipt_requested
            ])
        };
        Ok(inbox.map(row).collect())
    }

    fn open(&mut self, who: Who, copy: Any) -> Rows {
        let member = self.member(who)?;
        let own = self
            .copy(copy)
            .filter(|copy| self.copies[*copy].owner == member);
        let copy = own.ok_or(NOT_FOUND)?;
        self.mark_read(copy);
        Ok(vec![json!([self.copies[copy].id])])
    }

    fn followed(&self, who: Who) -> Rows {
        let member = self.member(who)?;
        let row = |target: &Target| match *target {
            Target::Forum(forum) => self
                .sees_forum(who, forum)
                .then(|| json!(["forum", self.forums[forum].id])),
            Target::Thread(thread) => self
                .sees_thread(who, thread)
                .then(|| json!(["thread", self.threads[thread].id])),
        };
        Ok(self.members[member]
            .follows
            .iter()
            .filter_map(row)
            .collect())
    }
}
