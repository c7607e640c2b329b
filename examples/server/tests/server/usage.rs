//! Options: where they may stand, and what makes no sense.

use serde_json::json;
use tempfile::TempDir;

use crate::program::{Server, run};

#[test]
fn options_stand_before_or_after_the_command() {
    let server = Server::new(&["--empty", "--database", "sqlite:board.db"]);
    let database = "--database=sqlite:board.db";
    for arguments in [
        [database, "--json", "setting", "list"],
        ["setting", "list", "--json", database],
        ["--json", "setting", database, "list"],
    ] {
        let listed = server.command(&arguments);
        assert_eq!(listed.json()["post.per_hour"], 60, "{arguments:?}");
    }
    let private = "--allow-private-webhooks";
    for arguments in [
        [private, "webhook", "list", "--json"],
        ["webhook", private, "list", "--json"],
        ["webhook", "list", "--json", private],
    ] {
        assert_eq!(server.command(&arguments).status, 1, "{arguments:?}");
        let arguments = [&[database][..], &arguments].concat();
        assert_eq!(server.command(&arguments).json(), json!([]));
    }
    for arguments in [
        ["--surface", "compact", "openapi"],
        ["openapi", "--surface", "compact"],
    ] {
        let document = server.command(&arguments);
        assert_eq!(document.status, 0, "{document:?}");
        assert!(!document.out.contains("/members/"));
    }
}

#[test]
fn what_makes_no_sense_is_status_2() {
    let directory = TempDir::new().unwrap();
    for arguments in [
        &["--no-such-option"][..],
        &["no-such-command"],
        &["--listen", "somewhere"],
        &["--surface", "half"],
        &["--language", "fr"],
        &["--log", "xml"],
        &["--token-budget", "0"],
        &["--guest-budget", "many"],
        &["--window", "-1"],
        &["--trusted-proxies", "10.0.0.0/33"],
        &["--base-url", "board.example"],
        &["--base-url", "https://user@board.example"],
        &["--base-url", "https://board.example/#top"],
        &["--cors-origin", "board.example"],
        &["--cors-origin", "https://board.example/"],
        &["--webhook-timeout", "0"],
        &["--webhook-timeout", "1e19"],
        &["--webhook-initial-backoff", "-1"],
        &["--webhook-max-backoff", "soon"],
        &["token"],
        &["token", "issue", "--scopes", "all", "--password-stdin"],
        &["token", "revoke"],
        &["token", "revoke", "x"],
        &["member", "add", "x"],
        &["post", "approve"],
        &["post", "delete", "1"],
        &["thread", "lock", "first"],
        &["forum", "moderator", "x", "bob"],
        &["setting"],
        &["setting", "post.per_hour"],
        &["board"],
        &["webhook"],
        &["webhook", "add"],
        &["webhook", "rotate"],
        &["webhook", "rotate", "not an id"],
        &["webhook", "list", "--webhook-timeout", "1"],
        &["delivery", "list", "--state", "lost"],
        &["delivery", "list", "--allow-private-webhooks"],
        &["delivery", "list", "--endpoint", "not an id"],
        &["delivery", "show", "not an id"],
        &["delivery", "retry"],
        &["delivery", "retry", "--dead"],
        &["delivery", "retry", "--endpoint", "whe_1"],
        &["delivery", "retry", "dlv_1", "--dead"],
        &["worker", "--no-worker"],
        &["--no-worker", "worker"],
        &["--allow-private-webhooks", "token", "list"],
        &["--empty", "token", "list"],
        &["--surface", "compact", "token", "list"],
        &["token", "list", "--surface", "compact"],
    ] {
        let ended = run(directory.path(), arguments, "");
        assert_eq!(
            (ended.status, ended.out.as_str()),
            (2, ""),
            "{arguments:?}: {ended:?}"
        );
        assert!(!ended.err.is_empty(), "{arguments:?}");
    }
    assert_eq!(directory.path().read_dir().unwrap().count(), 0);
}

#[test]
fn every_command_but_openapi_needs_a_board() {
    let directory = TempDir::new().unwrap();
    let commands: [&[&str]; 17] = [
        &[
            "token",
            "issue",
            "--owner",
            "x",
            "--scopes",
            "all",
            "--password-stdin",
        ],
        &["token", "list"],
        &["token", "revoke", "0123456789abcdEF"],
        &["board", "offline"],
        &["board", "online"],
        &["member", "add", "x", "--groups", "members"],
        &["member", "ban", "x"],
        &["member", "groups", "x", "members"],
        &["member", "password", "x", "--password-stdin"],
        &["forum", "add", "x"],
        &["thread", "lock", "1"],
        &["post", "approve", "1"],
        &["setting", "list"],
        &["setting", "post.per_hour", "1"],
        &["webhook", "list"],
        &["delivery", "list"],
        &["worker"],
    ];
    for arguments in commands {
        let ended = run(directory.path(), arguments, "x\n");
        assert!(
            ended.refusal().starts_with("there is no database at"),
            "{ended:?}"
        );
        let nowhere = run(
            directory.path(),
            &[arguments, &["--database", "sqlite::memory:"]].concat(),
            "x\n",
        );
        assert!(nowhere.refusal().contains("holds no board"), "{nowhere:?}");
    }
    assert_eq!(directory.path().read_dir().unwrap().count(), 0);
    assert_eq!(run(directory.path(), &["openapi"], "").status, 0);
}

#[test]
fn help_names_only_what_works() {
    let directory = TempDir::new().unwrap();
    for arguments in [
        &["--help"][..],
        &["token", "--help"],
        &["member", "--help"],
        &["setting", "--help"],
    ] {
        let help = run(directory.path(), arguments, "");
        assert_eq!(help.status, 0);
        assert!(!help.out.contains("panel"), "{}", help.out);
    }
}

#[test]
fn the_database_of_another_program_is_left_as_it_is() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("forum.db");
    let other = rusqlite::Connection::open(&file).unwrap();
    other.execute_batch("CREATE TABLE member (x)").unwrap();
    drop(other);
    let before = std::fs::read(&file).unwrap();
    let refused = run(directory.path(), &["token", "list"], "");
    assert!(refused.refusal().contains("holds no board"), "{refused:?}");
    assert_eq!(directory.path().read_dir().unwrap().count(), 1);
    assert_eq!(std::fs::read(&file).unwrap(), before);
    let refused = run(directory.path(), &["--listen", "127.0.0.1:0"], "");
    assert_eq!(refused.refusal(), "table member already exists");
}

#[test]
fn without_its_password_no_board_is_begun() {
    let directory = TempDir::new().unwrap();
    let arguments = ["--listen", "127.0.0.1:0", "--admin-password-stdin"];
    let refused = run(directory.path(), &arguments, "");
    assert_eq!(refused.refusal(), "expected a password on standard input");
    assert_eq!(directory.path().read_dir().unwrap().count(), 0);
}
