//! The command `copy`: a board moves between SQLite and Postgres, and a copy that fails leaves no board.

use std::collections::BTreeMap;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use regex::Regex;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::client::get;
use crate::deliveries::{add_endpoint, endpoint_id, endpoint_secret};
use crate::postgres::Database;
use crate::program::{ExitedProcess, Server, ServerDirectory, start, wait};
use crate::random::Random;
use crate::receiver::Receiver;

/// Number of kills, unless `FORUM_API_KILLS` is set.
const KILLS: usize = 20;

/// Tables that are not copied, in either database.
const LEFT_OUT: [&str; 4] = [
    "board_migrations",
    "forum_api_migrations",
    "post_text",
    "session",
];

const ALLOW_PRIVATE: &str = "--allow-private-webhooks";

/// The members of the demo board who can have a token, and the guest.
const CALLERS: [&str; 7] = ["", "admin", "mod", "alice", "bob", "carol", "newbie"];

/// A board in SQLite with every kind of content, and what its clients hold.
struct FullBoard {
    directory: ServerDirectory,
    /// Tokens of the members; empty for the guest.
    tokens: BTreeMap<&'static str, String>,
    revoked: String,
    endpoint: Value,
    receiver: Receiver,
}

impl FullBoard {
    fn create() -> Self {
        // The receiver refuses posts, so that their deliveries are retried.
        let receiver = Receiver::with_statuses(|received| {
            Some(if received.body.contains("post.created") {
                500
            } else {
                204
            })
        });
        let options = [
            ALLOW_PRIVATE,
            "--webhook-initial-backoff",
            "0.01",
            "--webhook-max-backoff",
            "0.01",
        ];
        let server = Server::start(ServerDirectory::in_sqlite(), &options);
        server.remove_post_limits();
        let tokens = CALLERS.map(|name| match name {
            "" => (name, String::new()),
            name => (name, server.issue_token(name, "all")),
        });
        let tokens = BTreeMap::from(tokens);
        let revoked = server.issue_token("bob", "all");
        server.run_ok(&format!("token revoke {}", &revoked[10..26]));
        let endpoint = add_endpoint(&server, &receiver, "--topics *");
        let disabled = add_endpoint(&server, &receiver, "--topics post.created");
        server.run_ok(&format!("webhook rotate {}", endpoint_id(&endpoint)));
        let send = |caller: &str, method: &str, path: &str, body: Value, status: u16| {
            let sent = server.send(method, &tokens[caller], path, &body.to_string());
            assert_eq!(sent.status, status, "{method} {path} {sent:?}");
            sent.json()
        };
        let id = |value: &Value, key: &str| value[key].as_str().unwrap().to_owned();
        let poll = json!({ "question": "Tea?", "options": ["Green", "Schwarzer", "Чай"], "maxChoices": 2 });
        let thread =
            json!({ "title": "Ünïcode 🫖", "body": "*Tea* \u{1f375} ' \" \\", "poll": poll });
        let thread = id(
            &send("alice", "POST", "/forums/2/threads", thread, 201),
            "threadId",
        );
        let posts = format!("/threads/{thread}/posts");
        let found = server
            .get(&tokens["bob"], &format!("/threads/{thread}/poll"))
            .json();
        let vote = json!({ "optionIds": [found["options"][0]["optionId"]] });
        let poll = id(&found, "pollId");
        send("bob", "POST", &format!("/polls/{poll}/votes"), vote, 201);
        let post = id(
            &send("bob", "POST", &posts, json!({ "body": "Kept" }), 201),
            "postId",
        );
        let reply = json!({ "body": "Reply", "inReplyTo": post });
        send("carol", "POST", &posts, reply, 201);
        let edit = json!({ "body": "Edited", "reason": "a typo" });
        send("bob", "PATCH", &format!("{posts}/{post}"), edit, 200);
        let deleted = id(
            &send("bob", "POST", &posts, json!({ "body": "Deleted" }), 201),
            "postId",
        );
        send(
            "bob",
            "DELETE",
            &format!("{posts}/{deleted}"),
            Value::Null,
            204,
        );
        send("newbie", "POST", &posts, json!({ "body": "Awaits" }), 201);
        let rating = json!({ "points": 2, "comment": "Thanks", "postId": post });
        send("alice", "POST", "/members/4/reputation", rating, 201);
        let subscription = json!({ "target": "thread", "targetId": thread });
        send("bob", "POST", "/subscriptions", subscription, 201);
        let message =
            json!({ "to": ["5"], "subject": "Hi", "body": "There", "requestReceipt": true });
        send("alice", "POST", "/messages", message, 201);
        let inbox = server.get(&tokens["carol"], "/messages").json();
        let message = format!(
            "/messages/{}",
            inbox["items"][0]["messageId"].as_str().unwrap()
        );
        assert_eq!(server.get(&tokens["carol"], &message).status, 200);
        let keyed = "insert by key";
        let headers = [
            ("authorization", &*format!("Bearer {}", tokens["alice"])),
            ("content-type", "application/json"),
            ("idempotency-key", "copied"),
        ];
        let body = json!({ "body": keyed }).to_string();
        let sent = crate::client::send("POST", &server.api_url(&posts), &headers, &body);
        assert_eq!(sent.status, 201);
        server.run_ok(&format!("webhook disable {}", endpoint_id(&disabled)));
        server.run_ok(&format!("webhook ping {}", endpoint_id(&endpoint)));
        server.run_ok("setting post.body_max 19999");
        let deadline = Instant::now() + Duration::from_secs(60);
        let list = |state: &str| {
            server
                .run_ok(&format!("delivery list --json --state {state}"))
                .json()
        };
        while list("delivered").as_array().unwrap().is_empty() || list("queued") != json!([]) {
            assert!(Instant::now() < deadline, "deliveries are not attempted");
        }
        // The usage of tokens is written when the server stops.
        let directory = server.stop();
        directory.run(&["board", "offline"], "");
        let states = directory.query("SELECT DISTINCT state FROM forum_api_deliveries");
        assert!(states.len() > 1, "{states:?}");
        let empty: Vec<_> = tables(&directory)
            .into_iter()
            .filter(|table| {
                directory
                    .query(&format!("SELECT '' FROM {table} LIMIT 1"))
                    .is_empty()
            })
            .collect();
        assert!(empty.is_empty(), "the board has no content in {empty:?}");
        Self {
            directory,
            tokens,
            revoked,
            endpoint,
            receiver,
        }
    }
}

