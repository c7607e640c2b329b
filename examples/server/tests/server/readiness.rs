//! `/ready`, beside `/health`.

use std::thread;
use std::time::Duration;

use forum_api::store::sqlite::rusqlite::Connection;

use crate::client::get;
use crate::program::{Home, Server};

fn ready(server: &Server) -> (u16, String) {
    let answer = get(&server.beside("/ready"));
    (answer.status, answer.body)
}

/// Asks again until the last result is no longer used.
fn becomes(server: &Server, status: u16) {
    for _ in 0..100 {
        if ready(server).0 == status {
            return;
        }
        thread::sleep(Duration::from_millis(100));
    }
    panic!("/ready does not become {status}");
}

#[test]
fn a_server_is_ready_while_its_database_can_be_written_to() {
    let server = Server::with_input(Home::in_sqlite(), &[], "");
    assert_eq!(ready(&server), (200, r#"{"status":"ok"}"#.into()));
    let another = Connection::open(server.home.path().join("forum.db")).unwrap();
    another.execute_batch("BEGIN IMMEDIATE").unwrap();
    becomes(&server, 503);
    assert_eq!(ready(&server).1, r#"{"status":"unavailable"}"#);
    assert_eq!(get(&server.beside("/health")).status, 200);
    another.execute_batch("ROLLBACK").unwrap();
    becomes(&server, 200);
}

#[test]
fn a_server_is_not_ready_while_migrations_are_pending() {
    let server = Server::with_input(Home::in_sqlite(), &[], "");
    let another = Connection::open(server.home.path().join("forum.db")).unwrap();
    for table in ["forum_api_migrations", "board_migrations"] {
        let moved = format!("ALTER TABLE {table} RENAME TO elsewhere");
        another.execute_batch(&moved).unwrap();
        becomes(&server, 503);
        let back = format!("ALTER TABLE elsewhere RENAME TO {table}");
        another.execute_batch(&back).unwrap();
        becomes(&server, 200);
    }
}
