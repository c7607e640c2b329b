//! The library's own sentences in the board's language (`docs/protocol.md`, section 5.6).

use std::borrow::Cow;

use forum_api::host::BoardError;
use forum_api::{ApiSettings, ErrorMessages, Language};

use crate::support::server::settings;
use crate::support::*;
use crate::{bodies, queries};

fn german() -> Server {
    let messages = ErrorMessages::for_language(Language::German);
    Server::with(ApiSettings {
        error_messages: messages,
        ..settings()
    })
}

/// A sentence of the library.
struct Sentence(fn(&ErrorMessages) -> &Cow<'static, str>);

#[tokio::test]
async fn every_sentence_has_a_german_translation() {
    let server = german().listening().await;
    let german = ErrorMessages::for_language(Language::German);
    let english = ErrorMessages::for_language(Language::English);
    let (alice, banned) = (server.token("alice").await, server.token("banned").await);
    let scopeless = server.token_with("alice", &[]).await;
    let spent = server.token("alice").await;
    server.spend(&spent, settings().token_budget).await;
    let me = Ask::get("/me");
    let reply = |body: &str, key: &str| {
        let body = format!(r#"{{"body":"{body}"}}"#);
        Ask::post("/threads/open-1/posts", &body)
            .key(key)
            .bearer(&alice)
    };
    let failing = Mood::Refuses(|| BoardError::internal("no"));
    let unimplemented = Mood::Refuses(|| BoardError::NotImplemented);
    let well = || Mood::Well;
    for (mood, ask, sentence) in [
        (well(), me.clone(), Sentence(|m| &m.unauthenticated)),
        (
            well(),
            me.clone().bearer(&scopeless),
            Sentence(|m| &m.missing_scope),
        ),
        (
            well(),
            me.clone().bearer(&banned),
            Sentence(|m| &m.owner_unavailable),
        ),
        (
            well(),
            me.clone().bearer(&spent),
            Sentence(|m| &m.rate_limited),
        ),
        (well(), Ask::get("/nothing"), Sentence(|m| &m.no_such_route)),
        (
            well(),
            Ask::get("/threads/staff-1"),
            Sentence(|m| &m.not_found),
        ),
        (failing, reply("x", "cut"), Sentence(|m| &m.internal_error)),
        (
            well(),
            reply("x", "cut"),
            Sentence(|m| &m.idempotency_outcome_unknown),
        ),
        (
            unimplemented,
            me.clone().bearer(&alice),
            Sentence(|m| &m.not_implemented),
        ),
        (
            well(),
            reply("y", "cut"),
            Sentence(|m| &m.idempotency_key_reused),
        ),
    ] {
        server.board.be(mood);
        assert_eq!(message(&server.send(&ask).await), *(sentence.0)(&german));
        assert_ne!((sentence.0)(&german), (sentence.0)(&english));
    }
    let gate = Gate::new();
    server.board.be(Mood::Waits(gate.clone()));
    let ask = reply("x", "runs");
    let mut connection = server.connection().await;
    let first = tokio::spawn(connection.send_request(ask.request()));
    gate.reached().await;
    assert_eq!(
        message(&server.send(&ask).await),
        german.idempotency_in_progress
    );
    gate.let_one_pass();
    assert_eq!(first.await.unwrap().unwrap().status(), 201);
    server.board.go_offline(true);
    let offline = server.send(&me.bearer(&alice)).await;
    assert_eq!(message(&offline), german.board_offline);
}

/// Words of the wire itself stay as they are.
fn is_wire_word(phrase: &str) -> bool {
    let is_word = |word: &str| word.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_media = matches!(phrase, "JSON" | "application/json");
    is_media || (phrase != "text" && phrase.split(", ").all(is_word))
}

#[tokio::test]
async fn every_message_about_input_has_a_german_translation() {
    let server = german();
    let alice = server.token("alice").await;
    let queries = queries::REFUSED
        .iter()
        .map(|(path, english)| (Ask::get(path), english));
    let bodies = bodies::REFUSED.iter();
    let bodies = bodies.map(|(endpoint, body, english)| (bodies::ask(endpoint, body), english));
    for (ask, english) in queries.chain(bodies) {
        let german = message(&server.send(&ask.bearer(&alice)).await);
        let (name, reason) = english.split_once(": ").unwrap();
        let german = german.strip_prefix(&format!("{name}: ")).unwrap();
        match reason.strip_prefix("expected ") {
            Some(phrase) => {
                let german = german.strip_prefix("erwartet wird ").unwrap();
                assert_eq!(german == phrase, is_wire_word(phrase), "{english}");
            }
            None => assert_ne!(german, reason),
        }
    }
}
