//! Sections of operations and webhooks.

use maud::{Markup, html};
use serde_json::Value;

use super::code;
use super::document::{Document, Operation, Response, TokenUse};
use super::markdown::{HeadingLevel, code_fragment, inline_markdown, markdown};
use super::schema::{
    enumeration, example, field_table, parameter_example, parameter_schema, parameter_table, plain,
    simple_type, type_name,
};
use crate::api::openapi::states_scope_and_cost;

/// Renders an operation: description and request on the left; samples, form and responses on the right.
pub(super) fn operation<'a>(
    document: &Document<'a>,
    operation: &Operation<'a>,
    base_url: &str,
) -> Markup {
    let request = operation.request_body(document);
    let body = request.map(|content| request_example(document, content));
    html! {
        section.operation id=(operation.id) {
            div.description {
                (heading(operation))
                p.endpoint.copyable {
                    (method(operation.method)) " "
                    code { @for part in operation.path.split_inclusive('/') { (part) wbr; } }
                }
                (facts(document, operation))
                (description(operation))
                @if !operation.parameters.is_empty() {
                    h4 { "Parameters" }
                    (parameter_table(document, &operation.parameters))
                }
                @if let Some(content) = request {
                    h4 { "Request body" }
                    (field_table(document, schema_of(content), true, operation.field_scopes()))
                }
            }
            div.examples {
                (code::samples(document, operation, base_url, body.clone()))
                @if !operation.text("x-example-note").is_empty() {
                    p.note { (inline_markdown(operation.text("x-example-note"))) }
                }
                (try_form(document, operation, body))
                @if let Some(response) = operation.success() { (response_examples(document, response)) }
                h4 { "Responses" }
                (responses(document, operation))
                @if let Some(content) = operation.success().and_then(|response| document.content(response.value)) {
                    details {
                        summary { "Response fields" }
                        (field_table(document, schema_of(content), false, &Value::Null))
                    }
                }
            }
        }
    }
}

/// Renders a webhook. The page shows parameters and responses that all webhooks share elsewhere.
pub(super) fn webhook<'a>(
    document: &Document<'a>,
    webhook: &Operation<'a>,
    shares_parameters: bool,
    shares_responses: bool,
) -> Markup {
    let content = webhook.request_body(document);
    html! {
        section.operation id=(webhook.id) {
            div.description {
                (heading(webhook))
                (description(webhook))
                @if !shares_parameters && !webhook.parameters.is_empty() {
                    h4 { "Headers and parameters" }
                    (parameter_table(document, &webhook.parameters))
                }
                @if !shares_responses { h4 { "Responses" } (responses(document, webhook)) }
                @if let Some(content) = content {
                    details {
                        summary { "Payload fields" }
                        (field_table(document, schema_of(content), false, &Value::Null))
                    }
                }
            }
            @if let Some(content) = content {
                div.examples { (examples(document, content, "Payload")) }
            }
        }
    }
}

/// Renders a method as a badge.
pub(super) fn method(method: &str) -> Markup {
    html! { span class={ "method " (method) } { (method.to_uppercase()) } }
}

/// Renders the table of responses. Errors that all operations share are in one row.
pub(super) fn responses<'a>(document: &Document<'a>, operation: &Operation<'a>) -> Markup {
    let is_common = |response: &&Response<'a>| {
        document.common_errors.get(response.status) == Some(&response.codes)
    };
    let (common, own): (Vec<_>, Vec<_>) = operation.responses.iter().partition(is_common);
    html! {
        table.responses {
            thead.visually-hidden { tr { th scope="col" { "Status" } th scope="col" { "Meaning" } } }
            tbody {
                @for response in own {
                    tr {
                        th scope="row" { (status(response.status)) }
                        td { (meaning(document, operation, response)) }
                    }
                }
                @if !common.is_empty() {
                    tr {
                        td colspan="2" {
                            @for response in &common { (status(response.status)) " " }
                            a href="#about-common-errors" { "Errors of every operation" }
                        }
                    }
                }
            }
        }
    }
}

