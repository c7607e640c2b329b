//! What holds for the whole house: who imports whom, what only one door may do, and what a file looks like.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Each room with the rooms that it names, in the order of the house: what it names stands above it. A room below
/// another is a room of its own.
#[rustfmt::skip]
const IMPORTS: &[(&str, &[&str])] = &[
    ("guide", &[]),
    ("swagger_ui", &[]),
    ("metrics", &[]),
    ("measure", &["metrics"]),
    ("scope", &[]),
    ("model", &[]),
    ("runtime", &["model"]),
    ("host", &["model", "scope"]),
    ("unwind", &["runtime", "host"]),
    ("base62", &["runtime"]),
    ("token", &["base62", "runtime", "model"]),
    ("webhook", &["base62", "runtime", "host", "model"]),
    ("rate_limit", &["model", "token"]),
    ("store", &["rate_limit", "host", "measure", "model", "token", "webhook"]),
    ("store/memory", &["rate_limit", "host", "model", "store", "token", "webhook"]),
    ("store/postgres", &["host", "model", "store", "token", "webhook"]),
    ("store/sqlite", &["host", "model", "store", "token", "webhook"]),
    ("store/redis", &["rate_limit", "runtime", "host", "measure", "model", "store", "store/memory"]),
    ("webhook_admin", &["runtime", "host", "model", "store", "webhook"]),
    ("worker", &["runtime", "host", "measure", "model", "store", "unwind", "webhook"]),
    ("token/issue", &["runtime", "host", "model", "scope", "store"]),
    ("api", &["rate_limit", "runtime", "host", "measure", "model", "scope", "store", "token", "unwind", "webhook"]),
    ("panel", &["api", "base62", "rate_limit", "runtime", "host", "model", "scope", "store", "token", "unwind", "webhook", "webhook_admin"]),
    ("test_util", &["api", "runtime", "host", "model", "store", "token"]),
    ("conformance", &["api", "rate_limit", "runtime", "host", "model", "store", "test_util", "token", "webhook"]),
];

/// Where SQL is.
const SQL: &[&str] = &[
    "src/store/postgres",
    "src/store/sqlite",
    "src/webhook/event/envelope.rs",
    "examples/existing_board",
    "examples/server/src/board",
];

/// What may stand in some places alone.
#[rustfmt::skip]
const DOORS: &[(&str, &[&str])] = &[
    ("SystemTime::now", &["src/runtime.rs"]),
    ("Instant::now", &["src/store/sqlite/line.rs", "src/webhook/http/connection.rs", "examples/server/src/connections.rs", "examples/server/src/readiness.rs"]),
    ("getrandom::", &["src/runtime.rs"]),
    ("tokio::spawn", &["src/runtime.rs", "src/webhook/address/resolver.rs", "src/webhook/http/connection.rs", "examples"]),
    ("select ", SQL),
    ("insert into ", SQL),
    ("delete from ", SQL),
    ("rusqlite", &["src/store/sqlite", "examples/server"]),
    ("tokio_postgres", &["src/store/postgres", "examples"]),
    ("MemoryBudgets", &["src/store", "examples"]),
    ("rustls", &["src/webhook/http"]),
    ("Url::parse", &["src/webhook/address/endpoint_url.rs"]),
    ("lookup_host", &["src/webhook/address/resolver.rs"]),
    ("TcpStream::connect", &["src/webhook/http/connect.rs"]),
    ("todo!", &[]),
    ("unimplemented!", &[]),
];

/// Crates that the core must do without.
#[rustfmt::skip]
const FOREIGN: &[&str] = &[
    "async-std", "axum", "hyper", "hyper-util", "native-tls", "openssl", "reqwest", "ring", "rusqlite", "rustls",
    "smol", "sqlx", "tokio", "tokio-postgres", "url",
];

struct Source {
    path: String,
    text: String,
}

