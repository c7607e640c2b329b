//! Reads all content of a board as an administrator.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde_json::Value;

use crate::connection::{ApiClient, ApiRequest, Nodes};
use crate::random::Random;

/// Reads the API of one node.
#[derive(Debug)]
pub struct Reader {
    connections: ApiClient,
    token: String,
}

impl Reader {
    pub fn new(node: SocketAddr, token: &str) -> Self {
        Self {
            connections: ApiClient::new(&Nodes::new(&[node]), Random::new(0)),
            token: token.into(),
        }
    }

    /// Returns the response to this path.
    pub async fn get(&mut self, path: &str) -> Value {
        let reply = self
            .connections
            .send(&ApiRequest::get(&self.token, path))
            .await
            .unwrap();
        assert_eq!(reply.status, 200, "{path} {reply:?}");
        reply.json()
    }

    /// Reads all pages of a list whose path has a query.
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

/// The content of a board.
#[derive(Debug, Default)]
pub struct Contents {
    /// The threads by id.
    pub threads: BTreeMap<String, Value>,
    /// The posts by id.
    pub posts: BTreeMap<String, Value>,
}

impl Contents {
    /// Reads all threads and posts that the reader can see.
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

    /// Counts the posts with exactly this body.
    pub fn count_with_body(&self, words: &str) -> usize {
        let posts = self.posts.values();
        posts.filter(|post| post["body"] == words).count()
    }
}
