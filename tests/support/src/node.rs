//! A process: one that serves, or one that sends webhooks.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use serde_json::Value;

use crate::program::server_path;

/// A process that runs until it is told to stop, or killed.
#[derive(Debug)]
pub struct Node {
    child: Child,
    log: PathBuf,
}

impl Node {
    /// Starts one that logs into this file, at its end.
    pub fn start(log: &Path, arguments: &[&str]) -> Self {
        let stderr = File::options().create(true).append(true).open(log);
        let child = Command::new(server_path())
            .args(arguments)
            .env_remove("RUST_LOG")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr.unwrap())
            .spawn()
            .expect("`cargo build -p forum-server` comes first");
        Self {
            child,
            log: log.into(),
        }
    }

    /// Starts one that serves; gives what it printed once it listened.
    pub fn serve(log: &Path, arguments: &[&str]) -> (Self, Value) {
        let own = ["--json", "--listen", "127.0.0.1:0"];
        let mut node = Self::start(log, &[&own, arguments].concat());
        let mut greeting = String::new();
        let stdout = node.child.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut greeting).unwrap();
        let parsed = serde_json::from_str(&greeting);
        let greeting = parsed.unwrap_or_else(|_| panic!("{}", node.log()));
        (node, greeting)
    }

    /// What it has logged, and those before it into the same file.
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    /// Its id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal such as `TERM`.
    pub fn signal(&self, name: &str) {
        let id = self.id().to_string();
        let kill = Command::new("kill").args(["-s", name, &id]).status();
        assert!(kill.unwrap().success());
    }

    /// Ends it at once, wherever it is.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        let status = self.child.wait().unwrap();
        let log = self.log();
        assert_eq!(status.signal(), Some(9), "it had died by itself: {log}");
    }

    /// Waits for its end.
    pub fn wait(mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    /// Tells it to stop, which it does in order.
    pub fn stop(self) {
        self.signal("TERM");
        let log = self.log.clone();
        let status = self.wait();
        assert_eq!(
            status.code(),
            Some(0),
            "{}",
            fs::read_to_string(log).unwrap()
        );
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Where a greeting says that the API is.
pub fn api_address(greeting: &Value) -> SocketAddr {
    let api = greeting["api"].as_str().unwrap();
    crate::client::split_url(api).0.parse().unwrap()
}
