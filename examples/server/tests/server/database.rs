//! `--database`: what is none, what cannot be reached, and what a later version has changed.

use std::net::TcpListener;

use serde_json::json;
use tempfile::TempDir;

use crate::client::get;
use crate::program::{Home, Server, databases, run};

/// Serving and a command are refused alike, in a sentence that shows no password.
fn refused(database: &str) -> String {
    let directory = TempDir::new().unwrap();
    let [served, listed] = [&["--listen", "127.0.0.1:0"], &["token", "list"]].map(|arguments| {
        let arguments = [&["--database", database][..], arguments].concat();
        run(directory.path(), &arguments, "").refusal().to_owned()
    });
    assert_eq!(served, listed);
    assert!(!served.contains("secret"), "{served}");
    served
}

#[test]
fn what_is_no_database_is_refused() {
    for url in [
        "mysql://forum:secret@localhost/forum",
        "forum:secret@localhost",
        "postgres://forum:secret@localhost:port/forum",
        "postgres://forum:secret/secret@localhost/forum",
        "postgres://forum:secret@localhost/forum?sslmode=maybe",
    ] {
        refused(url);
    }
}

#[test]
fn a_postgres_that_is_not_there_is_refused() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = nobody.local_addr().unwrap();
    drop(nobody);
    let sentence = refused(&format!("postgres://forum:secret@{address}/forum"));
    assert!(sentence.contains("refused"), "{sentence}");
}

#[test]
fn a_postgres_that_does_not_know_the_password_is_refused() {
    databases::try_in_postgres(async {
        let database = databases::Database::new();
        let url = database.url();
        let (_, server) = url.rsplit_once('@').unwrap();
        let sentence = refused(&format!("postgres://forum:secret@{server}"));
        assert!(
            sentence.contains("password authentication failed"),
            "{sentence}"
        );
    });
}

#[test]
fn a_postgres_without_a_board_is_left_as_it_is() {
    databases::try_in_postgres(async {
        let (database, directory) = (databases::Database::new(), TempDir::new().unwrap());
        let url = database.url();
        let listed = run(directory.path(), &["--database", &url, "token", "list"], "");
        assert_eq!(
            listed.refusal(),
            "the database holds no board: serve it first"
        );
        let tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'";
        assert!(database.ask(tables).is_empty());
    });
}

/// Error of every program for a database that it must not use.
fn refusals(home: &Home) -> Vec<String> {
    let arguments: [&[&str]; 4] = [
        &["--listen", "127.0.0.1:0"],
        &["worker"],
        &["migrate"],
        &["token", "list"],
    ];
    let refusals = arguments.map(|arguments| home.run(arguments, "").refusal().to_owned());
    refusals.to_vec()
}

#[test]
fn a_newer_schema_is_refused_by_every_program() {
    for table in ["board_migrations", "forum_api_migrations"] {
        let home = Server::new(&[]).stop();
        home.ask(&format!("INSERT INTO {table} VALUES (99, 'later', '')"));
        for refusal in refusals(&home) {
            assert!(refusal.contains("newer than this program"), "{refusal}");
        }
    }
}

#[test]
fn an_outdated_schema_is_migrated_by_serve_worker_and_migrate_only() {
    let home = Server::with_input(Home::in_sqlite(), &[], "").stop();
    let outdate = || {
        let tables = home
            .ask("SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'forum_api_%'");
        for table in tables {
            home.ask(&format!("DROP TABLE {table}"));
        }
    };
    outdate();
    for arguments in [&["token", "list"][..], &["migrate", "--check"]] {
        let refused = home.run(arguments, "");
        assert!(
            refused.refusal().contains("older than this program"),
            "{refused:?}"
        );
    }
    assert_eq!(
        home.run(&["migrate", "--json"], "").json(),
        json!({ "ok": true })
    );
    for arguments in [&["token", "list"][..], &["migrate", "--check"]] {
        assert_eq!(home.run(arguments, "").status, 0);
    }
    outdate();
    let server = Server::with_input(home, &[], "");
    assert_eq!(get(&server.api("/forums")).status, 200);
}
