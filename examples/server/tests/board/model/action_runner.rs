//! A board that runs actions. Its results do not depend on the ids that the board assigns.

use forum_api::conformance::{Audience, NewForum, Role};
use forum_api::model::{ForumId, PostId, ThreadId};
use http::Method;

use super::action::{Action, Kind};
use crate::prelude::*;

/// Members with their roles. The first one is never banned.
pub const MEMBERS: [(&str, Role); 6] = [
    ("ada", Role::Administrator),
    ("sam", Role::Staff),
    ("alice", Role::Member),
    ("bob", Role::Member),
    ("carol", Role::Member),
    ("nina", Role::Newcomer),
];

/// Number of the newcomer.
pub const NEWCOMER: usize = 5;

/// Forums with their parent, readers and writers.
const FORUMS: [(Option<usize>, Audience, Audience); 5] = [
    (None, Audience::Guests, Audience::Members),
    (Some(0), Audience::Members, Audience::Members),
    (Some(1), Audience::Guests, Audience::Staff),
    (None, Audience::Staff, Audience::Staff),
    (None, Audience::Members, Audience::Guests),
];

/// Fields that each board chooses, and the random ids of events and requests.
const IGNORED: [&str; 7] =
    ["bodyHtml", "excerpt", "score", "lastSeenAt", "version", "event", "requestId"];

/// An id that is never assigned.
const UNKNOWN_ID: &str = "0";

/// A word in every post.
const WORD: &str = "tea";

/// A board with members and forums.
pub struct ActionRunner {
    fixture: Box<dyn BoardFixture>,
    api: TestApi,
    ids: Ids,
}

/// The ids that the board has assigned, by kind, in the order of their first appearance.
#[derive(Default)]
struct Ids {
    by_kind: HashMap<&'static str, Vec<String>>,
    thread_of_post: HashMap<String, String>,
}

impl ActionRunner {
    pub async fn new(fixture: Box<dyn BoardFixture>, clock: &Arc<ManualClock>) -> Self {
        let mut ids = Ids::default();
        for (name, role) in MEMBERS {
            let id = fixture.add_member(name, role).await.unwrap();
            ids.number("member", &id.to_string());
        }
        for (parent, readers, writers) in FORUMS {
            let mut forum = NewForum::new("Forum", readers, writers);
            forum.parent_id = parent.map(|parent| forum_id(ids.get("forum", parent)));
            let id = fixture.add_forum(&forum).await.unwrap();
            ids.number("forum", &id.to_string());
        }
        let api = api_of(fixture.board(), Stores::in_memory(), ApiSettings::default(), clock);
        Self { fixture, api, ids }
    }

    /// Runs an action. Returns its result and the events, with the numbers of ids in the order of their appearance.
    pub async fn run(&mut self, action: &Action) -> Value {
        let result = match self.request(action) {
            Some(request) => self.send(action.caller, request).await,
            None => self.operate(action).await.is_ok().into(),
        };
        let poll = match action.kind {
            Kind::Start => self.last_poll().await,
            _ => Value::Null,
        };
        let mut events = Vec::new();
        for event in self.fixture.events().await.unwrap() {
            let mut body = serde_json::from_str(&event.body).unwrap();
            self.ids.replace(&mut body);
            events.push(body);
        }
        json!({ "result": result, "poll": poll, "events": events })
    }

