//! The OpenAPI document of both surfaces: its content, what client generators need, and its webhooks
//! (`docs/protocol.md`, section 14).

use std::collections::BTreeMap;

use forum_api::model::{DateRange, UserRef};
use forum_api::openapi_document;
use forum_api::webhook::Event;
use regex_automata::nfa::thompson::pikevm::PikeVM;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Map;

use crate::support::rows::COMPACT_SCOPES;
use crate::support::schema::{check, check_request};
use crate::support::*;

const BOTH: [Surface; 2] = [Surface::Full, Surface::Compact];

/// Codes of both surfaces.
#[rustfmt::skip]
const COMPACT_CODES: [&str; 8] = [
    "bad_request", "unauthenticated", "missing_scope", "owner_unavailable", "no_such_route", "rate_limited",
    "internal_error", "not_implemented",
];

/// Further codes of the full surface.
#[rustfmt::skip]
const FULL_CODES: [&str; 7] = [
    "not_found", "board_offline", "FORBIDDEN", "NOT_FOUND", "CONFLICT", "VALIDATION", "RATE_LIMITED",
];

pub(crate) fn document(surface: Surface) -> Value {
    openapi_document(&settings(), &Environment::default().surface(surface))
}

pub(crate) fn operation<'a>(document: &'a Value, row: &Row) -> &'a Value {
    &document["paths"][row.template][row.method.to_lowercase()]
}

/// Returns the parameters of an operation.
pub(crate) fn parameters<'a>(document: &'a Value, row: &Row) -> impl Iterator<Item = &'a Value> {
    let parameters = operation(document, row)["parameters"].as_array().unwrap().iter();
    parameters.map(|parameter| resolve_ref(document, parameter))
}

fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().unwrap()
}

fn keys(value: &Value) -> BTreeSet<&str> {
    object(value).keys().map(String::as_str).collect()
}

/// Returns every object and list of the document with its path.
fn parts(document: &Value) -> Vec<(String, &Value)> {
    let mut parts = vec![(String::new(), document)];
    let mut next = 0;
    while let Some((path, part)) = parts.get(next).cloned() {
        let fields = part.as_object().into_iter().flatten();
        let items = part.as_array().into_iter().flatten().enumerate();
        parts.extend(fields.map(|(name, field)| (format!("{path}/{name}"), field)));
        parts.extend(items.map(|(index, item)| (format!("{path}/{index}"), item)));
        next += 1;
    }
    parts
}

/// Returns the media type object of each JSON body with its path.
pub(crate) fn json_bodies(document: &Value) -> impl Iterator<Item = (String, &Value)> {
    let parts = parts(document).into_iter();
    parts.filter(|(path, _)| path.ends_with("/application/json"))
}

fn schemas(document: &Value) -> &Map<String, Value> {
    object(&document["components"]["schemas"])
}

#[test]
fn operations_match_the_table_of_endpoints() {
    for surface in BOTH {
        let document = document(surface);
        assert_eq!(document["openapi"], "3.1.0");
        let listed = object(&document["paths"]).iter().flat_map(|(path, item)| {
            let methods = keys(item).into_iter().filter(|key| *key != "x-route");
            methods.map(move |method| (method.to_uppercase(), path.clone()))
        });
        let expected = rows(surface).map(|row| (row.method.into(), row.template.into()));
        assert_eq!(listed.collect::<BTreeSet<_>>(), expected.collect::<BTreeSet<_>>());
        let mut ids = BTreeSet::new();
        for row in rows(surface) {
            let operation = operation(&document, row);
            let bearer = json!({ "bearerAuth": [] });
            let security = if row.needs_token { json!([bearer]) } else { json!([{}, bearer]) };
            assert_eq!(operation["x-scope"], row.scope, "{row:?}");
            assert_eq!(operation["x-ratelimit-cost"], row.cost, "{row:?}");
            assert_eq!(operation["security"], security, "{row:?}");
            let has_body = operation.get("requestBody").is_some();
            assert_eq!(has_body, !row.body.is_empty(), "{row:?}");
            let statuses = keys(&operation["responses"]);
            let success = row.success.to_string();
            assert!(statuses.contains(&*success), "{row:?}");
            let is_created = operation["responses"][success]["description"] == "Created.";
            assert_eq!(is_created, row.success == 201, "{row:?}");
            for status in ["400", "401", "403", "429", "500", "501"] {
                assert!(statuses.contains(status), "{status} {row:?}");
            }
            let variables = parameters(&document, row).filter(|one| one["in"] == "path");
            assert_eq!(variables.count(), row.template.matches('{').count());
            assert!(ids.insert(operation["operationId"].to_string()), "{row:?}");
        }
    }
}

#[test]
fn descriptions_of_operations_state_scope_and_cost_in_a_paragraph() {
    for surface in BOTH {
        let document = document(surface);
        for row in rows(surface) {
            let rule = if row.needs_token {
                "Requires a token with the scope"
            } else {
                "Requires no token. If you send a token, it must have the scope"
            };
            let unit = if row.cost == 1 { "unit" } else { "units" };
            let expected = format!("{rule} `{}`. Costs {} {unit}.", row.scope, row.cost);
            let description = operation(&document, row)["description"].as_str().unwrap();
            let paragraphs: Vec<_> = description.split("\n\n").collect();
            assert!(paragraphs.contains(&&*expected), "{expected} {description}");
            assert!(!paragraphs.contains(&""), "{row:?} {description}");
        }
    }
}

