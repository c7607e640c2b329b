//! Who is let in, and what is said of the others (spec, Authentication; contract, section 2).

use std::time::Duration;

use forum_api::runtime::Clock;
use forum_api::scope::Surface;
use forum_api::test_util::Answer;
use forum_api::token::PlainToken;

use crate::support::rows::FULL_SCOPES;
use crate::support::tokens::mint;
use crate::support::{Ask, ROWS, Server, bare, log, lookup, outcome};

#[tokio::test]
async fn every_reason_is_one_401_and_only_the_log_knows_which() {
    let server = Server::new();
    let good = server.token("alice").await;
    let revoked = server.token("alice").await;
    server
        .stores
        .tokens
        .revoke(&lookup(&revoked), server.clock.now())
        .await
        .unwrap();
    let expired = server
        .issue(Surface::Full, &FULL_SCOPES, "1")
        .await
        .unwrap();
    server.clock.advance(Duration::from_secs(86_400));
    let unknown = mint().reveal().to_owned();
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
            headers
                .iter()
                .fold(ask, |ask, value| ask.header("authorization", value))
        };
        let answer = server.send(&with(Ask::get("/me"))).await;
        assert_eq!(bare(&answer), expected, "{headers:?}");
        assert!(
            log::of(&answer).contains(&format!("reason={reason}")),
            "{}",
            log::of(&answer)
        );
        for row in ROWS
            .iter()
            .filter(|row| !row.needs_token && !headers.is_empty())
        {
            assert_eq!(
                bare(&server.send(&with(Ask::of(row))).await),
                expected,
                "{row:?}"
            );
        }
    }
}

#[tokio::test]
async fn the_scheme_has_no_case_and_a_token_has_no_other_place() {
    let server = Server::new();
    let good = server.token("alice").await;
    for scheme in ["Bearer", "bearer", "BEARER", "bEaReR"] {
        let answer = server
            .send(&Ask::get("/me").header("authorization", &format!("{scheme} {good}")))
            .await;
        assert_eq!(answer.status, 200, "{scheme}");
    }
    for elsewhere in [
        Ask::get("/me").header(
            "cookie",
            &format!("token={good}; authorization=Bearer {good}"),
        ),
        Ask::get("/me").header("x-api-key", &good),
        Ask::get("/me").header("proxy-authorization", &format!("Bearer {good}")),
        Ask::get(&format!("/me?access_token={good}")),
    ] {
        assert_eq!(
            outcome(&server.send(&elsewhere).await),
            (401, Some("unauthenticated"))
        );
    }
    let guest = server
        .send(&Ask::get(&format!("/forums?access_token={good}")))
        .await;
    assert_eq!(outcome(&guest), (400, Some("bad_request")));
}

#[tokio::test]
async fn no_token_appears_in_any_log_answer_or_debug() {
    let server = Server::new().listening().await;
    let alice = server.token("alice").await;
    let mut answers = Vec::new();
    for row in &ROWS {
        answers.push(server.send(&Ask::of(row).bearer(&alice)).await);
    }
    for path in [
        format!("/threads/{alice}"),
        format!("/{alice}"),
        format!("/search?q={alice}&by={alice}"),
        format!("/forums?{alice}"),
    ] {
        answers.push(server.send(&Ask::get(&path).bearer(&alice)).await);
    }
    let body = format!(r#"{{"to":["{alice}"],"subject":5}}"#);
    answers.push(
        server
            .send(
                &Ask::post("/messages", &body)
                    .key(&alice[..64])
                    .bearer(&alice),
            )
            .await,
    );
    assert_unsaid(&server, &alice, &answers).await;
}

async fn assert_unsaid(server: &Server, alice: &str, answers: &[Answer]) {
    let secret = &alice[27..];
    assert!(!log::text().contains(secret));
    assert!(
        answers
            .iter()
            .all(|answer| !format!("{answer:?}").contains(secret))
    );
    let record = server
        .stores
        .tokens
        .find(&lookup(alice))
        .await
        .unwrap()
        .unwrap();
    let parsed = PlainToken::parse(alice).unwrap();
    for debug in [
        format!("{record:?}"),
        format!("{parsed:?}"),
        format!("{:?}", server.api),
    ] {
        assert!(
            !debug.contains(secret)
                && !debug.contains(&format!("{:?}", parsed.digest().as_bytes()))
        );
    }
    assert!(
        log::of(&answers[0]).contains(&format!("token=\"{}\"", lookup(alice))),
        "the lookup may"
    );
}
