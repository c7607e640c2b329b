//! Authentication: the same 401 for every reason, and no token in logs or responses.

use forum_api::token::PlainToken;

use crate::support::*;

#[tokio::test]
async fn every_authentication_failure_is_the_same_401_and_only_the_log_names_its_reason() {
    let server = Server::new();
    let good = server.token("alice").await;
    let [revoked, expired, unknown, wrong] = server.invalid_tokens().await;
    let bearer = |token: &str| format!("Bearer {token}");
    let expected = comparable_parts(&server.send(&Request::get("/me")).await);
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
        (vec![bearer(&good.replace("forum_pat", "forum_tap"))], "Malformed"),
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
        let with = |request: Request| {
            let add = |request: Request, value: &String| request.header("authorization", value);
            headers.iter().fold(request, add)
        };
        let rows = ROWS.iter().filter(|row| row.needs_token || !headers.is_empty());
        for row in rows {
            let response = server.send(&with(Request::of(row))).await;
            assert_eq!(comparable_parts(&response), expected, "{headers:?} {row:?}");
            let log = log::of(&response);
            let warning = log.lines().find(|line| line.contains(" WARN ")).unwrap();
            assert!(warning.ends_with(&format!(" reason={reason}")), "{log}");
            // The line names the lookup of a complete token, also of an unknown one.
            let sent = headers.first().and_then(|header| header.strip_prefix("Bearer "));
            let known = sent.filter(|_| matches!(reason, "Revoked" | "Expired" | "Unknown"));
            let public = known.map(|token| format!(" token=\"{}\"", lookup(token)));
            assert!(public.as_ref().is_none_or(|public| warning.contains(public)), "{log}");
            assert_eq!(warning.contains(" token="), public.is_some(), "{log}");
        }
    }
    assert!(server.board.calls().is_empty());
}

#[tokio::test]
async fn the_scheme_is_case_insensitive_and_a_token_is_read_from_its_header_only() {
    let server = Server::new();
    let good = server.token("alice").await;
    for scheme in ["Bearer", "bearer", "BEARER", "bEaReR"] {
        let me = Request::get("/me").header("authorization", &format!("{scheme} {good}"));
        server.expect(me, (200, None)).await;
    }
    let cookie = format!("token={good}; authorization=Bearer {good}");
    for elsewhere in [
        Request::get("/me").header("cookie", &cookie),
        Request::get("/me").header("x-api-key", &good),
        Request::get("/me").header("proxy-authorization", &format!("Bearer {good}")),
        Request::get(&format!("/me?access_token={good}")),
    ] {
        server.expect(elsewhere, UNAUTHENTICATED).await;
    }
    let guest = Request::get(&format!("/forums?access_token={good}"));
    server.expect(guest, BAD_REQUEST).await;
}

#[tokio::test]
async fn no_token_appears_in_a_log_a_response_or_debug_output() {
    let server = Server::new().listening().await;
    let alice = server.token("alice").await;
    let body = format!(r#"{{"to":["{alice}"],"subject":5}}"#);
    let mut requests: Vec<_> = ROWS.iter().map(Request::of).collect();
    requests.push(Request::post("/messages", &body).key(&alice[..64]));
    requests.extend([
        Request::get(&format!("/threads/{alice}")),
        Request::get(&format!("/{alice}")),
        Request::get(&format!("/search?q={alice}&by={alice}")),
        Request::get(&format!("/forums?{alice}")),
    ]);
    let mut responses: Vec<TestResponse> = Vec::new();
    for request in requests {
        responses.push(server.send(&request.bearer(&alice)).await);
    }
    let secret = &alice[27..];
    assert!(!log::text().contains(secret));
    for response in &responses {
        assert!(!format!("{response:?}").contains(secret));
    }
    let tokens = &server.stores.tokens;
    let record = tokens.find(&lookup(&alice)).await.unwrap().unwrap();
    let parsed = PlainToken::parse(&alice).unwrap();
    let digest = format!("{:?}", parsed.digest().as_bytes());
    let api = &server.api;
    let debug = format!("{record:?}{parsed:?}{api:?}");
    assert!(!debug.contains(secret) && !debug.contains(&digest));
    let public = format!("token=\"{}\"", lookup(&alice));
    let line = log::of(&responses[0]);
    assert!(line.contains(&public), "the lookup is logged");
}
