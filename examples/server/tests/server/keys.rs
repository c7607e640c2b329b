//! The key that encrypts webhook secrets: its file, its fingerprint in the database, and the change to another key.

use std::fs;

use serde_json::{Value, json};

use crate::program::{Ended, Home, Server};
use crate::receiver::Receiver;
use crate::webhooks::{add, reply};

const PRIVATE: &str = "--allow-private-webhooks";

/// Runs the server until it ends, which it does when it refuses to start.
fn serve(home: &Home, arguments: &[&str]) -> Ended {
    let listen = ["--listen", "127.0.0.1:0"];
    home.run(&[&listen[..], arguments].concat(), "")
}

/// A home with the key files `key`, `other` and `short`.
fn with_keys(home: Home) -> Home {
    for (name, key) in [
        ("key", &[7; 32][..]),
        ("other", &[8; 32]),
        ("short", &[9; 15]),
    ] {
        fs::write(home.path().join(name), key).unwrap();
    }
    home
}

fn id(endpoint: &Value) -> &str {
    endpoint["id"].as_str().unwrap()
}

fn secret(endpoint: &Value) -> &str {
    endpoint["secret"].as_str().unwrap()
}

fn is_refused(refused: &Ended, reason: &str) {
    assert_eq!(refused.status, 1, "{refused:?}");
    assert!(refused.refusal().contains(reason), "{refused:?}");
}

#[test]
fn a_new_sqlite_database_gets_a_key_file_that_every_command_finds() {
    let server = Server::with_input(Home::in_sqlite(), &[PRIVATE], "");
    let file = server.home.path().join("forum.db.key");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    let key = fs::read(&file).unwrap();
    let receiver = Receiver::new();
    let endpoint = add(&server, &receiver, &[]);
    reply(&server, &server.token("alice"), "Signed.");
    assert!(receiver.next().is_signed_with(secret(&endpoint)));
    let home = server.stop();
    assert!(!home.keeps(secret(&endpoint)));
    let server = Server::with_input(home, &[PRIVATE, "--no-worker"], "");
    let worker = server.beside_it(&["worker", PRIVATE]);
    let ping = ["webhook", "ping", id(&endpoint)];
    assert_eq!(server.command(&ping).status, 0);
    assert!(receiver.next().is_signed_with(secret(&endpoint)));
    assert_eq!(worker.stop().status, 0);
    assert_eq!(fs::read(&file).unwrap(), key, "it is created once");
}

#[test]
fn a_database_with_another_key_is_refused_at_once() {
    let server = Server::with_input(
        with_keys(Home::new()),
        &[PRIVATE, "--secret-key-file", "key"],
        "",
    );
    let receiver = Receiver::new();
    let endpoint = add(&server, &receiver, &["--secret-key-file", "key"]);
    let id = id(&endpoint);
    let list = || server.command(&["webhook", "list", "--json"]).json();
    let before = list();
    for (options, reason) in [
        (&[][..], "no key was given: --secret-key-file"),
        (
            &["--secret-key-file", "other"],
            "--secret-key-file names the file of their key",
        ),
        (
            &["--secret-key-file", "short"],
            "a key has at least 16 bytes",
        ),
        (&["--secret-key-file", "none"], "none"),
    ] {
        is_refused(&serve(&server.home, options), reason);
        for command in [
            &["worker"][..],
            &["webhook", "rotate", id],
            &["webhook", "disable", id],
            &["webhook", "ping", id],
            &["webhook", "add", "--url", "https://receiver.example/"],
        ] {
            is_refused(&server.command(&[command, options].concat()), reason);
        }
    }
    let other = [
        "webhook",
        "remove",
        id,
        "--yes",
        "--secret-key-file",
        "other",
    ];
    is_refused(&server.command(&other), "names the file");
    assert_eq!(list(), before);
    let removed = server.command(&["webhook", "remove", id, "--yes"]);
    assert_eq!(
        removed.status, 0,
        "an endpoint can be removed when the key is lost: {removed:?}"
    );
}

