//! What serving prints, and what it does to the database.

use std::net::TcpListener;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client;
use crate::program::{Home, Server, run};

#[test]
fn six_keys_tell_a_program_where_everything_is() {
    let server = Server::new(&[]);
    let Value::Object(keys) = &server.greeting else {
        panic!("{}", server.greeting)
    };
    let names = ["api", "docs", "panel", "password", "token", "user"];
    assert_eq!(keys.keys().collect::<Vec<_>>(), names);
    assert!(server.api("").starts_with("http://127.0.0.1:") && server.api("").ends_with("/api/v1"));
    assert_eq!(
        (&keys["docs"], &keys["panel"], &keys["user"]),
        (
            &json!(server.beside("/docs")),
            &json!(server.beside("/panel")),
            &json!("admin")
        )
    );
    let me = server.get(keys["token"].as_str().unwrap(), "/me").json();
    assert_eq!(me["owner"]["username"], "alice");
    assert_eq!(me["scopes"].as_array().unwrap().len(), 13);
}

#[test]
fn the_printed_lines_work_when_they_are_pasted() {
    for (arguments, statuses) in [
        (vec![], [200, 200, 201]),
        (vec!["--surface", "compact"], [200, 200, 201]),
    ] {
        let mut lines = 0;
        let (server, text) = Server::greet(Home::new(), &[], &arguments, "", |line| {
            lines += usize::from(line.starts_with("curl "));
            lines == 3
        });
        let lines = text.lines().filter(|line| line.starts_with("curl "));
        assert_eq!(lines.map(paste).collect::<Vec<_>>(), statuses, "{text}");
        for printed in [
            "/health",
            "/panel",
            "/api/v1/openapi.json",
            "admin, password ",
            "forum_pat_",
        ] {
            assert!(text.contains(printed), "{text}");
        }
        drop(server);
    }
}

/// Sends what a `curl` line would send; gives the status.
fn paste(line: &str) -> u16 {
    let quoted = line
        .split('\'')
        .enumerate()
        .flat_map(|(part, text)| match part % 2 {
            1 => vec![text],
            _ => text.split_whitespace().collect(),
        });
    let (mut method, mut headers, mut body, mut url) = ("GET", Vec::new(), "", "");
    let mut words = quoted.skip(1);
    while let Some(word) = words.next() {
        match word {
            "-H" => headers.extend(words.next().unwrap().split_once(": ")),
            "-d" => (method, body) = ("POST", words.next().unwrap()),
            address => url = address,
        }
    }
    client::send(method, url, &headers, body).status
}

#[test]
fn a_database_that_is_there_is_served_as_it_is() {
    let first = Server::new(&[]);
    let (token, new) = (
        first.greeting["token"].clone(),
        json!({ "body": "I stay." }),
    );
    let token = token.as_str().unwrap();
    let (_, threads) = (
        first.get(token, "/forums/2/threads").status,
        first.get(token, "/forums/2/threads").json(),
    );
    let posts = format!(
        "/threads/{}/posts",
        threads["items"][0]["threadId"].as_str().unwrap()
    );
    assert_eq!(first.post(token, &posts, &new).status, 201);
    let second = Server::with_input(
        first.stop(),
        &["--admin-password-stdin", "--empty"],
        "ignored\n",
    );
    assert_eq!(
        (&second.greeting["password"], &second.greeting["token"]),
        (&json!(null), &json!(null))
    );
    assert_eq!(second.greeting["user"], "admin");
    let kept = second.get(token, &posts).json();
    assert_eq!(
        kept["items"].as_array().unwrap().last().unwrap()["body"],
        "I stay."
    );
    second.signal("TERM");
    let (_, _, log) = second.wait();
    assert!(
        log.contains("WARN") && log.contains("--admin-password-stdin is ignored"),
        "{log}"
    );
}

#[test]
fn an_empty_board_has_its_administrator_and_nothing_else() {
    let server = Server::new(&["--empty"]);
    assert_eq!(server.greeting["token"], json!(null));
    let token = &server.token("admin");
    assert_eq!(
        server.get(token, "/me").json()["owner"]["username"],
        "admin"
    );
    assert_eq!(server.get(token, "/forums").json(), json!({ "items": [] }));
    assert_eq!(server.get(token, "/members/@alice").status, 404);
}

