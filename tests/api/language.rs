//! The library's own sentences in the board's language (contract, section 4).

use std::fs;
use std::path::Path;

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

/// What German says for an English complaint: words that are the wire's own stay as they are.
fn translated(english: &str) -> String {
    let german = Messages::of(Language::German);
    let (name, wrong) = english.split_once(": ").unwrap();
    let wrong = match wrong {
        "required" => german.missing.into_owned(),
        "given more than once" => german.repeated.into_owned(),
        "not known here" => german.unknown.into_owned(),
        expected => format!(
            "{} {}",
            german.expected,
            phrase(expected.strip_prefix("expected ").unwrap())
        ),
    };
    format!("{name}: {wrong}")
}

fn phrase(english: &str) -> String {
    let phrases = Messages::of(Language::German).phrases;
    let found = phrases.iter().find(|(known, _)| *known == english);
    let words = english
        .split(", ")
        .all(|word| word.bytes().all(|byte| byte.is_ascii_lowercase()));
    let own = || words.then(|| english.to_owned());
    let translation = found.map(|(_, german)| (*german).to_owned());
    translation
        .or_else(own)
        .unwrap_or_else(|| panic!("no German for {english:?}"))
}

#[tokio::test]
async fn every_complaint_is_made_in_german() {
    let server = german();
    let alice = server.token("alice").await;
    for (path, english) in queries::REFUSED {
        let answer = server.send(&Ask::get(path).bearer(&alice)).await;
        assert_eq!(message(&answer), translated(english));
    }
    for (endpoint, body, english) in bodies::REFUSED {
        let answer = server
            .send(&bodies::ask(endpoint, body).bearer(&alice))
            .await;
        assert_eq!(message(&answer), translated(english));
    }
}

/// The last text in each `expected(…)` and `de::Error::custom(…)` of the library; what cannot be written is for the log.
#[test]
fn every_phrase_in_the_source_has_a_translation() {
    let mut phrases = Vec::new();
    for folder in ["src/api", "src/model"] {
        for file in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap() {
            let path = file.unwrap().path();
            let code = fs::read_to_string(&path).unwrap_or_default();
            for call in ["expected(", "de::Error::custom("] {
                phrases.extend(code.split(call).skip(1).filter_map(last_text));
            }
        }
    }
    assert!(phrases.len() > 15, "{phrases:?}");
    phrases.extend(["a smaller body".into(), "a whole body in time".into()]);
    for english in phrases {
        phrase(&english);
    }
}

fn last_text(after: &str) -> Option<String> {
    let arguments = after.split([')', ';']).next()?;
    let texts: Vec<_> = arguments.split('"').collect();
    (texts.len() >= 3).then(|| texts[texts.len() - 2].to_owned())
}