#[test]
fn operations_with_the_field_subscribe_name_its_scope() {
    for (surface, scope, operations) in [
        (Surface::Full, json!({ "subscribe": "subscriptions:write" }), 2),
        (Surface::Compact, Value::Null, 1),
    ] {
        let document = document(surface);
        let mut count = 0;
        for row in rows(surface).filter(|row| row.method == "POST") {
            let operation = operation(&document, row);
            let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
            let properties = &resolve_ref(&document, schema)["properties"];
            let has_field = properties.get("subscribe").is_some();
            let description = operation["description"].as_str().unwrap();
            let is_described = description.contains("`subscribe: true`");
            assert_eq!(is_described, has_field, "{row:?}");
            if has_field {
                assert_eq!(operation["x-field-scopes"], scope, "{row:?}");
                count += 1;
            }
        }
        assert_eq!(count, operations);
    }
}

#[test]
fn the_surfaces_have_13_and_8_scopes_and_15_and_8_codes() {
    let full = document(Surface::Full);
    let compact = document(Surface::Compact);
    let full_codes: BTreeSet<_> = COMPACT_CODES.into_iter().chain(FULL_CODES).collect();
    for (document, scopes, codes) in [
        (&full, &FULL_SCOPES[..], full_codes),
        (&compact, &COMPACT_SCOPES, BTreeSet::from(COMPACT_CODES)),
    ] {
        let scopes: BTreeSet<_> = scopes.iter().copied().collect();
        assert_eq!(keys(&document["info"]["x-scopes"]), scopes);
        assert_eq!(keys(&document["info"]["x-errors"]), codes);
    }
    let text = compact.to_string();
    for code in FULL_CODES {
        let is_listed =
            text.contains(&format!("\"{code}\"")) || text.contains(&format!("`{code}`"));
        assert!(!is_listed, "{code}");
    }
    let missing = FULL_SCOPES.iter().filter(|scope| !COMPACT_SCOPES.contains(scope));
    for scope in missing {
        assert!(!text.contains(&format!("\"{scope}\"")), "{scope}");
    }
}

#[test]
fn the_compact_surface_has_colon_routes_and_a_default_response() {
    let compact = document(Surface::Compact);
    for row in rows(Surface::Compact) {
        let route = row.template.replace('{', ":").replace('}', "");
        assert_eq!(compact["paths"][row.template]["x-route"], route);
        let responses = &operation(&compact, row)["responses"];
        assert!(responses.get("default").is_some(), "{row:?}");
        assert!(responses.get("404").is_none() && responses.get("503").is_none());
    }
    assert!(!document(Surface::Full).to_string().contains("x-route"));
}

#[tokio::test]
async fn the_served_document_names_the_public_origin() {
    for surface in BOTH {
        let environment =
            Environment::default().surface(surface).public_origin("https://board.example");
        let server = Server::within(environment.clone(), settings());
        let served = server.send(&Request::get("/openapi.json")).await.json();
        let servers = json!([{ "url": "https://board.example/api/v1" }]);
        assert_eq!(served["servers"], servers);
        assert_eq!(served, openapi_document(&settings(), &environment));
    }
}

#[test]
fn examples_of_tokens_are_placeholders() {
    for surface in BOTH {
        let document = document(surface).to_string();
        assert!(document.contains("forum_pat_"));
        let mut tokens = document.split("forum_pat_").skip(1);
        assert!(tokens.all(|after| after.starts_with('<')));
    }
}

#[test]
fn the_tables_of_the_protocol_are_those_of_the_document() {
    let document = document(Surface::Full);
    let info = &document["info"];
    let errors = object(&info["x-errors"]).iter();
    let codes = errors.map(|(code, error)| format!("{} | `{code}`", error["status"]));
    let reasons = object(&info["x-error-reasons"]).iter().map(|(name, reason)| {
        let code = reason["code"].as_str().unwrap();
        format!("`{name}` | `{code}`")
    });
    let quoted = |name: &str| format!("`{name}`");
    let scopes: BTreeSet<_> = BOTH
        .map(self::document)
        .iter()
        .flat_map(|document| keys(&document["info"]["x-scopes"]).into_iter().map(quoted))
        .collect();
    let topics = keys(&document["webhooks"]).into_iter().map(quoted);
    assert_eq!(protocol_rows("| status | code |", 2), codes.collect());
    assert_eq!(protocol_rows("| reason | code |", 2), reasons.collect());
    assert_eq!(protocol_rows("| scope |", 1), scopes);
    assert_eq!(protocol_rows("| topic |", 1), topics.collect());
}

/// Returns the first columns of the rows of all tables of the protocol whose header begins with `header`.
fn protocol_rows(header: &str, columns: usize) -> BTreeSet<String> {
    let protocol = include_str!("../../docs/protocol.md");
    let tables = protocol.split("\n\n").filter(|paragraph| paragraph.starts_with(header));
    let rows = tables.flat_map(|table| table.lines().skip(2));
    rows.map(|row| {
        let cells: Vec<_> = row.trim_start_matches("| ").split(" | ").take(columns).collect();
        cells.join(" | ")
    })
    .collect()
}

