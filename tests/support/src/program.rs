//! The program: run to its end, or served in a directory of its own.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};

use serde_json::Value;

use crate::client::{self, Answer};
pub use crate::databases;
pub use crate::home::Home;

/// What a run left behind.
#[derive(Debug)]
pub struct Ended {
    /// Its exit status.
    pub status: i32,
    /// Its standard output.
    pub out: String,
    /// Its standard error.
    pub err: String,
}

impl Ended {
    /// The one line on standard output as JSON.
    pub fn json(&self) -> Value {
        assert_eq!(self.out.lines().count(), 1, "{self:?}");
        serde_json::from_str(&self.out).unwrap()
    }

    /// That it was refused in one sentence, which is given back.
    pub fn refusal(&self) -> &str {
        assert_eq!((self.status, self.err.lines().count()), (1, 1), "{self:?}");
        self.err.trim_end().strip_prefix("error: ").unwrap()
    }
}

/// Runs the program in `directory` until it ends.
pub fn run(directory: &Path, arguments: &[impl AsRef<OsStr>], input: &str) -> Ended {
    let mut child = start(directory, arguments, &[]);
    // One that is refused early reads nothing.
    drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
    ended(child)
}

/// Starts the program in `directory`; nobody reads what it says yet.
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

/// Reads what it says, to its end.
pub fn ended(child: Child) -> Ended {
    let output = child.wait_with_output().unwrap();
    Ended {
        status: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A command that goes on beside a server.
#[derive(Debug)]
pub struct Beside(Child);

impl Beside {
    /// Tells it to stop, and gives what it left behind.
    pub fn stop(self) -> Ended {
        signal(&self.0, "TERM");
        ended(self.0)
    }
}

/// Returns the path of the example server, which cargo builds beside the directory of the test binaries.
pub fn server() -> PathBuf {
    let mut path = example("");
    path.pop();
    path.set_file_name(format!("forum-server{}", std::env::consts::EXE_SUFFIX));
    path
}

/// Where an example is: beside the directory that this test binary is in.
pub fn example(name: &str) -> PathBuf {
    let this = std::env::current_exe().unwrap();
    let profile = this.parent().and_then(Path::parent).unwrap();
    profile
        .join("examples")
        .join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

/// A server that runs, in a home that goes with it.
#[derive(Debug)]
pub struct Server {
    /// Where it runs.
    pub home: Home,
    /// What it printed when it listened.
    pub greeting: Value,
    child: Child,
    /// Reads what it logs: a pipe that nobody reads is full soon, and then the server waits.
    log: Option<JoinHandle<String>>,
}

impl Server {
    /// Starts one with a new database.
    pub fn new(arguments: &[&str]) -> Self {
        Self::with_input(Home::new(), arguments, "")
    }

    /// Starts one in a home that may have a board, with this on standard input.
    pub fn with_input(home: Home, arguments: &[&str], input: &str) -> Self {
        Self::with_environment(home, &[], arguments, input)
    }

    /// The same, with these variables in its environment.
    pub fn with_environment(
        home: Home,
        environment: &[(&str, &str)],
        arguments: &[&str],
        input: &str,
    ) -> Self {
        let arguments = [&["--json"], arguments].concat();
        let (mut server, text) = Self::greet(home, environment, &arguments, input, |_| true);
        server.greeting = serde_json::from_str(&text).unwrap();
        server
    }

    /// Starts one, and gives what it printed up to the line that is the `last`.
    pub fn greet(
        home: Home,
        environment: &[(&str, &str)],
        arguments: &[&str],
        input: &str,
        mut last: impl FnMut(&str) -> bool,
    ) -> (Self, String) {
        let arguments = [&["--listen", "127.0.0.1:0"], arguments].concat();
        let arguments = [
            home.arguments(&arguments),
            home.budgets().into_iter().collect(),
        ]
        .concat();
        let mut child = start(home.path(), &arguments, environment);
        drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let stderr = child.stderr.take().unwrap();
        let mut server = Self {
            home,
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

    /// Runs a command beside it, on its database.
    pub fn command(&self, arguments: &[&str]) -> Ended {
        self.command_with(arguments, "")
    }

    /// Runs a command with this on standard input.
    pub fn command_with(&self, arguments: &[&str], input: &str) -> Ended {
        self.home.run(arguments, input)
    }

    /// Runs a command at a pseudo-terminal, answers its `prompt` with `answer`, and returns its output.
    pub fn at_a_terminal(&self, prompt: &str, answer: &str, arguments: &[&str]) -> String {
        let program = server();
        let line: Vec<String> = std::iter::once(program.to_str().unwrap())
            .chain(self.home.arguments(arguments).iter().map(AsRef::as_ref))
            .map(|argument| format!("'{argument}'"))
            .collect();
        let mut child = Command::new("script")
            .args([
                "--quiet",
                "--return",
                "--command",
                &line.join(" "),
                "/dev/null",
            ])
            .current_dir(self.home.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("`script` of util-linux is installed");
        let (mut output, mut input) = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
        let mut read = Vec::new();
        while !String::from_utf8_lossy(&read).contains(prompt) {
            let mut byte = [0];
            output.read_exact(&mut byte).expect("the command prompts");
            read.push(byte[0]);
        }
        writeln!(input, "{answer}").unwrap();
        let rest = io::read_to_string(output).unwrap();
        assert!(child.wait().unwrap().success(), "{rest}");
        rest
    }

    /// Starts a command beside it that goes on until it is told to stop.
    pub fn beside_it(&self, arguments: &[&str]) -> Beside {
        let arguments = self.home.arguments(arguments);
        Beside(start(self.home.path(), &arguments, &[]))
    }

    /// Ends it at once, wherever it is, and gives its home.
    pub fn kill(mut self) -> Home {
        drop(self.child.kill());
        self.wait().0
    }

    /// Issues a token with all scopes.
    pub fn token(&self, owner: &str) -> String {
        self.token_with(owner, "all")
    }

    /// Issues a token with these scopes, which stand between commas.
    pub fn token_with(&self, owner: &str, scopes: &str) -> String {
        let arguments = [
            "token",
            "issue",
            "--owner",
            owner,
            "--scopes",
            scopes,
            "--password-stdin",
        ];
        let issued = self.command_with(&arguments, self.greeting["password"].as_str().unwrap());
        assert_eq!(issued.status, 0, "{issued:?}");
        issued.out.trim_end().into()
    }

    /// The address of a path below the API's.
    pub fn api(&self, path: &str) -> String {
        format!("{}{path}", self.greeting["api"].as_str().unwrap())
    }

    /// The address of a path beside the API's.
    pub fn beside(&self, path: &str) -> String {
        self.api("").replace("/api/v1", path)
    }

    /// What a path of the API answers to a token.
    pub fn get(&self, token: &str, path: &str) -> Answer {
        self.ask("GET", token, path, "")
    }

    /// What posting JSON answers to a token.
    pub fn post(&self, token: &str, path: &str, body: &Value) -> Answer {
        self.ask("POST", token, path, &body.to_string())
    }

    /// What a request with a JSON body answers to a token.
    pub fn ask(&self, method: &str, token: &str, path: &str, body: &str) -> Answer {
        let bearer = format!("Bearer {token}");
        let headers = [
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
        ];
        client::send(method, &self.api(path), &headers, body)
    }

    /// What the kernel tells of its process.
    pub fn process(&self) -> PathBuf {
        format!("/proc/{}", self.child.id()).into()
    }

    /// What it has in memory, in kB.
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

    /// Waits for its end; gives its home, its status and its log.
    pub fn wait(mut self) -> (Home, ExitStatus, String) {
        let log = self.log();
        let status = self.child.wait().unwrap();
        let home = std::mem::replace(&mut self.home, Home::in_sqlite());
        (home, status, log)
    }

    /// Tells it to stop, and gives its home back.
    pub fn stop(self) -> Home {
        self.signal("TERM");
        let (home, status, log) = self.wait();
        assert!(status.success(), "{log}");
        home
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
