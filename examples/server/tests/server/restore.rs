//! The command `restore`: replaced files, refusals, and `kill -9` during a restore.

use std::fs::File;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use crate::prelude::*;

/// Number of kills, unless `FORUM_API_KILLS` is set.
const KILLS: u32 = 20;

/// Reason of the refusal of a second restore.
const KEPT: &str = "contains the database before an earlier restore";

const RESTORE: [&str; 3] = ["restore", "copy.db", "--yes"];

/// A board with the forum `Before`, its backup `copy.db`, and the forum `After`, which the log of a killed server
/// contains.
fn create_board(content: &str) -> ServerDirectory {
    let server = Server::start(ServerDirectory::in_sqlite(), &["--empty", "--no-worker"]);
    if !content.is_empty() {
        server.run_ok(content);
    }
    server.run_ok("forum add Before");
    server.run_ok("backup copy.db");
    server.run_ok("forum add After");
    let directory = server.kill();
    let log = directory.path().join("forum.db-wal");
    assert!(log.metadata().unwrap().len() > 0);
    directory
}

fn restore(directory: &ServerDirectory) -> ExitedProcess {
    directory.run(&RESTORE, "")
}

/// The files of a directory, without those of locks.
fn list_files(directory: &ServerDirectory) -> Vec<String> {
    let mut found = directory.files();
    found.retain(|file| !file.ends_with(".lock") && !file.ends_with(".server"));
    found
}

/// The last forum of an undamaged database.
fn last_forum(directory: &ServerDirectory, file: &str) -> String {
    let database = Connection::open(directory.path().join(file)).unwrap();
    let check = database.query_row("PRAGMA integrity_check", [], |row| row.get(0));
    assert_eq!(check, Ok("ok".to_owned()));
    let last = "SELECT title FROM forum ORDER BY id DESC LIMIT 1";
    database.query_row(last, [], |row| row.get(0)).unwrap()
}

fn assert_refused(directory: &ServerDirectory, arguments: &[&str], reason: &str) {
    let before = list_files(directory);
    directory.run(arguments, "").assert_error(reason);
    let after = list_files(directory);
    // The log can be merged into the database.
    let is_new = |file: &&String| !before.contains(file);
    assert_eq!(after.iter().find(is_new), None);
    assert!(after.contains(&"forum.db".into()), "{after:?}");
}

#[test]
fn a_link_in_the_place_of_a_file_of_the_server_is_not_followed() {
    let directory = create_board("");
    let at = |name: &str| directory.path().join(name);
    fs::write(at("other"), "content").unwrap();
    let refuse = |arguments: &[&str]| {
        directory.run(arguments, "").assert_error("it is a symbolic link");
        assert_eq!(fs::read_to_string(at("other")).unwrap(), "content");
    };
    for name in ["forum.db.lock", "forum.db.server", "forum.db.before-restore"] {
        // The killed server has left its files.
        drop(fs::remove_file(at(name)));
        symlink("other", at(name)).unwrap();
        refuse(&["member", "list"]);
        refuse(&["backup", "second.db"]);
        refuse(&RESTORE);
        refuse(&["serve", "--listen", "127.0.0.1:0"]);
        fs::remove_file(at(name)).unwrap();
    }
    symlink("copy.db", at("link.db")).unwrap();
    let listed = directory.run(&["member", "list", "--json", "--database", "sqlite:link.db"], "");
    assert_eq!(listed.status, 0, "{listed:?}");
    fs::remove_file(at("link.db")).unwrap();
    symlink("other", at("link.db")).unwrap();
    refuse(&["restore", "copy.db", "--yes", "--database", "sqlite:link.db"]);
    symlink("/dev/null", at("null.db")).unwrap();
    refuse(&["restore", "null.db", "--yes"]);
}

