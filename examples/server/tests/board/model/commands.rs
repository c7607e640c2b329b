//! Requests to the API and the responses of the model.

use forum_api::conformance::{Audience, Role};
use serde_json::{Value, json};

use super::action::{Action, Caller, Index, Kind, Target};
use super::state::{
    CONFLICT, Copy, DOMAIN_NOT_FOUND, ErrorStatus, FORBIDDEN, FORUMS, MEMBERS, ModelState,
    NOT_FOUND, Poll, Post, Rating, State, TOO_MANY, Thread,
};

/// An id that is never assigned.
const UNKNOWN_ID: &str = "0";

/// A word in every post.
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

type Rows = Result<Vec<Value>, ErrorStatus>;
type Status = Result<u16, ErrorStatus>;

/// A request, with pointers to the compared fields of each item in the response.
#[derive(Debug)]
pub struct Request {
    pub caller: Caller,
    pub method: &'static str,
    pub path: String,
    pub body: Value,
    pub fields: &'static [&'static str],
}

/// The status and the rows of the model's response.
type ModelResult = Result<(u16, Option<Vec<Value>>), ErrorStatus>;

impl ModelState {
    /// Returns the request of an action with the response of the model, or `None` for a change by an operator.
    pub fn respond(&mut self, action: &Action) -> Option<(Request, ModelResult)> {
        let Action {
            kind,
            caller,
            index,
            other_index,
            flag,
        } = *action;
        let (member, forum) = (index % MEMBERS.len(), index % FORUMS.len());
        let request = |method, path, body, fields| Request {
            caller,
            method,
            path,
            body,
            fields,
        };
        let get = |path, fields| request("GET", path, Value::Null, fields);
        let with_rows = |rows: Rows| rows.map(|rows| (200, Some(rows)));
        let with_status = |status: Status| status.map(|status| (status, None));
        let target = if flag {
            Target::Forum(forum)
        } else {
            Target::Thread(index)
        };
        let post_index = flag.then_some(other_index);
        let text = json!({ "body": WORD });
        let thread = self.thread_path(index);
        Some(match kind {
            Kind::Forums => (
                get("/forums".into(), FORUM),
                with_rows(self.check_access(caller).map(|()| self.all_forums(caller))),
            ),
            Kind::Threads => {
                let path = format!("{}?limit=100", self.threads_path(forum));
                (
                    get(path, THREAD),
                    with_rows(self.all_threads(caller, forum)),
                )
            }
            Kind::Thread => (
                get(thread, THREAD),
                with_rows(self.one_thread(caller, index)),
            ),
            Kind::Posts => (
                get(format!("{thread}/posts?limit=100"), POST),
                with_rows(self.all_posts(caller, index)),
            ),
            Kind::Profile => (
                get(self.member_path(member), MEMBER),
                with_rows(self.profile(caller, member)),
            ),
            Kind::Poll => (
                get(format!("{thread}/poll"), POLL),
                with_rows(self.poll(caller, index)),
            ),
            Kind::Search => {
                let path = format!("/search?q={WORD}&sort=newest&limit=100");
                (
                    get(path, HIT),
                    with_rows(self.check_access(caller).map(|()| self.hits(caller))),
                )
            }
            Kind::Inbox => (
                get("/messages?limit=100".into(), MESSAGE),
                with_rows(self.inbox(caller)),
            ),
            Kind::Open => (
                get(self.message_path(index), OPENED),
                with_rows(self.open(caller, index)),
            ),
            Kind::Subscriptions => (
                get("/subscriptions?limit=100".into(), SUBSCRIPTION),
                with_rows(self.subscriptions(caller)),
            ),
            Kind::Start => {
                let poll = flag.then(|| json!({ "question": "Tea?", "options": ["yes", "no"], "canChangeVote": true }));
                let new = json!({ "title": "Drinks", "body": WORD, "poll": poll });
                (
                    request("POST", self.threads_path(forum), new, &[]),
                    with_status(self.start(caller, forum, flag)),
                )
            }
            Kind::Reply => (
                request("POST", format!("{thread}/posts"), text, &[]),
                with_status(self.reply(caller, index)),
            ),
            Kind::Edit => (
                request("PATCH", self.post_path(index), text, &[]),
                with_status(self.edit(caller, index)),
            ),
            Kind::Delete => (
                request("DELETE", self.post_path(index), Value::Null, &[]),
                with_status(self.delete(caller, index)),
            ),
            Kind::Rate => {
                let path = format!("{}/reputation", self.member_path(member));
                let post = post_index.map(|post| self.post_id(post));
                let rating = json!({ "points": 1, "comment": WORD, "postId": post });
                (
                    request("POST", path, rating, &[]),
                    with_status(self.rate(caller, member, post_index)),
                )
            }
            Kind::Send => {
                let to = [&self.members[member].id];
                let message =
                    json!({ "to": to, "subject": WORD, "body": WORD, "requestReceipt": flag });
                (
                    request("POST", "/messages".into(), message, &[]),
                    with_status(self.send(caller, member, flag)),
                )
            }
            Kind::Vote => {
                let (poll, option) = (self.poll_of(index), other_index % 2);
                let path = format!("/polls/{}/votes", poll.map_or(UNKNOWN_ID, |poll| &poll.id));
                let vote =
                    json!({ "optionIds": [poll.map_or(UNKNOWN_ID, |poll| &poll.options[option])] });
                (
                    request("POST", path, vote, &[]),
                    with_status(self.vote(caller, index, option)),
                )
            }
            Kind::UpdatePoll => {
                let path = format!(
                    "/polls/{}",
                    self.poll_of(index).map_or(UNKNOWN_ID, |poll| &poll.id)
                );
                let edit = json!({ "question": "Tea or coffee?" });
                (
                    request("PATCH", path, edit, &[]),
                    with_status(self.edit_poll(caller, index)),
                )
            }
            Kind::Subscribe => {
                let (kind, id) = self.target(target);
                let subscription = json!({ "target": kind, "targetId": id });
                (
                    request("POST", "/subscriptions".into(), subscription, &[]),
                    with_status(self.subscribe(caller, target)),
                )
            }
            Kind::Unsubscribe => {
                let (kind, id) = self.target(target);
                let path = format!("/subscriptions/{kind}/{id}");
                (
                    request("DELETE", path, Value::Null, &[]),
                    with_status(self.unsubscribe(caller, target)),
                )
            }
            _ => return None,
        })
    }

