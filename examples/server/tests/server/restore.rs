//! The command `restore`: replaced files, refusals, and `kill -9` during a restore.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};

use tempfile::TempDir;

use crate::clock::compile_shim;
use crate::panel::{cookie, page};
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

/// A power failure empties a file, or removes its name, unless the file and its directory are synced.
#[test]
fn backups_keys_and_restored_databases_are_synced() {
    let shims = TempDir::new().unwrap();
    let shim = compile_shim(shims.path(), "synced_files");
    let log = shims.path().join("synced");
    let environment = [("LD_PRELOAD", shim.as_str()), ("SYNCED_FILES", log.to_str().unwrap())];
    let options = ["--empty", "--no-worker"];
    let server = Server::start_with(ServerDirectory::in_sqlite(), &options, &environment, "");
    let directory = server.stop();
    let assert_synced = |name: &str| {
        let synced = fs::read_to_string(&log).unwrap();
        for name in [name, "."] {
            let inode = directory.path().join(name).metadata().unwrap().ino().to_string();
            assert!(synced.lines().any(|line| line == inode), "{name}");
        }
        fs::remove_file(&log).unwrap();
    };
    assert_synced("forum.db.key");
    for (line, name) in [("backup copy.db", "copy.db"), ("restore copy.db --yes", "forum.db")] {
        let arguments = directory.arguments(&Vec::from_iter(line.split(' ')));
        let ended = wait(start(directory.path(), &arguments, &environment));
        assert_eq!(ended.status, 0, "{ended:?}");
        assert_synced(name);
    }
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
    let lost = "This replaces the database \"forum.db\" with the backup \"copy.db\": all changes since the backup are lost. Pass --yes to confirm.";
    assert_refused(&directory, &["restore", "copy.db"], lost);
    let restored = restore(&directory).stdout;
    let text = "Restored the database \"forum.db\" from \"copy.db\". The database before the restore is \"";
    assert!(restored.starts_with(text), "{restored}");
    let end = "/forum.db.before-restore\".\nAll members are signed out.\n";
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
    let undo = directory.run(&["restore", "after.db", "--yes", "--json"], "").json();
    let kept = fs::canonicalize(path("forum.db.before-restore")).unwrap();
    let expected = json!({ "ok": true, "before": kept, "carriedOver": [], "toRepeat": [] });
    assert_eq!(undo, expected);
    assert_eq!(last_forum(&directory, "forum.db"), "After");
}

/// Changes after the backup that a restore must not undo.
#[test]
fn revocations_bans_passwords_and_groups_survive_a_restore_and_sessions_do_not() {
    let server = Server::start(ServerDirectory::in_sqlite(), &["--no-worker"]);
    let former = server.password().to_owned();
    for name in ["dave", "eve"] {
        server.run_ok(&format!("member add {name} --groups members"));
    }
    let tokens = ["bob", "alice", "dave"].map(|owner| server.issue_token(owner, "all"));
    let post = server.post(&tokens[2], "/threads/1/posts", &json!({ "body": "Of dave." }));
    assert_eq!(post.status, 201);
    let lookup = |token: &str| token.split('_').nth(2).unwrap().to_owned();
    let session = cookie(&sign_in(&server, "admin", &former));
    server.run_ok(&format!("token revoke {}", lookup(&tokens[1])));
    server.run_ok("backup copy.db");
    let revoked = lookup(&tokens[0]);
    server.run_ok(&format!("token revoke {revoked}"));
    server.run_ok("member ban carol");
    server.run_ok("member groups mod members");
    server.run_ok("member groups newbie members,newcomers,staff");
    server.run_ok_with_input("member password admin --password-stdin", "a new password");
    server.run_ok("member erase eve --yes");
    server.run_ok("member erase dave --posts --yes");
    let directory = server.stop();
    let restored = restore(&directory);
    assert_eq!(restored.status, 0, "{restored:?}");
    let lines: Vec<_> = restored.stdout.lines().skip(1).collect();
    let token_line = format!("Carried over: the token {revoked} is revoked.");
    assert_eq!(
        lines,
        [
            "All members are signed out.",
            &token_line,
            "Carried over: \"admin\" has the last password.",
            "Carried over: \"carol\" is banned.",
            "Carried over: the groups of \"mod\" are members.",
            "The member \"dave\" was erased since the backup: run `forum-server member erase dave --posts`.",
            "The member \"eve\" was erased since the backup: run `forum-server member erase eve`.",
        ]
    );
    let log = directory.run(&["audit", "list", "--json"], "").json();
    // Entries of the same millisecond have no order.
    let carried: BTreeSet<_> = log
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| entry["details"].as_str().unwrap().contains("carried over by restore"))
        .map(|entry| [entry["action"].as_str().unwrap(), entry["target"].as_str().unwrap()])
        .collect();
    let expected = BTreeSet::from([
        ["member.groups_changed", "mod"],
        ["member.banned", "carol"],
        ["member.password_changed", "admin"],
        ["token.revoked", &revoked],
    ]);
    assert_eq!(carried, expected);
    let server = Server::start(directory, &["--no-worker"]);
    for (token, status) in tokens.iter().zip([401, 401, 200]) {
        assert_eq!(server.get(token, "/me").status, status);
    }
    assert_eq!(sign_in(&server, "admin", &former).status, 401);
    assert_eq!(page(&server, &session, "/panel/tokens").status, 303);
    assert_eq!(sign_in(&server, "admin", "a new password").status, 303);
    // The database before the restore is older than this backup: it has no changes of its own to carry over.
    let directory = server.stop();
    let kept = directory.path().join("forum.db.before-restore");
    fs::rename(kept, directory.path().join("after.db")).unwrap();
    let undone = directory.run(&["restore", "after.db", "--yes"], "");
    let lines: Vec<_> = undone.stdout.lines().skip(1).collect();
    assert_eq!(lines, ["All members are signed out."], "{undone:?}");
}

