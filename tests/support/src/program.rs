//! The example server as a process.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};

use serde_json::Value;

use crate::client::{self, Answer};
pub use crate::databases;
pub use crate::directory::ServerDirectory;

/// The exit status and the output of a process.
#[derive(Debug)]
pub struct ExitedProcess {
    pub status: i32,
    pub out: String,
    pub err: String,
}

impl ExitedProcess {
    /// The one line of stdout as JSON.
    pub fn json(&self) -> Value {
        assert_eq!(self.out.lines().count(), 1, "{self:?}");
        serde_json::from_str(&self.out).unwrap()
    }

    /// The one sentence of a refusal, which has status 1.
    pub fn refusal(&self) -> &str {
        assert_eq!((self.status, self.err.lines().count()), (1, 1), "{self:?}");
        self.err.trim_end().strip_prefix("error: ").unwrap()
    }
}

/// Runs the program in `directory` until it ends.
pub fn run(directory: &Path, arguments: &[impl AsRef<OsStr>], input: &str) -> ExitedProcess {
    let mut child = start(directory, arguments, &[]);
    // A command that is refused early does not read its input.
    drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
    wait(child)
}

/// Starts the program in `directory` with pipes that are not read yet.
pub fn start(
    directory: &Path,
    arguments: &[impl AsRef<OsStr>],
    environment: &[(&str, &str)],
) -> Child {
    Command::new(server())
        .args(arguments)
        .current_dir(directory)
        .env_remove("RUST_LOG")
        .envs(environment.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("`cargo build -p forum-server` comes first")
}

/// Sends a signal such as `TERM`.
pub fn signal(child: &Child, name: &str) {
    let kill = Command::new("kill")
        .args(["-s", name, &child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
}

/// Waits for the end of a process.
pub fn wait(child: Child) -> ExitedProcess {
    let output = child.wait_with_output().unwrap();
    ExitedProcess {
        status: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Returns the path of the example server, which cargo builds beside the directory of the test binaries.
pub fn server() -> PathBuf {
    built("forum-server")
}

/// Returns the path of an example, which cargo builds beside the directory of the test binaries.
pub fn example(name: &str) -> PathBuf {
    built(&format!("examples/{name}"))
}

fn built(name: &str) -> PathBuf {
    let this = std::env::current_exe().unwrap();
    let profile = this.parent().and_then(Path::parent).unwrap();
    profile.join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

/// A running server. It is killed when this value is dropped.
#[derive(Debug)]
pub struct Server {
    pub directory: ServerDirectory,
    /// The output of `serve --json`; of a copied demo board, that of the server that created it, with this address.
    pub greeting: Value,
    child: Child,
    /// Reads the log: a server waits for the reader of a full pipe.
    log: Option<JoinHandle<String>>,
}

/// Options that decide what a new database holds.
const OPTIONS_OF_CREATION: [&str; 3] = ["--empty", "--surface", "--database"];

impl Server {
    /// Starts a server on the demo board, which is a copy unless an option decides what a new database holds.
    pub fn new(arguments: &[&str]) -> Self {
        if arguments
            .iter()
            .any(|argument| OPTIONS_OF_CREATION.contains(argument))
        {
            return Self::start(ServerDirectory::new(), arguments);
        }
        let (directory, mut greeting) = ServerDirectory::with_demo_board();
        let mut server = Self::start(directory, arguments);
        for key in ["password", "token"] {
            server.greeting[key] = greeting[key].take();
        }
        server
    }

    /// Starts a server in a directory that may have a board.
    pub fn start(directory: ServerDirectory, arguments: &[&str]) -> Self {
        Self::start_with(directory, arguments, &[], "")
    }

    /// Starts a server with this environment and this input.
    pub fn start_with(
        directory: ServerDirectory,
        arguments: &[&str],
        environment: &[(&str, &str)],
        input: &str,
    ) -> Self {
        let arguments = [&["--json"], arguments].concat();
        let (mut server, text) = Self::greet(directory, &arguments, environment, input, |_| true);
        server.greeting = serde_json::from_str(&text).unwrap();
        server
    }

    /// Starts a server. Returns its output up to the line that is the `last`.
    pub fn greet(
        directory: ServerDirectory,
        arguments: &[&str],
        environment: &[(&str, &str)],
        input: &str,
        mut last: impl FnMut(&str) -> bool,
    ) -> (Self, String) {
        let arguments = [&["--listen", "127.0.0.1:0"], arguments].concat();
        let mut arguments = directory.arguments(&arguments);
        arguments.extend(directory.redis());
        let mut child = start(directory.path(), &arguments, environment);
        drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let stderr = child.stderr.take().unwrap();
        let mut server = Self {
            directory,
            greeting: Value::Null,
            child,
            log: Some(thread::spawn(|| io::read_to_string(stderr).unwrap())),
        };
        let mut text = String::new();
        for line in lines.map(Result::unwrap) {
            text.push_str(&line);
            text.push('\n');
            if last(&line) {
                return (server, text);
            }
        }
        panic!("{text}{}", server.log());
    }

    fn log(&mut self) -> String {
        self.log.take().unwrap().join().unwrap()
    }

    /// Runs a command of words beside the server, on its database.
    pub fn command(&self, line: &str) -> ExitedProcess {
        self.command_with(line, "")
    }

    /// Runs a command with this input.
    pub fn command_with(&self, line: &str, input: &str) -> ExitedProcess {
        let words: Vec<_> = line.split_whitespace().collect();
        self.directory.run(&words, input)
    }

    /// Runs a command that succeeds.
    pub fn done(&self, line: &str) -> ExitedProcess {
        self.done_with(line, "")
    }

    /// Runs a command with this input that succeeds.
    pub fn done_with(&self, line: &str, input: &str) -> ExitedProcess {
        let exited = self.command_with(line, input);
        assert_eq!(exited.status, 0, "{line} {exited:?}");
        exited
    }

    /// Lets members post as often as they like.
    pub fn remove_post_limits(&self) {
        self.done("setting post.interval_seconds 0");
        self.done("setting post.per_hour 1000000");
    }

    /// Kills the server.
    pub fn kill(mut self) -> ServerDirectory {
        drop(self.child.kill());
        self.wait().0
    }

    /// The administrator's password.
    pub fn password(&self) -> &str {
        self.greeting["password"].as_str().unwrap()
    }

    /// A token with all scopes.
    pub fn token(&self, owner: &str) -> String {
        match self.greeting["token"].as_str() {
            Some(token) if owner == "alice" => token.into(),
            _ => self.token_with(owner, "all"),
        }
    }

    /// Issues a token with these scopes, which stand between commas.
    pub fn token_with(&self, owner: &str, scopes: &str) -> String {
        let issue = format!("token issue --password-stdin --owner {owner} --scopes {scopes}");
        let issued = self.done_with(&issue, self.password());
        issued.out.trim_end().into()
    }

    /// The URL of a path below the API's.
    pub fn api(&self, path: &str) -> String {
        format!("{}{path}", self.greeting["api"].as_str().unwrap())
    }

    /// The URL of a path beside the API's.
    pub fn beside(&self, path: &str) -> String {
        self.api("").replace("/api/v1", path)
    }

    /// Reads a path of the API with a token.
    pub fn get(&self, token: &str, path: &str) -> Answer {
        self.ask("GET", token, path, "")
    }

    /// Posts JSON to a path of the API with a token.
    pub fn post(&self, token: &str, path: &str, body: &Value) -> Answer {
        self.ask("POST", token, path, &body.to_string())
    }

    /// Sends JSON to a path of the API with a token.
    pub fn ask(&self, method: &str, token: &str, path: &str, body: &str) -> Answer {
        let bearer = format!("Bearer {token}");
        let headers = [
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
        ];
        client::send(method, &self.api(path), &headers, body)
    }

    /// The directory of the process in `/proc`.
    pub fn process(&self) -> PathBuf {
        format!("/proc/{}", self.child.id()).into()
    }

    /// The resident memory in kB.
    pub fn resident(&self) -> u64 {
        let status = std::fs::read_to_string(self.process().join("status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.unwrap().trim().split(' ').next();
        number.unwrap().parse().unwrap()
    }

    /// Sends a signal such as `TERM`.
    pub fn signal(&self, name: &str) {
        signal(&self.child, name);
    }

    /// Waits for the end. Returns the exit status and the log.
    pub fn wait(mut self) -> (ServerDirectory, ExitStatus, String) {
        let log = self.log();
        let status = self.child.wait().unwrap();
        (self.directory.clone(), status, log)
    }

    /// Sends SIGTERM and waits for the end with status 0. Returns the log.
    pub fn stop_with_log(self) -> (ServerDirectory, String) {
        self.signal("TERM");
        let (directory, status, log) = self.wait();
        assert!(status.success(), "{log}");
        (directory, log)
    }

    /// Sends SIGTERM and waits for the end with status 0.
    pub fn stop(self) -> ServerDirectory {
        self.stop_with_log().0
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
