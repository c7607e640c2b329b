//! A mix of requests to 1 and 2 nodes over a board of 1,000,000 posts: requests per second, latencies and errors.

use std::collections::BTreeMap;
use std::env;
use std::sync::Arc;
use std::time::Duration;

use forum_api::model::UserId;
use forum_api::runtime::{Clock, OsRandom, SystemClock};
use forum_api::scope::Surface;
use forum_api::store::postgres::{PostgresStore, connect};
use forum_api::token::{TokenRequest, issue_token};
use forum_server::board::generate::words;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::cluster::Cluster;
use crate::connection::{ApiClient, ApiRequest, Nodes};
use crate::processor::ProcessGroup;
use crate::random::Random;

const POSTS: usize = 1_000_000;
const THREADS: usize = 100_000;

/// Number of members, each with a token.
const TOKENS: usize = 10_000;

/// Number of concurrent clients. Each sends its next request after the response to the last one.
const CLIENTS: usize = 64;

/// Duration of the load on each number of nodes in seconds, unless `LOAD_SECONDS` is set.
const DEFAULT_SECONDS: u64 = 600;

/// Numbers of nodes that are compared.
const NODES: [usize; 2] = [1, 2];

/// Kind of requests.
struct Kind {
    name: &'static str,
    percent: usize,
    make: fn(&mut Choice<'_>, token: &str) -> ApiRequest,
}

/// 90 % of the requests are reads.
const KINDS: [Kind; 9] = [
    Kind {
        name: "page of posts",
        percent: 40,
        make: |choice, token| {
            get(
                token,
                format!("/threads/{}/posts?limit=20", choice.thread()),
            )
        },
    },
    Kind {
        name: "page of threads",
        percent: 20,
        make: |choice, token| {
            get(
                token,
                format!("/forums/{}/threads?limit=20", choice.forum()),
            )
        },
    },
    Kind {
        name: "thread",
        percent: 10,
        make: |choice, token| get(token, format!("/threads/{}", choice.thread())),
    },
    Kind {
        name: "forums",
        percent: 10,
        make: |_, token| get(token, "/forums".into()),
    },
    Kind {
        name: "member",
        percent: 5,
        make: |choice, token| get(token, format!("/members/{}", choice.member())),
    },
    Kind {
        name: "search",
        percent: 3,
        make: |choice, token| get(token, format!("/search?q={}&limit=20", choice.word())),
    },
    Kind {
        name: "messages",
        percent: 2,
        make: |_, token| get(token, "/messages?limit=20".into()),
    },
    Kind {
        name: "reply",
        percent: 9,
        make: |choice, token| {
            let path = format!("/threads/{}/posts", choice.thread());
            let text = "A reply of some twenty words, which says that it is one. ".repeat(2);
            ApiRequest::new("POST", token, &path, &json!({ "body": text }))
        },
    },
    Kind {
        name: "new thread",
        percent: 1,
        make: |choice, token| {
            let path = format!("/forums/{}/threads", choice.forum());
            let thread = json!({ "title": "A new thread", "body": "Its first post." });
            ApiRequest::new("POST", token, &path, &thread)
        },
    },
];

fn get(token: &str, path: String) -> ApiRequest {
    ApiRequest::new("GET", token, &path, &Value::Null)
}

/// Ids of a board's content.
struct Content {
    forums: Vec<i64>,
    members: Vec<i64>,
    newest_thread: usize,
}

/// Random choice of content.
struct Choice<'a> {
    content: &'a Content,
    random: Random,
}

impl Choice<'_> {
    /// Chooses a rank from 1 on. The probability of a rank is about inversely proportional to the rank.
    fn rank(&mut self) -> u64 {
        words::rank(|end| self.random.below(end as usize) as u64)
    }

    /// Chooses a thread. The newest are the most popular.
    fn thread(&mut self) -> usize {
        self.content.newest_thread - (self.rank() as usize - 1) % THREADS
    }

    fn forum(&mut self) -> i64 {
        *self.random.choose(&self.content.forums).unwrap()
    }

    fn member(&mut self) -> i64 {
        *self.random.choose(&self.content.members).unwrap()
    }

    fn word(&mut self) -> String {
        words::word(self.rank())
    }

    fn kind(&mut self) -> &'static Kind {
        let mut percent = self.random.below(100);
        let kind = KINDS.iter().find(|kind| {
            let is_chosen = percent < kind.percent;
            percent = percent.saturating_sub(kind.percent);
            is_chosen
        });
        kind.unwrap()
    }
}

/// Latencies of one kind of requests in microseconds, and its errors by status; 0 is a closed connection.
#[derive(Default)]
struct Outcome {
    latencies: Vec<u32>,
    errors: BTreeMap<u16, usize>,
}

impl Outcome {
    fn merge(&mut self, other: Self) {
        self.latencies.extend(other.latencies);
        for (status, count) in other.errors {
            *self.errors.entry(status).or_default() += count;
        }
    }
}

type Outcomes = BTreeMap<&'static str, Outcome>;

