//! Parts of an OpenAPI document: operations, webhooks, groups and responses. Missing and malformed parts are skipped.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Map, Value};

/// The methods of a path item, in the order in which the page lists them.
const METHODS: [&str; 8] = ["get", "head", "post", "put", "patch", "delete", "options", "trace"];

/// Maximum length of a chain of `$ref`. A chain can be circular.
const MAX_REFERENCES: usize = 16;

/// Fragments to which several parts of the page, or other pages, link.
const LINKED: [&str; 4] =
    ["about-authentication", "about-common-errors", "about-headers", "group-webhooks"];

/// An OpenAPI document, with its derived parts.
#[derive(Debug)]
pub(super) struct Document<'a> {
    root: &'a Value,
    /// Values of `components`, by the `$ref` that names them.
    components: HashMap<String, &'a Value>,
    /// Fragments of the operations and webhooks, and those of [`LINKED`].
    pub(super) fragments: BTreeSet<String>,
    pub(super) groups: Vec<Group<'a>>,
    pub(super) webhooks: Vec<Operation<'a>>,
    /// Names of the headers that each response of each operation has.
    pub(super) common_headers: BTreeSet<&'a str>,
    /// Errors that each operation has, by status, with their codes.
    pub(super) common_errors: BTreeMap<&'a str, Vec<&'a str>>,
}

/// Operations with the same first tag.
#[derive(Debug)]
pub(super) struct Group<'a> {
    pub(super) name: &'a str,
    pub(super) description: &'a str,
    pub(super) operations: Vec<Operation<'a>>,
}

#[derive(Debug)]
pub(super) struct Operation<'a> {
    /// Fragment of the operation on the page: its `operationId` or its method and path.
    pub(super) id: String,
    pub(super) title: String,
    pub(super) method: &'a str,
    /// The path, or the name of a webhook.
    pub(super) path: &'a str,
    pub(super) value: &'a Value,
    /// Resolved parameters of the path item and of the operation.
    pub(super) parameters: Vec<&'a Value>,
    pub(super) responses: Vec<Response<'a>>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Response<'a> {
    pub(super) status: &'a str,
    /// The resolved response.
    pub(super) value: &'a Value,
    /// Values of `error.code` in the examples.
    pub(super) codes: Vec<&'a str>,
}

/// Use of a token by an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenUse {
    None,
    Optional,
    Required,
}

impl<'a> Document<'a> {
    pub(super) fn new(root: &'a Value) -> Self {
        let mut document = Self {
            root,
            components: components(root),
            fragments: BTreeSet::new(),
            groups: Vec::new(),
            webhooks: Vec::new(),
            common_headers: BTreeSet::new(),
            common_errors: BTreeMap::new(),
        };
        let mut fragments = BTreeSet::from(LINKED.map(String::from));
        let operations = document.operations("paths", &mut fragments);
        document.webhooks = document.operations("webhooks", &mut fragments);
        document.fragments = fragments;
        document.common_headers = common_headers(&operations);
        document.common_errors = common_errors(&operations);
        document.groups = document.group(operations);
        document
    }

