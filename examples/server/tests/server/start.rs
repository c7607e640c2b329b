//! Start and end of the server, and the state of its database.

use std::io::{BufRead, BufReader};

use forum_test_support::free_port;
use tempfile::TempDir;

use crate::node::Node;
use crate::postgres::run_with_postgres;
use crate::prelude::*;

const LISTEN: [&str; 2] = ["--listen", "127.0.0.1:0"];

#[test]
fn serve_prints_its_addresses() {
    let server = Server::start(ServerDirectory::new(), &[]);
    let keys: Vec<_> = server.startup.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["api", "docs", "panel", "password", "token", "user"]);
    for (key, expected) in [
        ("api", server.url("/api/v1")),
        ("docs", server.url("/docs")),
        ("panel", server.url("/panel")),
        ("user", "admin".into()),
    ] {
        assert_eq!(server.startup[key], expected);
    }
    let me = server.get(&server.token("alice"), "/me").json();
    assert_eq!(me["owner"]["username"], "alice");
    assert_eq!(me["scopes"].as_array().unwrap().len(), 13);
    let elsewhere = Server::new(&["--empty", "--base-url", "https://board.example/"]);
    assert_eq!(elsewhere.startup["api"], "https://board.example/api/v1");
    // 120 random bits.
    assert_eq!(server.password().len(), 20);
    assert_ne!(server.password(), elsewhere.password());
}

#[test]
fn an_unspecified_address_without_a_base_url_is_reported() {
    let directory = ServerDirectory::in_sqlite();
    let arguments = ["--listen", "0.0.0.0:0", "--empty", "--json"];
    let mut child = start(directory.path(), &arguments, &[]);
    let mut startup = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut startup).unwrap();
    assert!(startup.contains("\"api\":\"http://127.0.0.1:"), "{startup}");
    // Other machines reach the server, which sends no webhooks to its own.
    directory
        .run(&["webhook", "add", "http://127.0.0.1:1/"], "")
        .assert_error("the address 127.0.0.1 is loopback");
    signal(&child, "TERM");
    let log = wait(child).stderr;
    assert!(log.contains("WARN") && log.contains("set --base-url"), "{log}");
}

#[test]
fn the_printed_calls_work_on_either_surface() {
    for surface in ["full", "compact"] {
        let mut calls = 0;
        let last = |line: &str| {
            calls += usize::from(line.starts_with("curl "));
            calls == 3
        };
        let arguments = ["--surface", surface];
        let (_server, text) =
            Server::start_until(ServerDirectory::new(), &arguments, &[], "", last);
        let calls = text.lines().filter(|line| line.starts_with("curl "));
        assert_eq!(calls.map(run_curl).collect::<Vec<_>>(), [200, 200, 201]);
        for printed in [
            "/health",
            "/panel",
            "/openapi.json",
            "admin, password ",
            "token     forum_pat_",
            "The sign-in data and the token are not shown again.",
        ] {
            assert!(text.contains(printed), "{text}");
        }
    }
}

/// Sends the request of a `curl` line. Returns the status.
fn run_curl(line: &str) -> u16 {
    let mut words = line.split('\'').enumerate().flat_map(|(part, text)| match part % 2 {
        1 => vec![text],
        _ => text.split_whitespace().skip(usize::from(part == 0)).collect(),
    });
    let mut method = "GET";
    let mut headers = Vec::new();
    let mut body = "";
    let mut url = "";
    while let Some(word) = words.next() {
        match word {
            "-H" => headers.extend(words.next().unwrap().split_once(": ")),
            "-d" => (method, body) = ("POST", words.next().unwrap()),
            address => url = address,
        }
    }
    send(method, url, &headers, body).status
}

#[test]
fn an_existing_board_is_served_unchanged() {
    let first = Server::new(&[]);
    let token = first.token("alice");
    let reply = json!({ "body": "I stay." });
    assert_eq!(first.post(&token, "/threads/1/posts", &reply).status, 201);
    for setting in ["thread.title_max 77", "post.interval_seconds 0"] {
        first.run_ok(&format!("setting {setting}"));
    }
    let source = "https://board.example/ask";
    let options = ["--admin-password-stdin", "--empty", "--token-source", source];
    let second = Server::start_with(first.stop(), &options, &[], "ignored\n");
    for key in ["password", "token"] {
        assert_eq!(second.startup[key], Value::Null);
    }
    let posts = second.get(&token, "/threads/1/posts?limit=100");
    assert!(posts.body.contains("I stay."), "{posts:?}");
    let document = get(&second.api_url("/openapi.json")).json();
    let title = &document["components"]["schemas"]["ThreadInput"]["properties"]["title"];
    assert_eq!(title["maxLength"], 77);
    let scheme = document["components"]["securitySchemes"]["bearerAuth"].to_string();
    assert!(scheme.contains(&format!("get a token at <{source}>.")));
    let introduction = document["info"]["description"].as_str().unwrap();
    let (_, chapter) = introduction.split_once("## This board\n").unwrap();
    let (chapter, _) = chapter.split_once("\n## ").unwrap();
    for (part, is_stated) in [
        ("Markdown", true),
        ("at most 77 characters", true),
        ("at most 20000 ", true),
        ("between two posts", false),
    ] {
        assert_eq!(chapter.contains(part), is_stated, "{part}: {chapter}");
    }
    let (_, log) = second.stop_with_log();
    assert!(log.contains("WARN") && log.contains("--admin-password-stdin ignored"));
}

