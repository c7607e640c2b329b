//! Mixed load of a client: it reads, searches, writes, edits, subscribes and sends invalid requests. Its posts are
//! long, so that SQLite's cache is soon full.

use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::client::{self, Response};
use crate::program::Server;

/// The members of the load.
const MEMBERS: [&str; 4] = ["alice", "bob", "carol", "mod"];

/// Time between two requests of a client.
const REQUEST_INTERVAL: Duration = Duration::from_millis(12);

/// A well-formed token that was never issued.
const UNKNOWN_TOKEN: &str =
    "forum_pat_0000000000000000_00000000000000000000000000000000000000000000000000";

/// Requests and their expected statuses.
const REQUESTS: [(&str, &str, u16); 18] = [
    ("GET", "/forums", 200),
    ("GET", "/forums/2/threads", 200),
    ("GET", "/threads/1/posts?limit=20", 200),
    ("POST", "/threads/1/posts", 201),
    ("PATCH", "", 200),
    ("GET", "/search?q=welcome", 200),
    ("GET", "/search?q=number&sort=newest", 200),
    ("GET", "/me", 200),
    ("GET", "/messages", 200),
    ("POST", "/subscriptions", 201),
    ("DELETE", "/subscriptions/forum/2", 204),
    ("GET", "/threads/999999", 404),
    ("GET", "/unknown", 404),
    ("POST", "/threads/1/posts?x=1", 400),
    ("GET", "/forums?limit=none", 400),
    ("GET", "/openapi.json", 200),
    ("GET", "/threads/1", 200),
    ("HEAD", "/threads/1/posts", 200),
];

/// A client of the load.
#[derive(Debug)]
pub struct Client {
    api: String,
    token: String,
    /// Number of requests so far, continued across clients.
    number: u64,
    /// Path of the client's last post.
    last: String,
}

impl Client {
    pub fn new(server: &Server, seed: u64) -> Self {
        Self {
            api: server.api_url(""),
            token: server.token(MEMBERS[seed as usize]),
            number: seed << 32,
            last: String::new(),
        }
    }

    /// Sends a request of a member and one of a guest with a new address.
    pub fn send(&mut self) {
        self.number += 1;
        let (method, path, status) = REQUESTS[self.number as usize % REQUESTS.len()];
        let answer = match method {
            "PATCH" if self.last.is_empty() => return,
            "PATCH" => self.send_as_member(method, &self.last),
            _ => self.send_as_member(method, path),
        };
        assert_eq!(answer.status, status, "{method} {path}: {answer:?}");
        if status == 201 && path.ends_with("/posts") {
            let post = answer.json()["postId"].as_str().unwrap().to_owned();
            self.last = format!("{path}/{post}");
        }
        self.send_unauthenticated();
        thread::sleep(REQUEST_INTERVAL);
    }

    fn send_as_member(&self, method: &str, path: &str) -> Response {
        let key = format!("\"soak-{}\"", self.number);
        let body = match path {
            "/subscriptions" => json!({ "target": "forum", "targetId": "2" }),
            _ => json!({ "body": format!("Number {}, *again*. ", self.number).repeat(150) }),
        };
        let body = if matches!(method, "POST" | "PATCH") {
            body.to_string()
        } else {
            String::new()
        };
        let bearer = format!("Bearer {}", self.token);
        let mut headers = vec![
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
        ];
        if method == "POST" {
            headers.push(("idempotency-key", &key));
        }
        client::send(method, &format!("{}{path}", self.api), &headers, &body)
    }

    /// Sends requests of a guest and with an unknown token.
    fn send_unauthenticated(&self) {
        let [.., a, b, c] = self.number.to_be_bytes();
        let address = format!("2001:{:x}:{a:02x}{b:02x}:{c:02x}00::1", self.number >> 32);
        let url = format!("{}/forums/1/threads", self.api);
        let guest = [("x-forwarded-for", address.as_str())];
        assert_eq!(client::send("GET", &url, &guest, "").status, 200);
        let bearer = format!("Bearer {UNKNOWN_TOKEN}");
        let unauthenticated = [guest[0], ("authorization", bearer.as_str())];
        assert_eq!(client::send("GET", &url, &unauthenticated, "").status, 401);
    }
}
