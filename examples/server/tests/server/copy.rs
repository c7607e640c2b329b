//! The command `copy`: a board moves between SQLite and Postgres, and a copy that fails leaves no board.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Child;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use regex::Regex;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::client::get;
use crate::deliveries::{add_endpoint, endpoint_id, endpoint_secret};
use crate::postgres::Database;
use crate::program::{ExitedProcess, Server, ServerDirectory, start, wait};
use crate::receiver::Receiver;

/// Number of kills in each direction, unless `FORUM_API_KILLS` is set.
const KILLS: u64 = 10;

/// The states of a delivery.
const STATES: [&str; 6] = [
    "dead",
    "delivered",
    "gone",
    "queued",
    "retrying",
    "withheld",
];

const TIMEOUT: Duration = Duration::from_secs(60);

const SOURCE: &str = "sqlite:forum.db";

const BACK: &str = "sqlite:back.db";

/// Tables that are not copied, in either database.
const LEFT_OUT: [&str; 5] = [
    "access_version",
    "board_migrations",
    "forum_api_migrations",
    "post_text",
    "session",
];

/// The definitions of tables, columns, indexes, constraints, triggers and functions of a Postgres database.
const CATALOG: &str = "
    SELECT concat_ws(' ', relname, relkind, reloptions, relpersistence)
    FROM pg_class WHERE relnamespace = 'public'::regnamespace
    UNION ALL
    SELECT concat_ws(
        ' ', attrelid::regclass, attname, atttypid::regtype, attcollation, attnotnull, attidentity, attgenerated,
        attstattarget, pg_get_expr(adbin, adrelid)
    )
    FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum JOIN pg_class ON pg_class.oid = attrelid
    WHERE relnamespace = 'public'::regnamespace AND attnum > 0
    UNION ALL
    SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
    UNION ALL
    SELECT concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid), convalidated)
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace
    UNION ALL
    SELECT concat_ws(' ', pg_get_triggerdef(pg_trigger.oid), tgenabled)
    FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
    WHERE relnamespace = 'public'::regnamespace AND NOT tgisinternal
    UNION ALL
    SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    ORDER BY 1";

const ALLOW_PRIVATE: &str = "--allow-private-webhooks";

/// The members of the demo board who can have a token, and the guest.
const CALLERS: [&str; 7] = ["", "admin", "mod", "alice", "bob", "carol", "newbie"];

/// A board in SQLite with every kind of content, and what its clients hold.
struct FullBoard {
    directory: ServerDirectory,
    /// Tokens of the members; empty for the guest.
    tokens: BTreeMap<&'static str, String>,
    /// Tokens that are expired or revoked.
    invalid: [String; 2],
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
        let invalid = [(); 2].map(|()| server.issue_token("bob", "all"));
        let [expired, revoked] = invalid.each_ref().map(|token| &token[10..26]);
        server.run_ok(&format!("token revoke {revoked}"));
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
        let count = |state: &str| {
            let list = server.run_ok(&format!("delivery list --json --state {state}"));
            list.json().as_array().unwrap().len()
        };
        wait_until(|| match (count("delivered"), count("dead")) {
            (0, _) | (_, 0) => false,
            (delivered, dead) => delivered + dead >= STATES.len(),
        });
        // The usage of tokens is written when the server stops.
        let directory = server.stop();
        directory.run(&["board", "offline"], "");
        let later = i64::MAX / 2;
        let deliveries = "UPDATE forum_api_deliveries SET";
        // The first delivery of each state is kept.
        let next = "WHERE id = (SELECT min(id) FROM forum_api_deliveries
            WHERE id NOT IN (SELECT min(id) FROM forum_api_deliveries GROUP BY state))";
        let changes = [
            format!("UPDATE forum_api_tokens SET expires_at = 1 WHERE lookup = '{expired}'"),
            // Rows with the largest ids were deleted.
            "UPDATE sqlite_sequence SET seq = seq + 7".into(),
            format!("{deliveries} state = 'gone' {next}"),
            format!("{deliveries} state = 'withheld' {next}"),
            format!(
                "{deliveries} state = 'queued', attempts = 0, ended_at = NULL, due_at = {later} {next}"
            ),
            format!(
                "{deliveries} state = 'retrying', attempts = 1, ended_at = NULL, due_at = {later} {next}"
            ),
        ];
        for change in &changes {
            let file = Connection::open(directory.path().join("forum.db")).unwrap();
            assert!(file.execute(change, []).unwrap() > 0, "{change}");
        }
        let states = directory.query("SELECT DISTINCT state FROM forum_api_deliveries ORDER BY 1");
        assert_eq!(states, STATES);
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
            invalid,
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

