//! Properties of the OpenAPI document that client generators need (`docs/protocol.md`, section 14).

use forum_api::Environment;
use forum_api::model::{DateRange, ForumId, UserRef};
use forum_api::runtime::InlineRuntime;
use forum_api::scope::Surface;
use forum_api::{ApiSettings, openapi_document};
use regex_automata::nfa::thompson::pikevm::PikeVM;
use serde_json::{Value, json};

use crate::support::rows::{COMPACT_SCOPES, FULL_SCOPES};

fn document(surface: Surface) -> Value {
    let environment = Environment::new(InlineRuntime).surface(surface);
    openapi_document(&ApiSettings::default(), &environment)
}

/// Every object and list of the document, with the path to it.
fn parts(document: &Value) -> Vec<(String, &Value)> {
    let mut found = vec![(String::new(), document)];
    let mut next = 0;
    while let Some((path, part)) = found.get(next).cloned() {
        let fields = part.as_object().into_iter().flatten();
        let items = part.as_array().into_iter().flatten().enumerate();
        found.extend(fields.map(|(name, field)| (format!("{path}/{name}"), field)));
        found.extend(items.map(|(index, item)| (format!("{path}/{index}"), item)));
        next += 1;
    }
    found
}

fn schemas(document: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let schemas = document["components"]["schemas"].as_object().unwrap();
    schemas.iter().map(|(name, schema)| (name.as_str(), schema))
}

/// A property that is called as its schema shadows it in languages that name variables after both.
#[test]
fn no_schema_has_a_property_of_its_own_name() {
    for (name, schema) in schemas(&document(Surface::Full)) {
        let own = name.to_lowercase();
        let fields = schema["properties"].as_object().into_iter().flatten();
        let shadows: Vec<_> = fields
            .filter(|(field, _)| field.to_lowercase() == own)
            .collect();
        assert!(shadows.is_empty(), "{name}");
    }
}

/// Where a field of a body has a default, a client that is generated must send it.
#[test]
fn what_may_be_left_out_of_a_body_has_its_default_in_words() {
    let document = document(Surface::Full);
    for (name, schema) in schemas(&document) {
        for (field, property) in schema["properties"].as_object().into_iter().flatten() {
            assert!(property.get("default").is_none(), "{name}.{field}");
        }
    }
    let subscribe = &document["components"]["schemas"]["NewPost"]["properties"]["subscribe"];
    let says = subscribe["description"].as_str().unwrap();
    assert!(says.ends_with("Default: `false`."), "{says}");
}

/// They become enumerations in every language, and tell what each value means.
#[test]
fn choices_are_enumerations() {
    let document = document(Surface::Full);
    for (path, part) in parts(&document) {
        assert!(part.get("oneOf").is_none(), "{path}");
    }
    let state = &document["components"]["schemas"]["ContentState"];
    let says = state["description"].as_str().unwrap();
    for value in state["enum"].as_array().unwrap() {
        assert!(
            says.contains(&format!("- `{}`: ", value.as_str().unwrap())),
            "{says}"
        );
    }
}

/// A body without a name is one that a receiver has to name.
#[test]
fn bodies_are_named() {
    let document = document(Surface::Full);
    let parts = parts(&document).into_iter();
    let bodies: Vec<_> = parts
        .filter(|(path, _)| path.ends_with("/application/json/schema"))
        .collect();
    assert!(bodies.iter().any(|(path, _)| path.starts_with("/webhooks")));
    for (path, body) in bodies {
        assert!(body.get("$ref").is_some(), "{path}");
    }
}

#[test]
fn everything_is_described() {
    for surface in [Surface::Full, Surface::Compact] {
        let document = document(surface);
        for (path, part) in parts(&document) {
            let is_property = path.rsplit('/').nth(1) == Some("properties");
            let named =
                part.get("operationId").is_some() || part.get("in").is_some() || is_property;
            let says = part.get("description").and_then(Value::as_str);
            let is_example = path.contains("/example");
            assert!(
                is_example || !named || says.is_some_and(|says| !says.is_empty()),
                "{path}"
            );
        }
        for (name, schema) in schemas(&document) {
            assert!(schema["description"].is_string(), "{name}");
        }
    }
}