/// The first restore returns to a backup that does not contain what was changed later.
#[test]
fn what_must_not_come_undone_survives_two_restores() {
    let server = Server::start(ServerDirectory::in_sqlite(), &["--no-worker"]);
    server.run_ok("backup old.db");
    for name in ["mole", "gone", "admin2"] {
        server.run_ok(&format!("member add {name} --groups members,administrators"));
    }
    let token = server.issue_token("mole", "all");
    let lookup = token.split('_').nth(2).unwrap().to_owned();
    let endpoints = [1, 2, 3].map(|number| {
        let add = format!("webhook add --url https://receiver.example/{number} --json");
        server.run_ok(&add).json()["id"].as_str().unwrap().to_owned()
    });
    server.run_ok("backup new.db");
    server.run_ok(&format!("token revoke {lookup}"));
    server.run_ok("member ban mole");
    server.run_ok("member unban mole");
    server.run_ok("member ban mole");
    server.run_ok("member ban admin2");
    server.run_ok("member unban admin2");
    server.run_ok("member groups admin2 members");
    server.run_ok_with_input("member password admin2 --password-stdin", "a new password");
    server.run_ok("member erase gone --posts --yes");
    let [removed, disabled, rotated] = &endpoints;
    server.run_ok(&format!("webhook remove {removed} --yes"));
    server.run_ok(&format!("webhook disable {disabled}"));
    server.run_ok(&format!("webhook rotate {rotated}"));
    let directory = server.stop();
    let restore = |backup: &str| {
        let kept = directory.path().join("forum.db.before-restore");
        drop(fs::rename(&kept, directory.path().join("kept.db")));
        directory.run(&["restore", backup, "--yes", "--json"], "").json()
    };
    let older = restore("old.db");
    let nothing = json!([]);
    assert_eq!([&older["carriedOver"], &older["toRepeat"]], [&nothing; 2]);
    for passwords in [&["member password admin2"][..], &[]] {
        let newer = restore("new.db");
        let carried = [
            &format!("the token {lookup} is revoked"),
            "the groups of \"admin2\" are members",
            "\"mole\" is banned",
        ];
        assert_eq!(newer["carriedOver"], json!(carried), "{newer}");
        let mut commands = Vec::from_iter(passwords.iter().map(|command| command.to_string()));
        let mut of_endpoints = vec![
            (removed, format!("webhook remove {removed}")),
            (disabled, format!("webhook disable {disabled}")),
            (rotated, format!("webhook rotate {rotated}")),
        ];
        of_endpoints.sort_by_key(|(endpoint, _)| *endpoint);
        commands.extend(of_endpoints.into_iter().map(|(_, command)| command));
        commands.push("member erase gone --posts".into());
        assert_eq!(newer["toRepeat"], json!(commands), "{newer}");
    }
}

