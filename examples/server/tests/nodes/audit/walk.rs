//! All that is on a board, as an administrator reads it.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde_json::Value;

use crate::connection::{Ask, Connections, Nodes};
use crate::random::Random;

/// Somebody who reads, through one node.
#[derive(Debug)]
pub struct Reader {
    connections: Connections,
    token: String,
}

impl Reader {
    /// One with this token.
    pub fn new(node: SocketAddr, token: &str) -> Self {
        Self {
            connections: Connections::new(&Nodes::of(&[node]), Random::new(0)),
            token: token.into(),
        }
    }

    /// What is at this path.
    pub async fn get(&mut self, path: &str) -> Value {
        let reply = self
            .connections
            .ask(&Ask::get(&self.token, path))
            .await
            .unwrap();
        assert_eq!(reply.status, 200, "{path} {reply:?}");
        reply.json()
    }

    /// All items of a list, whose path has a query already.
    pub async fn all(&mut self, path: &str) -> Vec<Value> {
        let (mut items, mut after) = (Vec::new(), String::new());
        loop {
            let mut page = self.get(&format!("{path}&limit=100{after}")).await;
            items.append(page["items"].as_array_mut().unwrap());
            match page["next"].as_str() {
                Some(next) => after = format!("&after={next}"),
                None => return items,
            }
        }
    }
}

/// What is on a board.
#[derive(Debug, Default)]
pub struct Contents {
    /// The threads, by their ids.
    pub threads: BTreeMap<String, Value>,
    /// The posts, by their ids.
    pub posts: BTreeMap<String, Value>,
}

impl Contents {
    /// All that this reader sees.
    pub async fn read(reader: &mut Reader) -> Self {
        let mut contents = Self::default();
        for forum in reader.get("/forums").await["items"].as_array().unwrap() {
            let forum = forum["forumId"].as_str().unwrap();
            for thread in reader
                .all(&format!(
                    "/forums/{forum}/threads?since=2000-01-01T00:00:00Z"
                ))
                .await
            {
                let id = thread["threadId"].as_str().unwrap().to_owned();
                for post in reader
                    .all(&format!("/threads/{id}/posts?body=source"))
                    .await
                {
                    let id = post["postId"].as_str().unwrap().to_owned();
                    contents.posts.insert(id, post);
                }
                contents.threads.insert(id, thread);
            }
        }
        contents
    }

    /// How many posts say just this.
    pub fn saying(&self, words: &str) -> usize {
        let posts = self.posts.values();
        posts.filter(|post| post["body"] == words).count()
    }
}