#[test]
fn another_key_is_refused_before_migrations_are_applied() {
    let key = ["--empty", "--secret-key-file", "key"];
    let home = Server::with_input(with_keys(Home::new()), &key, "").stop();
    home.ask(
        "DELETE FROM forum_api_migrations \
         WHERE step = (SELECT max(step) FROM forum_api_migrations) RETURNING CAST(step AS TEXT)",
    );
    let steps = || {
        home.ask("SELECT CAST(step AS TEXT) FROM forum_api_migrations ORDER BY forum_api_migrations.step")
    };
    let before = steps();
    let refused = serve(&home, &["--secret-key-file", "other"]);
    is_refused(&refused, "names the file of their key");
    assert_eq!(steps(), before);
}

#[test]
fn secrets_in_plain_text_are_encrypted_by_reseal() {
    let server = Server::with_input(with_keys(Home::in_sqlite()), &["--empty"], "");
    let home = server.stop();
    // As a database that was created without a key.
    fs::remove_file(home.path().join("forum.db.key")).unwrap();
    let forget = "DELETE FROM forum_api_webhook_key RETURNING key_id";
    assert_eq!(home.ask(forget).len(), 1);
    let server = Server::with_input(home, &[PRIVATE], "");
    let receiver = Receiver::new();
    let endpoint = add(&server, &receiver, &[]);
    let key = ["--secret-key-file", "key"];
    is_refused(
        &server.command(&[&["webhook", "ping", id(&endpoint)][..], &key].concat()),
        "are stored in plain text, but the key",
    );
    server.signal("TERM");
    let (home, _, log) = server.wait();
    assert!(
        log.contains("webhook secrets are stored in plain text"),
        "{log}"
    );
    assert!(!home.path().join("forum.db.key").exists());
    assert!(home.keeps(secret(&endpoint)));

    let reseal = |arguments: &[&str]| home.run(&[&["webhook", "reseal"], arguments].concat(), "");
    is_refused(
        &reseal(&["--old-key", "other", "--new-key", "key"]),
        "plain text",
    );
    is_refused(
        &reseal(&["--new-key", "short"]),
        "a key has at least 16 bytes",
    );
    let done = reseal(&["--new-key", "key"]);
    assert_eq!(done.status, 0, "{done:?}");
    assert!(
        done.out
            .starts_with("The secrets of 1 endpoint are encrypted with the key "),
        "{done:?}"
    );
    is_refused(&serve(&home, &[]), "no key was given");

    is_refused(&reseal(&["--new-key", "other"]), "no key was given");
    let other = ["--old-key", "key", "--new-key", "other", "--json"];
    assert_eq!(reseal(&other).json(), json!({ "ok": true }));
    is_refused(&serve(&home, &key), "names the file of their key");
    fs::rename(home.path().join("other"), home.path().join("forum.db.key")).unwrap();
    let server = Server::with_input(home, &[PRIVATE], "");
    assert_eq!(
        server.command(&["webhook", "ping", id(&endpoint)]).status,
        0
    );
    assert!(receiver.next().is_signed_with(secret(&endpoint)));
}

#[test]
fn a_delivery_whose_secret_cannot_be_decrypted_says_so() {
    let server = Server::with_input(Home::in_sqlite(), &[PRIVATE], "");
    let receiver = Receiver::new();
    let [first, second] = [(); 2].map(|()| add(&server, &receiver, &["--topics", "poll.voted"]));
    let home = server.stop();
    // A writer of the database copies one endpoint's secret into the row of the other.
    let copy = format!(
        "UPDATE forum_api_endpoints SET secret = (SELECT secret FROM forum_api_endpoints WHERE id = '{}') \
         WHERE id = '{}' RETURNING id",
        id(&first),
        id(&second)
    );
    assert_eq!(home.ask(&copy).len(), 1);
    let server = Server::with_input(home, &[PRIVATE], "");
    let ping = server.command(&["webhook", "ping", id(&second)]);
    let delivery = ping.out.split_whitespace().last().unwrap();
    let show = || {
        server
            .command(&["delivery", "show", delivery, "--json"])
            .json()
    };
    let mut shown = show();
    while shown["log"] == json!([]) {
        std::thread::sleep(std::time::Duration::from_millis(20));
        shown = show();
    }
    assert_eq!(
        (&shown["state"], &shown["attempts"]),
        (&json!("retrying"), &json!(0))
    );
    let error = shown["log"][0]["error"].as_str().unwrap();
    assert!(
        error.contains("the secret belongs to another endpoint"),
        "{error}"
    );
    assert_eq!(server.command(&["webhook", "ping", id(&first)]).status, 0);
    assert!(receiver.next().is_signed_with(secret(&first)));
}