/// Restores a backup. Returns the changes that were carried over and those to repeat.
fn restore_in_json(directory: &ServerDirectory, backup: &str) -> [Value; 2] {
    let kept = directory.path().join("forum.db.before-restore");
    drop(fs::rename(&kept, directory.path().join("kept.db")));
    let restored = directory.run(&["restore", backup, "--yes", "--json"], "").json();
    ["carriedOver", "toRepeat"].map(|key| restored[key].clone())
}

/// Restores a backup. Returns the lines of the output about changes since the backup.
fn restore_in_text(directory: &ServerDirectory, backup: &str) -> Vec<String> {
    let kept = directory.path().join("forum.db.before-restore");
    drop(fs::rename(&kept, directory.path().join("kept.db")));
    let restored = directory.run(&["restore", backup, "--yes"], "");
    let mut lines = restored.stdout.lines().skip(1).map(str::to_owned);
    assert_eq!(lines.next().as_deref(), Some("All members are signed out."), "{restored:?}");
    lines.collect()
}

/// Ids of erased members are not taken for usernames.
#[test]
fn an_erased_member_whose_id_is_a_username_is_erased_after_a_restore() {
    let server = Server::start(ServerDirectory::in_sqlite(), &["--no-worker"]);
    server.run_ok("backup old.db");
    let added = server.run_ok("member add zelda --groups members --json").json();
    let id = added["userId"].as_str().unwrap();
    server.run_ok(&format!("member add {id} --groups members"));
    server.run_ok("backup new.db");
    server.run_ok("member ban zelda");
    server.run_ok("member erase zelda --posts --yes");
    let directory = server.stop();
    let nothing = || json!([]);
    let erase = "member erase zelda --posts";
    assert_eq!(restore_in_json(&directory, "old.db"), [nothing(), nothing()]);
    assert_eq!(restore_in_json(&directory, "new.db"), [nothing(), json!([erase])]);

    // An erasure that was repeated without the posts is still one with posts.
    for line in ["member erase zelda --yes", &format!("member erase {id} --yes")] {
        assert_eq!(directory.run_line(line, "").status, 0);
    }
    let again = json!([erase, format!("member erase {id}")]);
    assert_eq!(restore_in_json(&directory, "new.db"), [nothing(), again]);
}

/// The person registers again after a restore has removed the account, and the name is erased.
#[test]
fn entries_about_a_member_whom_a_restore_removes_have_no_name() {
    let server = Server::start(ServerDirectory::in_sqlite(), &["--no-worker"]);
    server.run_ok("backup old.db");
    for name in ["zelda", "gina"] {
        server.run_ok(&format!("member add {name} --groups members,staff"));
    }
    let added = server.run_ok("webhook add --url https://receiver.example --json").json();
    let endpoint = added["id"].as_str().unwrap();
    server.run_ok("backup new.db");
    server.run_ok("member ban zelda");
    server.run_ok_with_input("member password zelda --password-stdin", "a new password");
    server.run_ok("member groups gina members");
    server.run_ok(&format!("webhook update {endpoint} --owner zelda"));
    let directory = server.stop();
    restore_in_json(&directory, "old.db");
    let log = directory.run_line("audit list", "").stdout;
    assert!(!log.contains("zelda") && log.contains("owner #"), "{log}");
    assert_eq!(directory.run_line("member add zelda --groups members", "").status, 0);
    assert_eq!(directory.run_line("member ban zelda", "").status, 0);
    let lines = restore_in_text(&directory, "new.db");
    let update = format!("webhook update {endpoint} --owner zelda");
    assert_eq!(
        lines,
        [
            "Carried over: the groups of \"gina\" are members.",
            "Carried over: \"zelda\" is banned.",
            "The password of \"zelda\" was changed since the backup: run `forum-server member password zelda`.",
            &format!(
                "The endpoint {endpoint} was changed since the backup: run `forum-server {update}`."
            ),
        ]
    );
    let banned = "SELECT CAST(banned AS TEXT) FROM member WHERE username = 'zelda'";
    assert_eq!(directory.query(banned), ["1"]);
}

