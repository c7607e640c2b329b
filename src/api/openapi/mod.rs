//! The OpenAPI 3.1 document, generated from the endpoint table and the wire types (`docs/protocol.md`, section 14).

mod components;
mod info;
mod normalize;
mod operation;
mod responses;
mod schemas;
mod webhooks;

use serde_json::{Map, Value, json};

use self::components::Components;
use super::ApiSettings;
use crate::api::endpoints::endpoints;
use crate::environment::Environment;
use crate::model::ErrorCode;
use crate::scope::Surface;

/// Returns the OpenAPI document that a service with these settings and this environment serves at `/openapi.json` below the
/// base path. The settings must be valid.
pub fn document(settings: &ApiSettings, environment: &Environment) -> Value {
    let surface = environment.surface;
    let base_path = settings.base_path.trim_end_matches('/');
    let server = format!("{}{base_path}", environment.public_origin);
    let mut components = Components::new(surface, &settings.error_messages);
    let paths = paths(&mut components);
    let headers = responses::headers_in(&[&paths, &components.responses]);
    let webhooks = webhooks::webhooks(&mut components.schemas);
    components.responses.extend(webhooks::responses());
    let mut parameters = webhooks::parameters();
    parameters.extend(operation::shared_parameters());
    json!({
        "openapi": "3.1.0",
        "info": info(settings, surface),
        "servers": [{ "url": server }],
        "tags": tags(surface),
        "paths": paths,
        "webhooks": webhooks,
        "components": {
            "securitySchemes": { "bearerAuth": security_scheme(surface) },
            "headers": headers,
            "parameters": parameters,
            "responses": components.responses,
            "schemas": components.schemas.into_definitions(),
        },
    })
}

fn info(settings: &ApiSettings, surface: Surface) -> Value {
    let scopes: Map<_, _> = surface
        .scopes()
        .map(|scope| (scope.to_string(), scope.description().into()))
        .collect();
    let errors: Map<_, _> = ErrorCode::of(surface)
        .map(|code| {
            (
                code.as_str().into(),
                json!({ "status": code.status().as_u16(), "meaning": code.meaning(code.status()) }),
            )
        })
        .collect();
    json!({
        "title": "Forum Board REST API",
        "version": "1.0.0",
        "description": info::introduction(settings, surface),
        "contact": { "name": "The operators of this board" },
        "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        "x-scopes": scopes,
        "x-errors": errors,
    })
}

fn security_scheme(surface: Surface) -> Value {
    json!({
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "forum_pat_<lookup>_<secret>",
        "description": info::authentication(surface),
    })
}

fn tags(surface: Surface) -> Vec<Value> {
    let served = TAGS
        .iter()
        .filter(|(name, _)| endpoints(surface).any(|endpoint| endpoint.tag == *name));
    served
        .chain([&webhooks::TAG])
        .map(|(name, description)| json!({ "name": name, "description": description }))
        .collect()
}

const TAGS: &[(&str, &str)] = &[
    ("me", "The token and its owner."),
    ("forums", "Forums and their threads."),
    ("threads", "Threads with their posts and polls."),
    ("members", "Public profiles and reputation."),
    ("messages", "The caller's private messages."),
    ("polls", "Voting in polls and editing them."),
    (
        "subscriptions",
        "The threads and forums that the caller is subscribed to. The API does not notify subscribers.",
    ),
    ("search", "Full-text search."),
];

fn paths(components: &mut Components<'_>) -> Map<String, Value> {
    let surface = components.surface;
    let mut paths = Map::new();
    for endpoint in endpoints(surface) {
        let operation = operation::operation(endpoint, components);
        let path = paths
            .entry(endpoint.path)
            .or_insert_with(|| path_item(endpoint.path, surface));
        if let Some(path) = path.as_object_mut() {
            path.insert(endpoint.method.as_str().to_lowercase(), operation);
        }
    }
    paths
}

/// Returns an empty path item. On the compact surface, the item contains the path with colon parameters.
fn path_item(path: &str, surface: Surface) -> Value {
    match surface {
        Surface::Full => json!({}),
        Surface::Compact => json!({ "x-route": path.replace('{', ":").replace('}', "") }),
    }
}
