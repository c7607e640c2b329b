//! Tools of the Model Context Protocol (`docs/protocol.md`, section 15).

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::atomic::AtomicBool;
use std::task::{Context, Poll};

use bytes::Bytes;
use forum_api::mcp::McpServer;
use forum_test_support::body_in_parts::BodyInParts;
use forum_test_support::endless_body::EndlessBody;
use http::HeaderValue;
use http_body::{Frame, SizeHint};
use http_body_util::Full;
use serde_json::Map;

use crate::bodies::null_cases;
use crate::support::server::{read, short_timeout};
use crate::support::*;

const MODERN: &str = "2026-07-28";

/// An MCP client.
pub(crate) struct Agent {
    server: McpServer,
    document: Value,
    token: Option<String>,
}

impl Agent {
    pub(crate) fn new(server: &Server, token: Option<&str>) -> Self {
        Self {
            server: McpServer::new(&server.api).unwrap(),
            document: server.api.openapi(),
            token: token.map(str::to_owned),
        }
    }

    /// Creates a server, and an agent with a token of alice.
    async fn of_alice() -> (Server, Self) {
        let (server, alice) = Server::with_alice().await;
        let agent = Self::new(&server, Some(&alice));
        (server, agent)
    }

    pub(crate) async fn send(
        &self,
        method: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> TestResponse {
        let mut request = http::Request::builder().method(method).uri("/mcp");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let body = Full::new(Bytes::from(body.to_owned()));
        let request = request.body(body).unwrap();
        read(self.server.respond(request).await).await
    }

    async fn post(&self, body: &str) -> TestResponse {
        let json = ("content-type", "application/json");
        self.send("POST", &[json], body).await
    }

    pub(crate) async fn request(&self, method: &str, params: Value) -> TestResponse {
        let message = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        self.post(&message.to_string()).await
    }

    pub(crate) async fn call(&self, name: &str, arguments: Value) -> TestResponse {
        let params = json!({ "name": name, "arguments": arguments });
        self.request("tools/call", params).await
    }

    /// Calls a tool with arguments that are sent as they are.
    async fn call_json(
        &self,
        name: &str,
        arguments: &str,
        headers: &[(&str, &str)],
    ) -> TestResponse {
        let params = format!(r#"{{"name":"{name}","arguments":{arguments}}}"#);
        let message =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        let headers = [&[("content-type", "application/json")], headers].concat();
        self.send("POST", &headers, &message).await
    }

    async fn tools(&self) -> Vec<Value> {
        let mut response = self.request("tools/list", json!({})).await.json();
        serde_json::from_value(response["result"]["tools"].take()).unwrap()
    }

    async fn names(&self) -> Vec<String> {
        let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
        self.tools().await.iter().map(name).collect()
    }

    fn name(&self, row: &Row) -> String {
        let operation = &self.document["paths"][row.template][row.method.to_lowercase()];
        operation["operationId"].as_str().unwrap().to_owned()
    }

    /// Sends the request of a row to another path as a tool call.
    async fn call_at(&self, row: &Row, path: &str) -> TestResponse {
        self.call(&self.name(row), arguments(row, path)).await
    }
}

/// Returns the arguments of a row's request to a path.
fn arguments(row: &Row, path: &str) -> Value {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let body = serde_json::from_str(row.body).unwrap_or_default();
    let mut arguments: Map<String, Value> = body;
    for (name, value) in row.template.split('/').zip(path.split('/')) {
        if let Some(name) = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
            arguments.insert(name.into(), value.into());
        }
    }
    for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
        arguments.insert(name.into(), value.into());
    }
    arguments.into()
}

/// Returns the error code of a refused call.
fn code(response: &TestResponse) -> Option<String> {
    assert_eq!(response.status, 200);
    let result = &response.json()["result"];
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str()?).unwrap();
    assert_eq!(text, result["structuredContent"]);
    assert_eq!(result["isError"], text.get("error").is_some());
    Some(text["error"]["code"].as_str()?.to_owned())
}

fn rpc_error(response: &TestResponse) -> (u16, i64) {
    let error = &response.json()["error"]["code"];
    (response.status, error.as_i64().unwrap())
}

/// Fails unless the response is an error of the protocol with this status, code and message, and without data.
#[track_caller]
fn assert_rpc_error(response: &TestResponse, (status, code): (u16, i64), text: &str) {
    assert_eq!(response.status, status, "{response:?}");
    assert_eq!(response.json()["error"], json!({ "code": code, "message": text }));
}

/// Returns the body without the parts that differ between equal requests.
fn comparable(mut body: Value) -> Value {
    if let Some(error) = body.get_mut("error").and_then(Value::as_object_mut) {
        error.remove("requestId");
    }
    body
}

fn names_of_headers(response: &TestResponse) -> BTreeSet<&str> {
    response.headers.keys().map(AsRef::as_ref).collect()
}