/// All responses to reads of a caller: resources with ids from 1 to `ids`, and lists to the last page.
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
    let mut reads = Vec::new();
    let mut next = 0;
    while let Some(path) = paths.get(next).cloned() {
        next += 1;
        let read = match token {
            "" => get(&server.api_url(&path)),
            token => server.get(token, &path),
        };
        if path.starts_with("/messages?") {
            let items = read.json()["items"].as_array().cloned().unwrap_or_default();
            // Opening an unread message would change it.
            let opened = items.iter().filter(|item| !item["readAt"].is_null());
            let ids = opened.map(|item| item["messageId"].as_str().unwrap());
            paths.extend(ids.map(|id| format!("/messages/{id}")));
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
    let target = [("FORUM_TO", &*postgres)];
    let there = wait(start(directory.path(), &["copy"], &target));
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
    let fresh = Database::new();
    let fresh_url = fresh.url();
    Server::start(directory.clone(), &["--database", &fresh_url]).stop();
    assert_eq!(database.query(CATALOG), fresh.query(CATALOG));
    let file = Connection::open(directory.path().join("back.db")).unwrap();
    let source = directory.path().join("forum.db");
    let attach = "ATTACH ?1 AS source";
    file.execute(attach, [source.to_str().unwrap()]).unwrap();
    for catalog in [
        "SELECT type || name || tbl_name || coalesce(sql, '') FROM SCHEMA.sqlite_schema ORDER BY 1",
        "SELECT name || seq FROM SCHEMA.sqlite_sequence",
    ] {
        let rows = |schema: &str| {
            let mut select = file.prepare(&catalog.replace("SCHEMA", schema)).unwrap();
            let rows = select.query_map([], |row| row.get(0)).unwrap();
            rows.collect::<rusqlite::Result<Vec<String>>>().unwrap()
        };
        assert_eq!(rows("main"), rows("source"));
    }
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

    // The largest id, and one that does not exist.
    let ids = directory.query(
        "SELECT CAST(max(id) + 1 AS TEXT) FROM (SELECT id FROM forum UNION SELECT id FROM thread UNION SELECT id FROM member)",
    )[0].parse().unwrap();
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
            let [source, copies @ ..] = servers.each_ref().map(|server| reads(server, token, ids));
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
            for token in &board.invalid {
                assert_eq!(server.get(token, "/me").status, 401);
            }
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
    let back = Server::start(directory.clone(), &["--database", BACK, "--no-worker"]);
    for server in [server, back] {
        let later = json!({ "body": "Later" });
        let post = server.post(&board.tokens["alice"], "/threads/1/posts", &later);
        assert_eq!(post.json()["postId"], (last + 1).to_string());
    }
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
        refused.assert_error(reason);
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
    let online = server.run(&format!("copy --online --json --to {postgres}"));
    assert_eq!((online.status, online.json()), (0, json!({ "ok": true })));
    assert!(
        online.stderr.starts_with("warning: the board was online"),
        "{online:?}"
    );
    server.run_ok("board offline");
    refused(source, &postgres, "the target contains a board already");
    refused(
        &postgres,
        "sqlite:missing/other.db",
        "the directory of the database \"missing/other.db\" does not exist",
    );
    refused(&postgres, source, "a process uses the database");
    let path = |name: &str| directory.path().join(name);
    fs::write(path("other.db"), "").unwrap();
    refused(&postgres, "sqlite:other.db", "already exists");
    fs::write(path("new.db-journal"), "").unwrap();
    refused(
        &postgres,
        "sqlite:new.db",
        "log \"new.db-journal\" of another",
    );
    fs::remove_file(path("new.db-journal")).unwrap();
    fs::write(path("new.db.key"), "0123456789abcdef").unwrap();
    refused(&postgres, "sqlite:new.db", "contains another key");
    database.query("INSERT INTO board_migrations VALUES (1000, 'later', '')");
    refused(&postgres, "sqlite:none.db", "newer than this program");
    let directory = server.stop();
    let changed = Connection::open(directory.path().join("forum.db")).unwrap();
    changed.execute("DELETE FROM board_migrations", []).unwrap();
    drop(changed);
    let refused = copy(&directory, source, &Database::new().url());
    refused.assert_error("older than this program");
}

/// A proxy to Postgres, which stops forwarding after a number of bytes of all connections in both directions.
struct Proxy {
    url: String,
    forwarded: Arc<AtomicU64>,
    streams: Arc<Mutex<Vec<TcpStream>>>,
    stopped: mpsc::Receiver<()>,
}

impl Proxy {
    fn start(postgres: &str, limit: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (user, rest) = postgres.rsplit_once('@').unwrap();
        let (server, database) = rest.split_once('/').unwrap();
        let server = server.to_owned();
        let (sender, stopped) = mpsc::channel();
        let forwarded: Arc<AtomicU64> = Arc::default();
        let streams: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
        let counted = forwarded.clone();
        let opened = streams.clone();
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let server = TcpStream::connect(&server).unwrap();
                for stream in [&client, &server] {
                    stream.set_nodelay(true).unwrap();
                }
                let clones = || [&client, &server].map(|stream| stream.try_clone().unwrap());
                opened.lock().unwrap().extend(clones());
                let [from_client, from_server] = clones();
                for (from, to) in [(from_client, server), (from_server, client)] {
                    let counted = counted.clone();
                    let sender = sender.clone();
                    thread::spawn(move || forward(from, to, limit, &counted, &sender));
                }
            }
        });
        Self {
            url: format!("{user}@{address}/{database}"),
            forwarded,
            streams,
            stopped,
        }
    }

    /// Waits until the limit is reached.
    fn wait(&self) {
        self.stopped.recv_timeout(TIMEOUT).expect("the limit");
    }

    fn close_connections(&self) {
        for stream in &*self.streams.lock().unwrap() {
            drop(stream.shutdown(Shutdown::Both));
        }
    }
}

