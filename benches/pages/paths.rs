//! Paths of the requests.

use serde_json::Value;

use crate::server::RunningServer;

/// Kind of page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Posts of a thread.
    Posts,
    /// All forums.
    Forums,
    /// Threads of a forum.
    Threads,
    /// A thread.
    Thread,
}

/// Number of threads that are requested.
const THREADS: usize = 2_000;

/// Number of posts on a page, and the minimum number of posts in each requested thread.
const LIMIT: u64 = 20;

impl Kind {
    pub const ALL: [Self; 4] = [Self::Posts, Self::Forums, Self::Threads, Self::Thread];

    /// Name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Posts => "posts",
            Self::Forums => "forums",
            Self::Threads => "threads",
            Self::Thread => "thread",
        }
    }

    /// The endpoint's path as printed.
    pub fn what(self) -> &'static str {
        match self {
            Self::Posts => "`GET /threads/{id}/posts?limit=20`",
            Self::Forums => "`GET /forums`",
            Self::Threads => "`GET /forums/{id}/threads`",
            Self::Thread => "`GET /threads/{id}`",
        }
    }

    /// Paths below the API's base path.
    pub fn paths(self, served: &RunningServer) -> Vec<String> {
        let of_threads = |path: fn(&str) -> String| {
            let threads = threads(served);
            threads.iter().map(|thread| path(thread)).collect()
        };
        match self {
            Self::Posts => of_threads(|thread| format!("/threads/{thread}/posts?limit={LIMIT}")),
            Self::Forums => vec!["/forums".into()],
            Self::Threads => vec!["/forums/2/threads".into(), "/forums/3/threads".into()],
            Self::Thread => of_threads(|thread| format!("/threads/{thread}")),
        }
    }
}

/// Threads with at least a page of posts.
fn threads(served: &RunningServer) -> Vec<String> {
    let (mut threads, mut after) = (Vec::new(), String::new());
    while threads.len() < THREADS {
        let page = served.json(&format!("/forums/2/threads?limit=100{after}"));
        let items = page["items"].as_array().unwrap().iter();
        let full = items.filter(|thread| thread["replyCount"].as_u64().unwrap() >= LIMIT);
        threads.extend(full.map(|thread| thread["threadId"].as_str().unwrap().to_owned()));
        match &page["next"] {
            Value::String(next) => after = format!("&after={next}"),
            _ => break,
        }
    }
    threads
}