pub async fn measure(cluster: Cluster, redis: u32) {
    let content = Arc::new(fill(&cluster).await);
    let tokens: Arc<[String]> = issue_tokens(&cluster, &content.members).await.into();
    let seconds = env::var("LOAD_SECONDS").map_or(DEFAULT_SECONDS, |text| text.parse().unwrap());
    let period = Duration::from_secs(seconds);
    for nodes in NODES {
        let addresses = Nodes::new(&cluster.nodes.addresses()[..nodes]);
        // Warm-up: opens the connections and prepares the statements.
        run(&addresses, &content, &tokens, period / 20).await;
        let groups = ProcessGroup::all(&cluster, nodes, redis).await;
        let outcomes = run(&addresses, &content, &tokens, period).await;
        report(nodes, seconds, outcomes, &groups);
    }
}

/// Generates the content and returns its ids.
async fn fill(cluster: &Cluster) -> Content {
    let [posts, threads, members] = [POSTS, THREADS, TOKENS].map(|number| number.to_string());
    let sizes = [
        "--posts",
        &posts,
        "--threads",
        &threads,
        "--members",
        &members,
    ];
    cluster.run(&[&["generate", "--yes"][..], &sizes].concat());
    let client = cluster.database.connect().await;
    let ids = async |query: &str| -> Vec<i64> {
        let rows = client.query(query, &[]).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    };
    client.batch_execute("VACUUM ANALYZE").await.unwrap();
    let newest = ids("SELECT max(id) FROM thread").await;
    Content {
        forums: ids("SELECT id FROM forum WHERE title IN ('General', 'Help', 'Members')").await,
        members: ids(&format!(
            "SELECT id FROM member ORDER BY id DESC LIMIT {TOKENS}"
        ))
        .await,
        newest_thread: usize::try_from(newest[0]).unwrap(),
    }
}

async fn issue_tokens(cluster: &Cluster, members: &[i64]) -> Vec<String> {
    let store = PostgresStore::new(connect(&cluster.database.url(), 1).unwrap());
    let scopes: Vec<_> = Surface::Full.scopes().collect();
    let mut tokens = Vec::new();
    for member in members {
        let owner = UserId::from(*member);
        let request = TokenRequest::new(&owner, &scopes);
        let now = SystemClock.now();
        let issued = issue_token(&store, &OsRandom, Surface::Full, request, now).await;
        tokens.push(issued.unwrap().0.expose_secret().to_owned());
    }
    tokens
}

/// Sends requests for `period`.
async fn run(
    nodes: &Nodes,
    content: &Arc<Content>,
    tokens: &Arc<[String]>,
    period: Duration,
) -> Outcomes {
    let end = Instant::now() + period;
    let clients = (0..CLIENTS).map(|number| {
        let (content, tokens) = (Arc::clone(content), Arc::clone(tokens));
        let mut client = ApiClient::new(nodes, Random::new(number as u64));
        tokio::spawn(async move {
            let random = Random::new(1_000 + number as u64);
            let mut choice = Choice {
                content: &content,
                random,
            };
            let mut outcomes = Outcomes::new();
            while Instant::now() < end {
                let kind = choice.kind();
                let token = choice.random.choose(&tokens).unwrap();
                let request = (kind.make)(&mut choice, token);
                let sent = Instant::now();
                let response = client.send(&request).await;
                let outcome = outcomes.entry(kind.name).or_default();
                match response.map_or(0, |response| response.status) {
                    200..300 => outcome.latencies.push(sent.elapsed().as_micros() as u32),
                    status => *outcome.errors.entry(status).or_default() += 1,
                }
            }
            outcomes
        })
    });
    let mut outcomes = Outcomes::new();
    for client in clients.collect::<Vec<_>>() {
        for (name, outcome) in client.await.unwrap() {
            outcomes.entry(name).or_default().merge(outcome);
        }
    }
    outcomes
}

fn report(nodes: usize, seconds: u64, outcomes: Outcomes, groups: &[ProcessGroup]) {
    let mut all = Outcome::default();
    println!("{nodes} nodes, {CLIENTS} clients, {seconds} s: p50, p99, p99.9 in ms");
    for (name, mut outcome) in outcomes {
        report_latencies(name, &mut outcome, seconds);
        all.merge(outcome);
    }
    report_latencies("all", &mut all, seconds);
    for group in groups {
        let (name, microseconds) = group.share(all.latencies.len());
        println!("  {name}: {microseconds:.0} µs of processor time for each request");
    }
}

fn report_latencies(name: &str, outcome: &mut Outcome, seconds: u64) {
    let Outcome { latencies, errors } = outcome;
    latencies.sort_unstable();
    let percentile = |share: f64| {
        let index = (latencies.len().saturating_sub(1)) as f64 * share;
        let micros = latencies.get(index as usize).copied().unwrap_or_default();
        f64::from(micros) / 1e3
    };
    let [p50, p99, p999] = [0.5, 0.99, 0.999].map(percentile);
    let rate = latencies.len() as f64 / seconds as f64;
    println!("  {name}: {rate:.0} a second, {p50:.1} {p99:.1} {p999:.1}, errors {errors:?}");
}
