//! Tools: one for each operation.

use http::Method;
use serde_json::{Map, Value, json};

use super::schema::Document;
use crate::build_error::BuildError;
use crate::host::{Caller, MemberCaller};
use crate::operation::{Operation, OperationSpec};
use crate::scope::Scope;

/// Argument of the tools of POST operations: the idempotency key.
pub(super) const IDEMPOTENCY_KEY: &str = "idempotencyKey";

/// Sentence on further items, in the description of the tool of a list.
const PAGING: &str = "To continue, call the tool again with `next` of the result as `after`; `next` is null on the last page.";

/// A tool, and the operation that it calls.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) method: Method,
    /// Path template below the base path.
    pub(super) path: &'static str,
    pub(super) variables: Vec<&'static str>,
    /// Names of all arguments.
    pub(super) arguments: Vec<String>,
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
        let input = document.input(object, key).ok_or_else(|| {
            let expected = format!(
                "path variables and body fields with different names, other than `{IDEMPOTENCY_KEY}`, in {}",
                spec.id
            );
            BuildError::new("operation", expected)
        })?;
        let properties = input.get("properties").and_then(Value::as_object);
        let arguments: Vec<_> = properties.into_iter().flat_map(Map::keys).cloned().collect();
        let is_list = arguments.iter().any(|argument| argument == "after");
        let mut definition = Map::new();
        definition.insert("name".into(), spec.id.into());
        definition.insert("description".into(), description(spec, is_list).into());
        definition.insert("inputSchema".into(), input);
        if let Some(output) = document.output(object) {
            definition.insert("outputSchema".into(), output);
        }
        definition.insert("annotations".into(), annotations(spec));
        Ok(Self {
            name: spec.id,
            method: spec.method.clone(),
            path: spec.path,
            variables: spec.variables.clone(),
            arguments,
            has_body: object.get("requestBody").is_some(),
            scope: spec.scope,
            needs_token: handler.needs_token(),
            definition: Value::from(definition).to_string(),
        })
    }

    /// Returns `true` if scopes and token permit the caller to call the tool.
    pub(super) fn is_permitted(&self, caller: &Caller) -> bool {
        match caller.as_member().and_then(MemberCaller::presented) {
            Some(token) => token.scopes.contains(self.scope),
            None => !self.needs_token,
        }
    }

    pub(super) fn accepts_idempotency_key(&self) -> bool {
        self.method == Method::POST
    }
}

fn description(spec: &OperationSpec, is_list: bool) -> String {
    let parts = [spec.summary, spec.notes, if is_list { PAGING } else { "" }]
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
    json!({
        "readOnlyHint": !spec.has_side_effects,
        "destructiveHint": spec.method == Method::DELETE,
        "idempotentHint": is_idempotent,
        "openWorldHint": false,
    })
}