/// The tables of a SQLite board that are copied.
fn tables(directory: &ServerDirectory) -> Vec<String> {
    let find = "SELECT name FROM pragma_table_list
        WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name";
    let mut tables = directory.query(find);
    tables.retain(|table| !LEFT_OUT.contains(&&**table));
    tables
}

fn copy(directory: &ServerDirectory, from: &str, to: &str) -> ExitedProcess {
    directory.run(&["copy", "--database", from, "--to", to], "")
}

/// The printed rows and checksums of all tables.
fn checksums(copied: &ExitedProcess) -> BTreeMap<String, String> {
    assert_eq!((copied.status, &*copied.stderr), (0, ""), "{copied:?}");
    let lines = copied.stdout.lines().skip(1);
    let cells = lines.map_while(
        |line| match line.split_whitespace().collect::<Vec<_>>()[..] {
            [table, rows, checksum] => Some((table.to_owned(), format!("{rows} {checksum}"))),
            _ => None,
        },
    );
    cells.collect()
}

/// The number of tables of a Postgres database.
fn tables_in_postgres(database: &Database) -> usize {
    database.query("SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'").len()
}

/// All responses to reads of a caller: resources of all ids, and lists to the last page.
fn reads(server: &Server, token: &str, ids: i64) -> Vec<(String, u16, String)> {
    let each = |prefix: &str, suffix: &str| -> Vec<String> {
        (1..=ids)
            .map(|id| format!("/{prefix}/{id}{suffix}"))
            .collect()
    };
    let mut paths: Vec<String> = [
        "/me",
        "/forums",
        "/messages?limit=1",
        "/messages?folder=sent",
        "/subscriptions?limit=1",
    ]
    .map(str::to_owned)
    .into();
    for word in ["tea", "чай", "kept", "edited", "deleted", "awaits"] {
        paths.push(format!("/search?q={}&limit=2", urlencoded(word)));
    }
    paths.extend(each("forums", "/threads?limit=3"));
    paths.extend(each("threads", ""));
    paths.extend(each("threads", "/posts?limit=10"));
    paths.extend(each("threads", "/poll"));
    paths.extend(each("members", ""));
    let own = Regex::new(r#""(lastSeenAt|requestId)":(null|"[^"]*")"#).unwrap();
    let (mut reads, mut next) = (Vec::new(), 0);
    while let Some(path) = paths.get(next).cloned() {
        next += 1;
        let read = match token {
            "" => get(&server.api_url(&path)),
            token => server.get(token, &path),
        };
        if path == "/messages?folder=sent" {
            let items = read.json()["items"].as_array().cloned().unwrap_or_default();
            paths.extend(
                items
                    .iter()
                    .map(|item| format!("/messages/{}", item["messageId"].as_str().unwrap())),
            );
        }
        if let Some(after) = read.json()["next"].as_str() {
            let (list, _) = path.split_once("&after=").unwrap_or((&path, ""));
            paths.push(format!("{list}&after={after}"));
        }
        // A request has its own id, and changes the time at which its member was last seen.
        let body = own.replace_all(&read.body, "").into_owned();
        reads.push((path, read.status, body));
    }
    reads
}

fn urlencoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

#[test]
fn a_copy_answers_like_its_source_and_back() {
    let board = FullBoard::create();
    let directory = &board.directory;
    let database = Database::new();
    let postgres = database.url();
    let there = copy(directory, "sqlite:forum.db", &postgres);
    let expected = checksums(&there);
    assert!(expected.keys().eq(&tables(directory)), "{expected:?}");
    let mut found = database.query("SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'");
    found.retain(|table| !LEFT_OUT.contains(&&**table));
    found.sort();
    assert!(expected.keys().eq(&found), "{found:?}");
    assert!(
        there.stdout.contains("--secret-key-file forum.db.key"),
        "{there:?}"
    );
    let offline = database.query("SELECT value FROM setting WHERE key = 'board.offline'");
    assert_eq!(offline, ["true"]);

    let back = directory.run(
        &[
            "copy",
            "--database",
            &postgres,
            "--to",
            "sqlite:back.db",
            "--secret-key-file",
            "forum.db.key",
        ],
        "",
    );
    let mut again = checksums(&back);
    let entries = |sums: &mut BTreeMap<String, String>| sums["forum_api_audit_log"].clone();
    let mut before = expected.clone();
    assert_ne!(
        entries(&mut again),
        entries(&mut before),
        "the copy is recorded"
    );
    again.remove("forum_api_audit_log");
    before.remove("forum_api_audit_log");
    assert_eq!(again, before);
    let file = Connection::open(directory.path().join("back.db")).unwrap();
    let check = |pragma: &str| file.query_row(pragma, [], |row| row.get::<_, String>(0));
    assert_eq!(check("PRAGMA integrity_check"), Ok("ok".into()));
    assert!(
        check("PRAGMA foreign_key_check").is_err(),
        "a row violates a foreign key"
    );
    drop(file);
    let list = directory
        .run(
            &["audit", "list", "--json", "--database", "sqlite:back.db"],
            "",
        )
        .json();
    let copies = list
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| entry["action"] == "database.copied");
    assert_eq!(copies.count(), 2);

    for surface in ["full", "compact"] {
        let serve = |database: &str| {
            let options = [
                "--database",
                database,
                "--secret-key-file",
                "forum.db.key",
                "--no-worker",
                "--surface",
                surface,
                "--token-budget",
                "1000000",
                "--guest-budget",
                "1000000",
            ];
            directory.run(&["board", "online", "--database", database], "");
            Server::start(directory.clone(), &options)
        };
        let servers = ["sqlite:forum.db", &postgres, "sqlite:back.db"].map(serve);
        for token in board.tokens.values() {
            let [source, copies @ ..] = servers.each_ref().map(|server| reads(server, token, 90));
            assert!(
                source
                    .iter()
                    .filter(|(_, status, _)| *status == 200)
                    .count()
                    > 5
            );
            for copy in copies {
                assert!(
                    copy == source,
                    "{:?}",
                    copy.iter()
                        .zip(&source)
                        .find(|(copy, source)| copy != source)
                );
            }
        }
        for server in &servers {
            assert_eq!(server.get(&board.revoked, "/me").status, 401);
        }
    }

    let server = Server::start(
        directory.clone(),
        &[
            "--database",
            &postgres,
            "--secret-key-file",
            "forum.db.key",
            ALLOW_PRIVATE,
        ],
    );
    while board.receiver.try_next().is_some() {}
    let ping = [
        "webhook",
        "ping",
        endpoint_id(&board.endpoint),
        "--database",
        &postgres,
        ALLOW_PRIVATE,
        "--secret-key-file",
        "forum.db.key",
    ];
    assert_eq!(directory.run(&ping, "").status, 0);
    let received = std::iter::from_fn(|| Some(board.receiver.next()));
    let mut pings = received.filter(|received| received.json()["topic"] == "ping");
    assert!(
        pings
            .next()
            .unwrap()
            .is_signed_with(endpoint_secret(&board.endpoint))
    );
    let last: i64 = database.query("SELECT max(id)::text FROM post")[0]
        .parse()
        .unwrap();
    let post = server.post(
        &board.tokens["alice"],
        "/threads/1/posts",
        &json!({ "body": "Later" }),
    );
    assert_eq!(post.json()["postId"], (last + 1).to_string());
}

