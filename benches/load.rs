//! A mix of requests to one node and to two nodes, over a board of 1,000,000 posts: `cargo build --release -p
//! forum-server`, then `cargo bench -p forum-benches --bench load`.
//!
//! Runs the server in processes of its own, over the Postgres of `FORUM_API_POSTGRES` (`tests/postgres` starts one) and
//! a Redis of its own. All processes share one machine. Takes ten minutes (`LOAD_SECONDS=600`) on each number of nodes.
//! `POSTS=10000` makes a smaller board.

use std::fs;
use std::iter;
use std::sync::Arc;
use std::time::Duration;

use forum_api::model::UserId;
use forum_api::store::Stores;
use forum_api::store::postgres::tokio_postgres_0_7::connect;
use forum_benches::fixture::issue;
use forum_benches::measurements::{Goal, Row, Samples, number, percentiles};
use forum_server::board::generate::words;
use forum_test_support::cluster::Cluster;
use forum_test_support::connection::{ApiClient, ApiRequest, Nodes};
use forum_test_support::node::Node;
use forum_test_support::postgres;
use forum_test_support::prerequisites::BackendUrls;
use forum_test_support::random::Random;
use forum_test_support::redis::RedisServer;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

/// Number of members, each with a token.
const TOKENS: usize = 10_000;

/// Number of concurrent clients. Each sends its next request after the response to the last one.
const CLIENTS: usize = 64;

/// Clock ticks of the kernel per second.
const TICKS: f64 = 100.0;

#[tokio::main]
async fn main() {
    let redis = RedisServer::new();
    let urls = BackendUrls { postgres: postgres::url(), redis: redis.url(), replicas: Vec::new() };
    let cluster = Cluster::new(&urls, 2, 0, &["--token-budget", "4000000000"]).await;
    let content = Arc::new(Content::generate(&cluster).await);
    let [one, two] = [
        measure(&cluster, 1, &redis, &content).await,
        measure(&cluster, 2, &redis, &content).await,
    ];
    for (unit, figure) in [
        ("µs of CPU time in the server", one.cpu[0]),
        ("µs of CPU time in Postgres", one.cpu[1]),
        ("µs of CPU time in Redis", one.cpu[2]),
    ] {
        write("request of the load mix, one node", unit, "none", figure);
    }
    write(
        "load mix, two nodes on the same machine",
        "requests/s, ratio",
        "one node",
        two.per_second / one.per_second,
    );
}

fn write(what: &str, unit: &str, baseline: &str, figure: f64) {
    Row { what, unit, baseline, goal: Goal::None, cause: "" }.write(&Samples::from_iter([figure]));
}

/// Ids of a board's content, and the tokens of its members.
struct Content {
    forums: Vec<i64>,
    members: Vec<i64>,
    threads: usize,
    newest_thread: usize,
    tokens: Vec<String>,
}

impl Content {
    async fn generate(cluster: &Cluster) -> Self {
        let posts = number("POSTS", 1_000_000);
        let sizes = [posts, posts / 10, TOKENS as u64].map(|number| number.to_string());
        let [posts, threads, members] = sizes.each_ref().map(String::as_str);
        let sizes = ["--posts", posts, "--threads", threads, "--members", members];
        cluster.run(&[&["generate", "--yes"][..], &sizes].concat());
        cluster.database.execute("VACUUM ANALYZE").await;
        let client = cluster.database.connect().await;
        let ids = async |query: &str| -> Vec<i64> {
            let rows = client.query(query, &[]).await.unwrap();
            rows.iter().map(|row| row.get(0)).collect()
        };
        let find = format!("SELECT id FROM member ORDER BY id DESC LIMIT {TOKENS}");
        let members = ids(&find).await;
        let newest = ids("SELECT max(id) FROM thread").await;
        Self {
            forums: ids("SELECT id FROM forum WHERE title IN ('General', 'Help', 'Members')").await,
            tokens: issue_tokens(cluster, &members).await,
            members,
            threads: threads.parse().unwrap(),
            newest_thread: usize::try_from(newest[0]).unwrap(),
        }
    }

    /// Chooses a request of the mix. 90 % are reads. The newest threads are the most popular.
    fn choose(&self, random: &mut Random) -> ApiRequest {
        let token = random.choose(&self.tokens).unwrap();
        let mut rank = || words::rank(|end| random.below(end as usize) as u64);
        let word = words::word(rank());
        let thread = self.newest_thread - (rank() as usize - 1) % self.threads;
        let forum = random.choose(&self.forums).unwrap();
        let member = random.choose(&self.members).unwrap();
        let get = |path: String| ApiRequest::get(token, &path);
        let post = |path: String, body: Value| ApiRequest::new("POST", token, &path, &body);
        match random.below(100) {
            0..40 => get(format!("/threads/{thread}/posts?limit=20")),
            40..60 => get(format!("/forums/{forum}/threads?limit=20")),
            60..70 => get(format!("/threads/{thread}")),
            70..80 => get("/forums".into()),
            80..85 => get(format!("/members/{member}")),
            85..88 => get(format!("/search?q={word}&limit=20")),
            88..90 => get("/messages?limit=20".into()),
            90..99 => {
                let text = "A reply of some twenty words, which says that it is one. ".repeat(2);
                post(format!("/threads/{thread}/posts"), json!({ "body": text }))
            }
            _ => {
                let thread = json!({ "title": "A new thread", "body": "Its first post." });
                post(format!("/forums/{forum}/threads"), thread)
            }
        }
    }
}

