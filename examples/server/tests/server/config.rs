//! Values of options from the command line, the environment and a file.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::get;
use crate::program::{ExitedProcess, Server, ServerDirectory, start, wait};

/// Runs the program with this environment beside a file `forum.toml`.
fn run(file: &str, environment: &[(&str, &str)], line: &str) -> ExitedProcess {
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("forum.toml"), file).unwrap();
    let words: Vec<_> = line.split_whitespace().collect();
    wait(start(directory.path(), &words, environment))
}

#[test]
fn the_command_line_precedes_the_environment_and_the_environment_the_file() {
    let file = "token-budget = 1\nguest-budget = 2\nwindow = 3\nlisten = \":81\"\nno-worker = true\n\
                trusted-proxies = [\"10.0.0.0/8\", \"::1\"]\nwebhook-timeout = 1.5\n";
    let environment = [
        ("FORUM_CONFIG", "forum.toml"),
        ("FORUM_GUEST_BUDGET", "20"),
        ("FORUM_WINDOW", "30"),
        ("FORUM_CORS_ORIGIN", "https://a.example, https://b.example"),
        ("FORUM_DRAIN_DELAY", "5"),
        ("FORUM_REDIS", ""),
        ("FORUM_UNKNOWN", ""),
        ("FORUM_API_POSTGRES", "postgres://tests"),
        ("FORUM_TOKEN", "forum_pat_of_a_client"),
        ("FORUM_SERVICE_HOST", "10.0.0.2"),
        ("FORUM_TOKEN_BUGDET", "1"),
    ];
    let checked = run(file, &environment, "config check --window 300 --json");
    let warnings = BTreeSet::from_iter(checked.stderr.lines());
    let expected = [
        "warning: FORUM_SERVICE_HOST: unknown variable",
        "warning: FORUM_TOKEN_BUGDET: unknown variable; did you mean FORUM_TOKEN_BUDGET?",
    ];
    assert_eq!(warnings, BTreeSet::from(expected));
    let checked = checked.json();
    for (option, expected) in [
        ("token-budget", json!(["1"])),
        ("guest-budget", json!(["20"])),
        ("window", json!(["300"])),
        ("listen", json!([":81"])),
        ("no-worker", json!(["true"])),
        ("trusted-proxies", json!(["10.0.0.0/8", "::1"])),
        (
            "cors-origin",
            json!(["https://a.example", "https://b.example"]),
        ),
        ("webhook-timeout", json!(["1.5"])),
        ("redis", json!([])),
        ("max-connections", json!(["10000"])),
        ("max-connections-per-address", json!(["256"])),
        ("drain-delay", json!(["5"])),
        ("database", json!(["sqlite:forum.db"])),
    ] {
        assert_eq!(checked[option], expected, "{option}");
    }
    let table = run(file, &environment, "config check --window 300").stdout;
    for row in [
        "OPTION VALUE SOURCE",
        "token-budget 1 forum.toml",
        "guest-budget 20 FORUM_GUEST_BUDGET",
        "window 300 command line",
        "max-connections 10000 default",
        "redis - default",
    ] {
        let mut rows = table.lines().map(|line| {
            let cells: Vec<_> = line.split_whitespace().collect();
            cells.join(" ")
        });
        assert!(rows.any(|line| line == row), "{row}: {table}");
    }
}

#[test]
fn the_target_of_a_copy_is_configured_like_other_options() {
    let refused = |environment, line| {
        let file = "to = \"sqlite:other.db\"\ndatabase = \"sqlite:forum.db\"";
        run(file, environment, line).error_message().to_owned()
    };
    let same = "the databases are of the same kind";
    let configured = [("FORUM_CONFIG", "forum.toml")];
    assert!(refused(&configured, "copy").starts_with(same));
    let environment = [("FORUM_CONFIG", "forum.toml"), ("FORUM_TO", "mysql:1")];
    assert!(refused(&environment, "copy").starts_with("unsupported database URL"));
    assert!(refused(&environment, "copy --to sqlite:1").starts_with(same));
}

