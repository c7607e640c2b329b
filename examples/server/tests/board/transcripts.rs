//! Replays the transcripts in `transcripts/`. With `UPDATE=1` it writes the results that it gets into them.
//!
//! The beginning of a line determines its kind:
//! - `## TITLE` begins a scenario on a new demo board, in the language of the file's name.
//! - `@ CHANGE [ID]` is a change by an operator or by the server, see [`operate`].
//! - `! KEY VALUE` sets a setting.
//! - `* SQL` runs a statement.
//! - `= SQL` runs a query, and `  = TEXTS` are the values that it returns.
//! - `+ SECONDS` advances the clock, and `- SECONDS` sets it back.
//! - `NAME METHOD PATH [BODY]` is a request of a member, or of `guest`.
//! - `  ? FIELD,FIELD` selects the fields of the result that are compared. `items.FIELD` is the field of each item.
//! - `  < STATUS BODY` is the result. The body of an error consists of its `retry-after` in seconds, its code, its reason
//!   and its message, which begins with its field.

use std::path::Path;
use std::{env, fs};

use forum_api::test_util::TestResponse;
use http::Method;
use percent_encoding::{CONTROLS, utf8_percent_encode};

use crate::board::posts::moderation::{ThreadFlag, set_flag};
use crate::prelude::*;

#[tokio::test]
async fn each_transcript_has_its_results() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/board/transcripts");
    for file in directory.read_dir().unwrap() {
        replay(&file.unwrap().path()).await;
    }
}

async fn replay(path: &Path) {
    let language = if path.ends_with("german.txt") { Language::German } else { Language::English };
    let expected = fs::read_to_string(path).unwrap();
    let mut found = String::new();
    for scenario in expected.split_inclusive("\n\n") {
        found += &run(scenario, language).await;
    }
    if env::var_os("UPDATE").is_some() {
        fs::write(path, &found).unwrap();
        return;
    }
    for (expected, found) in expected.lines().zip(found.lines()) {
        assert_eq!(found, expected, "{path:?}");
    }
    assert_eq!(found.lines().count(), expected.lines().count(), "{path:?}");
}

/// Returns the scenario with the results of this run.
async fn run(scenario: &str, language: Language) -> String {
    let demo = Demo::in_language(language).await;
    let mut found = String::new();
    let mut lines = scenario.lines().peekable();
    while let Some(line) = lines.next() {
        found += &format!("{line}\n");
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match line.split_once(' ') {
            Some(("!", setting)) => {
                let (key, value) = setting.split_once(' ').unwrap();
                demo.set(key, value).await;
            }
            Some(("*", sql)) => demo.sql(sql).await,
            Some(("=", sql)) => {
                lines.next_if(|line| line.starts_with("  ="));
                let values: Vec<String> = demo.query_values(sql.to_owned().leak()).await;
                found += &format!("  = {values:?}\n");
            }
            Some(("@", change)) => operate(&demo, change).await,
            Some(("+", seconds)) => demo.advance(seconds.parse().unwrap()),
            Some(("-", seconds)) => demo.set_back(seconds.parse().unwrap()),
            _ => {
                let selection = lines.next_if(|line| line.starts_with("  ?"));
                if let Some(selection) = selection {
                    found += &format!("{selection}\n");
                }
                lines.next_if(|line| line.starts_with("  <"));
                let fields = selection.map(|line| line.trim_start_matches("  ? "));
                found += &result(&send(&demo, line).await, fields);
            }
        }
    }
    found
}

async fn operate(demo: &Demo, change: &str) {
    let (change, id) = change.split_once(' ').unwrap_or((change, "0"));
    let id = id.parse().unwrap();
    let (flag, on) = match change {
        "approve" => return demo.approve(id).await.unwrap(),
        "restore" => return demo.restore(id).await.unwrap(),
        "add-endpoint" => return demo.add_endpoint().await,
        "flush-last-seen" => return demo.board.flush_last_seen().await,
        "lock" => (ThreadFlag::Locked, true),
        "unlock" => (ThreadFlag::Locked, false),
        "pin" => (ThreadFlag::Pinned, true),
        "unpin" => (ThreadFlag::Pinned, false),
        _ => panic!("unknown change {change}"),
    };
    demo.board.write(move |tx, events| Box::pin(set_flag(tx, events, id, flag, on))).await.unwrap();
}

async fn send(demo: &Demo, line: &str) -> TestResponse {
    let mut words = line.splitn(4, ' ');
    let mut word = || words.next().unwrap_or_default();
    let name = word();
    let method = word();
    let path = utf8_percent_encode(word(), CONTROLS).to_string();
    let body = word();
    let client = match name {
        "guest" => demo.api.as_guest(),
        name => demo.as_member(name).await,
    };
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    let request = client.request(method, &path);
    if body.is_empty() {
        return request.await;
    }
    request.header("content-type", "application/json").body(body.to_owned()).await
}

fn result(answer: &TestResponse, selection: Option<&str>) -> String {
    let status = answer.status;
    let json = answer.json();
    let error = &json["error"];
    let shown = match selection {
        _ if status >= 400 => {
            let code = error["code"].as_str().unwrap();
            let message = error["message"].as_str().unwrap();
            let is_named = |field: &str| message.starts_with(&format!("{field}: "));
            assert!(answer.header("x-error-field").is_none_or(is_named), "{answer:?}");
            let wait = answer.header("retry-after");
            let reason = answer.header("x-error-reason");
            // The other codes have one cause each.
            let needs_reason = ["FORBIDDEN", "CONFLICT", "VALIDATION"].contains(&code);
            assert_eq!(reason.is_some(), needs_reason, "{answer:?}");
            let parts = [wait, Some(code), reason, Some(message)].into_iter().flatten();
            parts.collect::<Vec<_>>().join(" ")
        }
        Some(fields) => {
            fields.split(',').map(|field| select(&json, field)).collect::<Value>().to_string()
        }
        None => json.to_string(),
    };
    format!("  < {status} {shown}\n")
}

/// Returns a field of an object, or of each object of an array. A dot separates a field from one inside of it.
fn select(json: &Value, path: &str) -> Value {
    let Some((field, rest)) = path.split_once('.') else {
        return json[path].clone();
    };
    match &json[field] {
        Value::Array(items) => items.iter().map(|item| select(item, rest)).collect(),
        value => select(value, rest),
    }
}
