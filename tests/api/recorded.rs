//! Texts that clients read, compared as a whole: the OpenAPI document, the tools, and the messages in German.
//! `SNAPSHOTS=overwrite cargo test --workspace --test api recorded` replaces the files.

use forum_api::{ErrorMessages, Language};
use forum_test_support::recorded::assert_recorded;

use crate::feed;
use crate::mcp::Agent;
use crate::openapi::document;
use crate::support::*;

/// Compares a text with a file of `recorded`.
fn compare(text: String, file: &str) {
    assert_recorded(text, format!("{}/tests/api/recorded/{file}", env!("CARGO_MANIFEST_DIR")));
}

fn compare_json(value: &Value, file: &str) {
    compare(serde_json::to_string_pretty(value).unwrap() + "\n", file);
}

#[test]
fn the_document_has_the_recorded_content() {
    compare_json(&document(Surface::Full), "document.txt");
}

/// The parts in which the compact surface differs, apart from its selection of operations.
#[test]
fn the_compact_document_has_the_recorded_texts() {
    let document = document(Surface::Compact);
    let components = &document["components"];
    let parts = json!({
        "info": document["info"],
        "tags": document["tags"],
        "responses": components["responses"],
        "securitySchemes": components["securitySchemes"],
        "reply": document["paths"]["/threads/{threadId}/posts"]["post"],
    });
    compare_json(&parts, "compact.txt");
}

/// The parts that the feed adds to the document.
#[tokio::test]
async fn the_document_of_the_feed_has_the_recorded_content() {
    let document_of_feed = feed::document();
    let tags = document_of_feed["tags"].as_array().unwrap();
    let common = document(Surface::Full)["components"]["schemas"].take();
    let mut schemas = document_of_feed["components"]["schemas"].clone();
    schemas.as_object_mut().unwrap().retain(|name, schema| common[name] != *schema);
    let parts = json!({
        "tag": tags.iter().find(|tag| tag["name"] == "events").unwrap(),
        "path": document_of_feed["paths"]["/x/events"],
        "schemas": schemas,
    });
    compare_json(&parts, "feed.txt");
}

#[tokio::test]
async fn the_tools_have_the_recorded_content() {
    let (server, alice) = Server::with_alice().await;
    let agent = Agent::new(&server, Some(&alice));
    let mut results = Vec::new();
    for method in ["initialize", "server/discover", "tools/list"] {
        let mut result = agent.request(method, json!({})).await.json()["result"].take();
        for info in ["/serverInfo", "/_meta/io.modelcontextprotocol~1serverInfo"] {
            if let Some(info) = result.pointer_mut(info) {
                assert_eq!(info["version"], env!("CARGO_PKG_VERSION"));
                info["version"] = json!("[VERSION]");
            }
        }
        results.push(result);
    }
    let hint = agent.send("GET", &[], "").await.body;
    results.push(json!(std::str::from_utf8(&hint).unwrap()));
    compare_json(&Value::Array(results), "tools.txt");
}

#[test]
fn messages_have_the_recorded_translations() {
    let german = ErrorMessages::for_language(Language::German);
    let lines =
        ErrorMessages::texts().map(|text| format!("{text}\n  {}\n", german.translate(text)));
    compare(lines.collect(), "german.txt");
}