#[test]
fn changes_of_endpoints_are_printed_again_after_a_restore() {
    let server = Server::start(ServerDirectory::in_sqlite(), &["--no-worker"]);
    let add = || {
        let added = server.run_ok("webhook add --url https://receiver.example/?a=b --json").json();
        added["id"].as_str().unwrap().to_owned()
    };
    server.run_ok("backup old.db");
    let [moved, narrowed, rotated] = [add(), add(), add()];
    server.run_ok("backup new.db");
    let url = "https://other.example/it's?c=d";
    for line in [
        format!("webhook update {moved} --topics post.created"),
        format!("webhook update {moved} --url {url} --topics *"),
        format!("webhook update {narrowed} --topics thread.created,post.created --owner alice"),
        format!("webhook update {rotated} --topics post.created"),
        format!("webhook update {rotated} --topics *"),
        format!("webhook rotate {rotated}"),
        format!("webhook activate {rotated}"),
    ] {
        server.run_ok(&line);
    }
    let directory = server.stop();
    let expected = |update: &str| {
        let mut commands = [
            (&moved, vec![format!("webhook update {moved} {update}")]),
            (
                &narrowed,
                vec![format!(
                    "webhook update {narrowed} --topics post.created,thread.created --owner alice"
                )],
            ),
            (
                &rotated,
                ["rotate", "activate"].map(|action| format!("webhook {action} {rotated}")).to_vec(),
            ),
        ];
        commands.sort();
        json!(commands.into_iter().flat_map(|(_, commands)| commands).collect::<Vec<_>>())
    };
    let [_, to_repeat] = restore_in_json(&directory, "new.db");
    assert_eq!(to_repeat, expected("--url 'https://other.example/it'\\''s?c=d'"));
    // The audit log has no queries of URLs.
    for older in [None, Some("old.db")] {
        if let Some(backup) = older {
            restore_in_json(&directory, backup);
        }
        let [_, to_repeat] = restore_in_json(&directory, "new.db");
        assert_eq!(to_repeat, expected("--url 'https://other.example/it'\\''s'"));
    }
    let activated = format!(
        "The secret of the endpoint {rotated} was activated since the backup: run `forum-server webhook activate {rotated}`."
    );
    let lines = restore_in_text(&directory, "new.db");
    assert!(lines.contains(&activated), "{lines:?}");
}

#[test]
fn the_last_changes_of_endpoints_are_printed_after_the_clock_was_set_back() {
    let server = Server::start(ServerDirectory::in_sqlite(), &["--no-worker"]);
    let endpoints = [(); 3].map(|()| {
        let added = server.run_ok("webhook add --url https://receiver.example --json").json();
        endpoint_id(&added).to_owned()
    });
    let [disabled, moved, rotated] = &endpoints;
    server.run_ok("backup copy.db");
    let last = [
        format!("webhook disable {disabled}"),
        format!("webhook update {moved} --url https://last.example/"),
        format!("webhook rotate {rotated}"),
    ];
    for line in [
        &last[0],
        &format!("webhook enable {disabled}"),
        &format!("webhook update {moved} --url https://first.example/"),
        &last[2],
        &format!("webhook activate {rotated}"),
    ] {
        server.run_ok(line);
    }
    server.directory.execute("UPDATE forum_api_audit_log SET occurred_at = occurred_at + 3600000");
    for line in &last {
        server.run_ok(line);
    }
    let directory = server.stop();
    let changes = [
        format!("The endpoint {disabled} was disabled"),
        format!("The endpoint {moved} was changed"),
        format!("The secret of the endpoint {rotated} was rotated"),
    ];
    let lines = changes.iter().zip(&last).map(|(change, command)| {
        format!("{change} since the backup: run `forum-server {command}`.")
    });
    let expected = BTreeMap::from_iter(endpoints.iter().zip(lines));
    let printed = restore_in_text(&directory, "copy.db");
    assert_eq!(printed, Vec::from_iter(expected.into_values()));
}

