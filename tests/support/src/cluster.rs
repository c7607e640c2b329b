//! A board of many nodes.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;
use tokio::task::block_in_place;

use crate::connection::Nodes;
use crate::database::Database;
use crate::node::{Node, api_address};
use crate::prerequisites::BackendUrls;
use crate::program::{ExitedProcess, run};
use crate::scale::Scale;

/// What would hold a load up, and is not what is tried here.
const SETTINGS: [(&str, &str); 5] = [
    ("post.interval_seconds", "0"),
    ("post.per_hour", "1000000"),
    ("message.per_hour", "1000000"),
    ("message.inbox_quota", "1000000"),
    ("reputation.per_day", "1000000"),
];

/// What every node that sends webhooks is told.
const WORKER_OPTIONS: [&str; 3] = [
    "--allow-private-webhooks",
    "--webhook-initial-backoff",
    "0.2",
];

/// Nodes that share a Postgres and a Redis.
#[derive(Debug)]
pub struct Cluster {
    /// Their database.
    pub database: Database,
    /// Where those that serve are, for whoever asks any of them.
    pub nodes: Nodes,
    /// Those that serve, in the order of `nodes`.
    pub servers: Vec<Node>,
    /// Those that send webhooks.
    pub workers: Vec<Node>,
    directory: TempDir,
    options: Vec<String>,
    password: String,
}

impl Cluster {
    /// A new board with so many nodes. Those that serve have `options` besides.
    pub async fn new(addresses: &BackendUrls, scale: Scale, options: &[&str]) -> Self {
        let database = Database::new(&addresses.postgres).await;
        let shared = ["--database", &database.url];
        let serving = ["--redis", &addresses.redis, "--no-worker"];
        let options = [&shared[..], &serving, options].concat();
        let mut cluster = Self {
            nodes: Nodes::default(),
            servers: Vec::new(),
            workers: Vec::new(),
            directory: TempDir::new().unwrap(),
            options: options.into_iter().map(str::to_owned).collect(),
            password: String::new(),
            database,
        };
        cluster.password = cluster.add_server()["password"].as_str().unwrap().into();
        for (key, value) in SETTINGS {
            cluster.run(&["setting", key, value]);
        }
        while cluster.servers.len() < scale.servers {
            cluster.add_server();
        }
        while cluster.workers.len() < scale.workers {
            cluster.add_worker();
        }
        cluster
    }

    /// Starts one more that serves; gives what it printed.
    pub fn add_server(&mut self) -> Value {
        let (server, greeting) = self.start_server(self.servers.len());
        self.servers.push(server);
        self.nodes.add(api_address(&greeting));
        greeting
    }

    /// Starts one more that sends webhooks.
    pub fn add_worker(&mut self) {
        let worker = self.start_worker(self.workers.len());
        self.workers.push(worker);
    }

    /// Ends one of all nodes, by `end`, and starts another in its place.
    pub fn replace(&mut self, number: usize, end: impl FnOnce(Node)) {
        match number.checked_sub(self.servers.len()) {
            None => {
                end(self.servers.remove(number));
                let (server, greeting) = self.start_server(number);
                self.servers.insert(number, server);
                self.nodes.replace(number, api_address(&greeting));
            }
            Some(number) => {
                end(self.workers.remove(number));
                let worker = self.start_worker(number);
                self.workers.insert(number, worker);
            }
        }
    }

    fn start_server(&self, number: usize) -> (Node, Value) {
        let options: Vec<_> = self.options.iter().map(String::as_str).collect();
        block_in_place(|| Node::serve(&self.log("server", number), &options))
    }

    fn start_worker(&self, number: usize) -> Node {
        let own = ["worker", "--database", &self.database.url];
        Node::start(&self.log("worker", number), &[&own[..], &WORKER_OPTIONS].concat())
    }

    /// One more that serves, without budgets that could hold up who asks it.
    pub fn start_reader(&self) -> (Node, SocketAddr) {
        let own = ["--database", &self.database.url, "--no-worker"];
        let budget = ["--token-budget", "1000000000"];
        let arguments = [&own[..], &budget].concat();
        let log = self.log("reader", 0);
        let (reader, greeting) = block_in_place(|| Node::serve(&log, &arguments));
        (reader, api_address(&greeting))
    }

    /// The log of a node.
    pub fn log(&self, kind: &str, number: usize) -> PathBuf {
        let name = format!("{kind}-{number}.log");
        self.directory.path().join(name)
    }

    /// Runs a command beside the nodes, which is not refused.
    pub fn run(&self, arguments: &[&str]) -> ExitedProcess {
        self.run_with_input(arguments, "")
    }

    fn run_with_input(&self, arguments: &[&str], input: &str) -> ExitedProcess {
        let arguments = [arguments, &["--database", &self.database.url]].concat();
        let directory: &Path = self.directory.path();
        let ended = block_in_place(|| run(directory, &arguments, input));
        assert_eq!(ended.status, 0, "{arguments:?} {ended:?}");
        ended
    }

    /// Issues a token with all scopes.
    pub fn token(&self, owner: &str) -> String {
        let issue = ["token", "issue", "--scopes", "all", "--password-stdin"];
        let arguments = [&issue[..], &["--owner", owner]].concat();
        let issued = self.run_with_input(&arguments, &self.password);
        issued.stdout.trim_end().into()
    }

    /// Registers a receiver at this address of these topics; gives its secret.
    pub fn add_webhook(&self, url: &str, topics: &str) -> String {
        let add = ["webhook", "add", "--url", url, "--json"];
        let options = ["--topics", topics, "--allow-private-webhooks"];
        let added = self.run(&[&add[..], &options].concat()).json();
        added["secret"].as_str().unwrap().into()
    }

    /// How often a node has said that it shares no budgets.
    pub fn count_redis_outages(&self) -> usize {
        let logs = self.servers.iter().map(Node::log);
        logs.map(|log| log.matches("Redis unreachable").count())
            .sum()
    }

    /// Lets others take up at once what dead workers had on lease.
    pub async fn replace_workers(&mut self) {
        let number = self.workers.len();
        block_in_place(|| self.workers.drain(..).for_each(Node::kill));
        self.database.end_leases().await;
        (0..number).for_each(|_| self.add_worker());
    }

    /// Whether a delivery is still to come; an operator has those sent again that failed too often.
    pub fn has_pending_deliveries(&self) -> bool {
        let listed = |state: &str| {
            let list = ["delivery", "list", "--json", "--state", state];
            self.run(&list).json().as_array().unwrap().clone()
        };
        let states = ["dead", "queued", "retrying"];
        let [dead, queued, retrying] = states.map(listed);
        for dead in &dead {
            self.run(&["delivery", "retry", dead["id"].as_str().unwrap()]);
        }
        !(dead.is_empty() && queued.is_empty() && retrying.is_empty())
    }

    /// Tells every node that serves to stop, which each does in order.
    pub fn stop_servers(&mut self) {
        self.servers.drain(..).for_each(Node::stop);
    }

    /// Tells every node to stop, which each does in order.
    pub fn stop(&mut self) {
        self.stop_servers();
        self.workers.drain(..).for_each(Node::stop);
    }
}
