//! The handwritten server on axum and sqlx, in a process of its own.

use std::env;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::pages::Config;

/// The server, stopped on drop.
pub struct SqlxServer {
    pub origin: String,
    child: Child,
}

impl SqlxServer {
    /// Builds the server and starts it.
    pub fn start(config: &Config) -> Self {
        let mut child =
            Command::new(build()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        serde_json::to_writer(child.stdin.take().unwrap(), config).unwrap();
        let mut origin = String::new();
        let out = child.stdout.take().unwrap();
        BufReader::new(out).read_line(&mut origin).unwrap();
        let origin = origin.trim_end().to_owned();
        Self { origin, child }
    }
}

impl Drop for SqlxServer {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Builds the package, which is not in the workspace, and returns the path of the program.
fn build() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target =
        env::var_os("CARGO_TARGET_DIR").map_or_else(|| folder.join("../target"), PathBuf::from);
    let (profile, directory) =
        if cfg!(debug_assertions) { ("dev", "debug") } else { ("release", "release") };
    let built = Command::new(env!("CARGO"))
        .args(["build", "--profile", profile, "--manifest-path"])
        .arg(folder.join("sqlx/Cargo.toml"))
        .env("CARGO_TARGET_DIR", &target)
        .status();
    assert!(built.unwrap().success());
    target.join(directory).join("forum-benches-sqlx")
}
