//! Recorded command lines: each file `cases/*.session` is a session on a board of its own.
//!
//! A line `> FILE TEXT` writes a file, and a line `% SQL` changes the database. A line `$ ARGUMENTS < INPUT` runs the
//! program, with the variables that precede the arguments. The following lines are its stdout, its stderr after `! `, and an
//! exit status that is not 0. Of the output of a usage error, only the first line is recorded. Secrets, ids, times and
//! the system user become placeholders, which commands may use. `SNAPSHOTS=overwrite cargo test` replaces the recorded
//! output.

use std::io::Write as _;

use forum_test_support::recorded::assert_recorded;
use regex::Regex;

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
                Server::start(directory, &["--empty", "--no-worker", "--secret-key-file", "key"])
                    .stop()
            }
            "# board: demo" => {
                let (directory, greeting) = ServerDirectory::with_demo_board();
                let password = greeting["password"].as_str().unwrap();
                let token = greeting["token"].as_str().unwrap();
                names.push((password.into(), "[PASSWORD]".into()));
                names.push((token[10..26].into(), "[LOOKUP-0]".into()));
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
        let mut named = line.to_owned();
        for (value, name) in &self.names {
            named = named.replace(name, value);
        }
        let (command, input) = named.split_once(" < ").unwrap_or((&named, ""));
        let words: Vec<_> = command
            .split('\'')
            .enumerate()
            .flat_map(|(part, text)| match part % 2 {
                1 => vec![text],
                _ => text.split_whitespace().collect(),
            })
            .collect();
        let ExitedProcess { status, stdout, stderr } = self.run_program(&words, input);
        let mut text = String::new();
        for line in stdout.lines() {
            text += &format!("  {line}\n");
        }
        let max_lines = if status == 2 { 1 } else { usize::MAX };
        for line in stderr.lines().take(max_lines) {
            text += &format!("  ! {line}\n");
        }
        if status != 0 {
            text += &format!("  [status {status}]\n");
        }
        self.redact(&text.replace("  \n", ""))
    }

    fn run_program(&self, words: &[&str], input: &str) -> ExitedProcess {
        let variables: Vec<_> = words
            .iter()
            .take_while(|word| word.starts_with("FORUM_"))
            .map_while(|word| word.split_once('='))
            .collect();
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
                let number =
                    1 + self.names.iter().filter(|(_, name)| name.starts_with(&prefix)).count();
                let name = format!("{prefix}{number}]");
                self.names.push((found.into(), name));
                if kind == "TOKEN" {
                    let lookup = found[10..26].to_owned();
                    self.names.push((lookup, format!("[LOOKUP-{number}]")));
                }
            }
        }
        let mut renamed = text.to_owned();
        for (value, name) in &self.names {
            renamed = renamed.replace(value, name);
        }
        let redacted = self.time.replace_all(&renamed, "[TIME]");
        if !redacted.contains("[USER]  ") {
            return redacted.into_owned();
        }
        self.gap.replace_all(&redacted, "$1  ").into_owned()
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
    assert_recorded(replayed, path);
    if recorded.starts_with("# board: none") {
        let written = recorded
            .lines()
            .filter_map(|line| line.strip_prefix("> "))
            .filter_map(|file| Some(file.split_once(' ')?.0.to_owned()))
            .collect();
        assert_eq!(BTreeSet::from_iter(session.directory.files()), written, "{path:?}");
    }
}

#[test]
fn commands_print_the_recorded_output() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let cases: Vec<_> = directory.read_dir().unwrap().map(|case| case.unwrap().path()).collect();
    assert!(!cases.is_empty());
    std::thread::scope(|scope| {
        for case in &cases {
            scope.spawn(|| replay(case));
        }
    });
}
