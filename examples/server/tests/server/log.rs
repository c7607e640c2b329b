//! The log: its fields, its behaviour without a reader, and the absence of secrets.

use std::io::{BufRead, BufReader};

use crate::panel::{FORM, cookie, hidden_field, page};

use crate::prelude::*;

const DROPPED_LINES: &str = "log lines dropped: output too slow";

pub fn parse_lines(log: &str) -> Vec<Value> {
    log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn each_request_is_a_line_with_every_field() {
    let server = Server::new(&["--log", "json", "--no-worker"]);
    let token = server.token("alice");
    let lookup = &token["forum_pat_".len()..][..16];
    let expected = [
        ("/me", json!(["/me", 200, null, 1, lookup])),
        ("/threads/9", json!(["/threads/{threadId}", 404, "not_found", 1, lookup])),
        ("/openapi.json", json!(["/openapi.json", 200, null, 0, null])),
        ("/unknown", json!([null, 404, "no_such_route", 1, null])),
    ];
    for (path, _) in &expected {
        server.get(&token, path);
    }
    let (_, log) = server.stop_with_log();
    let lines = parse_lines(&log);
    let mut spans = lines
        .iter()
        .filter(|line| line["fields"]["message"] == "request completed")
        .map(|line| (&line["span"], &line["fields"]));
    for (_, expected) in expected {
        let (span, event) = spans.next().unwrap();
        let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect();
        let [of_event, of_span]: [BTreeSet<String>; 2] = [event, span].map(names);
        assert!(of_event.is_disjoint(&of_span), "{event} {span}");
        let fields = ["route", "status", "code", "cost", "token"].map(|field| &event[field]);
        assert_eq!(json!(fields), expected, "{event}");
        assert_eq!(event["method"], "GET");
        assert_eq!(span["owner"].is_string(), event["token"].is_string());
        assert!(event["elapsed_ms"].is_u64() && event["request_id"].is_string());
        assert_eq!(span["client"], "127.0.0.1");
    }
}

#[test]
fn an_invalid_directive_of_the_filter_is_logged() {
    let environment = [("RUST_LOG", "forum_server=warn,hyper=loud")];
    let arguments = ["--empty", "--log", "json"];
    let server = Server::start_with(ServerDirectory::in_sqlite(), &arguments, &environment, "");
    let (_, log) = server.stop_with_log();
    let lines = parse_lines(&log);
    let events: Vec<_> = lines.iter().map(|line| json!([line["level"], line["fields"]])).collect();
    let message = "RUST_LOG: ignored an invalid directive";
    let expected = json!(["WARN", { "message": message, "directive": "hyper=loud" }]);
    assert_eq!(events, [expected]);
}

#[test]
fn an_unread_log_does_not_block_the_server() {
    let (directory, demo) = ServerDirectory::with_demo_board();
    let arguments = directory.arguments(&[
        "--json",
        "--log",
        "json",
        "--listen",
        "127.0.0.1:0",
        "--token-budget",
        "9999",
    ]);
    let mut child = start(directory.path(), &arguments, &[("RUST_LOG", "trace")]);
    let mut greeting = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut greeting).unwrap();
    let greeting: Value = serde_json::from_str(&greeting).unwrap();
    let url = greeting["api"].as_str().unwrap().to_owned() + "/me";
    let bearer = format!("Bearer {}", demo["token"].as_str().unwrap());
    for _ in 0..2000 {
        let me = send("GET", &url, &[("authorization", &bearer)], "");
        assert_eq!(me.status, 200);
    }
    let metrics = get(&url.replace("/api/v1/me", "/metrics")).body;
    let mut samples = metrics.lines();
    let counted = samples
        .find_map(|line| line.strip_prefix("forum_server_log_lines_dropped_total "))
        .and_then(|count| count.parse::<u64>().ok());
    signal(&child, "TERM");
    let ended = wait(child);
    assert_eq!(ended.status, 0);
    let lines = parse_lines(&ended.stderr);
    let dropped = lines
        .iter()
        .map(|line| &line["fields"])
        .find(|fields| fields["message"] == DROPPED_LINES)
        .unwrap();
    assert!(dropped["lost"].as_u64() > Some(0), "{dropped:?}");
    assert!(counted > Some(0), "{metrics}");
}

/// Part of every text, password, cookie and secret of the test.
const MARK: &str = "Samovarium";

