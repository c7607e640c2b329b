//! Copies that are refused. `cases/no_board.trycmd` has those of invalid URLs.

use super::{SOURCE, copy, tables_in_postgres};
use crate::prelude::*;

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
    refused(SOURCE, &postgres, "the board is online");
    server.run_ok("board offline");
    refused(&postgres, "sqlite:other.db", "contains no board");
    let unreachable = "postgres://forum@127.0.0.1:1/forum";
    refused(SOURCE, unreachable, "cannot connect to Postgres");
    assert!(tables_in_postgres(&database).is_empty());
    let encoded = Database::with_encoding("LATIN1");
    let encoding = "the encoding of the database is LATIN1";
    refused(SOURCE, &encoded.url(), encoding);
    let other = Database::new();
    other.query("CREATE TABLE other (id INT)");
    let used = "the target is not empty: it contains the table \"other\"";
    refused(SOURCE, &other.url(), used);
    assert_eq!(tables_in_postgres(&other), ["other"]);
    server.run_ok("board online");
    let online = server.run(&format!("copy --online --json --to {postgres}"));
    assert_eq!((online.status, online.json()), (0, json!({ "ok": true })));
    let warning = "warning: the board was online";
    assert!(online.stderr.starts_with(warning), "{online:?}");
    server.run_ok("board offline");
    refused(SOURCE, &postgres, "the target contains a board already");
    let missing = "the directory of the database \"missing/other.db\" does not exist";
    refused(&postgres, "sqlite:missing/other.db", missing);
    refused(&postgres, SOURCE, "a process uses the database");
    let path = |name: &str| directory.path().join(name);
    fs::write(path("other.db"), "").unwrap();
    refused(&postgres, "sqlite:other.db", "already exists");
    fs::write(path("new.db-journal"), "").unwrap();
    let log = "log \"new.db-journal\" of another";
    refused(&postgres, "sqlite:new.db", log);
    fs::remove_file(path("new.db-journal")).unwrap();
    fs::write(path("new.db.key"), "0123456789abcdef").unwrap();
    refused(&postgres, "sqlite:new.db", "contains another key");
    database.query("INSERT INTO board_migrations VALUES (1000, 'later', '')");
    refused(&postgres, "sqlite:none.db", "newer than this program");
    let directory = server.stop();
    let changed = Connection::open(directory.path().join("forum.db")).unwrap();
    changed.execute("DELETE FROM board_migrations", []).unwrap();
    drop(changed);
    let refused = copy(&directory, SOURCE, &Database::new().url());
    refused.assert_error("older than this program");
}
