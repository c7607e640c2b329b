//! The OpenAPI document of both surfaces against the table of endpoints (`docs/protocol.md`, section 14).

use forum_api::Environment;
use forum_api::metrics::ALL;
use forum_api::runtime::TokioRuntime;
use std::collections::BTreeSet;

use forum_api::scope::Surface;
use serde_json::{Map, Value, json};

use crate::support::rows::{COMPACT_SCOPES, FULL_SCOPES, rows};
use crate::support::schema::{check, resolve_ref};
use crate::support::server::settings;
use crate::support::{Ask, ROWS, Row, Server};

const BOTH: [Surface; 2] = [Surface::Full, Surface::Compact];

/// The codes of the smaller surface; the full one has those of [`FULL_CODES`] too.
const COMPACT_CODES: [&str; 8] = [
    "bad_request",
    "unauthenticated",
    "missing_scope",
    "owner_unavailable",
    "no_such_route",
    "rate_limited",
    "internal_error",
    "not_implemented",
];

const FULL_CODES: [&str; 7] = [
    "not_found",
    "board_offline",
    "FORBIDDEN",
    "NOT_FOUND",
    "CONFLICT",
    "VALIDATION",
    "RATE_LIMITED",
];

async fn document(surface: Surface) -> Value {
    let answer = Server::on(surface).send(&Ask::get("/openapi.json")).await;
    assert_eq!(answer.status, 200);
    answer.json()
}

fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().unwrap()
}

fn keys(value: &Value) -> BTreeSet<&str> {
    object(value).keys().map(String::as_str).collect()
}

fn operation<'a>(document: &'a Value, row: &Row) -> &'a Value {
    &document["paths"][row.template][row.method.to_lowercase()]
}

#[tokio::test]
async fn it_says_what_the_table_says() {
    for surface in BOTH {
        let document = document(surface).await;
        assert_eq!(document["openapi"], "3.1.0");
        let listed = object(&document["paths"])
            .values()
            .flat_map(|path| keys(path));
        let listed = listed.filter(|key| *key != "x-route").count();
        assert_eq!(listed, rows(surface).count());
        for row in rows(surface) {
            let operation = operation(&document, row);
            let bearer = json!({ "bearerAuth": [] });
            let security = if row.needs_token {
                json!([bearer])
            } else {
                json!([{}, bearer])
            };
            assert_eq!(operation["x-scope"], row.scope, "{row:?}");
            assert_eq!(operation["x-ratelimit-cost"], row.cost, "{row:?}");
            assert_eq!(operation["security"], security, "{row:?}");
            assert_eq!(
                operation.get("requestBody").is_some(),
                !row.body.is_empty(),
                "{row:?}"
            );
            let statuses = keys(&operation["responses"]);
            assert!(statuses.contains(&*row.success.to_string()), "{row:?}");
            for status in ["400", "401", "403", "429", "500", "501"] {
                assert!(statuses.contains(status), "{status} {row:?}");
            }
            let variables = row.template.matches('{').count();
            let parameters = operation["parameters"].as_array().unwrap().iter();
            assert_eq!(
                parameters
                    .filter(|parameter| parameter["in"] == "path")
                    .count(),
                variables
            );
        }
        let names: BTreeSet<_> = rows(surface)
            .map(|row| operation(&document, row)["operationId"].to_string())
            .collect();
        assert_eq!(
            names.len(),
            rows(surface).count(),
            "each has a name of its own"
        );
    }
}

/// Every operation whose body has the field `subscribe` says what that needs.
#[tokio::test]
async fn it_says_which_scope_subscribe_needs() {
    for (surface, scope) in [
        (Surface::Full, json!({ "subscribe": "subscriptions:write" })),
        (Surface::Compact, Value::Null),
    ] {
        let document = document(surface).await;
        let mut found = 0;
        for row in rows(surface).filter(|row| row.method == "POST") {
            let operation = operation(&document, row);
            let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
            let pointer = schema["$ref"].as_str().unwrap().trim_start_matches('#');
            let properties = &document.pointer(pointer).unwrap()["properties"];
            let description = operation["description"].as_str().unwrap();
            let has_field = properties.get("subscribe").is_some();
            assert_eq!(
                description.contains("`subscribe: true`"),
                has_field,
                "{row:?}"
            );
            if has_field {
                assert_eq!(operation["x-field-scopes"], scope, "{row:?}");
                found += 1;
            }
        }
        assert_eq!(found, if surface == Surface::Full { 2 } else { 1 });
    }
}