#[test]
fn ids_that_a_backup_lacks_are_not_assigned_again() {
    let directory = create_board("");
    let add = |title| -> i64 {
        let added = directory.run(&["forum", "add", title, "--json"], "");
        added.json()["forumId"].as_str().unwrap().parse().unwrap()
    };
    let lost = add("Lost");
    assert_eq!(restore(&directory).status, 0);
    assert!(add("New") > lost + 900_000);
    let password = "a long password";
    let server = Server::start(directory.clone(), &["--no-worker"]);
    server.run_ok_with_input("member password admin --password-stdin", password);
    let issue = "token issue --password-stdin --owner admin --scopes all";
    let token = server.run_ok_with_input(issue, password).stdout;
    let new = json!({ "title": "x", "body": "x" });
    let thread = server.post(token.trim_end(), "/forums/1/threads", &new).json();
    for key in ["threadId", "firstPostId"] {
        let id: i64 = thread[key].as_str().unwrap().parse().unwrap();
        assert_eq!(id, 1_000_001, "{key}");
    }
    for title in ["General", "Help", "Members"] {
        server.run_ok(&format!("forum add {title}"));
    }
    server.run_ok("generate --posts 1 --yes");
    server.stop();
    let last_post = || directory.query("SELECT CAST(max(id) AS TEXT) FROM post");
    assert_eq!(last_post(), ["1000002"]);

    // The replaced database has assigned more ids than the gap has.
    directory.execute("UPDATE sqlite_sequence SET seq = 7000000 WHERE name = 'forum'");
    fs::remove_file(directory.path().join("forum.db.before-restore")).unwrap();
    assert_eq!(restore(&directory).status, 0);
    assert_eq!(add("Newest"), 7_000_001);
}

#[test]
fn a_backup_replaces_the_database_and_its_log() {
    let directory = create_board("");
    let server = Server::start(directory, &["--no-worker"]);
    assert_refused(&server.directory, &RESTORE, "a process uses the database");
    wait_for_status(&server.url("/ready"), 200);
    let directory = server.kill();
    assert_refused(&directory, &["restore", "copy.db"], "Pass --yes to confirm.");
    let restored = restore(&directory).stdout;
    let text = "Restored the database \"forum.db\" from \"copy.db\". The database before the restore is \"";
    assert!(restored.starts_with(text), "{restored}");
    let end = "/forum.db.before-restore\".\n";
    assert!(restored.ends_with(end), "{restored}");
    let expected = ["copy.db", "forum.db", "forum.db.before-restore", "forum.db.key"];
    assert_eq!(list_files(&directory), expected);
    for file in expected {
        let metadata = directory.path().join(file).metadata().unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600, "{file}");
    }
    assert_eq!(last_forum(&directory, "forum.db"), "Before");
    assert_eq!(last_forum(&directory, "forum.db.before-restore"), "After");
    let list = directory.run(&["audit", "list", "--json"], "").json();
    assert_eq!([&list[0]["action"], &list[0]["target"]], ["database.restored", "copy.db"]);
    let server = Server::start(directory, &["--no-worker"]);
    wait_for_status(&server.url("/ready"), 200);
    let directory = server.stop();

    assert_refused(&directory, &RESTORE, KEPT);
    assert_eq!(last_forum(&directory, "forum.db.before-restore"), "After");
    let path = |name: &str| directory.path().join(name);
    fs::rename(path("forum.db.before-restore"), path("after.db")).unwrap();
    let other = Connection::open(path("forum.db")).unwrap();
    other.query_row("SELECT title FROM forum", [], |_| Ok(())).unwrap();
    assert_refused(&directory, &RESTORE, "another program uses the database");
    drop(other);
    let undo = directory.run(&["restore", "after.db", "--yes", "--json"], "");
    assert_eq!(undo.json(), json!({ "ok": true }));
    assert_eq!(last_forum(&directory, "forum.db"), "After");
}

#[test]
fn the_copy_of_a_killed_restore_is_not_a_backup() {
    let directory = create_board("");
    let copy = directory.path().join("forum.db.restoring");
    fs::rename(directory.path().join("copy.db"), &copy).unwrap();
    assert_refused(
        &directory,
        &["restore", "forum.db.restoring", "--yes"],
        "move it to another path first",
    );
    assert!(copy.exists());
}

#[test]
fn a_file_that_is_not_a_complete_backup_is_refused() {
    let directory = create_board("");
    let path = |name: &str| directory.path().join(name);
    let backup = fs::read(path("copy.db")).unwrap();
    fs::write(path("torn.db"), &backup[..backup.len() / 2]).unwrap();
    fs::write(path("text.db"), "not a database".repeat(999)).unwrap();
    File::create(path("empty.db")).unwrap();
    let change = |name: &str, sql: &str| {
        let database = Connection::open(path(name)).unwrap();
        database.execute_batch(sql).unwrap();
    };
    change("other.db", "CREATE TABLE member (x)");
    for (name, table) in [("library.db", "forum_api"), ("newer.db", "board")] {
        fs::write(path(name), &backup).unwrap();
        change(name, &format!("INSERT INTO {table}_migrations VALUES (99, 'later', '')"));
    }
    for name in ["logged.db", "logged.db-journal"] {
        fs::write(path(name), &backup).unwrap();
    }
    for (name, reason) in [
        ("none.db", "No such file"),
        (".", "is empty or not a file"),
        ("empty.db", "is empty or not a file"),
        ("forum.db", "is the database itself"),
        ("logged.db", "is incomplete: its log"),
        ("text.db", "is not a SQLite database"),
        ("torn.db", "is damaged"),
        ("other.db", "contains no board"),
        ("library.db", "newer than this program"),
        ("newer.db", "newer than this program"),
    ] {
        assert_refused(&directory, &["restore", name, "--yes"], reason);
        assert_eq!(last_forum(&directory, "forum.db"), "After", "{name}");
    }
}