#[test]
fn refusals_change_nothing() {
    let server = Server::start(ServerDirectory::in_sqlite(), &["--no-worker"]);
    let directory = &server.directory;
    let database = Database::new();
    let postgres = database.url();
    let refused = |from: &str, to: &str, reason: &str| {
        let before = directory.files();
        let refused = copy(directory, from, to);
        assert!(refused.error_message().contains(reason), "{refused:?}");
        assert_eq!(directory.files(), before);
    };
    let source = "sqlite:forum.db";
    refused(source, &postgres, "the board is online");
    server.run_ok("board offline");
    refused(
        source,
        "sqlite:other.db",
        "the databases are of the same kind",
    );
    refused(&postgres, &postgres, "the databases are of the same kind");
    refused("sqlite:missing.db", &postgres, "does not exist");
    refused(&postgres, "sqlite:other.db", "contains no board");
    refused(
        source,
        "mysql://localhost/forum",
        "unsupported database URL",
    );
    refused(
        source,
        "postgres://forum@127.0.0.1:1/forum",
        "cannot connect to Postgres",
    );
    assert_eq!(tables_in_postgres(&database), 0);
    let other = Database::new();
    other.query("CREATE TABLE other (id INT)");
    refused(
        source,
        &other.url(),
        "the target is not empty: it contains the table \"other\"",
    );
    assert_eq!(tables_in_postgres(&other), 1);
    server.run_ok("board online");
    let rehearsal = server.run(&format!("copy --online --json --to {postgres}"));
    assert_eq!(
        (rehearsal.status, rehearsal.json()),
        (0, json!({ "ok": true }))
    );
    assert!(
        rehearsal
            .stderr
            .starts_with("warning: changes of the board"),
        "{rehearsal:?}"
    );
    server.run_ok("board offline");
    refused(source, &postgres, "the target contains a board already");
    refused(&postgres, source, "a process uses the database");
    let path = |name: &str| directory.path().join(name);
    fs::write(path("other.db"), "").unwrap();
    refused(&postgres, "sqlite:other.db", "already exists");
    fs::write(path("new.db.key"), "0123456789abcdef").unwrap();
    refused(&postgres, "sqlite:new.db", "contains another key");
    database.query("INSERT INTO board_migrations VALUES (1000, 'later', '')");
    refused(&postgres, "sqlite:none.db", "newer than this program");
    let directory = server.stop();
    let changed = Connection::open(directory.path().join("forum.db")).unwrap();
    changed.execute("DELETE FROM board_migrations", []).unwrap();
    drop(changed);
    let refused = copy(&directory, source, &Database::new().url());
    assert!(
        refused.error_message().contains("older than this program"),
        "{refused:?}"
    );
}

