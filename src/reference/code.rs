//! Code blocks: JSON with marked keys and values, and samples of requests.

use std::fmt::Write as _;

use maud::{Markup, html};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde_json::Value;

use super::document::{Document, Operation, TokenUse};
use super::schema::{
    enumeration, item_schema, member_schema, parameter_example, parameter_schema, plain,
    sorted_members,
};

/// Characters that are encoded in the variables of a path and in the values of a query.
const ENCODED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'&')
    .add(b'\'')
    .add(b'+')
    .add(b'/')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    // curl expands brackets and braces of a URL.
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// Characters of a path that are encoded, because they could end a string in one of the languages.
const QUOTED: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'\'').add(b'\\').add(b'`');

/// Renders JSON in several lines. Members have the order of the schema.
pub(super) fn json<'a>(document: &Document<'a>, schema: &'a Value, value: &Value) -> Markup {
    html! { pre tabindex="0" { code { (json_lines(document, schema, value, 0)) } } }
}

fn json_lines<'a>(
    document: &Document<'a>,
    schema: &'a Value,
    value: &Value,
    depth: usize,
) -> Markup {
    let line = |depth: usize| format!("\n{}", "  ".repeat(depth));
    html! {
        @match value {
            Value::Object(members) if !members.is_empty() => {
                "{"
                @for (number, (name, member)) in sorted_members(document, schema, members).into_iter().enumerate() {
                    @if number > 0 { "," }
                    (line(depth + 1)) b { (Value::from(name.as_str()).to_string()) } ": "
                    (json_lines(document, member_schema(document, schema, name), member, depth + 1))
                }
                (line(depth)) "}"
            }
            Value::Array(items) if !items.is_empty() => {
                "["
                @for (number, item) in items.iter().enumerate() {
                    @if number > 0 { "," }
                    (line(depth + 1)) (json_lines(document, item_schema(document, schema), item, depth + 1))
                }
                (line(depth)) "]"
            }
            Value::String(text) => i { (Value::from(text.as_str()).to_string()) }
            other => (other.to_string())
        }
    }
}

/// A request with example values, to be written in several languages.
struct SampleRequest {
    method: String,
    /// Path and query below the base URL.
    target: String,
    sends_token: bool,
    has_key: bool,
    body: Option<Value>,
    has_response_body: bool,
}