fn forward(
    mut from: TcpStream,
    mut to: TcpStream,
    limit: u64,
    forwarded: &AtomicU64,
    stopped: &mpsc::Sender<()>,
) {
    let mut bytes = [0; 8192];
    while let Ok(length @ 1..) = from.read(&mut bytes) {
        let before = forwarded.fetch_add(length as u64, Ordering::SeqCst);
        let rest = limit.saturating_sub(before).min(length as u64) as usize;
        if rest < length {
            stopped.send(()).ok();
            return;
        }
        if to.write_all(&bytes[..rest]).is_err() {
            break;
        }
    }
    drop(to.shutdown(Shutdown::Write));
}

/// A board in SQLite with some posts, its copy in Postgres, and the traffic of a copy in each direction.
struct CopiedBoard {
    directory: ServerDirectory,
    postgres: Database,
    checksums: BTreeMap<String, String>,
    bytes_to_postgres: u64,
    bytes_to_sqlite: u64,
}

impl CopiedBoard {
    fn create() -> Self {
        let server = Server::start(ServerDirectory::in_sqlite(), &["--no-worker"]);
        server.run_ok("generate --posts 300 --yes");
        server.run_ok("board offline");
        let directory = server.stop();
        let postgres = Database::new();
        let proxy = || Proxy::start(&postgres.url(), u64::MAX);
        let there = proxy();
        let back = proxy();
        let checksums = checksums(&copy(&directory, SOURCE, &there.url));
        // The board is offline, so that the option has no effect.
        let online = ["copy", "--online", "--database", &back.url, "--to", BACK];
        self::checksums(&directory.run(&online, ""));
        let bytes = |proxy: Proxy| proxy.forwarded.load(Ordering::SeqCst);
        let board = Self {
            directory,
            checksums,
            bytes_to_postgres: bytes(there),
            bytes_to_sqlite: bytes(back),
            postgres,
        };
        board.remove_back();
        board
    }

    fn start(&self, from: &str, to: &str) -> Child {
        let arguments = ["copy", "--database", from, "--to", to];
        start(self.directory.path(), &arguments, &[])
    }

    /// Copies into an empty database, after an attempt that failed.
    fn copy_to_postgres(&self, database: &Database) {
        assert_eq!(tables_in_postgres(database), 0);
        let copied = copy(&self.directory, SOURCE, &database.url());
        assert_eq!(checksums(&copied), self.checksums);
    }

    /// Copies into a new file, after an attempt that failed.
    fn copy_to_sqlite(&self) {
        assert!(!self.back().exists());
        let mut copied = checksums(&copy(&self.directory, &self.postgres.url(), BACK));
        let entries = "forum_api_audit_log".to_owned();
        copied.insert(entries.clone(), self.checksums[&entries].clone());
        assert_eq!(copied, self.checksums);
        self.remove_back();
    }

