//! Several processes of Redis.

use std::fs;
use std::process::Command;

use forum_test_support::free_port;
use forum_test_support::program::{Running, signal};
use tempfile::TempDir;

use super::until_ok;

/// Processes of Redis on loopback, in one directory.
pub(crate) struct RedisGroup {
    processes: Vec<RedisProcess>,
    directory: TempDir,
}

struct RedisProcess {
    port: u16,
    password: &'static str,
    running: Running,
}

impl RedisGroup {
    pub(crate) fn new() -> Self {
        Self { processes: Vec::new(), directory: TempDir::new().unwrap() }
    }

    /// Starts a server, or a sentinel if the settings name a master to monitor. Returns its port.
    pub(crate) fn start(&mut self, password: &'static str, settings: &str) -> u16 {
        let port = free_port();
        let file = self.directory.path().join(format!("{port}.conf"));
        let common =
            format!("bind 127.0.0.1\nport {port}\nsave \"\"\nrepl-diskless-sync-delay 0\n");
        fs::write(&file, common + settings).unwrap();
        let (mode, ready) = if settings.contains("sentinel monitor") {
            (&["--sentinel"][..], "+monitor master")
        } else {
            (&[][..], "eady to accept connections")
        };
        let mut command = Command::new("redis-server");
        command.arg(file).args(mode).current_dir(&self.directory);
        self.processes.push(RedisProcess {
            port,
            password,
            running: Running::until(&mut command, ready),
        });
        port
    }

    fn process(&self, port: u16) -> &RedisProcess {
        let mut processes = self.processes.iter();
        processes.find(|process| process.port == port).unwrap()
    }

    pub(crate) fn signal(&self, port: u16, name: &str) {
        signal(&self.process(port).running.0, name);
    }

    /// Runs a command and returns its output.
    pub(crate) fn run(&self, port: u16, command: &str) -> String {
        let client = Command::new("redis-cli")
            .env("REDISCLI_AUTH", self.process(port).password)
            .args(["-p", &port.to_string()])
            .args(command.split(' '))
            .output();
        String::from_utf8(client.unwrap().stdout).unwrap()
    }

    /// Waits until the output of a command contains `expected`.
    pub(crate) async fn wait_for(&self, port: u16, command: &str, expected: &str) {
        until_ok(|| {
            let output = self.run(port, command);
            if output.contains(expected) {
                return Ok(());
            }
            Err(format!("{command}: no {expected:?} in\n{output}"))
        })
        .await;
    }
}