    fn threads_path(&self, forum: usize) -> String {
        format!("/forums/{}/threads", self.forums[forum].id)
    }

    fn poll_of(&self, thread: Index) -> Option<&Poll> {
        let thread = self.thread(thread)?;
        self.threads[thread].poll.as_ref()
    }

    fn member_path(&self, member: usize) -> String {
        format!("/members/{}", self.members[member].id)
    }

    fn thread_path(&self, thread: Index) -> String {
        format!("/threads/{}", self.thread_id(thread))
    }

    fn thread_id(&self, thread: Index) -> &str {
        self.thread(thread)
            .map_or(UNKNOWN_ID, |thread| &self.threads[thread].id)
    }

    fn post_id(&self, post: Index) -> &str {
        self.post(post)
            .map_or(UNKNOWN_ID, |post| &self.posts[post].id)
    }

    fn post_path(&self, post: Index) -> String {
        let thread = self.post(post).map(|post| self.posts[post].thread);
        let thread = thread.map_or(UNKNOWN_ID, |thread| &self.threads[thread].id);
        format!("/threads/{thread}/posts/{}", self.post_id(post))
    }

    fn message_path(&self, copy: Index) -> String {
        let id = self
            .copy(copy)
            .map_or(UNKNOWN_ID, |copy| &self.copies[copy].id);
        format!("/messages/{id}")
    }

    fn target(&self, target: Target) -> (&'static str, &str) {
        match target {
            Target::Forum(forum) => ("forum", &self.forums[forum].id),
            Target::Thread(thread) => ("thread", self.thread_id(thread)),
        }
    }

