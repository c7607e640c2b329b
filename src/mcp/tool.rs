//! Tools: one for each operation.

use http::Method;
use serde_json::{Map, Value, json};

use super::schema::Document;
use crate::build_error::BuildError;
use crate::host::PresentedToken;
use crate::operation::{Operation, OperationSpec};
use crate::scope::Scope;

/// Argument of the tools of POST operations: the idempotency key.
pub(super) const IDEMPOTENCY_KEY: &str = "idempotencyKey";

/// Query parameter of lists of posts, and its default for a tool: a model reads the source, and a result contains each text
/// twice.
pub(super) const SOURCE_BODIES: (&str, &str) = ("body", "source");

/// Sentence on further items, in the description of the tool of a list.
const PAGING: &str =
    "To continue, call the tool again with `next` of the result as `after`, until `next` is null.";

/// A tool, and the operation that it calls.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) method: Method,
    /// Path template below the base path.
    pub(super) path: &'static str,
    pub(super) variables: Vec<&'static str>,
    /// Schema of the arguments.
    pub(super) input: Value,
    /// `true` for a list of posts.
    pub(super) prefers_source: bool,
    /// `true` if arguments other than path variables are fields of the body, `false` if they are query parameters.
    pub(super) has_body: bool,
    pub(super) scope: Scope,
    pub(super) needs_token: bool,
    /// The tool in `tools/list`, as JSON.
    pub(super) definition: String,
}

impl Tool {
    /// Creates the tool of an operation that the OpenAPI document describes.
    pub(super) fn new(operation: &Operation, document: Document<'_>) -> Result<Self, BuildError> {
        let Operation { spec, handler } = operation;
        let item = document.0.get("paths").and_then(|paths| paths.get(spec.path));
        let object = item
            .and_then(|item| item.get(spec.method.as_str().to_lowercase()))
            .unwrap_or(&Value::Null);
        let key = spec.accepts_idempotency_key().then_some((IDEMPOTENCY_KEY, idempotency_key()));
        let mut input = document.input(object, key).ok_or_else(|| {
            let expected = format!(
                "path variables and body fields with different names, other than `{IDEMPOTENCY_KEY}`, in {}",
                spec.id
            );
            BuildError::new("operation", expected)
        })?;
        let has_body = object.get("requestBody").is_some();
        let prefers_source = !has_body && prefer_source(&mut input);
        let is_list = has_argument(&input, "after");
        let mut definition = Map::new();
        definition.insert("name".into(), spec.id.into());
        definition.insert("description".into(), description(spec, is_list).into());
        definition.insert("inputSchema".into(), input.clone());
        if let Some(output) = document.output(object) {
            definition.insert("outputSchema".into(), output);
        }
        definition.insert("annotations".into(), annotations(spec));
        Ok(Self {
            name: spec.id,
            method: spec.method.clone(),
            path: spec.path,
            variables: spec.variables.clone(),
            input,
            prefers_source,
            has_body,
            scope: spec.scope,
            needs_token: handler.needs_token(),
            definition: Value::from(definition).to_string(),
        })
    }

    pub(super) fn has_argument(&self, name: &str) -> bool {
        has_argument(&self.input, name)
    }

    /// Returns `true` if a caller can call the tool. `token` is `None` for the guest.
    pub(super) fn is_permitted(&self, token: Option<&PresentedToken>) -> bool {
        match token {
            Some(token) => token.scopes.contains(self.scope),
            None => !self.needs_token,
        }
    }

    pub(super) fn accepts_idempotency_key(&self) -> bool {
        self.method == Method::POST
    }
}

fn has_argument(input: &Value, name: &str) -> bool {
    input.get("properties").is_some_and(|properties| properties.get(name).is_some())
}

/// Changes the default of the parameter that selects the formats of posts. Returns `false` if the schema does not have it.
fn prefer_source(input: &mut Value) -> bool {
    let (name, default) = SOURCE_BODIES;
    let parameter = input.get_mut("properties").and_then(|properties| properties.get_mut(name));
    let Some(keywords) = parameter.and_then(Value::as_object_mut) else {
        return false;
    };
    if keywords.get("default") != Some(&"both".into()) {
        return false;
    }
    keywords.insert("default".into(), default.into());
    if let Some(Value::String(description)) = keywords.get_mut("description") {
        *description = description.replace("Default: `both`", &format!("Default: `{default}`"));
    }
    true
}

fn description(spec: &OperationSpec, is_list: bool) -> String {
    let parts = [spec.summary, &*spec.notes, if is_list { PAGING } else { "" }]
        .into_iter()
        .filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(" ")
}

fn idempotency_key() -> Value {
    json!({
        "type": "string",
        "minLength": 1,
        "maxLength": 64,
        "description": "Makes a repeated call safe: with the same key and arguments it takes effect at most once.",
    })
}

fn annotations(spec: &OperationSpec) -> Value {
    let is_idempotent = [Method::GET, Method::DELETE, Method::PUT].contains(&spec.method);
    let is_destructive = [Method::DELETE, Method::PATCH].contains(&spec.method);
    json!({
        "readOnlyHint": !spec.has_side_effects,
        "destructiveHint": is_destructive,
        "idempotentHint": is_idempotent,
        "openWorldHint": false,
    })
}
