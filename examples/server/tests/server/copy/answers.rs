//! A copy, and a copy of it, answer as the board that was copied.

use std::iter;

use regex::Regex;

use super::full_board::FullBoard;
use super::{BACK, LEFT_OUT, SOURCE, copied_tables, copy, read_checksums, tables_in_postgres};
use crate::prelude::*;

const KEY: &str = "--secret-key-file forum.db.key";

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

#[test]
fn a_copy_answers_like_its_source_and_back() {
    let board = FullBoard::create();
    let directory = &board.directory;
    let database = Database::new();
    copy_there_and_back(directory, &database);
    assert_catalogs(directory, &database);
    let list = directory.run_line(&format!("audit list --json --database {BACK}"), "").json();
    let copies: Vec<_> = list
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| entry["action"] == "database.copied")
        .map(|entry| [&entry["target"], &entry["details"]].map(|text| text.as_str().unwrap()))
        .collect();
    let url = database.url();
    let shown = Regex::new(":[^:@]*@").unwrap().replace(&url, ":***@");
    let [to_copy, to_back] = [format!("to {shown}"), format!("to {BACK}")];
    assert_eq!(copies, [[&*shown, &to_back], [SOURCE, &to_copy]]);

    let postgres = database.url();
    for surface in ["full", "compact"] {
        assert_responses(&board, [SOURCE, &postgres, BACK], surface);
    }

    let options = format!("--database {postgres} {KEY} {ALLOW_PRIVATE}");
    let server = start_server(directory, &options);
    while board.receiver.try_next().is_some() {}
    let id = endpoint_id(&board.endpoint);
    let ping = directory.run_line(&format!("webhook ping {id} {options}"), "");
    assert_eq!(ping.status, 0);
    let sent = iter::repeat_with(|| board.receiver.next())
        .find(|received| received.json()["topic"] == "ping")
        .unwrap();
    assert!(sent.is_signed_with(endpoint_secret(&board.endpoint)));

    let last =
        &directory.query("SELECT CAST(seq AS TEXT) FROM sqlite_sequence WHERE name = 'post'")[0];
    let next = (last.parse::<i64>().unwrap() + 1).to_string();
    let back = start_server(directory, &format!("--database {BACK} --no-worker"));
    for server in [server, back] {
        let later = json!({ "body": "Later" });
        let post = server.post(&board.tokens["alice"], "/threads/1/posts", &later);
        assert_eq!(post.json()["postId"], next);
    }
}

/// Copies the board into Postgres, and the copy into a second file.
fn copy_there_and_back(directory: &ServerDirectory, database: &Database) {
    let postgres = database.url();
    let target = [("FORUM_TO", &*postgres)];
    let tables = copied_tables(directory);
    let source = Connection::open(directory.path().join("forum.db")).unwrap();
    source.execute_batch("CREATE TABLE _litestream_seq (id INTEGER)").unwrap();
    let there = wait(start(directory.path(), &["copy"], &target));
    source.execute_batch("DROP TABLE _litestream_seq").unwrap();
    let mut expected = read_checksums(&there);
    assert!(expected.keys().eq(&tables), "{expected:?}");
    let mut found = tables_in_postgres(database);
    found.retain(|table| !LEFT_OUT.contains(&&**table));
    assert!(expected.keys().eq(&found), "{found:?}");
    let shown = Regex::new(":[^:@]*@").unwrap().replace(&postgres, ":***@");
    let key = directory.query("SELECT key_id FROM forum_api_webhook_key").remove(0);
    let encrypted = format!("Its webhook secrets are encrypted with the key {key}");
    let next_step = "start its server, then run `board online`";
    let end = format!(
        "Copied the board to {shown}. The copy is offline: {next_step}.\n{encrypted}: start each server and each worker of \
         the new database with --secret-key-file \"forum.db.key\".\n"
    );
    assert!(there.stdout.ends_with(&end), "{there:?}");
    let offline = database.query("SELECT value FROM setting WHERE key = 'board.offline'");
    assert_eq!(offline, ["true"]);
    let copied = "SELECT count FROM forum_api_audit_log WHERE action = 'database.copied'";
    assert_eq!(database.query(copied), ["1"]);

    database.query("CREATE SCHEMA other CREATE TABLE thread (id BIGINT)");
    // The file of a copy that was killed.
    let partial_key = directory.path().join("back.db.key.copying");
    fs::write(&partial_key, "").unwrap();
    let back = directory.run_line(&format!("copy --database {postgres} --to {BACK} {KEY}"), "");
    let end = format!(
        "Copied the board to {BACK}. The copy is offline: {next_step}.\n{encrypted} in the file \"back.db.key\", which the \
         server reads.\n"
    );
    assert!(back.stdout.ends_with(&end), "{back:?}");
    let mut again = read_checksums(&back);
    let entries = [&mut again, &mut expected].map(|sums| sums.remove("forum_api_audit_log"));
    assert_ne!(entries[0], entries[1], "the copy is recorded");
    assert_eq!(again, expected);
    assert!(!partial_key.exists());
}

