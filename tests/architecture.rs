//! Architecture rules: order of modules, import cycles, restricted calls, dependencies, layout and names, lists and links
//! in documents.
//!
//! `cargo test --test architecture -- imports --nocapture` prints the imports of each module, and fails when there is a
//! cycle between modules, or between the files of a module.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use pulldown_cmark::{BrokenLink, CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, ItemUse, UseTree, Visibility};

#[path = "architecture/layout.rs"]
mod layout;
#[path = "architecture/names.rs"]
mod names;

/// The modules in an order in which each imports only modules before it. Submodules that are listed count by themselves.
#[rustfmt::skip]
const MODULES: &[&str] = &[
    "guide", "error", "driver_error", "lock", "mask_secrets", "build_error", "scope", "model", "metrics", "error_chain", "runtime", "tls", "task", "http_util", "html", "base62", "audit", "token", "host",
    "webhook", "rate_limit", "store", "store::sql", "store::postgres", "store::sqlite", "store::redis",
    "environment", "webhook_admin", "worker", "operation", "feed", "api", "reference", "mcp", "panel", "test_util", "conformance",
];

/// The modules of the example server in the same order.
#[rustfmt::skip]
const SERVER_MODULES: &[&str] = &[
    "nearest", "new_file", "own_files", "options", "output", "terminal", "prompt", "shutdown", "log", "keys", "audit", "database_lock",
    "board::texts", "board::db", "board::schema", "board::access::groups", "board::access::permissions", "board::rules", "board::settings", "board::markdown",
    "board::access", "board::accounts", "board::messages::recipients", "board::locks", "board::events", "board::forum_count",
    "board::search", "board::subscriptions", "board::thread_row", "board::posts", "board::polls", "board::posts::moderation", "board::threads", "board::messages", "board::ratings", "board::forums", "board::listings",
    "board::reference_board", "board::authorizer", "board::commands", "board::batches", "board::removal", "board::erasure", "board::copy", "board::demo", "board::generate", "board",
    "webhooks", "connect", "server_parts", "http", "certificates", "sign_in", "startup_banner", "bootstrap", "redis_check", "serve", "commands", "cli",
];

/// Places with SQL.
#[rustfmt::skip]
const SQL: &[&str] = &[
    "src/store/erasure.rs", "src/store/migrations.rs", "src/store/postgres/", "src/store/sqlite/", "src/store/sqlite_schema.rs", "src/store/sql/",
    "src/webhook/event/", "src/audit.rs", "src/guide/code/", "examples/existing_board", "examples/server/src/board",
];

/// Calls and words that are restricted to some places.
#[rustfmt::skip]
const RESTRICTED_CALLS: &[(&str, &[&str])] = &[
    ("SystemTime::now", &["src/runtime"]),
    ("Instant::now", &["src/store/postgres/tokio_postgres_0_7/pool.rs", "src/store/sqlite/pool/checkpoint.rs", "src/store/sqlite/pool/thread_pool.rs", "src/store/sqlite/pool/write_scheduler.rs", "src/webhook/address/", "src/webhook/http/", "examples/server/src/board/db/", "examples/server/src/board/erasure.rs", "examples/server/src/commands/board.rs", "examples/server/src/http/", "examples/server/src/sign_in/check_queue.rs"]),
    ("getrandom::", &["src/runtime"]),
    ("tokio::spawn", &["src/runtime", "src/webhook/address/", "src/webhook/http/", "examples"]),
    ("select ", SQL),
    ("insert into ", SQL),
    ("delete from ", SQL),
    ("rusqlite", &["src/driver_error/sqlite.rs", "src/store/sqlite", "examples/server"]),
    ("tokio_postgres", &["src/driver_error", "src/error_chain.rs", "src/store/postgres", "examples"]),
    ("deadpool_postgres", &["src/store/postgres/tokio_postgres_0_7", "examples"]),
    ("use redis::", &["src/store/redis"]),
    ("MemoryRateLimitStore", &["src/store", "examples"]),
    ("rustls", &["src/store/postgres/tokio_postgres_0_7/tls.rs", "src/store/redis", "src/tls", "src/webhook/http", "examples/server/src/certificates.rs"]),
    (" Url::parse", &["src/webhook/address/"]),
    ("lookup_host", &["src/webhook/address/"]),
    // Generates public functions of a public type, which shadow those of its `Serialize`.
    ("remote = \"Self\"", &[]),
    ("TcpStream::connect", &["src/webhook/http/", "examples/server/src/certificates.rs", "examples/server/src/commands/health.rs"]),
];

