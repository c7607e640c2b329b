//! Tables of fields and parameters, from JSON Schemas.

use std::collections::BTreeSet;

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::document::{Document, entries, items, slug};
use super::markdown::inline_markdown;
use crate::model::ID_CHARACTERS;

/// Maximum depth of nested schemas. Schemas can be circular.
const MAX_DEPTH: usize = 8;

/// A field of an object or of a nested object.
struct Field<'a> {
    /// Path from the root, such as `items[].author.userId`.
    path: String,
    schema: &'a Value,
    is_required: bool,
}

/// Renders the table of the fields of an object or of the items of an array. With `is_request`, marks required fields.
/// `scopes` has the additional scope of a field.
pub(super) fn field_table<'a>(
    document: &Document<'a>,
    schema: &'a Value,
    is_request: bool,
    scopes: &Value,
) -> Markup {
    // The fields of deeper objects are in the tables of their schemas.
    render_fields(document, schema, 1, is_request, scopes)
}

/// Renders the table of the fields of a named schema, without the fields of nested objects.
pub(super) fn schema_table<'a>(document: &Document<'a>, schema: &'a Value) -> Markup {
    render_fields(document, schema, 0, false, &Value::Null)
}

fn render_fields<'a>(
    document: &Document<'a>,
    schema: &'a Value,
    nested_levels: usize,
    is_request: bool,
    scopes: &Value,
) -> Markup {
    let mut fields = Vec::new();
    collect_fields(document, schema, "", nested_levels, &mut fields);
    if fields.is_empty() {
        return html! { p.type { (type_name(document, schema)) (bounds(document, schema)) } };
    }
    let rows = fields.iter().map(|field| {
        let scope = scopes.get(&field.path).and_then(Value::as_str);
        Row {
            name: &field.path,
            place: "",
            is_required: is_request && field.is_required,
            schema: field.schema,
            description: html! {
                (described(document, field.schema, document.text(field.schema, "description")))
                @if let Some(scope) = scope { " Requires the scope " code { (scope) } "." }
            },
        }
    });
    table(document, rows)
}

/// Renders the table of parameters.
pub(super) fn parameter_table<'a>(document: &Document<'a>, parameters: &[&'a Value]) -> Markup {
    let rows = parameters.iter().map(|parameter| Row {
        name: document.text(parameter, "name"),
        place: document.text(parameter, "in"),
        is_required: parameter.get("required") == Some(&Value::Bool(true)),
        schema: parameter_schema(document, parameter),
        description: described(
            document,
            parameter_schema(document, parameter),
            document.text(parameter, "description"),
        ),
    });
    table(document, rows)
}

/// Renders the table of headers of responses.
pub(super) fn header_table<'a>(
    document: &Document<'a>,
    headers: &[(&'a str, &'a Value)],
) -> Markup {
    let rows = headers.iter().map(|(name, header)| {
        let header = document.resolve(header);
        Row {
            name,
            place: "",
            is_required: false,
            schema: parameter_schema(document, header),
            description: inline_markdown(document.text(header, "description")),
        }
    });
    table(document, rows)
}

/// Renders a description without the sentence about the characters of an id, or else about the default, at its end: the line
/// of the type states both.
fn described<'a>(document: &Document<'a>, schema: &'a Value, text: &str) -> Markup {
    let default = document
        .resolved_field(schema, "default")
        .map(|value| format!("Default: `{}`.", plain(value)));
    let repeated = default.iter().map(String::as_str).chain([ID_CHARACTERS]);
    let mut shortened =
        repeated.filter_map(|sentence| text.strip_suffix(sentence)?.strip_suffix(' '));
    inline_markdown(shortened.next().unwrap_or(text))
}

/// A row of a table of parameters, headers or fields.
struct Row<'a, 'b> {
    name: &'b str,
    /// Place of a parameter, such as `query`.
    place: &'a str,
    is_required: bool,
    schema: &'a Value,
    description: Markup,
}

fn table<'a, 'b>(document: &Document<'a>, rows: impl Iterator<Item = Row<'a, 'b>>) -> Markup {
    html! {
        table.fields {
            thead.visually-hidden { tr { th scope="col" { "Name" } th scope="col" { "Type and description" } } }
            tbody {
                @for row in rows {
                    tr {
                        th scope="row" {
                            code { (breakable(row.name)) }
                            @if !row.place.is_empty() { " " small { (row.place) } }
                            @if row.is_required { " " span.required { "required" } }
                        }
                        td {
                            p.type { (type_name(document, row.schema)) (bounds(document, row.schema)) }
                            (row.description)
                        }
                    }
                }
            }
        }
    }
}

