//! A Redis process that a test can kill, halt and restart.

use std::process::Command;
use std::time::Duration;

use forum_api::store::redis::{RedisRateLimitStore, RedisSettings};
use tempfile::TempDir;

use crate::program::{self, Running};

/// Timeout of a store whose Redis does not respond.
pub const TIMEOUT: Duration = Duration::from_millis(250);

#[derive(Debug)]
pub struct RedisServer {
    running: Option<Running>,
    directory: TempDir,
}

impl RedisServer {
    pub fn new() -> Self {
        let mut server = Self::stopped();
        server.start();
        server
    }

    /// Creates a server without starting it.
    pub fn stopped() -> Self {
        Self { running: None, directory: TempDir::new().unwrap() }
    }

    /// Starts an empty Redis and waits until it accepts connections.
    pub fn start(&mut self) {
        let mut command = Command::new("redis-server");
        command.args(["--port", "0", "--save", "", "--unixsocket", &self.socket()]);
        self.running = Some(Running::until(&mut command, "eady to accept connections"));
    }

    pub fn kill(&mut self) {
        self.running = None;
    }

    /// Sends a signal: `STOP` halts Redis while it still accepts connections, `CONT` resumes it.
    pub fn signal(&self, name: &str) {
        program::signal(&self.running.as_ref().unwrap().0, name);
    }

    /// Runs a command and returns its output.
    pub fn command(&self, words: &[&str]) -> String {
        let client = Command::new("redis-cli").args(["-s", &self.socket()]).args(words).output();
        String::from_utf8(client.unwrap().stdout).unwrap()
    }

    /// Connects a store whose timeout is long enough for a busy machine.
    pub async fn store(&self) -> RedisRateLimitStore {
        let mut settings = RedisSettings::default();
        settings.timeout = Duration::from_secs(5);
        self.store_with(settings).await
    }

    pub async fn store_with(&self, settings: RedisSettings) -> RedisRateLimitStore {
        let url = self.url();
        RedisRateLimitStore::connect(&url, settings).await.unwrap()
    }

    pub fn url(&self) -> String {
        format!("unix://{}", self.socket())
    }

    fn socket(&self) -> String {
        self.directory.path().join("redis").display().to_string()
    }
}
