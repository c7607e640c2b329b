//! Stores of a drill, which it stops and restarts.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use tokio::task::block_in_place;

/// A Postgres server, which can get a standby, replicas and poolers.
#[derive(Debug)]
pub struct Postgres {
    pub url: String,
    /// URLs of the replicas `first` and `second`.
    pub replicas: Vec<String>,
    /// URLs of the poolers before the first server and before the replica `first`.
    pub poolers: Vec<String>,
    script: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Postgres {
    /// Starts a server.
    pub fn new() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/nodes/postgres");
        let mut script =
            Command::new(path).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut postgres = Self {
            url: String::new(),
            replicas: Vec::new(),
            poolers: Vec::new(),
            orders: script.stdin.take(),
            answers: BufReader::new(script.stdout.take().unwrap()),
            script,
        };
        postgres.url = postgres.answer();
        postgres.replicas = vec![postgres.answer(), postgres.answer()];
        postgres.poolers = vec![postgres.answer(), postgres.answer()];
        postgres
    }

    /// Kills the server without a shutdown, like a power failure.
    pub fn stop(&mut self) {
        self.order("stop data");
    }

    /// Restarts the server and waits until it accepts connections.
    pub fn start(&mut self) {
        self.order("start_server data");
    }

    /// Calls a function of the script with its arguments, and waits for its end.
    pub fn order(&mut self, order: &str) {
        writeln!(self.orders.as_mut().unwrap(), "{order}").unwrap();
        assert_eq!(self.answer(), format!("done: {order}"));
    }

    fn answer(&mut self) -> String {
        let mut line = String::new();
        block_in_place(|| self.answers.read_line(&mut line)).unwrap();
        line.trim_end().into()
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        drop(self.orders.take());
        drop(self.script.wait());
    }
}