/// Renders a status as a badge.
pub(super) fn status(status: &str) -> Markup {
    let class = status.get(..1).unwrap_or_default();
    html! { span class={ "status of-" (class) } { (status) } }
}

/// Renders the codes of an error, with links to their meanings.
pub(super) fn codes(codes: &[&str]) -> Markup {
    html! {
        @for code in codes { a.error-code href={ "#" (code_fragment(code)) } { code { (code) } } " " }
    }
}

/// Renders the examples of a request, response or payload. All examples except the first are collapsed.
fn examples<'a>(document: &Document<'a>, content: &'a Value, title: &str) -> Markup {
    let schema = schema_of(content);
    let stated = document.content_examples(content);
    let built;
    let (first, others) = match stated.split_first() {
        Some(((_, first), others)) => (*first, others),
        None => {
            built = example(document, schema);
            (&built, &[][..])
        }
    };
    html! {
        figure.code.copyable {
            figcaption { (title) }
            (code::json(document, schema, first))
        }
        @for (name, example) in others {
            details.more {
                summary { (title) ": " (name) }
                div.code.copyable { (code::json(document, schema, example)) }
            }
        }
    }
}

fn response_examples<'a>(document: &Document<'a>, response: &Response<'a>) -> Markup {
    let title = format!("Response {}", response.status);
    match document.content(response.value) {
        Some(content) => examples(document, content, &title),
        None => html! { p.no-body { (status(response.status)) " without a body" } },
    }
}

fn heading(operation: &Operation<'_>) -> Markup {
    html! { h3 { a.anchor href={ "#" (operation.id) } { (operation.title) } } }
}

/// Renders the description, and before it the summary if the description does not begin with it. Omits the paragraph about
/// scope and cost, which [`facts`] states.
fn description(operation: &Operation<'_>) -> Markup {
    let summary = operation.text("summary");
    let is_other = |paragraph: &&str| !states_scope_and_cost(paragraph);
    let paragraphs = operation.text("description").split("\n\n").filter(is_other);
    let text = &*paragraphs.collect::<Vec<_>>().join("\n\n");
    let is_repeated = text.starts_with(summary.trim_end_matches('.'));
    html! {
        @if !is_repeated {
            p {
                (inline_markdown(summary))
                @if !summary.ends_with('.') { "." }
            }
        }
        (markdown(text, HeadingLevel::H4))
    }
}

/// Renders token use, scope and cost.
fn facts<'a>(document: &Document<'a>, operation: &Operation<'a>) -> Markup {
    let (class, token) = match document.token_use(operation) {
        TokenUse::Required => ("token required", "Token required"),
        TokenUse::Optional => ("token", "Token optional"),
        TokenUse::None => ("token", "No token"),
    };
    let cost = operation.value.get("x-ratelimit-cost");
    html! {
        ul.facts {
            @if operation.value.get("deprecated") == Some(&Value::Bool(true)) { li.deprecated { "Deprecated" } }
            li class=(class) { (token) }
            @if !operation.text("x-scope").is_empty() {
                li { "Scope " a href="#about-authentication" { code { (operation.text("x-scope")) } } }
            }
            @if let Some(cost) = cost.and_then(Value::as_u64) {
                li { "Cost " (cost) @if cost == 1 { " unit" } @else { " units" } }
            }
        }
    }
}

fn meaning<'a>(
    document: &Document<'a>,
    operation: &Operation<'a>,
    response: &Response<'a>,
) -> Markup {
    if !response.codes.is_empty() {
        return codes(&response.codes);
    }
    let text = document.text(response.value, "description");
    let repeats = [operation.text("summary"), operation.text("description")];
    let sentence = text.trim_end_matches('.');
    let text = match document.content(response.value) {
        Some(_) if repeats.iter().any(|one| one.starts_with(sentence)) => "",
        _ => text,
    };
    let content = document.content(response.value);
    let own = response.header_names();
    let headers: Vec<_> = own
        .difference(&document.common_headers)
        .filter(|_| response.status.starts_with('2'))
        .collect();
    html! {
        @if let Some(content) = content { (type_name(document, schema_of(content))) " " }
        (inline_markdown(text))
        @if !headers.is_empty() {
            " Headers: "
            @for (number, name) in headers.into_iter().enumerate() {
                @if number > 0 { ", " }
                a href="#about-headers" { code { (name) } }
            }
        }
    }
}