/// A statement of another connection lets the copy wait for a lock, and its connection is then closed.
#[test]
fn a_lost_connection_leaves_no_board() {
    let directory = Server::start(ServerDirectory::in_sqlite(), &["--no-worker"]).stop();
    directory.run(&["board", "offline"], "");
    let database = Database::new();
    let postgres = database.url();
    let interrupted = |from: &str, to: &str, lock: &str| {
        let arguments = ["copy", "--database", from, "--to", to];
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let other = runtime.block_on(database.connect());
        runtime.block_on(other.batch_execute(lock)).unwrap();
        let child = start(directory.path(), &arguments, &[]);
        let end = "SELECT pg_terminate_backend(pid)::text FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'";
        let deadline = Instant::now() + Duration::from_secs(60);
        while database.query(end).is_empty() {
            assert!(Instant::now() < deadline, "the copy does not wait");
        }
        let ended = wait(child);
        assert!(ended.error_message().starts_with("cannot "), "{ended:?}");
    };
    let lock = "SELECT pg_advisory_lock(hashtextextended('forum_api_migrations', 0))";
    interrupted("sqlite:forum.db", &postgres, lock);
    assert_eq!(tables_in_postgres(&database), 0);
    checksums(&copy(&directory, "sqlite:forum.db", &postgres));
    let before = directory.files();
    interrupted(&postgres, "sqlite:back.db", "BEGIN; LOCK TABLE post");
    assert_eq!(directory.files(), before);
    checksums(&copy(&directory, &postgres, "sqlite:back.db"));
}