/// Renders a request in each language. The base URL is in elements of the class `base`.
pub(super) fn samples<'a>(
    document: &Document<'a>,
    operation: &Operation<'a>,
    base_url: &str,
    body: Option<Value>,
) -> Markup {
    let request = SampleRequest::new(document, operation, body);
    let languages = [
        ("curl", request.curl()),
        ("TypeScript", request.typescript()),
        ("Python", request.python()),
    ];
    html! {
        fieldset.samples {
            legend.visually-hidden { "Sample of " (operation.title) }
            @for (number, (language, _)) in languages.iter().enumerate() {
                @let id = format!("{}_{language}", operation.id);
                input type="radio" id=(id) name={ (operation.id) "_language" } value=(language) checked[number == 0];
                label for=(id) { (language) }
            }
            @for (_, code) in &languages {
                div.code.copyable {
                    pre tabindex="0" {
                        code {
                            @for (number, part) in code.split(BASE_URL).enumerate() {
                                @if number > 0 { span.base { (base_url) } }
                                (part)
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Placeholder of the base URL. No text of JSON or of an encoded URL contains the character.
const BASE_URL: char = '\0';

/// Returns whether a request without this parameter, and without other optional ones, fails.
pub(super) fn is_needed(parameter: &Value) -> bool {
    let schema = parameter.get("schema");
    parameter.get("required") == Some(&Value::Bool(true))
        || schema.is_some_and(|schema| schema.get("x-required-unless").is_some())
}

impl SampleRequest {
    fn new<'a>(document: &Document<'a>, operation: &Operation<'a>, body: Option<Value>) -> Self {
        let mut target = operation.path.to_owned();
        let mut query = String::new();
        for parameter in &operation.parameters {
            let name = document.text(parameter, "name");
            let schema = parameter_schema(document, parameter);
            let example = parameter_example(document, parameter)
                .or_else(|| enumeration(document, schema).first().copied())
                .map_or_else(|| "text".into(), plain);
            let value = utf8_percent_encode(&example, ENCODED);
            match document.text(parameter, "in") {
                "path" => target = target.replace(&format!("{{{name}}}"), &value.to_string()),
                "query" if is_needed(parameter) => {
                    let separator = if query.is_empty() { '?' } else { '&' };
                    // Writing to a text cannot fail.
                    let _ = write!(query, "{separator}{name}={value}");
                }
                _ => {}
            }
        }
        let has_key = operation.parameters.iter().any(|parameter| {
            let name = document.text(parameter, "name");
            name.eq_ignore_ascii_case("idempotency-key")
        });
        Self {
            method: operation.method.to_uppercase(),
            target: utf8_percent_encode(&(target + &query), QUOTED).to_string(),
            sends_token: document.token_use(operation) == TokenUse::Required,
            has_key,
            body,
            has_response_body: operation.returns_body(document),
        }
    }

    fn curl(&self) -> String {
        let command = match &*self.method {
            "GET" => "curl".into(),
            method => format!("curl -X {method}"),
        };
        // The URL has a line of its own, so that no line is cut on a screen of 1,280 pixels.
        let mut lines = vec![command, format!("'{BASE_URL}{}'", self.target)];
        if self.sends_token {
            lines.push("-H \"Authorization: Bearer $FORUM_TOKEN\"".into());
        }
        if self.has_key {
            lines.push("-H \"Idempotency-Key: $(date +%s%N)-$$\"".into());
        }
        if let Some(body) = &self.body {
            lines.push("-H 'Content-Type: application/json'".into());
            let body = indented(&shell_text(&pretty(body)), "  ");
            lines.push(format!("-d '{body}'"));
        }
        lines.join(" \\\n  ")
    }

    fn typescript(&self) -> String {
        let mut headers = Vec::new();
        if self.sends_token {
            headers.push("Authorization: `Bearer ${process.env.FORUM_TOKEN}`".to_owned());
        }
        if self.has_key {
            headers.push("\"Idempotency-Key\": crypto.randomUUID()".into());
        }
        if self.body.is_some() {
            headers.push("\"Content-Type\": \"application/json\"".into());
        }
        let mut options = Vec::new();
        if self.method != "GET" {
            options.push(format!("method: \"{}\"", self.method));
        }
        if !headers.is_empty() {
            let headers = headers.join(",\n    ");
            options.push(format!("headers: {{\n    {headers},\n  }}"));
        }
        if let Some(body) = &self.body {
            let body = indented(&pretty(body), "  ");
            options.push(format!("body: JSON.stringify({body})"));
        }
        let options = if options.is_empty() {
            String::new()
        } else {
            format!(", {{\n  {},\n}}", options.join(",\n  "))
        };
        let data =
            if self.has_response_body { "\nconst data = await response.json();" } else { "" };
        format!(
            "const url =\n  \"{BASE_URL}{}\";\nconst response = await fetch(url{options});\nif (!response.ok) throw new Error(await \
             response.text());{data}",
            self.target
        )
    }

    fn python(&self) -> String {
        let mut imports = String::new();
        let mut headers = Vec::new();
        if self.sends_token {
            imports.push_str("import os\n");
            headers.push("\"Authorization\": f\"Bearer {os.environ['FORUM_TOKEN']}\"");
        }
        if self.has_key {
            imports.push_str("import uuid\n");
            headers.push("\"Idempotency-Key\": str(uuid.uuid4())");
        }
        if !imports.is_empty() {
            imports.push('\n');
        }
        let mut arguments = vec![format!("\"{BASE_URL}{}\"", self.target)];
        if !headers.is_empty() {
            let headers = headers.join(",\n        ");
            arguments.push(format!("headers={{\n        {headers},\n    }}"));
        }
        if let Some(body) = &self.body {
            let mut literal = String::new();
            python_literal(body, 1, &mut literal);
            arguments.push(format!("json={literal}"));
        }
        let data = if self.has_response_body { "\ndata = response.json()" } else { "" };
        format!(
            "{imports}import requests\n\nresponse = requests.{}(\n    {},\n)\nresponse.raise_for_status(){data}",
            self.method.to_lowercase(),
            arguments.join(",\n    ")
        )
    }
}

fn pretty(value: &Value) -> String {
    // Serialization fails only for maps whose keys are not strings, and a JSON value contains no such map.
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// Escapes a text for single quotation marks of a shell.
fn shell_text(text: &str) -> String {
    text.replace('\'', r"'\''")
}

fn indented(text: &str, indent: &str) -> String {
    text.replace('\n', &format!("\n{indent}"))
}

fn python_literal(value: &Value, depth: usize, literal: &mut String) {
    let line = |depth: usize| format!("\n{}", "    ".repeat(depth));
    match value {
        Value::Null => literal.push_str("None"),
        Value::Bool(true) => literal.push_str("True"),
        Value::Bool(false) => literal.push_str("False"),
        Value::Array(items) if !items.is_empty() => {
            literal.push('[');
            for item in items {
                literal.push_str(&line(depth + 1));
                python_literal(item, depth + 1, literal);
                literal.push(',');
            }
            literal.push_str(&line(depth));
            literal.push(']');
        }
        Value::Object(members) if !members.is_empty() => {
            literal.push('{');
            for (name, member) in members {
                literal.push_str(&line(depth + 1));
                literal.push_str(&Value::from(name.as_str()).to_string());
                literal.push_str(": ");
                python_literal(member, depth + 1, literal);
                literal.push(',');
            }
            literal.push_str(&line(depth));
            literal.push('}');
        }
        other => literal.push_str(&other.to_string()),
    }
}
