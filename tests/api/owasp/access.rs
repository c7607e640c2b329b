//! What callers may not see, change or do.

use std::time::Duration;

use forum_api::runtime::Clock as _;
use forum_api::scope::Surface;

use super::writes;
use crate::support::tokens::mint;
use crate::support::{Ask, EVERY_SCOPE, Mood, ROWS, Row, Server, bare, lookup, outcome};

const UNAUTHENTICATED: (u16, Option<&str>) = (401, Some("unauthenticated"));
const ABSENT: (u16, Option<&str>) = (404, Some("not_found"));
const FORBIDDEN: (u16, Option<&str>) = (403, Some("FORBIDDEN"));

/// The row's request at another path.
fn at(row: &Row, path: &str) -> Ask {
    let path = path.to_owned().leak();
    Ask::of(&Row { path, ..*row })
}

#[tokio::test]
async fn api1_broken_object_level_authorization() {
    let server = Server::new();
    let alice = server.token("alice").await;
    let mut tried = 0;
    for mood in [Mood::Well, Mood::Leaks] {
        server.board.be(mood);
        for row in &ROWS {
            for (own, foreign) in [
                ("open-1/posts/open-1-1", "open-1/posts/staff-1-1"),
                ("/open", "/staff"),
                ("alice-1", "bob-1"),
            ] {
                let path = row.path.replace(own, foreign);
                // Who follows what is hidden may stop following it.
                if path != row.path && row.template != "/subscriptions/{target}/{targetId}" {
                    let answer = server.send(&at(row, &path).bearer(&alice)).await;
                    assert_eq!(outcome(&answer), ABSENT, "{row:?} {path}");
                    tried += 1;
                }
            }
        }
    }
    assert!(tried >= 2 * 12, "{tried}");
    let hidden = Ask::post("/subscriptions", r#"{"target":"forum","targetId":"staff"}"#);
    server.board.be(Mood::Well);
    let answer = server.send(&hidden.bearer(&alice)).await;
    assert_eq!(outcome(&answer), (404, Some("NOT_FOUND")));
}

#[tokio::test]
async fn api2_broken_authentication() {
    let server = Server::new();
    let (alice, revoked) = (server.token("alice").await, server.token("alice").await);
    let expired = server.issue(Surface::Full, &["forums:read"], "1").await;
    server.clock.advance(Duration::from_secs(86_400));
    let (tokens, now) = (&server.stores.tokens, server.clock.now());
    assert!(tokens.revoke(&lookup(&revoked), now).await.unwrap());
    let unknown = mint().reveal().to_owned();
    let bad = [
        server.guessed_token().await,
        expired.unwrap(),
        revoked,
        unknown,
        alice.to_lowercase(),
        format!("{alice},{alice}"),
        "null".into(),
        String::new(),
    ];
    for row in &ROWS {
        let mut answers = Vec::new();
        for token in &bad {
            let answer = server.send(&Ask::of(row).bearer(token)).await;
            assert_eq!(outcome(&answer), UNAUTHENTICATED, "{row:?} {token}");
            answers.push(bare(&answer));
        }
        answers.dedup();
        assert_eq!(answers.len(), 1, "they tell why: {answers:?}");
        let elsewhere = Ask::of(row)
            .header(
                "cookie",
                &format!("token={alice}; authorization=Bearer {alice}"),
            )
            .header("x-api-key", &alice)
            .header("proxy-authorization", &format!("Bearer {alice}"));
        let guest = server.send(&elsewhere).await;
        assert_eq!(guest.status == 401, row.needs_token, "{row:?}");
    }
}

#[tokio::test]
async fn api3_broken_object_property_level_authorization() {
    let server = Server::new();
    let alice = server.token("alice").await;
    for row in ROWS.iter().filter(|row| !row.body.is_empty()) {
        for field in [
            "author",
            "authorId",
            "userId",
            "owner",
            "from",
            "state",
            "approved",
            "pinned",
            "locked",
            "version",
            "createdAt",
            "editedBy",
            "bodyHtml",
            "canEdit",
            "number",
            "votes",
            "reputation",
            "role",
            "groups",
            "scopes",
            "isAdmin",
            "__proto__",
            "constructor",
        ] {
            let body = format!(r#"{},"{field}":"admin"}}"#, row.body.trim_end_matches('}'));
            let ask = Ask::new(row.method, row.path).json(&body).bearer(&alice);
            let answer = server.send(&ask).await;
            assert_eq!(
                outcome(&answer),
                (400, Some("bad_request")),
                "{row:?} {field}"
            );
        }
    }
    assert!(server.board.calls().is_empty());
    for path in [
        "/members/bob",
        "/threads/open-1",
        "/threads/open-1/posts",
        "/search?q=tea",
    ] {
        let answer = server.send(&Ask::get(path)).await;
        let text = String::from_utf8(answer.body.to_vec())
            .unwrap()
            .to_lowercase();
        for private in [
            "email", "password", "\"ip", "digest", "secret", "session", "banned",
        ] {
            assert!(!text.contains(private), "{path} tells {private}");
        }
    }
}

#[tokio::test]
async fn api5_broken_function_level_authorization() {
    let server = Server::new();
    let alice = server.token("alice").await;
    let reader: Vec<_> = EVERY_SCOPE
        .into_iter()
        .filter(|scope| scope.ends_with(":read"))
        .collect();
    let reader = server.token_with("admin", &reader).await;
    for row in writes() {
        let answer = server.send(&Ask::of(row).bearer(&reader)).await;
        assert_eq!(outcome(&answer), (403, Some("missing_scope")), "{row:?}");
    }
    assert!(server.board.calls().is_empty());
    // Even posts are bob's, which a moderator may change and alice may not.
    let moderator = server.token("moderator").await;
    for (method, success) in [("PATCH", 200), ("DELETE", 204)] {
        let row = ROWS
            .iter()
            .find(|row| row.method == method && row.template.contains("{postId}"));
        let act = at(row.unwrap(), "/threads/open-1/posts/open-1-2");
        assert_eq!(
            outcome(&server.send(&act.clone().bearer(&alice)).await),
            FORBIDDEN
        );
        assert_eq!(
            server.send(&act.clone().bearer(&moderator)).await.status,
            success
        );
        server.board.demote("moderator");
        assert_eq!(
            outcome(&server.send(&act.bearer(&moderator)).await),
            FORBIDDEN
        );
        server.board.promote("moderator");
    }
    let calls = server.board.calls().len();
    let methods = [
        "GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "OPTIONS", "CONNECT", "ADMIN",
    ];
    for row in &ROWS {
        for method in methods {
            if !ROWS
                .iter()
                .any(|other| (other.method, other.template) == (method, row.template))
            {
                let answer = server
                    .send(&Ask::new(method, row.path).bearer(&alice))
                    .await;
                assert_eq!(
                    outcome(&answer),
                    (404, Some("no_such_route")),
                    "{method} {row:?}"
                );
            }
        }
        let disguised = Ask::get("/me")
            .header("x-http-method-override", row.method)
            .header("x-original-url", row.path)
            .bearer(&alice);
        assert_eq!(
            server.send(&disguised).await.json()["owner"]["userId"],
            "alice"
        );
    }
    assert_eq!(
        server.board.calls().len(),
        calls + ROWS.len(),
        "and that was /me alone"
    );
}
