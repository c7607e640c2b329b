//! The OpenAPI 3.1 document, generated from the endpoint table and the wire types ([protocol](crate::guide::protocol),
//! section 14).

mod components;
pub(crate) mod info;
mod normalize;
mod operation;
mod responses;
mod schemas;
mod webhooks;

use serde_json::{Map, Value, json};

use self::components::Components;
#[cfg(feature = "reference")]
pub(crate) use self::operation::states_scope_and_cost;
pub(crate) use self::schemas::strip_null;
use super::ApiSettings;
use crate::api::endpoints::{no_board, served_operations};
use crate::environment::Environment;
use crate::model::ErrorCode;
use crate::operation::{ExtraTypes, Operation, OperationSpec, Tag};
use crate::rate_limit::Budget;
use crate::scope::{Scopes, Surface};

/// Returns the OpenAPI document that a service with these settings and this environment serves at `/openapi.json` below the
/// base path. The settings must be valid.
pub fn document(settings: &ApiSettings, environment: &Environment) -> Value {
    let operations = served_operations(&no_board(), environment);
    render(&operations, &ExtraTypes::default(), settings, environment)
}

/// Returns the OpenAPI document of these operations.
pub(super) fn render(
    operations: &[Operation],
    extra_types: &ExtraTypes,
    settings: &ApiSettings,
    environment: &Environment,
) -> Value {
    let surface = environment.surface;
    let base_path = settings.base_path.trim_end_matches('/');
    let server = format!("{}{base_path}", environment.public_origin);
    let scopes = environment.scopes();
    let mut parameters = webhooks::parameters();
    parameters.extend(operation::shared_parameters());
    let messages = &settings.error_messages;
    let mut components = Components::new(surface, &scopes, extra_types, messages, parameters);
    let paths = paths(operations, &mut components);
    let headers = responses::headers_in(&[&paths, &components.responses]);
    let webhooks = webhooks::webhooks(&environment.documented_events(), &mut components.schemas);
    components.responses.extend(webhooks::responses());
    let bearer = security_scheme(settings, environment, &scopes);
    let shared = Map::from_iter([
        ("securitySchemes".into(), json!({ "bearerAuth": bearer })),
        ("headers".into(), headers.into()),
        ("parameters".into(), components.parameters.into()),
        ("responses".into(), components.responses.into()),
    ]);
    // `json!` would copy the maps.
    let mut document = Value::Object(Map::from_iter([
        ("openapi".into(), "3.1.0".into()),
        ("info".into(), info(settings, surface, &scopes, &server)),
        ("servers".into(), json!([{ "url": server }])),
        ("tags".into(), tags(operations).into()),
        ("paths".into(), paths.into()),
        ("webhooks".into(), webhooks.into()),
        ("components".into(), shared.into()),
    ]));
    components.schemas.limit_texts(&settings.board);
    components.schemas.merge_into(&mut document);
    document
}

fn info(settings: &ApiSettings, surface: Surface, scopes: &Scopes, server: &str) -> Value {
    let scopes: Map<_, _> =
        scopes.iter().map(|scope| (scope.to_string(), scope.description().into())).collect();
    let errors: Map<_, _> = ErrorCode::of(surface)
        .map(|code| {
            (
                code.as_str().into(),
                json!({ "status": code.status().as_u16(), "meaning": code.meaning(code.status()) }),
            )
        })
        .collect();
    let reasons: Map<_, _> = info::reasons(surface)
        .map(|reason| {
            (reason.name.into(), json!({ "code": reason.code, "meaning": reason.meaning }))
        })
        .collect();
    let title = match &*settings.board.name {
        "" => "Forum Board REST API",
        name => name,
    };
    let mut object = json!({
        "title": title,
        "version": "1.0.0",
        "description": info::introduction(settings, surface, server),
        "contact": { "name": "The operators of this board" },
        "x-scopes": scopes,
        "x-errors": errors,
        "x-error-reasons": reasons,
        "x-rate-limits": {
            "token": rate_limit(settings.token_budget),
            "guest": rate_limit(settings.guest_budget),
        },
    });
    let license = &settings.board.license;
    if let Some(fields) = object.as_object_mut().filter(|_| !license.is_empty()) {
        fields.insert("license".into(), json!({ "name": license, "identifier": license }));
    }
    object
}

fn rate_limit(budget: Budget) -> Value {
    json!({ "units": budget.units, "seconds": budget.window.as_secs() })
}

fn security_scheme(settings: &ApiSettings, environment: &Environment, scopes: &Scopes) -> Value {
    json!({
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "forum_pat_<lookup>_<secret>",
        "description": info::authentication(&settings.board, environment, scopes),
    })
}

/// Returns the tags in the order of their first operation.
fn tags(operations: &[Operation]) -> Vec<Value> {
    let mut tags: Vec<&Tag> = Vec::new();
    for tag in operations.iter().map(|operation| &operation.spec.tag) {
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    let of_webhooks = webhooks::TAG;
    tags.push(&of_webhooks);
    tags.iter().map(|tag| json!({ "name": tag.name, "description": tag.description })).collect()
}

fn paths(operations: &[Operation], components: &mut Components<'_>) -> Map<String, Value> {
    let surface = components.surface;
    let mut paths = Map::new();
    for operation in operations {
        let OperationSpec { path, method, .. } = &*operation.spec;
        let object = operation::operation(operation, components);
        let item = paths.entry(*path).or_insert_with(|| path_item(path, surface));
        if let Some(item) = item.as_object_mut() {
            item.insert(method.as_str().to_lowercase(), object);
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
