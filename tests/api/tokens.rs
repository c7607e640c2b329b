//! What tokens carry, and for how long (spec, States and transitions; contract, section 2).

use forum_api::Environment;
use forum_api::runtime::TokioRuntime;
use std::time::Duration;

use forum_api::runtime::Clock;
use forum_api::scope::Surface;
use forum_api::store::Stores;
use forum_api::test_util::Answer;

use crate::support::rows::COMPACT_SCOPES;
use crate::support::server::settings;
use crate::support::{Ask, FullBoard, ROWS, Server, lookup, outcome};

#[tokio::test]
async fn a_token_is_expired_from_the_very_instant_on() {
    let server = Server::new();
    let ask = Ask::get("/me").bearer(
        &server
            .issue(Surface::Full, &["members:read"], " 2 ")
            .await
            .unwrap(),
    );
    for (millis, status) in [(0, 200), (2 * 86_400_000 - 1, 200), (1, 401), (1, 401)] {
        server.clock.advance(Duration::from_millis(millis));
        assert_eq!(server.send(&ask).await.status, status);
    }
}

#[tokio::test]
async fn a_bad_expiry_or_scope_issues_nothing() {
    let server = Server::new();
    for (surface, scopes, days) in [
        (Surface::Full, &["forums:read"][..], "1.5"),
        (Surface::Full, &["forums:read"], "ten"),
        (Surface::Full, &["forums:read"], "1e3"),
        (Surface::Full, &["forums:read"], "0"),
        (Surface::Full, &["forums:read"], "-1"),
        (Surface::Full, &[], ""),
        (Surface::Full, &["forums:read", "admin:read"], ""),
        (Surface::Full, &["Forums:read"], ""),
        (Surface::Full, &["forums:read "], ""),
        (Surface::Compact, &["messages:read"], ""),
        (Surface::Compact, &["admin:write"], ""),
    ] {
        assert!(
            server.issue(surface, scopes, days).await.is_err(),
            "{scopes:?} {days}"
        );
    }
    assert!(
        server
            .stores
            .tokens
            .list(None, 10)
            .await
            .unwrap()
            .is_empty()
    );
    assert!(
        server
            .issue(Surface::Compact, &["admin:read"], "")
            .await
            .is_ok()
    );
}

fn scopes(answer: &Answer) -> Vec<String> {
    let json = answer.json();
    let scopes = json["scopes"].as_array().unwrap().iter();
    scopes
        .map(|scope| scope.as_str().unwrap().to_owned())
        .collect()
}

/// Issued on the smaller surface, used on the full one over the same stores.
#[tokio::test]
async fn a_token_lives_on_without_a_scope_that_was_retired() {
    let stores = Stores::in_memory();
    let over = |surface| {
        let board = FullBoard::new();
        let environment = Environment::new(TokioRuntime).surface(surface);
        Server::over_in(
            environment,
            settings(),
            stores.clone(),
            &board,
            board.clone(),
        )
    };
    let (compact, full) = (over(Surface::Compact), over(Surface::Full));
    let token = compact
        .issue(Surface::Compact, &COMPACT_SCOPES, "")
        .await
        .unwrap();
    let me = Ask::get("/me").bearer(&token);
    let mut knew = scopes(&compact.send(&me).await);
    knew.sort();
    let mut all = COMPACT_SCOPES.map(str::to_owned);
    all.sort();
    assert_eq!(knew, all);
    let mut knows = scopes(&full.send(&me).await);
    knows.sort();
    assert_eq!(
        knows,
        all.into_iter()
            .filter(|scope| scope != "admin:read")
            .collect::<Vec<_>>()
    );
    assert_eq!(
        full.send(&Ask::get("/forums").bearer(&token)).await.status,
        200
    );
}

#[tokio::test]
async fn admin_read_opens_nothing() {
    let server = Server::on(Surface::Compact);
    let token = server
        .issue(Surface::Compact, &["admin:read"], "")
        .await
        .unwrap();
    for row in ROWS.iter().filter(|row| row.compact) {
        let answer = server.send(&Ask::of(row).bearer(&token)).await;
        assert_eq!(outcome(&answer), (403, Some("missing_scope")), "{row:?}");
    }
}

#[tokio::test]
async fn what_the_owner_loses_the_token_loses_with_the_next_request() {
    let server = Server::new();
    let (alice, moderator) = (server.token("alice").await, server.token("moderator").await);
    let thread = Ask::get("/threads/members-1").bearer(&alice);
    assert_eq!(server.send(&thread).await.status, 200);
    server.board.shows("alice", &["open"]);
    assert_eq!(
        outcome(&server.send(&thread).await),
        (404, Some("not_found"))
    );
    server.board.shows("alice", &["open", "members"]);
    assert_eq!(server.send(&thread).await.status, 200);
    let edit = Ask::new("PATCH", "/threads/open-1/posts/open-1-2").json(r#"{"body":"x"}"#);
    let edit = edit.bearer(&moderator);
    assert_eq!(server.send(&edit).await.status, 200);
    server.board.demote("moderator");
    assert_eq!(outcome(&server.send(&edit).await), (403, Some("FORBIDDEN")));
    server.board.ban("moderator");
    assert_eq!(
        outcome(&server.send(&edit).await),
        (403, Some("owner_unavailable"))
    );
    server
        .stores
        .tokens
        .revoke(&lookup(&alice), server.clock.now())
        .await
        .unwrap();
    assert_eq!(
        outcome(&server.send(&thread).await),
        (401, Some("unauthenticated"))
    );
}

#[tokio::test]
async fn a_use_is_noted_at_most_once_a_minute() {
    let server = Server::new();
    let alice = server.token("alice").await;
    let start = server.clock.now();
    for (seconds, noted) in [(5, 5), (59, 5), (1, 65), (30, 65), (30, 125)] {
        server.clock.advance(Duration::from_secs(seconds));
        server.send(&Ask::get("/me").bearer(&alice)).await;
        let record = server
            .stores
            .tokens
            .find(&lookup(&alice))
            .await
            .unwrap()
            .unwrap();
        assert_eq!(
            record.last_used_at,
            Some(start.plus(Duration::from_secs(noted)))
        );
    }
}

#[tokio::test]
async fn me_tells_of_the_owner_and_the_token() {
    let server = Server::new();
    for (scopes, unread) in [
        (&["members:read"][..], serde_json::Value::Null),
        (&["messages:read", "members:read"], 2.into()),
    ] {
        let token = server.issue(Surface::Full, scopes, "1").await.unwrap();
        let me = server.send(&Ask::get("/me").bearer(&token)).await.json();
        assert_eq!(me["owner"]["username"], "alice");
        assert_eq!(me["scopes"].as_array().unwrap().len(), scopes.len());
        assert_eq!(me["unreadMessages"], unread);
        let stamps = (
            &me["token"]["label"],
            &me["token"]["createdAt"],
            &me["token"]["expiresAt"],
        );
        assert_eq!(
            stamps,
            (
                &"laptop".into(),
                &"2026-01-01T00:00:00.000Z".into(),
                &"2026-01-02T00:00:00.000Z".into()
            )
        );
        assert_eq!(me.as_object().unwrap().len(), 4);
    }
}
