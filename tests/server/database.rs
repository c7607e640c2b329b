//! `--database`: what is none, what cannot be reached, and what a later version has changed.

use std::net::TcpListener;

use tempfile::TempDir;

use crate::program::{Server, databases, run};

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

/// The library's tables and the board's have migrations of their own.
const MIGRATIONS: [&str; 2] = ["board_migrations", "forum_api_migrations"];

#[test]
fn a_newer_schema_is_refused() {
    for table in MIGRATIONS {
        let home = Server::new(&["--empty"]).stop();
        home.ask(&format!(
            "INSERT INTO {table} (step) SELECT max(step) + 1 FROM {table}"
        ));
        for arguments in [
            &["serve", "--listen", "127.0.0.1:0"][..],
            &["worker"],
            &["token", "list"],
        ] {
            let ended = home.run(arguments, "");
            let refusal = ended.refusal();
            assert!(
                refusal.contains("newer than this program"),
                "{arguments:?}: {refusal}"
            );
        }
    }
}

#[test]
fn an_outdated_schema_is_refused_by_commands() {
    for table in MIGRATIONS {
        let home = Server::new(&["--empty"]).stop();
        home.ask(&format!("DELETE FROM {table}"));
        let ended = home.run(&["token", "list"], "");
        assert!(
            ended.refusal().contains("older than this program"),
            "{ended:?}"
        );
        assert_eq!(
            home.ask(&format!("SELECT CAST(count(*) AS TEXT) FROM {table}")),
            ["0"]
        );
    }
}
