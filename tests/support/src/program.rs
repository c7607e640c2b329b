//! The example server as a process.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::Value;

use crate::client::{self, Response};
pub use crate::directory::ServerDirectory;

/// The longest time until a process ends that was asked to end.
const LIMIT: Duration = Duration::from_secs(300);

/// The exit status and the output of a process.
#[derive(Debug)]
pub struct ExitedProcess {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl ExitedProcess {
    /// Parses the only line of stdout as JSON.
    pub fn json(&self) -> Value {
        assert_eq!(self.stdout.lines().count(), 1, "{self:?}");
        serde_json::from_str(&self.stdout).unwrap()
    }

    /// Returns the error message of a command that failed with status 1.
    pub fn error_message(&self) -> &str {
        let lines = self.stderr.lines().count();
        assert_eq!((self.status, lines), (1, 1), "{self:?}");
        self.stderr.trim_end().strip_prefix("error: ").unwrap()
    }

    /// Asserts that the command failed with status 1, and that its error message contains `reason`.
    #[track_caller]
    pub fn assert_error(&self, reason: &str) {
        assert!(self.error_message().contains(reason), "{self:?}");
    }
}

/// Runs the program in `directory` until it ends.
pub fn run(directory: &Path, arguments: &[impl AsRef<OsStr>], input: &str) -> ExitedProcess {
    let mut child = start(directory, arguments, &[]);
    // A command that fails early does not read its input.
    drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
    wait(child)
}

/// Starts the program in `directory` with pipes that are not read yet.
pub fn start(
    directory: &Path,
    arguments: &[impl AsRef<OsStr>],
    environment: &[(&str, &str)],
) -> Child {
    let mut command = command(arguments);
    command.current_dir(directory).stderr(Stdio::piped());
    spawn(command.envs(environment.iter().copied()))
}

/// Returns a command of the program with pipes for stdin and stdout.
pub(crate) fn command(arguments: &[impl AsRef<OsStr>]) -> Command {
    let mut command = Command::new(server_path());
    command.args(arguments).env_remove("RUST_LOG");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

pub(crate) fn spawn(command: &mut Command) -> Child {
    let child = command.spawn();
    child.expect("`cargo build -p forum-server` comes first")
}

/// Sends a signal such as `TERM`. Uses the `kill` of the shell, because minimal installations have no program of this
/// name.
pub fn signal(child: &Child, name: &str) {
    assert!(kill(child.id(), name).success());
}

fn kill(process: u32, signal: &str) -> ExitStatus {
    Command::new("sh")
        .args(["-c", r#"kill -s "$0" "$1""#, signal, &process.to_string()])
        .status()
        .unwrap()
}

/// Kills a process that has not ended after `LIMIT`, so that its test fails instead of waiting. The caller keeps the result
/// until the process has ended.
#[must_use]
pub(crate) fn kill_after_limit(child: &Child) -> Sender<()> {
    let (ended, limit) = mpsc::channel();
    let process = child.id();
    thread::spawn(move || {
        if limit.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout) {
            kill(process, "KILL");
        }
    });
    ended
}

/// Waits for a line of a process's log that contains `expected`. A thread reads the rest, because a full pipe would block the
/// process, and returns the whole log.
pub fn wait_for_line(log: impl Read + Send + 'static, expected: &str) -> JoinHandle<String> {
    let mut lines = BufReader::new(log).lines().map(Result::unwrap);
    let mut text = String::new();
    while !text.contains(expected) {
        let line = lines.next();
        text += &line.unwrap_or_else(|| panic!("the process has exited: {text}"));
        text.push('\n');
    }
    thread::spawn(|| text + &lines.map(|line| line + "\n").collect::<String>())
}

/// A process that is killed on drop.
#[derive(Debug)]
pub struct Running(pub Child);

impl Running {
    /// Starts a process and waits for a line of its standard output.
    pub fn until(command: &mut Command, line: &str) -> Self {
        let child = command.stdout(Stdio::piped()).spawn();
        let mut running = Self(child.unwrap());
        wait_for_line(running.0.stdout.take().unwrap(), line);
        running
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Waits for the end of a process that was asked to end. Kills it after five minutes.
pub fn wait_for_end(child: Child) -> ExitedProcess {
    let _limit = kill_after_limit(&child);
    wait(child)
}

/// Waits for the end of a process.
pub fn wait(child: Child) -> ExitedProcess {
    let output = child.wait_with_output().unwrap();
    ExitedProcess {
        status: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Returns the path of the example server, which cargo builds beside the directory of the test binaries.
pub fn server_path() -> PathBuf {
    binary_path("forum-server")
}

/// Returns the path of an example, which cargo builds beside the directory of the test binaries.
pub fn example_path(name: &str) -> PathBuf {
    binary_path(&format!("examples/{name}"))
}

fn binary_path(name: &str) -> PathBuf {
    let this = std::env::current_exe().unwrap();
    let profile = this.parent().and_then(Path::parent).unwrap();
    profile.join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

/// A running server. It is killed when this value is dropped.
#[derive(Debug)]
pub struct Server {
    pub directory: ServerDirectory,
    /// The startup output of `serve --json`. For a copy of the demo board, password and token are those of the original.
    pub startup: Value,
    child: Child,
    /// Reads the log, because a full pipe would block the server.
    log: Option<JoinHandle<String>>,
}

/// Options that determine the content of a new database.
const CREATION_OPTIONS: [&str; 3] = ["--empty", "--surface", "--database"];

impl Server {
    /// Starts a server on a copy of the demo board, or on a new database if an option determines its content.
    pub fn new(arguments: &[&str]) -> Self {
        if arguments.iter().any(|argument| CREATION_OPTIONS.contains(argument)) {
            return Self::start(ServerDirectory::new(), arguments);
        }
        let (directory, mut greeting) = ServerDirectory::with_demo_board();
        let mut server = Self::start(directory, arguments);
        for key in ["password", "token"] {
            server.startup[key] = greeting[key].take();
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
        // A server that does not start prints its error, which is also JSON.
        let is_startup = |line: &str| line.contains(r#""api":"#);
        let (mut server, text) =
            Self::start_until(directory, &arguments, environment, input, is_startup);
        server.startup = serde_json::from_str(&text).unwrap();
        server
    }

    /// Starts a server. Returns its output up to the first line for which `last` returns `true`.
    pub fn start_until(
        directory: ServerDirectory,
        arguments: &[&str],
        environment: &[(&str, &str)],
        input: &str,
        mut last: impl FnMut(&str) -> bool,
    ) -> (Self, String) {
        let arguments = directory.arguments(&[&["--listen", "127.0.0.1:0"], arguments].concat());
        let mut child = start(directory.path(), &arguments, environment);
        drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let stderr = child.stderr.take().unwrap();
        let mut server = Self {
            directory,
            startup: Value::Null,
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

    /// Runs a command, split at spaces, on the database of the server.
    pub fn run(&self, line: &str) -> ExitedProcess {
        self.run_with_input(line, "")
    }

    /// Runs a command with this input.
    pub fn run_with_input(&self, line: &str, input: &str) -> ExitedProcess {
        self.directory.run_line(line, input)
    }

    /// Runs a command, which must succeed.
    pub fn run_ok(&self, line: &str) -> ExitedProcess {
        self.run_ok_with_input(line, "")
    }

    /// Runs a command with this input, which must succeed.
    pub fn run_ok_with_input(&self, line: &str, input: &str) -> ExitedProcess {
        let exited = self.run_with_input(line, input);
        assert_eq!(exited.status, 0, "{line} {exited:?}");
        exited
    }

    /// Removes the anti-flood limits of posts.
    pub fn remove_post_limits(&self) {
        self.run_ok("setting post.interval_seconds 0");
        self.run_ok("setting post.per_hour 1000000");
        self.run_ok("setting post.edits_per_hour 1000000");
    }

    /// Kills the server.
    pub fn kill(mut self) -> ServerDirectory {
        drop(self.child.kill());
        self.wait().0
    }

    /// Returns the administrator's password.
    pub fn password(&self) -> &str {
        self.startup["password"].as_str().unwrap()
    }

    /// Returns a token with all scopes.
    pub fn token(&self, owner: &str) -> String {
        match self.startup["token"].as_str() {
            Some(token) if owner == "alice" => token.into(),
            _ => self.issue_token(owner, "all"),
        }
    }

    /// Issues a token with these scopes, separated by commas.
    pub fn issue_token(&self, owner: &str, scopes: &str) -> String {
        let issue = format!("token issue --password-stdin --owner {owner} --scopes {scopes}");
        let issued = self.run_ok_with_input(&issue, self.password());
        issued.stdout.trim_end().into()
    }

    /// Returns the URL of a path below the API's base path.
    pub fn api_url(&self, path: &str) -> String {
        format!("{}{path}", self.startup["api"].as_str().unwrap())
    }

    /// Returns the URL of a path of the server.
    pub fn url(&self, path: &str) -> String {
        self.api_url("").replace("/api/v1", path)
    }

    /// Reads a path of the API with a token.
    pub fn get(&self, token: &str, path: &str) -> Response {
        self.send("GET", token, path, "")
    }

    /// Posts JSON to a path of the API with a token.
    pub fn post(&self, token: &str, path: &str, body: &Value) -> Response {
        self.send("POST", token, path, &body.to_string())
    }

    /// Sends JSON to a path of the API with a token.
    pub fn send(&self, method: &str, token: &str, path: &str, body: &str) -> Response {
        self.send_with(&[], method, token, path, body)
    }

    /// Sends JSON with more headers.
    pub fn send_with(
        &self,
        headers: &[(&str, &str)],
        method: &str,
        token: &str,
        path: &str,
        body: &str,
    ) -> Response {
        let bearer = format!("Bearer {token}");
        let own = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        client::send(method, &self.api_url(path), &[&own, headers].concat(), body)
    }

    /// Returns the directory of the process in `/proc`.
    pub fn proc_directory(&self) -> PathBuf {
        format!("/proc/{}", self.child.id()).into()
    }

    /// Returns the resident memory in KiB.
    pub fn resident_kib(&self) -> u64 {
        let status = std::fs::read_to_string(self.proc_directory().join("status")).unwrap();
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
        let _limit = kill_after_limit(&self.child);
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

    /// Sends SIGTERM and waits for the end with status 0. The server must not have logged an error.
    pub fn stop(self) -> ServerDirectory {
        let (directory, log) = self.stop_with_log();
        assert!(!log.contains(" ERROR ") && !log.contains("\"ERROR\""), "{log}");
        directory
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