impl Source {
    /// The code without comments, and without the tests at its end.
    fn code(&self) -> impl Iterator<Item = &str> {
        let lines = self.text.lines().take_while(|line| *line != "#[cfg(test)]");
        lines.filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with("//"))
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources(folders: &[&str]) -> Vec<Source> {
    let mut found = Vec::new();
    let mut waiting: Vec<PathBuf> = folders.iter().map(|folder| root().join(folder)).collect();
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            waiting.extend(
                fs::read_dir(path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            found.push(Source {
                path: path
                    .strip_prefix(root())
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .replace('\\', "/"),
                text: fs::read_to_string(&path).unwrap(),
            });
        }
    }
    assert!(!found.is_empty());
    found
}

/// The room that a path below `src` leads to: the longest that is listed.
fn room(path: &str) -> Option<&'static str> {
    let leads_to = |room: &&str| path == *room || path.starts_with(&format!("{room}/"));
    let rooms = IMPORTS.iter().map(|(room, _)| *room).filter(leads_to);
    rooms.max_by_key(|room| room.len())
}

/// The rooms that a file names, its own aside.
fn named(source: &Source, home: &str) -> BTreeSet<&'static str> {
    let code: Vec<_> = source.code().collect();
    let code = code.join("\n");
    let paths = code.split("crate::").skip(1).map(|after| {
        let end = after.find(|c: char| !c.is_alphanumeric() && !"_:".contains(c));
        after.split_at(end.unwrap_or(after.len())).0
    });
    let rooms = paths.map(|path| {
        let found = room(&path.replace("::", "/"));
        found.unwrap_or_else(|| panic!("{}: {path} is in no room", source.path))
    });
    rooms.filter(|room| *room != home).collect()
}

#[test]
fn imports_point_one_way() {
    let mut found: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for source in sources(&["src"]) {
        let inside = source.path["src/".len()..].trim_end_matches(".rs");
        if inside != "lib" {
            let home = room(inside).unwrap_or_else(|| panic!("{inside} is in no room"));
            found.entry(home).or_default().extend(named(&source, home));
        }
    }
    for (place, (home, names)) in IMPORTS.iter().enumerate() {
        assert_eq!(
            found[home],
            BTreeSet::from_iter(names.iter().copied()),
            "{home}"
        );
        let above = |name| IMPORTS[..place].iter().any(|(room, _)| room == name);
        assert!(names.iter().all(above), "{home} stands above what it names");
    }
}

#[test]
fn what_has_one_door_goes_through_it() {
    for source in sources(&["src", "examples"]) {
        let code: Vec<_> = source.code().collect();
        for (call, doors) in DOORS {
            let calls = |line: &&&str| line.contains(call) || line.contains(&call.to_uppercase());
            let found = code.iter().find(calls);
            let allowed = doors.iter().any(|door| source.path.starts_with(door));
            assert!(found.is_none() || allowed, "{}: {found:?}", source.path);
        }
    }
}

#[test]
fn every_file_says_what_it_is_and_is_short() {
    for source in sources(&["src", "examples", "tests"]) {
        assert!(source.text.starts_with("//! "), "{}", source.path);
        let ignored = source.text.contains(concat!("#[", "ignore"));
        assert!(!ignored, "{} ignores a test", source.path);
        let lines = source.code().count();
        assert!(lines <= 300, "{} has {lines} lines of code", source.path);
    }
}

/// A new parameter breaks no host, and of a new field the compiler tells each.
#[test]
fn what_a_host_receives_may_grow_and_what_it_builds_may_not() {
    let mut kinds = [Vec::new(), Vec::new()];
    for source in sources(&["src/model"]) {
        for item in source.text.split("\n\n") {
            if let Some((attributes, rest)) = item.split_once("\npub struct ") {
                let name = rest.split(['<', '(', ' ', ';']).next().unwrap().to_owned();
                let received = attributes.contains(" Deserialize,");
                let grows = attributes.contains("#[non_exhaustive]");
                assert_eq!(received, grows, "{name}");
                kinds[usize::from(received)].push(name);
            }
        }
    }
    let [built, received] = kinds;
    assert!(built.contains(&"Post".to_owned()), "{built:?}");
    assert!(received.contains(&"ListPosts".to_owned()), "{received:?}");
}

