//! Every row of the table against its operation in the document: refusals, successes and their headers.

use std::collections::BTreeSet;

use forum_api::host::BoardError;
use forum_api::runtime::TokioRuntime;
use forum_api::test_util::TestResponse;
use forum_api::{Environment, openapi_document};
use serde_json::Value;

use crate::support::schema::resolve_ref;
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

fn document() -> Value {
    openapi_document(&settings(), &Environment::new(TokioRuntime))
}

/// A new operation fails here until it has a row with a request for it.
#[test]
fn every_operation_has_a_row() {
    let document = document();
    let paths = document["paths"].as_object().unwrap().iter();
    let operations = paths.flat_map(|(path, operations)| {
        let methods = operations.as_object().unwrap().keys();
        methods.map(move |method| (method.to_uppercase(), path.clone()))
    });
    let rows = ROWS
        .iter()
        .map(|row| (row.method.to_owned(), row.template.to_owned()));
    assert_eq!(
        operations.collect::<BTreeSet<_>>(),
        rows.collect::<BTreeSet<_>>()
    );
}

/// Checks the status, the code and the headers of an answer against the row's operation.
fn check(document: &Value, row: &Row, answer: &TestResponse) {
    let operation = &document["paths"][row.template][row.method.to_lowercase()];
    let case = format!("{row:?} {answer:?}");
    let response = operation["responses"].get(answer.status.to_string());
    let response = resolve_ref(document, response.unwrap_or_else(|| panic!("{case}")));
    if let Some(code) = answer.code() {
        let examples = &response["content"]["application/json"]["examples"];
        assert!(examples.get(code).is_some(), "{case}");
    }
    let listed = response["headers"].as_object().unwrap().keys();
    let listed: BTreeSet<_> = listed.map(String::as_str).collect();
    let found: BTreeSet<_> = answer.headers.keys().map(AsRef::as_ref).collect();
    let is_required = |header: &&&str| !OPTIONAL.contains(*header);
    let missing: Vec<_> = listed.difference(&found).filter(is_required).collect();
    assert!(missing.is_empty(), "{missing:?} {case}");
    let media = ["content-length", "content-type"];
    let unlisted = found.difference(&listed);
    let unlisted: Vec<_> = unlisted.filter(|header| !media.contains(*header)).collect();
    assert!(unlisted.is_empty(), "{unlisted:?} {case}");
}

#[tokio::test]
async fn every_answer_is_one_of_its_operation() {
    let (document, server) = (document(), Server::new());
    let (alice, banned) = (server.token("alice").await, server.token("banned").await);
    let scopeless = server.token_with("alice", &[]).await;
    let spent = server.token("alice").await;
    server.spend(&spent, settings().token_budget).await;
    let absent = |row: &Row| row.path.replace("open", "absent").replace("alice-", "no-");
    for row in ROWS {
        let good = Ask::of(row).bearer(&alice);
        let unknown = format!(
            "{}{}x=1",
            row.path,
            if row.path.contains('?') { '&' } else { '?' }
        );
        let mut cases = vec![
            (Mood::Well, good.clone(), row.success),
            (Mood::Well, Ask::of(row).bearer("nonsense"), 401),
            (Mood::Well, Ask::of(row).bearer(&scopeless), 403),
            (Mood::Well, Ask::of(row).bearer(&banned), 403),
            (Mood::Well, Ask::of(row).bearer(&spent), 429),
            (Mood::Well, Ask::at(row, &unknown).bearer(&alice), 400),
            (Mood::Panics, good.clone(), 500),
            (
                Mood::Refuses(|| BoardError::internal("no")),
                good.clone(),
                500,
            ),
            (
                Mood::Refuses(|| BoardError::NotImplemented),
                good.clone(),
                501,
            ),
        ];
        if row.needs_token {
            cases.push((Mood::Well, Ask::of(row), 401));
        }
        if absent(row) != row.path && !row.template.starts_with("/subscriptions") {
            cases.push((Mood::Well, Ask::at(row, &absent(row)).bearer(&alice), 404));
        }
        if row.method == "GET" {
            // An answer without a tag has no condition.
            let status = if row.template == "/messages/{messageId}" {
                200
            } else {
                304
            };
            cases.push((Mood::Well, good.header("if-none-match", "*"), status));
        } else {
            let refusals: [(fn() -> BoardError, u16); 5] = [
                (|| BoardError::Forbidden("No.".into()), 403),
                (|| BoardError::NotFound("No.".into()), 404),
                (|| BoardError::Conflict("No.".into()), 409),
                (|| BoardError::invalid("body", "No."), 422),
                (|| BoardError::RateLimited("No.".into(), None), 429),
            ];
            let refused = |(refusal, status)| (Mood::Refuses(refusal), good.clone(), status);
            cases.extend(refusals.map(refused));
        }
        for (mood, ask, status) in cases {
            server.board.be(mood);
            let answer = server.send(&ask).await;
            assert_eq!(answer.status, status, "{ask:?} {answer:?}");
            check(&document, row, &answer);
        }
        server.board.be(Mood::Well);
        server.board.go_offline(true);
        let offline = server.send(&Ask::of(row).bearer(&alice)).await;
        assert_eq!(outcome(&offline), (503, Some("board_offline")));
        check(&document, row, &offline);
        server.board.go_offline(false);
    }
}