/// Who has nothing but the document knows how to begin.
#[test]
fn it_tells_of_scopes_errors_and_budgets() {
    for (surface, scopes) in [
        (Surface::Full, &FULL_SCOPES[..]),
        (Surface::Compact, &COMPACT_SCOPES),
    ] {
        let mut settings = ApiSettings::default();
        settings.token_budget.units = 7000;
        settings.guest_budget.units = 90;
        let document =
            openapi_document(&settings, &Environment::new(InlineRuntime).surface(surface));
        let authentication = document["components"]["securitySchemes"]["bearerAuth"]["description"]
            .as_str()
            .unwrap();
        for scope in scopes {
            assert!(
                authentication.contains(&format!("| `{scope}` |")),
                "{scope}"
            );
        }
        let guide = document["info"]["description"].as_str().unwrap();
        for (code, error) in document["info"]["x-errors"].as_object().unwrap() {
            assert!(
                guide.contains(&format!("| {} | `{code}` |", error["status"])),
                "{code}"
            );
        }
        for budget in ["7000 units in 300 seconds", "90 units in 300 seconds"] {
            assert!(guide.contains(budget), "{budget}");
        }
    }
}

/// What may not be typed may not be sent.
#[test]
fn texts_say_which_characters_are_refused() {
    let document = document(Surface::Full);
    for field in [
        "NewThread/properties/title",
        "NewPoll/properties/options/items",
        "PostUpdate/properties/reason",
        "NewMessage/properties/body",
    ] {
        let pattern = format!("/components/schemas/{field}/pattern");
        let pattern = document.pointer(&pattern).and_then(Value::as_str);
        assert_eq!(pattern, Some(r"^[^\u0000\uFEFF]*$"), "{field}");
    }
    let to = &document["components"]["schemas"]["NewMessage"]["properties"]["to"]["items"];
    assert!(
        to["pattern"]
            .to_string()
            .contains(r"@[^\\u0000\\uFEFF]{1,64}"),
        "{to}"
    );
}

/// A version alone is none.
#[test]
fn an_edit_of_a_poll_names_a_change() {
    let edit = &document(Surface::Full)["components"]["schemas"]["PollUpdate"];
    let nothing = json!({ "propertyNames": { "const": "expectedVersion" } });
    assert_eq!(edit["not"], nothing);
}

fn search_pattern(name: &str) -> String {
    let document = document(Surface::Full);
    let parameters = document["paths"]["/search"]["get"]["parameters"].as_array();
    let mut parameters = parameters.unwrap().iter();
    let parameter = parameters.find(|parameter| parameter["name"] == name);
    parameter.unwrap()["schema"]["pattern"]
        .as_str()
        .unwrap()
        .into()
}

#[test]
fn a_search_takes_what_can_be_an_id() {
    let matches = |name: &str, text: &str| {
        let pattern = PikeVM::new(&search_pattern(name)).unwrap();
        pattern.is_match(&mut pattern.create_cache(), text)
    };
    let long = "x".repeat(65);
    for text in [
        "17",
        "a_b-c",
        "@bob",
        "@jürgen",
        "@",
        "",
        " ",
        "a b",
        "é",
        &long,
        &long[1..],
    ] {
        let is_user = UserRef::parse(text).is_some();
        assert_eq!(matches("by", text), is_user, "{text}");
        let is_forum = ForumId::parse(text).is_some();
        for (forums, is_list) in [
            (text.to_owned(), is_forum),
            (format!("17,{text}"), is_forum),
            (format!("{text},17"), is_forum),
            (format!("17,,{text}"), false),
        ] {
            assert_eq!(matches("forum", &forums), is_list, "{forums}");
        }
    }
}

#[test]
fn a_span_of_time_ends_on_days_that_the_calendar_has() {
    let pattern = PikeVM::new(&search_pattern("when")).unwrap();
    let mut cache = pattern.create_cache();
    for year in ["0000", "1900", "1999", "2000", "2024", "2100"] {
        for (month, day) in (0..14).flat_map(|month| (0..33).map(move |day| (month, day))) {
            let span = format!("{year}-{month:02}-{day:02}..");
            let is_one = DateRange::parse(&span).is_some();
            assert_eq!(pattern.is_match(&mut cache, &span), is_one, "{span}");
        }
    }
}
