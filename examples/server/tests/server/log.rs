//! The log: where it goes, what a line holds, and what comes of it when nobody reads.

use std::io::{BufRead, BufReader};

use serde_json::Value;
use tempfile::TempDir;

use crate::client::send;
use crate::program::{Ended, Server, ended, signal, start};

const LOST: &str = "lines of the log were lost: nobody read it in time";

fn lines(log: &str) -> Vec<Value> {
    let lines = log.lines().map(serde_json::from_str);
    lines.map(Result::unwrap).collect()
}

#[test]
fn a_request_is_a_line_with_every_field() {
    let server = Server::new(&["--log", "json", "--no-worker"]);
    let token = server.greeting["token"].as_str().unwrap().to_owned();
    let statuses = [
        "/me",
        "/threads/1/posts",
        "/threads/999",
        "/openapi.json",
        "/nowhere",
    ]
    .map(|path| server.get(&token, path).status);
    server.signal("TERM");
    let (_, _, log) = server.wait();
    let lines = lines(&log);
    let spans = lines
        .iter()
        .filter(|line| line["fields"]["message"] == "answered");
    let spans: Vec<_> = spans.map(|line| &line["span"]).collect();
    assert_eq!(spans.len(), statuses.len(), "{log}");
    let lookup = &token["forum_pat_".len()..][..16];
    for (span, (route, code, status, cost, bearer)) in spans.iter().zip([
        ("/me", None, 200, 1, Some(lookup)),
        ("/threads/{threadId}/posts", None, 200, 1, Some(lookup)),
        (
            "/threads/{threadId}",
            Some("not_found"),
            404,
            1,
            Some(lookup),
        ),
        ("/openapi.json", None, 200, 0, None),
        ("", Some("no_such_route"), 404, 1, None),
    ]) {
        let route = Some(route).filter(|route| !route.is_empty());
        assert_eq!(span["method"], "GET", "{span}");
        assert_eq!(span["route"].as_str(), route, "{span}");
        assert_eq!(span["code"].as_str(), code, "{span}");
        assert_eq!(
            (&span["status"], &span["cost"]),
            (&status.into(), &cost.into()),
            "{span}"
        );
        assert_eq!(span["token"].as_str(), bearer, "{span}");
        assert_eq!(span["owner"].is_string(), bearer.is_some(), "{span}");
        assert!(
            span["elapsed_ms"].is_u64() && span["request_id"].is_string(),
            "{span}"
        );
    }
}

#[test]
fn a_log_that_nobody_reads_stops_nothing() {
    let directory = TempDir::new().unwrap();
    let arguments = [
        "--json",
        "--log",
        "json",
        "--listen",
        "127.0.0.1:0",
        "--token-budget",
        "9999",
    ];
    let mut child = start(directory.path(), &arguments, &[("RUST_LOG", "trace")]);
    let mut greeting = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut greeting).unwrap();
    let greeting: Value = serde_json::from_str(&greeting).unwrap();
    let text = |name: &str| greeting[name].as_str().unwrap().to_owned();
    let (url, bearer) = (text("api") + "/me", format!("Bearer {}", text("token")));
    let me = || send("GET", &url, &[("authorization", &bearer)], "").status;
    let unread: Vec<_> = (0..2000).map(|_| me()).collect();
    assert!(unread.iter().all(|status| *status == 200), "{unread:?}");
    signal(&child, "TERM");
    let Ended { status, err, .. } = ended(child);
    assert_eq!(status, 0);
    let lines = lines(&err);
    let lost = lines.iter().find(|line| line["fields"]["message"] == LOST);
    let lost = lost.unwrap()["fields"]["lost"].as_u64();
    assert!(lost > Some(0), "{lost:?}");
}