    /// Returns the request of an action; `None` for a change by an operator.
    fn request(&self, action: &Action) -> Option<(Method, String, Value)> {
        let Action { index, other_index, flag, .. } = *action;
        let id = |kind| self.ids.get(kind, index);
        let forum = id("forum");
        let thread = id("thread");
        let post = id("post");
        let post_path = || {
            let thread = self.ids.thread_of_post.get(post).map_or(UNKNOWN_ID, String::as_str);
            format!("/threads/{thread}/posts/{post}")
        };
        let (target, target_id) = if flag { ("forum", forum) } else { ("thread", thread) };
        let limit = format!("limit={}", 1 + other_index % 10);
        let get = |path| (Method::GET, path, Value::Null);
        let post_to = |path, body| (Method::POST, path, body);
        let text = json!({ "body": WORD });
        Some(match action.kind {
            Kind::Forums => get("/forums".into()),
            Kind::Threads => get(format!("/forums/{forum}/threads?{limit}")),
            Kind::Thread => get(format!("/threads/{thread}")),
            Kind::Posts => get(format!("/threads/{thread}/posts?{limit}")),
            Kind::Profile => get(format!("/members/{}", id("member"))),
            Kind::Poll => get(format!("/threads/{thread}/poll")),
            Kind::Search => {
                let sort = ["newest", "oldest"][index % 2];
                let show = ["posts", "threads"][usize::from(flag)];
                get(format!("/search?q={WORD}&sort={sort}&show={show}&{limit}"))
            }
            Kind::Inbox => get(format!("/messages?{limit}")),
            Kind::Open => get(format!("/messages/{}", id("message"))),
            Kind::Subscriptions => get(format!("/subscriptions?{limit}")),
            Kind::Start => {
                let poll = flag.then(
                    || json!({ "question": "Tea?", "options": ["yes", "no"], "canChangeVote": true }),
                );
                let new = json!({ "title": "Drinks", "body": WORD, "poll": poll });
                post_to(format!("/forums/{forum}/threads"), new)
            }
            Kind::Reply => post_to(format!("/threads/{thread}/posts"), text),
            Kind::Edit => {
                let title = flag.then_some(["Drinks", "Teas"][other_index % 2]);
                let body = format!("{WORD} {}", other_index % 3);
                let edit = json!({ "body": body, "title": title });
                (Method::PATCH, post_path(), edit)
            }
            Kind::Delete => (Method::DELETE, post_path(), Value::Null),
            Kind::Rate => {
                let post = flag.then(|| self.ids.get("post", other_index));
                let rating = json!({ "points": 1, "comment": WORD, "postId": post });
                post_to(format!("/members/{}/reputation", id("member")), rating)
            }
            Kind::Send => {
                let to = [id("member")];
                let message =
                    json!({ "to": to, "subject": WORD, "body": WORD, "requestReceipt": flag });
                post_to("/messages".into(), message)
            }
            Kind::Vote => {
                let option = self.ids.get("option", 2 * index + other_index % 2);
                let vote = json!({ "optionIds": [option] });
                post_to(format!("/polls/{}/votes", id("poll")), vote)
            }
            Kind::UpdatePoll => {
                let question = ["Tea?", "Tea or coffee?"][other_index % 2];
                let edit = json!({ "question": question });
                (Method::PATCH, format!("/polls/{}", id("poll")), edit)
            }
            Kind::Subscribe => {
                let subscription = json!({ "target": target, "targetId": target_id });
                post_to("/subscriptions".into(), subscription)
            }
            Kind::Unsubscribe => {
                let path = format!("/subscriptions/{target}/{target_id}");
                (Method::DELETE, path, Value::Null)
            }
            _ => return None,
        })
    }

    /// Sends a request. Returns the status, and the body or the code of the error. The body of a list has the items of all
    /// pages.
    async fn send(
        &mut self,
        caller: Option<usize>,
        (method, path, body): (Method, String, Value),
    ) -> Value {
        let client = match caller {
            Some(member) => self.api.as_member(self.ids.get("member", member)),
            None => self.api.as_guest(),
        };
        let request = match body {
            Value::Null => client.request(method, &path),
            body => client
                .request(method, &path)
                .header("content-type", "application/json")
                .body(body.to_string()),
        };
        let response = request.await;
        let mut body = response.json();
        if let Some(code) = body.pointer("/error/code") {
            return json!([response.status, code]);
        }
        while let Some(next) = body["next"].as_str() {
            let path = format!("{path}&after={next}");
            let mut page = client.get(&path).await.json();
            let items = body["items"].as_array_mut().unwrap();
            items.append(page["items"].as_array_mut().unwrap());
            body["next"] = page["next"].take();
        }
        self.ids.replace(&mut body);
        json!([response.status, body])
    }

    /// Returns the poll of the last thread, whose options later votes name.
    async fn last_poll(&mut self) -> Value {
        let last = self.ids.count("thread").saturating_sub(1);
        let path = format!("/threads/{}/poll", self.ids.get("thread", last));
        self.send(Some(0), (Method::GET, path, Value::Null)).await
    }

    /// Reads the threads with their posts and polls, and the members, as the administrator sees them.
    pub async fn read_all(&mut self) -> Value {
        let ids = |kind: &'static str| self.ids.by_kind.get(kind).cloned().unwrap_or_default();
        let (thread_ids, member_ids) = (ids("thread"), ids("member"));
        let mut threads = Vec::new();
        for id in thread_ids {
            let thread = self.read(format!("/threads/{id}")).await;
            let posts = self.read(format!("/threads/{id}/posts?limit=100")).await;
            let poll = self.read(format!("/threads/{id}/poll")).await;
            threads.push(json!({ "thread": thread, "posts": posts["items"], "poll": poll }));
        }
        let mut members = Vec::new();
        for id in member_ids {
            members.push(self.read(format!("/members/{id}")).await);
        }
        json!({ "threads": threads, "members": members })
    }

