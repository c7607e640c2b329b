//! Issued tokens: expiry, scopes, the owner's current permissions, and `GET /me`.

use forum_api::runtime::SeededRandom;
use forum_api::store::TokenFilter;
use forum_api::token::{TokenRequest, issue_token};

use crate::support::rows::COMPACT_SCOPES;
use crate::support::*;

#[tokio::test]
async fn a_token_is_expired_from_the_instant_of_its_expiry() {
    let server = Server::new();
    let token = server.issue(Surface::Full, &["members:read"], " 2 ").await.unwrap();
    for (millis, status) in [(0, 200), (2 * 86_400_000 - 1, 200), (1, 401), (1, 401)] {
        server.clock.advance(Duration::from_millis(millis));
        let me = Request::get("/me").bearer(&token);
        assert_eq!(server.send(&me).await.status, status);
    }
}

#[tokio::test]
async fn an_invalid_expiry_or_scope_issues_no_token() {
    use Surface::{Compact, Full};
    let server = Server::new();
    let scope = "expected a scope, for example forums:read";
    let expiry = "expected an expiry of 1 to 36500 whole days, or an empty text for no expiry";
    for (surface, scopes, days, expected) in [
        (Full, &["forums:read"][..], "0", expiry),
        (Full, &[], "", "a token needs at least one scope"),
        (Full, &["forums:read", "admin:read"], "", "unknown scope \"admin:read\""),
        (Full, &["Forums:read"], "", scope),
        (Full, &["forums:read "], "", scope),
        (Compact, &["messages:read"], "", "unknown scope \"messages:read\""),
        (Compact, &["admin:write"], "", scope),
    ] {
        let error = server.issue(surface, scopes, days).await.unwrap_err();
        assert_eq!(error.to_string(), expected, "{scopes:?} {days}");
    }
    let filter = TokenFilter { limit: 10, ..TokenFilter::default() };
    let stored = server.stores.tokens.list(&filter, server.clock.now()).await;
    assert_eq!(stored.unwrap(), []);
    assert!(server.issue(Compact, &["admin:read"], "").await.is_ok());
}

/// Both sources generate the same tokens.
#[tokio::test]
async fn a_token_with_a_taken_lookup_is_generated_again() {
    let server = Server::new();
    let alice = UserId::parse("alice").unwrap();
    let scopes = [Scope::MEMBERS_READ];
    let tokens = &*server.stores.tokens;
    let now = server.clock.now();
    let mut issued = BTreeSet::new();
    for random in [SeededRandom::new(1), SeededRandom::new(1)] {
        let request = TokenRequest::new(&alice, &scopes);
        let (token, _) = issue_token(tokens, &random, Surface::Full, request, now).await.unwrap();
        server.expect(Request::get("/me").bearer(token.expose_secret()), (200, None)).await;
        issued.insert(*token.lookup());
    }
    let filter = TokenFilter { limit: 10, ..TokenFilter::default() };
    let records = tokens.list(&filter, now).await.unwrap();
    let stored: BTreeSet<_> = records.iter().map(|record| record.lookup).collect();
    assert_eq!((issued.len(), issued), (2, stored));
}

/// Issues a token on the compact surface and uses it on the full one.
#[tokio::test]
async fn a_token_stays_valid_without_a_retired_scope() {
    let stores = Stores::in_memory();
    let over = |surface| {
        let board = FullBoard::new();
        let environment = Environment::default().surface(surface);
        let commands = board.clone();
        Server::over(environment, settings(), stores.clone(), &board, commands)
    };
    let scopes = |response: TestResponse| {
        let json = response.json();
        let scopes = json["scopes"].as_array().unwrap().iter();
        scopes.map(|scope| scope.as_str().unwrap().to_owned()).collect::<BTreeSet<_>>()
    };
    let compact = over(Surface::Compact);
    let full = over(Surface::Full);
    let token = compact.issue(Surface::Compact, &COMPACT_SCOPES, "").await.unwrap();
    let me = Request::get("/me").bearer(&token);
    let mut expected = BTreeSet::from(COMPACT_SCOPES.map(str::to_owned));
    assert_eq!(scopes(compact.send(&me).await), expected);
    expected.remove("admin:read");
    assert_eq!(scopes(full.send(&me).await), expected);
    full.expect(Request::get("/forums").bearer(&token), (200, None)).await;
}

#[tokio::test]
async fn a_use_is_recorded_at_most_once_a_minute() {
    let (server, alice) = Server::with_alice().await;
    let start = server.clock.now();
    for (seconds, recorded) in [(5, 5), (59, 5), (1, 65), (30, 65), (30, 125)] {
        server.clock.advance(Duration::from_secs(seconds));
        server.send(&Request::get("/me").bearer(&alice)).await;
        let record = server.stores.tokens.find(&lookup(&alice)).await.unwrap();
        let expected = start.saturating_add(Duration::from_secs(recorded));
        assert_eq!(record.unwrap().last_used_at, Some(expected));
    }
    // The clock of another node was a minute ahead when the last use was recorded.
    for (seconds, recorded) in [(66, 125), (65, 65)] {
        let after = |seconds| start.saturating_add(Duration::from_secs(seconds));
        server.clock.set(after(seconds));
        server.send(&Request::get("/me").bearer(&alice)).await;
        let record = server.stores.tokens.find(&lookup(&alice)).await.unwrap();
        assert_eq!(record.unwrap().last_used_at, Some(after(recorded)));
    }
}

#[tokio::test]
async fn me_describes_the_owner_and_the_token() {
    let server = Server::new();
    for (scopes, unread) in
        [(&["members:read"][..], json!(null)), (&["messages:read", "members:read"], json!(2))]
    {
        let token = server.issue(Surface::Full, scopes, "1").await.unwrap();
        let me = server.send(&Request::get("/me").bearer(&token)).await.json();
        assert_eq!(me["owner"]["username"], "alice");
        assert_eq!(me["scopes"].as_array().unwrap().len(), scopes.len());
        assert_eq!(me["unreadMessages"], unread);
        let expected = json!({
            "label": "laptop",
            "createdAt": "2026-01-01T00:00:00.000Z",
            "expiresAt": "2026-01-02T00:00:00.000Z",
        });
        assert_eq!(me["token"], expected);
        assert_eq!(me.as_object().unwrap().len(), 4);
    }
}