    /// Returns a value of the root by its JSON pointer.
    pub(super) fn get(&self, pointer: &str) -> &'a Value {
        self.root.pointer(pointer).unwrap_or(&Value::Null)
    }

    /// Follows `$ref`. Returns null for a reference to another document, to a missing value, or in a circular chain.
    pub(super) fn resolve(&self, mut value: &'a Value) -> &'a Value {
        for _ in 0..MAX_REFERENCES {
            let Some(reference) = value.get("$ref").and_then(Value::as_str) else {
                return value;
            };
            value = match self.components.get(reference) {
                Some(component) => component,
                None => reference.strip_prefix('#').map_or(&Value::Null, |at| self.get(at)),
            };
        }
        &Value::Null
    }

    /// Returns a field of a value. The field can be beside a `$ref`, or in the value to which the `$ref` refers.
    pub(super) fn resolved_field(&self, value: &'a Value, name: &str) -> Option<&'a Value> {
        value.get(name).or_else(|| self.resolve(value).get(name))
    }

    /// Returns a text field of a value, or an empty text.
    pub(super) fn text(&self, value: &'a Value, name: &str) -> &'a str {
        let text = self.resolved_field(value, name).and_then(Value::as_str);
        text.unwrap_or_default()
    }

    /// Returns the description of a tag.
    pub(super) fn tag_description(&self, name: &str) -> &'a str {
        let mut tags = items(self.get("/tags"));
        let tag = tags.find(|tag| tag.get("name").and_then(Value::as_str) == Some(name));
        tag.map_or("", |tag| self.text(tag, "description"))
    }

    /// Returns the JSON content of a resolved request or response. Other media types follow JSON.
    pub(super) fn content(&self, value: &'a Value) -> Option<&'a Value> {
        let content = value.get("content")?.as_object()?;
        let json = content.get("application/json");
        json.or_else(|| content.values().next()).map(|content| self.resolve(content))
    }

    /// Returns the token use of an operation. If the operation has no `security`, the `security` of the document
    /// applies.
    pub(super) fn token_use(&self, operation: &Operation<'a>) -> TokenUse {
        let own = operation.value.get("security");
        let requirements: Vec<_> = items(own.unwrap_or(self.get("/security"))).collect();
        let is_empty = |value: &&Value| value.as_object().is_some_and(Map::is_empty);
        if requirements.is_empty() {
            TokenUse::None
        } else if !requirements.iter().any(is_empty) {
            TokenUse::Required
        } else if requirements.iter().all(is_empty) {
            TokenUse::None
        } else {
            TokenUse::Optional
        }
    }

    fn operations(&self, section: &str, fragments: &mut BTreeSet<String>) -> Vec<Operation<'a>> {
        let mut operations = Vec::new();
        for (path, item) in entries(self.get(&format!("/{section}"))) {
            let item = self.resolve(item);
            for method in METHODS {
                let Some(value) = item.get(method).filter(|value| value.is_object()) else {
                    continue;
                };
                let declared = text(value, "operationId");
                let id = slug(if declared.is_empty() {
                    format!("{method}{path}")
                } else {
                    declared.into()
                });
                operations.push(Operation {
                    id: unique_fragment(id, fragments),
                    title: title(section, method, path, value),
                    method,
                    path,
                    value,
                    parameters: self.parameters(item, value),
                    responses: self.responses(value),
                });
            }
        }
        operations
    }

    /// Returns the parameters of the path item that the operation does not replace, followed by the parameters of the
    /// operation.
    fn parameters(&self, item: &'a Value, operation: &'a Value) -> Vec<&'a Value> {
        let list = |value: &'a Value| {
            let parameters = items(value.get("parameters").unwrap_or(&Value::Null));
            parameters.map(|parameter| self.resolve(parameter))
        };
        let key = |parameter: &'a Value| (text(parameter, "name"), text(parameter, "in"));
        let own: Vec<_> = list(operation).collect();
        let inherited = list(item).filter(|one| !own.iter().any(|other| key(other) == key(one)));
        inherited
            .chain(own.iter().copied())
            .filter(|parameter| !key(parameter).0.is_empty())
            .collect()
    }

    fn responses(&self, operation: &'a Value) -> Vec<Response<'a>> {
        let responses = entries(operation.get("responses").unwrap_or(&Value::Null));
        responses
            .map(|(status, value)| {
                let value = self.resolve(value);
                Response { status, value, codes: self.codes(value) }
            })
            .collect()
    }

    fn codes(&self, response: &'a Value) -> Vec<&'a str> {
        let Some(content) = self.content(response) else {
            return Vec::new();
        };
        let mut codes = Vec::new();
        for (_, example) in self.content_examples(content) {
            let code = example.pointer("/error/code").and_then(Value::as_str);
            codes.extend(code.filter(|code| !codes.contains(code)));
        }
        codes
    }

    /// Returns the examples of a content, with their names. The name of a single example is empty.
    pub(super) fn content_examples(&self, content: &'a Value) -> Vec<(&'a str, &'a Value)> {
        if let Some(example) = content.get("example") {
            return vec![("", example)];
        }
        entries(content.get("examples").unwrap_or(&Value::Null))
            .filter_map(|(name, example)| Some((name, self.resolve(example).get("value")?)))
            .collect()
    }

    fn group(&self, operations: Vec<Operation<'a>>) -> Vec<Group<'a>> {
        let new_group =
            |name| Group { name, description: self.tag_description(name), operations: Vec::new() };
        let tags = items(self.get("/tags")).map(|tag| text(tag, "name"));
        let mut groups: Vec<_> = tags.map(new_group).collect();
        for operation in operations {
            let name = operation.tag();
            match groups.iter_mut().find(|group| group.name == name) {
                Some(group) => group.operations.push(operation),
                None => {
                    let mut group = new_group(name);
                    group.operations.push(operation);
                    groups.push(group);
                }
            }
        }
        groups.retain(|group| !group.operations.is_empty());
        groups
    }
}

impl<'a> Operation<'a> {
    /// Returns the first tag, or an empty text.
    pub(super) fn tag(&self) -> &'a str {
        let tag = self.value.pointer("/tags/0").and_then(Value::as_str);
        tag.unwrap_or_default()
    }

    pub(super) fn text(&self, name: &str) -> &'a str {
        text(self.value, name)
    }

    /// Returns the first response of the class 2xx.
    pub(super) fn success(&self) -> Option<&Response<'a>> {
        let mut responses = self.responses.iter();
        responses.find(|response| response.status.starts_with('2'))
    }
}