/// Requests to every endpoint, and some that are refused.
#[rustfmt::skip]
const REQUESTS: &[(&str, &str, &str, u16)] = &[
    ("GET", "/me", "", 200),
    ("GET", "/forums", "", 200),
    ("GET", "/forums/2/threads", "", 200),
    ("POST", "/forums/2/threads", r#"{"title":"Samovarium","body":"Samovarium"}"#, 201),
    ("POST", "/forums/2/threads", r#"{"title":"Samovarium","body":5}"#, 400),
    ("POST", "/forums/2/threads", r#"{"Samovarium":"#, 400),
    ("GET", "/threads/1", "", 200),
    ("GET", "/threads/1/posts", "", 200),
    ("POST", "/threads/2/posts", r#"{"body":"Samovarium"}"#, 201),
    ("PATCH", "/threads/1/posts/1", r#"{"body":"Samovarium"}"#, 403),
    ("DELETE", "/threads/1/posts/1", "", 403),
    ("GET", "/members/@bob", "", 200),
    ("POST", "/members/@bob/reputation", r#"{"points":1,"comment":"Samovarium"}"#, 201),
    ("GET", "/messages", "", 200),
    ("POST", "/messages", r#"{"to":["@bob"],"subject":"Samovarium","body":"Samovarium"}"#, 201),
    ("GET", "/messages/1", "", 404),
    ("GET", "/threads/1/poll", "", 404),
    ("PATCH", "/polls/1", r#"{"question":"Samovarium"}"#, 200),
    ("POST", "/polls/1/votes", r#"{"optionIds":["1"]}"#, 201),
    ("GET", "/subscriptions", "", 200),
    ("POST", "/subscriptions", r#"{"target":"thread","targetId":"1"}"#, 201),
    ("DELETE", "/subscriptions/thread/1", "", 204),
    ("GET", "/search?q=Samovarium", "", 200),
    ("GET", "/search?q=tea&Samovarium=1", "", 400),
    ("GET", "/Samovarium", "", 404),
];

/// Texts that the log must not contain, in addition to [`MARK`].
#[derive(Default)]
struct Secrets(Vec<String>);

impl Secrets {
    /// Adds a token without its public part, which may be logged.
    fn add_token(&mut self, token: &str) {
        self.0.push(token.rsplit_once('_').unwrap().1.into());
    }

    fn assert_absent(&self, text: &str) {
        for secret in self.0.iter().map(String::as_str).chain([MARK]) {
            let line = text.lines().find(|line| line.contains(secret));
            assert_eq!(line, None, "{secret}");
        }
    }
}

#[test]
fn requests_for_style_and_script_are_not_logged() {
    let server = Server::new(&[]);
    for path in ["/panel/style.css", "/panel/script.js", "/docs/script.js", "/panel/usage"] {
        get(&server.url(path));
    }
    let (_, log) = server.stop_with_log();
    let is_end = |line: &&str| line.contains("request completed");
    let completed: Vec<_> = log.lines().filter(is_end).collect();
    assert_eq!(completed.len(), 1, "{log}");
    assert!(completed[0].contains("/usage"), "{log}");
}

/// A server that logs at every level, and the stderr of its commands.
struct Scenario {
    server: Server,
    password: String,
    secrets: Secrets,
    printed: String,
}

#[test]
fn the_log_holds_no_secret_in_either_format() {
    for format in ["text", "json"] {
        Scenario::new(format).run();
    }
}

/// SQL that makes statements fail with errors that quote [`MARK`], and SQL that ends this.
struct Fault {
    begin: String,
    end: String,
}

impl Fault {
    /// Returns a fault for each column that is read from a table, during which no row of the table can be written.
    /// SQLite has no condition on the statement.
    fn of_each_column(directory: &ServerDirectory) -> Vec<Self> {
        // Tables are renamed, but not their names in foreign keys and triggers.
        const LEGACY: &str = "PRAGMA busy_timeout = 20000; PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON;";
        let columns = directory.query(
            "SELECT list.name || ' ' || info.name FROM pragma_table_list AS list, pragma_table_xinfo(list.name) AS info
            WHERE list.schema = 'main' AND list.type = 'table' AND list.name NOT LIKE 'sqlite%'",
        );
        let faults = columns.iter().map(|column| {
            let (table, column) = column.split_once(' ').unwrap();
            let others = columns.iter().filter_map(|other| {
                let other = other.strip_prefix(table)?.strip_prefix(' ')?;
                (other != column).then(|| format!(", \"{other}\""))
            });
            let refuse = ["INSERT", "UPDATE", "DELETE"].map(|change| {
                format!(
                    "CREATE TRIGGER refuse_{change} INSTEAD OF {change} ON {table}
                    BEGIN SELECT RAISE(ABORT, '{MARK}'); END;"
                )
            });
            let begin = format!(
                "{LEGACY} ALTER TABLE {table} RENAME TO {table}_kept; CREATE VIEW {table} AS
                SELECT json_extract('{{}}', '{MARK}') AS \"{column}\" {} FROM {table}_kept; {}",
                others.collect::<String>(),
                refuse.concat()
            );
            let end =
                format!("{LEGACY} DROP VIEW {table}; ALTER TABLE {table}_kept RENAME TO {table}");
            Self { begin, end }
        });
        faults.collect()
    }

    /// Adds a policy to each table that compares the statement with the one that fails, and returns a fault for each
    /// statement in a log. Policies do not hold for superusers.
    fn of_each_statement(directory: &ServerDirectory, log: &str) -> Vec<Self> {
        let tables = directory.query(
            "SELECT relname::TEXT FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'",
        );
        let policies = tables.iter().map(|table| {
            format!(
                "ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
                CREATE POLICY allowed ON {table} USING (is_allowed()) WITH CHECK (is_allowed());"
            )
        });
        directory.execute(&format!(
            "CREATE TABLE failing (statement TEXT);
            CREATE FUNCTION is_allowed () RETURNS BOOLEAN LANGUAGE plpgsql STABLE AS
            $$ BEGIN
                IF EXISTS (SELECT FROM failing WHERE statement = current_query()) THEN RAISE '{MARK}'; END IF;
                RETURN TRUE;
            END $$;
            {}
            DO $$ DECLARE name TEXT := current_database() || '_user'; BEGIN
                EXECUTE format('CREATE ROLE %I', name);
                EXECUTE format('GRANT ALL ON ALL TABLES IN SCHEMA public TO %I', name);
                EXECUTE format('GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO %I', name);
                EXECUTE format('ALTER DATABASE %I SET role = %I', current_database(), name);
            END $$",
            policies.collect::<String>()
        ));
        let lines = parse_lines(log);
        let statements: BTreeSet<_> = lines
            .iter()
            .filter(|line| line["fields"]["message"] == "executing statement")
            .filter_map(|line| line["fields"]["sql"].as_str())
            .collect();
        let faults = statements.into_iter().map(|statement| Self {
            begin: format!("INSERT INTO failing VALUES ($text${statement}$text$)"),
            end: "DELETE FROM failing".into(),
        });
        faults.collect()
    }
}

/// Sends every request of the API and of the panel, and runs commands. Returns whether something failed, and what the
/// commands printed. `key` differs in each call.
fn use_everything(server: &Server, alice: &str, session: &str, key: usize) -> (bool, String) {
    let pages = ["usage", "tokens", "webhooks", "deliveries", "audit"];
    let key = [("idempotency-key", &*key.to_string())];
    let keyed = server.send_with(&key, "POST", alice, "/threads/2/posts", r#"{"body":"x"}"#);
    let statuses: Vec<_> = REQUESTS
        .iter()
        .map(|(method, path, body, _)| server.send(method, alice, path, body).status)
        .chain(pages.map(|name| page(server, session, &format!("/panel/{name}")).status))
        .chain([sign_in(server, "admin", MARK).status, keyed.status])
        .collect();
    let commands = ["audit list", "setting post.per_hour 1000000"].map(|line| server.run(line));
    let has_failed = statuses.iter().any(|status| *status >= 500)
        || commands.iter().any(|exited| exited.status != 0);
    (has_failed, commands.map(|exited| exited.stderr).concat())
}

#[test]
fn errors_of_each_statement_are_logged_without_values() {
    let options = ["--token-budget", "99999", "--window", "86400", "--log", "json"];
    let environment = [("RUST_LOG", "trace")];
    let server = Server::start_with(ServerDirectory::new(), &options, &environment, "");
    let alice = server.token("alice");
    let session = cookie(&sign_in(&server, "admin", server.password()));
    server.remove_post_limits();
    for key in ["message.per_hour", "message.inbox_quota"] {
        server.run_ok(&format!("setting {key} 1000000"));
    }
    server.run_ok("webhook add --allow-private-webhooks --url http://127.0.0.1:1/x");
    use_everything(&server, &alice, &session, 0);
    let (directory, log) = server.stop_with_log();
    let (faults, code) = if directory.is_in_postgres() {
        (Fault::of_each_statement(&directory, &log), "Postgres error P0001")
    } else {
        (Fault::of_each_column(&directory), "Error code 1")
    };
    let server = Server::start(directory, &options);
    let (has_failed, mut printed) = use_everything(&server, &alice, &session, 1);
    assert!(!has_failed);
    let mut failed = 0;
    for (key, fault) in (2..).zip(&faults) {
        server.directory.execute(&fault.begin);
        let (has_failed, stderr) = use_everything(&server, &alice, &session, key);
        failed += usize::from(has_failed);
        printed += &stderr;
        server.directory.execute(&fault.end);
    }
    assert!(failed * 3 > faults.len(), "{failed} of {}", faults.len());
    let (_, log) = server.stop_with_log();
    for text in [&log, &printed] {
        assert!(text.contains(code), "{text}");
        Secrets::default().assert_absent(text);
    }
}

impl Scenario {
    fn new(format: &str) -> Self {
        let options = [
            "--allow-private-webhooks",
            "--webhook-initial-backoff",
            "0.05",
            "--webhook-max-backoff",
            "0.1",
            "--admin-password-stdin",
            "--token-budget",
            "9999",
            "--log",
            format,
        ];
        let password = format!("{MARK} 1");
        let environment = [("RUST_LOG", "trace")];
        let server = Server::start_with(ServerDirectory::new(), &options, &environment, &password);
        Self { server, password, secrets: Secrets::default(), printed: String::new() }
    }

    fn command(&mut self, line: &str, input: &str) -> ExitedProcess {
        let exited = self.server.run_with_input(line, input);
        self.printed.push_str(&exited.stderr);
        exited
    }

    fn run(mut self) {
        let alice = self.server.token("alice");
        self.secrets.add_token(&alice);
        let receiver = self.use_webhooks();
        self.command("setting post.interval_seconds 0", "");
        for (method, path, body, status) in REQUESTS {
            let cookie = [("cookie", &*format!("session={MARK}"))];
            let answer = self.server.send_with(&cookie, method, &alice, path, body);
            assert_eq!(answer.status, *status, "{method} {path} {}", answer.body);
        }
        let sent_meanwhile = receiver.next().body;
        assert!(sent_meanwhile.contains("event"), "{sent_meanwhile}");
        self.use_panel();
        self.printed += &get(&self.server.url("/metrics")).body;
        let (_, log) = self.server.stop_with_log();
        for part in
            ["TRACE", "request completed", "delivery attempt completed", "INSERT", "retrying"]
        {
            assert!(log.contains(part), "{part}");
        }
        self.secrets.assert_absent(&log);
        self.secrets.assert_absent(&self.printed);
    }

    /// Registers an endpoint for all topics and two unreachable ones, and runs every command on endpoints.
    fn use_webhooks(&mut self) -> Receiver {
        let receiver = Receiver::with_statuses(|received| {
            let fails = received.body.contains("poll");
            Some(if fails { 500 } else { 204 })
        });
        let secret = format!("{MARK}-secret-of-an-endpoint");
        let mut ids = Vec::new();
        let closed = format!("http://127.0.0.1:1/{MARK} --secret-stdin");
        let unknown = format!("http://no-such-host.invalid/{MARK}?key={MARK}");
        for (url, input) in [(&*receiver.url, ""), (&*closed, &*secret), (&*unknown, "")] {
            let line = format!("webhook add --json --allow-private-webhooks --url {url}");
            let added = self.command(&line, input).json();
            let secret = added["secret"].as_str().unwrap();
            self.secrets.0.push(secret.into());
            ids.push(added["id"].as_str().unwrap().to_owned());
        }
        let refused = self.command(&format!("webhook add --url http://10.0.0.1/{MARK}"), "");
        assert_eq!(refused.status, 1);
        for action in ["ping --wait 0", "rotate", "activate", "disable", "enable", "ping --wait 0"]
        {
            let done = self.command(&format!("webhook {action} {} --json", ids[0]), "");
            assert_eq!(done.status, 0, "{done:?}");
            let secret = done.json()["secret"].as_str().map(str::to_owned);
            self.secrets.0.extend(secret);
        }
        receiver
    }

    /// Signs in with a wrong and with the right password, and creates a token and a secret in the panel.
    fn use_panel(&mut self) {
        let server = &self.server;
        assert_eq!(sign_in(server, "admin", MARK).status, 401);
        let typed = self.password.replace(' ', "+");
        let session = cookie(&sign_in(server, "admin", &typed));
        let (_, id) = session.split_once('=').unwrap();
        self.secrets.0.push(id.into());
        let issue =
            format!("owner=bob&label=x&scopes=members%3Aread&expires_in_days=1&password={typed}");
        let add = format!(
            "owner=admin&topics=post.created&url=http%3A%2F%2F127.0.0.1%3A1%2F{MARK}&password={typed}"
        );
        for (path, fields, prefix) in
            [("/panel/tokens/new", issue, "forum_pat_"), ("/panel/webhooks", add, "whsec_")]
        {
            let form_page = page(server, &session, path).body;
            let csrf = hidden_field(&form_page, "csrf");
            let nonce = hidden_field(&form_page, "once");
            let form = format!("csrf={csrf}&once={nonce}&{fields}");
            let headers = [("cookie", session.as_str()), FORM];
            let shown = send("POST", &server.url(path), &headers, &form);
            let (_, rest) = shown.body.split_once(prefix).unwrap();
            let is_end = |letter: char| !letter.is_ascii_alphanumeric() && letter != '_';
            let secret = rest.split(is_end).next().unwrap();
            let wrong_path = format!("/panel/tokens/{prefix}{secret}");
            send("GET", &server.url(&wrong_path), &headers[..1], "");
            let private_part = secret.rsplit('_').next().unwrap();
            self.secrets.0.extend([private_part.into(), csrf]);
        }
    }
}
