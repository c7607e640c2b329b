//! Reads on large boards: `cargo build --release -p forum-server`, then `cargo bench -p forum-benches --bench reads`, or
//! with `-- search`, `-- posts` or `-- threads` one part of it.
//!
//! - `search`: searches on 1,000,000 posts (`POSTS`).
//! - `posts`: a page 1,000,000 posts (`DEEP`) into a thread, on a board with 2,500,000 posts (`LONG`) in 1,000 threads.
//! - `threads`: the last page of a forum with 500,000 threads, half of `POSTS`.
//!
//! Serves boards with `forum-server`, fills them with its `generate` command, and sends requests over one connection.
//! Each round has 100 requests (`REQUESTS`) of each kind. Boards are in SQLite, or with `FORUM_API_BACKEND=postgres` in
//! the Postgres of `FORUM_API_POSTGRES`. Takes ten minutes, most of it to fill the boards, and 5 GB of disk.

use std::time::{Duration, Instant};

use forum_benches::measurements::{
    Goal, ROUNDS, Row, Samples, backend_name, by_backend, is_selected, number, percentiles,
};
use forum_server::board::generate::words;
use forum_test_support::connection::{ApiClient, ApiRequest, Nodes};
use forum_test_support::node::api_address;
use forum_test_support::program::{Server, ServerDirectory};
use forum_test_support::random::Random;
use serde_json::Value;

/// Words with their ranks. Of a million posts, none contains the absent word; a few dozen, 50,000 and 950,000 contain
/// the others.
const WORDS: [(&str, u64); 4] =
    [("absent", u64::MAX), ("rare", 100_000), ("common", 100), ("most common", 1)];

/// Orders of results, with their goals in milliseconds on SQLite and on Postgres.
const SORTS: [(&str, f64, f64); 2] = [("newest", 3.0, 10.0), ("relevance", 20.0, 40.0)];

/// Number of items on the pages before a late page.
const STEP: u64 = 100;

#[tokio::main]
async fn main() {
    let posts = number("POSTS", 1_000_000);
    if is_selected("search") {
        search(&mut Board::new(posts / 10, posts)).await;
    }
    if is_selected("posts") {
        let mut board = Board::new(1000, number("LONG", 2_500_000));
        let list = format!("/threads/{}/posts", board.longest_thread().await);
        let depth = number("DEEP", 1_000_000);
        compare_depth(&mut board, &list, depth, "a thread's posts").await;
    }
    if is_selected("threads") {
        let mut board = Board::new(posts, posts);
        let depth = posts / 2 - STEP;
        compare_depth(&mut board, "/forums/1/threads", depth, "a forum's threads").await;
    }
}

/// Searches in each order, by several callers, for rare and common words.
async fn search(board: &mut Board) {
    let mary = board.server.token("mary");
    let sam = board.token.clone();
    let callers = [
        ("guest", None, ""),
        ("member of few forums", Some(&mary), ""),
        ("member of all", Some(&sam), ""),
        ("member of all, in one forum", Some(&sam), "&forum=3"),
    ];
    for (sort, on_sqlite, on_postgres) in SORTS {
        let mut worst = [0_f64; ROUNDS];
        for (who, token, narrowed) in callers {
            for (word, rank) in WORDS {
                let path = format!("/search?q={}&sort={sort}{narrowed}", words::word(rank));
                let request = get(&path, token.map(String::as_str));
                board.time(&request).await;
                let mut times = Samples::default();
                for worst in &mut worst {
                    let [_, p99] = board.round(&request).await;
                    times.add(p99);
                    *worst = worst.max(p99);
                }
                times.report(&format!("{sort}, {who}, {word}, p99 in ms"));
            }
        }
        Row {
            what: &format!("search, {sort}, p99 of the worst case, {}", backend_name()),
            unit: "ms",
            baseline: "none",
            goal: Goal::AtMost(by_backend(on_sqlite, on_postgres)),
            cause: "",
        }
        .write(&worst.into_iter().collect());
    }
}

/// Compares the page after this number of items with the first page.
async fn compare_depth(board: &mut Board, list: &str, depth: u64, of: &str) {
    let token = board.token.clone();
    let mut after = String::new();
    for _ in 0..depth / STEP {
        let page = board.json(&format!("{list}?limit={STEP}{after}")).await;
        after = format!("&after={}", page["next"].as_str().unwrap());
    }
    let late = format!("{list}?{}", after.trim_start_matches('&'));
    let [first, late] = [list, &late].map(|path| get(path, Some(&token)));
    let mut ratios = Samples::default();
    for _ in 0..ROUNDS {
        let [late, _] = board.round(&late).await;
        let [first, _] = board.round(&first).await;
        ratios.add(late / first);
    }
    Row {
        what: &format!("page at depth {depth} of {of}, {}", backend_name()),
        unit: "ratio of p50",
        baseline: "the first page",
        goal: Goal::AtMost(1.1),
        cause: "",
    }
    .write(&ratios);
}

fn get(path: &str, token: Option<&str>) -> ApiRequest {
    let bearer = token.map(|token| ("authorization", format!("Bearer {token}")));
    ApiRequest {
        method: "GET",
        path: path.into(),
        headers: bearer.into_iter().collect(),
        body: String::new(),
    }
}

/// A board, its server, and a connection to it.
struct Board {
    server: Server,
    client: ApiClient,
    /// Token of sam, who sees all forums. Mary sees a few.
    token: String,
}

impl Board {
    /// Fills a board with this number of posts. General is for staff, Members for members, all others are public.
    fn new(threads: u64, posts: u64) -> Self {
        let plenty = u32::MAX.to_string();
        let budgets = ["--guest-budget", &plenty, "--token-budget", &plenty];
        let arguments = [&["--empty"], &budgets[..]].concat();
        let server = Server::start(ServerDirectory::new(), &arguments);
        server.run_ok("forum add General --read staff");
        server.run_ok("forum add Help --read guests");
        server.run_ok("forum add Members --read members");
        for number in 1..=50 {
            server.run_ok(&format!("forum add Place{number} --read guests"));
        }
        server.run_ok("member add mary --groups members");
        server.run_ok("member add sam --groups members,staff");
        server.run_ok(&format!("generate --yes --threads {threads} --posts {posts}"));
        let node = api_address(&server.startup);
        Self {
            client: ApiClient::new(&Nodes::new(&[node]), Random::new(0)),
            token: server.token("sam"),
            server,
        }
    }

    /// Returns sam's response to a path.
    async fn json(&mut self, path: &str) -> Value {
        let request = ApiRequest::get(&self.token, path);
        self.client.send(&request).await.unwrap().json()
    }

    /// The thread with half of the replies.
    async fn longest_thread(&mut self) -> String {
        let page = self.json("/forums/1/threads?limit=100").await;
        let threads = page["items"].as_array().unwrap().iter();
        let longest = threads.max_by_key(|thread| thread["replyCount"].as_u64());
        longest.unwrap()["threadId"].as_str().unwrap().into()
    }

    /// Returns the duration of a request.
    async fn time(&mut self, request: &ApiRequest) -> Duration {
        let begun = Instant::now();
        let response = self.client.send(request).await.unwrap();
        assert_eq!(response.status, 200, "{response:?}");
        begun.elapsed()
    }

    /// Runs a round; returns p50 and p99 in milliseconds.
    async fn round(&mut self, request: &ApiRequest) -> [f64; 2] {
        let mut times = Vec::new();
        for _ in 0..number("REQUESTS", 100) {
            times.push(self.time(request).await);
        }
        percentiles(times, [50.0, 99.0])
    }
}
