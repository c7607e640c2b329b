//! Messages of the library in the board's language (`docs/protocol.md`, section 5.1).

use forum_api::{ErrorMessages, Language};

use crate::support::*;
use crate::{bodies, queries};

fn german() -> Server {
    let mut settings = settings();
    settings.error_messages = ErrorMessages::for_language(Language::German);
    Server::with(settings)
}

#[tokio::test]
async fn every_message_has_a_german_translation() {
    let server = german().listening().await;
    let german = ErrorMessages::for_language(Language::German);
    let alice = server.token("alice").await;
    let banned = server.token("banned").await;
    let scopeless = server.token_with("alice", &[]).await;
    let exhausted = server.token("alice").await;
    server.exhaust(&exhausted, settings().token_budget).await;
    let me = Request::get("/me");
    let reply = |body: &str, key: &str| {
        let body = format!(r#"{{"body":"{body}"}}"#);
        let request = Request::post("/threads/open-1/posts", &body);
        request.key(key).bearer(&alice)
    };
    let fail: fn() -> BoardError = || BoardError::internal("no");
    let unimplemented: fn() -> BoardError = || BoardError::NotImplemented;
    #[rustfmt::skip]
    let cases = [
        (None, me.clone(), "A valid bearer token is required."),
        (None, me.clone().bearer(&scopeless), "The token lacks the scope required by this endpoint:"),
        (None, me.clone().bearer(&banned), "The token owner's account can no longer be used."),
        (None, me.clone().bearer(&exhausted), "Rate limit exceeded."),
        (None, Request::get("/nothing"), "Unknown endpoint."),
        (None, Request::get("/threads/staff-1"), "Not found."),
        (Some(fail), reply("x", "cut"), "Internal error."),
        (None, reply("x", "cut"), "The outcome of the first request with this Idempotency-Key is unknown. Check whether it took effect before you retry with a new key."),
        (Some(unimplemented), me.clone().bearer(&alice), "This board does not implement this endpoint."),
        (None, reply("y", "cut"), "This Idempotency-Key was already used for a different request."),
    ];
    for (error, request, english) in cases {
        let mode = error.map_or(FailureMode::None, FailureMode::Error);
        server.board.set_mode(mode);
        let found = message(&server.send(&request).await);
        let expected = german.translate(english);
        assert_eq!(found.trim_end_matches(" members:read"), expected);
        assert_ne!(german.translate(english), english);
    }
    server.board.set_mode(FailureMode::None);
    let checkpoint = Checkpoint::new();
    server.board.set_mode(FailureMode::Wait(checkpoint.clone()));
    let request = reply("x", "runs");
    let mut connection = server.connection().await;
    let first = tokio::spawn(connection.send_request(request.to_http()));
    checkpoint.reached().await;
    let text = german.translate("A request with this Idempotency-Key is still in progress.");
    assert_eq!(message(&server.send(&request).await), text);
    checkpoint.release();
    assert_eq!(first.await.unwrap().unwrap().status(), 201);
    server.board.set_offline(true);
    let offline = server.send(&me.bearer(&alice)).await;
    assert_eq!(message(&offline), german.translate("The board is offline."));
}

/// Returns whether a phrase consists of values of the API, which are not translated.
fn is_wire_word(phrase: &str) -> bool {
    let is_word = |word: &str| word.bytes().all(|byte| byte.is_ascii_lowercase());
    phrase == "application/json" || (phrase != "text" && phrase.split(", ").all(is_word))
}

#[tokio::test]
async fn every_message_about_input_has_a_german_translation() {
    let server = german();
    let alice = server.token("alice").await;
    let queries = queries::REJECTED.iter().map(|(path, english)| (Request::get(path), english));
    let bodies = bodies::REJECTED
        .iter()
        .map(|(endpoint, body, english)| (bodies::request(endpoint, body), english));
    for (request, english) in queries.chain(bodies) {
        let german = message(&server.send(&request.bearer(&alice)).await);
        let (name, reason) = english.split_once(": ").unwrap();
        let german = german.strip_prefix(&format!("{name}: ")).unwrap();
        match reason.strip_prefix("expected ") {
            Some(phrase) => {
                let german = german.strip_prefix("erwartet wird ").unwrap();
                let values = phrase.strip_prefix("one of ");
                let (german, phrase) = match values {
                    Some(values) => (german.strip_prefix("einer der Werte ").unwrap(), values),
                    None => (german, phrase),
                };
                assert_eq!(german == phrase, is_wire_word(phrase), "{english}");
            }
            None => assert_ne!(german, reason),
        }
    }
}