#[test]
fn required_parameters_precede_the_others() {
    let document = document(Surface::Full);
    for row in rows(Surface::Full) {
        let are_optional =
            parameters(&document, row).map(|parameter| parameter["required"] != true);
        assert!(are_optional.is_sorted(), "{row:?}");
    }
}

/// Clients in Go have a function `NewPost` for a schema `Post`.
#[test]
fn no_schema_has_the_name_of_a_constructor_of_another() {
    let document = document(Surface::Full);
    let schemas = schemas(&document);
    let is_constructor = |name: &str| {
        let constructed = name.strip_prefix("New");
        constructed.is_some_and(|constructed| schemas.contains_key(constructed))
    };
    let found: Vec<_> = schemas.keys().filter(|name| is_constructor(name)).collect();
    assert!(found.is_empty(), "{found:?}");
}

/// A property with the name of its schema would shadow the schema in languages that use the same name for a variable
/// and a type. If an optional field had a default, a generated client would always send the field.
#[test]
fn properties_have_no_default_and_not_the_name_of_their_schema() {
    let document = document(Surface::Full);
    for (name, schema) in schemas(&document) {
        for (field, property) in schema["properties"].as_object().into_iter().flatten() {
            assert_ne!(field.to_lowercase(), name.to_lowercase());
            assert!(property.get("default").is_none(), "{name}.{field}");
        }
    }
    let subscribe = &schemas(&document)["PostInput"]["properties"]["subscribe"];
    let description = subscribe["description"].as_str().unwrap();
    assert!(description.ends_with("Default: `false`."), "{description}");
}

#[test]
fn choices_are_enumerations_with_described_values() {
    let document = document(Surface::Full);
    for (path, part) in parts(&document) {
        assert!(part.get("oneOf").is_none(), "{path}");
    }
    let state = &schemas(&document)["Post"]["properties"]["state"];
    let description = state["description"].as_str().unwrap();
    for value in state["x-extensible-enum"].as_array().unwrap() {
        let item = format!("- `{}`: ", value.as_str().unwrap());
        assert!(description.contains(&item), "{description}");
    }
}

/// Returns the parts to which a response or the body of a webhook refers, with their paths.
fn parts_of_responses(document: &Value) -> BTreeMap<String, &Value> {
    let is_of_response = |path: &str| {
        path.starts_with("/webhooks/") || path.contains("/responses/") || path.contains("/headers/")
    };
    let mut reached = BTreeMap::new();
    let mut next: Vec<_> =
        parts(document).into_iter().filter(|(path, _)| is_of_response(path)).collect();
    while let Some((path, part)) = next.pop() {
        if let Some(reference) = part["$ref"].as_str().filter(|path| path.contains("/schemas/")) {
            let schemas = parts(resolve_ref(document, part)).into_iter();
            next.extend(schemas.filter_map(|(below, part)| {
                let path = format!("{}{below}", &reference[1..]);
                (!reached.contains_key(&path)).then_some((path, part))
            }));
        }
        reached.insert(path, part);
    }
    reached
}

/// Returns the paths of the parts with the keyword, with its values.
fn values_of(parts: &BTreeMap<String, &Value>, keyword: &str) -> BTreeMap<String, Vec<String>> {
    let texts = |part: &&Value| {
        let values = part.get(keyword)?.as_array()?.iter();
        Some(values.map(|value| value.as_str().unwrap().to_owned()).collect())
    };
    let values = parts.iter().filter_map(|(path, part)| Some((path.clone(), texts(part)?)));
    values.collect()
}

/// A client that is generated from the document accepts a value that a later version adds.
#[test]
fn the_enumerations_of_responses_are_open_and_those_of_requests_closed() {
    let document = document(Surface::Full);
    let responses = parts_of_responses(&document);
    let open = values_of(&responses, "x-extensible-enum");
    let states = ["visible", "awaiting_approval", "deleted"];
    let fields = [
        ("Message/properties/folder", &["inbox", "sent"][..]),
        ("MessageSummary/properties/folder", &["inbox", "sent"]),
        ("Post/properties/state", &states),
        ("PostSnapshot/properties/state", &states),
        ("SearchHit/properties/kind", &["thread", "post"]),
        ("Subscription/properties/target", &["thread", "forum"]),
        ("Thread/properties/state", &states),
        ("ThreadSnapshot/properties/state", &states),
    ];
    let expected = fields.map(|(field, values)| {
        let path = format!("/components/schemas/{field}");
        (path, values.iter().map(|value| (*value).to_owned()).collect())
    });
    assert_eq!(open, BTreeMap::from(expected));
    assert_eq!(values_of(&responses, "enum"), BTreeMap::new());
    let all: BTreeMap<_, _> = parts(&document).into_iter().collect();
    let closed = values_of(&all, "enum");
    let schemas = [
        "BodyFormat",
        "Folder",
        "PostSort",
        "SearchField",
        "SearchShow",
        "SearchSort",
        "SubscriptionTargetKind",
    ];
    let expected = schemas.map(|name| format!("/components/schemas/{name}"));
    assert_eq!(closed.into_keys().collect::<BTreeSet<_>>(), BTreeSet::from(expected));
}