async fn issue_tokens(cluster: &Cluster, members: &[i64]) -> Vec<String> {
    let store = Stores::in_postgres(&connect(&cluster.database.url(), 1).unwrap()).tokens;
    let mut tokens = Vec::new();
    for member in members {
        tokens.push(issue(&*store, &UserId::from(*member)).await);
    }
    tokens
}

/// Requests per second, and the CPU time of a request in microseconds in the servers, Postgres and Redis.
struct Outcome {
    per_second: f64,
    cpu: [f64; 3],
}

/// Sends the mix to the first nodes.
async fn measure(
    cluster: &Cluster,
    nodes: usize,
    redis: &RedisServer,
    content: &Arc<Content>,
) -> Outcome {
    let addresses = Nodes::new(&cluster.nodes.addresses()[..nodes]);
    let period = Duration::from_secs(number("LOAD_SECONDS", 600));
    // Warm-up: opens the connections and prepares the statements.
    run(&addresses, content, period / 20).await;
    let backends = cluster.database.query("SELECT pid FROM pg_stat_activity");
    let postgres = numbers(backends).into_iter().find_map(parent).unwrap();
    let parties = || -> [Vec<u32>; 3] {
        [
            cluster.servers[..nodes].iter().map(Node::id).collect(),
            iter::once(postgres).chain(children(postgres)).collect(),
            numbers([field(&redis.command(&["info", "server"]), "process_id:")]),
        ]
    };
    let before = parties().map(|ids| cpu_seconds(&ids));
    let Sent { times, refused_searches } = run(&addresses, content, period).await;
    let count = times.len() as f64;
    let mut cpu = parties().map(|ids| cpu_seconds(&ids) * 1e6 / count);
    for (cpu, before) in cpu.iter_mut().zip(before) {
        *cpu -= before * 1e6 / count;
    }
    let per_second = count / period.as_secs_f64();
    let latencies = percentiles(times, [50.0, 99.0, 99.9]);
    println!(
        "  nodes {nodes}: {per_second:.0} requests/s; p50, p99 and p99.9 in ms: {latencies:.1?}; µs {cpu:.0?}; \
         {refused_searches} searches refused"
    );
    Outcome { per_second, cpu }
}

/// Requests of clients.
#[derive(Default)]
struct Sent {
    /// Durations of the requests. That of a search includes its repetitions.
    times: Vec<Duration>,
    /// Number of searches that were refused at their time limit, and sent again after a second.
    refused_searches: usize,
}

/// Sends requests for `period`. All must succeed, a search after any number of repetitions.
async fn run(nodes: &Nodes, content: &Arc<Content>, period: Duration) -> Sent {
    let end = Instant::now() + period;
    let clients = (0..CLIENTS as u64).map(|number| {
        let content = Arc::clone(content);
        let mut client = ApiClient::new(nodes, Random::new(number));
        tokio::spawn(async move {
            let mut random = Random::new(1_000 + number);
            let mut sent = Sent::default();
            while Instant::now() < end {
                let request = content.choose(&mut random);
                let began = Instant::now();
                let mut response = client.send(&request).await.expect("a response");
                while response.status == 503 && request.path.starts_with("/search") {
                    sent.refused_searches += 1;
                    sleep(Duration::from_secs(1)).await;
                    response = client.send(&request).await.expect("a response");
                }
                assert!(response.status < 300, "{request:?}: {response:?}");
                sent.times.push(began.elapsed());
            }
            sent
        })
    });
    let mut all = Sent::default();
    for client in clients.collect::<Vec<_>>() {
        let sent = client.await.unwrap();
        all.times.extend(sent.times);
        all.refused_searches += sent.refused_searches;
    }
    all
}

fn numbers(texts: impl IntoIterator<Item = String>) -> Vec<u32> {
    let numbers = texts.into_iter().map(|text| text.parse().unwrap());
    numbers.collect()
}

/// Returns the rest of the line that starts with `name`.
fn field(text: &str, name: &str) -> String {
    let rest = text.lines().find_map(|line| line.strip_prefix(name));
    rest.unwrap().trim().into()
}

/// Sums the CPU seconds of the processes, and of their children that have ended.
fn cpu_seconds(ids: &[u32]) -> f64 {
    let of_process = |id: &u32| -> f64 {
        let times = status(*id).into_iter().skip(11).take(4);
        times.map(|ticks| ticks.parse::<f64>().unwrap()).sum()
    };
    ids.iter().map(of_process).sum::<f64>() / TICKS
}

fn parent(id: u32) -> Option<u32> {
    status(id).get(1).map(|parent| parent.parse().unwrap())
}

fn children(parent_id: u32) -> Vec<u32> {
    let names = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().file_name());
    let ids = names.filter_map(|name| name.to_str()?.parse().ok());
    ids.filter(|id| parent(*id) == Some(parent_id)).collect()
}

/// Returns the fields of a process after its name, none if it has ended.
fn status(id: u32) -> Vec<String> {
    let line = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    // The name of the program is in parentheses, and may contain blanks.
    let fields = line.rsplit_once(')').map_or("", |(_, fields)| fields);
    fields.split_whitespace().map(str::to_owned).collect()
}
