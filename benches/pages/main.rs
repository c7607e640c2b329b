//! Pages over HTTP, compared with handwritten servers: `cargo build --release -p forum-server`, then `cargo bench -p
//! forum-benches --bench pages`, or with `-- posts` or `-- thread` one kind of page.
//!
//! Serves the demo board with `forum-server`, and fills it with `forum-server generate`. The baselines are two axum
//! servers over the same database, with as many reader threads or connections, the board's SQL and the same JSON, but
//! without rate limits and logs. The first finds the token and its owner with one query, in the same visit to the
//! database as the data. The second uses sqlx with one query each for token, owner and data, in a process of its own
//! (`benches/sqlx`). `wrk` loads all three in turn, with thousands of paths over 64 connections for `TURN` seconds
//! (default 2), on the same machine. Each ratio compares turns of one round.
//!
//! Needs `wrk` (Debian's package) and 3 GB of disk, and takes six minutes, most of them to fill the board. With
//! `FORUM_API_BACKEND=postgres` the board is in the Postgres of `FORUM_API_POSTGRES`. `POSTS=100000` makes a smaller
//! board, and `ROUNDS=1` measures once.

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod handwritten;
#[path = "../sqlx/src/pages.rs"]
mod pages;
mod sqlx;

use std::fs;
use std::process::Command;

use forum_benches::measurements::{
    Goal, ROUNDS, Row, Samples, backend_name, by_backend, is_selected, number,
};
use forum_test_support::client::send;
use forum_test_support::program::{Server, ServerDirectory};
use serde_json::Value;
use tempfile::TempDir;

use sqlx::SqlxServer;

/// Number of threads that are requested.
const THREADS: usize = 2_000;

/// Number of posts on a page, and the minimum number of posts in each requested thread.
const LIMIT: u64 = 20;

/// Reasons for which the handwritten handler is faster.
const CAUSE_ON_SQLITE: &str = "the handler has no rate limits, usage counts, metrics or logs; it also reads the database \
    once instead of twice, which saves 5 %";
const CAUSE_ON_POSTGRES: &str = "the handler has no rate limits, usage counts, metrics or logs";

/// Sends the requests in order, again and again.
const SCRIPT: &str = r#"
local requests, place = {}, 0

function init(arguments)
    for path in io.lines(arguments[1]) do
        table.insert(requests, wrk.format("GET", path))
    end
end

function request()
    place = place % #requests + 1
    return requests[place]
end
"#;

fn main() {
    let plenty = u32::MAX.to_string();
    let server = Server::start(ServerDirectory::new(), &["--token-budget", &plenty]);
    let posts = number("POSTS", 1_000_000);
    server.run_ok(&format!("generate --yes --threads {} --posts {posts}", posts / 50));
    let config = handwritten::config(server.directory.database_url());
    let sqlx = SqlxServer::start(&config);
    let origins = [server.url(""), handwritten::start(config), sqlx.origin.clone()];
    let threads = threads(&server);
    for (part, suffix, goals) in [
        ("posts", format!("/posts?limit={LIMIT}"), (0.9, 1.0)),
        ("thread", String::new(), (0.8, 0.9)),
    ] {
        if is_selected(part) {
            let path = |thread| format!("/api/v1/threads/{thread}{suffix}");
            let paths: Vec<_> = threads.iter().map(path).collect();
            let load = Load::new(server.token("alice"), &paths);
            load.assert_same_content(&origins, &paths[0]);
            let what = format!("`GET /threads/{{id}}{suffix}`, {}", backend_name());
            measure(&what, &load, &origins, by_backend(goals.0, goals.1));
        }
    }
}

/// Compares the first of the servers with the others.
fn measure(what: &str, load: &Load, origins: &[String; 3], goal: f64) {
    let round = |_| origins.each_ref().map(|origin| load.requests_per_second(origin));
    let rounds: Vec<[f64; 3]> = (0..number("ROUNDS", ROUNDS as u64)).map(round).collect();
    let cause_of_handler = by_backend(CAUSE_ON_SQLITE, CAUSE_ON_POSTGRES);
    for (side, baseline, goal, cause) in [
        (1, "handwritten handler that also looks up token and owner", goal, cause_of_handler),
        (2, "axum and sqlx with one query each for token, owner and data", 1.0, ""),
    ] {
        let rate: Samples = rounds.iter().map(|round| round[side]).collect();
        rate.report(&format!("{baseline}, requests/s"));
        let ratios = rounds.iter().map(|round| round[0] / round[side]).collect();
        Row { what, unit: "requests/s, ratio", baseline, goal: Goal::AtLeast(goal), cause }
            .write(&ratios);
    }
}

/// Threads with at least a page of posts.
fn threads(server: &Server) -> Vec<String> {
    let token = server.token("alice");
    let mut threads = Vec::new();
    let mut after = String::new();
    while threads.len() < THREADS {
        let page = server.get(&token, &format!("/forums/2/threads?limit=100{after}")).json();
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

/// Requests of a list of paths with one token.
struct Load {
    directory: TempDir,
    token: String,
}

impl Load {
    fn new(token: String, paths: &[String]) -> Self {
        let directory = TempDir::new().unwrap();
        fs::write(directory.path().join("paths"), paths.join("\n")).unwrap();
        fs::write(directory.path().join("script.lua"), SCRIPT).unwrap();
        Self { directory, token }
    }

    /// Asserts that all servers return the same posts, or the same thread. The baselines compute no permissions and no
    /// addresses of pages.
    fn assert_same_content(&self, origins: &[String; 3], path: &str) {
        let bearer = format!("Bearer {}", self.token);
        let headers = [("authorization", &*bearer)];
        let [api, handwritten, sqlx] = origins.each_ref().map(|origin| {
            let mut content = send("GET", &format!("{origin}{path}"), &headers, "").json();
            for field in ["next", "canReply", "webUrl"] {
                content[field].take();
            }
            let items = content.get_mut("items").and_then(Value::as_array_mut);
            for item in items.into_iter().flatten() {
                item["webUrl"].take();
            }
            content
        });
        assert_eq!(api, handwritten);
        assert_eq!(api, sqlx);
    }

    /// Runs `wrk`. Panics unless all requests succeed.
    fn requests_per_second(&self, origin: &str) -> f64 {
        let done = Command::new("wrk")
            .args(["-t1", "-c64", "-d", &number("TURN", 2).to_string(), "-H"])
            .arg(format!("authorization: Bearer {}", self.token))
            .args(["-s", "script.lua", origin, "--", "paths"])
            .current_dir(self.directory.path())
            .output()
            .unwrap_or_else(|none| panic!("wrk is not installed: {none}"));
        let output = String::from_utf8(done.stdout).unwrap();
        let failures = ["Non-2xx", "Socket errors"];
        let failed = failures.iter().any(|failure| output.contains(failure));
        assert!(done.status.success() && !failed, "{output}");
        let rate = output.lines().find_map(|line| line.strip_prefix("Requests/sec:"));
        rate.unwrap().trim().parse().unwrap()
    }
}