#[test]
fn a_killed_copy_leaves_no_board() {
    let kills = std::env::var("FORUM_API_KILLS").map_or(KILLS, |kills| kills.parse().unwrap());
    let seed = std::env::var("FORUM_API_SEED").map_or(1, |seed| seed.parse().unwrap());
    let mut random = Random::new(seed);
    let server = Server::start(ServerDirectory::in_sqlite(), &["--no-worker"]);
    server.run_ok("generate --posts 3000 --yes");
    server.run_ok("board offline");
    let directory = server.stop();
    let complete = Database::new();
    let begin = Instant::now();
    let expected = checksums(&copy(&directory, "sqlite:forum.db", &complete.url()));
    let duration = begin.elapsed();
    let mut interrupted = 0;
    for kill in 0..kills {
        let database = Database::new();
        let (from, to) = match kill % 2 {
            0 => ("sqlite:forum.db".to_owned(), database.url()),
            _ => (complete.url(), "sqlite:back.db".to_owned()),
        };
        let mut child = start(
            directory.path(),
            &["copy", "--database", &from, "--to", &to],
            &[],
        );
        thread::sleep(duration.mul_f64(random.below(1_000) as f64 / 1_000.0));
        drop(child.kill());
        child.wait().unwrap();
        let path = directory.path().join("back.db");
        // Waits until Postgres has ended the transaction of the killed process.
        let ended = "SELECT pid::text FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'";
        while !database.query(ended).is_empty() {}
        let has_board = match kill % 2 {
            0 => tables_in_postgres(&database) > 0,
            _ => path.exists(),
        };
        let mut again = copy(&directory, &from, &to);
        if has_board {
            assert!(
                again.error_message().contains("contains a board already"),
                "seed {seed}: {again:?}"
            );
        } else {
            interrupted += 1;
            let mut found = checksums(&again);
            if kill % 2 == 1 {
                found.insert(
                    "forum_api_audit_log".into(),
                    expected["forum_api_audit_log"].clone(),
                );
            }
            assert_eq!(found, expected, "seed {seed}");
        }
        if kill % 2 == 1 {
            again = directory.run(&["audit", "list", "--database", "sqlite:back.db"], "");
            assert_eq!(again.status, 0, "seed {seed}: {again:?}");
            for file in directory
                .files()
                .iter()
                .filter(|file| file.starts_with("back.db"))
            {
                fs::remove_file(directory.path().join(file)).unwrap();
            }
        }
    }
    println!("seed {seed}: {interrupted} of {kills} copies were interrupted");
}