    /// Returns the body of a response to the administrator.
    async fn read(&mut self, path: String) -> Value {
        self.send(Some(0), (Method::GET, path, Value::Null)).await[1].take()
    }

    /// Makes a change by an operator.
    async fn operate(&self, action: &Action) -> FixtureResult<()> {
        let Action { index, other_index, flag, .. } = *action;
        let fixture = &self.fixture;
        let ids = &self.ids;
        let user = |index| UserId::parse(ids.get("member", index)).unwrap();
        let forum = forum_id(ids.get("forum", index));
        let thread = ThreadId::parse(ids.get("thread", index))?;
        let post = PostId::parse(ids.get("post", index))?;
        let has_threads = ids.count("thread") > 0;
        let has_posts = ids.count("post") > 0;
        match action.kind {
            Kind::Ban if !index.is_multiple_of(MEMBERS.len()) => {
                fixture.set_banned(&user(index), flag).await
            }
            Kind::Offline => fixture.set_offline(other_index.is_multiple_of(5)).await,
            Kind::Readers => {
                let readers = [Audience::Guests, Audience::Members, Audience::Staff];
                fixture.set_readers(&forum, readers[other_index % 3]).await
            }
            Kind::Moderator => fixture.set_moderator(&forum, &user(other_index), flag).await,
            Kind::Lock if has_threads => fixture.set_locked(&thread, flag).await,
            Kind::Approve if has_posts => fixture.approve(&post).await,
            Kind::Restore if has_posts => fixture.restore(&post).await,
            Kind::Ignore => fixture.ignore(&user(index), &user(other_index)).await,
            _ => Ok(()),
        }
    }
}

impl Ids {
    /// Returns the id at this index, modulo the number of ids of the kind.
    fn get(&self, kind: &'static str, index: usize) -> &str {
        self.by_kind.get(kind).map_or(UNKNOWN_ID, |ids| &ids[index % ids.len()])
    }

    fn count(&self, kind: &'static str) -> usize {
        self.by_kind.get(kind).map_or(0, Vec::len)
    }

    /// Returns the number of an id. Adds the id if it is new.
    fn number(&mut self, kind: &'static str, id: &str) -> usize {
        let ids = self.by_kind.entry(kind).or_default();
        ids.iter().position(|known| known == id).unwrap_or_else(|| {
            ids.push(id.into());
            ids.len() - 1
        })
    }

    /// Replaces the ids in a JSON value by their numbers, and removes [`IGNORED`] fields.
    fn replace(&mut self, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.replace(item)),
            Value::Object(fields) => {
                fields.retain(|field, _| !IGNORED.contains(&&**field));
                let text = |field| fields.get(field).and_then(Value::as_str);
                let post = text("postId").or(text("firstPostId"));
                if let (Some(thread), Some(post)) = (text("threadId"), post) {
                    self.thread_of_post.insert(post.into(), thread.into());
                }
                let target = match text("target") {
                    Some("forum") => "forum",
                    _ => "thread",
                };
                for (field, value) in fields {
                    match kind_of(field, target) {
                        Some(kind) => self.replace_id(kind, value),
                        None => self.replace(value),
                    }
                }
            }
            _ => {}
        }
    }

    fn replace_id(&mut self, kind: &'static str, value: &mut Value) {
        match value {
            Value::Array(ids) => ids.iter_mut().for_each(|id| self.replace_id(kind, id)),
            Value::String(id) => *value = self.number(kind, id).into(),
            _ => {}
        }
    }
}

/// Returns the kind of the ids in a field; `None` for a field without ids.
fn kind_of(field: &str, target: &'static str) -> Option<&'static str> {
    Some(match field {
        "userId" => "member",
        "forumId" | "parentId" => "forum",
        "threadId" => "thread",
        "postId" | "firstPostId" | "inReplyTo" => "post",
        "pollId" => "poll",
        "optionId" | "ownVote" => "option",
        "messageId" => "message",
        "ratingId" => "rating",
        "targetId" => target,
        _ => return None,
    })
}

fn forum_id(id: &str) -> ForumId {
    ForumId::parse(id).unwrap()
}