/// Asserts that the copies have the schemas of new boards, and that the second file has the sequences of the source.
fn assert_catalogs(directory: &ServerDirectory, database: &Database) {
    let fresh = Database::new();
    start_server(directory, &format!("--database {}", fresh.url())).stop();
    assert_eq!(database.query(CATALOG), fresh.query(CATALOG));

    let file = Connection::open(directory.path().join("back.db")).unwrap();
    let source = directory.path().join("forum.db");
    file.execute("ATTACH ?1 AS source", [source.to_str().unwrap()]).unwrap();
    for catalog in [
        "SELECT type || name || tbl_name || coalesce(sql, '') FROM SCHEMA.sqlite_schema ORDER BY 1",
        "SELECT name || seq FROM SCHEMA.sqlite_sequence ORDER BY name",
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
    assert!(check("PRAGMA foreign_key_check").is_err(), "a row violates a foreign key");
}

/// Asserts that each caller gets the same responses from all databases.
fn assert_responses(board: &FullBoard, databases: [&str; 3], surface: &str) {
    let directory = &board.directory;
    let servers = databases.map(|database| {
        directory.run_line(&format!("board online --database {database}"), "");
        start_server(
            directory,
            &format!(
                "--database {database} {KEY} --no-worker --surface {surface} --token-budget 1000000 \
                 --guest-budget 1000000"
            ),
        )
    });
    // The largest id, and one that does not exist.
    let ids = directory.query(
        "SELECT CAST(max(id) + 1 AS TEXT) FROM (SELECT id FROM forum UNION SELECT id FROM thread UNION SELECT id FROM member)",
    )[0].parse().unwrap();
    for token in board.tokens.values() {
        let [source, copies @ ..] =
            servers.each_ref().map(|server| read_everything(server, token, ids));
        let found = source.iter().filter(|(_, status, _)| *status == 200);
        assert!(found.count() > 5);
        for copy in copies {
            let mut pairs = copy.iter().zip(&source);
            let difference = pairs.find(|(copy, source)| copy != source);
            assert!(copy == source, "{difference:?}");
        }
    }
    for server in &servers {
        for token in &board.invalid {
            assert_eq!(server.get(token, "/me").status, 401);
        }
    }
}

/// A text whose character at the limit of the index of Postgres is a space.
#[test]
fn a_board_with_raised_limits_is_copied_to_postgres_and_back() {
    let server = start_server(&ServerDirectory::in_sqlite(), "--no-worker");
    let alice = server.token("alice");
    for key in ["thread.title_max", "post.body_max"] {
        server.run_ok(&format!("setting {key} 1000000"));
    }
    let new = json!({ "title": "a ".repeat(25_500), "body": "a ".repeat(50_500) });
    assert_eq!(server.post(&alice, "/forums/2/threads", &new).status, 201);
    let directory = server.stop();
    directory.run_line("board offline", "");
    let database = Database::new();
    let there = read_checksums(&copy(&directory, SOURCE, &database.url()));
    let back = read_checksums(&copy(&directory, &database.url(), BACK));
    assert_eq!(there["post"], back["post"]);
}

#[test]
fn a_copy_of_a_board_without_a_key_needs_no_key_file() {
    let new = ServerDirectory::in_sqlite().with_postgres(Database::new());
    let directory = Server::start(new, &["--empty", "--no-worker"]).stop();
    assert_eq!(directory.run_line("board offline", "").status, 0);
    let copied = directory.run_line("copy --to sqlite:moved.db", "");
    assert_eq!((copied.status, &*copied.stderr), (0, ""), "{copied:?}");
    let end = "then run `board online`.\nThe new database needs no key file.\n";
    assert!(copied.stdout.ends_with(end), "{copied:?}");
    assert!(!directory.path().join("moved.db.key").exists());
}

/// Starts a server with these options, split at spaces.
fn start_server(directory: &ServerDirectory, options: &str) -> Server {
    let words: Vec<_> = options.split_whitespace().collect();
    Server::start(directory.clone(), &words)
}

/// All responses to reads of a caller: resources with ids from 1 to `ids`, and lists to the last page.
fn read_everything(server: &Server, token: &str, ids: i64) -> Vec<(String, u16, String)> {
    let each = |prefix: &str, suffix: &str| -> Vec<String> {
        (1..=ids).map(|id| format!("/{prefix}/{id}{suffix}")).collect()
    };
    let mut paths = Vec::from(
        ["/me", "/forums", "/messages?limit=1", "/messages?folder=sent", "/subscriptions?limit=1"]
            .map(str::to_owned),
    );
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
        // A request has its own id, and changes the time at which its member was last seen. A server has its own address.
        let body = own.replace_all(&read.body, "").replace(&server.url(""), "");
        reads.push((path, read.status, body));
    }
    reads
}

fn urlencoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect()
}
