//! Backups, the listener for the operator, and the lines of start and stop.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Stdio;
use std::thread::JoinHandle;

use forum_test_support::free_port;
use forum_test_support::program::Running;
use tokio::runtime::Runtime;
use tokio::signal::unix::{self, SignalKind};

use crate::log::parse_lines;

use crate::prelude::*;

#[test]
fn a_backup_of_a_running_server_can_be_served() {
    let directory = ServerDirectory::in_sqlite();
    let server = Server::start(directory, &[]);
    let token = server.token("alice");
    let body = json!({ "body": "Keep me." });
    assert_eq!(server.post(&token, "/threads/1/posts", &body).status, 201);
    let written = server.run_ok("backup copy.db");
    let expected = "Wrote a backup of the database to \"copy.db\". It does not contain the key file of the webhook secrets; back that file up separately.\n";
    assert_eq!(written.stdout, expected);
    let file = |name: &str| server.directory.path().join(name);
    let mode = file("copy.db").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let again = server.run("backup copy.db");
    assert_eq!(again.error_message(), "the file \"copy.db\" already exists");
    fs::write(file("other.db-wal"), "").unwrap();
    let reason = "the log \"other.db-wal\" of another database exists; move it to another path";
    assert_eq!(server.run("backup other.db").error_message(), reason);
    // A link can get a target before the backup is opened.
    symlink("none", file("linked.db-journal")).unwrap();
    let reason =
        "the log \"linked.db-journal\" of another database exists; move it to another path";
    assert_eq!(server.run("backup linked.db").error_message(), reason);
    let reason = "cannot create the file \"none/copy.db\": No such file or directory (os error 2)";
    assert_eq!(server.run("backup none/copy.db").error_message(), reason);

    let copied = ServerDirectory::in_sqlite();
    for (from, to) in [("copy.db", "forum.db"), ("forum.db.key", "forum.db.key")] {
        fs::copy(file(from), copied.path().join(to)).unwrap();
    }
    let restored = Server::start(copied, &[]);
    let posts = restored.get(&token, "/threads/1/posts?limit=100");
    assert!(posts.body.contains("Keep me."), "{posts:?}");
}

#[test]
fn a_killed_backup_leaves_no_file_of_its_name() {
    let directory = Server::start(ServerDirectory::in_sqlite(), &["--empty"]).stop();
    let lock = Connection::open(directory.path().join("forum.db")).unwrap();
    lock.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT").unwrap();
    // The backup waits for the lock after it has created its file.
    let mut backup = start(directory.path(), &["backup", "copy.db"], &[]);
    let new = |name: &String| name.starts_with("copy.db");
    while !directory.files().iter().any(new) {
        assert_eq!(backup.try_wait().unwrap(), None, "the backup ended");
    }
    backup.kill().unwrap();
    backup.wait().unwrap();
    drop(lock);
    let left: Vec<_> = directory.files().into_iter().filter(new).collect();
    let is_partial = |name: &String| name.starts_with("copy.db.partial-");
    assert!(left.iter().all(is_partial), "{left:?}");
    let again = directory.run(&["backup", "copy.db"], "");
    assert_eq!(again.status, 0, "{again:?}");
    let files: Vec<_> = directory.files().into_iter().filter(new).collect();
    assert_eq!(files.len(), left.len() + 1, "{files:?}");
}

