//! Responses of every endpoint against its operation in the OpenAPI document.

use std::collections::BTreeSet;

use forum_api::host::BoardError;
use forum_api::scope::Surface;
use forum_api::test_util::TestResponse;
use serde_json::{Value, json};

use crate::openapi::{document, operation};
use crate::support::schema::{self, resolve_ref};
use crate::support::server::settings;
use crate::support::*;

/// Headers that depend on the request, and those of the HTTP message itself.
const OPTIONAL: [&str; 6] = [
    "content-length",
    "content-type",
    "idempotency-replayed",
    "link",
    "location",
    "retry-after",
];

/// Checks status, code, headers and body of a response against the row's operation.
fn check(document: &Value, row: &Row, response: &TestResponse) {
    let case = format!("{row:?} {response:?}");
    let declared = operation(document, row)["responses"].get(response.status.to_string());
    let declared = resolve_ref(document, declared.unwrap_or_else(|| panic!("{case}")));
    let content = &declared["content"]["application/json"];
    if let Some(code) = response.code() {
        assert!(content["examples"].get(code.as_str()).is_some(), "{case}");
    }
    if !response.body.is_empty() {
        let checked = schema::check(document, &content["schema"], &response.json());
        checked.unwrap_or_else(|reason| panic!("{case}: {reason}"));
    }
    let listed = declared["headers"].as_object().unwrap().keys();
    let listed: BTreeSet<_> = listed.map(String::as_str).collect();
    let sent: BTreeSet<_> = response.headers.keys().map(AsRef::as_ref).collect();
    let is_required = |header: &&&str| !OPTIONAL.contains(*header);
    let missing: Vec<_> = listed.difference(&sent).filter(is_required).collect();
    assert!(missing.is_empty(), "{missing:?} {case}");
    let media = ["content-length", "content-type"];
    let unlisted = sent.difference(&listed);
    let unlisted: Vec<_> = unlisted.filter(|header| !media.contains(*header)).collect();
    assert!(unlisted.is_empty(), "{unlisted:?} {case}");
}

#[tokio::test]
async fn every_response_conforms_to_its_operation() {
    let (document, server) = (document(Surface::Full), Server::new());
    let (alice, banned) = (server.token("alice").await, server.token("banned").await);
    let scopeless = server.token_with("alice", &[]).await;
    let exhausted = server.token("alice").await;
    server.exhaust(&exhausted, settings().token_budget).await;
    let absent = |row: &Row| row.path.replace("open", "absent").replace("alice-", "no-");
    for row in ROWS {
        let good = Request::of(row).bearer(&alice);
        let unknown = format!(
            "{}{}x=1",
            row.path,
            if row.path.contains('?') { '&' } else { '?' }
        );
        let (sound, panic) = (FailureMode::None, FailureMode::Panic);
        #[rustfmt::skip]
        let mut cases = vec![
            (sound.clone(), good.clone(), row.success),
            (sound.clone(), Request::of(row).bearer("nonsense"), 401),
            (sound.clone(), Request::of(row).bearer(&scopeless), 403),
            (sound.clone(), Request::of(row).bearer(&banned), 403),
            (sound.clone(), Request::of(row).bearer(&exhausted), 429),
            (sound.clone(), Request::at(row, &unknown).bearer(&alice), 400),
            (panic, good.clone(), 500),
            (FailureMode::Error(|| BoardError::internal("no")), good.clone(), 500),
            (FailureMode::Error(|| BoardError::NotImplemented), good.clone(), 501),
        ];
        if row.needs_token {
            cases.push((FailureMode::None, Request::of(row), 401));
        }
        if absent(row) != row.path && !row.template.starts_with("/subscriptions") {
            cases.push((
                FailureMode::None,
                Request::at(row, &absent(row)).bearer(&alice),
                404,
            ));
        }
        if row.method == "GET" {
            // A response without an etag is not conditional.
            let status = if row.template == "/messages/{messageId}" {
                200
            } else {
                304
            };
            cases.push((FailureMode::None, good.header("if-none-match", "*"), status));
        } else {
            let failed = |(error, status)| (FailureMode::Error(error), good.clone(), status);
            cases.extend(DOMAIN_ERRORS.map(failed));
        }
        for (mode, request, status) in cases {
            server.board.set_mode(mode);
            let response = server.send(&request).await;
            assert_eq!(response.status, status, "{request:?} {response:?}");
            check(&document, row, &response);
        }
        server.board.set_mode(FailureMode::None);
        server.board.set_offline(true);
        let offline = server.send(&Request::of(row).bearer(&alice)).await;
        assert_eq!(outcome(&offline), (503, Some("board_offline")));
        check(&document, row, &offline);
        server.board.set_offline(false);
    }
}

#[tokio::test]
async fn the_fields_of_a_board_are_sent_unchanged() {
    let server = Server::new();
    let alice = server.token("alice").await;
    for (path, resource) in [
        ("/me", "/owner"),
        ("/forums", "/items/0"),
        ("/forums/open/threads", "/items/0"),
        ("/threads/open-1", ""),
        ("/threads/open-1/posts", "/items/0"),
        ("/members/bob", ""),
        ("/messages", "/items/0"),
        ("/messages/alice-1", ""),
    ] {
        let response = server.send(&Request::get(path).bearer(&alice)).await;
        let extra = response
            .json()
            .pointer(&format!("{resource}/extra"))
            .cloned();
        assert_eq!(extra, Some(json!({ "score": 12 })), "{path}");
    }
}
