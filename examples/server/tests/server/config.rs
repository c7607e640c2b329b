//! Values of options from a file. `cases/config.session` has the other sources, and the errors.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use crate::prelude::*;

#[test]
fn a_weak_key_file_is_reported_with_a_warning() {
    let directory = ServerDirectory::in_sqlite();
    let key = directory.path().join("key");
    let key_options = ["--secret-key-file", "key"];
    let readable = "all users of the machine can read the key file; set its mode to 0600";
    let repeated = "the key is one repeated character; replace it with `webhook reencrypt --new-key-file FILE`";
    for (text, mode, reasons) in [
        ("0123456789abcdef", 0o640, &[][..]),
        ("0123456789abcdef", 0o644, &[readable]),
        ("aaaaaaaaaaaaaaaa\n", 0o600, &[repeated]),
        ("aaaaaaaaaaaaaaaa", 0o604, &[readable, repeated]),
    ] {
        fs::write(&key, text).unwrap();
        fs::set_permissions(&key, Permissions::from_mode(mode)).unwrap();
        let checked = directory.run(&[&["config", "check"][..], &key_options].concat(), "");
        assert_eq!(checked.status, 0, "{checked:?}");
        let warnings: Vec<_> = checked.stderr.lines().map(str::to_owned).collect();
        let expected: Vec<_> = reasons.iter().map(|reason| format!("warning: {reason}")).collect();
        assert_eq!(warnings, expected);
    }
    let options = [&key_options[..], &["--empty"]].concat();
    let (_, log) = Server::start(directory, &options).stop_with_log();
    assert_eq!(log.matches("weak key file").count(), 2, "{log}");
    for reason in [readable, repeated] {
        assert!(log.contains(&format!("weak key file reason=\"{reason}\"")), "{log}");
    }
}

#[test]
fn serve_and_the_other_commands_read_the_same_configuration() {
    let directory = ServerDirectory::in_sqlite();
    let file =
        "database = \"sqlite:board.db\"\ntoken-budget = 77\nempty = true\nsurface = \"compact\"\n";
    fs::write(directory.path().join("forum.toml"), file).unwrap();
    let environment = [("FORUM_CONFIG", "forum.toml")];
    let server = Server::start_with(directory, &[], &environment, "");
    let run = |line: &str, input: &str| {
        let words: Vec<_> = line.split(' ').collect();
        let mut child = start(server.directory.path(), &words, &environment);
        let mut stdin = child.stdin.take().unwrap();
        std::io::Write::write_all(&mut stdin, input.as_bytes()).unwrap();
        drop(stdin);
        wait(child)
    };
    let issue = "token issue --owner admin --scopes admin:read --password-stdin";
    let issued = run(issue, server.password());
    let forums = server.get(issued.stdout.trim_end(), "/forums");
    assert_eq!(forums.header("x-ratelimit-limit"), Some("77"));
    let compact = run("openapi --surface compact", "").stdout;
    assert_eq!(run("openapi", "").stdout, compact);
    assert_eq!(get(&server.url("/health")).status, 200);
    let files = server.directory.files();
    assert_eq!(files.first().map(String::as_str), Some("board.db"));
    assert_ne!(server.startup["password"], Value::Null);
}
