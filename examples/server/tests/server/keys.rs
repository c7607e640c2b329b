//! The key that encrypts webhook secrets: its file, its fingerprint in the database, and the change to another key.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::deliveries::{add_endpoint, endpoint_id, endpoint_secret, reply};
use crate::program::{Server, ServerDirectory};
use crate::receiver::Receiver;

const ALLOW_PRIVATE: &str = "--allow-private-webhooks";

const SHORT: &str = "the key must have at least 16 bytes";

/// Writes the key files `key`, `other` and `short`.
fn with_keys(directory: ServerDirectory) -> ServerDirectory {
    for (name, key) in [
        ("key", &[7; 32][..]),
        ("other", &[8; 32]),
        ("short", &[9; 15]),
    ] {
        fs::write(directory.path().join(name), key).unwrap();
    }
    directory
}

#[test]
fn a_new_sqlite_database_gets_a_key_file_that_every_command_finds() {
    let server = Server::start(ServerDirectory::in_sqlite(), &[ALLOW_PRIVATE]);
    let file = |name: &str| server.directory.path().join(name);
    for name in ["forum.db", "forum.db.key"] {
        let mode = file(name).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    let file = file("forum.db.key");
    let key = fs::read(&file).unwrap();
    let receiver = Receiver::new();
    let endpoint = add_endpoint(&server, &receiver, "");
    reply(&server, &server.token("alice"), "Signed.");
    assert!(receiver.next().is_signed_with(endpoint_secret(&endpoint)));
    let directory = server.stop();
    assert!(!directory.stores_in_plain_text(endpoint_secret(&endpoint)));
    let server = Server::start(directory, &[ALLOW_PRIVATE]);
    server.run_ok(&format!("webhook ping {}", endpoint_id(&endpoint)));
    assert!(receiver.next().is_signed_with(endpoint_secret(&endpoint)));
    assert_eq!(fs::read(&file).unwrap(), key, "the key is created once");
}

#[test]
fn every_program_refuses_another_key() {
    let options = [ALLOW_PRIVATE, "--secret-key-file", "key"];
    let server = Server::start(with_keys(ServerDirectory::new()), &options);
    let endpoint = add_endpoint(&server, &Receiver::new(), "--secret-key-file key");
    let id = endpoint_id(&endpoint);
    let list = || server.run_ok("webhook list --json").json();
    let before = list();
    let other = "pass the file of the correct key with --secret-key-file";
    let none = format!("no key was given; {other}");
    for (options, reason) in [
        ("", &*none),
        (" --secret-key-file other", other),
        (" --secret-key-file short", SHORT),
        (" --secret-key-file none", "none"),
    ] {
        let serve = format!("--listen 127.0.0.1:0{options}");
        server.run(&serve).assert_error(reason);
        let worker = format!("worker{options}");
        server.run(&worker).assert_error(reason);
        for action in ["rotate", "disable", "ping"] {
            let command = format!("webhook {action} {id}{options}");
            server.run(&command).assert_error(reason);
        }
        let add = format!("webhook add --url https://receiver.example/{options}");
        server.run(&add).assert_error(reason);
    }
    let remove = format!("webhook remove {id} --yes");
    let with_other = format!("{remove} --secret-key-file other");
    server.run(&with_other).assert_error(other);
    assert_eq!(list(), before);
    // Without a key file, an endpoint can be removed when the key is lost.
    server.run_ok(&remove);
}

#[test]
fn another_key_is_refused_before_migrations_are_applied() {
    let key = ["--empty", "--secret-key-file", "key"];
    let directory = Server::start(with_keys(ServerDirectory::new()), &key).stop();
    let table = "forum_api_migrations";
    directory.query(&format!(
        "DELETE FROM {table} WHERE step = (SELECT max(step) FROM {table}) RETURNING CAST(step AS TEXT)"
    ));
    let steps = || {
        directory.query(&format!(
            "SELECT CAST(step AS TEXT) FROM {table} ORDER BY 1"
        ))
    };
    let before = steps();
    let refused = directory.run_line("--listen 127.0.0.1:0 --secret-key-file other", "");
    refused.assert_error("pass the file of the correct key");
    assert_eq!(steps(), before);
}

#[test]
fn reencrypt_encrypts_readable_secrets_and_changes_the_key() {
    let server = Server::start(with_keys(ServerDirectory::in_sqlite()), &["--empty"]);
    let directory = server.stop();
    // Makes the database look as if it was created without a key.
    fs::remove_file(directory.path().join("forum.db.key")).unwrap();
    let forget = "DELETE FROM forum_api_webhook_key RETURNING key_id";
    assert_eq!(directory.query(forget).len(), 1);
    let server = Server::start(directory, &[ALLOW_PRIVATE]);
    let receiver = Receiver::new();
    let endpoint = add_endpoint(&server, &receiver, "");
    let ping = format!("webhook ping {}", endpoint_id(&endpoint));
    let with_key = format!("{ping} --secret-key-file key");
    server
        .run(&with_key)
        .assert_error("are stored in plain text, but the key");
    let (directory, log) = server.stop_with_log();
    assert!(
        log.contains("webhook secrets are stored in plain text"),
        "{log}"
    );
    assert!(!directory.path().join("forum.db.key").exists());
    assert!(directory.stores_in_plain_text(endpoint_secret(&endpoint)));

    let reencrypt = |keys: &str| directory.run_line(&format!("webhook reencrypt {keys}"), "");
    let serve = |options: &str| directory.run_line(&format!("--listen 127.0.0.1:0{options}"), "");
    reencrypt("--old-key-file other --new-key-file key").assert_error("plain text");
    reencrypt("--new-key-file short").assert_error(SHORT);
    let done = reencrypt("--new-key-file key --secret-key-file key").stdout;
    assert!(done.starts_with("Encrypted the secrets of 1 endpoint with the key "));
    assert!(!directory.stores_in_plain_text(endpoint_secret(&endpoint)));
    serve("").assert_error("no key was given");
    let reason = "no key was given; pass the file of the correct key with --old-key-file";
    reencrypt("--new-key-file other").assert_error(reason);
    let lost = "--secret-key-file lost";
    reencrypt(&format!("--new-key-file other {lost}")).assert_error("no key was given");
    let done = reencrypt("--secret-key-file key --new-key-file other --json");
    assert_eq!(done.json(), json!({ "ok": true }));
    let done = reencrypt("--old-key-file other --new-key-file key --secret-key-file other");
    assert!(done.stdout.starts_with("Encrypted"), "{done:?}");
    let done = reencrypt("--old-key-file key --new-key-file other");
    assert!(done.stdout.starts_with("Encrypted"), "{done:?}");
    let path = directory.path();
    // The key of the database before it was replaced by the lost one.
    fs::copy(path.join("key"), path.join("forum.db.key")).unwrap();
    let listed = directory.run_line(&format!("webhook list {lost}"), "");
    assert!(listed.stdout.contains(endpoint_id(&endpoint)), "{listed:?}");
    let old = serve(" --secret-key-file key");
    old.assert_error("pass the file of the correct key");
    fs::rename(path.join("other"), path.join("forum.db.key")).unwrap();
    let server = Server::start(directory, &[ALLOW_PRIVATE]);
    server.run_ok(&ping);
    assert!(receiver.next().is_signed_with(endpoint_secret(&endpoint)));
}
