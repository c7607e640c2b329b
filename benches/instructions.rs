//! Instructions of whole requests, library and SQLite together: `tests/instructions/run`.
//!
//! Sends requests to the API over a board with 4,000 posts, in a process under callgrind, with a line in the server's log
//! for each. One process sends 100 requests and another one 400, so that the difference excludes the start. Prints each
//! count beside that of `instructions.tsv`. Fails if a request needs 15 % more instructions than recorded, or if a call of
//! a tool needs 1.3 times the instructions of its request. Writes the record with `--record`. Needs valgrind, and takes
//! two minutes after compilation.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::{env, fs, io};

use axum::body::Body;
use forum_api::mcp::McpServer;
use forum_api::model::{Timestamp, UserId};
use forum_api::runtime::{Clock, SystemClock};
use forum_api::store::sqlite::{Database, DatabasePath};
use forum_api::test_util::audit_entry;
use forum_api::{ApiSettings, ForumApi, Language};
use forum_benches::fixture::issue;
use forum_benches::measurements::count_instructions;
use forum_server::board::generate::{self, ContentSize, words};
use forum_server::board::{ReferenceBoard, db::BoardDatabase, demo};
use forum_server::log::{LogFormat, line_layer};
use http::{Request, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

// The allocator of the server. With that of the C library, the counts differ by 5 % between runs.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const RECORD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/instructions.tsv");

/// Environment variables of a process whose instructions are counted.
const COUNTED: [&str; 4] = ["BENCH_REQUEST", "BENCH_COUNT", "BENCH_DATABASE", "BENCH_TOKEN"];

/// Numbers of requests of two processes.
const COUNTS: [u64; 2] = [100, 400];

/// Maximum of a count, as a multiple of the recorded one. Another compiler of Rust or C changes counts by up to a tenth.
const TOLERANCE: f64 = 1.15;

/// Maximum of a tool call, as a multiple of the same request over HTTP.
const TOLERANCE_OF_TOOL: f64 = 1.3;

/// Name of the compilers in the record.
const COMPILERS: &str = "compilers";

const POSTS: &str = "page of 20 posts, token";
const REPLY: &str = "reply, token";
const POSTS_TOOL: &str = "page of 20 posts, tool call";

const REQUESTS: [&str; 7] = [
    POSTS,
    POSTS_TOOL,
    "forums, token",
    "threads of a forum, guest",
    "one thread, token",
    "search, one word, token",
    REPLY,
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    if let [Some(request), Some(count), Some(database), Some(token)] =
        COUNTED.map(|name| env::var(name).ok())
    {
        let service = Service::new(&request, &database, token).await;
        for _ in 0..count.parse().unwrap() {
            service.send(&request).await;
        }
        return ExitCode::SUCCESS;
    }
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("forum.db");
    let database = file.to_str().unwrap();
    let token = fill(database).await;
    let counted = REQUESTS.map(|request| (request, count(request, database, &token)));
    if env::args().any(|argument| argument == "--record") {
        fs::write(RECORD, record(&counted)).unwrap();
        return ExitCode::SUCCESS;
    }
    if compare(&counted, &fs::read_to_string(RECORD).unwrap()) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Creates a board, and returns a token of alice with all scopes.
async fn fill(path: &str) -> String {
    let database = open(path, true).await;
    let board = board(database.clone(), SystemClock);
    board.migrate().await.unwrap();
    let example = board
        .write(|tx, events| Box::pin(demo::begin(tx, "", false, events.now)))
        .await
        .unwrap()
        .unwrap();
    let owner = UserId::from(example.member);
    let amount = ContentSize { members: 100, threads: 100, posts: 4_000 };
    generate::run(&board, amount, 1, audit_entry(), |_| ()).await.unwrap();
    let token = issue(&*board.database.stores().tokens, &owner).await;
    // Writes everything to the file, which is copied.
    database.close().await;
    token
}

async fn open(path: &str, create: bool) -> BoardDatabase {
    let path = path.into();
    let database = Database::open(&DatabasePath::File { path, create }).unwrap();
    if create {
        database.migrate().await.unwrap();
    }
    database.into()
}

/// A clock whose readings are ten minutes apart, so that no limit of posts per member is reached.
#[derive(Debug, Default)]
struct FastClock(AtomicI64);

impl Clock for FastClock {
    fn now(&self) -> Timestamp {
        let readings = self.0.fetch_add(1, Ordering::Relaxed);
        Timestamp::from_millis(SystemClock.now().as_millis() + readings * 600_000)
    }
}

fn board(database: BoardDatabase, clock: impl Clock + 'static) -> ReferenceBoard {
    ReferenceBoard::new(database, Arc::new(clock), Language::English)
}

/// The API and its tools over a board.
struct Service {
    api: ForumApi,
    mcp: McpServer,
    token: String,
    /// Path of a thread with at least 20 posts.
    thread: String,
}

impl Service {
    async fn new(request: &str, database: &str, token: String) -> Self {
        let lines = line_layer(LogFormat::Text, false, io::sink);
        tracing_subscriber::registry().with(LevelFilter::INFO).with(lines).init();
        let database = open(database, false).await;
        let board = match request {
            REPLY => board(database, FastClock::default()),
            _ => board(database, SystemClock),
        };
        let stores = board.database.stores();
        let mut settings = ApiSettings::default();
        settings.base_path = "/api/v1".into();
        settings.token_budget.units = u32::MAX;
        settings.guest_budget.units = u32::MAX;
        let api = ForumApi::builder(Arc::new(board), stores).settings(settings).build().unwrap();
        let mcp = McpServer::new(&api).unwrap();
        let mut service = Self { api, mcp, token, thread: String::new() };
        let response = service.get("/forums/2/threads?limit=100", true).await;
        let list: Value = serde_json::from_slice(&response).unwrap();
        let mut threads = list["items"].as_array().unwrap().iter();
        let long = threads.find(|thread| thread["replyCount"].as_u64().unwrap() >= 20);
        service.thread = long.unwrap()["threadId"].as_str().unwrap().to_owned();
        service
    }

    /// Sends a request of the record.
    async fn send(&self, request: &str) {
        let thread = &self.thread;
        match request {
            POSTS => self.get(&format!("/threads/{thread}/posts?limit=20"), true).await,
            POSTS_TOOL => {
                let arguments = json!({ "threadId": thread, "limit": 20 });
                let params = json!({ "name": "listPosts", "arguments": arguments });
                let message =
                    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
                self.post("/mcp", &message).await
            }
            "forums, token" => self.get("/forums", true).await,
            "threads of a forum, guest" => self.get("/forums/2/threads", false).await,
            "one thread, token" => self.get(&format!("/threads/{thread}"), true).await,
            "search, one word, token" => {
                self.get(&format!("/search?q={}", words::word(100)), true).await
            }
            REPLY => {
                let reply = json!({ "body": "The *second* loaf is better than the first one." });
                self.post(&format!("/api/v1/threads/{thread}/posts"), &reply).await
            }
            _ => panic!("{request}"),
        };
    }

    async fn get(&self, path: &str, has_token: bool) -> Vec<u8> {
        let mut request = Request::get(format!("/api/v1{path}"));
        if has_token {
            request = request.header("authorization", format!("Bearer {}", self.token));
        }
        self.answer(request.body(Body::empty()).unwrap()).await
    }

    async fn post(&self, path: &str, body: &Value) -> Vec<u8> {
        let request = Request::post(path)
            .header("authorization", format!("Bearer {}", self.token))
            .header("content-type", "application/json")
            .body(Body::from(body.to_string()))
            .unwrap();
        self.answer(request).await
    }

    async fn answer(&self, request: Request<Body>) -> Vec<u8> {
        let response = match request.uri().path() {
            "/mcp" => self.mcp.respond(request).await,
            _ => self.api.respond(request).await,
        };
        let is_success = [StatusCode::OK, StatusCode::CREATED].contains(&response.status());
        let body = response.into_body().into_bytes().to_vec();
        assert!(is_success, "{}", String::from_utf8_lossy(&body));
        body
    }
}

/// Returns the instructions of one request.
fn count(request: &str, database: &str, token: &str) -> u64 {
    let [few, many] = COUNTS;
    let [of_few, of_many] = COUNTS.map(|runs| {
        let copy = TempDir::new().unwrap();
        let path = copy.path().join("forum.db");
        fs::copy(database, &path).unwrap();
        let runs = runs.to_string();
        let values = [request, &runs, path.to_str().unwrap(), token];
        let counted = count_instructions(&[], COUNTED.into_iter().zip(values));
        counted.expect("valgrind counts instructions")
    });
    let instructions = (of_many - of_few) / (many - few);
    println!("{request}: {instructions}");
    instructions
}

/// Names the compilers of the library and of SQLite.
fn compilers() -> String {
    let version = |program| {
        let output = Command::new(program).arg("--version").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().next().unwrap().to_owned()
    };
    format!("{}; {}", version("rustc"), version("cc"))
}

fn record(counted: &[(&str, u64)]) -> String {
    let mut record = format!("{COMPILERS}\t{}\n", compilers());
    for (request, instructions) in counted {
        writeln!(record, "{request}\t{instructions}").unwrap();
    }
    record
}

/// Prints the counts beside the record, and returns whether none exceeds its limit.
fn compare(counted: &[(&str, u64)], record: &str) -> bool {
    println!("recorded with {}", recorded(record, COMPILERS));
    println!("counted with {}", compilers());
    let counted: BTreeMap<_, _> = counted.iter().copied().collect();
    let mut is_met = true;
    let mut check = |request: &str, base: u64, limit: f64| {
        let ratio = counted[request] as f64 / base as f64;
        let result = if ratio > limit { "MORE THAN THE LIMIT" } else { "ok" };
        println!(
            "{request}: {} = {ratio:.3} times {base}, limit {limit}: {result}",
            counted[request]
        );
        is_met &= ratio <= limit;
    };
    for request in REQUESTS {
        check(request, recorded(record, request).parse().unwrap(), TOLERANCE);
    }
    check(POSTS_TOOL, counted[POSTS], TOLERANCE_OF_TOOL);
    is_met
}

/// Returns a value of the record.
fn recorded<'a>(record: &'a str, name: &str) -> &'a str {
    let mut fields = record.lines().filter_map(|line| line.split_once('\t'));
    fields.find(|(found, _)| *found == name).unwrap().1
}
