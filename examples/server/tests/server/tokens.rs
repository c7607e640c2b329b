//! `token issue`, `token list`, `token revoke`.

use serde_json::json;

use crate::program::{Ended, Server};

fn issue(server: &Server, arguments: &[&str]) -> Ended {
    let password = server.greeting["password"].as_str().unwrap();
    let issue = ["token", "issue", "--password-stdin"];
    server.command_with(&[&issue, arguments].concat(), password)
}

#[test]
fn a_token_is_issued_used_listed_and_revoked() {
    let server = Server::new(&[]);
    let issued = issue(
        &server,
        &[
            "--owner",
            "bob",
            "--scopes",
            "posts:read,members:read",
            "--label",
            "laptop",
            "--expires-in-days",
            "30",
            "--json",
        ],
    );
    let mut shown = issued.json();
    let token = shown["token"].take().as_str().unwrap().to_owned();
    shown.as_object_mut().unwrap().remove("token");
    let lookup = shown["lookup"].as_str().unwrap();
    assert!(token.starts_with(&format!("forum_pat_{lookup}_")));
    let names: Vec<_> = shown.as_object().unwrap().keys().collect();
    assert_eq!(
        names,
        [
            "createdAt",
            "expiresAt",
            "label",
            "lookup",
            "owner",
            "scopes",
            "state"
        ]
    );
    assert_eq!(shown["scopes"], json!(["posts:read", "members:read"]));
    assert_eq!(
        (&shown["owner"], &shown["label"], &shown["state"]),
        (&json!("bob"), &json!("laptop"), &json!("valid"))
    );
    assert!(shown["expiresAt"].as_str().unwrap().ends_with('Z'));

    assert_eq!(server.get(&token, "/me").json()["owner"]["username"], "bob");
    assert_eq!(server.get(&token, "/forums").code(), "missing_scope");
    let list = || server.command(&["token", "list", "--json"]).json();
    assert_eq!(list().as_array().unwrap().len(), 2);
    assert!(list().as_array().unwrap().contains(&shown));

    for _ in 0..2 {
        assert_eq!(
            server
                .command(&["token", "revoke", lookup, "--json"])
                .json(),
            json!({ "ok": true })
        );
    }
    let after = server.get(&token, "/me");
    assert_eq!(
        (after.status, after.code().as_str()),
        (401, "unauthenticated")
    );
    let tokens = list();
    let revoked = tokens
        .as_array()
        .unwrap()
        .iter()
        .find(|token| token["lookup"] == lookup);
    assert_eq!(revoked.unwrap()["state"], "revoked");
    let text = server.command(&["token", "list"]).out;
    assert!(
        text.lines().count() == 2 && text.contains("revoked") && !text.contains(&token),
        "{text}"
    );
}

#[test]
fn the_token_is_all_that_is_printed() {
    let server = Server::new(&[]);
    let issued = issue(&server, &["--owner", "ALICE", "--scopes", "all"]);
    assert_eq!((issued.out.lines().count(), issued.err.as_str()), (1, ""));
    assert_eq!(
        server.get(issued.out.trim_end(), "/me").json()["scopes"]
            .as_array()
            .unwrap()
            .len(),
        13
    );
}

#[test]
fn the_surface_decides_the_scopes() {
    let server = Server::new(&[]);
    let all = issue(
        &server,
        &[
            "--owner",
            "bob",
            "--scopes",
            "all",
            "--surface",
            "compact",
            "--json",
        ],
    )
    .json();
    assert_eq!(all["scopes"].as_array().unwrap().len(), 8);
    assert_eq!(
        issue(
            &server,
            &[
                "--owner",
                "bob",
                "--scopes",
                "admin:read",
                "--surface",
                "compact"
            ]
        )
        .status,
        0
    );
    let refused = issue(&server, &["--owner", "bob", "--scopes", "admin:read"]);
    assert_eq!(refused.refusal(), "there is no scope \"admin:read\"");
}

#[test]
fn no_token_without_all_in_order() {
    let server = Server::new(&[]);
    for (arguments, reason) in [
        (
            &["--owner", "nobody", "--scopes", "all"][..],
            "there is no member \"nobody\"",
        ),
        (&["--owner", "bob", "--scopes", ""], "scope"),
        (
            &["--owner", "bob", "--scopes", "posts:read,posts:eat"],
            "there is no scope \"posts:eat\"",
        ),
        (
            &[
                "--owner",
                "bob",
                "--scopes",
                "all",
                "--expires-in-days",
                "0",
            ],
            "the expiry is",
        ),
        (
            &[
                "--owner",
                "bob",
                "--scopes",
                "all",
                "--expires-in-days",
                "-1",
            ],
            "the expiry is",
        ),
        (
            &[
                "--owner",
                "bob",
                "--scopes",
                "all",
                "--expires-in-days",
                "1e3",
            ],
            "the expiry is",
        ),
        (
            &["--owner", "bob", "--scopes", "all", "--admin", "mod"],
            "\"mod\" is no administrator",
        ),
        (
            &["--owner", "bob", "--scopes", "all", "--admin", "ghost"],
            "\"ghost\" is no administrator",
        ),
    ] {
        let refused = issue(&server, arguments);
        assert!(refused.refusal().contains(reason), "{refused:?}");
        assert_eq!(refused.out, "");
        let as_json = issue(&server, &[arguments, &["--json"]].concat());
        assert_eq!(as_json.json(), json!({ "error": as_json.refusal() }));
    }
    let arguments = [
        "token",
        "issue",
        "--owner",
        "bob",
        "--scopes",
        "all",
        "--password-stdin",
    ];
    for (input, reason) in [
        ("wrong", "the password is wrong"),
        ("", "expected a password on standard input"),
    ] {
        assert_eq!(server.command_with(&arguments, input).refusal(), reason);
    }
    let refused = server.command(&["token", "revoke", "0123456789abcdEF"]);
    assert!(refused.refusal().starts_with("there is no token"));
    assert_eq!(
        server
            .command(&["token", "list", "--json"])
            .json()
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn a_label_is_one_line_and_is_listed_escaped() {
    let server = Server::new(&["--empty"]);
    let issue = |label: &str| {
        let arguments = ["--owner", "admin", "--scopes", "all", "--label", label];
        issue(&server, &arguments)
    };
    for label in ["a\nb", "\u{1b}[2J", "\u{202e}gpj", &"x".repeat(101)] {
        let refused = issue(label);
        assert_eq!((refused.status, refused.out.as_str()), (1, ""), "{label:?}");
        assert!(refused.err.contains("the label"), "{}", refused.err);
    }
    assert_eq!(
        server.command(&["token", "list", "--json"]).json(),
        json!([])
    );
    assert_eq!(issue("the \"old\" laptop").status, 0);
    let append = "UPDATE forum_api_tokens SET label = label || '\u{1b}\n\u{202e}' RETURNING lookup";
    assert_eq!(server.home.ask(append).len(), 1);
    let list = server.command(&["token", "list"]).out;
    assert_eq!(list.lines().count(), 1);
    assert!(
        list.contains(r#""the \"old\" laptop\u{1b}\n\u{202e}""#),
        "{list}"
    );
}