#[test]
fn an_invalid_configuration_is_refused_with_its_location() {
    let assert_refused = |file: &str, variable: Option<(&str, &str)>, reason: &str| {
        let configured = [("FORUM_CONFIG", "forum.toml")].into_iter();
        let environment: Vec<_> = configured.chain(variable).collect();
        let refused = run(file, &environment, "config check");
        assert!(refused.error_message().starts_with(reason), "{refused:?}");
        let refused = run(file, &environment, "config check --json");
        assert_eq!(refused.json(), json!({ "error": refused.error_message() }));
    };
    for (file, reason) in [
        (
            "token-buget = 1",
            "unknown option \"token-buget\"; did you mean \"token-budget\"?",
        ),
        ("config = \"x\"", "unknown option \"config\""),
        (
            "token-budget = 0",
            "token-budget: expected a whole number from 1 to 4294967295",
        ),
        ("language = \"fr\"", "language: expected one of en, de"),
        ("window = [1, 2]", "window: expected one value"),
        ("empty = \"perhaps\"", "empty: expected true or false"),
        ("[server]\nlisten = 1", "unknown option \"server\""),
    ] {
        assert_refused(file, None, &format!("forum.toml: {reason}"));
    }
    let repeated = "window = 1\nwindow = 2";
    assert_refused(repeated, None, "forum.toml, line 2: duplicate key");
    let hosts = "database = \"postgres://h/d\"\ndatabase-replica = [\"postgres://i/d\", \"postgres://u:p@j,k/d\"]";
    assert_refused(hosts, None, "a URL of --database-replica has one host");
    let unsupported = "database = \"mysql://x\"";
    assert_refused(unsupported, None, "unsupported database URL");
    for (variable, value, reason) in [
        (
            "FORUM_LISTEN",
            "board.example",
            "expected an address and a port, for example 127.0.0.1:8080, or a port",
        ),
        ("FORUM_NO_WORKER", "2", "expected true or false"),
        (
            "FORUM_BASE_URL",
            "http://localhost:99999",
            "expected http://… or https://… without username, path, query or fragment",
        ),
    ] {
        assert_refused(
            "",
            Some((variable, value)),
            &format!("{variable}: {reason}"),
        );
    }
    let missing = ("FORUM_CONFIG", "none.toml");
    let unreadable = "cannot read the configuration file \"none.toml\"";
    assert_refused("", Some(missing), unreadable);
    let replicas = ("FORUM_DATABASE_REPLICA", "postgres://i/d,sqlite:forum.db");
    let primary = "database = \"postgres://h/d\"";
    assert_refused(primary, Some(replicas), "invalid Postgres URL");
}

#[test]
fn a_weak_key_file_is_reported_with_a_warning() {
    let directory = ServerDirectory::in_sqlite();
    let key = directory.path().join("key");
    let key_options = ["--secret-key-file", "key"];
    for (text, mode, reasons) in [
        ("0123456789abcdef", 0o640, &[][..]),
        ("0123456789abcdef", 0o644, &["mode"]),
        ("aaaaaaaaaaaaaaaa\n", 0o600, &["repeated"]),
        ("aaaaaaaaaaaaaaaa", 0o604, &["mode", "repeated"]),
    ] {
        fs::write(&key, text).unwrap();
        fs::set_permissions(&key, Permissions::from_mode(mode)).unwrap();
        let checked = directory.run(&[&["config", "check"][..], &key_options].concat(), "");
        assert_eq!(checked.status, 0, "{checked:?}");
        let warnings: Vec<_> = checked.stderr.lines().collect();
        assert_eq!(warnings.len(), reasons.len(), "{checked:?}");
        for (warning, reason) in warnings.iter().zip(reasons) {
            assert!(warning.starts_with("warning: ") && warning.contains(reason));
        }
    }
    let options = [&key_options[..], &["--empty"]].concat();
    let (_, log) = Server::start(directory, &options).stop_with_log();
    assert_eq!(log.matches("weak key file").count(), 2, "{log}");
}

#[test]
fn passwords_of_urls_are_not_shown() {
    let file = "database = \"postgres://forum:s3cret@127.0.0.1:1,[::1]:2/forum\"\nredis = \"redis://:s3cret@127.0.0.1:1\"";
    for line in [
        "config check --config forum.toml",
        "config check --config forum.toml --json",
    ] {
        let checked = run(file, &[], line);
        assert_eq!(checked.status, 0, "{checked:?}");
        assert!(
            checked
                .stdout
                .contains("postgres://forum:***@127.0.0.1:1,[::1]:2/forum")
        );
        assert!(!format!("{checked:?}").contains("s3cret"), "{checked:?}");
    }
}

#[test]
fn serve_and_the_other_commands_read_the_same_configuration() {
    let directory = ServerDirectory::in_sqlite();
    let file =
        "database = \"sqlite:board.db\"\ntoken-budget = 77\nempty = true\nsurface = \"compact\"\n";
    fs::write(directory.path().join("forum.toml"), file).unwrap();
    let environment = [("FORUM_CONFIG", "forum.toml")];
    let server = Server::start_with(directory, &[], &environment, "");
    let run = |line: &str, input: &str| {
        let words: Vec<_> = line.split(' ').collect();
        let mut child = start(server.directory.path(), &words, &environment);
        let mut stdin = child.stdin.take().unwrap();
        std::io::Write::write_all(&mut stdin, input.as_bytes()).unwrap();
        drop(stdin);
        wait(child)
    };
    let issue = "token issue --owner admin --scopes admin:read --password-stdin";
    let issued = run(issue, server.password());
    let forums = server.get(issued.stdout.trim_end(), "/forums");
    assert_eq!(forums.header("x-ratelimit-limit"), Some("77"));
    assert_eq!(
        run("openapi", "").stdout,
        run("openapi --surface compact", "").stdout
    );
    assert_eq!(get(&server.url("/health")).status, 200);
    assert_eq!(
        server.directory.files().first().map(String::as_str),
        Some("board.db")
    );
    assert_ne!(server.startup["password"], Value::Null);
}