impl<'a> Response<'a> {
    pub(super) fn is_error(&self) -> bool {
        self.status.starts_with(['4', '5'])
    }

    /// Returns the names of the headers.
    pub(super) fn header_names(&self) -> BTreeSet<&'a str> {
        let headers = entries(self.value.get("headers").unwrap_or(&Value::Null));
        headers.map(|(name, _)| name).collect()
    }
}

/// Returns the items of an array, and nothing for other values.
pub(super) fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Returns the entries of an object, and nothing for other values.
pub(super) fn entries(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let entries = value.as_object().into_iter().flatten();
    entries.map(|(name, value)| (name.as_str(), value))
}

/// Returns the components by their `$ref`, except those with a name that a JSON pointer escapes.
fn components(root: &Value) -> HashMap<String, &Value> {
    let kinds = entries(&root["components"]);
    let named = kinds.flat_map(|(kind, values)| {
        let reference = move |name| format!("#/components/{kind}/{name}");
        entries(values).map(move |(name, value)| (reference(name), value))
    });
    named.filter(|(name, _)| !name.contains('~') && name.matches('/').count() == 3).collect()
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Adds a fragment to those of the page, with hyphens at the end of one that the page has already.
pub(super) fn unique_fragment(mut fragment: String, fragments: &mut BTreeSet<String>) -> String {
    while !fragments.insert(fragment.clone()) {
        fragment.push('-');
    }
    fragment
}

/// Replaces the characters that a fragment of a URL or an attribute of HTML cannot contain.
pub(super) fn slug(text: impl AsRef<str>) -> String {
    let words: Vec<_> = text
        .as_ref()
        .split(|character: char| {
            !(character.is_ascii_alphanumeric() || ['-', '_', '.'].contains(&character))
        })
        .filter(|word| !word.is_empty())
        .collect();
    words.join("-")
}

fn common_headers<'a>(operations: &[Operation<'a>]) -> BTreeSet<&'a str> {
    let responses = operations
        .iter()
        .flat_map(|operation| &operation.responses)
        .map(|response| response.header_names());
    responses.reduce(|common, names| &common & &names).unwrap_or_default()
}

fn common_errors<'a>(operations: &[Operation<'a>]) -> BTreeMap<&'a str, Vec<&'a str>> {
    let errors = operations.iter().map(|operation| {
        let errors = operation.responses.iter().filter(|one| one.is_error());
        let codes = errors.map(|error| (error.status, error.codes.clone()));
        codes.collect::<BTreeMap<_, _>>()
    });
    let common = errors.reduce(|mut common, errors| {
        common.retain(|status, codes| errors.get(status) == Some(codes));
        common
    });
    common.unwrap_or_default()
}

/// Returns the title of an operation: `List posts` for the id `listPosts`, else the summary, else method and path.
fn title(section: &str, method: &str, path: &str, operation: &Value) -> String {
    if section == "webhooks" {
        return path.into();
    }
    let id = text(operation, "operationId");
    let summary = text(operation, "summary");
    match (id.is_empty(), summary.is_empty()) {
        (false, _) => words(id),
        (true, false) => summary.into(),
        (true, true) => format!("{} {path}", method.to_uppercase()),
    }
}

/// Splits a name in camel case or snake case into words, the first with a capital.
pub(super) fn words(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 4);
    for character in name.chars() {
        match character {
            '_' | '-' => words.push(' '),
            first if words.is_empty() => words.extend(first.to_uppercase()),
            capital if capital.is_uppercase() => {
                words.push(' ');
                words.extend(capital.to_lowercase());
            }
            other => words.push(other),
        }
    }
    words
}