/// Returns the schema of a parameter or header.
pub(super) fn parameter_schema<'a>(document: &Document<'a>, parameter: &'a Value) -> &'a Value {
    let own = parameter.get("schema");
    let content = || document.content(parameter)?.get("schema");
    own.or_else(content).unwrap_or(&Value::Null)
}

/// Returns the example of a parameter.
pub(super) fn parameter_example<'a>(
    document: &Document<'a>,
    parameter: &'a Value,
) -> Option<&'a Value> {
    let mut examples = entries(parameter.get("examples").unwrap_or(&Value::Null));
    let named = || document.resolve(examples.next()?.1).get("value");
    let schema = parameter_schema(document, parameter);
    let of_schema = || stated_example(document, schema);
    parameter.get("example").or_else(named).or_else(of_schema)
}

/// Returns the values of an enumeration, or the known values of one to which later versions can add values.
pub(super) fn enumeration<'a>(document: &Document<'a>, schema: &'a Value) -> Vec<&'a Value> {
    let schema = without_null(document, schema);
    let mut keywords = ["enum", "x-extensible-enum"].into_iter();
    let values = keywords.find_map(|keyword| document.resolved_field(schema, keyword));
    items(values.unwrap_or(&Value::Null)).filter(|value| !value.is_null()).collect()
}

/// Returns the name of the only type of a schema besides `null`.
pub(super) fn simple_type<'a>(document: &Document<'a>, schema: &'a Value) -> &'a str {
    let schema = document.resolve(without_null(document, schema));
    match schema.get("type") {
        Some(Value::String(name)) => name,
        Some(Value::Array(names)) => {
            let mut names = names.iter().filter_map(Value::as_str);
            names.find(|name| *name != "null").unwrap_or_default()
        }
        _ => "",
    }
}

/// Builds a value that conforms to a schema, from its examples, defaults and types.
pub(super) fn example<'a>(document: &Document<'a>, schema: &'a Value) -> Value {
    build_example(document, schema, 0)
}

/// Sorts the members of objects in the order of `required`, which is the order of the fields in the code.
pub(super) fn sorted_members<'a, 'b>(
    document: &Document<'a>,
    schema: &'a Value,
    members: &'b Map<String, Value>,
) -> Vec<(&'b String, &'b Value)> {
    let mut required = Vec::new();
    for part in parts(document, schema) {
        required
            .extend(items(part.get("required").unwrap_or(&Value::Null)).filter_map(Value::as_str));
    }
    let position = |name: &str| required.iter().position(|required| *required == name);
    let mut members: Vec<_> = members.iter().collect();
    members.sort_by_key(|(name, _)| position(name).unwrap_or(usize::MAX));
    members
}

/// Returns the schema of a member of an object.
pub(super) fn member_schema<'a>(
    document: &Document<'a>,
    schema: &'a Value,
    name: &str,
) -> &'a Value {
    let mut parts = parts(document, schema).into_iter();
    parts.find_map(|part| part.get("properties")?.get(name)).unwrap_or(&Value::Null)
}

/// Returns the schema of the items of an array.
pub(super) fn item_schema<'a>(document: &Document<'a>, schema: &'a Value) -> &'a Value {
    let items = document.resolved_field(without_null(document, schema), "items");
    items.unwrap_or(&Value::Null)
}

/// Renders the type of a schema, with links to named schemas.
pub(super) fn type_name<'a>(document: &Document<'a>, schema: &'a Value) -> Markup {
    type_at(document, schema, 0)
}

