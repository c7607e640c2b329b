//! Time of a cold `cargo build` of the core, without any feature: `cargo bench -p forum-benches --bench build`.
//!
//! The baseline is an empty crate with the core's direct dependencies. Both are dependencies of an empty crate, use the
//! versions of this Cargo.lock, and are built in turns from an empty target directory, without incremental compilation.
//! Takes five minutes and 1 GB of disk.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use forum_benches::measurements::{Goal, Samples, row};
use tempfile::{TempDir, tempdir};

const ROUNDS: usize = 5;

fn main() {
    let manifest = include_str!("../Cargo.toml");
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let core = format!("forum-api = {{ path = {root:?} }}");
    let [core, direct] = [core, direct(manifest)].map(|dependencies| host_of(&dependencies));
    let (mut core_times, mut direct_times) = (Samples::default(), Samples::default());
    let mut ratios = Samples::default();
    for _ in 0..ROUNDS {
        let [core, direct] = [&core, &direct].map(|host| build(host.path()));
        core_times.add(core);
        direct_times.add(direct);
        ratios.add(core / direct);
    }
    println!("cold cargo build, in seconds");
    core_times.report("without features");
    direct_times.report("the direct dependencies");
    row(
        "cold cargo build without features",
        "ratio",
        "the direct dependencies",
        Goal::AtMost(1.5),
        &ratios,
    );
}

/// The lines of the dependencies that are not optional.
fn direct(manifest: &str) -> String {
    let (_, rest) = manifest.split_once("\n[dependencies]\n").unwrap();
    let (lines, _) = rest.split_once("\n[").unwrap();
    let always = lines.lines().filter(|line| !line.contains("optional"));
    always.collect::<Vec<_>>().join("\n")
}

/// Creates an empty crate with these dependencies.
fn host_of(dependencies: &str) -> TempDir {
    let host = tempdir().unwrap();
    let manifest = format!(
        "[package]\nname = \"host\"\nedition = \"2024\"\n\n[dependencies]\n{dependencies}\n"
    );
    fs::write(host.path().join("Cargo.toml"), manifest).unwrap();
    fs::write(
        host.path().join("Cargo.lock"),
        include_str!("../Cargo.lock"),
    )
    .unwrap();
    fs::create_dir(host.path().join("src")).unwrap();
    fs::write(host.path().join("src/lib.rs"), "").unwrap();
    host
}

/// Builds a crate into an empty target directory and returns the seconds that it took.
fn build(host: &Path) -> f64 {
    let target = tempdir().unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["build", "--quiet", "--offline"])
        .current_dir(host);
    cargo
        .env("CARGO_TARGET_DIR", target.path())
        .env("CARGO_INCREMENTAL", "0");
    let start = Instant::now();
    assert!(cargo.status().unwrap().success());
    start.elapsed().as_secs_f64()
}
