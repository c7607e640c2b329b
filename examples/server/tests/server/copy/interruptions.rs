//! Copies that are killed, lose their connection, or run at the same time.

use std::process::Child;

use super::{BACK, SOURCE, copy, read_checksums, tables_in_postgres, wait_until};
use crate::prelude::*;
use crate::proxy::Proxy;

/// Number of kills in each direction, unless `FORUM_API_KILLS` is set.
const KILLS: u64 = 10;

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
        let checksums = read_checksums(&copy(&directory, SOURCE, &there.url));
        // The board is offline, so that the option has no effect.
        read_checksums(
            &directory.run_line(&format!("copy --online --database {} --to {BACK}", back.url), ""),
        );
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
        assert!(tables_in_postgres(database).is_empty());
        let copied = copy(&self.directory, SOURCE, &database.url());
        assert_eq!(read_checksums(&copied), self.checksums);
    }

    /// Copies into a new file, after an attempt that failed.
    fn copy_to_sqlite(&self) {
        assert!(!self.back().exists());
        let mut copied = read_checksums(&copy(&self.directory, &self.postgres.url(), BACK));
        let entries = "forum_api_audit_log".to_owned();
        copied.insert(entries.clone(), self.checksums[&entries].clone());
        assert_eq!(copied, self.checksums);
        self.remove_back();
    }

    fn back(&self) -> PathBuf {
        self.directory.path().join("back.db")
    }

    fn remove_back(&self) {
        for file in self.directory.files().iter().filter(|file| file.starts_with("back.db")) {
            fs::remove_file(self.directory.path().join(file)).unwrap();
        }
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
        board.copy_to_postgres(&database);

        let proxy = Proxy::start(&board.postgres.url(), share(board.bytes_to_sqlite));
        let child = board.start(&proxy.url, BACK);
        proxy.wait();
        kill(child, &proxy);
        board.copy_to_sqlite();
    }
}

/// The transaction of the first copy runs when the second one begins.
#[test]
fn a_copy_waits_for_the_end_of_one_that_was_killed() {
    let board = CopiedBoard::create();
    let database = Database::new();
    database.query(
        "CREATE SEQUENCE called;
         CREATE FUNCTION sleep () RETURNS event_trigger LANGUAGE plpgsql AS
             'BEGIN IF nextval(''called'') = 1 THEN PERFORM pg_sleep(60); END IF; END';
         CREATE EVENT TRIGGER sleep ON ddl_command_end WHEN TAG IN ('CREATE INDEX')
             EXECUTE FUNCTION sleep()",
    );
    let mut child = board.start(SOURCE, &database.url());
    let sleeping = "SELECT pid::text FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event = 'PgSleep'";
    wait_until(|| !database.query(sleeping).is_empty());
    child.kill().unwrap();
    child.wait().unwrap();
    board.copy_to_postgres(&database);
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
        assert!(message.starts_with("cannot copy the table \"post\": "), "{message}");
    };
    let database = Database::new();
    let proxy = Proxy::start(&database.url(), board.bytes_to_postgres / 4);
    interrupt(board.start(SOURCE, &proxy.url), &proxy);
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
    for (from, to, database, lock, reason) in [
        (
            SOURCE,
            &*target.url(),
            &target,
            "SELECT pg_advisory_lock(hashtextextended('forum_api_migrations', 0))",
            "another copy writes the target",
        ),
        (
            &source.url(),
            BACK,
            source,
            "BEGIN; LOCK TABLE post",
            "a process uses the database; stop it first",
        ),
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
        read_checksums(&wait(first));
    }
}