/// An erasure hides what the audit log says about the endpoints that the member ever had.
#[test]
fn endpoints_of_former_owners_are_printed_before_erasures() {
    let server = Server::start(ServerDirectory::in_sqlite(), &["--no-worker"]);
    let add = |owner: &str| {
        let line = format!("webhook add --url https://receiver.example --owner {owner} --json");
        server.run_ok(&line).json()["id"].as_str().unwrap().to_owned()
    };
    let [given, moved, erased] = [add("alice"), add("admin"), add("admin")];
    let [of_unknown, renewed] = [add("admin"), add("admin")];
    let [of_later, hidden, disabled] = [add("admin"), add("admin"), add("admin")];
    server.run_ok(&format!("webhook rotate {renewed}"));
    server.run_ok("backup copy.db");
    server.run_ok("member add zelda --groups members");
    let url = "https://other.example/";
    for line in [
        format!("webhook update {given} --owner bob"),
        format!("webhook update {moved} --url {url} --owner alice"),
        format!("webhook update {moved} --owner bob"),
        format!("webhook update {erased} --url {url} --owner alice"),
        format!("webhook update {of_unknown} --url {url} --owner zelda"),
        format!("webhook update {of_later} --owner zelda"),
        format!("webhook update {hidden} --owner alice"),
        format!("webhook update {hidden} --owner zelda"),
        format!("webhook update {disabled} --owner zelda"),
        format!("webhook disable {disabled}"),
        format!("webhook activate {renewed}"),
        format!("webhook rotate {renewed}"),
        "member erase alice --yes".into(),
    ] {
        server.run_ok(&line);
    }
    let directory = server.stop();
    let lines = restore_in_text(&directory, "copy.db");
    let disable = |id: &str| format!("webhook disable {id}");
    let mut expected = BTreeMap::from([
        (&given, vec![format!("webhook update {given} --owner bob")]),
        (&moved, vec![format!("webhook update {moved} --url {url} --owner bob")]),
        (&erased, vec![format!("webhook remove {erased}")]),
        (
            &of_unknown,
            vec![format!("webhook update {of_unknown} --url {url}"), disable(&of_unknown)],
        ),
        (&renewed, vec![format!("webhook rotate {renewed}")]),
        // The former owner sees more than the last one, whom the backup does not have.
        (&of_later, vec![disable(&of_later)]),
        (&hidden, vec![disable(&hidden)]),
        (&disabled, vec![disable(&disabled)]),
    ])
    .into_values()
    .flatten()
    .collect::<Vec<_>>();
    expected.push("member erase alice".into());
    let commands = lines.iter().filter_map(|line| {
        let (_, command) = line.split_once("`forum-server ")?;
        command.strip_suffix("`.")
    });
    assert_eq!(Vec::from_iter(commands), expected);
    for (change, command) in [
        (format!("endpoint {erased} was removed"), format!("webhook remove {erased}")),
        (
            format!("owner of the endpoint {of_later} was replaced by a later member"),
            disable(&of_later),
        ),
        ("member \"alice\" was erased".into(), "member erase alice".into()),
    ] {
        let line = format!("The {change} since the backup: run `forum-server {command}`.");
        assert!(lines.contains(&line), "{line} {lines:?}");
    }
}

/// A restore over a database that cannot be read assigns ids again.
#[test]
fn an_endpoint_is_not_given_to_another_member_with_the_id_of_its_owner() {
    let server = Server::start(ServerDirectory::in_sqlite(), &["--no-worker"]);
    let added = server.run_ok("webhook add --url https://receiver.example --json").json();
    let endpoint = endpoint_id(&added);
    server.run_ok("backup old.db");
    let directory = server.stop();
    let run = |line: &str| assert_eq!(directory.run_line(line, "").status, 0, "{line}");
    restore_in_json(&directory, "old.db");
    run("member add zelda --groups members");
    run("backup new.db");
    fs::write(directory.path().join("forum.db"), "not a database").unwrap();
    // The next restore would keep a log, and the one after it would be refused because of it.
    drop(fs::remove_file(directory.path().join("forum.db-wal")));
    restore_in_json(&directory, "old.db");
    run("member add yara --groups members");
    let members = "SELECT CAST(id AS TEXT) FROM member WHERE username IN ('yara', 'zelda')";
    let yara = directory.query(members);
    run(&format!("webhook update {endpoint} --owner yara"));
    let [_, to_repeat] = restore_in_json(&directory, "new.db");
    assert_eq!(to_repeat, json!([format!("webhook disable {endpoint}")]));
    assert_eq!(directory.query(members), yara, "zelda has the id of yara");
}

