//! A node of a cluster: a process of the example server.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};

use serde_json::Value;

use crate::program;

/// A server or a worker that logs to a file. It is killed on drop.
#[derive(Debug)]
pub struct Node {
    child: Child,
    log: PathBuf,
}

impl Node {
    /// Starts a node that appends to this log.
    pub fn start(log: &Path, arguments: &[&str]) -> Self {
        let stderr = File::options().create(true).append(true).open(log);
        let mut command = program::command(arguments);
        command.stderr(Stdio::from(stderr.unwrap()));
        Self { child: program::spawn(&mut command), log: log.into() }
    }

    /// Starts a server on a free port. Returns its startup output.
    pub fn serve(log: &Path, arguments: &[&str]) -> (Self, Value) {
        let own = ["--json", "--listen", "127.0.0.1:0"];
        let mut node = Self::start(log, &[&own, arguments].concat());
        let mut line = String::new();
        let stdout = node.child.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let startup: Value = serde_json::from_str(&line).unwrap_or_default();
        // A server that does not start prints its error, which is also JSON.
        assert!(startup["api"].is_string(), "{line}{}", node.log());
        (node, startup)
    }

    /// Returns the log, including that of earlier nodes with the same file.
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    /// Returns the process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal such as `TERM`.
    pub fn signal(&self, name: &str) {
        program::signal(&self.child, name);
    }

    /// Kills the node, which must be running.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        let status = self.child.wait().unwrap();
        let log = self.log();
        let signal = status.signal();
        assert_eq!(signal, Some(9), "the node had already exited: {log}");
    }

    pub fn wait(mut self) -> ExitStatus {
        let _limit = program::kill_after_limit(&self.child);
        self.child.wait().unwrap()
    }

    /// Stops the node gracefully.
    pub fn stop(self) {
        self.signal("TERM");
        let log = self.log.clone();
        let status = self.wait();
        assert!(status.success(), "{}", fs::read_to_string(log).unwrap());
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Returns the address of the API in a startup output.
pub fn api_address(startup: &Value) -> SocketAddr {
    let api = startup["api"].as_str().unwrap();
    crate::client::split_url(api).0.parse().unwrap()
}
