//! One of the load, and what they know.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::Sent;
use super::kinds::{KINDS, Kind};
use crate::connection::{Ask, Connections, Nodes};
use crate::random::Random;

/// A thread of the demo board in which every member may write.
const THREAD: &str = "1";

/// The members who are written to.
const MEMBERS: [&str; 4] = ["alice", "bob", "carol", "mod"];

/// A reply that a client made.
#[derive(Clone, Debug)]
pub struct Post {
    /// Its thread.
    pub thread: String,
    /// Its id.
    pub post: String,
}

impl Post {
    /// Its path.
    pub fn path(&self) -> String {
        format!("/threads/{}/posts/{}", self.thread, self.post)
    }
}

/// A poll that a client started.
#[derive(Clone, Debug)]
pub struct Poll {
    /// Its id.
    pub poll: String,
    /// Its thread.
    pub thread: String,
    /// Its options, once the client has seen them.
    pub options: Vec<String>,
}

/// One of the load.
#[derive(Debug)]
pub struct Client {
    /// The threads that they started.
    pub threads: Vec<String>,
    /// The replies that they made, and may edit.
    pub posts: Vec<Post>,
    /// The polls that they started, and have not voted in.
    pub polls: Vec<Poll>,
    /// Unread messages.
    pub letters: Vec<String>,
    /// Posts of others, not rated yet, with their authors.
    pub strangers: Vec<(String, String)>,
    /// What they follow.
    pub followed: Vec<String>,
    number: usize,
    name: String,
    identity: (&'static str, String),
    random: Random,
    named: usize,
}

impl Client {
    /// A member with a token.
    pub fn member(number: usize, name: &str, token: &str) -> Self {
        Self::new(number, name, ("authorization", format!("Bearer {token}")))
    }

    /// A guest who comes from this address.
    pub fn guest(number: usize, address: &str) -> Self {
        Self::new(number, "", ("x-forwarded-for", address.into()))
    }

    fn new(number: usize, name: &str, identity: (&'static str, String)) -> Self {
        Self {
            threads: Vec::new(),
            posts: Vec::new(),
            polls: Vec::new(),
            letters: Vec::new(),
            strangers: Vec::new(),
            followed: Vec::new(),
            number,
            name: name.into(),
            identity,
            random: Random::new(number as u64),
            named: 0,
        }
    }

    /// Connections of their own.
    pub fn connections(&self, nodes: &Nodes) -> Connections {
        Connections::new(nodes, self.random.clone())
    }

    /// Sends the next request; none when they do not know enough for what they wished.
    pub async fn turn(&mut self, connections: &mut Connections) -> Option<Sent> {
        let kind = self.kind();
        self.act(kind, connections).await
    }

    /// Sends a request of this kind; none when they do not know enough for it.
    pub async fn act(
        &mut self,
        kind: &'static Kind,
        connections: &mut Connections,
    ) -> Option<Sent> {
        let (path, wish) = (kind.wish)(self)?;
        let body = Some(&wish).filter(|wish| !wish.is_null());
        let mut ask = Ask {
            method: kind.method,
            path,
            headers: vec![self.identity.clone()],
            body: body.map(Value::to_string).unwrap_or_default(),
        };
        let has_key = kind.takes_key();
        if has_key {
            ask = ask.with_key(&self.name_anew());
        }
        let at = Instant::now();
        let mut reply = connections.ask(&ask).await;
        let took = at.elapsed();
        if let Some(reply) = reply.as_mut().filter(|reply| reply.status < 300) {
            (kind.learn)(self, &wish, &reply.json());
            if !kind.is_write() {
                reply.body.clear();
            }
        }
        Some(Sent {
            kind,
            payer: self.identity.1.clone(),
            ask,
            has_key,
            at,
            took,
            reply,
        })
    }

    fn kind(&mut self) -> &'static Kind {
        let is_guest = self.name.is_empty();
        let fits = |kind: &&'static Kind| kind.guests || !is_guest;
        let each = KINDS.iter().filter(fits);
        let kinds: Vec<_> = each.flat_map(|kind| vec![kind; kind.weight]).collect();
        self.random.one_of(&kinds).unwrap()
    }

    /// A name for something that is theirs alone.
    fn name_anew(&mut self) -> String {
        self.named += 1;
        format!("{}-{}", self.number, self.named)
    }

    /// Words that nobody else says, and they never again.
    pub fn words(&mut self) -> String {
        format!("Still here {}.", self.name_anew())
    }

    /// A thread of theirs, or the one in which all meet.
    pub fn thread(&mut self) -> String {
        let meets = self.random.below(2) == 0;
        let own = self.random.one_of(&self.threads).filter(|_| !meets);
        own.map_or(THREAD.into(), Clone::clone)
    }

    /// A reply of theirs.
    pub fn post(&mut self) -> Option<Post> {
        self.random.one_of(&self.posts).cloned()
    }

    /// A poll of theirs.
    pub fn poll(&mut self) -> Option<Poll> {
        self.random.one_of(&self.polls).cloned()
    }

    /// Another member.
    pub fn other(&mut self) -> String {
        let others: Vec<_> = MEMBERS.iter().filter(|name| **name != self.name).collect();
        format!("@{}", self.random.one_of(&others).unwrap())
    }

    /// Sees posts, of which those by others may be rated.
    pub fn meets(&mut self, posts: &Value) {
        let mine = json!(self.name);
        let items = posts["items"].as_array().unwrap().iter();
        let others = items.filter(|post| post["author"]["username"] != mine);
        let strangers = others.map(|post| (text(&post["author"]["userId"]), text(&post["postId"])));
        self.strangers = strangers.collect();
    }

    /// Sees a poll of theirs.
    pub fn sees_poll(&mut self, seen: &Value) {
        let id = text(&seen["pollId"]);
        let options = seen["options"].as_array().unwrap().iter();
        let options: Vec<_> = options.map(|option| text(&option["optionId"])).collect();
        if let Some(poll) = self.polls.iter_mut().find(|poll| poll.poll == id) {
            poll.options = options;
        }
    }
}

/// A string of JSON.
pub fn text(value: &Value) -> String {
    value.as_str().unwrap().into()
}