#[test]
fn the_key_of_a_backup_is_checked() {
    let directory = create_board("");
    let path = |name: &str| directory.path().join(name);
    fs::rename(path("forum.db.key"), path("key")).unwrap();
    fs::write(path("forum.db.key"), "0123456789abcdef").unwrap();
    assert_refused(&directory, &RESTORE, "pass the file of the key of the backup");
    fs::remove_file(path("forum.db.key")).unwrap();
    let with_key = directory.run(&[&RESTORE[..], &["--secret-key-file", "key"]].concat(), "");
    assert!(!with_key.stdout.contains("the key"), "{with_key:?}");
    fs::remove_file(path("forum.db.before-restore")).unwrap();
    let without = restore(&directory).stdout;
    assert!(without.contains("encrypted with the key "), "{without}");
}

#[test]
fn a_lost_or_unreadable_database_is_replaced() {
    let directory = create_board("");
    let path = |name: &str| directory.path().join(name);
    for name in ["forum.db", "forum.db-wal"] {
        fs::write(path(name), name.repeat(999)).unwrap();
    }
    assert_eq!(restore(&directory).status, 0);
    assert!(!path("forum.db-wal").exists());
    assert_eq!(last_forum(&directory, "forum.db"), "Before");
    for suffix in ["", "-wal"] {
        let kept = path(&format!("forum.db.before-restore{suffix}"));
        let text = fs::read_to_string(&kept).unwrap();
        assert!(text == format!("forum.db{suffix}").repeat(999), "{suffix}");
        fs::remove_file(kept).unwrap();
    }
    fs::remove_file(path("forum.db")).unwrap();
    assert_eq!(restore(&directory).status, 0);
    assert_eq!(last_forum(&directory, "forum.db"), "Before");
    assert_eq!(list_files(&directory), ["copy.db", "forum.db", "forum.db.key"]);
}

#[test]
fn a_restore_survives_kill_9() {
    let kills = std::env::var("FORUM_API_KILLS").map_or(KILLS, |kills| kills.parse().unwrap());
    let original = create_board("generate --posts 500 --yes");
    let copy = || {
        let directory = ServerDirectory::in_sqlite();
        for name in original.files() {
            fs::copy(original.path().join(&name), directory.path().join(name)).unwrap();
        }
        directory
    };
    let begin = Instant::now();
    assert_eq!(restore(&copy()).status, 0);
    let duration = begin.elapsed();
    let mut replaced = 0;
    for kill in 0..kills {
        let directory = copy();
        let mut child = start(directory.path(), &RESTORE, &[]);
        // Half of the instants are spread over the duration of a restore, and half of them are at its last steps.
        if kill % 2 == 0 {
            thread::sleep(duration * kill / kills);
        } else {
            let kept = directory.path().join("forum.db.before-restore");
            while !kept.exists() && child.try_wait().unwrap().is_none() {
                thread::yield_now();
            }
        }
        drop(child.kill());
        child.wait().unwrap();
        let is_new = last_forum_of_either(directory.path());
        let again = restore(&directory);
        if is_new {
            replaced += 1;
            again.assert_error(KEPT);
        } else {
            assert_eq!(again.status, 0, "{again:?}");
        }
        assert_eq!(last_forum(&directory, "forum.db"), "Before");
        assert_eq!(last_forum(&directory, "forum.db.before-restore"), "After");
    }
    println!("{kills} kills: {replaced} databases were replaced");
}

/// Returns `true` if the database is the new one. Opens a copy, because opening a database merges its log.
fn last_forum_of_either(directory: &Path) -> bool {
    let copy = ServerDirectory::in_sqlite();
    for name in ["forum.db", "forum.db-wal"] {
        drop(fs::copy(directory.join(name), copy.path().join(name)));
    }
    match &*last_forum(&copy, "forum.db") {
        "Before" => true,
        "After" => false,
        other => panic!("{other}"),
    }
}