/// Clients with positional parameters call `search(q)` and `listThreads(forumId, limit, after)`.
#[test]
fn parameters_have_the_order_of_the_table_of_endpoints() {
    let document = document(Surface::Full);
    for (path, expected) in [
        ("/forums/{forumId}/threads", &["forumId", "limit", "after", "since"][..]),
        (
            "/threads/{threadId}/posts",
            &["threadId", "limit", "after", "since", "from", "sort", "body"],
        ),
        ("/messages", &["folder", "unread", "limit", "after"]),
        ("/subscriptions", &["target", "limit", "after"]),
        ("/search", &["q", "forum", "by", "when", "in", "show", "sort", "limit", "after"]),
    ] {
        let mut rows = rows(Surface::Full);
        let row = rows.find(|row| row.template == path && row.method == "GET").unwrap();
        let parameters = parameters(&document, row).filter(|one| one["in"] != "header");
        let names: Vec<_> = parameters.map(|one| one["name"].as_str().unwrap()).collect();
        assert_eq!(names, expected);
    }
}

/// The tag is the name of a class or a module of generated clients.
#[test]
fn tags_name_what_is_returned() {
    let document = document(Surface::Full);
    let tags = document["tags"].as_array().unwrap().iter().map(|tag| tag["name"].as_str().unwrap());
    assert_eq!(tags.clone().collect::<BTreeSet<_>>().len(), tags.count());
    for row in rows(Surface::Full).filter(|row| row.success != 204) {
        let operation = operation(&document, row);
        let tag = operation["tags"][0].as_str().unwrap();
        let content = &operation["responses"][row.success.to_string()]["content"];
        let schema = content["application/json"]["schema"]["$ref"].as_str().unwrap();
        let name = schema.rsplit('/').next().unwrap();
        let suffixes = ["Page", "List", "Summary"].into_iter();
        let resource =
            suffixes.fold(name, |name, suffix| name.trim_end_matches(suffix)).to_lowercase();
        // The hits of a search have the tag `search`.
        let is_named = format!("{resource}s") == tag || resource.trim_end_matches("hit") == tag;
        assert!(is_named, "{tag}: {row:?}");
    }
    // A removal returns nothing. Its tag is the list on its path.
    for row in rows(Surface::Full).filter(|row| row.success == 204) {
        let tag = operation(&document, row)["tags"][0].as_str();
        let list = row.template.rsplit('/').find(|segment| !segment.starts_with('{'));
        assert_eq!(tag, list, "{row:?}");
    }
}

/// A further code of a response does not rename its component.
#[test]
fn shared_responses_and_parameters_have_names_of_their_use() {
    let document = document(Surface::Full);
    let responses = [
        "BadRequest",
        "Conflict",
        "Deleted",
        "DeliveryAccepted",
        "DeliveryFailed",
        "DeliveryGone",
        "Forbidden",
        "InternalError",
        "NotFound",
        "NotImplemented",
        "NotModified",
        "PageNotModified",
        "RateLimited",
        "ReferenceNotFound",
        "Unauthenticated",
        "Unavailable",
        "ValidationFailed",
        "WriteForbidden",
        "WriteNotFound",
        "WriteRateLimited",
    ];
    assert_eq!(keys(&document["components"]["responses"]), BTreeSet::from(responses));
    for row in rows(Surface::Full) {
        for parameter in operation(&document, row)["parameters"].as_array().unwrap() {
            let declared = resolve_ref(&document, parameter);
            let name = declared["name"].as_str().unwrap();
            let is_of_lists = ["limit", "after"].contains(&name);
            if declared["in"] == "path" || is_of_lists {
                let (first, rest) = name.split_at(1);
                let component = format!("#/components/parameters/{}{rest}", first.to_uppercase());
                assert_eq!(parameter["$ref"], component, "{row:?}");
            }
        }
    }
}

/// A client generator has to invent a name for an inline schema.
#[test]
fn bodies_are_references_to_named_schemas() {
    let document = document(Surface::Full);
    let mut bodies = parts(&document);
    bodies.retain(|(path, _)| path.ends_with("/application/json/schema"));
    assert!(bodies.iter().any(|(path, _)| path.starts_with("/webhooks")));
    for (path, body) in bodies {
        assert!(body.get("$ref").is_some(), "{path}");
    }
}

#[test]
fn every_body_has_examples_that_match_its_schema() {
    for surface in BOTH {
        let document = document(surface);
        for (path, body) in json_bodies(&document) {
            let several = body.get("examples").map(object).into_iter().flatten();
            let mut examples: Vec<_> = several.map(|(_, example)| &example["value"]).collect();
            examples.extend(body.get("example"));
            assert!(!examples.is_empty(), "{path}");
            let is_request = path.starts_with("/paths/") && path.contains("/requestBody/");
            let check = if is_request { check_request } else { check };
            for example in examples {
                let checked = check(&document, &body["schema"], example);
                checked.unwrap_or_else(|reason| panic!("{path}: {reason}"));
            }
        }
    }
}

#[test]
fn examples_of_parameters_match_their_schemas() {
    let document = document(Surface::Full);
    let mut count = 0;
    for (path, part) in parts(&document) {
        if let (Some(example), true) = (part.get("example"), part.get("in").is_some()) {
            let checked = check_request(&document, &part["schema"], example);
            checked.unwrap_or_else(|reason| panic!("{path}: {reason}"));
            count += 1;
        }
    }
    assert_ne!(count, 0);
}