#[test]
fn a_restore_that_leaves_no_administrator_says_so() {
    let server = Server::start(ServerDirectory::in_sqlite(), &["--no-worker"]);
    server.run_ok("backup copy.db");
    server.run_ok("member add boss --groups members,administrators");
    server.run_ok_with_input("member password boss --password-stdin", "a long password");
    server.run_ok("member ban admin");
    let directory = server.stop();
    let restored = restore(&directory).stdout;
    let lines: Vec<_> = restored.lines().skip(2).collect();
    let commands = "`forum-server member add NAME --groups members,administrators` and `forum-server member password NAME`";
    let warning = format!("No administrator can sign in: run {commands}.");
    assert_eq!(lines, ["Carried over: \"admin\" is banned.", &warning]);
}

#[test]
fn a_board_whose_oldest_account_was_erased_is_the_same_board() {
    let server = Server::start(ServerDirectory::in_sqlite(), &["--no-worker"]);
    server.run_ok("member add boss --groups members,administrators");
    server.run_ok_with_input("member password boss --password-stdin", "a long password");
    server.run_ok("backup copy.db");
    server.run_ok("member ban bob");
    server.run_ok("member erase admin --yes");
    let directory = server.stop();
    let restored = directory.run(&[&RESTORE[..], &["--json"]].concat(), "").json();
    assert_eq!(restored["carriedOver"], json!(["\"bob\" is banned"]), "{restored}");
    assert_eq!(restored["toRepeat"], json!(["member erase admin"]), "{restored}");
}

#[test]
fn a_restore_says_that_the_database_before_it_cannot_be_compared() {
    let directory = create_board("");
    let database = directory.path().join("forum.db");
    let others = [
        ("is another board", None),
        ("is missing or cannot be read", Some("not a database")),
        ("is missing or cannot be read", Some("")),
    ];
    for (reason, content) in others {
        match content {
            None => {
                let other = Server::start(ServerDirectory::in_sqlite(), &["--empty"]).stop();
                fs::copy(other.path().join("forum.db"), &database).unwrap();
                fs::remove_file(directory.path().join("forum.db-wal")).unwrap();
            }
            Some("") => fs::remove_file(&database).unwrap(),
            Some(content) => fs::write(&database, content).unwrap(),
        }
        let restored = directory.run(&[&RESTORE[..], &["--json"]].concat(), "").json();
        let warning = format!(
            "The database before the restore {reason}: tokens that were revoked, members who were banned or erased, \
             passwords that were changed, groups that were removed, endpoints that were removed, changed or disabled, \
             and secrets that were rotated since the backup are as in the backup. Repeat these changes."
        );
        assert_eq!(restored["warning"], warning, "{restored}");
        drop(fs::remove_file(directory.path().join("forum.db.before-restore")));
    }
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
    let with_option = |name| [&RESTORE[..], &["--secret-key-file", name]].concat();
    assert_refused(&directory, &with_option("none"), "cannot read the key file \"none\"");
    // The server reads the default file, unless the configuration names another one.
    let restore_with_key = |configured: &[(&str, &str)]| {
        let ended = wait(start(directory.path(), &with_option("key"), configured));
        fs::remove_file(path("forum.db.before-restore")).unwrap();
        ended.stdout
    };
    let copy_key = "rename the key file that the server reads, if it exists, and copy \"key\" to its path; or start each \
                    process with --secret-key-file \"key\".";
    let with_key = restore_with_key(&[]);
    assert!(with_key.contains(copy_key), "{with_key}");
    fs::write(path("forum.db.key"), "0123456789abcdef").unwrap();
    let with_key = restore_with_key(&[]);
    assert!(with_key.contains(copy_key), "{with_key}");
    let configured = restore_with_key(&[("FORUM_SECRET_KEY_FILE", "key")]);
    assert!(!configured.contains("the key"), "{configured}");
    fs::remove_file(path("forum.db.key")).unwrap();
    let key = directory.query("SELECT key_id FROM forum_api_webhook_key").remove(0);
    let without = restore(&directory).stdout;
    let copy_file = format!(
        " Its webhook secrets are encrypted with the key {key}: rename the key file that the server reads, if it exists, and \
         copy the file of this key to its path.\n"
    );
    assert!(without.contains(&copy_file), "{without}");
    fs::remove_file(path("forum.db.before-restore")).unwrap();
    let restored = directory.run(&[&RESTORE[..], &["--json"]].concat(), "").json();
    assert_eq!(restored["missingKey"], key, "{restored}");
}

