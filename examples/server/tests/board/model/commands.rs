//! Requests of the API, each with the response of the model.

use forum_api::conformance::{Audience, Role};
use serde_json::{Value, json};

use super::action::{Action, Any, Kind, Target, Who};
use super::state::{
    CONFLICT, Copy, Denied, FORBIDDEN, FORUMS, MEMBERS, ModelState, NAMED_NOTHING, NOT_FOUND, Poll,
    Post, Rating, State, TOO_MANY, Thread,
};

/// An id that nothing has.
const NOTHING: &str = "0";

/// The word in every post.
const WORD: &str = "tea";

const HOUR: u64 = 60 * 60;
const DAY: u64 = 24 * HOUR;
const MESSAGES_PER_HOUR: usize = 20;
const RATINGS_PER_DAY: usize = 10;
const INBOX_QUOTA: usize = 100;

const FORUM: &[&str] = &[
    "/forumId",
    "/parentId",
    "/canStartThread",
    "/threadCount",
    "/postCount",
];
const THREAD: &[&str] = &["/threadId", "/state", "/locked", "/canReply", "/replyCount"];
const POST: &[&str] = &["/postId", "/state", "/canEdit", "/canDelete", "/version"];
const MEMBER: &[&str] = &["/userId", "/postCount", "/reputation"];
const POLL: &[&str] = &["/pollId", "/totalVotes", "/ownVote"];
const HIT: &[&str] = &["/postId"];
const MESSAGE: &[&str] = &["/sender/userId", "/readAt", "/receiptRequested"];
const OPENED: &[&str] = &["/messageId"];
const SUBSCRIPTION: &[&str] = &["/target", "/targetId"];

type Rows = Result<Vec<Value>, Denied>;
type Status = Result<u16, Denied>;

/// A request, with pointers to the compared fields of each item in the response.
#[derive(Debug)]
pub struct Request {
    pub who: Who,
    pub method: &'static str,
    pub path: String,
    pub body: Value,
    pub fields: &'static [&'static str],
}

/// The status and the rows of the model's response.
type ModelResult = Result<(u16, Option<Vec<Value>>), Denied>;

impl ModelState {
    /// Returns the request of an action, with the model's status and rows; `None` for an action of an operator.
    pub fn respond(&mut self, action: &Action) -> Option<(Request, ModelResult)> {
        let Action {
            kind,
            who,
            one,
            another,
            flag,
        } = *action;
        let (member, forum) = (one % MEMBERS.len(), one % FORUMS.len());
        let ask = |method, path, body, fields| Request {
            who,
            method,
            path,
            body,
            fields,
        };
        let get = |path, fields| ask("GET", path, Value::Null, fields);
        let read = |rows: Rows| rows.map(|rows| (200, Some(rows)));
        let wrote = |status: Status| status.map(|status| (status, None));
        let target = if flag {
            Target::Forum(forum)
        } else {
            Target::Thread(one)
        };
        let about = flag.then_some(another);
        let text = json!({ "body": WORD });
        let thread = self.thread_path(one);
        Some(match kind {
            Kind::Forums => (
                get("/forums".into(), FORUM),
                read(self.admits(who).map(|()| self.all_forums(who))),
            ),
            Kind::Threads => {
                let path = format!("{}?limit=100", self.threads_path(forum));
                (get(path, THREAD), read(self.all_threads(who, forum)))
            }
            Kind::Thread => (get(thread, THREAD), read(self.one_thread(who, one))),
            Kind::Posts => (
                get(format!("{thread}/posts?limit=100"), POST),
                read(self.all_posts(who, one)),
            ),
            Kind::Profile => (
                get(self.member_path(member), MEMBER),
                read(self.profile(who, member)),
            ),
            Kind::Poll => (
                get(format!("{thread}/poll"), POLL),
                read(self.poll(who, one)),
            ),
            Kind::Search => {
                let path = format!("/search?q={WORD}&sort=newest&limit=100");
                (
                    get(path, HIT),
                    read(self.admits(who).map(|()| self.hits(who))),
                )
            }
            Kind::Inbox => (
                get("/messages?limit=100".into(), MESSAGE),
                read(self.inbox(who)),
            ),
            Kind::Open => (
                get(self.message_path(one), OPENED),
                read(self.open(who, one)),
            ),
            Kind::Followed => (
                get("/subscriptions?limit=100".into(), SUBSCRIPTION),
                read(self.followed(who)),
            ),
            Kind::Start => {
                let poll = flag.then(|| json!({ "question": "Tea?", "options": ["yes", "no"], "canChangeVote": true }));
                let new = json!({ "title": "Drinks", "body": WORD, "poll": poll });
                (
                    ask("POST", self.threads_path(forum), new, &[]),
                    wrote(self.start(who, forum, flag)),
                )
            }
            Kind::Reply => (
                ask("POST", format!("{thread}/posts"), text, &[]),
                wrote(self.reply(who, one)),
            ),
            Kind::Edit => (
                ask("PATCH", self.post_path(one), text, &[]),
                wrote(self.edit(who, one)),
            ),
            Kind::Delete => (
                ask("DELETE", self.post_path(one), Value::Null, &[]),
                wrote(self.delete(who, one)),
            ),
            Kind::Rate => {
                let path = format!("{}/reputation", self.member_path(member));
                let post = about.map(|post| self.post_id(post));
                let rating = json!({ "points": 1, "comment": WORD, "postId": post });
                (
                    ask("POST", path, rating, &[]),
                    wrote(self.rate(who, member, about)),
                )
            }
            Kind::Send => {
                let to = [&self.members[member].id];
                let message =
                    json!({ "to": to, "subject": WORD, "body": WORD, "requestReceipt": flag });
                (
                    ask("POST", "/messages".into(), message, &[]),
                    wrote(self.send(who, member, flag)),
                )
            }
            Kind::Vote => {
                let (poll, option) = (self.poll_of(one), another % 2);
                let path = format!("/polls/{}/votes", poll.map_or(NOTHING, |poll| &poll.id));
                let vote =
                    json!({ "optionIds": [poll.map_or(NOTHING, |poll| &poll.options[option])] });
                (
                    ask("POST", path, vote, &[]),
                    wrote(self.vote(who, one, option)),
                )
            }
            Kind::UpdatePoll => {
                let path = format!(
                    "/polls/{}",
                    self.poll_of(one).map_or(NOTHING, |poll| &poll.id)
                );
                let edit = json!({ "question": "Tea or coffee?" });
                (
                    ask("PATCH", path, edit, &[]),
                    wrote(self.edit_poll(who, one)),
                )
            }
            Kind::Follow => {
                let (kind, id) = self.target(target);
                let follow = json!({ "target": kind, "targetId": id });
                (
                    ask("POST", "/subscriptions".into(), follow, &[]),
                    wrote(self.follow(who, target)),
                )
            }
            Kind::Unfollow => {
                let (kind, id) = self.target(target);
                let path = format!("/subscriptions/{kind}/{id}");
                (
                    ask("DELETE", path, Value::Null, &[]),
                    wrote(self.unfollow(who, target)),
                )
            }
            _ => return None,
        })
    }

