//! The files in `deploy`: the configuration, the systemd units and the container file.

use tempfile::TempDir;

use crate::prelude::*;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy").join(name)
}

fn read(name: &str) -> String {
    fs::read_to_string(file(name)).unwrap()
}

#[test]
fn the_configuration_file_is_valid_with_and_without_its_commented_lines() {
    let text = read("forum.toml");
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("forum.key"), [7; 32]).unwrap();
    let options: Vec<_> = text
        .lines()
        .map(|line| line.strip_prefix("# ").unwrap_or(line))
        .filter(|line| line.contains(" = "))
        .collect();
    // An address of Postgres replaces that of SQLite.
    let (databases, others) = options.split_at(3);
    let schemes = ["\"sqlite:/", "\"postgres:///", "\"postgres://forum:"];
    for (database, scheme) in databases.iter().zip(schemes) {
        assert!(database.contains(scheme), "{database}");
    }
    let with_database = |database: &&str| {
        format!("{database}\n{}", others.join("\n"))
            .replace("/etc/forum-server/forum.key", "forum.key")
    };
    let uncommented = databases[1..].iter().map(with_database);
    for text in uncommented.chain([text.clone()]) {
        let text = text.replace("/var/lib/forum-server/", "");
        fs::write(directory.path().join("forum.toml"), text).unwrap();
        let checked = run(directory.path(), &["config", "check", "--config", "forum.toml"], "");
        assert_eq!(checked.status, 0, "{checked:?}");
        assert!(checked.stdout.contains("127.0.0.1:8081"), "{checked:?}");
    }
}

#[test]
fn systemd_accepts_the_units() {
    let directory = TempDir::new().unwrap();
    let program = server_path().display().to_string();
    for name in ["forum-server.service", "forum-backup.service"] {
        let text = read(name).replace("/usr/local/bin/forum-server", &program);
        assert!(text.contains(&program));
        fs::write(directory.path().join(name), text).unwrap();
    }
    let timer = "forum-backup.timer";
    fs::write(directory.path().join(timer), read(timer)).unwrap();
    let units = ["forum-server.service", "forum-backup.service", timer];
    let verified = Command::new("systemd-analyze")
        .arg("verify")
        .args(units.map(|name| directory.path().join(name)))
        .output()
        .expect("systemd-analyze is installed");
    let problems = String::from_utf8_lossy(&verified.stderr);
    let has_own = problems.lines().any(|line| line.contains("forum-"));
    assert!(verified.status.success() && !has_own, "{problems}");
    for service in &units[..2] {
        // The exposure in tenths of a point.
        let hardened = Command::new("systemd-analyze")
            .args(["security", "--offline=true", "--threshold=25"])
            .arg(directory.path().join(service))
            .output()
            .unwrap();
        assert!(hardened.status.success(), "{service}: {hardened:?}");
    }
}

/// Does not build the container: the program of the test replaces the result of its first stage.
#[test]
fn the_program_runs_with_the_environment_of_the_container() {
    let text = read("Containerfile");
    let directory = ServerDirectory::in_sqlite();
    let data = directory.path().display().to_string();
    let stage = text.rsplit("\nFROM ").next().unwrap().replace("/data", &data);
    let mut variables: Vec<_> = stage
        .lines()
        .filter_map(|line| line.strip_prefix("ENV "))
        .filter_map(|line| line.split_once('='))
        .collect();
    assert_eq!(variables.len(), 3);
    // Another test's server may use this address.
    variables.retain(|(name, _)| *name != "FORUM_LISTEN");
    let command =
        stage.lines().find_map(|line| line.strip_prefix("CMD [\"")?.strip_suffix("\"]")).unwrap();
    let server = Server::start_with(directory, &[command], &variables, "");
    wait_for_status(&server.url("/ready"), 200);
    let (directory, log) = server.stop_with_log();
    assert!(log.lines().all(|line| line.starts_with('{')), "{log}");
    assert_eq!(directory.files(), ["forum.db", "forum.db.key"]);
}

/// Starts no container: the program of the test checks the environment of the services.
#[test]
fn compose_accepts_its_file_and_the_program_the_environment_of_the_services() {
    let directory = TempDir::new().unwrap();
    for (name, text) in [
        ("compose.yaml", read("compose.yaml").as_str()),
        (".env", "FORUM_BASE_URL=https://board.example"),
        ("postgres-password", "secret"),
        (
            "forum-secrets.toml",
            "database = \"postgres://forum:secret@postgres/forum\"\nredis = \"redis://redis/0\"",
        ),
        ("forum.key", &"0123456789abcdef".repeat(4)),
    ] {
        fs::write(directory.path().join(name), text).unwrap();
    }
    let config = Command::new("docker-compose")
        .args(["--file", "compose.yaml", "config"])
        .current_dir(directory.path())
        .output()
        .expect("docker-compose is installed");
    assert!(config.status.success(), "{config:?}");
    let text = String::from_utf8(config.stdout)
        .unwrap()
        .replace("/run/secrets/forum-secrets", "forum-secrets.toml")
        .replace("/run/secrets/forum-key", "forum.key");
    let services = text.split_once("\n  server:\n").unwrap().1;
    let (server, worker) = services.split_once("\n  worker:\n").unwrap();
    for service in [server, worker] {
        let variables: Vec<_> = service
            .lines()
            .map(str::trim_start)
            .filter_map(|line| line.split_once(": "))
            .filter(|(name, _)| name.starts_with("FORUM_"))
            .map(|(name, value)| (name, value.trim_matches(['\'', '"'])))
            .collect();
        assert_eq!(variables.len(), 8, "{service}");
        let parts = ["- health", "stop_grace_period: 30s", "read_only: true"];
        assert!(parts.iter().all(|part| service.contains(part)), "{service}");
        let checked = wait(start(directory.path(), &["config", "check"], &variables));
        assert_eq!(checked.status, 0, "{checked:?}");
    }
}