/// Crates that the core must not depend on.
#[rustfmt::skip]
const FOREIGN: &[&str] = &[
    "async-std", "axum", "hyper", "hyper-util", "native-tls", "openssl", "reqwest", "ring", "rusqlite", "rustls",
    "smol", "sqlx", "tokio", "tokio-postgres", "url",
];

/// Folders with code.
const CODE: [&str; 4] = ["src", "examples", "tests", "benches"];

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// Returns the text between the first `start` and the next `end`, or the end of the text.
fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let (_, text) = text.split_once(start).unwrap();
    text.split(end).next().unwrap()
}

fn files(folder: &str) -> Vec<String> {
    files_with(folder, "rs")
}

fn files_with(folder: &str, extension: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut waiting = vec![root.join(folder)];
    let mut files = Vec::new();
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(path).unwrap();
            waiting.extend(entries.map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|found| found == extension) {
            let relative = path.strip_prefix(root).unwrap().to_str().unwrap();
            files.push(relative.to_owned());
        }
    }
    files
}

/// Paths that a file uses, and paths that it re-exports with their names.
#[derive(Default)]
struct Names {
    used: Vec<Vec<String>>,
    reexported: Vec<(String, Vec<String>)>,
}

impl Visit<'_> for Names {
    fn visit_item_mod(&mut self, item: &ItemMod) {
        if item.ident != "tests" {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &ItemUse) {
        let mut leaves = Vec::new();
        flatten(&item.tree, Vec::new(), &mut leaves);
        match item.vis {
            Visibility::Inherited => self.used.extend(leaves.into_iter().map(|(_, path)| path)),
            _ => self.reexported.extend(leaves),
        }
    }

    /// `pub(super)` is not an import.
    fn visit_visibility(&mut self, _: &Visibility) {}

    fn visit_path(&mut self, path: &syn::Path) {
        let segments = path.segments.iter();
        let names = segments.map(|segment| segment.ident.to_string());
        self.used.push(names.collect());
        visit::visit_path(self, path);
    }
}

fn flatten(tree: &UseTree, mut path: Vec<String>, leaves: &mut Vec<(String, Vec<String>)>) {
    match tree {
        UseTree::Path(inner) => {
            path.push(inner.ident.to_string());
            flatten(&inner.tree, path, leaves);
        }
        UseTree::Group(group) => {
            let each = group.items.iter();
            each.for_each(|tree| flatten(tree, path.clone(), leaves));
        }
        UseTree::Name(name) => {
            path.push(name.ident.to_string());
            leaves.push((name.ident.to_string(), path));
        }
        UseTree::Rename(rename) => {
            path.push(rename.ident.to_string());
            leaves.push((rename.rename.to_string(), path));
        }
        UseTree::Glob(_) => leaves.push(("*".into(), path)),
    }
}

/// Modules that are files, with the names in them.
struct Crate(BTreeMap<String, Names>);

impl Crate {
    /// Parses the files of a crate whose root is this folder.
    fn parse(root: &str) -> Self {
        let parse = |file: String| {
            let module = file
                .strip_prefix(root)
                .unwrap()
                .trim_matches('/')
                .trim_end_matches(".rs")
                .trim_end_matches("/mod")
                .replace('/', "::");
            let mut names = Names::default();
            let mut items = syn::parse_file(&read(&file)).unwrap().items;
            items.retain(|item| !matches!(item, Item::Macro(_)));
            items.iter().for_each(|item| names.visit_item(item));
            (module, names)
        };
        Self(files(root).into_iter().map(parse).collect())
    }

    /// Finds the module that defines the item of a path in `module`.
    fn locate(&self, module: &str, path: &[String]) -> Option<&str> {
        let mut base: Vec<&str> = module.split("::").collect();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => base.clear(),
            "self" => {}
            "super" => drop(base.pop()),
            first if self.0.contains_key(&format!("{module}::{first}")) => rest = &[],
            _ => return None,
        }
        let rest = if rest.is_empty() { path } else { &rest[1..] };
        let mut current = base.join("::");
        for (place, name) in rest.iter().enumerate() {
            let inner = format!("{current}::{name}").trim_start_matches("::").to_owned();
            if name == "super" {
                current =
                    current.rsplit_once("::").map_or(String::new(), |(above, _)| above.into());
            } else if self.0.contains_key(&inner) {
                current = inner;
            } else {
                let home = if current.is_empty() { "lib" } else { &current };
                let mut reexported = self.0[home].reexported.iter();
                let target = reexported.find(|(known, _)| known == name);
                if let Some((_, target)) = target {
                    let target = [target, &rest[place + 1..]].concat();
                    return self.locate(home, &target);
                }
                break;
            }
        }
        let current = if current.is_empty() { "lib" } else { &current };
        self.0.get_key_value(current).map(|(name, _)| name.as_str())
    }

    fn imports(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let each = self.0.iter().map(|(module, names)| {
            let located = names
                .used
                .iter()
                .filter_map(|path| self.locate(module, path))
                .filter(|other| other != module && *other != "lib");
            (module.as_str(), located.collect())
        });
        each.collect()
    }
}