#[test]
fn a_second_server_of_a_database_logs_a_warning() {
    let first = Server::start(ServerDirectory::in_sqlite(), &[]);
    let log_of_start = |directory: &ServerDirectory, options: &[&str]| {
        let mut child = start(directory.path(), &[&LISTEN[..], options].concat(), &[]);
        let log = wait_for_line(child.stderr.take().unwrap(), "server started");
        child.kill().unwrap();
        child.wait().unwrap();
        log.join().unwrap()
    };
    let address = first.url("").replace("http://", "");
    let log = log_of_start(&first.directory, &[]);
    assert!(log.contains("another server uses the database"), "{log}");
    assert!(log.contains(&format!(" on {address}")), "{log}");
    let log = log_of_start(&first.directory, &["--redis", "redis://127.0.0.1:1"]);
    assert!(!log.contains("another server"), "{log}");
    let log = log_of_start(&first.kill(), &[]);
    assert!(!log.contains("another server"), "{log}");
}

#[test]
fn servers_that_start_together_create_one_board() {
    let database = Database::new();
    let directory = TempDir::new().unwrap();
    let url = database.url();
    let serve = |number: usize| {
        let log = directory.path().join(number.to_string());
        Node::serve(&log, &["--database", &url])
    };
    let started = thread::scope(|scope| {
        let starting = [0, 1, 2, 3].map(|number| scope.spawn(move || serve(number)));
        starting.map(|server| server.join().unwrap())
    });
    let passwords = started.iter().map(|(_, startup)| &startup["password"]);
    assert_eq!(passwords.filter(|password| password.is_string()).count(), 1);
}

#[test]
fn an_empty_board_has_only_its_administrator() {
    let arguments =
        ["--trusted-proxies", "10.0.0.0/8,::1", "serve", "--empty", "--admin-password-stdin"];
    let input = "ünlikely 1\r\nmore\n";
    let server = Server::start_with(ServerDirectory::new(), &arguments, &[], input);
    for key in ["password", "token"] {
        assert_eq!(server.startup[key], Value::Null);
    }
    let issued = server.run_ok_with_input(
        "token issue --owner admin --scopes all --password-stdin",
        "ünlikely 1\n",
    );
    let token = issued.stdout.trim_end();
    let me = server.get(token, "/me").json();
    assert_eq!(me["owner"]["username"], "admin");
    assert_eq!(server.get(token, "/forums").json(), json!({ "items": [] }));
    assert_eq!(server.get(token, "/members/@alice").status, 404);
}

#[test]
fn a_board_in_memory_leaves_no_file() {
    let server = Server::new(&["--database", "sqlite::memory:"]);
    assert_eq!(get(&server.api_url("/forums")).status, 200);
    assert!(server.directory.files().is_empty());
    let (_, log) = server.stop_with_log();
    assert!(!log.contains("stored in plain text"), "{log}");
}

#[test]
fn the_log_names_a_created_database() {
    let (directory, log) =
        Server::start(ServerDirectory::in_sqlite(), &["--empty"]).stop_with_log();
    assert!(log.contains("database created"), "{log}");
    let (_, log) = Server::start(directory, &[]).stop_with_log();
    assert!(!log.contains("database created"), "{log}");
}

#[test]
fn files_of_other_programs_are_not_changed() {
    let directory = ServerDirectory::in_sqlite();
    let file = directory.path().join("forum.db");
    let other = Connection::open(&file).unwrap();
    other.execute_batch("CREATE TABLE member (x)").unwrap();
    drop(other);
    let before = fs::read(&file).unwrap();
    directory.run(&["token", "list"], "").assert_error("contains no board");
    assert_eq!(directory.files(), ["forum.db"]);
    assert_eq!(fs::read(&file).unwrap(), before);
    let refused = directory.run(&LISTEN, "");
    assert_eq!(refused.error_message(), "table member already exists");
    let text = "This is a text, and long enough for a database.".repeat(99);
    fs::write(directory.path().join("text"), text).unwrap();
    directory
        .run(&[&LISTEN[..], &["--database", "sqlite:text"]].concat(), "")
        .assert_error("is not a SQLite database");
}

#[test]
fn an_unusable_postgres_is_refused_without_showing_the_password() {
    run_with_postgres(async move {
        let database = Database::new();
        let url = database.url();
        let (_, address) = url.rsplit_once('@').unwrap();
        let wrong = format!("postgres://forum:secret@{address}");
        for command in [&LISTEN, &["token", "list"]] {
            let arguments = [&["--database", &wrong][..], command].concat();
            let refused = run(TempDir::new().unwrap().path(), &arguments, "");
            refused.assert_error("password authentication failed");
            assert!(!refused.stderr.contains("secret"), "{refused:?}");
        }
        let directory = TempDir::new().unwrap();
        run(directory.path(), &["--database", &url, "token", "list"], "")
            .assert_error("the database contains no board; run `forum-server serve` first");
        let tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'";
        assert!(database.query(tables).is_empty());
    });
}

