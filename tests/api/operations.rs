//! Responses of every endpoint against its operation in the OpenAPI document: every documented status and error code,
//! and no other.

use crate::openapi::{document, operation};
use crate::support::schema;
use crate::support::*;

/// Headers that depend on the request, and those of the HTTP message itself.
const OPTIONAL: [&str; 9] = [
    "content-length",
    "content-type",
    "idempotency-replayed",
    "link",
    "location",
    "retry-after",
    "www-authenticate",
    "x-error-field",
    "x-error-reason",
];

/// Checks headers and body of a response against the row's operation.
fn check(document: &Value, row: &Row, response: &TestResponse) {
    let case = format!("{row:?} {response:?}");
    let found = operation(document, row)["responses"].get(response.status.to_string());
    let declared = resolve_ref(document, found.unwrap_or_else(|| panic!("{case}")));
    let content = &declared["content"]["application/json"];
    if !response.body.is_empty() {
        let checked = schema::check(document, &content["schema"], &response.json());
        checked.unwrap_or_else(|reason| panic!("{case}: {reason}"));
    }
    let listed: BTreeSet<_> =
        declared["headers"].as_object().unwrap().keys().map(String::as_str).collect();
    let sent: BTreeSet<_> = response.headers.keys().map(AsRef::as_ref).collect();
    let is_required = |header: &&&str| !OPTIONAL.contains(*header);
    let missing: Vec<_> = listed.difference(&sent).filter(is_required).collect();
    assert!(missing.is_empty(), "{missing:?} {case}");
    let media = ["content-length", "content-type"];
    let unlisted: Vec<_> =
        sent.difference(&listed).filter(|header| !media.contains(*header)).collect();
    assert!(unlisted.is_empty(), "{unlisted:?} {case}");
}

/// Returns the documented statuses of a row, each error with its codes.
fn documented<'a>(document: &'a Value, row: &Row) -> BTreeSet<(u16, Option<&'a str>)> {
    let mut outcomes = BTreeSet::new();
    for (status, response) in operation(document, row)["responses"].as_object().unwrap() {
        let status = status.parse().unwrap();
        let content = &resolve_ref(document, response)["content"]["application/json"];
        match content["examples"].as_object() {
            Some(errors) if status >= 400 => {
                outcomes.extend(errors.keys().map(|code| (status, Some(&**code))));
            }
            _ => drop(outcomes.insert((status, None))),
        }
    }
    outcomes
}

#[tokio::test]
async fn every_operation_has_its_documented_responses_and_no_other() {
    let document = document(Surface::Full);
    let (server, alice) = Server::with_alice().await;
    let banned = server.token("banned").await;
    let scopeless = server.token_with("alice", &[]).await;
    let exhausted = server.token("alice").await;
    server.exhaust(&exhausted, settings().token_budget).await;
    for row in ROWS {
        let mut sent = BTreeSet::new();
        let good = Request::of(row).bearer(&alice);
        let separator = if row.path.contains('?') { '&' } else { '?' };
        let unknown = format!("{}{separator}x=1", row.path);
        let sound = FailureMode::None;
        let panic = FailureMode::Panic;
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
            (FailureMode::Error(|| BoardError::internal(OVERLOADED)), good.clone(), 503),
            (FailureMode::Error(|| BoardError::NotImplemented), good.clone(), 501),
        ];
        if row.needs_token {
            cases.push((FailureMode::None, Request::of(row), 401));
        }
        if row.template.contains('{') {
            let segments = row
                .template
                .split('/')
                .map(|segment| if segment.starts_with('{') { "absent" } else { segment });
            let absent = Request::at(row, &segments.collect::<Vec<_>>().join("/")).bearer(&alice);
            cases.push((FailureMode::None, absent, 404));
        }
        if (row.method, row.template) == ("POST", "/subscriptions") {
            let body = r#"{"target":"thread","targetId":"open-1"}"#;
            let existing = Request::post(row.path, body).bearer(&alice);
            cases.push((FailureMode::None, existing, 200));
        }
        if row.method == "GET" {
            // A response without an etag is not conditional.
            let is_message = row.template == "/messages/{messageId}";
            let status = if is_message { 200 } else { 304 };
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
            sent.insert(outcome(&response));
        }
        server.board.set_mode(FailureMode::None);
        server.board.set_offline(true);
        let offline = server.send(&Request::of(row).bearer(&alice)).await;
        check(&document, row, &offline);
        sent.insert(outcome(&offline));
        assert_eq!(sent, documented(&document, row), "{row:?}");
        server.board.set_offline(false);
    }
}

#[tokio::test]
async fn the_fields_of_a_board_are_sent_unchanged() {
    let (server, alice) = Server::with_alice().await;
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
        let json = response.json();
        let extra = json.pointer(&format!("{resource}/extra"));
        assert_eq!(extra, Some(&json!({ "score": 12 })), "{path}");
    }
}