fn type_at<'a>(document: &Document<'a>, schema: &'a Value, depth: usize) -> Markup {
    let reference = schema.get("$ref").and_then(Value::as_str);
    if let Some(name) = reference.and_then(|path| path.strip_prefix("#/components/schemas/")) {
        return html! { a href={ "#" (schema_fragment(name)) } { (name) } };
    }
    let schema = document.resolve(schema);
    if depth > MAX_DEPTH {
        return html! { "any" };
    }
    for (keyword, word) in [("anyOf", " or "), ("oneOf", " or "), ("allOf", " and ")] {
        let options: Vec<_> = items(schema.get(keyword).unwrap_or(&Value::Null)).collect();
        if !options.is_empty() {
            return html! {
                @for (number, option) in options.into_iter().enumerate() {
                    @if number > 0 { (word) }
                    (type_at(document, option, depth + 1))
                }
            };
        }
    }
    if let Some(value) = schema.get("const") {
        return html! { code { (value.to_string()) } };
    }
    let declared = schema.get("type").unwrap_or(&Value::Null);
    let types: Vec<_> = match declared {
        Value::String(name) => vec![name.as_str()],
        declared => items(declared).filter_map(Value::as_str).collect(),
    };
    html! {
        @if types.is_empty() { "any" }
        @for (number, name) in types.into_iter().enumerate() {
            @if number > 0 { " or " }
            @match (name, schema.get("items")) {
                ("array", Some(items)) => { "array of " (type_at(document, items, depth + 1)) }
                _ => (name)
            }
        }
        @if let Some(format) = schema.get("format").and_then(Value::as_str).filter(|format| is_text_format(format)) {
            " (" (format) ")"
        }
    }
}

/// Returns `true` for a format of texts. The page omits formats of numbers such as `int64`, which do not matter to
/// clients.
fn is_text_format(format: &str) -> bool {
    !(format.starts_with("int")
        || format.starts_with("uint")
        || ["float", "double"].contains(&format))
}

/// Returns the fragment of a named schema on the page.
pub(super) fn schema_fragment(name: &str) -> String {
    format!("schema-{}", slug(name))
}

/// Renders the bounds, the values and the default of a schema.
pub(super) fn bounds<'a>(document: &Document<'a>, schema: &'a Value) -> Markup {
    let inner = without_null(document, schema);
    let field = |name| {
        let value = document.resolved_field(schema, name);
        value.or_else(|| document.resolved_field(inner, name))
    };
    let number = |name| field(name).filter(|value| value.is_number());
    let ranges = [
        range(number("minimum"), number("maximum"), ""),
        number("exclusiveMinimum").map(|bound| format!("more than {bound}")),
        number("exclusiveMaximum").map(|bound| format!("less than {bound}")),
        number("multipleOf").map(|bound| format!("multiple of {bound}")),
        range(number("minLength"), number("maxLength"), "characters"),
        range(number("minItems"), number("maxItems"), "items"),
        range(number("minProperties"), number("maxProperties"), "fields"),
        (field("uniqueItems") == Some(&Value::Bool(true))).then(|| "no duplicates".into()),
    ];
    let values = enumeration(document, schema);
    let is_open = field("x-extensible-enum").is_some();
    html! {
        @for range in ranges.into_iter().flatten() { " · " (range) }
        @if !values.is_empty() {
            @if is_open { " · known values " } @else { " · one of " }
            @for (number, value) in values.into_iter().enumerate() {
                @if number > 0 { ", " }
                code { (plain(value)) }
            }
        }
        @if let Some(pattern) = field("pattern").and_then(Value::as_str) { (pattern_in_words(pattern)) }
        @if let Some(default) = field("default") { " · default " code { (plain(default)) } }
    }
}

/// Renders a regular expression in words if it is one of the library. A pattern of a host is shown as it is. The descriptions
/// of parameters explain longer patterns of the library, which are omitted.
fn pattern_in_words(pattern: &str) -> Markup {
    const SEVERAL: &str = "[A-Za-z0-9_-]{2,64}";
    let words = match pattern.trim_start_matches('^').trim_end_matches('$') {
        "([A-Za-z0-9_]|[A-Za-z0-9_-]{2,64})" => "1 to 64 letters, digits, `_` and `-`",
        "[!-~]{1,64}" => "1 to 64 visible ASCII characters",
        "sha256=[0-9a-f]{64}" => "`sha256=` and 64 hexadecimal digits",
        known if known.contains(SEVERAL) || known.starts_with("(24h|") => return html! {},
        _ => return html! { " · " code { (pattern) } },
    };
    html! { " · " (inline_markdown(words)) }
}

fn range(minimum: Option<&Value>, maximum: Option<&Value>, unit: &str) -> Option<String> {
    let bounds = match (minimum, maximum) {
        (Some(minimum), Some(maximum)) if minimum == maximum => format!("exactly {minimum}"),
        (Some(minimum), Some(maximum)) => format!("{minimum} to {maximum}"),
        (Some(minimum), None) => format!("at least {minimum}"),
        (None, Some(maximum)) => format!("at most {maximum}"),
        (None, None) => return None,
    };
    Some(format!("{bounds} {unit}").trim_end().to_owned())
}