    fn back(&self) -> PathBuf {
        self.directory.path().join("back.db")
    }

    fn remove_back(&self) {
        let files = self.directory.files().into_iter();
        for file in files.filter(|file| file.starts_with("back.db")) {
            fs::remove_file(self.directory.path().join(file)).unwrap();
        }
    }
}

/// Waits until Postgres has ended the transactions of a process that was killed.
fn wait_for_disconnection(database: &Database) {
    let connected = "SELECT pid::text FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'";
    wait_until(|| database.query(connected).is_empty());
}

fn wait_until(condition: impl Fn() -> bool) {
    let deadline = Instant::now() + TIMEOUT;
    while !condition() {
        assert!(Instant::now() < deadline, "timeout");
    }
}

#[test]
fn a_killed_copy_leaves_no_board() {
    let kills = std::env::var("FORUM_API_KILLS").map_or(KILLS, |kills| kills.parse().unwrap());
    let board = CopiedBoard::create();
    let kill = |mut child: Child, proxy: &Proxy| {
        child.kill().unwrap();
        child.wait().unwrap();
        proxy.close_connections();
    };
    for instant in 1..=kills {
        let share = |bytes: u64| bytes * instant / (kills + 1);
        let database = Database::new();
        let proxy = Proxy::start(&database.url(), share(board.bytes_to_postgres));
        let child = board.start(SOURCE, &proxy.url);
        proxy.wait();
        kill(child, &proxy);
        wait_for_disconnection(&database);
        board.copy_to_postgres(&database);

        let proxy = Proxy::start(&board.postgres.url(), share(board.bytes_to_sqlite));
        let child = board.start(&proxy.url, BACK);
        proxy.wait();
        kill(child, &proxy);
        board.copy_to_sqlite();
    }
}

/// The rows of a small board are written to the file by the commit at the end.
#[test]
fn a_copy_that_is_killed_during_its_commit_leaves_a_whole_board_or_none() {
    let board = CopiedBoard::create();
    let partial = board.directory.path().join("back.db.copying");
    let mut child = board.start(&board.postgres.url(), BACK);
    while child.try_wait().unwrap().is_none()
        && partial.metadata().map_or(0, |file| file.len()) == 0
    {}
    drop(child.kill());
    child.wait().unwrap();
    if board.back().exists() {
        let again = copy(&board.directory, &board.postgres.url(), BACK);
        again.assert_error("contains a board already");
        board.remove_back();
    }
    board.copy_to_sqlite();
}

#[test]
fn a_lost_connection_leaves_no_board() {
    let board = CopiedBoard::create();
    let interrupt = |child: Child, proxy: &Proxy| {
        proxy.wait();
        proxy.close_connections();
        let ended = wait(child);
        let message = ended.error_message();
        assert!(
            message.starts_with("cannot copy the table \"post\": "),
            "{message}"
        );
    };
    let database = Database::new();
    let proxy = Proxy::start(&database.url(), board.bytes_to_postgres / 4);
    interrupt(board.start(SOURCE, &proxy.url), &proxy);
    wait_for_disconnection(&database);
    board.copy_to_postgres(&database);

    let before = board.directory.files();
    let proxy = Proxy::start(&board.postgres.url(), board.bytes_to_sqlite / 2);
    interrupt(board.start(&proxy.url, BACK), &proxy);
    assert_eq!(board.directory.files(), before);
    board.copy_to_sqlite();
}

#[test]
fn a_second_copy_into_the_same_target_is_refused() {
    let board = CopiedBoard::create();
    let target = Database::new();
    let source = &board.postgres;
    let lock = "SELECT pg_advisory_lock(hashtextextended('forum_api_migrations', 0))";
    let refused = "another copy writes the target";
    let lock_source = "BEGIN; LOCK TABLE post";
    let refused_back = "a process uses the database; stop it first";
    for (from, to, database, lock, reason) in [
        (SOURCE, &*target.url(), &target, lock, refused),
        (&source.url(), BACK, source, lock_source, refused_back),
    ] {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let other = runtime.block_on(database.connect());
        runtime.block_on(other.batch_execute(lock)).unwrap();
        let first = board.start(from, to);
        let waiting = "SELECT pid::text FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'";
        wait_until(|| !database.query(waiting).is_empty());
        let second = copy(&board.directory, from, to);
        assert_eq!(second.error_message(), reason);
        drop((other, runtime));
        checksums(&wait(first));
    }
}
