//! `forum add`, `forum moderator`.

use serde_json::json;

use crate::client::get;
use crate::program::Server;

#[test]
fn a_forum_is_added_below_another_with_lists_of_its_own() {
    let server = Server::new(&["--empty"]);
    let top = server.command(&["forum", "add", "Top", "--json"]).json();
    let top = top["forumId"].as_str().unwrap();
    let below = [
        "forum", "add", "Below", "--parent", top, "--read", "members", "--start", "staff",
        "--reply", "members",
    ];
    assert_eq!(
        server
            .command(&below)
            .out
            .trim_end()
            .parse::<i64>()
            .unwrap(),
        top.parse::<i64>().unwrap() + 1
    );
    let seen = get(&server.api("/forums")).json();
    assert_eq!(seen["items"].as_array().unwrap().len(), 1);
    let token = &server.token("admin");
    let forums = server.get(token, "/forums").json();
    assert_eq!(
        (
            &forums["items"][1]["title"],
            &forums["items"][1]["parentId"]
        ),
        (&json!("Below"), &json!(top))
    );
    for (arguments, reason) in [
        (
            ["forum", "add", "x", "--parent", "99"],
            "there is no forum 99",
        ),
        (
            ["forum", "add", "x", "--read", "x"],
            "there is no group \"x\"",
        ),
        (
            ["forum", "add", "x", "--reply", ""],
            "name one group or more",
        ),
        (
            ["forum", "add", " ", "--read", "staff"],
            "a forum needs a title",
        ),
    ] {
        assert!(server.command(&arguments).refusal().starts_with(reason));
    }
}

#[test]
fn a_moderators_place_goes_with_the_sight_of_the_forum_between_two_requests_of_one_token() {
    let server = Server::new(&[]);
    let add = [
        "forum",
        "add",
        "Closed",
        "--read",
        "newcomers,staff",
        "--start",
        "newcomers,staff",
    ];
    let forum = server.command(&add).out.trim_end().to_owned();
    let threads = format!("/forums/{forum}/threads");
    assert!(
        server
            .command(&["forum", "moderator", &forum, "bob"])
            .refusal()
            .starts_with("a moderator has to")
    );
    assert_eq!(
        server
            .command(&["member", "groups", "bob", "members,staff"])
            .status,
        0
    );
    for _ in 0..2 {
        let named = server.command(&["forum", "moderator", &forum, "bob", "--json"]);
        assert_eq!(named.json(), json!({ "ok": true }));
    }
    let new = json!({ "title": "Hello", "body": "I am new." });
    assert_eq!(
        server.post(&server.token("newbie"), &threads, &new).json()["state"],
        "awaiting_approval"
    );
    let token = server.token("bob");
    let waiting = || {
        server.get(&token, &threads).json()["items"]
            .as_array()
            .map(Vec::len)
    };
    assert_eq!(waiting(), Some(1));
    assert_eq!(
        server
            .command(&["member", "groups", "bob", "members"])
            .status,
        0
    );
    assert_eq!(waiting(), None);
    for (arguments, reason) in [
        (["forum", "moderator", "99", "mod"], "there is no forum 99"),
        (
            ["forum", "moderator", "2", "nobody"],
            "there is no member \"nobody\"",
        ),
    ] {
        assert_eq!(server.command(&arguments).refusal(), reason);
    }
}