    fn all_forums(&self, caller: Caller) -> Vec<Value> {
        let seen = (0..self.forums.len()).filter(|forum| self.sees_forum(caller, *forum));
        let row = |forum: usize| {
            let parent = self
                .nearest_visible_ancestor(caller, forum)
                .map(|parent| &self.forums[parent].id);
            let public = (0..self.posts.len()).filter(|post| self.is_public(*post));
            let posts: Vec<_> = public
                .filter(|post| self.threads[self.posts[*post].thread].forum == forum)
                .collect();
            let firsts = posts.iter().filter(|post| self.is_first(**post));
            json!([
                self.forums[forum].id,
                parent,
                self.may_write(caller, forum),
                firsts.count(),
                posts.len()
            ])
        };
        seen.map(row).collect()
    }

    /// Returns the nearest ancestor of a forum that the caller sees.
    fn nearest_visible_ancestor(&self, caller: Caller, forum: usize) -> Option<usize> {
        let parent = self.forums[forum].parent?;
        if self.sees_forum(caller, parent) {
            Some(parent)
        } else {
            self.nearest_visible_ancestor(caller, parent)
        }
    }

    fn is_first(&self, post: usize) -> bool {
        self.threads[self.posts[post].thread].first == post
    }

    fn all_threads(&self, caller: Caller, forum: usize) -> Rows {
        self.check_access(caller)?;
        if !self.sees_forum(caller, forum) {
            return Err(NOT_FOUND);
        }
        let here = (0..self.threads.len()).filter(|thread| self.threads[*thread].forum == forum);
        let seen = here.filter(|thread| self.sees_thread(caller, *thread));
        Ok(seen.map(|thread| self.thread_row(caller, thread)).collect())
    }

    fn one_thread(&self, caller: Caller, thread: Index) -> Rows {
        self.check_access(caller)?;
        let thread = self.seen_thread(caller, self.thread(thread))?;
        Ok(vec![self.thread_row(caller, thread)])
    }

    fn thread_row(&self, caller: Caller, thread: usize) -> Value {
        let entry = &self.threads[thread];
        let visible = self
            .posts_of(thread)
            .filter(|post| self.posts[*post].state == State::Visible);
        let replies = visible.filter(|post| !self.is_first(*post)).count();
        json!([
            entry.id,
            self.state(thread).name(),
            entry.locked,
            self.may_reply(caller, thread),
            replies
        ])
    }

    fn all_posts(&self, caller: Caller, thread: Index) -> Rows {
        self.check_access(caller)?;
        let thread = self.seen_thread(caller, self.thread(thread))?;
        let seen = self
            .posts_of(thread)
            .filter(|post| self.sees_post(caller, *post));
        Ok(seen.map(|post| self.post_row(caller, post)).collect())
    }

    fn post_row(&self, caller: Caller, post: usize) -> Value {
        let may = |deletes| self.may_change(caller, post, deletes).is_ok();
        let entry = &self.posts[post];
        json!([
            entry.id,
            entry.state.name(),
            may(false),
            may(true),
            entry.version
        ])
    }

    /// Returns the profile of a member. Only posts in the forums that every member may read count.
    fn profile(&self, caller: Caller, member: usize) -> Rows {
        self.check_access(caller)?;
        let sees_any = (0..self.forums.len()).any(|forum| self.sees_forum(caller, forum));
        if caller.is_none() && !sees_any {
            return Err(NOT_FOUND);
        }
        let own_posts = (0..self.posts.len()).filter(|post| self.posts[*post].author == member);
        let count =
            own_posts.filter(|post| self.is_public(*post) && self.counts_on_profiles(*post));
        let received_ratings = self.ratings.iter().filter(|rating| rating.member == member);
        Ok(vec![json!([
            self.members[member].id,
            count.count(),
            received_ratings.count()
        ])])
    }

