//! A client of the load and the ids that it knows.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::Sent;
use super::kinds::{KINDS, Kind};
use crate::connection::{ApiClient, ApiRequest, Nodes};
use crate::random::Random;

/// A thread of the demo board in which every member may post.
const THREAD: &str = "1";

/// Recipients of messages.
const MEMBERS: [&str; 4] = ["alice", "bob", "carol", "mod"];

/// A reply of the client.
#[derive(Clone, Debug)]
pub struct Post {
    pub thread: String,
    pub post: String,
}

impl Post {
    /// Path of the post.
    pub fn path(&self) -> String {
        format!("/threads/{}/posts/{}", self.thread, self.post)
    }
}

/// A poll of the client.
#[derive(Clone, Debug)]
pub struct Poll {
    pub poll: String,
    pub thread: String,
    /// The options, once the client has read them.
    pub options: Vec<String>,
}

/// A client of the load.
#[derive(Debug)]
pub struct Client {
    /// The client's threads.
    pub threads: Vec<String>,
    /// The client's replies, which it may edit.
    pub posts: Vec<Post>,
    /// The client's polls without its vote.
    pub polls: Vec<Poll>,
    /// Unread messages.
    pub unread_messages: Vec<String>,
    /// Posts of other members that the client has not rated, with their authors.
    pub others_posts: Vec<(String, String)>,
    /// The client's subscriptions.
    pub followed: Vec<String>,
    number: usize,
    name: String,
    identity: (&'static str, String),
    random: Random,
    names: usize,
}

impl Client {
    /// A member with a token.
    pub fn member(number: usize, name: &str, token: &str) -> Self {
        Self::new(number, name, ("authorization", format!("Bearer {token}")))
    }

    /// A guest with this address.
    pub fn guest(number: usize, address: &str) -> Self {
        Self::new(number, "", ("x-forwarded-for", address.into()))
    }

    fn new(number: usize, name: &str, identity: (&'static str, String)) -> Self {
        Self {
            threads: Vec::new(),
            posts: Vec::new(),
            polls: Vec::new(),
            unread_messages: Vec::new(),
            others_posts: Vec::new(),
            followed: Vec::new(),
            number,
            name: name.into(),
            identity,
            random: Random::new(number as u64),
            names: 0,
        }
    }

    /// Opens the client's own connections.
    pub fn connections(&self, nodes: &Nodes) -> ApiClient {
        ApiClient::new(nodes, self.random.clone())
    }

    /// Sends a request of a random kind. Returns `None` if the client lacks an id that it needs.
    pub async fn send_random(&mut self, connections: &mut ApiClient) -> Option<Sent> {
        let kind = self.kind();
        self.send(kind, connections).await
    }

    /// Sends a request of this kind. Returns `None` if the client lacks an id that it needs.
    pub async fn send(&mut self, kind: &'static Kind, connections: &mut ApiClient) -> Option<Sent> {
        let (path, intent) = (kind.intent)(self)?;
        let body = Some(&intent).filter(|intent| !intent.is_null());
        let mut request = ApiRequest {
            method: kind.method,
            path,
            headers: vec![self.identity.clone()],
            body: body.map(Value::to_string).unwrap_or_default(),
        };
        let has_key = kind.takes_key();
        if has_key {
            request = request.with_key(&self.unique_name());
        }
        let at = Instant::now();
        let mut reply = connections.send(&request).await;
        let duration = at.elapsed();
        if let Some(reply) = reply.as_mut().filter(|reply| reply.status < 300) {
            (kind.record)(self, &intent, &reply.json());
            if !kind.is_write() {
                reply.body.clear();
            }
        }
        Some(Sent {
            kind,
            budget_owner: self.identity.1.clone(),
            request,
            has_key,
            at,
            duration,
            reply,
        })
    }

    fn kind(&mut self) -> &'static Kind {
        let is_guest = self.name.is_empty();
        let fits = |kind: &&'static Kind| kind.guests || !is_guest;
        let each = KINDS.iter().filter(fits);
        let kinds: Vec<_> = each.flat_map(|kind| vec![kind; kind.weight]).collect();
        self.random.choose(&kinds).unwrap()
    }

    /// Returns a unique name.
    fn unique_name(&mut self) -> String {
        self.names += 1;
        format!("{}-{}", self.number, self.names)
    }

    /// Returns a unique body.
    pub fn unique_body(&mut self) -> String {
        format!("Still here {}.", self.unique_name())
    }

    /// Returns a thread of the client, or the shared one.
    pub fn thread(&mut self) -> String {
        let is_shared = self.random.below(2) == 0;
        let own = self.random.choose(&self.threads).filter(|_| !is_shared);
        own.map_or(THREAD.into(), Clone::clone)
    }

    /// Returns a reply of the client.
    pub fn post(&mut self) -> Option<Post> {
        self.random.choose(&self.posts).cloned()
    }

    /// Returns a poll of the client.
    pub fn poll(&mut self) -> Option<Poll> {
        self.random.choose(&self.polls).cloned()
    }

    /// Returns another member.
    pub fn other_member(&mut self) -> String {
        let others: Vec<_> = MEMBERS.iter().filter(|name| **name != self.name).collect();
        format!("@{}", self.random.choose(&others).unwrap())
    }

    /// Records posts of other members, which can be rated.
    pub fn record_posts(&mut self, posts: &Value) {
        let mine = json!(self.name);
        let items = posts["items"].as_array().unwrap().iter();
        let others = items.filter(|post| post["author"]["username"] != mine);
        let others_posts =
            others.map(|post| (text(&post["author"]["userId"]), text(&post["postId"])));
        self.others_posts = others_posts.collect();
    }

    /// Records the options of the client's poll.
    pub fn record_poll(&mut self, seen: &Value) {
        let id = text(&seen["pollId"]);
        let options = seen["options"].as_array().unwrap().iter();
        let options: Vec<_> = options.map(|option| text(&option["optionId"])).collect();
        if let Some(poll) = self.polls.iter_mut().find(|poll| poll.poll == id) {
            poll.options = options;
        }
    }
}

/// Returns the text of a JSON string.
pub fn text(value: &Value) -> String {
    value.as_str().unwrap().into()
}
