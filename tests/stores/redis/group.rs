//! Several processes of Redis.

use std::fs;
use std::process::{Child, Command, Stdio};

use forum_test_support::free_port;
use forum_test_support::program::{signal, wait_for_line};
use tempfile::TempDir;

use super::until;

/// Processes of Redis on loopback, in one directory.
pub(crate) struct RedisGroup {
    directory: TempDir,
    processes: Vec<RedisProcess>,
}

struct RedisProcess {
    port: u16,
    password: &'static str,
    child: Child,
}

impl RedisGroup {
    pub(crate) fn new() -> Self {
        Self {
            directory: TempDir::new().unwrap(),
            processes: Vec::new(),
        }
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
        let mut child = Command::new("redis-server")
            .arg(file)
            .args(mode)
            .current_dir(&self.directory)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let log = child.stdout.take().unwrap();
        self.processes.push(RedisProcess {
            port,
            password,
            child,
        });
        wait_for_line(log, ready);
        port
    }

    fn process(&self, port: u16) -> &RedisProcess {
        let mut processes = self.processes.iter();
        processes.find(|process| process.port == port).unwrap()
    }

    pub(crate) fn signal(&self, port: u16, name: &str) {
        signal(&self.process(port).child, name);
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
        until(|| self.run(port, command).contains(expected)).await;
    }
}

impl Drop for RedisGroup {
    fn drop(&mut self) {
        for process in &mut self.processes {
            drop(process.child.kill());
            drop(process.child.wait());
        }
    }
}
