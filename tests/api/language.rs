//! The library's own sentences in the board's language (contract, section 4).

use forum_api::host::Refusal;
use forum_api::{Language, Messages, Settings};

use crate::support::server::settings;
use crate::support::{Ask, Gate, Mood, Server, message};
use crate::{bodies, queries};

fn german() -> Server {
    let messages = Messages::of(Language::German);
    Server::with(Settings {
        messages,
        ..settings()
    })
}

fn reply(body: &str) -> Ask {
    Ask::post("/threads/open-1/posts", body)
}

#[tokio::test]
async fn every_sentence_is_said_in_german() {
    let server = german().listening().await;
    let (german, english) = (
        Messages::of(Language::German),
        Messages::of(Language::English),
    );
    let (alice, banned) = (server.token("alice").await, server.token("banned").await);
    let (scopeless, spent) = (
        server.token_with("alice", &[]).await,
        server.token("alice").await,
    );
    server.spend(&spent, settings().token_window).await;
    let good = r#"{"body":"x"}"#;
    let me = Ask::get("/me");
    let failing = Mood::Refuses(|| Refusal::failed("no"));
    let unwritten = Mood::Refuses(|| Refusal::NotImplemented);
    for (mood, ask, said, other) in [
        (
            Mood::Well,
            me.clone(),
            &german.unauthenticated,
            &english.unauthenticated,
        ),
        (
            Mood::Well,
            me.clone().bearer(&scopeless),
            &german.missing_scope,
            &english.missing_scope,
        ),
        (
            Mood::Well,
            me.clone().bearer(&banned),
            &german.owner_unavailable,
            &english.owner_unavailable,
        ),
        (
            Mood::Well,
            me.clone().bearer(&spent),
            &german.rate_limited,
            &english.rate_limited,
        ),
        (
            Mood::Well,
            Ask::get("/nothing"),
            &german.no_such_route,
            &english.no_such_route,
        ),
        (
            Mood::Well,
            Ask::get("/threads/staff-1"),
            &german.not_found,
            &english.not_found,
        ),
        (
            failing.clone(),
            reply(good).key("cut").bearer(&alice),
            &german.internal_error,
            &english.internal_error,
        ),
        (
            Mood::Well,
            reply(good).key("cut").bearer(&alice),
            &german.key_unknown,
            &english.key_unknown,
        ),
        (
            unwritten,
            me.clone().bearer(&alice),
            &german.not_implemented,
            &english.not_implemented,
        ),
        (
            Mood::Well,
            reply(r#"{"body":"y"}"#).key("cut").bearer(&alice),
            &german.key_reused,
            &english.key_reused,
        ),
    ] {
        server.board.be(mood);
        assert_eq!(message(&server.send(&ask).await), *said);
        assert_ne!(said, other);
    }
    let gate = Gate::new();
    server.board.be(Mood::Waits(gate.clone()));
    let ask = reply(good).key("runs").bearer(&alice);
    let mut connection = server.connection().await;
    let first = tokio::spawn(connection.send_request(ask.request()));
    gate.reached().await;
    assert_eq!(message(&server.send(&ask).await), german.key_running);
    gate.let_one_pass();
    assert_eq!(first.await.unwrap().unwrap().status(), 201);
    server.board.go_offline(true);
    assert_eq!(
        message(&server.send(&me.bearer(&alice)).await),
        german.board_offline
    );
}

/// Words of the wire itself stay as they are.
fn is_wire_word(phrase: &str) -> bool {
    let is_word = |word: &str| word.bytes().all(|byte| byte.is_ascii_lowercase());
    matches!(phrase, "JSON" | "application/json") || phrase.split(", ").all(is_word)
}

#[tokio::test]
async fn every_complaint_is_made_in_german() {
    let server = german();
    let alice = server.token("alice").await;
    let queries = queries::REFUSED;
    let queries = queries
        .iter()
        .map(|(path, english)| (Ask::get(path), english));
    let bodies = bodies::REFUSED;
    let bodies = bodies
        .iter()
        .map(|(endpoint, body, english)| (bodies::ask(endpoint, body), english));
    for (ask, english) in queries.chain(bodies) {
        let german = message(&server.send(&ask.bearer(&alice)).await);
        let ((name, reason), (german_name, german_reason)) = (
            english.split_once(": ").unwrap(),
            german.split_once(": ").unwrap(),
        );
        assert_eq!(name, german_name);
        match reason.strip_prefix("expected ") {
            Some(phrase) => {
                let german = german_reason.strip_prefix("erwartet wird ").unwrap();
                let stays = is_wire_word(phrase) && phrase != "text";
                assert_eq!(german == phrase, stays, "{english}");
            }
            None => assert_ne!(reason, german_reason, "{english}"),
        }
    }
}
