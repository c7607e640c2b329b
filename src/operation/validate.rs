//! Checks of the operations of a service, before it is built.

use std::collections::HashMap;

use http::{Method, StatusCode};
use schemars::SchemaGenerator;

use super::extra::ExtraTypes;
use super::handler::OperationSchemas;
use super::input::Source;
use super::operation::Operation;
use super::path::MAX_VARIABLES;
use crate::build_error::BuildError;
use crate::scope::{Scope, Scopes};

/// Rejects an invalid operation of `added`, and one that contradicts an operation of `existing` or an earlier one of `added`.
/// `reserved` are paths that the service serves itself.
pub(crate) fn validate(
    added: &[Operation],
    existing: &[Operation],
    scopes: &Scopes,
    reserved: &[&str],
) -> Result<(), BuildError> {
    let mut tags: HashMap<_, _> =
        existing.iter().map(|operation| (operation.spec.tag.name, &operation.spec.tag)).collect();
    // Shared by all operations, so that the schema of a type is generated once.
    let mut inputs = SchemaGenerator::default();
    let mut outputs = SchemaGenerator::default();
    for (index, operation) in added.iter().enumerate() {
        let spec = &operation.spec;
        let no_extra = ExtraTypes::default();
        let schemas = operation.handler.describe(spec, &no_extra, &mut inputs, &mut outputs);
        check(operation, &schemas, scopes, reserved)?;
        let earlier = existing.iter().chain(added.iter().take(index));
        for earlier in earlier.map(|operation| &operation.spec) {
            if earlier.id == spec.id {
                return Err(invalid(operation, "an id that no other operation has"));
            }
            if earlier.method == spec.method && overlap(earlier.path, spec.path) {
                let expected = format!(
                    "a path that matches no request of another operation; {} {} does",
                    earlier.method, earlier.path
                );
                return Err(invalid(operation, &expected));
            }
            if earlier.path != spec.path && is_same_shape(earlier.path, spec.path) {
                let expected = format!("the variables of the same path in {}", earlier.path);
                return Err(invalid(operation, &expected));
            }
        }
        if *tags.entry(spec.tag.name).or_insert(&spec.tag) != &spec.tag {
            let expected = "the same description of its tag in all operations";
            return Err(invalid(operation, expected));
        }
    }
    Ok(())
}

fn check(
    operation: &Operation,
    schemas: &OperationSchemas,
    scopes: &Scopes,
    reserved: &[&str],
) -> Result<(), BuildError> {
    let spec = &operation.spec;
    let is_body = schemas.source == Source::Body;
    let can_have_body = [Method::POST, Method::PUT, Method::PATCH].contains(&spec.method);
    let names: Vec<_> = schemas.path_params.iter().map(|(name, _)| name.as_str()).collect();
    let handler_variables =
        format!("a path with the variables of its handler ({})", names.join(", "));
    let has_summary = spec.summary.ends_with('.');
    let is_repeated = |name| spec.variables.iter().filter(|one| *one == name).count() > 1;
    let is_empty = schemas.output.get("type") == Some(&"null".into());
    // A body of the specification can have a field whose scope the compact surface does not have.
    let is_known = |scope: Scope| scopes.contains(scope) || Scope::parse(scope.as_str()).is_ok();
    let field_scope = schemas.input.field_scope;
    let rules: [(bool, &str); 17] = [
        (is_id(spec.id), "an id of letters and digits that begins with a letter"),
        (
            !is_webhook_id(spec.id),
            "an id that does not begin with `on` and a capital letter, as ids of webhooks do",
        ),
        (spec.tag.name != "webhooks", "a tag other than `webhooks`, which the webhooks have"),
        (is_path(spec.path), "a path such as `/threads/{threadId}/links`"),
        (!reserved.contains(&spec.path), "a path that the service does not serve itself"),
        (spec.variables.len() <= MAX_VARIABLES, "a path with at most 4 variables"),
        (names == spec.variables, &handler_variables),
        (!spec.variables.iter().any(is_repeated), "a path whose variables have different names"),
        (
            !is_empty || schemas.statuses == [StatusCode::NO_CONTENT],
            "a result with a body, or the status 204",
        ),
        (
            spec.method != Method::GET || schemas.statuses == [StatusCode::OK],
            "the status 200 for GET",
        ),
        (schemas.is_list_complete, "a page as the result of a list, and only of a list"),
        ((1..=100).contains(&spec.cost), "a cost of 1 to 100 units"),
        (has_summary, "a summary that is a sentence with a period"),
        (
            scopes.contains(spec.scope) && field_scope.is_none_or(|(_, scope)| is_known(scope)),
            "a scope that `Environment::scope` adds",
        ),
        (!is_body || can_have_body, "a body only for POST, PUT and PATCH"),
        (schemas.input.rejects_unknown_fields, "an input with `#[serde(deny_unknown_fields)]`"),
        (
            !schemas.input.has_reserved_filter,
            "filters of a list without the names `limit` and `after`",
        ),
    ];
    match rules.iter().find(|(is_kept, _)| !is_kept) {
        Some((_, expected)) => Err(invalid(operation, expected)),
        None => Ok(()),
    }
}

fn invalid(operation: &Operation, expected: &str) -> BuildError {
    let spec = &operation.spec;
    BuildError::new(
        "operation",
        format!("{expected}, for {} {} {}", spec.id, spec.method, spec.path),
    )
}

fn is_id(id: &str) -> bool {
    id.starts_with(|first: char| first.is_ascii_alphabetic())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn is_webhook_id(id: &str) -> bool {
    id.strip_prefix("on")
        .is_some_and(|topic| topic.starts_with(|first: char| first.is_ascii_uppercase()))
}

/// Returns `true` if a path begins with a slash, and each segment is a variable or a text of `[A-Za-z0-9_-]`.
fn is_path(path: &str) -> bool {
    let is_name = |text: &str| {
        !text.is_empty()
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
    };
    let is_segment = |segment: &str| {
        let variable = segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        is_name(variable.unwrap_or(segment))
    };
    path.strip_prefix('/').is_some_and(|path| path.split('/').all(is_segment))
}

/// Returns `true` if a request can match both templates.
fn overlap(one: &str, other: &str) -> bool {
    all_segments(one, other, |one, other| is_variable(one) || is_variable(other))
}

/// Returns `true` if the templates differ at most in the names of their variables.
fn is_same_shape(one: &str, other: &str) -> bool {
    all_segments(one, other, |one, other| is_variable(one) && is_variable(other))
}

/// Returns `true` if the templates have the same number of segments, and each pair is equal or matches `predicate`.
fn all_segments(one: &str, other: &str, predicate: fn(&str, &str) -> bool) -> bool {
    let mut pairs = one.split('/').zip(other.split('/'));
    one.split('/').count() == other.split('/').count()
        && pairs.all(|(one, other)| one == other || predicate(one, other))
}

fn is_variable(segment: &str) -> bool {
    segment.starts_with('{')
}
