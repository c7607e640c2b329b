//! `x-error-reason` and `x-error-field` (`docs/protocol.md`, section 5.6), and the headers of conditions that are refused
//! (section 6.5).

use std::collections::BTreeSet;

use forum_api::host::OverloadedError;

use crate::support::*;
use crate::{bodies, queries};

fn reply() -> Request {
    Request::post("/threads/open-1/posts", r#"{"body":"Green."}"#)
}

fn reason_and_field(response: &TestResponse) -> (Option<&str>, Option<&str>) {
    (response.header("x-error-reason"), response.header("x-error-field"))
}

#[tokio::test]
async fn the_field_of_a_bad_request_is_the_name_in_its_message() {
    let (server, alice) = Server::with_alice().await;
    let queries = queries::REJECTED.iter().map(|(path, _)| Request::get(path));
    let bodies = bodies::REJECTED.iter().map(|(endpoint, body, _)| bodies::request(endpoint, body));
    let mut fields = BTreeSet::new();
    for request in queries.chain(bodies) {
        let response = server.send(&request.bearer(&alice)).await;
        let message = message(&response);
        let (name, _) = message.split_once(": ").unwrap();
        let is_sent = name != "?" && name.bytes().all(|byte| byte.is_ascii_graphic());
        assert_eq!(reason_and_field(&response), (None, is_sent.then_some(name)), "{message}");
        fields.insert(name.to_owned());
    }
    for field in ["limit", "after", "body", "poll.options[1]"] {
        assert!(fields.contains(field), "{field} in {fields:?}");
    }
}

#[tokio::test]
async fn an_error_of_the_board_has_its_reason_and_field() {
    let server = Server::new().listening().await;
    let alice = server.token("alice").await;
    let long = "x".repeat(65);
    let reasons: [(fn() -> BoardError, _, _); 8] = [
        (|| BoardError::forbidden("No.").with_reason("locked"), Some("locked"), None),
        (|| BoardError::not_found("No.").with_field("inReplyTo"), None, Some("inReplyTo")),
        (|| BoardError::stale_version("No."), Some("version_stale"), None),
        (|| BoardError::validation("poll.options[1]", "No."), None, Some("poll.options[1]")),
        (|| BoardError::invalid_content("No.").with_reason("too_soon"), Some("too_soon"), None),
        (
            || BoardError::rate_limited("No.").with_reason("of_this_board"),
            Some("of_this_board"),
            None,
        ),
        (
            || BoardError::invalid_parameter("from", "another").with_reason("position_expired"),
            Some("position_expired"),
            Some("from"),
        ),
        (|| BoardError::validation("größe", "No.").with_reason("Zu groß"), None, None),
    ];
    for (error, reason, field) in reasons {
        server.board.fail_with(error);
        let response = server.send(&reply().bearer(&alice)).await;
        assert_eq!(reason_and_field(&response), (reason, field), "{:?}", error());
        let body = response.json();
        let keys: Vec<_> = body["error"].as_object().unwrap().keys().collect();
        assert_eq!(keys, ["code", "message", "requestId"]);
        let begins_with_field =
            field.is_none_or(|field| message(&response).starts_with(&format!("{field}: ")));
        assert!(begins_with_field, "{body}");
        assert!(!response.headers.values().any(|value| value.len() > long.len()));
        let lines = log::of(&response);
        let logged = lines.lines().find(|line| line.contains("request completed")).unwrap();
        let logged_reason = reason.map(|reason| format!("reason=\"{reason}\""));
        assert!(logged_reason.is_none_or(|text| logged.contains(&text)), "{logged}");
        assert_eq!(logged.contains("reason="), reason.is_some(), "{logged}");
    }
}

#[tokio::test]
async fn a_minimum_time_is_a_validation_with_retry_after() {
    let (server, alice) = Server::with_alice().await;
    server.board.fail_with(|| {
        let error = BoardError::invalid_content("15 seconds must pass.").with_reason("too_soon");
        error.with_retry_after(Duration::from_millis(8_001))
    });
    let response = server.send(&reply().bearer(&alice)).await;
    assert_eq!(outcome(&response), (422, Some("VALIDATION")));
    assert_eq!(response.header("retry-after"), Some("9"));
    assert_eq!(message(&response), "15 seconds must pass.");
}

#[tokio::test]
async fn the_library_has_reasons_for_keys_and_for_what_was_not_run() {
    let server = Server::new().listening().await;
    let alice = server.token("alice").await;
    let other = Request::post("/threads/open-1/posts", r#"{"body":"Black."}"#);
    server.board.fail_with(|| BoardError::internal("the disk is full"));
    let response = server.send(&reply().bearer(&alice).key("unknown")).await;
    assert_eq!((response.status, reason_and_field(&response)), (500, (None, None)));
    server.board.fail_with(|| BoardError::internal(OverloadedError::new(Duration::from_secs(7))));
    let response = server.send(&reply().bearer(&alice).key("not run")).await;
    assert_eq!(
        (response.status, reason_and_field(&response)),
        (400, (None, Some("idempotency-key")))
    );
    let response = server.send(&reply().bearer(&alice).key("not-run")).await;
    assert_eq!((response.status, reason_and_field(&response)), (503, (Some("not_run"), None)));
    server.board.set_mode(FailureMode::None);
    let response = server.send(&reply().bearer(&alice).key("unknown")).await;
    assert_eq!(
        (response.status, reason_and_field(&response)),
        (409, (Some("outcome_unknown"), None))
    );
    let response = server.send(&other.clone().bearer(&alice).key("unknown")).await;
    assert_eq!((response.status, reason_and_field(&response)), (409, (Some("key_reused"), None)));
    let checkpoint = Checkpoint::new();
    server.board.set_mode(FailureMode::Wait(checkpoint.clone()));
    let request = reply().bearer(&alice).key("runs");
    let mut connection = server.connection().await;
    let first = tokio::spawn(connection.send_request(request.to_http()));
    checkpoint.reached().await;
    let response = server.send(&request).await;
    assert_eq!(
        (response.status, reason_and_field(&response)),
        (409, (Some("key_in_progress"), None))
    );
    assert_eq!(response.header("retry-after"), Some("1"));
    checkpoint.release();
    assert_eq!(first.await.unwrap().unwrap().status(), 201);
}

#[tokio::test]
async fn the_condition_of_a_change_is_refused_and_that_of_a_read_is_ignored() {
    let (server, alice) = Server::with_alice().await;
    let calls = server.board.calls().len();
    for row in ROWS {
        for (header, value) in
            [("if-match", "\"stale\""), ("if-unmodified-since", "Mon, 01 Jan 2001 00:00:00 GMT")]
        {
            let request = Request::of(row).bearer(&alice).header(header, value);
            let response = server.send(&request).await;
            if row.method == "GET" {
                assert_eq!(response.status, 200, "{row:?}");
                continue;
            }
            assert_eq!(outcome(&response), (400, Some("bad_request")), "{row:?}");
            assert_eq!(response.header("x-error-field"), Some(header), "{row:?}");
            let expected =
                "a request without this header; the condition of a PATCH is expectedVersion";
            assert_eq!(message(&response), format!("{header}: expected {expected}"), "{row:?}");
        }
    }
    let writes =
        server.board.calls().into_iter().skip(calls).filter(|call| call.starts_with("create"));
    assert_eq!(writes.count(), 0);
    let hidden = Request::new("DELETE", "/threads/staff-1/posts/staff-1-1").header("if-match", "*");
    let response = server.send(&hidden.bearer(&alice)).await;
    assert_eq!(outcome(&response), (400, Some("bad_request")), "step 7 precedes step 8");
    let guest = Request::new("DELETE", "/threads/open-1/posts/open-1-1").header("if-match", "*");
    assert_eq!(server.send(&guest).await.status, 401);
}

#[tokio::test]
async fn the_id_of_a_path_is_never_a_hyphen() {
    let (server, alice) = Server::with_alice().await;
    for path in ["/threads/-", "/threads/-/posts", "/forums/-/threads", "/members/-", "/messages/-"]
    {
        let response = server.send(&Request::get(path).bearer(&alice)).await;
        assert_eq!(outcome(&response), (404, Some("not_found")), "{path}");
    }
    let search = Request::get("/search?q=tea&forum=2,-").bearer(&alice);
    assert_eq!(message(&server.send(&search).await), "forum: expected comma-separated forum ids");
    let subscribe = Request::post("/subscriptions", r#"{"target":"thread","targetId":"-"}"#);
    let response = server.send(&subscribe.bearer(&alice)).await;
    assert_eq!(outcome(&response), (404, Some("NOT_FOUND")));
}
