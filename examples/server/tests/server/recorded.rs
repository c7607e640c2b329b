//! Recorded command lines: each file of `cases/` is a session on a board of its own.
//!
//! A line `> FILE TEXT` writes a file, and a line `% SQL` changes the database. A line `$ ARGUMENTS < INPUT` runs the
//! program, with the variables that precede the arguments. The following lines are its stdout, its stderr after `! `, and an
//! exit status that is not 0. Of the output of a usage error, only the first line is recorded. Secrets, ids, times and
//! the system user become placeholders, which commands may use. `SNAPSHOTS=overwrite cargo test` replaces the recorded
//! output.

use std::io::Write as _;

use regex::Regex;
use snapbox::{Assert, Data};

use crate::prelude::*;

/// Patterns of the texts that numbered placeholders replace.
const NUMBERED_PLACEHOLDERS: [(&str, &str); 5] = [
    ("TOKEN", r"forum_pat_[0-9A-Za-z]+_[0-9A-Za-z]+"),
    ("SECRET", r"whsec_[0-9A-Za-z+/=_-]+"),
    ("ENDPOINT", r"whe_[0-9A-Za-z]{10,}"),
    ("EVENT", r"evt_[0-9A-Za-z]{10,}"),
    ("DELIVERY", r"dlv_[0-9A-Za-z]{10,}"),
];

struct Session {
    directory: ServerDirectory,
    /// Texts and their placeholders.
    names: Vec<(String, String)>,
    time: Regex,
    /// The end of a column, whose width can depend on the user.
    gap: Regex,
}

impl Session {
    fn new(board: &str) -> Self {
        let mut names = Vec::new();
        let directory = match board {
            "# board: none" => ServerDirectory::in_sqlite(),
            "# board: empty" => Server::new(&["--empty", "--no-worker"]).stop(),
            "# board: encrypted" => {
                let directory = ServerDirectory::new();
                fs::write(directory.path().join("key"), [7; 32]).unwrap();
                let options = ["--empty", "--no-worker", "--secret-key-file", "key"];
                Server::start(directory, &options).stop()
            }
            "# board: demo" => {
                let (directory, greeting) = ServerDirectory::with_demo_board();
                let [password, token] = ["password", "token"].map(|key| &greeting[key]);
                names.push((password.as_str().unwrap().into(), "[PASSWORD]".into()));
                names.push((token.as_str().unwrap()[10..26].into(), "[LOOKUP-0]".into()));
                directory
            }
            _ => panic!("expected a board, not {board}"),
        };
        let id = |option: &str| {
            let output = Command::new("id").arg(option).output().unwrap().stdout;
            String::from_utf8(output).unwrap().trim().to_owned()
        };
        let user = format!("uid {} ({})", id("-ru"), id("-run"));
        names.push((user, "[USER]".into()));
        let regex = |pattern| Regex::new(pattern).unwrap();
        Self {
            directory,
            names,
            time: regex(r"\d{4}-\d\d-\d\d(T[\d:.]+Z)?"),
            gap: regex(r"(\S) {2,}"),
        }
    }

    /// Runs a command, and returns its output as it is recorded.
    fn run(&mut self, line: &str) -> String {
        let names = self.names.iter();
        let line = names.fold(line.to_owned(), |line, (value, name)| line.replace(name, value));
        let (line, input) = line.split_once(" < ").unwrap_or((&line, ""));
        let words: Vec<_> = line
            .split('\'')
            .enumerate()
            .flat_map(|(part, text)| match part % 2 {
                1 => vec![text],
                _ => text.split_whitespace().collect(),
            })
            .collect();
        let ExitedProcess { status, stdout: out, stderr: err } = self.run_program(&words, input);
        let out = out.lines().map(|line| format!("  {line}\n"));
        let lines = if status == 2 { 1 } else { usize::MAX };
        let err = err.lines().take(lines).map(|line| format!("  ! {line}\n"));
        let status = (status != 0).then(|| format!("  [status {status}]\n"));
        let text: String = out.chain(err).chain(status).collect();
        self.redact(&text.replace("  \n", ""))
    }

    fn run_program(&self, words: &[&str], input: &str) -> ExitedProcess {
        let variables = words.iter().map_while(|word| {
            let is_variable = word.starts_with("FORUM_");
            word.split_once('=').filter(|_| is_variable)
        });
        let variables: Vec<_> = variables.collect();
        let arguments = self.directory.arguments(&words[variables.len()..]);
        let mut child = start(self.directory.path(), &arguments, &variables);
        drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
        wait(child)
    }

    fn write(&self, file: &str) {
        let (name, text) = file.split_once(' ').unwrap();
        let text = text.replace("\\n", "\n");
        fs::write(self.directory.path().join(name), text).unwrap();
    }

    fn redact(&mut self, text: &str) -> String {
        for (kind, pattern) in NUMBERED_PLACEHOLDERS {
            for found in Regex::new(pattern).unwrap().find_iter(text) {
                let found = found.as_str();
                if self.names.iter().any(|(value, _)| value == found) {
                    continue;
                }
                let prefix = format!("[{kind}-");
                let names = self.names.iter();
                let number = 1 + names.filter(|(_, name)| name.starts_with(&prefix)).count();
                let name = format!("{prefix}{number}]");
                self.names.push((found.into(), name));
                if kind == "TOKEN" {
                    let lookup = found[10..26].to_owned();
                    self.names.push((lookup, format!("[LOOKUP-{number}]")));
                }
            }
        }
        let names = self.names.iter();
        let renamed = names.fold(text.to_owned(), |text, (value, name)| text.replace(value, name));
        let text = self.time.replace_all(&renamed, "[TIME]");
        if !text.contains("[USER]  ") {
            return text.into_owned();
        }
        self.gap.replace_all(&text, "$1  ").into_owned()
    }
}

fn replay(path: &Path) {
    let recorded = fs::read_to_string(path).unwrap();
    let mut session = Session::new(recorded.lines().next().unwrap());
    let mut replayed = String::new();
    for line in recorded.lines().filter(|line| !line.starts_with("  ")) {
        replayed.push_str(line);
        replayed.push('\n');
        if let Some(command) = line.strip_prefix("$ ") {
            replayed.push_str(&session.run(command));
        } else if let Some(change) = line.strip_prefix("% ") {
            session.directory.execute(change);
        } else if let Some(file) = line.strip_prefix("> ") {
            session.write(file);
        }
    }
    let assert = Assert::new().action_env("SNAPSHOTS");
    assert.eq(replayed, Data::read_from(path, None).raw());
    if recorded.starts_with("# board: none") {
        let lines = recorded.lines().filter_map(|line| line.strip_prefix("> "));
        let written = lines.filter_map(|line| Some(line.split_once(' ')?.0.to_owned()));
        let files = BTreeSet::from_iter(session.directory.files());
        assert_eq!(files, written.collect(), "{path:?}");
    }
}

#[test]
fn commands_print_the_recorded_output() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let cases = cases.read_dir().unwrap().map(|case| case.unwrap().path());
    let cases: Vec<_> = cases.collect();
    assert!(!cases.is_empty());
    std::thread::scope(|scope| {
        for case in &cases {
            scope.spawn(|| replay(case));
        }
    });
}
