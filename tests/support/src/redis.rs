//! A Redis of a test's own, to be killed, halted and started again.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use forum_api::store::redis::{RedisRateLimitStore, RedisSettings};
use tempfile::TempDir;

/// How long nodes wait for it.
pub const TIMEOUT: Duration = Duration::from_millis(250);

#[derive(Debug)]
pub struct RedisServer {
    directory: TempDir,
    running: Option<Child>,
    /// Held, so that it may go on writing.
    log: Option<BufReader<ChildStdout>>,
}

impl RedisServer {
    /// One that runs.
    pub fn new() -> Self {
        let mut server = Self::stopped();
        server.start();
        server
    }

    /// One that was not started yet.
    pub fn stopped() -> Self {
        Self {
            directory: TempDir::new().unwrap(),
            running: None,
            log: None,
        }
    }

    /// Starts it with nothing in it, and waits until it listens.
    pub fn start(&mut self) {
        let mut child = Command::new("redis-server")
            .args(["--port", "0", "--save", "", "--unixsocket", &self.socket()])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.to_lowercase().contains("ready to accept connections") {
            line.clear();
            assert!(log.read_line(&mut line).unwrap() > 0, "it ended");
        }
        (self.running, self.log) = (Some(child), Some(log));
    }

    pub fn kill(&mut self) {
        if let Some(mut child) = self.running.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Lets it take connections and commands, and answer nothing: `STOP`; or go on: `CONT`.
    pub fn signal(&self, name: &str) {
        let id = self.running.as_ref().unwrap().id().to_string();
        let kill = Command::new("kill").args(["-s", name, &id]).status();
        assert!(kill.unwrap().success());
    }

    /// What it answers to a command.
    pub fn command(&self, words: &[&str]) -> String {
        let client = Command::new("redis-cli")
            .args(["-s", &self.socket()])
            .args(words)
            .output();
        String::from_utf8(client.unwrap().stdout).unwrap()
    }

    /// A node that shares it.
    pub async fn store(&self) -> RedisRateLimitStore {
        self.store_with(RedisSettings::default()).await
    }

    pub async fn store_with(&self, settings: RedisSettings) -> RedisRateLimitStore {
        let (url, patience) = (self.url(), TIMEOUT);
        let settings = RedisSettings {
            timeout: patience,
            ..settings
        };
        RedisRateLimitStore::connect(&url, settings).await.unwrap()
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("unix://{}", self.socket())
    }

    fn socket(&self) -> String {
        self.directory.path().join("redis").display().to_string()
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.kill();
    }
}