    fn threads_path(&self, forum: usize) -> String {
        format!("/forums/{}/threads", self.forums[forum].id)
    }

    fn poll_of(&self, thread: Any) -> Option<&Poll> {
        let thread = self.thread(thread)?;
        self.threads[thread].poll.as_ref()
    }

    fn member_path(&self, member: usize) -> String {
        format!("/members/{}", self.members[member].id)
    }

    fn thread_path(&self, thread: Any) -> String {
        format!("/threads/{}", self.thread_id(thread))
    }

    fn thread_id(&self, thread: Any) -> &str {
        self.thread(thread)
            .map_or(NOTHING, |thread| &self.threads[thread].id)
    }

    fn post_id(&self, post: Any) -> &str {
        self.post(post).map_or(NOTHING, |post| &self.posts[post].id)
    }

    fn post_path(&self, post: Any) -> String {
        let thread = self.post(post).map(|post| self.posts[post].thread);
        let thread = thread.map_or(NOTHING, |thread| &self.threads[thread].id);
        format!("/threads/{thread}/posts/{}", self.post_id(post))
    }

    fn message_path(&self, copy: Any) -> String {
        let id = self
            .copy(copy)
            .map_or(NOTHING, |copy| &self.copies[copy].id);
        format!("/messages/{id}")
    }

    fn target(&self, target: Target) -> (&'static str, &str) {
        match target {
            Target::Forum(forum) => ("forum", &self.forums[forum].id),
            Target::Thread(thread) => ("thread", self.thread_id(thread)),
        }
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

    /// Returns the nearest ancestor of a forum that this caller sees.
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
        self.forums[forum].readers != Audience::Staff
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

    /// Compares no ids: only the reader knows the id of a receipt.
    fn inbox(&self, who: Who) -> Rows {
        let member = self.member(who)?;
        let inbox = self
            .copies
            .iter()
            .filter(|copy| copy.owner == member && copy.inbox);
        let row = |copy: &Copy| {
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

    /// Posts of newcomers await approval.
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

    fn rated_post(&self, who: Who, member: usize, post: Any) -> Result<usize, Denied> {
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

    /// The first reading sends a receipt, if it was requested.
    pub fn mark_read(&mut self, copy: usize) {
        let copy = &mut self.copies[copy];
        let sends = !copy.read && copy.receipt_requested;
        copy.read = true;
        let receipt = Copy {
            owner: copy.sender,
            sender: copy.owner,
            inbox: true,
            is_receipt: true,
            ..Copy::default()
        };
        if sends {
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

    /// Subscriptions to hidden targets can be ended.
    fn unfollow(&mut self, who: Who, target: Target) -> Status {
        let member = self.member(who)?;
        let target = self.following(target).ok_or(NAMED_NOTHING)?;
        let was_there = self.members[member].follows.remove(&target);
        was_there.then_some(204).ok_or(NAMED_NOTHING)
    }

    /// Returns the target with the number of an existing thread.
    fn following(&self, target: Target) -> Option<Target> {
        match target {
            Target::Thread(thread) => self.thread(thread).map(Target::Thread),
            forum => Some(forum),
        }
    }
}