/// Returns each status that is an error, and its response.
fn errors(operation: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let responses = object(&operation["responses"])
        .iter()
        .map(|(status, response)| (status.as_str(), response));
    responses.filter(|(status, _)| *status == "default" || *status >= "400")
}

#[test]
fn operations_share_error_responses_headers_and_header_parameters() {
    for surface in BOTH {
        let document = document(surface);
        for row in rows(surface) {
            let operation = operation(&document, row);
            for (status, response) in errors(operation) {
                assert!(response["$ref"].is_string(), "{status} {row:?}");
            }
            for response in object(&operation["responses"]).values() {
                let headers = object(&resolve_ref(&document, response)["headers"]);
                assert!(headers.values().all(|header| header["$ref"].is_string()));
            }
            let parameters = operation["parameters"].as_array().unwrap().iter();
            let mut inline = parameters.filter(|parameter| parameter.get("$ref").is_none());
            assert!(inline.all(|one| one["in"] != "header"), "{row:?}");
        }
    }
}

#[test]
fn the_codes_of_an_error_response_have_its_status() {
    for surface in BOTH {
        let document = document(surface);
        for row in rows(surface) {
            for (status, response) in errors(operation(&document, row)) {
                let response = resolve_ref(&document, response);
                let description = response["description"].as_str().unwrap();
                let examples = object(&response["content"]["application/json"]["examples"]);
                for (code, example) in examples {
                    assert_eq!(example["value"]["error"]["code"], *code);
                    let is_meaning = |line: &&str| line.contains(&format!("`{code}`: "));
                    let meaning = description.split("\n\n").find(is_meaning).unwrap();
                    let is_overload =
                        code == "internal_error" && ["503", "default"].contains(&status);
                    assert_eq!(meaning.contains("overloaded"), is_overload, "{meaning}");
                    let usual = document["info"]["x-errors"][code]["status"].to_string();
                    assert!(is_overload || usual == status, "{code} {status}");
                }
            }
        }
    }
}

#[test]
fn descriptions_of_parameters_state_their_bounds() {
    for surface in BOTH {
        let document = document(surface);
        for (path, part) in parts(&document) {
            let Some(schema) = part.get("in").and(part.get("schema")) else {
                continue;
            };
            let schema = resolve_ref(&document, schema);
            let words = ["minimum", "maximum", "minLength", "maxLength"].iter();
            let limits = words.filter_map(|word| schema.get(*word));
            let mut bounds: Vec<_> = limits.map(Value::to_string).collect();
            let words = schema["enum"].as_array().into_iter().flatten();
            bounds.extend(words.map(|word| format!("`{}`", word.as_str().unwrap())));
            let pattern = schema["pattern"].as_str().unwrap_or_default();
            for (repetition, text) in [("{1,64}", "1 to 64"), ("{2,64}", "1 to 64"), ("{64}", "64")]
            {
                bounds.extend(pattern.contains(repetition).then(|| text.into()));
            }
            let description = part["description"].as_str().unwrap();
            for bound in bounds {
                assert!(description.contains(&bound), "{path}: {bound}");
            }
        }
    }
}

#[test]
fn operations_parameters_properties_and_schemas_are_described() {
    for surface in BOTH {
        let document = document(surface);
        for (path, part) in parts(&document) {
            let is_property = path.rsplit('/').nth(1) == Some("properties");
            let is_item = part.get("operationId").is_some() || part.get("in").is_some();
            let description = part.get("description").and_then(Value::as_str);
            let needs_none = path.contains("/example") || !(is_item || is_property);
            let has_text = description.is_some_and(|text| !text.is_empty());
            assert!(needs_none || has_text, "{path}");
            let wraps = |part: &str| part.contains('\n') && !part.starts_with('-');
            let has_lines = description.is_some_and(|text| text.split("\n\n").any(wraps));
            let is_parameter = part.get("in").is_some();
            assert!(!(is_property || is_parameter) || !has_lines, "{path}");
        }
        for (name, schema) in schemas(&document) {
            assert!(schema["description"].is_string(), "{name}");
        }
    }
}

#[test]
fn descriptions_list_scopes_errors_and_budgets() {
    for (surface, scopes) in
        [(Surface::Full, &FULL_SCOPES[..]), (Surface::Compact, &COMPACT_SCOPES)]
    {
        let mut settings = ApiSettings::default();
        settings.token_budget.units = 7000;
        settings.guest_budget.units = 90;
        settings.ipv4_prefix_len = 20;
        settings.ipv6_prefix_len = 48;
        let environment = Environment::default().surface(surface);
        let document = openapi_document(&settings, &environment);
        let scheme = &document["components"]["securitySchemes"]["bearerAuth"];
        let info = &document["info"];
        let limits = json!({
            "token": { "units": 7000, "seconds": 300 },
            "guest": { "units": 90, "seconds": 300 },
        });
        assert_eq!(info["x-rate-limits"], limits);
        let scopes = scopes.iter().map(|scope| format!("| `{scope}` |"));
        let meaning = |part: &Value| part["meaning"].as_str().unwrap().to_owned();
        let errors = object(&info["x-errors"]).iter().map(|(code, error)| {
            format!("| {} | `{code}` | {} |", error["status"], meaning(error))
        });
        let reasons = object(&info["x-error-reasons"]).iter().map(|(name, reason)| {
            let code = reason["code"].as_str().unwrap();
            format!("| `{name}` | `{code}` | {} |", meaning(reason))
        });
        let budgets = "A token has 7000 units in 300 seconds. Requests without a token share 90 \
                       units in 300 seconds per IP prefix (IPv4 /20, IPv6 /48).";
        let in_scheme = scopes.map(|text| (scheme, text));
        let in_info = errors.chain(reasons).chain([budgets.to_owned()]).map(|text| (info, text));
        for (part, text) in in_scheme.chain(in_info) {
            let description = part["description"].as_str().unwrap();
            assert!(description.contains(&text), "{text}");
        }
    }
}