/// Renders the form that sends a request. The script shows it.
fn try_form<'a>(document: &Document<'a>, operation: &Operation<'a>, body: Option<Value>) -> Markup {
    let field_id = |name: &str| format!("{}_try_{name}", operation.id);
    html! {
        details.try-it hidden {
            summary { "Try it" }
            form data-method=(operation.method.to_uppercase()) data-path=(operation.path)
                data-returns=[operation.returns_body(document).then_some("")] novalidate {
                div.field {
                    @let id = field_id("token");
                    label for=(id) { "Token" }
                    input.token-field id=(id) type="password" autocomplete="off" spellcheck="false"
                        placeholder=(token_placeholder(document, operation));
                }
                @for parameter in &operation.parameters { (try_field(document, parameter, &field_id)) }
                @if let Some(body) = &body {
                    div.field.wide {
                        @let id = field_id("body");
                        label for=(id) { "Body" }
                        textarea id=(id) name="body" data-in="body" rows="8" spellcheck="false" {
                            "\n" (serde_json::to_string_pretty(body).unwrap_or_default())
                        }
                    }
                }
                div.wide { button type="submit" { "Send request" } }
            }
            div.result aria-live="polite" {}
        }
    }
}

fn try_field<'a>(
    document: &Document<'a>,
    parameter: &'a Value,
    field_id: &dyn Fn(&str) -> String,
) -> Markup {
    let name = document.text(parameter, "name");
    let place = document.text(parameter, "in");
    let schema = parameter_schema(document, parameter);
    let mut values: Vec<_> = enumeration(document, schema).into_iter().map(plain).collect();
    if simple_type(document, schema) == "boolean" {
        values = vec!["true".into(), "false".into()];
    }
    let is_required = parameter.get("required") == Some(&Value::Bool(true));
    let example = parameter_example(document, parameter).map(plain);
    let id = field_id(&format!("{place}_{name}"));
    html! {
        div.field {
            label for=(id) { (name) @if is_required { " " span.required { "required" } } }
            @if values.is_empty() {
                input id=(id) name=(name) data-in=(place) autocomplete="off" spellcheck="false"
                    value=[example.filter(|_| code::is_needed(parameter))];
            } @else {
                select.choice id=(id) name=(name) data-in=(place) {
                    @if !is_required { option value="" { "Default" } }
                    @for value in values { option { (value) } }
                }
            }
        }
    }
}

fn token_placeholder<'a>(document: &Document<'a>, operation: &Operation<'a>) -> &'static str {
    match document.token_use(operation) {
        TokenUse::Required => "required",
        TokenUse::Optional | TokenUse::None => "optional",
    }
}

fn request_example<'a>(document: &Document<'a>, content: &'a Value) -> Value {
    let stated = document.content_examples(content);
    match stated.first() {
        Some((_, stated)) => (*stated).clone(),
        None => example(document, schema_of(content)),
    }
}

fn schema_of(content: &Value) -> &Value {
    content.get("schema").unwrap_or(&Value::Null)
}

impl<'a> Operation<'a> {
    fn request_body(&self, document: &Document<'a>) -> Option<&'a Value> {
        document.content(document.resolve(self.value.get("requestBody")?))
    }

    /// Returns `true` if a successful response has a body.
    pub(super) fn returns_body(&self, document: &Document<'a>) -> bool {
        let success = self.success();
        success.is_some_and(|one| document.content(one.value).is_some())
    }

    fn field_scopes(&self) -> &'a Value {
        self.value.get("x-field-scopes").unwrap_or(&Value::Null)
    }
}