/// Returns the text of a value as it is written in a URL.
pub(super) fn plain(value: &Value) -> String {
    let text = value.as_str().map(str::to_owned);
    text.unwrap_or_else(|| value.to_string())
}

/// Renders a name that can wrap after a dot, a closing bracket, a hyphen or an underscore.
fn breakable(name: &str) -> Markup {
    html! {
        @for part in name.split_inclusive(['.', ']', '-', '_']) { (part) wbr; }
    }
}

/// Returns the other schema of a union of `null` and one schema. Returns any other schema unchanged.
fn without_null<'a>(document: &Document<'a>, schema: &'a Value) -> &'a Value {
    match &*options(document, schema) {
        [only] => only,
        _ => schema,
    }
}

/// Returns the schemas of a union, without `null`.
fn options<'a>(document: &Document<'a>, schema: &'a Value) -> Vec<&'a Value> {
    let schema = document.resolve(schema);
    let union = schema.get("anyOf").or(schema.get("oneOf"));
    items(union.unwrap_or(&Value::Null))
        .filter(|option| option.get("type").and_then(Value::as_str) != Some("null"))
        .collect()
}

/// Returns a schema and the parts of its `allOf`, with resolved references. For a union, returns this for its first
/// option.
fn parts<'a>(document: &Document<'a>, schema: &'a Value) -> Vec<&'a Value> {
    let first = options(document, schema).first().copied();
    let schema = document.resolve(first.unwrap_or(schema));
    let all = items(schema.get("allOf").unwrap_or(&Value::Null));
    std::iter::once(schema).chain(all.map(|part| document.resolve(part))).collect()
}

fn collect_fields<'a>(
    document: &Document<'a>,
    schema: &'a Value,
    prefix: &str,
    nested_levels: usize,
    fields: &mut Vec<Field<'a>>,
) {
    let parts = parts(document, schema);
    let required: BTreeSet<_> = parts
        .iter()
        .flat_map(|part| items(part.get("required").unwrap_or(&Value::Null)))
        .filter_map(Value::as_str)
        .collect();
    let properties = parts.iter().filter_map(|part| part.get("properties")?.as_object());
    for properties in properties {
        for (name, property) in sorted_members(document, schema, properties) {
            let path = format!("{prefix}{name}");
            let is_required = required.contains(name.as_str());
            let item = item_schema(document, property);
            fields.push(Field { path: path.clone(), schema: property, is_required });
            if let Some(levels) = nested_levels.checked_sub(1) {
                let (nested, separator) = match item {
                    Value::Null => (property, "."),
                    item => (item, "[]."),
                };
                collect_fields(document, nested, &format!("{path}{separator}"), levels, fields);
            }
        }
    }
    let item = item_schema(document, schema);
    if prefix.is_empty() && !item.is_null() {
        collect_fields(document, item, "[].", nested_levels, fields);
    }
}

fn stated_example<'a>(document: &Document<'a>, schema: &'a Value) -> Option<&'a Value> {
    let examples = document.resolved_field(schema, "examples");
    examples
        .and_then(|examples| examples.get(0))
        .or_else(|| document.resolved_field(schema, "example"))
        .or_else(|| document.resolved_field(schema, "const"))
}

fn build_example<'a>(document: &Document<'a>, schema: &'a Value, depth: usize) -> Value {
    let stated =
        stated_example(document, schema).or_else(|| document.resolved_field(schema, "default"));
    if let Some(example) = stated {
        return example.clone();
    }
    if let [first, ..] = *enumeration(document, schema) {
        return first.clone();
    }
    if depth > MAX_DEPTH {
        return Value::Null;
    }
    let resolved = document.resolve(schema);
    if let Some(first) = options(document, schema).first() {
        return build_example(document, first, depth + 1);
    }
    match simple_type(document, schema) {
        "array" => {
            let item = item_schema(document, schema);
            vec![build_example(document, item, depth + 1)].into()
        }
        "boolean" => false.into(),
        "null" => Value::Null,
        "integer" | "number" => resolved.get("minimum").cloned().unwrap_or(1.into()),
        "string" => "text".into(),
        _ => {
            let mut members = Map::new();
            for part in parts(document, schema) {
                for (name, property) in entries(part.get("properties").unwrap_or(&Value::Null)) {
                    members.insert(name.into(), build_example(document, property, depth + 1));
                }
            }
            members.into()
        }
    }
}
