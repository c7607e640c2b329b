//! The key that encrypts webhook secrets: its file, its fingerprint in the database, and the change to another key.
//! `cases/keys.session` has the refusals of another key.

use std::os::unix::fs::PermissionsExt as _;

use crate::prelude::*;

const ALLOW_PRIVATE: &str = "--allow-private-webhooks";

const SHORT: &str = "the key must have at least 16 bytes";

/// Writes the key files `key`, `other` and `short`.
fn with_keys(directory: ServerDirectory) -> ServerDirectory {
    for (name, key) in [("key", &[7; 32][..]), ("other", &[8; 32]), ("short", &[9; 15])] {
        fs::write(directory.path().join(name), key).unwrap();
    }
    directory
}

#[test]
fn a_new_sqlite_database_gets_a_key_file_that_every_command_finds() {
    let server = Server::start(ServerDirectory::in_sqlite(), &[ALLOW_PRIVATE]);
    let path = |name: &str| server.directory.path().join(name);
    for name in ["forum.db", "forum.db.key"] {
        let mode = path(name).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    let key_file = path("forum.db.key");
    let key = fs::read(&key_file).unwrap();
    let receiver = Receiver::new();
    let endpoint = add_endpoint(&server, &receiver, "");
    reply(&server, &server.token("alice"), "Signed.");
    assert!(receiver.next().is_signed_with(endpoint_secret(&endpoint)));
    let directory = server.stop();
    assert!(!directory.stores_in_plain_text(endpoint_secret(&endpoint)));
    let server = Server::start(directory, &[ALLOW_PRIVATE]);
    server.run_ok(&format!("webhook ping {}", endpoint_id(&endpoint)));
    assert!(receiver.next().is_signed_with(endpoint_secret(&endpoint)));
    assert_eq!(fs::read(&key_file).unwrap(), key, "the key is created once");
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
    let refused = server.run(&format!("{ping} --secret-key-file key"));
    refused.assert_error("are stored in plain text, but the key");
    refused.assert_error("run `webhook reencrypt --new-key-file FILE` to encrypt them");
    let (directory, log) = server.stop_with_log();
    let warning = "webhook secrets are stored in plain text";
    assert!(log.contains(warning), "{log}");
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
    serve(" --secret-key-file key").assert_error("pass the file of the correct key");
    fs::rename(path.join("other"), path.join("forum.db.key")).unwrap();
    let server = Server::start(directory, &[ALLOW_PRIVATE]);
    server.run_ok(&ping);
    assert!(receiver.next().is_signed_with(endpoint_secret(&endpoint)));
}