#[tokio::test]
async fn a_tool_call_is_one_request_for_every_operation() {
    for surface in [Surface::Full, Surface::Compact] {
        for row in rows(surface) {
            let direct = Server::on(surface);
            let other = Server::on(surface);
            let token = other.token("alice").await;
            let agent = Agent::new(&other, Some(&token));
            let token = direct.token("alice").await;
            let expected = direct.send(&Request::of(row).bearer(&token)).await;

            let found = agent.call_at(row, row.path).await;
            assert_eq!(code(&found), None, "{row:?}");
            let body = found.json()["result"]["structuredContent"].clone();
            let expected_body = match row.success {
                204 => json!({}),
                _ => expected.json(),
            };
            assert_eq!(body, expected_body, "{row:?}");
            let mut headers = names_of_headers(&expected);
            for header in ["etag", "link", "location"] {
                headers.remove(header);
            }
            headers.extend(["content-length", "content-type"]);
            assert_eq!(names_of_headers(&found), headers, "{row:?}");
            for header in ["cache-control", "x-ratelimit-cost", "x-ratelimit-remaining"] {
                assert_eq!(found.header(header), expected.header(header), "{row:?}");
            }
            assert_eq!(found.header("content-type"), Some("application/json"));
            assert_eq!(number(&found, "content-length"), found.body.len() as i64);

            other.api.flush_usage().await.unwrap();
            let usage = &other.stores.usage;
            let counts = usage.most_used_tokens(Default::default(), 9).await.unwrap();
            let [(_, counts)] = &counts[..] else {
                panic!("{row:?}");
            };
            let counted = (counts.requests, counts.units);
            assert_eq!(counted, (1, row.cost.into()), "{row:?}");
            let usage = &other.stores.usage;
            let operations = usage.usage_by_operation(Default::default()).await.unwrap();
            assert_eq!(operations[0].0, Some(agent.name(row)), "{row:?}");
        }
    }
}