#[test]
fn the_introduction_states_the_limits_of_bodies() {
    let mut settings = settings();
    settings.body_limit = 54_321;
    settings.request_timeout = Duration::from_millis(7500);
    for surface in BOTH {
        let document = openapi_document(&settings, &Environment::default().surface(surface));
        let introduction = document["info"]["description"].as_str().unwrap();
        for part in ["more than 54321 bytes", "not complete 7.5 s after"] {
            assert!(introduction.contains(part), "{part}");
        }
    }
}

#[test]
fn a_description_states_one_default() {
    for surface in BOTH {
        // A text in JSON ends at the first quotation mark that is not escaped.
        let text = document(surface).to_string().replace(r#"\""#, "'");
        let descriptions = text.split(r#""description":""#).skip(1);
        for description in descriptions.filter_map(|rest| rest.split('"').next()) {
            let defaults = description.matches("Default: ").count();
            assert!(defaults <= 1, "{description}");
        }
    }
}

#[test]
fn texts_without_a_format_have_no_pattern() {
    for surface in BOTH {
        let text = document(surface).to_string();
        assert!(!text.contains(r"\u0000") && !text.contains(r"\uFEFF"));
    }
}

#[test]
fn the_document_states_what_the_host_states_about_the_board() {
    let mut settings = settings();
    settings.board.token_source = "Ask [us](https://board.example/contact).".into();
    settings.board.markup = "BBCode".into();
    settings.board.title_max = Some(77);
    settings.board.body_max = Some(7777);
    settings.board.post_interval = Some(Duration::from_secs(17));
    settings.board.notes = "Deliveries come from 192.0.2.1.".into();
    let stated = openapi_document(&settings, &Environment::default());
    let scheme = stated["components"]["securitySchemes"]["bearerAuth"].to_string();
    assert!(scheme.contains("Ask [us](https://board.example/contact)."));
    // A host can have no panel.
    assert!(!stated.to_string().contains("control panel"));
    let info = stated["info"]["description"].as_str().unwrap();
    let (_, chapter) = info.split_once("## This board\n").unwrap();
    for part in ["BBCode", "at most 77 ", "at most 7777 ", "17 s", "192.0.2.1"] {
        assert!(chapter.contains(part), "{part}: {chapter}");
    }
    let count = |max: u32| {
        let parts = parts(&stated);
        let limited = parts.iter().filter(|(_, part)| part["maxLength"] == max);
        limited.count()
    };
    assert_eq!((count(77), count(7777)), (8, 5));
    let unstated = document(Surface::Full).to_string();
    assert!(!unstated.contains("## This board") && unstated.contains("ask one of them"));
    assert!(unstated.contains("in the control panel under API tokens"));
}

#[test]
fn the_document_has_a_license_if_the_host_states_one() {
    let mut settings = settings();
    for (stated, expected) in [
        ("", Value::Null),
        ("CC-BY-4.0", json!({ "name": "CC-BY-4.0", "identifier": "CC-BY-4.0" })),
    ] {
        settings.board.license = stated.into();
        let document = openapi_document(&settings, &Environment::default());
        assert_eq!(document["info"]["license"], expected);
    }
}

/// A program that imports the document can send each example. Values of these parameters would end in an error or in an
/// empty list.
#[test]
fn parameters_whose_value_depends_on_earlier_requests_have_no_example() {
    let document = document(Surface::Full);
    let names = ["after", "from", "since", "Idempotency-Key", "If-None-Match"];
    let mut found = BTreeSet::new();
    for (path, part) in parts(&document) {
        let name = part["name"].as_str().filter(|name| names.contains(name));
        if let (Some(name), true) = (name, part.get("in").is_some()) {
            let schema = resolve_ref(&document, &part["schema"]);
            let examples = ["example", "examples"].map(|key| (part.get(key), schema.get(key)));
            assert_eq!(examples, [(None, None); 2], "{path}");
            found.insert(name);
        }
    }
    assert_eq!(found, BTreeSet::from(names));
}

/// The examples of these operations are refused unless the caller wrote the post.
#[test]
fn only_examples_that_need_a_post_of_the_caller_have_a_note() {
    for (surface, expected) in
        [(Surface::Full, &["deletePost", "updatePost"][..]), (Surface::Compact, &[])]
    {
        let document = document(surface);
        let operations = rows(surface).map(|row| operation(&document, row));
        let noted = operations.filter(|operation| operation.get("x-example-note").is_some());
        let ids: BTreeSet<_> =
            noted.map(|operation| operation["operationId"].as_str().unwrap()).collect();
        assert_eq!(ids, BTreeSet::from_iter(expected.iter().copied()));
    }
}

#[test]
fn an_update_needs_more_than_a_version() {
    let document = document(Surface::Full);
    let poll = json!({ "propertyNames": { "const": "expectedVersion" } });
    let post = json!({ "patternProperties": { "^(body|title)$": { "type": "null" } } });
    for (update, without_change) in [("PollUpdate", poll), ("PostUpdate", post)] {
        let schema = &schemas(&document)[update];
        assert_eq!(schema["not"], without_change, "{update}");
    }
}

fn search_pattern(name: &str) -> PikeVM {
    let document = document(Surface::Full);
    let mut parameters =
        document["paths"]["/search"]["get"]["parameters"].as_array().unwrap().iter();
    let parameter = parameters.find(|parameter| parameter["name"] == name);
    PikeVM::new(parameter.unwrap()["schema"]["pattern"].as_str().unwrap()).unwrap()
}

#[test]
fn the_patterns_of_search_parameters_accept_the_same_ids_as_the_parsers() {
    let by = search_pattern("by");
    let forum = search_pattern("forum");
    let mut by_cache = by.create_cache();
    let mut forum_cache = forum.create_cache();
    let long = "x".repeat(65);
    #[rustfmt::skip]
    let texts = ["17", "a_b-c", "@bob", "@jürgen", "@", "", " ", "a b", "é", &long, &long[1..]];
    for text in texts {
        let is_user = UserRef::parse(text).is_ok();
        assert_eq!(by.is_match(&mut by_cache, text), is_user, "{text}");
        let is_forum = ForumId::parse(text).is_ok();
        for (forums, is_list) in [
            (text.to_owned(), is_forum),
            (format!("17,{text}"), is_forum),
            (format!("{text},17"), is_forum),
            (format!("17,,{text}"), false),
        ] {
            let is_match = forum.is_match(&mut forum_cache, &*forums);
            assert_eq!(is_match, is_list, "{forums}");
        }
    }
}

#[test]
fn the_pattern_of_date_ranges_accepts_the_dates_of_the_calendar() {
    let pattern = search_pattern("when");
    let mut cache = pattern.create_cache();
    for year in ["0000", "1900", "1999", "2000", "2024", "2100"] {
        for (month, day) in (0..14).flat_map(|month| (0..33).map(move |day| (month, day))) {
            let range = format!("{year}-{month:02}-{day:02}..");
            let is_valid = DateRange::parse(&range).is_ok();
            assert_eq!(pattern.is_match(&mut cache, &range), is_valid, "{range}");
        }
    }
}

/// Returns the topic and the operation of each webhook.
fn webhooks(document: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let webhooks = object(&document["webhooks"]).iter();
    webhooks.map(|(topic, webhook)| (topic.as_str(), &webhook["post"]))
}

#[test]
fn both_surfaces_list_every_topic() {
    let topics: BTreeSet<_> = Topic::STANDARD
        .iter()
        .cloned()
        .chain([Topic::PING])
        .map(|topic| topic.to_string())
        .collect();
    for surface in BOTH {
        let document = document(surface);
        let listed = webhooks(&document).map(|(topic, _)| topic.to_owned());
        assert_eq!(listed.collect::<BTreeSet<_>>(), topics);
        let tags = document["tags"].as_array().unwrap();
        assert!(tags.iter().any(|tag| tag["name"] == "webhooks"));
    }
}

#[test]
fn no_two_operations_have_the_same_summary() {
    for surface in BOTH {
        let document = document(surface);
        let items = object(&document["paths"]).values();
        let operations = items.flat_map(|item| object(item).values());
        let summaries: Vec<_> =
            operations.filter_map(|operation| operation["summary"].as_str()).collect();
        let distinct: BTreeSet<_> = summaries.iter().collect();
        assert_eq!(distinct.len(), summaries.len(), "{summaries:?}");
    }
}

/// The name of this type is also the name of the topic's schema, unless it is taken.
#[derive(Serialize, JsonSchema)]
struct LinkOpened {
    url: &'static str,
}

#[test]
fn the_full_surface_lists_the_topics_of_a_host() {
    let topics = ["link.opened", "link.re__opened_", "_._"].map(Topic::from_static);
    let data = LinkOpened { url: "https://a" };
    for (surface, topic) in
        BOTH.into_iter().flat_map(|surface| topics.each_ref().map(|topic| (surface, topic)))
    {
        let environment = Environment::default().surface(surface).topic(
            topic.clone(),
            "A link was opened.",
            &data,
        );
        let document = openapi_document(&settings(), &environment);
        let mut webhooks = webhooks(&document);
        let listed = webhooks.find(|(listed, _)| *listed == topic.as_str());
        assert_eq!(listed.is_some(), surface == Surface::Full);
        let Some((_, operation)) = listed else {
            continue;
        };
        assert_eq!(operation["summary"], "A link was opened");
        let content = &operation["requestBody"]["content"]["application/json"];
        let mut event = content["example"].clone();
        assert_eq!(event["data"], json!(data));
        check(&document, &content["schema"], &event).unwrap();
        event["data"] = json!({ "url": 1 });
        check(&document, &content["schema"], &event).unwrap_err();
    }
}

#[test]
fn webhooks_have_four_headers_and_three_described_responses() {
    let document = document(Surface::Full);
    for (topic, operation) in webhooks(&document) {
        let parameters = operation["parameters"].as_array().unwrap().iter();
        let headers = parameters.map(|parameter| &resolve_ref(&document, parameter)["name"]);
        let expected = ["event", "delivery", "timestamp", "signature"]
            .map(|name| json!(format!("x-forum-{name}")));
        assert!(headers.eq(&expected), "{topic}");
        let responses = object(&operation["responses"]).iter();
        let described = responses
            .filter(|(_, response)| resolve_ref(&document, response)["description"].is_string());
        let statuses = described.map(|(status, _)| status);
        assert!(statuses.eq(["2XX", "410", "default"]), "{topic}");
        assert_eq!(operation["security"], json!([]), "{topic}: a receiver needs no token");
    }
}

#[test]
fn schemas_of_webhooks_accept_truncated_events_of_their_topic() {
    let document = document(Surface::Full);
    for (topic, operation) in webhooks(&document) {
        let content = &operation["requestBody"]["content"]["application/json"];
        let schema = &content["schema"];
        let example = &content["example"];
        assert_eq!(example["topic"], topic);
        let mut truncated = example.clone();
        truncated["truncated"] = json!(true);
        remove_texts(&mut truncated["data"]);
        check(&document, schema, &truncated).unwrap();
        let data = &resolve_ref(&document, schema)["properties"]["data"];
        assert!(data["$ref"].is_string(), "a generator names the type: {data}");
        truncated["topic"] = json!("thread.moved");
        check(&document, schema, &truncated).unwrap_err();
        let mut stored = example.clone();
        stored.as_object_mut().unwrap().remove("delivery").unwrap();
        check(&document, schema, &stored).unwrap_err();
    }
}

/// Sets the fields to null that a body without texts does not have.
fn remove_texts(value: &mut Value) {
    for (name, value) in value.as_object_mut().into_iter().flatten() {
        if ["body", "bodyHtml", "comment", "extra"].contains(&name.as_str()) {
            *value = Value::Null;
        } else {
            remove_texts(value);
        }
    }
}

/// Authors of receivers read the examples, and an administrator can send them.
#[test]
fn the_example_of_an_event_has_the_state_after_the_change() {
    let document = document(Surface::Full);
    let examples: BTreeMap<_, _> = webhooks(&document)
        .map(|(topic, operation)| {
            (topic, &operation["requestBody"]["content"]["application/json"]["example"]["data"])
        })
        .collect();
    for (topic, resource, field, expected) in [
        ("thread.created", "thread", "replyCount", json!(0)),
        ("thread.updated", "thread", "locked", json!(true)),
        ("thread.deleted", "thread", "state", json!("deleted")),
        ("thread.restored", "thread", "state", json!("visible")),
        ("thread.restored", "thread", "version", json!(3)),
        ("post.created", "thread", "replyCount", json!(6)),
        ("post.deleted", "post", "state", json!("deleted")),
        ("post.restored", "post", "state", json!("visible")),
        ("post.restored", "post", "version", json!(3)),
    ] {
        assert_eq!(examples[topic][resource][field], expected, "{topic}");
    }
}

#[test]
fn the_data_of_an_event_has_the_fields_of_the_protocol() {
    let document = document(Surface::Full);
    let protocol = include_str!("../../docs/protocol.md");
    let (_, table) = protocol.split_once("| topic | event | `data` |\n").unwrap();
    let rows: BTreeMap<_, _> = table
        .lines()
        .skip(1)
        .take_while(|row| row.starts_with('|'))
        .map(|row| {
            let cells: Vec<_> = row.split(" | ").collect();
            let quoted = cells[2].split('`').skip(1).step_by(2);
            let fields: BTreeSet<_> =
                quoted.filter(|name| !["null", "{}"].contains(name)).collect();
            (cells[0].trim_matches(['|', ' ', '`']), fields)
        })
        .collect();
    for (topic, operation) in webhooks(&document) {
        let example = &operation["requestBody"]["content"]["application/json"]["example"];
        assert_eq!(keys(&example["data"]), rows[topic], "{topic}");
    }
}

/// A generator of clients has no type for a field that is always null.
#[test]
fn each_field_has_a_type_besides_null() {
    let document = document(Surface::Full);
    for (path, part) in parts(&document) {
        let is_property = path.rsplit('/').nth(1) == Some("properties");
        assert!(!is_property || part["type"] != "null", "{path}");
    }
}

/// An event is the same for all readers.
#[test]
fn webhooks_have_no_field_that_depends_on_the_reader() {
    let document = document(Surface::Full);
    let bodies = webhooks(&document).map(|(_, operation)| &operation["requestBody"]);
    let mut parts: Vec<&Value> = bodies.collect();
    while let Some(part) = parts.pop() {
        let part = resolve_ref(&document, part);
        if let Some(fields) = part.as_object() {
            let is_field = |name: &&&str| fields.contains_key(**name);
            let field = Event::READER_FIELDS.iter().find(is_field);
            assert_eq!(field, None, "{part}");
        }
        let fields = part.as_object();
        let items = part.as_array();
        parts.extend(fields.into_iter().flat_map(|fields| fields.values()));
        parts.extend(items.into_iter().flatten());
    }
}
