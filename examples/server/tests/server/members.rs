//! `member add`, `member password`, `member ban`, `member unban`, `member groups`, and what they do to a token between two requests.

use serde_json::json;

use crate::program::Server;

#[test]
fn a_member_is_added() {
    let server = Server::new(&[]);
    let added = server
        .command(&[
            "member",
            "add",
            "dora",
            "--groups",
            "members,staff",
            "--json",
        ])
        .json();
    let id = added["userId"].as_str().unwrap();
    assert_eq!(
        server.get(&server.token("dora"), "/me").json()["owner"]["userId"],
        id
    );
    let text = server.command(&["member", "add", "emil", "--groups", "members"]);
    assert_eq!(
        text.out.trim_end().parse::<i64>().unwrap(),
        id.parse::<i64>().unwrap() + 1
    );
    for (arguments, reason) in [
        (
            ["member", "add", "Dora", "--groups", "members"],
            "the name \"Dora\" is taken",
        ),
        (
            ["member", "add", "two words", "--groups", "members"],
            "a name is",
        ),
        (["member", "add", "", "--groups", "members"], "a name is"),
        (
            ["member", "add", "finn", "--groups", "strangers"],
            "there is no group \"strangers\"",
        ),
        (
            ["member", "add", "finn", "--groups", ""],
            "name one group or more",
        ),
    ] {
        let refused = server.command(&arguments);
        assert!(refused.refusal().starts_with(reason), "{refused:?}");
    }
}

#[test]
fn a_ban_takes_effect_between_two_requests_of_one_token() {
    let server = Server::new(&[]);
    let token = server.token("bob");
    assert_eq!(server.get(&token, "/forums").status, 200);
    for _ in 0..2 {
        assert_eq!(
            server.command(&["member", "ban", "bob", "--json"]).json(),
            json!({ "ok": true })
        );
    }
    let banned = server.get(&token, "/forums");
    assert_eq!(
        (banned.status, banned.code().as_str()),
        (403, "owner_unavailable")
    );
    for _ in 0..2 {
        assert_eq!(server.command(&["member", "unban", "bob"]).status, 0);
    }
    assert_eq!(server.get(&token, "/forums").status, 200);
}

#[test]
fn a_group_that_is_lost_takes_its_forums_along_between_two_requests_of_one_token() {
    let server = Server::new(&[]);
    let token = server.token("bob");
    let forums = || {
        server.get(&token, "/forums").json()["items"]
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!(forums(), 4);
    assert_eq!(
        server
            .command(&["member", "groups", "bob", "members,staff"])
            .status,
        0
    );
    assert_eq!(forums(), 5);
    assert_eq!(
        server
            .command(&["member", "groups", "bob", "guests"])
            .status,
        0
    );
    assert_eq!(forums(), 3);
}

#[test]
fn a_password_is_given_and_changed() {
    let server = Server::new(&[]);
    assert_eq!(
        server
            .command(&["member", "groups", "mod", "members,administrators"])
            .status,
        0
    );
    let issue = |password: &str| {
        let arguments = [
            "token",
            "issue",
            "--owner",
            "bob",
            "--scopes",
            "all",
            "--admin",
            "mod",
            "--password-stdin",
        ];
        server.command_with(&arguments, password).status
    };
    let give = |name: &str, password: &str| {
        let arguments = ["member", "password", name, "--password-stdin", "--json"];
        server.command_with(&arguments, password)
    };
    assert_eq!(issue("the first"), 1);
    assert_eq!(give("mod", "the first\n").json(), json!({ "ok": true }));
    assert_eq!(issue("the first\n"), 0);
    assert_eq!(
        give("mod", "zweiter ä\r\nmore").json(),
        json!({ "ok": true })
    );
    assert_eq!([issue("the first"), issue("zweiter ä")], [1, 0]);
    assert_eq!(
        give("mod", "sevenÄÖ\n").refusal(),
        "a password has at least 8 characters"
    );
    assert_eq!(
        give("nobody", "long enough").refusal(),
        "there is no member \"nobody\""
    );
    assert_eq!(
        give("mod", "\n").refusal(),
        "expected a password on standard input"
    );
    assert_eq!(issue("zweiter ä"), 0);
}

#[test]
fn nobody_is_no_member() {
    let server = Server::new(&["--empty"]);
    for arguments in [
        &["member", "ban", "nobody"][..],
        &["member", "unban", "nobody"],
        &["member", "groups", "nobody", "members"],
    ] {
        let refused = server.command(&[arguments, &["--json"]].concat());
        assert_eq!(refused.refusal(), "there is no member \"nobody\"");
        assert_eq!(
            refused.json(),
            json!({ "error": "there is no member \"nobody\"" })
        );
    }
    for (groups, reason) in [
        ("x", "there is no group"),
        ("", "name one group"),
        (" , ", "name one group"),
    ] {
        let refused = server.command(&["member", "groups", "admin", groups]);
        assert!(refused.refusal().starts_with(reason), "{refused:?}");
    }
}

#[test]
fn the_last_administrator_who_can_sign_in_stays() {
    let server = Server::new(&[]);
    let ban = || server.command(&["member", "ban", "admin"]);
    let demote = || server.command(&["member", "groups", "admin", "members"]);
    let stays = "\"admin\" is the last administrator who can sign in";
    assert_eq!((ban().refusal(), demote().refusal()), (stays, stays));
    server.command(&["member", "groups", "bob", "administrators"]);
    assert_eq!(ban().refusal(), stays, "bob has no password");
    let password = ["member", "password", "bob", "--password-stdin"];
    assert_eq!(server.command_with(&password, "long enough\n").status, 0);
    assert_eq!(ban().status, 0);
    let ban = server.command(&["member", "ban", "bob"]);
    assert_eq!(
        ban.refusal(),
        "\"bob\" is the last administrator who can sign in"
    );
}

#[test]
fn a_password_is_asked_for_at_a_terminal_only() {
    let server = Server::new(&[]);
    let refused = server.command_with(&["member", "password", "bob"], "long enough\n");
    assert!(
        refused.refusal().contains("--password-stdin"),
        "{refused:?}"
    );
    let issued = server.at_a_terminal(
        "Password of admin: ",
        server.greeting["password"].as_str().unwrap(),
        &[
            "token",
            "issue",
            "--owner",
            "bob",
            "--scopes",
            "forums:read",
        ],
    );
    let token = issued
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with("forum_pat_"));
    assert_eq!(server.get(token.expect(&issued), "/forums").status, 200);
}