#[test]
fn an_outdated_schema_is_migrated_only_by_serve_worker_and_migrate() {
    let directory = Server::start(ServerDirectory::in_sqlite(), &["--empty"]).stop();
    let outdate = || {
        let tables =
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'forum_api_%'";
        for table in directory.query(tables) {
            directory.query(&format!("DROP TABLE {table}"));
        }
    };
    outdate();
    let pending = "library 0001_init";
    let readers = [&["token", "list"][..], &["migrate", "--check"]];
    for arguments in readers {
        let refused = directory.run(arguments, "");
        let reason = refused.error_message();
        assert!(reason.contains("older than this program"), "{reason}");
        assert!(reason.ends_with(&format!(": {pending}")), "{reason}");
    }
    let status = directory.run(&["status", "--json"], "").json();
    let expected = json!({
        "program": concat!("forum-server/", env!("CARGO_PKG_VERSION")),
        "database": "sqlite:forum.db",
        "migrations": format!("pending: {pending}; run `migrate`"),
    });
    assert_eq!(status, expected);
    let migrated = directory.run(&["migrate"], "").stdout;
    assert_eq!(migrated, format!("Applied 1 migration: {pending}.\n"));
    for arguments in readers {
        assert_eq!(directory.run(arguments, "").status, 0);
    }
    outdate();
    let server = Server::start(directory.clone(), &[]);
    assert_eq!(get(&server.api_url("/forums")).status, 200);
    server.stop();
    outdate();
    let mut worker = start(directory.path(), &["worker"], &[]);
    wait_until(|| directory.run(&["migrate", "--check"], "").status == 0);
    worker.kill().unwrap();
    worker.wait().unwrap();
}

#[test]
fn a_signal_ends_a_server_that_waits_for_a_password() {
    let directory = ServerDirectory::in_sqlite();
    let address = format!("127.0.0.1:{}", free_port());
    let arguments = ["--listen", &address, "--admin-password-stdin"];
    let mut server = start(directory.path(), &arguments, &[]);
    // Standard input stays open.
    let input = server.stdin.take();
    // The server listens for signals before it binds its address.
    wait_until(|| TcpStream::connect(&address).is_ok());
    signal(&server, "INT");
    let ended = wait_for_end(server);
    drop(input);
    assert_eq!(ended.status, 0, "{ended:?}");
    assert!(directory.files().is_empty());
}

#[test]
fn a_signal_ends_a_server_and_a_worker_that_wait_for_a_migration() {
    run_with_postgres(async move {
        let database = Database::new();
        let url = database.url();
        let options = ["--database", &url, "--empty", "--no-worker"];
        let directory = Server::start(ServerDirectory::in_sqlite(), &options).stop();
        // Another process migrates the database.
        let migration = database.connect().await;
        let lock = "SELECT pg_advisory_lock(hashtextextended('forum_api_migrations', 0))";
        migration.batch_execute(lock).await.unwrap();
        let waiting = "
            FROM pg_locks JOIN pg_database ON pg_database.oid = database
            WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted";
        let is_waiting = || database.query(format!("SELECT 'waiting' {waiting}")) == ["waiting"];
        for command in [&LISTEN[..], &["worker"]] {
            let arguments = [&["--database", &url][..], command].concat();
            let process = start(directory.path(), &arguments, &[]);
            wait_until(is_waiting);
            signal(&process, "TERM");
            let ended = wait_for_end(process);
            assert_eq!(ended.status, 0, "{ended:?}");
            // Postgres does not notice the end of a client that waits for a lock.
            database.query(format!("SELECT CAST(pg_terminate_backend(pid) AS TEXT) {waiting}"));
            wait_until(|| !is_waiting());
        }
    });
}

#[test]
fn requests_in_flight_are_finished_and_no_new_ones_are_accepted() {
    let server = Server::new(&[]);
    let url = server.api_url("/forums/2/threads");
    let (host, path) = split_url(&url);
    let token = server.token("alice");
    let begin = r#"{"title":"In flight","#;
    let end = r#""body":"Landed."}"#;
    let length = begin.len() + end.len();
    let mut stream = TcpStream::connect(host).unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\nexpect: 100-continue\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    // The server sends `100 Continue` when it begins to read the body. From here on, the request is in flight.
    let mut asked = [0; 25];
    stream.read_exact(&mut asked).unwrap();
    assert_eq!(&asked, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(begin.as_bytes()).unwrap();
    server.signal("INT");
    wait_until(|| TcpStream::connect(host).is_err());
    stream.write_all(end.as_bytes()).unwrap();
    assert_eq!(read_response(stream).status, 201);
    let (_, status, log) = server.wait();
    assert_eq!(status.code(), Some(0), "{log}");
}