#[test]
fn the_administrators_password_can_be_given() {
    let server = Server::with_input(
        Home::new(),
        &["--admin-password-stdin"],
        "ünlikely 1\nmore\n",
    );
    assert_eq!(server.greeting["password"], json!(null));
    let issue = "token issue --owner bob --scopes all --password-stdin";
    let issue: Vec<_> = issue.split(' ').collect();
    assert_eq!(server.command_with(&issue, "ünlikely 1\n").status, 0);
    assert_eq!(server.command_with(&issue, "ünlikely 2\n").status, 1);
    let refused = run(
        TempDir::new().unwrap().path(),
        &["--admin-password-stdin", "--listen", "127.0.0.1:0"],
        "\n",
    );
    assert_eq!(refused.refusal(), "expected a password on standard input");
}

#[test]
fn a_board_in_memory_leaves_no_file() {
    let server = Server::new(&["--database", "sqlite::memory:"]);
    assert_eq!(client::get(&server.api("/forums")).status, 200);
    assert_eq!(server.home.files().len(), 0);
}

#[test]
fn what_cannot_be_served_is_refused_in_one_sentence() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let directory = TempDir::new().unwrap();
    std::fs::write(
        directory.path().join("text"),
        "This is no database, but long enough to be one.".repeat(99),
    )
    .unwrap();
    for (arguments, reason) in [
        (
            ["--listen", &address],
            format!("{address} cannot be listened on"),
        ),
        (
            ["--database", "sqlite:no/such/directory.db"],
            "the directory of".into(),
        ),
        (["--database", "sqlite:text"], "is not a database".into()),
        (["--database", "sqlite:."], "is a directory".into()),
        (["--database", "sqlite:"], "expected sqlite:PATH".into()),
        (
            ["--database", "mysql://localhost/forum"],
            "expected sqlite:PATH".into(),
        ),
        (
            ["--redis", "http://localhost"],
            "expected the address of a Redis".into(),
        ),
    ] {
        let listen: &[&str] = match arguments[0] {
            "--listen" => &[],
            _ => &["--listen", "127.0.0.1:0"],
        };
        let ended = run(directory.path(), &[&arguments, listen].concat(), "");
        assert!(ended.refusal().contains(&reason), "{ended:?}");
        let as_json = run(
            directory.path(),
            &[&arguments, listen, &["--json"]].concat(),
            "",
        );
        assert_eq!(as_json.json(), json!({ "error": as_json.refusal() }));
    }
    assert!(!directory.path().join("forum.db").exists());
}

#[test]
fn options_of_serve_may_precede_or_follow_the_command() {
    let home = Home::new();
    let arguments = ["--trusted-proxies", "10.0.0.0/8,::1", "serve", "--empty"];
    let server = Server::with_input(home, &arguments, "");
    assert_eq!(server.greeting["token"], Value::Null);
    let twice = [
        "--listen",
        "127.0.0.1:0",
        "serve",
        "--listen",
        "127.0.0.1:0",
    ];
    assert_eq!(server.command(&twice).status, 2);
    assert_eq!(server.command(&["serve", "--no-such-option"]).status, 2);
}

#[test]
fn a_first_start_that_fails_leaves_nothing_behind() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let home = Home::in_sqlite();
    for arguments in [
        ["--listen", &address],
        ["--secret-key-file", "none"],
        ["--redis", "nonsense"],
    ] {
        let listen = ["--listen", "127.0.0.1:0"];
        let rest = if arguments[0] == "--listen" {
            &[][..]
        } else {
            &listen
        };
        let refused = home.run(&[&arguments[..], rest].concat(), "");
        assert_eq!(refused.status, 1, "{refused:?}");
        assert_eq!(home.files().len(), 0, "{arguments:?}");
    }
    let server = Server::with_input(home, &[], "");
    assert!(server.greeting["password"].is_string());
}