#[tokio::test]
async fn the_surfaces_know_13_and_8_scopes_and_15_and_8_codes() {
    let full_codes = COMPACT_CODES.into_iter().chain(FULL_CODES).collect();
    for (surface, scopes, codes) in [
        (Surface::Full, BTreeSet::from(FULL_SCOPES), full_codes),
        (
            Surface::Compact,
            BTreeSet::from(COMPACT_SCOPES),
            BTreeSet::from(COMPACT_CODES),
        ),
    ] {
        let document = document(surface).await;
        assert_eq!(keys(&document["info"]["x-scopes"]), scopes);
        assert_eq!(keys(&document["info"]["x-errors"]), codes);
    }
}

#[tokio::test]
async fn the_smaller_one_has_colon_routes_and_lists_no_other_code() {
    let (full, compact) = (
        document(Surface::Full).await,
        document(Surface::Compact).await,
    );
    for row in rows(Surface::Compact) {
        let route = row.template.replace('{', ":").replace('}', "");
        assert_eq!(compact["paths"][row.template]["x-route"], route);
        let responses = &operation(&compact, row)["responses"];
        assert!(responses.get("default").is_some(), "{row:?}");
        assert!(responses.get("404").is_none() && responses.get("503").is_none());
    }
    assert!(!full.to_string().contains("x-route"));
    let text = compact.to_string();
    for code in FULL_CODES {
        assert!(
            !text.contains(&format!("\"{code}\"")) && !text.contains(&format!("`{code}`")),
            "{code}"
        );
    }
    for scope in FULL_SCOPES
        .iter()
        .filter(|scope| !COMPACT_SCOPES.contains(scope))
    {
        assert!(!text.contains(&format!("\"{scope}\"")), "{scope}");
    }
}

#[tokio::test]
async fn it_tells_where_it_is_mounted_and_is_the_one_that_the_command_prints() {
    for surface in BOTH {
        let environment = Environment::new(TokioRuntime)
            .surface(surface)
            .public_origin("https://board.example");
        let server = Server::within(environment.clone(), settings());
        let served = server.send(&Ask::get("/openapi.json")).await.json();
        assert_eq!(
            served["servers"],
            json!([{ "url": "https://board.example/api/v1" }])
        );
        assert_eq!(
            served,
            forum_api::openapi_document(&settings(), &environment)
        );
    }
}

/// No field is left out, and none is there that the schema does not know.
#[tokio::test]
async fn answers_have_exactly_the_fields_of_their_schemas() {
    let server = Server::new();
    let document = document(Surface::Full).await;
    let alice = server.token("alice").await;
    for row in ROWS.iter().filter(|row| row.success != 204) {
        let answer = server.send(&Ask::of(row).bearer(&alice)).await.json();
        let content = &operation(&document, row)["responses"][row.success.to_string()]["content"];
        compare(&document, content, &answer, row);
    }
    let refused = server.send(&Ask::get("/me")).await.json();
    let response = resolve_ref(
        &document,
        &operation(&document, &ROWS[0])["responses"]["401"],
    );
    compare(&document, &response["content"], &refused, &ROWS[0]);
}

fn compare(document: &Value, content: &Value, found: &Value, row: &Row) {
    let checked = check(document, &content["application/json"]["schema"], found);
    checked.unwrap_or_else(|reason| panic!("{row:?}: {reason}"));
}

#[tokio::test]
async fn examples_of_tokens_are_placeholders() {
    for surface in BOTH {
        let document = document(surface).await.to_string();
        let mut tokens = document.split("forum_pat_").skip(1);
        assert!(tokens.all(|after| after.starts_with('<')));
    }
}

#[tokio::test]
async fn the_protocol_lists_all_codes_scopes_topics_and_metrics() {
    let protocol = include_str!("../../docs/protocol.md");
    let document = document(Surface::Full).await;
    let info = &document["info"];
    let codes = object(&info["x-errors"]).iter();
    let codes = codes.map(|(code, error)| format!("\n| {} | `{code}` |", error["status"]));
    let names = keys(&info["x-scopes"])
        .into_iter()
        .chain(keys(&document["webhooks"]))
        .chain(ALL.iter().map(|metric| metric.name));
    let names = names.map(|name| format!("\n| `{name}` |"));
    for row in codes.chain(names) {
        assert!(protocol.contains(&row), "{row}");
    }
}
