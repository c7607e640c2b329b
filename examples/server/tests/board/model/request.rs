//! An act as it is sent, and what of the answer is compared.

use serde_json::{Value, json};

use super::act::{Act, Any, Target, Who};
use super::world::World;

/// What nothing has.
const NOTHING: &str = "0";

/// The word in every post.
const WORD: &str = "tea";

/// A request.
#[derive(Debug)]
pub struct Request {
    pub who: Who,
    pub method: &'static str,
    pub path: String,
    pub body: Value,
    /// Of each thing that is read, as pointers into it.
    pub fields: &'static [&'static str],
}

impl World {
    /// What asks for this; `None` for what an operator does.
    pub fn request(&self, act: &Act) -> Option<Request> {
        let get = |who, path, fields| ask(who, "GET", path, Value::Null, fields);
        let post = |who, path, body| ask(who, "POST", path, body, &[]);
        Some(match *act {
            Act::Forums(who) => get(who, "/forums".into(), FORUM),
            Act::Threads(who, forum) => get(
                who,
                format!("{}/threads?limit=100", self.forum_path(forum)),
                THREAD,
            ),
            Act::Thread(who, thread) => get(who, self.thread_path(thread), THREAD),
            Act::Posts(who, thread) => get(
                who,
                format!("{}/posts?limit=100", self.thread_path(thread)),
                POST,
            ),
            Act::Profile(who, member) => get(who, self.member_path(member), MEMBER),
            Act::Poll(who, thread) => get(who, format!("{}/poll", self.thread_path(thread)), POLL),
            Act::Search(who) => get(who, format!("/search?q={WORD}&sort=newest&limit=100"), HIT),
            Act::Inbox(who) => get(who, "/messages?limit=100".into(), MESSAGE),
            Act::Open(who, copy) => get(who, self.message_path(copy), OPENED),
            Act::Followed(who) => get(who, "/subscriptions?limit=100".into(), SUBSCRIPTION),
            Act::Start(who, forum, poll) => post(
                who,
                format!("{}/threads", self.forum_path(forum)),
                thread(poll),
            ),
            Act::Reply(who, thread) => {
                post(who, format!("{}/posts", self.thread_path(thread)), body())
            }
            Act::Edit(who, post) => ask(who, "PATCH", self.post_path(post), body(), &[]),
            Act::Delete(who, post) => ask(who, "DELETE", self.post_path(post), Value::Null, &[]),
            Act::Rate(who, member, about) => {
                let rating = json!({ "points": 1, "comment": WORD, "postId": about.map(|post| self.post_id(post)) });
                post(
                    who,
                    format!("{}/reputation", self.member_path(member)),
                    rating,
                )
            }
            Act::Send(who, to, asks) => post(who, "/messages".into(), self.message(to, asks)),
            Act::Vote(who, thread, option) => post(
                who,
                format!("{}/votes", self.poll_path(thread)),
                self.choice(thread, option),
            ),
            Act::EditPoll(who, thread) => ask(
                who,
                "PATCH",
                self.poll_path(thread),
                json!({ "question": "Tea or coffee?" }),
                &[],
            ),
            Act::Follow(who, target) => {
                let (kind, id) = self.target(target);
                post(
                    who,
                    "/subscriptions".into(),
                    json!({ "target": kind, "targetId": id }),
                )
            }
            Act::Unfollow(who, target) => {
                let (kind, id) = self.target(target);
                ask(
                    who,
                    "DELETE",
                    format!("/subscriptions/{kind}/{id}"),
                    Value::Null,
                    &[],
                )
            }
            _ => return None,
        })
    }

    fn forum_path(&self, forum: usize) -> String {
        format!("/forums/{}", self.forums[forum].id)
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

    fn poll_path(&self, thread: Any) -> String {
        let poll = self
            .thread(thread)
            .and_then(|thread| self.threads[thread].poll.as_ref());
        format!("/polls/{}", poll.map_or(NOTHING, |poll| &poll.id))
    }

    fn choice(&self, thread: Any, option: usize) -> Value {
        let poll = self
            .thread(thread)
            .and_then(|thread| self.threads[thread].poll.as_ref());
        json!({ "optionIds": [poll.map_or(NOTHING, |poll| &poll.options[option])] })
    }

    fn message(&self, to: usize, asks: bool) -> Value {
        json!({ "to": [self.members[to].id], "subject": WORD, "body": WORD, "requestReceipt": asks })
    }

    fn target(&self, target: Target) -> (&'static str, &str) {
        match target {
            Target::Forum(forum) => ("forum", &self.forums[forum].id),
            Target::Thread(thread) => ("thread", self.thread_id(thread)),
        }
    }
}

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

fn ask(
    who: Who,
    method: &'static str,
    path: String,
    body: Value,
    fields: &'static [&'static str],
) -> Request {
    Request {
        who,
        method,
        path,
        body,
        fields,
    }
}

fn body() -> Value {
    json!({ "body": WORD })
}

fn thread(poll: bool) -> Value {
    let poll = poll
        .then(|| json!({ "question": "Tea?", "options": ["yes", "no"], "canChangeVote": true }));
    json!({ "title": "Drinks", "body": WORD, "poll": poll })
}