#[tokio::test]
async fn refusals_are_those_of_the_api_for_every_operation() {
    let server = Server::new();
    let member = server.token("alice").await;
    for row in rows(Surface::Full) {
        let others = FULL_SCOPES.into_iter().filter(|scope| *scope != row.scope);
        let restricted = server.token_with("alice", &others.collect::<Vec<_>>()).await;
        let hidden = row.path.replace("open", "staff");
        let absent = row.path.replace("open", "absent");
        for (token, path) in [
            (None, row.path),
            (Some(&restricted), row.path),
            (Some(&member), &hidden),
            (Some(&member), &absent),
        ] {
            let agent = Agent::new(&server, token.map(String::as_str));
            let request = Request::at(row, path).maybe_bearer(token);
            let expected = server.send(&request).await;
            let found = agent.call_at(row, path).await;
            if expected.status == 401 {
                assert_eq!(outcome(&found), outcome(&expected));
                assert_eq!(found.header("www-authenticate"), Some("Bearer"));
            } else if expected.status >= 400 {
                assert_eq!(found.header("www-authenticate"), None, "{row:?}");
                if token == Some(&restricted) {
                    let scope = row.scope;
                    let challenge =
                        format!(r#"Bearer error="insufficient_scope", scope="{scope}""#);
                    assert_eq!(expected.header("www-authenticate"), Some(&*challenge));
                    assert!(message(&expected).ends_with(row.scope), "{row:?}");
                }
                let found = found.json()["result"]["structuredContent"].clone();
                let mut body = expected.json();
                body["error"]["reason"] = expected.header("x-error-reason").into();
                body["error"]["field"] = expected.header("x-error-field").into();
                assert_eq!(comparable(found), comparable(body), "{row:?} {path}");
            } else {
                assert_eq!(code(&found), None, "{row:?} {path}");
            }
        }
    }
}

#[tokio::test]
async fn tools_are_those_that_the_caller_can_call() {
    let server = Server::new();
    let token = server.token("alice").await;
    let all = Agent::new(&server, Some(&token));
    let response = all.request("tools/list", json!({})).await;
    let length = response.body.len();
    assert_eq!(response.header("cache-control"), Some("no-store"));
    let expected: Vec<_> = rows(Surface::Full).map(|row| all.name(row)).collect();
    assert!(length < 2_000 * expected.len(), "{length}");
    assert_eq!(all.names().await, expected);

    let guest = Agent::new(&server, None);
    let permitted = rows(Surface::Full).filter(|row| !row.needs_token);
    let expected: Vec<_> = permitted.map(|row| guest.name(row)).collect();
    assert_eq!(guest.names().await, expected);

    for scope in FULL_SCOPES {
        let token = server.token_with("alice", &[scope]).await;
        let agent = Agent::new(&server, Some(&token));
        let permitted = rows(Surface::Full).filter(|row| row.scope == scope);
        let expected: Vec<_> = permitted.map(|row| agent.name(row)).collect();
        assert_eq!(agent.names().await, expected, "{scope}");
    }
}

#[tokio::test]
async fn the_error_of_a_tool_has_its_reason_and_field() {
    let (server, agent) = Agent::of_alice().await;
    let arguments = |body: &str| json!({ "threadId": "open-1", "body": body });
    server.board.fail_with(|| BoardError::validation("body", "No.").with_reason("too_long"));
    let refused = agent.call("createPost", arguments("Green.")).await;
    assert_eq!(code(&refused).as_deref(), Some("VALIDATION"));
    let error = &refused.json()["result"]["structuredContent"]["error"];
    assert_eq!((&error["reason"], &error["field"]), (&json!("too_long"), &json!("body")));
    assert_eq!(error.as_object().unwrap().len(), 5);
    let headers = ["x-error-reason", "x-error-field"].map(|name| refused.header(name));
    assert_eq!(headers, [None, None]);
    server.board.set_mode(FailureMode::None);
    for (operation, arguments, field) in [
        ("getThread", json!({ "threadId": "staff-1" }), Value::Null),
        ("listPosts", json!({ "threadId": "open-1", "limit": 0 }), json!("limit")),
        ("createPost", json!({ "threadId": "open-1", "body": 7 }), json!("body")),
        (
            "createPost",
            json!({ "threadId": "open-1", "body": "x", "idempotencyKey": "a b" }),
            json!("idempotencyKey"),
        ),
    ] {
        let refused = agent.call(operation, arguments).await;
        let error = &refused.json()["result"]["structuredContent"]["error"];
        assert_eq!((&error["reason"], &error["field"]), (&Value::Null, &field), "{error}");
    }
}

#[tokio::test]
async fn a_tool_describes_its_operation() {
    let (_, agent) = Agent::of_alice().await;
    let tools = agent.tools().await;
    for row in rows(Surface::Full) {
        let name = agent.name(row);
        let tool = tools.iter().find(|tool| tool["name"] == *name).unwrap();
        let input = &tool["inputSchema"];
        let properties = input["properties"].as_object().unwrap();
        for argument in arguments(row, row.path).as_object().unwrap().keys() {
            assert!(properties.contains_key(argument), "{name} {argument}");
        }
        let is_post = row.method == "POST";
        assert_eq!(properties.contains_key("idempotencyKey"), is_post, "{name}");
        assert_eq!(input["type"], "object");
        assert_eq!(tool.get("outputSchema").is_none(), row.success == 204);
        // Hosts check results, which can have the values of a later version.
        assert!(!tool["outputSchema"].to_string().contains("\"enum\""), "{name}");
        let annotations = &tool["annotations"];
        let is_read = row.method == "GET" && name != "openMessage";
        assert_eq!(annotations["readOnlyHint"], is_read, "{name}");
        let is_destructive = row.method == "DELETE" || row.method == "PATCH";
        assert_eq!(annotations["destructiveHint"], is_destructive, "{name}");
        assert_eq!(annotations["openWorldHint"], false);
        let is_list = properties.contains_key("after");
        let description = tool["description"].as_str().unwrap();
        assert_eq!(description.contains("`next`"), is_list, "{name}");
        assert_references(tool, tool);
    }
}

/// Fails if a schema of a tool refers to something outside of it.
fn assert_references(tool: &Value, part: &Value) {
    match part {
        Value::Array(items) => items.iter().for_each(|item| assert_references(tool, item)),
        Value::Object(fields) => {
            if let Some(name) = fields.get("$ref").and_then(Value::as_str) {
                let name = name.strip_prefix('#').unwrap();
                let schemas = [&tool["inputSchema"], &tool["outputSchema"]];
                assert!(schemas.iter().any(|schema| schema.pointer(name).is_some()));
            }
            fields.values().for_each(|value| assert_references(tool, value));
        }
        _ => {}
    }
}

#[tokio::test]
async fn a_repeated_key_takes_effect_once() {
    let (_, agent) = Agent::of_alice().await;
    let call = async |arguments: &str| agent.call_json("createPost", arguments, &[]).await;
    let first =
        call(r#"{"threadId":"open-1","body":"Green.","subscribe":false,"idempotencyKey":"k"}"#)
            .await;
    let second =
        call(r#"{"idempotencyKey":"k","subscribe":false,"body":"Green.","threadId":"open-1"}"#)
            .await;
    assert_eq!(code(&first), None);
    assert_eq!(first.json(), second.json());
    assert_eq!(second.header("idempotency-replayed"), Some("true"));
    let other = call(r#"{"threadId":"open-1","body":"Black.","idempotencyKey":"k"}"#).await;
    assert_eq!(code(&other).as_deref(), Some("CONFLICT"));
    let invalid = call(r#"{"threadId":"open-1","body":"Black.","idempotencyKey":"a key"}"#).await;
    assert_eq!(code(&invalid).as_deref(), Some("bad_request"));

    let by_header = async |key: &str, arguments: &str| {
        let key = ("idempotency-key", key);
        agent.call_json("createPost", arguments, &[key]).await
    };
    let reply = r#"{"threadId":"open-1","body":"Green.","subscribe":false}"#;
    let replayed = by_header("k", reply).await;
    assert_eq!(first.json(), replayed.json());
    assert_eq!(replayed.header("idempotency-replayed"), Some("true"));
    let same = r#"{"threadId":"open-1","body":"Green.","subscribe":false,"idempotencyKey":"k"}"#;
    let both = by_header("k", same).await;
    assert_eq!(both.header("idempotency-replayed"), Some("true"));
    for (key, arguments) in [("other", same), ("a key", reply)] {
        let refused = by_header(key, arguments).await;
        assert_eq!(code(&refused).as_deref(), Some("bad_request"), "{key}");
    }
}

#[tokio::test]
async fn a_call_beyond_the_budget_is_refused() {
    let mut settings = ApiSettings::default();
    settings.token_budget.units = 3;
    let server = Server::with(settings);
    let token = server.token("alice").await;
    let agent = Agent::new(&server, Some(&token));
    assert_eq!(agent.request("initialize", json!({})).await.status, 200);
    assert_eq!(agent.names().await.len(), ROWS.len());
    assert_eq!(code(&agent.call("getMe", json!({})).await), None);
    let refused = agent.call("getMe", json!({})).await;
    assert_eq!(outcome(&refused), RATE_LIMITED);
    assert!(refused.header("retry-after").is_some());
    let list = agent.request("tools/list", json!({})).await;
    assert_eq!(outcome(&list), RATE_LIMITED);

    // The first unit is charged before the message is read, the rest of the cost afterwards.
    let token = server.token("alice").await;
    let agent = Agent::new(&server, Some(&token));
    let reply = json!({ "threadId": "open-1", "body": "Green." });
    let refused = agent.call("createPost", reply).await;
    assert_eq!(code(&refused).as_deref(), Some("rate_limited"));
    assert_eq!(number(&refused, "x-ratelimit-cost"), 1);
    assert_eq!(number(&refused, "x-ratelimit-remaining"), 2);
    let id = refused.json()["result"]["structuredContent"]["error"]["requestId"].clone();
    assert_eq!(refused.header("x-request-id"), id.as_str());
    assert!(refused.header("retry-after").is_some());
}

#[tokio::test]
async fn an_invalid_token_is_the_same_401() {
    let server = Server::new();
    for token in server.invalid_tokens().await {
        let expected = server.send(&Request::get("/me").bearer(&token)).await;
        let agent = Agent::new(&server, Some(&token));
        let ping = agent.request("ping", json!({})).await;
        let tool = agent.call("getMe", json!({})).await;
        for found in [ping, tool] {
            assert_eq!(outcome(&found), outcome(&expected));
            assert_eq!(comparable(found.json()), comparable(expected.json()));
            assert_eq!(found.header("www-authenticate"), Some("Bearer"));
        }
    }
}

/// As in a request, the token and its scope are checked before the body.
#[tokio::test]
async fn a_call_with_invalid_arguments_needs_the_token_and_the_scope_of_its_tool() {
    let server = Server::new();
    let guest = Agent::new(&server, None);
    let found = guest.call("createPost", json!({})).await;
    assert_eq!(outcome(&found), UNAUTHENTICATED);
    assert_eq!(found.header("www-authenticate"), Some("Bearer"));
    let found = guest.call("getThread", json!({})).await;
    assert_eq!(code(&found).as_deref(), Some("bad_request"));
    let restricted = server.token_with("alice", &["forums:read"]).await;
    let agent = Agent::new(&server, Some(&restricted));
    for name in ["createPost", "getThread"] {
        let found = agent.call(name, json!({})).await;
        assert_eq!(code(&found).as_deref(), Some("missing_scope"), "{name}");
    }
}

#[tokio::test]
async fn malformed_messages_are_errors_of_the_protocol() {
    const NO_JSON: &str = "the message is not JSON";
    const NO_REQUEST: &str = "the message is not a request of JSON-RPC 2.0";
    const NO_VERSION: &str = "`jsonrpc` is not \"2.0\"";
    const NO_ID: &str = "`id` is neither a string nor a number";
    const WRONG_TYPE: &str = "`params` has a value of the wrong type";
    const UNKNOWN_TOOL: &str = "Unknown tool: `tools/list` returns the tools";
    let (_, agent) = Agent::of_alice().await;
    for (body, expected, text) in [
        ("", (400, -32700), NO_JSON),
        ("{", (400, -32700), NO_JSON),
        ("\u{feff}{}", (400, -32700), NO_JSON),
        ("null", (400, -32600), NO_REQUEST),
        ("{}", (400, -32600), NO_VERSION),
        (" []", (400, -32600), "batches are not supported"),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, (400, -32600), NO_VERSION),
    ] {
        assert_rpc_error(&agent.post(body).await, expected, text);
    }
    let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep = format!(r#""id":1,"method":"ping","params":{nested}"#);
    for (fields, expected, text) in [
        (r#""id":1"#, (400, -32600), "`method` is missing"),
        (r#""id":null,"method":"ping""#, (400, -32600), NO_ID),
        (r#""id":{},"method":"ping""#, (400, -32600), NO_ID),
        (r#""id":1,"method":5"#, (400, -32600), NO_REQUEST),
        (r#""id":1,"method":"tools/drop""#, (200, -32601), "Method not found"),
        (r#""id":1,"method":"ping","params":[]"#, (200, -32602), WRONG_TYPE),
        (&deep, (200, -32602), WRONG_TYPE),
        (r#""id":1,"method":"tools/call""#, (200, -32602), UNKNOWN_TOOL),
        (r#""id":1,"method":"tools/call","params":{"name":7}"#, (200, -32602), WRONG_TYPE),
        (r#""id":1,"method":"tools/call","params":{"name":"drop"}"#, (200, -32602), UNKNOWN_TOOL),
    ] {
        let body = format!(r#"{{"jsonrpc":"2.0",{fields}}}"#);
        assert_rpc_error(&agent.post(&body).await, expected, text);
    }
    for arguments in [json!([]), json!("open-1")] {
        let found = agent.call("getThread", arguments).await;
        assert_rpc_error(&found, (200, -32602), "`arguments` is not an object");
    }
    for id in ["", "a/b"] {
        let found = agent.call("getThread", json!({ "threadId": id })).await;
        assert_eq!(code(&found).as_deref(), Some("not_found"), "{id}");
    }
    // A model can correct an error that is a result. An error of the protocol ends the run of many clients.
    for (name, arguments, expected) in [
        ("getThread", json!({}), "threadId: required"),
        (
            "search",
            json!({ "q": "tea", "forum": ["open"] }),
            "forum: expected a text, a number, true or false",
        ),
        ("search", json!({ "q": "tea".repeat(30_000) }), "arguments: expected shorter arguments"),
        (
            "createPost",
            json!({ "threadId": "open-1", "body": "x", "idempotencyKey": "\n" }),
            "idempotencyKey: expected 1 to 64 visible ASCII characters",
        ),
    ] {
        let found = agent.call(name, arguments).await;
        assert_eq!(code(&found).as_deref(), Some("bad_request"), "{name}");
        let error = &found.json()["result"]["structuredContent"]["error"];
        assert_eq!(error["message"], expected);
    }
    for (name, arguments) in [
        ("listForums", json!({ "unknown": 1 })),
        ("listForums", json!({ "unknown": null })),
        ("deletePost", json!({ "threadId": "open-1", "postId": "open-1-2", "unknown": null })),
        ("listThreads", json!({ "forumId": "open", "limit": "many" })),
        ("listThreads", json!({ "forumId": "open", "after": "x" })),
        ("createPost", json!({ "threadId": "open-1", "body": 7 })),
        ("createPost", json!({ "threadId": "open-1", "body": "x", "unknown": 1 })),
        ("createPost", json!({ "threadId": "open-1", "body": "x".repeat(1 << 20) })),
    ] {
        let found = agent.call(name, arguments).await;
        assert_eq!(code(&found).as_deref(), Some("bad_request"), "{name}");
    }
    let long = agent.call("createPost", json!({ "body": "x".repeat(2 << 20) })).await;
    assert_rpc_error(&long, (413, -32600), "the message is too long");
}

#[tokio::test]
async fn arguments_are_encoded_in_the_path_and_the_query() {
    let (_, agent) = Agent::of_alice().await;
    for id in ["?x=1", "#", "%2f", "..", "é ", "a&b"] {
        let found = agent.call("getThread", json!({ "threadId": id })).await;
        assert_eq!(code(&found).as_deref(), Some("not_found"), "{id}");
    }
    for q in ["tea & bread", "a=b", "100%", "é+", "tea#"] {
        let found = agent.call("search", json!({ "q": q, "limit": 1 })).await;
        assert_eq!(code(&found), None, "{q}");
    }
    let null = agent.call("search", json!({ "q": "tea", "after": null })).await;
    assert_eq!(code(&null), None);
}

#[tokio::test]
async fn each_request_costs_at_least_one_unit() {
    let server = Server::new();
    let mut agent = Agent::new(&server, None);
    let json = ("content-type", "application/json");
    let batch = r#"[{"jsonrpc":"2.0","method":"notifications/initialized"}]"#;
    let notification = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let unknown = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"drop"}}"#;
    let me = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"getMe"}}"#;
    let long = "x".repeat(65 * 1024);
    let cases = [
        ("POST", None, json, notification, 202),
        ("POST", None, json, batch, 400),
        ("POST", None, json, "{", 400),
        ("POST", None, json, &*long, 413),
        ("POST", None, json, list, 200),
        ("POST", None, json, unknown, 200),
        ("POST", None, json, me, 401),
        ("POST", Some("bad"), json, notification, 401),
        ("POST", Some("bad"), json, batch, 401),
        ("POST", None, ("content-type", "text/plain"), list, 415),
        ("GET", None, json, "", 405),
        ("POST", None, ("origin", "https://other.example"), list, 403),
    ];
    let units = i64::from(settings().guest_budget.units);
    for (sent, (method, token, header, body, status)) in (1..).zip(cases) {
        agent.token = token.map(str::to_owned);
        let response = agent.send(method, &[header], body).await;
        assert_eq!(response.status, status, "{body}");
        let remaining = number(&response, "x-ratelimit-remaining");
        assert_eq!(remaining, units - sent, "{method} {header:?} {body}");
        assert_eq!(number(&response, "x-ratelimit-cost"), 1, "{method} {header:?} {body}");
        assert!(response.header("x-request-id").is_some());
    }
}

/// A body that notes whether it was read, with its announced length.
struct ObservedBody {
    bytes: Option<Bytes>,
    len: Option<u64>,
    is_read: Arc<AtomicBool>,
}

impl http_body::Body for ObservedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.is_read.store(true, Ordering::Relaxed);
        Poll::Ready(self.bytes.take().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn size_hint(&self) -> SizeHint {
        self.len.map_or(SizeHint::default(), SizeHint::with_exact)
    }
}

#[tokio::test]
async fn a_refused_head_leaves_the_body_unread() {
    let mut three_units = settings();
    three_units.guest_budget.units = 3;
    three_units.token_budget.units = 3;
    let budget = three_units.token_budget;
    let server = Server::with(three_units);
    let token = server.token("alice").await;
    let exhausted = server.token("alice").await;
    server.exhaust(&exhausted, budget).await;
    let agent = Agent::new(&server, None);
    let json = "application/json";
    let kib = 1024;
    for (method, token, content_type, len, expected, is_read) in [
        ("POST", Some(&*exhausted), json, Some(9), 429, false),
        ("POST", Some(&*exhausted), json, None, 429, false),
        ("POST", Some(&*token), json, Some(2048 * kib), 413, false),
        ("POST", Some(&*token), json, Some(1024 * kib), 400, true),
        ("POST", Some(&*token), json, Some(9), 429, false),
        ("POST", None, json, Some(65 * kib), 413, false),
        ("POST", None, json, Some(64 * kib), 400, true),
        ("POST", None, json, None, 413, true),
        ("POST", None, json, Some(9), 429, false),
        ("POST", Some("bad"), json, Some(9), 401, false),
        ("POST", None, "text/plain", Some(9), 415, false),
        ("PUT", None, json, Some(9), 405, false),
    ] {
        let body = ObservedBody {
            bytes: Some(Bytes::from(vec![b'x'; len.unwrap_or(65 * kib) as usize])),
            len,
            is_read: Arc::default(),
        };
        let read_flag = Arc::clone(&body.is_read);
        let mut request = http::Request::builder()
            .method(method)
            .uri("/mcp")
            .header("content-type", content_type);
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let request = request.body(body).unwrap();
        let response = agent.server.respond(request).await;
        let case = format!("{method} {token:?} {len:?}");
        assert_eq!(response.status(), expected, "{case}");
        assert_eq!(read_flag.load(Ordering::Relaxed), is_read, "{case}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_endless_message_is_a_400() {
    let server = Server::with(short_timeout());
    let agent = Agent::new(&server, None);
    let body = EndlessBody::default();
    let request = http::Request::post("/mcp").header("content-type", "application/json");
    let response = read(agent.server.respond(request.body(body.clone()).unwrap()).await).await;
    assert_eq!(outcome(&response), BAD_REQUEST);
    let expected = "body: expected a complete body before the request timeout";
    assert_eq!(message(&response), expected);
    assert!(body.was_polled());
}

#[tokio::test]
async fn a_message_in_too_many_parts_is_a_400() {
    let server = Server::new();
    let agent = Agent::new(&server, None);
    let message = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping"}}{}"#, " ".repeat(20_000));
    for (part_len, expected) in [(1, 400), (64, 200)] {
        let body = BodyInParts::new(&message, part_len);
        let request = http::Request::post("/mcp").header("content-type", "application/json");
        let response = read(agent.server.respond(request.body(body).unwrap()).await).await;
        assert_eq!(response.status, expected, "parts of {part_len}");
        if expected == 400 {
            let text = "the message arrived in too many parts; send it in larger chunks";
            assert_rpc_error(&response, (400, -32600), text);
        }
    }
}

#[tokio::test]
async fn whole_numbers_have_each_form_of_json_schema() {
    let (server, agent) = Agent::of_alice().await;
    let call = async |name: &str, arguments: String| agent.call_json(name, &arguments, &[]).await;
    for number in ["2", "2.0", "2e0", "0.2E1", "20e-1"] {
        let arguments = format!(r#"{{"threadId":"open-1","limit":{number}}}"#);
        let found = call("listPosts", arguments).await;
        assert_eq!(code(&found), None, "{number}");
        let items = &found.json()["result"]["structuredContent"]["items"];
        assert_eq!(items.as_array().unwrap().len(), 2, "{number}");
        let arguments = format!(r#"{{"userId":"bob","points":{number}}}"#);
        let rated = call("rateMember", arguments).await;
        assert_eq!(code(&rated), None, "{number}");
        assert!(server.board.last_call().contains("points: 2,"), "{number}");
        let found = call("getThread", format!(r#"{{"threadId":{number}}}"#)).await;
        assert_eq!(code(&found).as_deref(), Some("not_found"), "{number}");
        assert!(server.board.last_call().contains("(2)"), "{number}");
    }
    for number in ["2.5", "1e400", "-0.5"] {
        let arguments = format!(r#"{{"threadId":"open-1","limit":{number}}}"#);
        let found = call("listPosts", arguments).await;
        assert_eq!(code(&found).as_deref(), Some("bad_request"), "{number}");
    }
}

#[tokio::test]
async fn lists_and_objects_can_be_strings_with_their_json() {
    let (server, agent) = Agent::of_alice().await;
    for (name, arguments, expected) in [
        (
            "sendMessage",
            json!({ "to": " [\"bob\"] ", "subject": "[x]", "body": "{}" }),
            r#"NewMessage { to: [Id(UserId(bob))], subject: "[x]", body: "{}""#,
        ),
        (
            "vote",
            json!({ "pollId": "open-1", "optionIds": "[\"1\"]" }),
            "option_ids: [OptionId(1)]",
        ),
        (
            "updatePoll",
            json!({ "pollId": "open-1", "options": ["{\"text\":\"a\"}", { "text": "[b]" }] }),
            r#"[PollOptionUpdate { option_id: None, text: "a" }, PollOptionUpdate { option_id: None, text: "[b]" }]"#,
        ),
        (
            "createThread",
            json!({
                "forumId": "open",
                "title": "x",
                "body": "x",
                "poll": json!({ "question": "{}", "options": "[\"a\",\"[]\"]", "maxChoices": null }).to_string(),
            }),
            r#"NewPoll { question: "{}", options: ["a", "[]"], max_choices: 1"#,
        ),
    ] {
        let called = agent.call(name, arguments).await;
        assert_ne!(code(&called).as_deref(), Some("bad_request"), "{name}");
        let call = server.board.last_call();
        assert!(call.contains(expected), "{name} {call}");
    }
    for (name, arguments, expected) in [
        ("sendMessage", json!({ "to": "bob" }), "to: expected a list"),
        ("sendMessage", json!({ "to": "{}" }), "to: expected a list"),
        ("sendMessage", json!({ "to": "[\"bob\"" }), "to: expected a list"),
        ("sendMessage", json!({ "to": "[],\"subject\":\"x\"" }), "to: expected a list"),
        ("sendMessage", json!({ "to": "[1]" }), "to[0]: expected text"),
        ("createThread", json!({ "forumId": "open", "poll": "[]" }), "poll: expected an object"),
        (
            "createThread",
            json!({ "forumId": "open", "poll": "{\"a\":1,\"a\":2}" }),
            "poll.a: unknown field or parameter",
        ),
    ] {
        let refused = agent.call(name, arguments).await;
        let error = &refused.json()["result"]["structuredContent"]["error"];
        assert_eq!(error["message"], expected, "{name}");
    }
}

#[tokio::test]
async fn a_list_of_posts_has_their_source() {
    let (server, agent) = Agent::of_alice().await;
    for (body, expected) in
        [(json!(null), "Source"), (json!("html"), "Html"), (json!("both"), "Both")]
    {
        let arguments = json!({ "threadId": "open-1", "body": body, "sort": "newest" });
        assert_eq!(code(&agent.call("listPosts", arguments).await), None, "{expected}");
        let call = server.board.last_call();
        assert!(call.contains(&format!("sort: Newest, body: {expected}")), "{call}");
    }
    assert_eq!(code(&agent.call("listPosts", json!({ "threadId": "open-1" })).await), None);
    let call = server.board.last_call();
    assert!(call.contains("body: Source"), "{call}");
    let tools = agent.tools().await;
    let tool = tools.iter().find(|tool| tool["name"] == "listPosts").unwrap();
    let parameter = &tool["inputSchema"]["properties"]["body"];
    assert_eq!(parameter["default"], "source");
    assert!(parameter["description"].as_str().unwrap().ends_with("Default: `source`."));
}

/// The work for a call does not grow faster than its arguments: the first unknown or repeated one ends it.
#[tokio::test]
async fn a_call_has_at_most_10000_values() {
    let (server, agent) = Agent::of_alice().await;
    let numbers = |name: fn(usize) -> String, count: usize| {
        let fields: Vec<_> = (0..count).map(|index| format!("\"{}\":1", name(index))).collect();
        format!("{{{}}}", fields.join(","))
    };
    let unknown = |count| numbers(|index| format!("a{index:06}"), count);
    let repeated = |count| numbers(|_| "limit".into(), count);
    let many = "arguments: expected at most 10,000 JSON values";
    for (name, arguments, expected) in [
        ("listForums", unknown(9_000), "a000000: unknown field or parameter"),
        ("listForums", unknown(80_000), many),
        ("listMessages", repeated(9_000), "limit: given more than once"),
        ("listMessages", repeated(80_000), many),
        ("createPost", unknown(9_000), "threadId: required"),
        ("vote", format!(r#"{{"pollId":"1","optionIds":[{}1]}}"#, "1,".repeat(9_999)), many),
        (
            "vote",
            format!(r#"{{"pollId":"1","optionIds":"[{}1]"}}"#, "1,".repeat(9_999)),
            "body: expected at most 10,000 JSON values",
        ),
    ] {
        let refused = agent.call_json(name, &arguments, &[]).await;
        assert_eq!(code(&refused).as_deref(), Some("bad_request"), "{name}");
        let error = &refused.json()["result"]["structuredContent"]["error"];
        assert_eq!(error["message"], expected, "{name}");
    }
    assert!(server.board.calls().is_empty());
    let params = format!("[{}1]", "1,".repeat(10_000));
    let ping = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":{params}}}}}"#);
    assert_eq!(rpc_error(&agent.post(&ping).await), (400, -32600));
}

#[tokio::test]
async fn null_is_an_omitted_argument_that_no_schema_names() {
    let (server, agent) = Agent::of_alice().await;
    let tools = agent.tools().await;
    for row in rows(Surface::Full) {
        let name = agent.name(row);
        let tool = tools.iter().find(|tool| tool["name"] == *name).unwrap();
        let schema = &tool["inputSchema"];
        assert!(!schema.to_string().contains("null\""), "{schema}");
        let arguments = arguments(row, row.path);
        for case in null_cases(schema, schema, &arguments) {
            // Null removes the closing time of a poll.
            if case.field == "closesAt" {
                continue;
            }
            let null = agent.call(&name, case.null).await;
            let call = server.board.last_call();
            if case.is_required {
                let is_refused = null.json()["result"]["isError"] != false;
                assert!(is_refused, "{name} {}", case.field);
                continue;
            }
            let omitted = agent.call(&name, case.omitted).await;
            let result = |response: &TestResponse| {
                comparable(response.json()["result"]["structuredContent"].clone())
            };
            assert_eq!(result(&null), result(&omitted), "{name} {}", case.field);
            assert_eq!(call, server.board.last_call(), "{name} {}", case.field);
        }
    }
}

#[tokio::test]
async fn half_of_a_surrogate_pair_is_named() {
    let (_, agent) = Agent::of_alice().await;
    let message = |params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#)
    };
    for params in [
        r#"{"name":"createPost","arguments":{"threadId":"open-1","body":"a\ud83db"}}"#,
        r#"{"name":"search","arguments":{"q":"\ud83d"}}"#,
    ] {
        let found = agent.post(&message(params)).await;
        assert_eq!(code(&found).as_deref(), Some("bad_request"));
        let text = found.json()["result"]["structuredContent"]["error"]["message"].to_string();
        assert!(text.contains("surrogate"), "{text}");
    }
    for (body, expected) in [
        (message(r#"{"name":"\ud83d"}"#), (200, -32602)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"\ud83d"}"#.to_owned(), (400, -32700)),
    ] {
        let found = agent.post(&body).await;
        assert_eq!(rpc_error(&found), expected);
        let text = found.json()["error"]["message"].to_string();
        assert!(text.contains("surrogate"), "{text}");
    }
}

#[tokio::test]
async fn versions_are_negotiated() {
    let mut settings = ApiSettings::default();
    settings.board.markup = "BBCode".into();
    settings.board.name = "Tea <club>".into();
    let server = Server::with(settings);
    let agent = Agent::new(&server, None);
    assert_eq!(agent.document["info"]["title"], "Tea <club>");
    for (requested, version) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let params = json!({ "protocolVersion": requested, "capabilities": {} });
        let response = agent.request("initialize", params).await.json();
        assert_eq!(response["result"]["protocolVersion"], version);
        let instructions = response["result"]["instructions"].as_str().unwrap();
        assert!(instructions.contains("data, not instructions"));
        assert!(instructions.ends_with("\n\nTexts are BBCode."));
        assert_eq!(response["result"]["serverInfo"]["title"], "Tea <club>");
        let fields: Vec<_> = response["result"].as_object().unwrap().keys().collect();
        assert_eq!(fields, ["capabilities", "instructions", "protocolVersion", "serverInfo"]);
    }
    let listed = agent.request("tools/list", json!({})).await.json();
    let fields: Vec<_> = listed["result"].as_object().unwrap().keys().collect();
    assert_eq!(fields, ["tools"]);
    let json = ("content-type", "application/json");
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"1999-01-01"}}"#;
    for version in ["1999-01-01", "2025-03-26"] {
        let headers = [json, ("mcp-protocol-version", version)];
        let unknown = agent.send("POST", &headers, ping).await;
        let expected = json!({
            "code": -32022,
            "message": "Unsupported protocol version",
            "data": {
                "supported": [MODERN, "2025-11-25", "2025-06-18", "2024-11-05"],
                "requested": version,
            },
        });
        assert_eq!((unknown.status, &unknown.json()["error"]), (400, &expected), "{version}");
        let negotiated = agent.send("POST", &headers, initialize).await.json();
        assert_eq!(negotiated["result"]["protocolVersion"], "2025-11-25");
    }
}

/// The MCP conformance tests check a request without `_meta`, a removed method, and an unknown version in `_meta`.
#[tokio::test]
async fn requests_of_the_newest_version_describe_themselves() {
    let mut settings = settings();
    settings.board.name = "\"Tea\"".into();
    let server = Server::with(settings);
    let agent = Agent::new(&server, None);
    let send = async |in_header: &str, in_meta: &str, method_header: &str| {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": in_meta,
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({ "_meta": meta });
        let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params });
        let headers = [
            ("content-type", "application/json"),
            ("mcp-protocol-version", in_header),
            ("mcp-method", method_header),
        ];
        agent.send("POST", &headers, &list.to_string()).await
    };
    let listed = send(MODERN, MODERN, "tools/list").await.json();
    assert_eq!(listed["result"]["resultType"], "complete");
    assert_eq!(listed["result"]["cacheScope"], "private");
    let info = &listed["result"]["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(info["title"], "\"Tea\"");
    for (in_header, in_meta, method_header, differing) in [
        (MODERN, MODERN, "ping", "mcp-method"),
        (MODERN, "2025-11-25", "tools/list", "mcp-protocol-version"),
        ("v999.0.0", MODERN, "tools/list", "mcp-protocol-version"),
        ("2025-11-25", MODERN, "tools/list", "mcp-protocol-version"),
        ("2025-11-25", "2025-06-18", "tools/list", "mcp-protocol-version"),
    ] {
        let refused = send(in_header, in_meta, method_header).await;
        let text = format!("the header {differing} does not match the message");
        assert_rpc_error(&refused, (400, -32020), &text);
    }
}

/// A request that calls a tool has the header mcp-name besides mcp-method.
#[tokio::test]
async fn a_call_of_the_newest_version_has_the_name_of_its_tool_in_a_header() {
    let (_, agent) = Agent::of_alice().await;
    let send = async |method: &str, tool: &str, capabilities: Value| {
        let mut meta = json!({ "io.modelcontextprotocol/protocolVersion": MODERN });
        meta["io.modelcontextprotocol/clientCapabilities"] = capabilities;
        let params = json!({ "name": "getMe", "_meta": meta });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let headers = [
            ("content-type", "application/json"),
            ("mcp-protocol-version", MODERN),
            ("mcp-method", method),
            ("mcp-name", tool),
        ];
        agent.send("POST", &headers, &call.to_string()).await
    };
    let called = send("tools/call", "getMe", json!({})).await;
    assert_eq!(code(&called), None);
    let result = called.json()["result"].clone();
    assert_eq!(result["resultType"], "complete");
    let meta = json!({ "io.modelcontextprotocol/serverInfo": {
        "name": "forum-api",
        "version": env!("CARGO_PKG_VERSION"),
    } });
    assert_eq!(result["_meta"], meta);
    let fields: Vec<_> = result.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["_meta", "content", "isError", "resultType", "structuredContent"]);
    let other = send("tools/call", "getThread", json!({})).await;
    let text = "the header mcp-name does not match the message";
    assert_rpc_error(&other, (400, -32020), text);
    let removed = send("ping", "", json!({})).await;
    assert_rpc_error(&removed, (404, -32601), "Method not found");
    let incomplete = send("tools/call", "getMe", Value::Null).await;
    let text = "`_meta` needs `io.modelcontextprotocol/protocolVersion` and `io.modelcontextprotocol/clientCapabilities`";
    assert_rpc_error(&incomplete, (400, -32602), text);
}

#[tokio::test]
async fn only_posts_of_json_from_known_origins_are_accepted() {
    let environment = Environment::default().public_origin("https://Board.example:443");
    let server = Server::within(environment, settings());
    let mut agent = Agent::new(&server, None);
    let json = ("content-type", "application/json");
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for method in ["GET", "DELETE", "PUT", "HEAD", "OPTIONS"] {
        let response = agent.send(method, &[json], "").await;
        let allow = response.header("allow");
        assert_eq!((response.status, allow), (405, Some("POST")));
        let content_type = response.header("content-type");
        assert_eq!(content_type, Some("text/plain; charset=utf-8"));
    }
    assert_eq!(agent.send("POST", &[], ping).await.status, 415);
    let plain = ("content-type", "text/plain");
    assert_eq!(agent.send("POST", &[plain], ping).await.status, 415);
    let utf8 = ("content-type", "Application/JSON; charset=utf-8; x=\"é\"");
    assert_eq!(agent.send("POST", &[utf8], ping).await.status, 200);
    for (origin, status) in [
        ("https://board.example", 200),
        ("https://agent.example", 403),
        ("http://board.example", 403),
        ("null", 403),
        ("", 403),
    ] {
        let response = agent.send("POST", &[json, ("origin", origin)], ping).await;
        assert_eq!(response.status, status, "{origin}");
    }
    let origins = [HeaderValue::from_static("https://agent.example")];
    agent.server = agent.server.allow_origins(origins);
    let origin = ("origin", "https://agent.example");
    let allowed = agent.send("POST", &[json, origin], ping).await;
    assert_eq!(allowed.status, 200);
}

#[tokio::test]
async fn operations_of_a_host_are_tools() {
    let server = crate::host_operations::server();
    let token = server.token_with("alice", &["links:write", "threads:read"]).await;
    let agent = Agent::new(&server, Some(&token));
    let names = agent.names().await;
    for name in ["bumpThread", "addLink", "listLinks", "removeLink", "countLinks"] {
        assert!(names.contains(&name.to_owned()), "{name}");
    }
    let added = json!({ "threadId": "open-1", "url": "https://tea.example" });
    assert_eq!(code(&agent.call("addLink", added).await), None);
    let listed = agent.call("listLinks", json!({ "threadId": "open-1" })).await.json();
    let url = &listed["result"]["structuredContent"]["items"][0]["url"];
    assert_eq!(url, "https://tea.example");
}