#[test]
fn metrics_are_on_the_address_of_the_operator_only() {
    let port = free_port();
    let operator = format!("127.0.0.1:{port}");
    // A port without an address is a port of 127.0.0.1.
    let server = Server::new(&["--admin-listen", &format!(":{port}")]);
    let status = |url: String| get(&url).status;
    assert_eq!(status(server.url("/metrics")), 404);
    for path in ["/health", "/ready"] {
        wait_for_status(&server.url(path), 200);
    }
    for path in ["/metrics", "/health", "/ready"] {
        wait_for_status(&format!("http://{operator}{path}"), 200);
    }
    let encoding = [("accept-encoding", "gzip")];
    let metrics = send("HEAD", &format!("http://{operator}/metrics"), &encoding, "");
    assert_eq!(metrics.status_and("content-encoding"), (200, Some("gzip")));
    for path in ["/", "/panel", "/api/v1/forums", "/docs"] {
        assert_eq!(status(format!("http://{operator}{path}")), 404, "{path}");
    }
    let posted = send("POST", &format!("http://{operator}/health"), &[], "");
    assert_eq!((posted.status, &*posted.body), (404, r#"{"status":"not found"}"#));
    let url = server.url("");
    for address in [&*operator, url.trim_start_matches("http://")] {
        let ready = format!("The process at {address} is ready.\n");
        for option in ["--admin-listen", "--listen"] {
            assert_eq!(server.run_ok(&format!("health {option} {address}")).stdout, ready);
        }
    }
    server
        .run(&format!("--listen 127.0.0.1:0 --admin-listen {operator}"))
        .assert_error(&format!("cannot listen on {operator}"));
}

#[test]
fn the_message_of_the_start_has_the_addresses_of_the_options() {
    let operator = format!("127.0.0.1:{}", free_port());
    let base_url = "https://board.example";
    let arguments = ["--empty", "--no-mcp", "--base-url", base_url, "--admin-listen", &operator];
    let last = |line: &str| line.starts_with("The password");
    let (server, text) =
        Server::start_until(ServerDirectory::in_sqlite(), &arguments, &[], "", last);
    let (_, rest) = text.split_once("admin, password ").unwrap();
    let (password, _) = rest.split_once('\n').unwrap();
    let database = server.directory.path().canonicalize().unwrap().join("forum.db");
    let expected = format!(
        "\
forum     {base_url}/
API       {base_url}/api/v1/forums
docs      {base_url}/docs
OpenAPI   {base_url}/api/v1/openapi.json
panel     {base_url}/panel
health    http://{operator}/health
metrics   http://{operator}/metrics
data      {}
stop      Ctrl-C
sign-in   admin, password {password}

The password is not shown again.
",
        database.display()
    );
    assert_eq!(text, expected);
}

/// Starts a server after a command of the shell. Returns the server, and a thread that returns its whole log.
fn start_after(command: &str, directory: &ServerDirectory) -> (Running, JoinHandle<String>) {
    let mut server = Running(
        Command::new("sh")
            .args(["-c", &format!(r#"{command}; exec "$0" --listen 127.0.0.1:0 --empty"#)])
            .arg(server_path())
            .current_dir(directory.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    let log = wait_for_line(server.0.stderr.take().unwrap(), "server started");
    (server, log)
}

/// `ulimit -n` sets the hard limit as well, so that the server cannot raise its limit.
#[test]
fn a_low_limit_of_open_files_lowers_the_number_of_connections() {
    let directory = ServerDirectory::in_sqlite();
    let (mut server, log) = start_after("ulimit -n 600", &directory);
    signal(&server.0, "TERM");
    assert!(server.0.wait().unwrap().success());
    let log = log.join().unwrap();
    let warning =
        "--max-connections lowered: the limit of open files is too low files=600 allowed=300";
    assert!(log.lines().any(|line| line.contains(" WARN ") && line.ends_with(warning)), "{log}");
}

/// Reads a response from a connection that stays open.
fn exchange(stream: &mut TcpStream, request: &str) -> Response {
    stream.write_all(request.as_bytes()).unwrap();
    read_response(stream.try_clone().unwrap())
}

#[test]
fn during_the_drain_delay_requests_are_answered_and_end_their_connections() {
    let server = Server::new(&["--drain-delay", "600"]);
    let url = server.url("");
    let address = split_url(&url).0;
    let request = "GET /health HTTP/1.1\r\nhost: x\r\n\r\n";
    let mut idle: Vec<_> = (0..3).map(|_| TcpStream::connect(address).unwrap()).collect();
    for stream in &mut idle {
        stream.write_all(request.as_bytes()).unwrap();
        let mut response = [0; 1024];
        let len = stream.read(&mut response).unwrap();
        let response = String::from_utf8_lossy(&response[..len]);
        assert!(!response.contains("connection: close"), "{response}");
    }
    server.signal("TERM");
    wait_for_status(&server.url("/ready"), 503);
    let not_ready = server.run(&format!("health --listen {address}"));
    let reason = format!("the process at {address} is not ready: /ready responded with 503");
    assert_eq!(not_ready.error_message(), reason);
    assert_eq!(get(&server.url("/health")).status, 200);
    let metrics = get(&server.url("/metrics")).body;
    assert!(metrics.lines().any(|line| line == "forum_server_ready 0"), "{metrics}");
    let token = server.token("alice");
    let post = server.post(&token, "/threads/1/posts", &json!({ "body": "Draining." }));
    assert_eq!(post.status, 201);
    for mut stream in idle {
        let response = exchange(&mut stream, request);
        assert_eq!(response.status, 200);
        assert_eq!(response.header("connection"), Some("close"));
    }
    server.signal("INT");
    let (_, status, log) = server.wait();
    assert!(status.success(), "{log}");
}

#[test]
fn a_connection_without_a_request_is_served_when_the_server_stops() {
    let server = Server::new(&[]);
    let url = server.url("");
    let address = split_url(&url).0.parse().unwrap();
    let mut new = TcpStream::connect(address).unwrap();
    server.signal("TERM");
    // A connection that begins while the listener closes can get no answer.
    while TcpStream::connect_timeout(&address, Duration::from_millis(100)).is_ok() {}
    let response = exchange(&mut new, "GET /health HTTP/1.1\r\nhost: x\r\n\r\n");
    assert_eq!(response.status, 200);
    assert_eq!(response.header("connection"), Some("close"));
    let (_, status, log) = server.wait();
    assert!(status.success(), "{log}");
}

#[test]
fn sigterm_ctrl_c_and_sighup_end_a_server_and_a_worker_alike() {
    // A program that `nohup` starts ignores SIGHUP, and so do its children. A signal with a handler has its default action in
    // a child.
    let runtime = Runtime::new().unwrap();
    let _handler = runtime.block_on(async { unix::signal(SignalKind::hangup()) }).unwrap();
    for name in ["TERM", "INT", "HUP"] {
        let server = Server::new(&["--no-worker"]);
        let operator = format!("127.0.0.1:{}", free_port());
        let options = ["worker", "--admin-listen", &operator];
        let directory = &server.directory;
        let mut worker = start(directory.path(), &directory.arguments(&options), &[]);
        let log = wait_for_line(worker.stderr.take().unwrap(), "webhook worker started");
        signal(&worker, name);
        server.signal(name);
        let ended = wait_for_end(worker);
        assert_eq!((ended.status, &*ended.stdout), (0, ""), "{}", log.join().unwrap());
        let (_, status, log) = server.wait();
        assert!(status.success() && log.contains("server stopped"), "{name}: {log}");
        assert!(log.contains(&format!("signal=\"SIG{name}\"")), "{log}");
    }
}

#[test]
fn a_sighup_that_was_ignored_at_start_stays_ignored() {
    let directory = ServerDirectory::in_sqlite();
    let (mut server, log) = start_after(r#"trap "" HUP"#, &directory);
    signal(&server.0, "HUP");
    signal(&server.0, "TERM");
    assert!(server.0.wait().unwrap().success());
    let log = log.join().unwrap();
    assert!(!log.contains("SIGHUP") && log.contains("SIGTERM"), "{log}");
}

#[test]
fn last_seen_times_and_usage_are_written_when_the_server_stops() {
    let server = Server::new(&[]);
    let token = server.token("alice");
    assert_eq!(server.get(&token, "/me").status, 200);
    let directory = server.stop();
    let usage = "SELECT CAST(requests AS TEXT) FROM forum_api_usage WHERE token <> ''";
    assert_eq!(directory.query(usage), ["1"]);
    let members = directory.run(&["member", "list", "--json"], "").json();
    let alice = members.as_array().unwrap().iter().find(|one| one["username"] == "alice").unwrap();
    assert!(alice["lastSeenAt"].is_string(), "{alice}");
}

#[test]
fn a_worker_sends_the_deliveries_of_a_server_and_has_health_and_metrics() {
    let server = Server::new(&["--no-worker"]);
    let receiver = Receiver::new();
    add_endpoint(&server, &receiver, "");
    reply(&server, &server.token("alice"), "Who brings this?");
    let waiting = server.run_ok("delivery list --json").json();
    assert_eq!(waiting, json!([]), "no process fans events out");
    let directory = &server.directory;
    let operator = format!("127.0.0.1:{}", free_port());
    let options = [ALLOW_PRIVATE, "--json", "worker", "--admin-listen", &operator];
    let mut child = start(directory.path(), &directory.arguments(&options), &[]);
    let log = wait_for_line(child.stderr.take().unwrap(), "webhook worker started");
    assert_eq!(receiver.next().header("x-forum-event"), "post.created");
    for path in ["/health", "/ready"] {
        wait_for_status(&format!("http://{operator}{path}"), 200);
    }
    let metrics = get(&format!("http://{operator}/metrics")).body;
    assert!(metrics.contains("forum_server_tasks"), "{metrics}");
    let variables = [("FORUM_ADMIN_LISTEN", operator.as_str())];
    let health = || wait(start(directory.path(), &["health"], &variables));
    assert_eq!(health().status, 0);
    signal(&child, "TERM");
    let ended = wait(child);
    health().assert_error("is not ready: Connection refused");
    let log = log.join().unwrap();
    assert_eq!((ended.status, ended.json()), (0, json!({ "ok": true })), "{log}");
    for line in ["stopping signal=\"SIGTERM\"", "webhook worker stopped"] {
        assert!(log.contains(line), "{line}: {log}");
    }
}

/// Commands and workers allow loopback addresses if the URL of the server that was started last has one.
#[test]
fn a_worker_sends_to_the_addresses_that_its_server_allows() {
    let receiver = Receiver::new();
    let add = format!("webhook add --json {}", receiver.url);
    for (options, is_allowed) in
        [(&["--base-url", "https://board.example"][..], false), (&["--no-worker"], true)]
    {
        let server = Server::new(options);
        if !is_allowed {
            server.run(&add).assert_error("the address 127.0.0.1 is loopback");
            continue;
        }
        server.run_ok(&add);
        let arguments = server.directory.arguments(&["worker"]);
        let mut worker = start(server.directory.path(), &arguments, &[]);
        let log = wait_for_line(worker.stderr.take().unwrap(), "webhook worker started");
        reply(&server, &server.token("alice"), "x");
        assert_eq!(receiver.next().header("x-forum-event"), "post.created");
        signal(&worker, "TERM");
        assert_eq!(wait(worker).status, 0, "{}", log.join().unwrap());
    }
}

#[test]
fn the_log_has_a_line_of_the_start_and_of_the_stop() {
    let operator = format!("127.0.0.1:{}", free_port());
    let server = Server::new(&[
        "--log",
        "json",
        "--base-url",
        "https://board.example",
        "--admin-listen",
        &operator,
        "--redis",
        "redis://:hush@127.0.0.1:1",
    ]);
    let (directory, log) = server.stop_with_log();
    let lines = parse_lines(&log);
    let fields = |message: &str| {
        lines.iter().map(|line| &line["fields"]).find(|fields| fields["message"] == message)
    };
    let started = fields("server started").unwrap();
    let expected = json!({
        "message": "server started",
        "version": env!("CARGO_PKG_VERSION"),
        "listen": started["listen"],
        "admin_listen": operator,
        "base_url": "https://board.example",
        "database": started["database"],
        "replicas": 0,
        "redis": "redis://:***@127.0.0.1:1",
        "worker": true,
    });
    assert_eq!(*started, expected);
    let listen = started["listen"].as_str().unwrap();
    assert!(listen.starts_with("127.0.0.1:"), "{listen}");
    let database = started["database"].as_str().unwrap();
    match directory.arguments(&[]).first() {
        Some(url) => assert!(!url.contains(database) && database.contains(":***@")),
        None => assert_eq!(database, "sqlite:forum.db"),
    }
    assert_eq!(fields("stopping").unwrap()["signal"], "SIGTERM");
    assert!(fields("server stopped").is_some());
}

#[test]
fn the_log_of_a_worker_has_its_start_and_its_stop() {
    let server = Server::new(&["--no-worker"]);
    let operator = format!("127.0.0.1:{}", free_port());
    let directory = &server.directory;
    let arguments = directory.arguments(&["worker", "--log", "json", "--admin-listen", &operator]);
    let mut worker = start(directory.path(), &arguments, &[]);
    let log = wait_for_line(worker.stderr.take().unwrap(), "webhook worker started");
    signal(&worker, "TERM");
    assert_eq!(wait_for_end(worker).status, 0);
    let lines = parse_lines(&log.join().unwrap());
    let fields = |message: &str| {
        lines.iter().map(|line| &line["fields"]).find(|fields| fields["message"] == message)
    };
    let status = server.run_ok("status --json").json();
    let started = json!({
        "message": "webhook worker started",
        "version": env!("CARGO_PKG_VERSION"),
        "admin_listen": operator,
        "database": status["database"],
    });
    assert_eq!(fields("webhook worker started"), Some(&started));
    let stopped = json!({ "message": "webhook worker stopped" });
    assert_eq!(fields("webhook worker stopped"), Some(&stopped));
}
