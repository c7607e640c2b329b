//! The command `copy`: a board moves between SQLite and Postgres, and a copy that fails leaves no board.

use crate::prelude::*;

mod answers;
mod full_board;
mod interruptions;
mod refusals;

pub const TIMEOUT: Duration = Duration::from_secs(60);

const SOURCE: &str = "sqlite:forum.db";

const BACK: &str = "sqlite:back.db";

/// Tables that are not copied, in either database.
const LEFT_OUT: [&str; 7] = [
    "access_version",
    "board_migrations",
    "forum_api_feed_move",
    "forum_api_migrations",
    "post_text",
    "session",
    "sign_in_key",
];

/// The tables of a SQLite board that are copied.
fn copied_tables(directory: &ServerDirectory) -> Vec<String> {
    let find = "SELECT name FROM pragma_table_list
        WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name";
    let mut tables = directory.query(find);
    tables.retain(|table| !LEFT_OUT.contains(&&**table));
    tables
}

fn copy(directory: &ServerDirectory, from: &str, to: &str) -> ExitedProcess {
    directory.run_line(&format!("copy --database {from} --to {to}"), "")
}

/// The printed rows and checksums of all tables.
fn read_checksums(copied: &ExitedProcess) -> BTreeMap<String, String> {
    assert_eq!((copied.status, &*copied.stderr), (0, ""), "{copied:?}");
    let lines = copied.stdout.lines().skip(1);
    lines
        .map_while(|line| match line.split_whitespace().collect::<Vec<_>>()[..] {
            [table, rows, checksum] => Some((table.to_owned(), format!("{rows} {checksum}"))),
            _ => None,
        })
        .collect()
}

/// All tables of a Postgres database.
fn tables_in_postgres(database: &Database) -> Vec<String> {
    database.query("SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY relname")
}

#[track_caller]
pub fn wait_until(mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + TIMEOUT;
    while !condition() {
        assert!(Instant::now() < deadline, "timeout");
        // Leaves the processor to the other tests.
        thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until a response has this status. `/ready` caches its result for a second, and can be unavailable for a moment.
#[track_caller]
pub fn wait_for_status(url: &str, status: u16) -> Response {
    let mut response = get(url);
    wait_until(|| {
        if response.status != status {
            response = get(url);
        }
        response.status == status
    });
    response
}
