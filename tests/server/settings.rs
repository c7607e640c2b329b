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
        "message.recipients_max": 5,
        "message.per_hour": 20,
        "message.inbox_quota": 100,
    });
    assert_eq!(list(), defaults);
    let text = server.command(&["setting", "list"]).out;
    assert_eq!(
        text,
        "thread.title_max 120\npost.body_max 20000\npost.interval_seconds 15\npost.per_hour 60\n\
message.recipients_max 5\nmessage.per_hour 20\nmessage.inbox_quota 100\n"
    );
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
            "many",
            "post.per_hour is a whole number from 1",
        ),
        (
            "post.interval_seconds",
            "1.5",
            "post.interval_seconds is a whole number from 0",
        ),
        (
            "thread.title_max",
            "",
            "thread.title_max is a whole number from 1",
        ),
    ] {
        let refused = server.command(&["setting", key, value, "--json"]);
        assert_eq!(refused.refusal(), reason);
        assert_eq!(refused.json(), json!({ "error": reason }));
    }
}
