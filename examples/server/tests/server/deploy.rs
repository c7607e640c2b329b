//! The files in `deploy`: the configuration, the systemd unit and the container file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::client::get;
use crate::program::{Server, ServerDirectory, run, server_path};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("deploy")
        .join(name)
}

fn read(name: &str) -> String {
    fs::read_to_string(file(name)).unwrap()
}

#[test]
fn the_configuration_file_is_valid_with_and_without_its_commented_lines() {
    let text = read("forum.toml");
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("forum.key"), [7; 32]).unwrap();
    let uncommented = text
        .lines()
        .map(|line| {
            line.strip_prefix("# ")
                .filter(|rest| rest.contains(" = "))
                .unwrap_or(line)
        })
        .collect::<Vec<_>>()
        .join("\n")
        .replace("/etc/forum-server.key", "forum.key");
    assert_ne!(text.trim_end(), uncommented);
    for text in [text, uncommented] {
        fs::write(directory.path().join("forum.toml"), text).unwrap();
        let check = ["config", "check", "--config", "forum.toml"];
        let checked = run(directory.path(), &check, "");
        assert_eq!(checked.status, 0, "{checked:?}");
        assert!(checked.stdout.contains("127.0.0.1:8081"), "{checked:?}");
    }
}

#[test]
fn systemd_accepts_the_unit() {
    let directory = TempDir::new().unwrap();
    let unit = directory.path().join("forum-server.service");
    let program = server_path().display().to_string();
    let text = read("forum-server.service").replace("/usr/local/bin/forum-server serve", &program);
    assert!(text.contains(&program));
    fs::write(&unit, text).unwrap();
    let verified = Command::new("systemd-analyze")
        .arg("verify")
        .arg(&unit)
        .output();
    // The unit is not checked on a machine without systemd.
    if let Ok(verified) = verified {
        let problems = String::from_utf8_lossy(&verified.stderr).into_owned();
        let own: Vec<_> = problems
            .lines()
            .filter(|line| line.contains("forum-server"))
            .collect();
        assert!(verified.status.success() && own.is_empty(), "{problems}");
    }
}

/// Builds nothing: the program of the test takes the place of the one that the first stage builds.
#[test]
fn the_program_runs_with_the_environment_of_the_container() {
    let text = read("Containerfile");
    let directory = ServerDirectory::in_sqlite();
    let data = directory.path().display().to_string();
    let stage = text
        .rsplit("\nFROM ")
        .next()
        .unwrap()
        .replace("/data", &data);
    let variables = stage
        .lines()
        .filter_map(|line| line.strip_prefix("ENV ")?.split_once('='));
    let mut variables: Vec<_> = variables.collect();
    assert_eq!(variables.len(), 3);
    // The address is that of another test's server, perhaps.
    variables.retain(|(name, _)| *name != "FORUM_LISTEN");
    let command = stage
        .lines()
        .find_map(|line| line.strip_prefix("CMD [\"")?.strip_suffix("\"]"));
    let server = Server::start_with(directory, &[command.unwrap()], &variables, "");
    assert_eq!(get(&server.url("/ready")).status, 200);
    let (directory, log) = server.stop_with_log();
    assert!(log.lines().all(|line| line.starts_with('{')), "{log}");
    assert_eq!(directory.files(), ["forum.db", "forum.db.key"]);
}
