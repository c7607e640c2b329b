//! A board with several nodes.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde_json::Value;
use tempfile::TempDir;
use tokio::task::block_in_place;

use crate::connection::Nodes;
use crate::link::Link;
use crate::node::{Node, api_address};
use crate::postgres::Database;
use crate::prerequisites::BackendUrls;
use crate::program::{ExitedProcess, run};

/// Limits of the board that would slow down the load.
const SETTINGS: [(&str, &str); 6] = [
    ("post.interval_seconds", "0"),
    ("post.per_hour", "1000000"),
    ("post.edits_per_hour", "1000000"),
    ("message.per_hour", "1000000"),
    ("message.inbox_quota", "1000000"),
    ("reputation.per_day", "1000000"),
];

const WORKER_OPTIONS: [&str; 3] = ["--allow-private-webhooks", "--webhook-initial-backoff", "0.2"];

/// Nodes that share a Postgres and a Redis.
#[derive(Debug)]
pub struct Cluster {
    pub database: Database,
    /// Addresses of the servers.
    pub nodes: Nodes,
    /// Nodes that serve the API, in the order of `nodes`.
    pub servers: Vec<Node>,
    /// Nodes that deliver webhooks.
    pub workers: Vec<Node>,
    directory: TempDir,
    options: Vec<String>,
    password: String,
}

impl Cluster {
    /// Creates a board and starts its nodes. The servers also get `options`.
    pub async fn new(urls: &BackendUrls, servers: usize, workers: usize, options: &[&str]) -> Self {
        let database = Database::in_server(&urls.postgres);
        let url = database.url();
        let own = ["--database", &url, "--redis", &urls.redis, "--no-worker"];
        let options = [&own[..], options].concat().into_iter();
        let option = |server: &String| format!("--database-replica={}", database.url_in(server));
        let replicas = urls.replicas.iter().map(option);
        let mut cluster = Self {
            nodes: Nodes::default(),
            servers: Vec::new(),
            workers: Vec::new(),
            directory: TempDir::new().unwrap(),
            options: options.map(str::to_owned).chain(replicas).collect(),
            password: String::new(),
            database,
        };
        cluster.password = cluster.add_server()["password"].as_str().unwrap().into();
        for (key, value) in SETTINGS {
            cluster.run(&["setting", key, value]);
        }
        while cluster.servers.len() < servers {
            cluster.add_server();
        }
        while cluster.workers.len() < workers {
            cluster.add_worker();
        }
        cluster
    }

    /// Starts another server. Returns its startup output.
    fn add_server(&mut self) -> Value {
        let (server, greeting) = self.start_server(self.servers.len());
        self.servers.push(server);
        self.nodes.add(api_address(&greeting));
        greeting
    }

    /// Starts another server, which reaches Postgres through a link.
    pub fn add_server_behind(&mut self, link: &Link) {
        let url = self.database.url();
        let (user, rest) = url.split_once('@').unwrap();
        let (_, name) = rest.split_once('/').unwrap();
        let linked = format!("{user}@{}/{name}", link.address);
        for option in &mut self.options {
            if *option == url {
                option.clone_from(&linked);
            }
        }
        self.add_server();
        for option in &mut self.options {
            if *option == linked {
                option.clone_from(&url);
            }
        }
    }

    /// Returns the address of Postgres.
    pub fn postgres_address(&self) -> SocketAddr {
        let url = self.database.url();
        let (_, rest) = url.split_once('@').unwrap();
        rest.split(['/', '?']).next().unwrap().parse().unwrap()
    }

    /// Starts another worker.
    fn add_worker(&mut self) {
        let worker = self.start_worker(self.workers.len());
        self.workers.push(worker);
    }

    /// Stops a node with `end` and starts another one in its place. Workers have the numbers after those of the servers.
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
        let url = self.database.url();
        let own = ["worker", "--database", &url];
        let options = [&own[..], &WORKER_OPTIONS].concat();
        Node::start(&self.log("worker", number), &options)
    }

    /// Returns the path of a node's log.
    fn log(&self, kind: &str, number: usize) -> PathBuf {
        let name = format!("{kind}-{number}.log");
        self.directory.path().join(name)
    }

    /// Runs a command, which must succeed.
    pub fn run(&self, arguments: &[&str]) -> ExitedProcess {
        self.run_with_input(arguments, "")
    }

    fn run_with_input(&self, arguments: &[&str], input: &str) -> ExitedProcess {
        let url = self.database.url();
        let arguments = [arguments, &["--database", &url]].concat();
        let exited = block_in_place(|| run(self.directory.path(), &arguments, input));
        assert_eq!(exited.status, 0, "{arguments:?} {exited:?}");
        exited
    }

    /// Issues a token with all scopes.
    pub fn token(&self, owner: &str) -> String {
        let issue = ["token", "issue", "--scopes", "all", "--password-stdin"];
        let arguments = [&issue[..], &["--owner", owner]].concat();
        let issued = self.run_with_input(&arguments, &self.password);
        issued.stdout.trim_end().into()
    }

    /// Adds a webhook endpoint and returns its secret.
    pub fn add_webhook(&self, url: &str, topics: &str) -> String {
        let add = ["webhook", "add", "--url", url, "--json"];
        let options = ["--topics", topics, "--allow-private-webhooks"];
        let added = self.run(&[&add[..], &options].concat()).json();
        added["secret"].as_str().unwrap().into()
    }

    /// Replaces all workers and ends all leases.
    pub async fn replace_workers(&mut self) {
        let number = self.workers.len();
        block_in_place(|| self.workers.drain(..).for_each(Node::kill));
        self.database.end_leases().await;
        (0..number).for_each(|_| self.add_worker());
    }

    /// Stops all nodes gracefully.
    pub fn stop(&mut self) {
        self.servers.drain(..).for_each(Node::stop);
        self.workers.drain(..).for_each(Node::stop);
    }
}