    fn counts_on_profiles(&self, post: usize) -> bool {
        let forum = self.threads[self.posts[post].thread].forum;
        self.forums[forum].readers != Audience::Staff
    }

    fn poll(&self, caller: Caller, thread: Index) -> Rows {
        self.check_access(caller)?;
        let thread = self.seen_thread(caller, self.thread(thread))?;
        let poll = self.threads[thread].poll.as_ref().ok_or(NOT_FOUND)?;
        let own = caller.and_then(|member| poll.votes.get(&member));
        let own = own.map(|option| [&poll.options[*option]]);
        Ok(vec![json!([poll.id, poll.votes.len(), own])])
    }

    /// Returns the hits of a search for [`WORD`], which every public post contains.
    fn hits(&self, caller: Caller) -> Vec<Value> {
        let public = (0..self.posts.len()).filter(|post| self.is_public(*post));
        let seen = public.filter(|post| self.sees_post(caller, *post));
        seen.map(|post| json!([self.posts[post].id])).collect()
    }

    /// Returns the rows of the inbox. They have no ids, because only the response contains the id of a receipt.
    fn inbox(&self, caller: Caller) -> Rows {
        let member = self.member(caller)?;
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

    fn open(&mut self, caller: Caller, copy: Index) -> Rows {
        let member = self.member(caller)?;
        let own = self
            .copy(copy)
            .filter(|copy| self.copies[*copy].owner == member);
        let copy = own.ok_or(NOT_FOUND)?;
        self.mark_read(copy);
        Ok(vec![json!([self.copies[copy].id])])
    }

    fn subscriptions(&self, caller: Caller) -> Rows {
        let member = self.member(caller)?;
        let row = |target: &Target| match *target {
            Target::Forum(forum) => self
                .sees_forum(caller, forum)
                .then(|| json!(["forum", self.forums[forum].id])),
            Target::Thread(thread) => self
                .sees_thread(caller, thread)
                .then(|| json!(["thread", self.threads[thread].id])),
        };
        Ok(self.members[member]
            .subscriptions
            .iter()
            .filter_map(row)
            .collect())
    }

    fn start(&mut self, caller: Caller, forum: usize, poll: bool) -> Status {
        let author = self.member(caller)?;
        if !self.sees_forum(caller, forum) {
            return Err(NOT_FOUND);
        }
        if !self.may_write(caller, forum) {
            return Err(FORBIDDEN);
        }
        let thread = Thread {
            forum,
            first: self.posts.len(),
            poll: poll.then(Poll::default),
            ..Thread::default()
        };
        self.threads.push(thread);
        self.add_post(author, self.threads.len() - 1);
        Ok(201)
    }

    fn reply(&mut self, caller: Caller, thread: Index) -> Status {
        let author = self.member(caller)?;
        let thread = self.seen_thread(caller, self.thread(thread))?;
        if !self.may_reply(caller, thread) {
            return Err(FORBIDDEN);
        }
        self.add_post(author, thread);
        Ok(201)
    }

    /// Adds a post. Posts of newcomers await approval.
    fn add_post(&mut self, author: usize, thread: usize) {
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

    /// Edits a post. Content that newcomers edit awaits approval.
    fn edit(&mut self, caller: Caller, post: Index) -> Status {
        let editor = self.member(caller)?;
        let post = self.seen_post(caller, self.post(post))?;
        self.may_change(caller, post, false)?;
        if self.members[editor].role == Role::Newcomer && self.posts[post].state == State::Visible {
            self.posts[post].state = State::Awaiting;
        }
        self.posts[post].version += 1;
        Ok(200)
    }

    fn delete(&mut self, caller: Caller, post: Index) -> Status {
        self.member(caller)?;
        let post = self.seen_post(caller, self.post(post))?;
        self.may_change(caller, post, true)?;
        let post = &mut self.posts[post];
        post.before = post.state;
        post.state = State::Deleted;
        post.version += 1;
        Ok(204)
    }

    fn rate(&mut self, caller: Caller, member: usize, post: Option<Index>) -> Status {
        let rater = self.member(caller)?;
        if rater == member {
            return Err(FORBIDDEN);
        }
        let post = match post {
            Some(post) => Some(self.rated_post(caller, member, post)?),
            None => None,
        };
        let now = self.now;
        let mut own = self.ratings.iter().filter(|rating| rating.rater == rater);
        let is_duplicate = own.clone().any(|rating| {
            let recent = post.is_some() || now - rating.at < DAY;
            rating.member == member && rating.post == post && recent
        });
        if is_duplicate {
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

    fn rated_post(&self, caller: Caller, member: usize, post: Index) -> Result<usize, ErrorStatus> {
        let post = self
            .seen_post(caller, self.post(post))
            .map_err(|_| DOMAIN_NOT_FOUND)?;
        (self.posts[post].author == member)
            .then_some(post)
            .ok_or(DOMAIN_NOT_FOUND)
    }

    fn send(&mut self, caller: Caller, to: usize, receipt_requested: bool) -> Status {
        let (sender, now) = (self.member(caller)?, self.now);
        let recent = self.members[sender]
            .sent
            .iter()
            .filter(|sent| now - **sent < HOUR);
        if recent.count() >= MESSAGES_PER_HOUR {
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

    /// Marks a copy as read. The first call sends the requested receipt.
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

    /// Stores a vote. A member who sees the thread may vote and may change the vote, unless the thread is deleted.
    fn vote(&mut self, caller: Caller, thread: Index, option: usize) -> Status {
        let voter = self.member(caller)?;
        let thread = self.seen_thread(caller, self.thread(thread))?;
        let is_deleted = self.state(thread) == State::Deleted;
        let poll = self.threads[thread].poll.as_mut().ok_or(NOT_FOUND)?;
        if is_deleted {
            return Err(FORBIDDEN);
        }
        poll.votes.insert(voter, option);
        Ok(201)
    }

    fn edit_poll(&mut self, caller: Caller, thread: Index) -> Status {
        let member = self.member(caller)?;
        let thread = self.seen_thread(caller, self.thread(thread))?;
        let is_deleted = self.state(thread) == State::Deleted;
        let forum = self.threads[thread].forum;
        let (may_moderate, may_write) = (
            self.may_moderate(caller, forum),
            self.may_write(caller, forum),
        );
        let entry = &mut self.threads[thread];
        let poll = entry.poll.as_mut().ok_or(NOT_FOUND)?;
        let own = self.posts[entry.first].author == member && !entry.locked;
        if is_deleted || !may_write || !(may_moderate || own) {
            return Err(FORBIDDEN);
        }
        if !may_moderate && !poll.votes.is_empty() && !poll.edited {
            return Err(CONFLICT);
        }
        poll.edited = true;
        Ok(200)
    }

    fn subscribe(&mut self, caller: Caller, target: Target) -> Status {
        let member = self.member(caller)?;
        let seen = self.resolve_target(target).filter(|target| match *target {
            Target::Forum(forum) => self.sees_forum(caller, forum),
            Target::Thread(thread) => self.sees_thread(caller, thread),
        });
        let is_new = self.members[member]
            .subscriptions
            .insert(seen.ok_or(DOMAIN_NOT_FOUND)?);
        Ok(if is_new { 201 } else { 200 })
    }

    /// Removes a subscription, also to hidden content.
    fn unsubscribe(&mut self, caller: Caller, target: Target) -> Status {
        let member = self.member(caller)?;
        let target = self.resolve_target(target).ok_or(DOMAIN_NOT_FOUND)?;
        let existed = self.members[member].subscriptions.remove(&target);
        existed.then_some(204).ok_or(DOMAIN_NOT_FOUND)
    }

    /// Resolves the index of a thread; `None` if there are no threads.
    fn resolve_target(&self, target: Target) -> Option<Target> {
        match target {
            Target::Thread(thread) => self.thread(thread).map(Target::Thread),
            forum => Some(forum),
        }
    }
}