#[test]
fn features_are_documented_as_they_are_declared() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let declared = manifest
        .split("[features]")
        .nth(1)
        .unwrap()
        .split("\n[")
        .next()
        .unwrap();
    let names = declared.lines().filter_map(|line| line.split_once(" = "));
    let declared: BTreeSet<_> = names
        .map(|(name, _)| name)
        .filter(|name| *name != "default")
        .collect();
    assert!(manifest.contains("default = []"), "none is on by default");
    let docs = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let section = docs
        .split("//! # Features")
        .nth(1)
        .unwrap()
        .split("//! # ")
        .next()
        .unwrap()
        .to_owned();
    let bullets = section
        .lines()
        .filter_map(|line| line.strip_prefix("//! - `"));
    let documented: BTreeSet<_> = bullets.filter_map(|line| line.split('`').next()).collect();
    assert_eq!(declared, documented);
}

/// Where the crate's documentation compiles it.
#[test]
fn the_readme_embeds_as_the_documentation_does() {
    let block = |text: &str, fence: &str| {
        let code = text.split(fence).nth(1).unwrap();
        code.split("```").next().unwrap().to_owned()
    };
    let shown = fs::read_to_string(root().join("README.md")).unwrap();
    let docs = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let docs: Vec<_> = docs
        .lines()
        .filter_map(|line| line.strip_prefix("//!"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    let compiled = block(&docs.join("\n"), "```no_run\n");
    assert_eq!(block(&shown, "```rust\n"), compiled);
    let lines = compiled.lines().filter(|line| !line.is_empty());
    assert_eq!(lines.count(), 25);
}

#[test]
fn the_core_needs_no_runtime_no_sql_and_no_tls() {
    let tree = tree(&["--no-default-features", "-e", "normal", "--format", "{p}"]);
    let crates: BTreeSet<_> = tree
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    println!("the core needs {} crates: {crates:?}", crates.len());
    assert!(crates.contains("http") && crates.len() <= 60);
    for foreign in FOREIGN {
        assert!(!crates.contains(foreign), "{foreign}");
    }
}

/// `cargo deny check` reads the same file, and asks for advisories too.
#[test]
fn crates_come_from_one_place_and_what_ships_is_licensed_as_deny_toml_allows() {
    let lock = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let sources = lock.lines().filter(|line| line.starts_with("source = "));
    let sources: BTreeSet<_> = sources.collect();
    let only = r#"source = "registry+https://github.com/rust-lang/crates.io-index""#;
    assert_eq!(sources, BTreeSet::from([only]));

    let policy = fs::read_to_string(root().join("deny.toml")).unwrap();
    let allowed = policy
        .lines()
        .find_map(|line| line.strip_prefix("allow = "));
    let allowed = allowed.unwrap();
    let may = |licence: &str| allowed.contains(&format!("\"{licence}\""));
    let crates = tree(&[
        "--all-features",
        "-e",
        "normal,build",
        "--format",
        "{p}: {l}",
    ]);
    let crates: BTreeMap<_, _> = crates
        .lines()
        .filter_map(|line| line.trim_end_matches(" (*)").split_once(": "))
        .collect();
    assert!(crates.len() > 100, "{crates:?}");
    for (name, terms) in crates {
        let plain = terms.replace(['(', ')'], "").replace('/', " OR ");
        let granted = |term: &str| term.split(" OR ").any(may);
        assert!(plain.split(" AND ").all(granted), "{name}: {terms}");
    }
}

/// What `cargo tree` says of the crates in `Cargo.lock`, a line each.
fn tree(arguments: &[&str]) -> String {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--locked", "--prefix", "none"])
        .args(arguments)
        .current_dir(root())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&tree.stderr);
    assert!(tree.status.success(), "{told}");
    String::from_utf8(tree.stdout).unwrap()
}