/// The next restore would remove the file, or would be refused because of it.
#[test]
fn a_backup_has_no_name_of_a_file_of_the_database() {
    let directory = create_board("");
    for name in ["forum.db.restoring", "./forum.db.before-restore", "forum.db-journal"] {
        assert_refused(&directory, &["backup", name], "is reserved for a file of the database");
    }
    fs::rename(directory.path().join("forum.db.key"), directory.path().join("key")).unwrap();
    assert_refused(
        &directory,
        &["backup", "forum.db.key"],
        "is reserved for a file of the database",
    );
    assert_eq!(directory.run(&["backup", "other.db.restoring"], "").status, 0);
}

#[test]
fn a_lost_or_unreadable_database_is_replaced() {
    let directory = create_board("");
    let path = |name: &str| directory.path().join(name);
    for name in ["forum.db", "forum.db-wal", "forum.db-shm"] {
        fs::write(path(name), name.repeat(999)).unwrap();
    }
    assert_eq!(restore(&directory).status, 0);
    // Before SQLite opens the database, which replaces its log and its index.
    for suffix in ["-wal", "-shm"] {
        assert!(!path(&format!("forum.db{suffix}")).exists(), "{suffix}");
    }
    assert_eq!(last_forum(&directory, "forum.db"), "Before");
    for suffix in ["", "-wal"] {
        let kept = path(&format!("forum.db.before-restore{suffix}"));
        let text = fs::read_to_string(&kept).unwrap();
        assert!(text == format!("forum.db{suffix}").repeat(999), "{suffix}");
        fs::remove_file(kept).unwrap();
    }
    fs::remove_file(path("forum.db")).unwrap();
    let created = "This creates the database \"forum.db\" from the backup \"copy.db\". Pass --yes to confirm.";
    directory.run(&["restore", "copy.db"], "").assert_error(created);
    assert_eq!(restore(&directory).status, 0);
    assert_eq!(last_forum(&directory, "forum.db"), "Before");
    assert_eq!(list_files(&directory), ["copy.db", "forum.db", "forum.db.key"]);
    // A file that cannot be read is not a lost one.
    fs::create_dir(path("directory.db")).unwrap();
    let arguments = [&RESTORE[..], &["--database", "sqlite:directory.db"]].concat();
    directory.run(&arguments, "").assert_error("cannot lock the database");
}

#[test]
fn a_process_outside_of_the_group_of_the_database_restores_a_backup() {
    let directory = create_board("");
    let mut command = Command::new("env");
    // Only root can choose the group, and only with the capability for it.
    if chown(directory.path().join("forum.db"), None, Some(65_534)).is_ok() {
        command = Command::new("setpriv");
        command.args(["--bounding-set=-chown", "--inh-caps=-chown"]);
    }
    command.arg(server_path()).args(RESTORE).current_dir(directory.path());
    let restored = command.output().unwrap();
    assert!(restored.status.success(), "{restored:?}");
    assert_eq!(last_forum(&directory, "forum.db"), "Before");
}

/// The audit log has only the beginning of long details.
#[test]
fn a_long_url_of_an_endpoint_is_printed_in_full_after_a_restore() {
    let server = Server::start(ServerDirectory::in_sqlite(), &["--no-worker"]);
    let added = server.run_ok("webhook add --url https://receiver.example --json").json();
    let endpoint = endpoint_id(&added);
    server.run_ok("backup copy.db");
    let url = format!("https://other.example/{}", "a".repeat(1_200));
    let update = format!("webhook update {endpoint} --url {url} --topics post.created");
    server.run_ok(&update);
    let directory = server.stop();
    let [_, to_repeat] = restore_in_json(&directory, "copy.db");
    assert_eq!(to_repeat, json!([update]));
}

