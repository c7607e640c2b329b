//! `setting list`, `setting KEY VALUE`.

use serde_json::json;

use crate::program::Server;

#[test]
fn settings_are_listed_changed_and_effective_at_once() {
    let server = Server::new(&[]);
    let list = || server.command(&["setting", "list", "--json"]).json();
    let defaults = json!({
        "thread.title_max": 120,
        "post.body_max": 20_000,
        "post.interval_seconds": 15,
        "post.per_hour": 60,
        "post.edit_window_minutes": 30,
        "message.recipients_max": 5,
        "message.per_hour": 20,
        "message.inbox_quota": 100,
        "reputation.allow_negative": false,
        "reputation.allow_empty_comment": false,
        "reputation.max_points": 5,
        "reputation.per_day": 10,
        "poll.options_max": 20,
        "search.window": 1_000,
    });
    assert_eq!(list(), defaults);
    let text = server.command(&["setting", "list"]).out;
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), defaults.as_object().unwrap().len());
    assert_eq!(lines[..2], ["thread.title_max 120", "post.body_max 20000"]);
    assert!(lines.contains(&"reputation.allow_negative false"));
    let token = server.token("alice");
    let start = |title: &str| {
        let new = json!({ "title": title, "body": "x" });
        server.post(&token, "/forums/2/threads", &new).status
    };
    assert_eq!([start("ok"), start("too soon")], [201, 422]);
    let set = server.command(&["setting", "post.interval_seconds", "0", "--json"]);
    assert_eq!(set.json(), json!({ "ok": true }));
    assert_eq!([start("ok"), start("ok")], [201, 201]);
    assert_eq!(
        server.command(&["setting", "thread.title_max", "5"]).status,
        0
    );
    assert_eq!([start("five!"), start("sixsix")], [201, 422]);
    assert_eq!(list()["thread.title_max"], 5);
    let set = server.command(&["setting", "reputation.allow_negative", "true"]);
    assert_eq!(set.status, 0);
    assert_eq!(list()["reputation.allow_negative"], true);
    for (value, listed) in [("unlimited", json!("unlimited")), ("0", json!(0))] {
        let set = server.command(&["setting", "post.edit_window_minutes", value]);
        assert_eq!(set.status, 0);
        assert_eq!(list()["post.edit_window_minutes"], listed);
        let line = format!("post.edit_window_minutes {value}\n");
        assert!(server.command(&["setting", "list"]).out.contains(&line));
    }
}

#[test]
fn unknown_keys_and_malformed_values_are_refused() {
    let server = Server::new(&["--empty"]);
    for (key, value, reason) in [
        ("post.limit", "1", "there is no setting \"post.limit\""),
        (
            "board.offline",
            "true",
            "there is no setting \"board.offline\"",
        ),
        (
            "post.per_hour",
            "0",
            "post.per_hour is a whole number from 1",
        ),
        (
            "post.per_hour",
            "-1",
            "post.per_hour is a whole number from 1",
        ),
        (
            "post.per_hour",
            "+5",
            "post.per_hour is a whole number from 1",
        ),
        (
            "post.edit_window_minutes",
            "+5",
            "post.edit_window_minutes is a whole number from 0, or unlimited",
        ),
        (
            "post.per_hour",
            "many",
            "post.per_hour is a whole number from 1",
        ),
        (
            "post.interval_seconds",
            "1.5",
            "post.interval_seconds is a whole number from 0",
        ),
        (
            "post.edit_window_minutes",
            "never",
            "post.edit_window_minutes is a whole number from 0, or unlimited",
        ),
        (
            "thread.title_max",
            "",
            "thread.title_max is a whole number from 1",
        ),
        (
            "poll.options_max",
            "1",
            "poll.options_max is a whole number from 2",
        ),
        (
            "reputation.allow_negative",
            "yes",
            "reputation.allow_negative is true or false",
        ),
    ] {
        let refused = server.command(&["setting", key, value, "--json"]);
        assert_eq!(refused.refusal(), reason);
        assert_eq!(refused.json(), json!({ "error": reason }));
    }
}