/// Returns the entry of a list of modules that contains a file.
fn listed(modules: &[&'static str], module: &str) -> &'static str {
    let contains = |entry: &&&str| module == **entry || module.starts_with(&format!("{entry}::"));
    let entries = modules.iter().filter(contains);
    let entry = entries.max_by_key(|entry| entry.len());
    entry.unwrap_or_else(|| panic!("{module} is not listed"))
}

#[test]
fn imports_have_one_direction_and_no_cycle() {
    check_imports("src", MODULES);
    check_imports("examples/server/src", SERVER_MODULES);
}

#[test]
fn the_layers_of_the_server_are_described() {
    let document = read("ARCHITECTURE.md");
    let table = between(&document, "### Layers of the example server", "\n###");
    // The module `board` only declares the modules below it.
    for module in SERVER_MODULES.iter().filter(|module| **module != "board") {
        let path = module.replace("::", "/");
        let names = [format!("`{path}.rs`"), format!("`{path}/`")];
        assert!(names.iter().any(|name| table.contains(name)), "{module}");
    }
}

fn check_imports(root: &str, list: &[&'static str]) {
    let sources = Crate::parse(root);
    let mut imports = sources.imports();
    imports.retain(|module, _| !["lib", "main"].contains(module));
    let mut modules: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for (module, others) in &imports {
        let entry = modules.entry(listed(list, module)).or_default();
        entry.extend(others.iter().map(|other| listed(list, other)));
    }
    let mut reversed = Vec::new();
    for (place, module) in list.iter().enumerate() {
        let others = modules.remove(module).unwrap_or_else(|| panic!("{module} has no file"));
        println!("{module}: {others:?}");
        let later = others.iter().filter(|other| list[place + 1..].contains(other));
        reversed.extend(later.map(|other| (module, *other)));
    }
    assert_eq!(reversed, [], "imports of a later module");
    let cyclic = list.iter().filter(|module| {
        let mut files = imports.clone();
        files.retain(|file, _| listed(list, file) == **module);
        let cycle = cycles(files);
        println!("{module}: files in cycles: {cycle:?}");
        !cycle.is_empty()
    });
    assert_eq!(cyclic.collect::<Vec<_>>(), [&""; 0], "cycles of files");
}

/// Returns the files in import cycles, and those between two cycles.
fn cycles<'a>(
    mut cycle: BTreeMap<&'a str, BTreeSet<&'a str>>,
) -> BTreeMap<&'a str, BTreeSet<&'a str>> {
    loop {
        let files: BTreeSet<_> = cycle.keys().copied().collect();
        let imported: BTreeSet<_> = cycle.values().flatten().copied().collect();
        for others in cycle.values_mut() {
            others.retain(|other| files.contains(other));
        }
        cycle.retain(|file, others| !others.is_empty() && imported.contains(file));
        if cycle.len() == files.len() {
            return cycle;
        }
    }
}

#[test]
fn restricted_calls_are_in_their_places() {
    let checked = ["src", "examples"].into_iter().flat_map(files);
    for file in checked.filter(|file| !file.contains("/tests/")) {
        let text = read(&file);
        let lines = text.lines().take_while(|line| *line != "#[cfg(test)]");
        for line in lines.filter(|line| !line.trim_start().starts_with("//")) {
            for (call, places) in RESTRICTED_CALLS {
                let is_call = line.contains(call) || line.contains(&call.to_uppercase());
                let allowed = places.iter().any(|place| file.starts_with(place));
                assert!(!is_call || allowed, "{file}: {line}");
            }
        }
    }
}

/// A renamed test would otherwise return to the fast tier, or to the servers without TLS, unnoticed.
#[test]
fn every_test_that_a_script_skips_exists() {
    let tests: String =
        ["tests", "examples"].into_iter().flat_map(files).map(|file| read(&file)).collect();
    for (script, list) in [("tests/run", "slow_tests=(\n"), ("tests/newest/run", "tls=(\n")] {
        let script = read(script);
        for name in between(&script, list, "\n)").lines().map(str::trim) {
            assert!(tests.contains(&format!("fn {name}")), "{name}");
        }
    }
}

/// `tests/run` selects suites by the paths of this list.
#[test]
fn suites_of_paths_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let script = read("tests/run");
    let lines = between(&script, "map=(\n", "\n)").lines();
    for line in lines.map(|line| line.trim().trim_matches('"')) {
        let mut words = line.split_ascii_whitespace();
        let path = words.next().unwrap();
        let (folder, beginning) = path.rsplit_once('/').unwrap_or((".", path));
        let mut entries = fs::read_dir(root.join(folder)).unwrap();
        let is_beginning = |name: &str| name.starts_with(beginning);
        assert!(
            entries.any(|entry| is_beginning(entry.unwrap().file_name().to_str().unwrap())),
            "{path}"
        );
        for suite in words {
            let is_special = ["lib", "doc", "fast", "memory"].contains(&suite);
            let places = [
                "tests",
                "benches/tests",
                "tests/fuzz/tests",
                "examples/server/tests",
                "examples/existing_board/tests",
            ];
            let files = [format!("{suite}.rs"), format!("{suite}/main.rs"), format!("{suite}/run")];
            let has_file =
                |place: &str| files.iter().any(|file| root.join(place).join(file).exists());
            assert!(is_special || places.into_iter().any(has_file), "{path}: {suite}");
        }
    }
}

#[test]
fn no_test_is_ignored() {
    for file in CODE.into_iter().flat_map(files) {
        for attribute in read(&file).split("#[").skip(1) {
            let attribute = attribute.split(']').next().unwrap();
            let mut words = attribute.split(|letter: char| !letter.is_alphanumeric());
            assert!(words.all(|word| word != "ignore"), "{file}: {attribute}");
        }
    }
    let script = read("tests/run");
    let manifests = CODE.map(|folder| files_with(folder, "toml")).concat();
    for file in manifests.into_iter().chain(["Cargo.toml".into()]) {
        let manifest = read(&file);
        assert!(!manifest.contains("autotests = false"), "{file}");
        let is_left_out = |section: &&str| section.contains("\ntest = false");
        for section in manifest.split("\n[").filter(is_left_out) {
            let name = between(section, "name = \"", "\"");
            let is_run = script.contains(&format!("--test {name}"));
            assert!(is_run || section.starts_with("[bin]"), "{file}: {name}");
        }
    }
}

/// Returns `true` for `#[doc(hidden)]`.
fn is_hidden(attribute: &Attribute) -> bool {
    attribute.path().is_ident("doc")
        && attribute.parse_args::<syn::Ident>().is_ok_and(|argument| argument == "hidden")
}

/// A type is open to new fields or variants if it has the attribute, or is a struct with a private field. The types in the
/// code of the guide belong to hosts.
#[test]
fn the_guide_lists_every_exhaustive_type() {
    let mut exhaustive = BTreeSet::new();
    let library = files("src").into_iter().filter(|file| !file.starts_with("src/guide/code/"));
    for file in library {
        let mut items = syn::parse_file(&read(&file)).unwrap().items;
        while let Some(item) = items.pop() {
            let (attributes, visibility, name, has_private_field) = match item {
                Item::Enum(item) => (item.attrs, item.vis, item.ident, false),
                Item::Struct(item) => {
                    let mut fields = item.fields.iter();
                    let is_private = fields.any(|field| !is_public(&field.vis));
                    (item.attrs, item.vis, item.ident, is_private)
                }
                Item::Mod(module) if is_public(&module.vis) => {
                    items.extend(module.content.map_or(Vec::new(), |(_, items)| items));
                    continue;
                }
                _ => continue,
            };
            let is_open = attributes.iter().any(|attribute| {
                attribute.path().is_ident("non_exhaustive") || is_hidden(attribute)
            });
            if is_public(&visibility) && !is_open && !has_private_field {
                exhaustive.insert(name.to_string());
            }
        }
    }
    let chapter = read("src/guide/semver.md");
    let section = between(&chapter, "\n# Exhaustive types\n", "\n# ");
    let rows = section.lines().filter_map(|line| line.split('|').nth(1));
    let names = rows.flat_map(|row| row.split('`').skip(1).step_by(2));
    let listed: BTreeSet<_> = names.map(str::to_owned).collect();
    assert_eq!(listed, exhaustive);
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// The document describes a type or a field with the first paragraph of its documentation.
#[test]
fn descriptions_of_schemas_are_doc_comments() {
    for file in files("src") {
        let text = read(&file);
        let found = text.split("#[schemars(").skip(1).find(|attribute| {
            let attribute = attribute.split(")]").next().unwrap_or_default();
            attribute.split([',', '\n']).any(|part| part.trim_start().starts_with("description ="))
        });
        assert_eq!(found, None, "{file}");
    }
}

#[test]
fn every_feature_is_documented_and_none_is_on_by_default() {
    let manifest = read("Cargo.toml");
    let docs = read("src/lib.rs");
    let (default, declared): (Vec<_>, Vec<_>) = between(&manifest, "\n[features]\n", "\n[")
        .lines()
        .filter_map(|line| line.split_once(" = "))
        .partition(|(name, _)| *name == "default");
    assert_eq!(default, [("default", "[]")]);
    let section = docs.split("//! # Features").nth(1).unwrap();
    let lines = section.lines();
    let bullets = lines.filter_map(|line| line.strip_prefix("//! - `"));
    let documented: BTreeSet<_> = bullets.filter_map(|line| line.split('`').next()).collect();
    let declared: BTreeSet<_> = declared.into_iter().map(|(name, _)| name).collect();
    assert_eq!(declared, documented);
}

/// The compiler checks the example of the crate's documentation.
#[test]
fn the_readme_shows_the_example_of_the_documentation() {
    let source = read("src/lib.rs");
    let lines: Vec<_> = source
        .lines()
        .filter_map(|line| line.strip_prefix("//!"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    let docs = lines.join("\n");
    let example = between(&docs, "```no_run\n", "```");
    assert!(read("README.md").contains(&format!("```rust\n{example}```")));
    assert_eq!(example.lines().filter(|line| !line.is_empty()).count(), 31);
}

fn markdown_files() -> Vec<String> {
    let root = fs::read_dir(env!("CARGO_MANIFEST_DIR")).unwrap();
    let names = root.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut found: Vec<_> = names.filter(|name| name.ends_with(".md")).collect();
    for folder in ["benches", "docs", "examples", "src", "tests"] {
        found.extend(files_with(folder, "md"));
    }
    assert!(found.len() > 20, "{found:?}");
    found
}

/// Links to files. rustdoc checks the links of the guide to items. No test checks anchors.
#[test]
fn the_links_of_documents_have_targets() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut missing = Vec::new();
    for file in markdown_files() {
        let text = read(&file);
        let targets =
            Parser::new_ext(&text, Options::ENABLE_TABLES).filter_map(|event| match event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    Some(dest_url)
                }
                _ => None,
            });
        for target in targets {
            let path = target.split('#').next().unwrap();
            if !target.starts_with("https://") && !root.join(&file).with_file_name(path).exists() {
                missing.push(format!("{file}: {target}"));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// A forge shows documents without rustdoc.
#[test]
fn documents_can_be_read_without_rustdoc() {
    let mut faults = Vec::new();
    for file in markdown_files() {
        let text = read(&file);
        let mut undefined = Vec::new();
        let collect = |link: BrokenLink<'_>| {
            undefined.push(format!("{file}: [{}]", link.reference));
            None
        };
        let options = Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS;
        let mut is_rust = false;
        for event in Parser::new_with_broken_link_callback(&text, options, Some(collect)) {
            match event {
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => {
                    is_rust = language.starts_with("rust");
                    if language.is_empty() {
                        faults.push(format!("{file}: a fence without a language"));
                    }
                }
                Event::End(TagEnd::CodeBlock) => is_rust = false,
                Event::Text(code) if is_rust => {
                    let hidden = code.lines().filter(|line| line.trim().starts_with("# "));
                    faults.extend(hidden.map(|line| format!("{file}: {line}")));
                }
                _ => {}
            }
        }
        faults.append(&mut undefined);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_core_has_few_crates_without_runtime_sql_and_tls() {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--locked", "--prefix", "none"])
        .args(["--no-default-features", "-e", "normal", "--format", "{p}"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(tree.status.success(), "{tree:?}");
    let tree = String::from_utf8(tree.stdout).unwrap();
    let crates: BTreeSet<_> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(crates.contains("http"), "{crates:?}");
    assert!(crates.len() <= 55, "{} crates: {crates:?}", crates.len());
    let mut foreign = FOREIGN.iter();
    assert!(foreign.all(|name| !crates.contains(name)), "{crates:?}");
}
