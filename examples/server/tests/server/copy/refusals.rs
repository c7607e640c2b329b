//! Copies that are refused. `cases/no_board.session` has those of invalid URLs.

use regex::Regex;

use super::{SOURCE, copy, tables_in_postgres};
use crate::prelude::*;

const IS_ONLINE: &str = "the board is online; run `forum-server board offline` first, or pass --online to test the copy: \
                         changes after its beginning are missing in the target";

const FEED_IS_MOVING: &str = "a worker has not moved all events of the feed that a restored dump or a copy contained; run \
                              `forum-server worker` until `GET /x/events` returns them, and repeat the copy";

#[test]
fn refusals_change_nothing() {
    let server = Server::start(ServerDirectory::in_sqlite(), &["--no-worker"]);
    let directory = &server.directory;
    let database = Database::new();
    let postgres = database.url();
    let assert_refused = |from: &str, to: &str, reason: &str| {
        let before = directory.files();
        copy(directory, from, to).assert_error(reason);
        assert_eq!(directory.files(), before);
    };
    assert_refused(SOURCE, &postgres, IS_ONLINE);
    server.run_ok("board offline");
    fs::write(directory.path().join("other.key"), "0123456789abcdef").unwrap();
    let with_other_key = format!("{postgres} --secret-key-file other.key");
    assert_refused(SOURCE, &with_other_key, ", but the key ");
    assert_refused(&postgres, "sqlite:other.db", "contains no board");
    assert_refused(SOURCE, "postgres://forum@127.0.0.1:1/forum", "cannot connect to Postgres");
    assert!(tables_in_postgres(&database).is_empty());
    let encoded = Database::with_encoding("LATIN1");
    assert_refused(SOURCE, &encoded.url(), "the encoding of the database is LATIN1");
    let other = Database::new();
    other.query("CREATE FUNCTION post() RETURNS INT LANGUAGE SQL AS 'SELECT 1'");
    for (kind, name, definition) in [
        ("type", "member", "AS ENUM ('x')"),
        ("view", "post", "AS SELECT 1"),
        ("table", "other", "(id INT)"),
    ] {
        other.query(format!("CREATE {kind} {name} {definition}"));
        let reason = format!("the target is not empty: it contains the {kind} \"{name}\"");
        assert_refused(SOURCE, &other.url(), &reason);
        if kind != "table" {
            other.query(format!("DROP {kind} {name}"));
        }
    }
    assert_eq!(tables_in_postgres(&other), ["other"]);
    server.run_ok("board online");
    let online = server.run(&format!("copy --online --json --to {postgres}"));
    let copied = online.json();
    assert_eq!((online.status, &copied["ok"]), (0, &json!(true)));
    let tables = copied["tables"].as_array().unwrap();
    let forums = tables.iter().find(|table| table["table"] == "forum").unwrap();
    assert!(forums["rows"].is_u64() && copied["key"].is_string(), "{copied}");
    let warning = "warning: the board was online: changes after the beginning of the copy are missing in the copy\n";
    assert_eq!(online.stderr, warning);
    server.run_ok("board offline");
    assert_refused(SOURCE, &postgres, "the target contains a board already");
    assert_refused(
        &postgres,
        "sqlite:missing/other.db",
        "the directory of the database \"missing/other.db\" does not exist",
    );
    assert_refused(&postgres, SOURCE, "a process uses the database");
    let path = |name: &str| directory.path().join(name);
    fs::write(path("other.db"), "").unwrap();
    assert_refused(&postgres, "sqlite:other.db", "already exists");
    fs::write(path("new.db-journal"), "").unwrap();
    assert_refused(&postgres, "sqlite:new.db", "log \"new.db-journal\" of another");
    fs::remove_file(path("new.db-journal")).unwrap();
    fs::write(path("new.db.key"), "0123456789abcdef").unwrap();
    assert_refused(&postgres, "sqlite:new.db", "contains another key");
    let run_on_copy = |command: &str| {
        let run = directory.run_line(&format!("{command} --database {postgres}"), "");
        assert_eq!(run.status, 0, "{run:?}");
    };
    run_on_copy("post delete 5");
    database.query("UPDATE forum_api_events SET position = 4611686018427387904");
    run_on_copy("post restore 5");
    assert_refused(&postgres, "sqlite:none.db", FEED_IS_MOVING);
    database.query("UPDATE forum_api_events SET position = 4611686018427387904");
    database.query(
        "INSERT INTO forum_api_feed_move (only_row, last_number, position) VALUES (TRUE, 9, -9)",
    );
    assert_refused(&postgres, "sqlite:none.db", FEED_IS_MOVING);
    database.query("DELETE FROM forum_api_feed_move");
    let copied = copy(directory, &postgres, "sqlite:moved.db");
    assert_eq!(copied.status, 0, "{copied:?}");
    let key = directory.query("SELECT key_id FROM forum_api_webhook_key").remove(0);
    let end = format!(
        "Copied the board to sqlite:moved.db. The copy is offline: start its server, then run `board online`.\n\
         Its webhook secrets are encrypted with the key {key}: copy the file of this key to \"moved.db.key\", or pass it \
         with --secret-key-file.\n"
    );
    assert!(copied.stdout.ends_with(&end), "{copied:?}");
    database.query("INSERT INTO board_migrations VALUES (1000, 'later', '')");
    assert_refused(&postgres, "sqlite:none.db", "newer than this program");
    let directory = server.stop();
    let changed = Connection::open(directory.path().join("forum.db")).unwrap();
    changed.execute("ALTER TABLE rating ADD COLUMN extra TEXT", []).unwrap();
    let differs = copy(&directory, SOURCE, &Database::new().url());
    let reason = "the table \"rating\" differs between SQLite and Postgres";
    assert_eq!(differs.error_message(), reason);
    changed.execute("DELETE FROM board_migrations", []).unwrap();
    drop(changed);
    copy(&directory, SOURCE, &Database::new().url()).assert_error("older than this program");
}

/// The database changes rows when an index is created: after the copy of the rows, and before their comparison.
#[test]
fn a_copy_whose_rows_differ_from_the_source_leaves_no_board() {
    let server = Server::start(ServerDirectory::in_sqlite(), &["--no-worker"]);
    server.run_ok("board offline");
    let directory = server.stop();
    let database = Database::new();
    database.query(
        "CREATE FUNCTION change () RETURNS event_trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF to_regclass('forum') IS NOT NULL THEN
                UPDATE forum SET title = 'changed';
            END IF;
        END $$;
        CREATE EVENT TRIGGER change ON ddl_command_end WHEN TAG IN ('CREATE INDEX')
        EXECUTE FUNCTION change()",
    );
    let copied = copy(&directory, SOURCE, &database.url());
    let reason = "^the table \"forum\" of the target differs from the source: 5 rows with the checksum [0-9a-f]{32} \
                  instead of 5 rows with the checksum [0-9a-f]{32}$";
    assert!(Regex::new(reason).unwrap().is_match(copied.error_message()), "{copied:?}");
    assert!(tables_in_postgres(&database).is_empty());
}
