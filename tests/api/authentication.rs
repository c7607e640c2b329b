//! Authentication: one 401 for every reason, and tokens that appear nowhere.

use std::time::Duration;

use forum_api::runtime::Clock;
use forum_api::scope::Surface;
use forum_api::test_util::TestResponse;
use forum_api::token::PlainToken;

use crate::support::rows::FULL_SCOPES;
use crate::support::tokens::mint;
use crate::support::*;

#[tokio::test]
async fn every_reason_is_the_same_401_and_only_the_log_names_it() {
    let server = Server::new();
    let good = server.token("alice").await;
    let revoked = server.token("alice").await;
    let (tokens, now) = (&server.stores.tokens, server.clock.now());
    tokens.revoke(&lookup(&revoked), now).await.unwrap();
    let expired = server
        .issue(Surface::Full, &FULL_SCOPES, "1")
        .await
        .unwrap();
    server.clock.advance(Duration::from_secs(86_400));
    let unknown = mint().expose_secret().to_owned();
    let wrong = server.guessed_token().await;
    let bearer = |token: &str| format!("Bearer {token}");
    let expected = bare(&server.send(&Ask::get("/me")).await);
    for (headers, reason) in [
        (vec![], "Absent"),
        (vec![bearer(&revoked)], "Revoked"),
        (vec![bearer(&expired)], "Expired"),
        (vec![bearer(&unknown)], "Unknown"),
        (vec![bearer(&wrong)], "Unknown"),
        (vec![bearer("")], "Malformed"),
        (vec!["Bearer".into()], "Malformed"),
        (vec![String::new()], "Malformed"),
        (vec![bearer(&good[..75])], "Malformed"),
        (vec![bearer(&good.to_lowercase())], "Malformed"),
        (
            vec![bearer(&good.replace("forum_pat", "forum_tap"))],
            "Malformed",
        ),
        (vec![bearer(&format!(" {good}"))], "Malformed"),
        (vec![format!("Bearer\t{good}")], "Malformed"),
        (vec![bearer(&format!("{good},{good}"))], "Malformed"),
        (vec![good.clone()], "Malformed"),
        (vec![format!("Basic {good}")], "Malformed"),
        (vec![format!("Token {good}")], "Malformed"),
        (vec!["Basic YWxpY2U6cGFzc3dvcmQ=".into()], "Malformed"),
        (vec![bearer(&good), bearer(&good)], "Malformed"),
        (vec![bearer(&good), "Basic eA==".into()], "Malformed"),
    ] {
        let with = |ask: Ask| {
            let add = |ask: Ask, value: &String| ask.header("authorization", value);
            headers.iter().fold(ask, add)
        };
        let rows = ROWS
            .iter()
            .filter(|row| row.needs_token || !headers.is_empty());
        for row in rows {
            let answer = server.send(&with(Ask::of(row))).await;
            assert_eq!(bare(&answer), expected, "{headers:?} {row:?}");
            let log = log::of(&answer);
            assert!(log.contains(&format!("reason={reason}")), "{log}");
        }
    }
}

#[tokio::test]
async fn the_scheme_is_case_insensitive_and_a_token_is_read_from_its_header_only() {
    let server = Server::new();
    let good = server.token("alice").await;
    for scheme in ["Bearer", "bearer", "BEARER", "bEaReR"] {
        let me = Ask::get("/me").header("authorization", &format!("{scheme} {good}"));
        assert_eq!(server.outcome(me).await, (200, None), "{scheme}");
    }
    let cookie = format!("token={good}; authorization=Bearer {good}");
    for elsewhere in [
        Ask::get("/me").header("cookie", &cookie),
        Ask::get("/me").header("x-api-key", &good),
        Ask::get("/me").header("proxy-authorization", &format!("Bearer {good}")),
        Ask::get(&format!("/me?access_token={good}")),
    ] {
        assert_eq!(server.outcome(elsewhere).await, UNAUTHENTICATED);
    }
    let guest = Ask::get(&format!("/forums?access_token={good}"));
    assert_eq!(server.outcome(guest).await, BAD_REQUEST);
}

#[tokio::test]
async fn no_token_appears_in_a_log_a_response_or_debug_output() {
    let server = Server::new().listening().await;
    let alice = server.token("alice").await;
    let body = format!(r#"{{"to":["{alice}"],"subject":5}}"#);
    let mut asks: Vec<_> = ROWS.iter().map(Ask::of).collect();
    asks.push(Ask::post("/messages", &body).key(&alice[..64]));
    asks.extend([
        Ask::get(&format!("/threads/{alice}")),
        Ask::get(&format!("/{alice}")),
        Ask::get(&format!("/search?q={alice}&by={alice}")),
        Ask::get(&format!("/forums?{alice}")),
    ]);
    let mut answers: Vec<TestResponse> = Vec::new();
    for ask in asks {
        answers.push(server.send(&ask.bearer(&alice)).await);
    }
    let secret = &alice[27..];
    assert!(!log::text().contains(secret));
    for answer in &answers {
        assert!(!format!("{answer:?}").contains(secret));
    }
    let found = server.stores.tokens.find(&lookup(&alice)).await;
    let record = found.unwrap().unwrap();
    let parsed = PlainToken::parse(&alice).unwrap();
    let digest = format!("{:?}", parsed.digest().as_bytes());
    let api = &server.api;
    let debug = format!("{record:?}{parsed:?}{api:?}");
    assert!(!debug.contains(secret) && !debug.contains(&digest));
    let public = format!("token=\"{}\"", lookup(&alice));
    assert!(
        log::of(&answers[0]).contains(&public),
        "the lookup is logged"
    );
}
