//! The real server over a large board.

use std::env;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Child;
use std::{io, thread};

use serde_json::Value;

use crate::backend::Backend;
use crate::program::{self, ExitedProcess};

/// Password of the board's administrator.
const PASSWORD: &str = "pages are to be quick";

/// A server in a process of its own, stopped on drop.
pub struct RunningServer {
    api: String,
    /// A member's token with all scopes.
    pub token: String,
    child: Child,
}

impl RunningServer {
    /// Serves the board, and fills it first if necessary.
    pub fn start(backend: &Backend) -> Self {
        let (child, api) = serve(backend);
        let owner = [
            "token",
            "issue",
            "--owner",
            "alice",
            "--scopes",
            "all",
            "--password-stdin",
        ];
        let token = run(backend, &owner).stdout.trim_end().to_owned();
        let served = Self { api, token, child };
        if served.json("/forums/2/threads?limit=100")["next"].is_null() {
            let posts = env::var("POSTS").map_or(1_000_000, |posts| posts.parse().unwrap());
            let [threads, posts] = [posts / 50, posts].map(|amount: u64| amount.to_string());
            run(
                backend,
                &["generate", "--threads", &threads, "--posts", &posts],
            );
        }
        served
    }

    /// Address of the server.
    pub fn origin(&self) -> &str {
        self.api.strip_suffix("/api/v1").unwrap()
    }

    /// Returns the response to a path of the API.
    pub fn json(&self, path: &str) -> Value {
        let bearer = format!("Bearer {}", self.token);
        let headers = [("authorization", bearer.as_str())];
        let answer = crate::client::send("GET", &format!("{}{path}", self.api), &headers, "");
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Starts the server. Its rate limits are too high to be reached, and its log is read, as in production.
fn serve(backend: &Backend) -> (Child, String) {
    let plenty = u32::MAX.to_string();
    let arguments = [
        "--json",
        "--database",
        backend.url(),
        "--listen",
        "127.0.0.1:0",
        "--token-budget",
        &plenty,
        "--admin-password-stdin",
    ];
    let mut child = program::start(&env::temp_dir(), &arguments, &[]);
    writeln!(child.stdin.take().unwrap(), "{PASSWORD}").unwrap();
    let mut log = child.stderr.take().unwrap();
    thread::spawn(move || io::copy(&mut log, &mut io::sink()));
    let mut greeting = String::new();
    let out = child.stdout.take().unwrap();
    BufReader::new(out).read_line(&mut greeting).unwrap();
    let greeting: Value = serde_json::from_str(&greeting).unwrap();
    (child, greeting["api"].as_str().unwrap().into())
}

fn run(backend: &Backend, arguments: &[&str]) -> ExitedProcess {
    let arguments = [&["--database", backend.url()], arguments].concat();
    let ended = program::run(&env::temp_dir(), &arguments, PASSWORD);
    assert_eq!(ended.status, 0, "{arguments:?}: {ended:?}");
    ended
}
