//! Replays the transcripts in `transcripts/`. With `UPDATE=1` it writes the results that it gets into them.
//!
//! The beginning of a line determines its kind:
//! - `## TITLE` begins a scenario on a new demo board, in the language of the file's name.
//! - `! COMMAND` is a command of the operator.
//! - `NAME METHOD PATH [BODY]` is a request of a member with every scope, or of `guest`.
//! - `  + HEADER: VALUE` adds a header to the request.
//! - `  ? FIELD.*.FIELD,FIELD` selects the part of the result that is compared.
//! - `  > NAME = FIELD.FIELD` keeps a part of the result. In later lines, `{NAME}` is replaced with this part, and
//!   `{x*20}` with twenty `x`.
//! - `  < STATUS [HEADER=VALUE…] [BODY]` is the result.

use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};

use forum_api::scope::Surface;
use forum_api::test_util::TestResponse;
use forum_api::{ApiSettings, ErrorMessages, Language};
use serde_json::Value;

use crate::fixture::Fixture;

macro_rules! transcripts {
    ($($name:ident)+) => {
        $(#[tokio::test]
        async fn $name() {
            replay(concat!(stringify!($name), ".txt")).await;
        })+

        #[test]
        fn every_transcript_is_replayed() {
            let files = fs::read_dir(directory()).unwrap();
            assert_eq!(files.count(), [$(stringify!($name)),+].len());
        }
    };
}

transcripts! { forums german members messages polls posts search subscriptions threads }

fn directory() -> &'static Path {
    Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/endpoints/transcripts"
    ))
}

async fn replay(file: &str) {
    let path = directory().join(file);
    let expected = fs::read_to_string(&path).unwrap();
    let language = match file {
        "german.txt" => Language::German,
        _ => Language::English,
    };
    let mut found = String::new();
    for scenario in expected.split_inclusive("\n\n") {
        found += &run(scenario, language).await;
    }
    if env::var_os("UPDATE").is_some() {
        fs::write(&path, found).unwrap();
        return;
    }
    for (expected, found) in expected.lines().zip(found.lines()) {
        assert_eq!(found, expected, "{file}");
    }
    assert_eq!(found.lines().count(), expected.lines().count(), "{file}");
}

/// Returns the scenario with the results of this run.
async fn run(scenario: &str, language: Language) -> String {
    let mut settings = ApiSettings::default();
    settings.error_messages = ErrorMessages::for_language(language);
    settings.token_budget.units = 1_000_000;
    settings.guest_budget.units = 1_000_000;
    let fixture = Fixture::new(settings, language).await;
    let (mut found, mut kept) = (String::new(), BTreeMap::new());
    let mut lines = scenario.lines().peekable();
    while let Some(line) = lines.next() {
        found += &format!("{line}\n");
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let line = expanded(line, &kept);
        if let Some(command) = line.strip_prefix("! ") {
            fixture.command(command).await;
            continue;
        }
        let (mut headers, mut selection, mut captures) = (Vec::new(), String::new(), Vec::new());
        while let Some(detail) = lines.next_if(|line| line.starts_with("  ")) {
            if !detail.starts_with("  <") {
                found += &format!("{detail}\n");
            }
            let detail = expanded(detail, &kept);
            match detail.trim_start().split_at(2) {
                ("+ ", header) => headers.push(header.to_owned()),
                ("? ", fields) => selection = fields.to_owned(),
                ("> ", capture) => captures.push(capture.to_owned()),
                _ => {}
            }
        }
        let answer = send(&fixture, &line, &headers).await;
        for capture in captures {
            let (name, field) = capture.split_once(" = ").unwrap();
            let Value::String(value) = selected(&answer.json(), field) else {
                panic!("{line}: {capture}: {answer:?}");
            };
            kept.insert(name.to_owned(), value);
        }
        found += &result(&answer, &selection);
    }
    found
}

fn expanded(line: &str, kept: &BTreeMap<String, String>) -> String {
    let mut parts = line.split('{');
    let mut text = parts.next().unwrap().to_owned();
    for part in parts {
        let named = part.split_once('}').and_then(|(name, rest)| {
            let repeated = || {
                let (letters, count) = name.split_once('*')?;
                Some(letters.repeat(count.parse().ok()?))
            };
            Some((kept.get(name).cloned().or_else(repeated)?, rest))
        });
        match named {
            Some((value, rest)) => text += &(value + rest),
            None => text += &format!("{{{part}"),
        }
    }
    text
}

async fn send(fixture: &Fixture, line: &str, headers: &[String]) -> TestResponse {
    let mut words = line.splitn(4, ' ');
    let mut word = || words.next().unwrap_or_default();
    let (name, method, path, body) = (word(), word(), word(), word());
    let scopes: Vec<_> = Surface::Full.scopes().map(|scope| scope.as_str()).collect();
    let caller = (name != "guest").then_some((name, &*scopes));
    let headers = headers
        .iter()
        .map(|header| header.split_once(": ").unwrap());
    let headers: Vec<_> = headers.collect();
    fixture.send(caller, (method, path, body), &headers).await
}

fn result(answer: &TestResponse, selection: &str) -> String {
    let mut text = format!("  < {}", answer.status);
    for name in ["location", "link", "retry-after", "idempotency-replayed"] {
        if let Some(value) = answer.header(name) {
            text += &format!(" {name}={}", without_cursor(value));
        }
    }
    let json = answer.json();
    let error = &json["error"];
    if answer.status >= 400 {
        text += &format!(
            " {} {}",
            error["code"].as_str().unwrap_or_default(),
            error["message"].as_str().unwrap_or_default()
        );
    } else if !answer.body.is_empty() {
        text += &format!(" {}", selected(&json, selection));
    }
    text + "\n"
}

/// Returns a link without its cursor, which can depend on the database.
fn without_cursor(value: &str) -> &str {
    value.split("after=").next().unwrap_or_default()
}

/// Returns the parts of a value that a path names: `*` for all items of a list, `,` between several fields of an object.
fn selected(value: &Value, path: &str) -> Value {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    match value {
        _ if path.is_empty() => value.clone(),
        Value::Array(items) if first == "*" => {
            items.iter().map(|item| selected(item, rest)).collect()
        }
        Value::Array(items) => selected(&items[first.parse::<usize>().unwrap()], rest),
        _ if first.contains(',') => first.split(',').map(|field| value[field].clone()).collect(),
        _ => selected(&value[first], rest),
    }
}