/// SQLite would remove the log, which can contain the last changes.
#[test]
fn no_command_removes_the_log_of_a_lost_database() {
    let directory = create_board("");
    let path = |name: &str| directory.path().join(name);
    let log = fs::read(path("forum.db-wal")).unwrap();
    let serve = &["serve", "--listen", "127.0.0.1:0"][..];
    let assert_kept = |arguments: &[&str]| {
        let ended = directory.run(arguments, "");
        assert_eq!(ended.status, 1, "{ended:?}");
        assert!(fs::read(path("forum.db-wal")).is_ok_and(|kept| kept == log), "{arguments:?}");
    };
    for content in ["not a database", ""] {
        fs::write(path("forum.db"), content).unwrap();
        for arguments in [&["audit", "list"][..], &["status"], &["worker"], serve] {
            assert_kept(arguments);
        }
    }
    assert_kept(&["backup", "second.db"]);
    for name in ["forum.db", "forum.db.key"] {
        fs::remove_file(path(name)).unwrap();
    }
    assert_kept(serve);
    directory.run(serve, "").assert_error("does not exist, but its log \"forum.db-wal\" does");
    assert_eq!(restore(&directory).status, 0);
    assert!(fs::read(path("forum.db.before-restore-wal")).unwrap() == log);
}

/// SQLite would apply the log of a lost database to the next one that is kept.
#[test]
fn the_log_of_a_lost_database_is_moved_before_the_next_restore() {
    let directory = create_board("");
    let path = |name: &str| directory.path().join(name);
    let log = "forum.db.before-restore-wal";
    fs::remove_file(path("forum.db")).unwrap();
    fs::write(path("forum.db-wal"), "lost").unwrap();
    let restored = restore(&directory);
    let kept = " The log of the database before the restore is \"";
    assert!(restored.stdout.contains(kept) && restored.stdout.contains(log), "{restored:?}");
    assert_refused(&directory, &RESTORE, log);
    fs::rename(path(log), path("lost-wal")).unwrap();
    assert_eq!(restore(&directory).status, 0);
    assert_eq!(last_forum(&directory, "forum.db.before-restore"), "Before");
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

#[test]
fn the_statements_of_the_manual_advance_all_sequences() {
    let directory = ServerDirectory::in_sqlite().with_postgres(Database::new());
    let server = Server::start(directory, &["--no-worker"]);
    server.run_ok("webhook add --url https://receiver.example");
    server.run_ok("post delete 5");
    let directory = server.stop();
    directory.execute("DELETE FROM poll");
    // Logical replication copies no sequences.
    let restart = "
        SELECT format('ALTER TABLE %I ALTER COLUMN %I RESTART', table_name, column_name)
        FROM information_schema.columns WHERE is_identity = 'YES'";
    let advance = manual_statement("<<'END'\n", " \\gexec\n");
    for select in [restart, advance] {
        for statement in directory.query(select) {
            directory.execute(&statement);
        }
    }
    // The statements of the former database do not lower a sequence. `psql` reads them as one text.
    let of_former = directory.query(manual_statement("<<'END' |\n", ";\n"));
    directory.execute("SELECT setval('member_id_seq', 9000000)");
    directory.execute(&of_former.join("\n"));

    let server = Server::start(directory, &["--no-worker"]);
    server.run_ok("webhook add --url https://receiver.example/second");
    server.run_ok("post restore 5");
    server.run_ok("forum add After");
    // An id of a table without rows can be that of a row that was lost.
    let last = "SELECT CAST(last_value AS TEXT) FROM poll_id_seq";
    assert_eq!(server.directory.query(last), ["2000001"]);
    let last = "SELECT CAST(last_value AS TEXT) FROM member_id_seq";
    assert_eq!(server.directory.query(last), ["9000000"]);
}

/// Returns a query of the manual for statements that advance sequences.
fn manual_statement(begin: &str, end: &str) -> &'static str {
    let manual = include_str!("../../../../docs/operating.md");
    let (_, rest) = manual.split_once(begin).unwrap();
    rest.split_once(end).unwrap().0
}
