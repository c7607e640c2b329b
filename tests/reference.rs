//! The reference page of documents: of this library, of others, and with missing parts.

use std::collections::BTreeSet;

use forum_api::reference::{ReferencePage, ReferenceSettings};
use forum_api::scope::Surface;
use forum_api::{ApiSettings, Environment, openapi_document};
use html5gum::{Token, Tokenizer};
use http::header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH};
use http::{Request, Response, StatusCode};
use serde_json::{Value, json};

const SCRIPT: &str = "<script>alert(1)</script>\"'&";

/// Keywords that the page reads.
const KEYWORDS: [&str; 22] = [
    "components",
    "content",
    "description",
    "examples",
    "headers",
    "info",
    "in",
    "items",
    "name",
    "operationId",
    "parameters",
    "paths",
    "properties",
    "required",
    "responses",
    "schema",
    "schemas",
    "security",
    "servers",
    "tags",
    "type",
    "webhooks",
];

fn document(surface: Surface) -> Value {
    let environment = Environment::default().surface(surface);
    openapi_document(&ApiSettings::default(), &environment)
}

async fn get(page: &ReferencePage, path: &str) -> (Response<()>, String) {
    let request = Request::get(path).body(String::new()).unwrap();
    let (head, body) = page.respond(request).await.into_parts();
    let body = String::from_utf8(body.into_bytes().into()).unwrap();
    (Response::from_parts(head, ()), body)
}

async fn render(document: &Value) -> String {
    let page =
        ReferencePage::of_document(document, "/api/v1", ReferenceSettings::default()).unwrap();
    let (head, html) = get(&page, "/docs").await;
    assert_eq!(head.status(), StatusCode::OK);
    assert!(html.ends_with("</html>"));
    html
}

/// Returns the values of an attribute.
fn attributes<'a>(html: &'a str, name: &str) -> BTreeSet<&'a str> {
    let start = format!(" {name}=\"");
    html.match_indices(&start)
        .filter_map(|(at, start)| html[at + start.len()..].split('"').next())
        .collect()
}

/// Returns the HTML between two parts of a page.
fn between<'a>(html: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = html.split_once(start).expect(start);
    rest.split_once(end).expect(end).0
}

#[tokio::test]
async fn each_operation_has_a_section_and_each_link_a_target() {
    for surface in [Surface::Full, Surface::Compact] {
        let document = document(surface);
        let html = render(&document).await;
        let ids = attributes(&html, "id");
        assert_eq!(html.matches(" id=\"").count(), ids.len(), "unique ids");
        for section in ["paths", "webhooks"] {
            let items = document[section].as_object().unwrap().values();
            for operation in items.flat_map(|item| item.as_object().unwrap().values()) {
                if let Some(id) = operation.get("operationId") {
                    assert!(ids.contains(id.as_str().unwrap()), "{id}");
                }
            }
        }
        for link in attributes(&html, "href") {
            let target = link.strip_prefix('#');
            assert!(target.is_none_or(|target| ids.contains(target)), "{link}");
        }
    }
}

#[tokio::test]
async fn an_operation_shows_its_token_use_scope_cost_and_errors() {
    let html = render(&document(Surface::Full)).await;
    let section = |id: &str| {
        let start = html.find(&format!("<section class=\"operation\" id=\"{id}\"")).unwrap();
        html[start..].split("</section>").next().unwrap()
    };
    let post = section("createPost");
    for expected in [
        "<h3><a class=\"anchor\" href=\"#createPost\">Create post</a></h3>",
        "Token required",
        "<code>posts:write</code>",
        "Cost 5 units",
        "curl -X POST \\\n  ",
        "href=\"#error-VALIDATION\"",
        "href=\"#schema-Post\"",
        "Requires the scope <code>subscriptions:write</code>.",
        "The source markup. The board rejects a missing or empty text.",
    ] {
        assert!(post.contains(expected), "{expected}");
    }
    assert!(post.contains("<figcaption>Response 201</figcaption>"));
    let no_body = "<p class=\"no-body\"><span class=\"status of-2\">204</span> without a body</p>";
    assert!(section("deletePost").contains(no_body));
    let list = section("listPosts");
    assert!(list.contains("Token optional") && !list.contains("Authorization"));
    assert!(list.contains("1 to 100 · default <code>20</code>"));
    assert!(list.contains("Formats of the bodies to return: <code>both</code>"));
    for repeated in [
        "Costs ",
        "Default: <code>20</code>",
        "Default: <code>both</code>",
        "and is not <code>-</code>",
    ] {
        assert!(!list.contains(repeated), "{repeated} is in the facts or in the line of the type");
    }
    let search = section("search");
    assert!(search.contains("curl \\\n  ") && search.contains("const url =\n"), "{search}");
    assert!(section("updatePost").contains("Use the id of a post of yours"));
    assert!(html.contains("Idempotency-Key: $(date +%s%N)-$$"));
    assert!(section("onPostCreated").contains("Payload fields"));
    assert!(section("unsubscribe").contains("/subscriptions/thread/16'"));
    // The script adds a token to the samples of the operations that require one.
    for (id, placeholder) in [("createPost", "required"), ("listPosts", "optional")] {
        assert_eq!(attributes(section(id), "placeholder"), BTreeSet::from([placeholder]), "{id}");
    }
    let folded = html.matches("<details class=\"part\">").count();
    assert_eq!(folded, 1, "only the contents of the schemas are folded");
}

#[tokio::test]
async fn errors_that_all_operations_share_are_in_one_row() {
    let error = |code: &str| {
        let example = json!({ "error": { "code": code } });
        json!({ "content": { "application/json": { "example": example } } })
    };
    let operation = |code: &str| {
        json!({ "responses": {
            "200": {}, "400": error("bad_request"), "404": error(code), "429": error("rate_limited"),
        } })
    };
    let paths = json!({ "/a": { "get": operation("no_a") }, "/b": { "get": operation("no_b") } });
    let webhook = json!({ "responses": { "200": {}, "400": error("bad_event") } });
    let document = json!({ "paths": paths, "webhooks": { "w": { "post": webhook } } });
    let html = render(&document).await;
    let (_, responses) = html.split_once("#error-bad_event").expect("its own error");
    assert!(responses.contains("</table>"));
    for id in ["get-a", "get-b"] {
        let start = format!("<section class=\"operation\" id=\"{id}\"");
        let (_, section) = html.split_once(&start).unwrap();
        let (_, table) = section.split_once("<table class=\"responses\">").unwrap();
        let (rows, _) = table.split_once("</table>").unwrap();
        let (own, common) = rows.split_once("colspan=\"2\"").unwrap();
        let statuses = [own, common].map(|part| {
            let badges = part.split("<span class=\"status of-").skip(1);
            let texts = badges.filter_map(|badge| badge.split(['>', '<']).nth(1));
            texts.collect::<Vec<_>>()
        });
        assert_eq!(statuses, [["200", "404"], ["400", "429"]], "{id}");
    }
}

#[tokio::test]
async fn operations_with_the_same_name_have_sections_of_their_own() {
    let list = json!({ "operationId": "list" });
    let html = render(&json!({
        "paths": {
            "/a": { "get": list, "post": list },
            "/b/c": { "get": {} },
            "/b/{c}": { "get": {} },
        },
        "webhooks": { "a": { "post": list } },
    }))
    .await;
    let ids = attributes(&html, "id");
    assert_eq!(html.matches(" id=\"").count(), ids.len(), "unique ids");
    let links = attributes(&html, "href");
    for id in ["list", "list-", "list--", "get-b-c", "get-b-c-"] {
        let link = format!("#{id}");
        assert!(ids.contains(id) && links.contains(&*link), "{id}: {ids:?}");
    }
}

#[tokio::test]
async fn sections_and_groups_with_the_same_name_have_ids_of_their_own() {
    let operation = |id: &str, tag: &str| json!({ "operationId": id, "tags": [tag] });
    let html = render(&json!({
        "info": { "description": "## Authentication\nA\n## 茶\nB\n## Чай\nC" },
        "components": {
            "schemas": { "Tea": {} },
            "securitySchemes": { "token": { "type": "http", "description": "A token." } },
        },
        "paths": { "/a": { "get": operation("schemas", "茶"), "post": operation("b", "Чай") } },
    }))
    .await;
    let ids = attributes(&html, "id");
    assert_eq!(html.matches(" id=\"").count(), ids.len(), "unique ids");
    let links = attributes(&html, "href");
    for id in ["about-authentication", "about-authentication-", "about-", "about--", "schemas"] {
        let link = format!("#{id}");
        assert!(ids.contains(id) && links.contains(&*link), "{id}: {ids:?}");
    }
    for id in ["group-", "group--", "schemas-"] {
        assert!(ids.contains(id), "{id}: {ids:?}");
    }
    let (_, after) = html.split_once(" id=\"about-authentication\"").unwrap();
    let (authentication, _) = after.split_once("</section>").unwrap();
    assert!(authentication.contains("A token."), "{authentication}");
}

/// curl expands brackets and braces, and the script of the page encodes the same characters.
#[tokio::test]
async fn a_sample_encodes_the_characters_that_a_url_cannot_contain() {
    let parameter = json!({
        "name": "teas", "in": "query", "required": true, "schema": {}, "example": r"[a]{b,c}^|\",
    });
    let html =
        render(&json!({ "paths": { "/a": { "get": { "parameters": [parameter] } } } })).await;
    assert!(html.contains("/a?teas=%5Ba%5D%7Bb,c%7D%5E%7C%5C'"), "{html}");
}

#[tokio::test]
async fn a_title_is_the_id_or_the_summary_or_the_path_or_the_topic() {
    let named = json!({ "operationId": "listTeas", "summary": "Lists teas" });
    let html = render(&json!({
        "paths": { "/a": { "get": named, "post": { "summary": "Adds a tea" }, "delete": {} } },
        "webhooks": { "tea.added": { "post": { "operationId": "onTeaAdded" } } },
    }))
    .await;
    for (id, title) in [
        ("listTeas", "List teas"),
        ("post-a", "Adds a tea"),
        ("delete-a", "DELETE /a"),
        ("onTeaAdded", "tea.added"),
    ] {
        let heading = format!("<h3><a class=\"anchor\" href=\"#{id}\">{title}</a></h3>");
        assert!(html.contains(&heading), "{heading}");
    }
}

#[tokio::test]
async fn the_head_has_the_name_and_the_pages_of_the_board() {
    let mut settings = ReferenceSettings::default();
    settings.board_name = "Tea <club>".into();
    settings.board_url = "/tea".into();
    settings.accent_color = "#c2410c".into();
    let build = |settings: &ReferenceSettings| {
        let document = document(Surface::Compact);
        ReferencePage::of_document(&document, "/api/v1", settings.clone())
    };
    let page = build(&settings).unwrap();
    let (_, html) = get(&page, "/docs").await;
    assert!(html.contains("<body data-api=\"/api/v1\">"));
    assert!(html.contains("<a class=\"board\" href=\"/tea\" title=\"Tea &lt;club&gt;\">"));
    assert!(html.contains("<a href=\"/docs\" aria-current=\"true\">API reference</a>"));
    assert!(!html.contains(">Panel</a>"));
    assert!(get(&page, "/docs/style.css").await.1.contains("#c2410c"));
    let html = render(&document(Surface::Compact)).await;
    assert!(!html.contains("class=\"board\""), "no head without a name");
    settings.accent_color = "red".into();
    assert_eq!(build(&settings).unwrap_err().setting(), "accent_color");
    settings.accent_color.clear();
    settings.panel_url = "javascript:alert(1)".into();
    assert_eq!(build(&settings).unwrap_err().setting(), "panel_url");
    settings.panel_url.clear();
    settings.board_url = "tea".into();
    assert_eq!(build(&settings).unwrap_err().setting(), "board_url");
    settings.board_url.clear();
    for (base_path, is_valid) in
        [("/api/v1", false), ("/api/v1/docs", false), ("docs", false), ("/api/v1docs", true)]
    {
        settings.base_path = base_path.into();
        let refused = build(&settings).err().map(|error| error.setting());
        assert_eq!(refused, (!is_valid).then_some("base_path"), "{base_path}");
    }
}

#[tokio::test]
async fn patterns_are_words() {
    let html = render(&document(Surface::Full)).await;
    assert!(!html.contains(",64}"), "no regular expression of the library");
    assert!(html.contains(" · 1 to 64 letters, digits, <code>_</code> and <code>-</code>"));
    assert!(html.contains(" · 1 to 64 visible ASCII characters"));
    assert!(html.contains(" · <code>sha256=</code> and 64 hexadecimal digits"));
    let schema = json!({ "type": "string", "pattern": "^[a-f]+$" });
    let html = render(&json!({ "components": { "schemas": { "Hex": schema } } })).await;
    assert!(html.contains("<code>^[a-f]+$</code>"));
}

#[tokio::test]
async fn an_open_enumeration_has_known_values() {
    let schema = |keyword: &str, values: [&str; 2]| json!({ "type": "string", keyword: values });
    let open = schema("x-extensible-enum", ["a", "b"]);
    let closed = schema("enum", ["c", "d"]);
    let schemas = json!({ "Open": open, "Closed": closed });
    let html = render(&json!({ "components": { "schemas": schemas } })).await;
    assert!(html.contains(" · known values <code>a</code>, <code>b</code>"), "{html}");
    assert!(html.contains(" · one of <code>c</code>, <code>d</code>"), "{html}");
}

#[tokio::test]
async fn the_type_of_a_field_has_its_bounds_and_its_default() {
    let tea = json!({ "$ref": "#/components/schemas/Tea" });
    let link = "<a href=\"#schema-Tea\">Tea</a>";
    for (schema, expected) in [
        (json!({}), "any".into()),
        (json!({ "const": "x" }), "<code>&quot;x&quot;</code>".into()),
        (
            json!({ "type": "integer", "format": "int64", "minimum": 1, "maximum": 9 }),
            "integer · 1 to 9".into(),
        ),
        (
            json!({ "type": "integer", "format": "uint8", "minimum": 5, "maximum": 5 }),
            "integer · exactly 5".into(),
        ),
        (
            json!({ "type": "number", "format": "double", "exclusiveMinimum": 0,
                "exclusiveMaximum": 5, "multipleOf": 2, "default": 4 }),
            "number · more than 0 · less than 5 · multiple of 2 · default <code>4</code>".into(),
        ),
        (
            json!({ "type": ["string", "null"], "format": "date-time", "maxLength": 20 }),
            "string or null (date-time) · at most 20 characters".into(),
        ),
        (
            json!({ "type": ["string", "null"], "enum": ["a", null] }),
            "string or null · one of <code>a</code>".into(),
        ),
        (
            json!({ "type": "array", "items": { "type": "string" }, "minItems": 2, "maxItems": 2,
                "uniqueItems": true }),
            "array of string · exactly 2 items · no duplicates".into(),
        ),
        (
            json!({ "type": "object", "minProperties": 1, "maxProperties": 3 }),
            "object · 1 to 3 fields".into(),
        ),
        (json!({ "type": "string", "pattern": "^(24h|7d)$" }), "string".into()),
        (
            json!({ "oneOf": [{ "type": "string", "minLength": 3 }, { "type": "null" }],
                "default": "abc" }),
            "string or null · at least 3 characters · default <code>abc</code>".into(),
        ),
        (json!({ "anyOf": [tea, { "type": "null" }] }), format!("{link} or null")),
        (json!({ "allOf": [tea, { "type": "object" }] }), format!("{link} and object")),
        (
            json!({ "type": "array", "items": { "type": "array", "items": tea } }),
            format!("array of array of {link}"),
        ),
        (
            json!({ "$ref": "#/components/schemas/Tea", "default": true }),
            format!("{link} · default <code>true</code>"),
        ),
    ] {
        let schemas = json!({ "Tea": {}, "Field": { "properties": { "f": schema } } });
        let html = render(&json!({ "components": { "schemas": schemas } })).await;
        let start = "<code>f<wbr></code></th><td><p class=\"type\">";
        assert_eq!(between(&html, start, "</p>"), expected, "{schema}");
    }
}

#[tokio::test]
async fn an_operation_has_facts_and_a_description_without_repetition() {
    let token = json!({ "token": [] });
    for (operation, expected) in [
        (json!({}), "<li class=\"token required\">Token required</li></ul>"),
        (
            json!({ "security": [], "summary": "Done." }),
            "<li class=\"token\">No token</li></ul><p>Done.</p>",
        ),
        (
            json!({ "security": [{}, token], "x-ratelimit-cost": 5, "summary": "Lists *teas*",
                "description": "First.\n\nSecond." }),
            "<li class=\"token\">Token optional</li><li>Cost 5 units</li></ul>\
             <p>Lists <em>teas</em>.</p><p>First.</p>\n<p>Second.</p>\n",
        ),
        (
            json!({ "deprecated": true, "security": [token], "x-scope": "teas:read",
                "x-ratelimit-cost": 1, "summary": "Lists teas.",
                "description": "Lists teas of a shop." }),
            "<li class=\"deprecated\">Deprecated</li>\
             <li class=\"token required\">Token required</li><li>Scope \
             <a href=\"#about-authentication\"><code>teas:read</code></a></li>\
             <li>Cost 1 unit</li></ul><p>Lists teas of a shop.</p>\n",
        ),
    ] {
        let paths = json!({ "/a": { "get": operation } });
        let html = render(&json!({ "security": [token], "paths": paths })).await;
        let shown = between(&html, "<ul class=\"facts\">", "</div>");
        assert_eq!(shown, expected, "{operation}");
    }
}

#[tokio::test]
async fn parameters_and_fields_of_a_request_are_rows() {
    let parameter = |name: &str, place: &str, description: &str| {
        json!({ "name": name, "in": place, "required": place == "path",
            "schema": { "type": "string" }, "description": description })
    };
    let fields = json!({
        "required": ["b"],
        "properties": {
            "a": { "type": "object",
                "properties": { "x": { "type": "string", "description": "An x." } } },
            "b": { "type": "array", "items": { "properties": { "y": {} } } },
        },
    });
    let post = json!({
        "parameters": [parameter("id", "path", "The id.")],
        "requestBody": { "content": { "application/json": { "schema": fields } } },
        "x-field-scopes": { "a": "teas:write" },
    });
    let inherited =
        [parameter("id", "path", "Replaced."), parameter("lang", "query", "A language.")];
    let item = json!({ "parameters": inherited, "post": post });
    let html = render(&json!({ "paths": { "/a/{id}": item } })).await;
    let head = "<table class=\"fields\"><thead class=\"visually-hidden\"><tr>\
                <th scope=\"col\">Name</th><th scope=\"col\">Type and description</th></tr></thead>\
                <tbody>";
    let required = " <span class=\"required\">required</span>";
    let row = |name: &str, marks: &str, cell: &str| {
        format!("<tr><th scope=\"row\"><code>{name}<wbr></code>{marks}</th><td>{cell}</td></tr>")
    };
    let parameters = [
        row("lang", " <small>query</small>", "<p class=\"type\">string</p>A language."),
        row(
            "id",
            &format!(" <small>path</small>{required}"),
            "<p class=\"type\">string</p>The id.",
        ),
    ];
    let shown = between(&html, &format!("<h4>Parameters</h4>{head}"), "</tbody>");
    assert_eq!(shown, parameters.concat());
    let scope = " Requires the scope <code>teas:write</code>.";
    let body = [
        row("b", required, "<p class=\"type\">array of any</p>"),
        row("b[]<wbr>.<wbr>y", "", "<p class=\"type\">any</p>"),
        row("a", "", &format!("<p class=\"type\">object</p>{scope}")),
        row("a.<wbr>x", "", "<p class=\"type\">string</p>An x."),
    ];
    let shown = between(&html, &format!("<h4>Request body</h4>{head}"), "</tbody>");
    assert_eq!(shown, body.concat());
}

#[tokio::test]
async fn responses_headers_and_errors_have_the_facts_of_the_document() {
    let text = json!({ "type": "string" });
    let refused = json!({
        "description": "Invalid.",
        "headers": { "x-id": {} },
        "content": { "application/json": { "example": { "error": { "code": "bad_request" } } } },
    });
    let found = json!({
        "description": "A tea.",
        "headers": { "etag": {}, "link": {}, "x-id": {} },
        "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Tea" } } },
    });
    let absent = json!({ "description": "No `tea`.", "headers": { "link": {}, "x-id": {} } });
    let html = render(&json!({
        "info": { "x-errors": { "bad_request": { "status": 400, "meaning": "Not *readable*." } } },
        "components": {
            "headers": { "etag": {}, "link": { "description": "Pages." },
                "x-id": { "schema": text, "description": "An id." } },
            "schemas": { "Tea": text },
        },
        "paths": {
            "/a": { "get": { "responses": { "200": found, "400": refused, "404": absent } } },
            "/b": { "get": { "responses": { "200": { "headers": { "x-id": {} } }, "400": refused } } },
        },
    }))
    .await;
    let status = |code: &str| {
        let class = &code[..1];
        format!("<th scope=\"row\"><span class=\"status of-{class}\">{code}</span></th>")
    };
    let rows = [
        format!("<tr>{}<td><a href=\"#schema-Tea\">Tea</a> A tea. Headers: ", status("200")),
        "<a href=\"#about-headers\"><code>etag</code></a>, ".into(),
        "<a href=\"#about-headers\"><code>link</code></a></td></tr>".into(),
        format!("<tr>{}<td>No <code>tea</code>.</td></tr>", status("404")),
        "<tr><td colspan=\"2\"><span class=\"status of-4\">400</span> ".into(),
        "<a href=\"#about-common-errors\">Errors of every operation</a></td></tr>".into(),
    ];
    let (_, section) = html.split_once("<section class=\"operation\" id=\"get-a\">").unwrap();
    let start = "<h4>Responses</h4><table class=\"responses\"><thead class=\"visually-hidden\"><tr>\
                 <th scope=\"col\">Status</th><th scope=\"col\">Meaning</th></tr></thead><tbody>";
    assert_eq!(between(section, start, "</tbody>"), rows.concat());
    let fields = "<table class=\"fields\"><thead class=\"visually-hidden\"><tr>\
                  <th scope=\"col\">Name</th><th scope=\"col\">Type and description</th></tr>\
                  </thead><tbody>";
    let header = |name: &str, kind: &str, text: &str| {
        format!(
            "<tr><th scope=\"row\"><code>{name}<wbr></code></th>\
             <td><p class=\"type\">{kind}</p>{text}</td></tr>"
        )
    };
    let shared = [
        format!("<h2>Headers of every response</h2>{fields}"),
        header("x-<wbr>id", "string", "An id."),
        "</tbody></table></section><section class=\"prose\" id=\"about-headers\">".into(),
        format!("<h2>Headers of some responses</h2>{fields}"),
        header("etag", "any", ""),
        header("link", "any", "Pages."),
        "</tbody></table></section><section class=\"prose\" id=\"about-common-errors\">".into(),
        "<h2>Errors of every operation</h2><table class=\"responses\"><thead><tr>".into(),
        "<th scope=\"col\">Status</th><th scope=\"col\">Meaning</th></tr></thead><tbody>".into(),
        format!("<tr>{}<td><a class=\"error-code\" href=\"#error-bad_request\">", status("400")),
        "<code>bad_request</code></a> Invalid.</td></tr>".into(),
        "</tbody></table></section><section class=\"prose\" id=\"about-error-codes\">".into(),
        "<h2>Error codes</h2><table class=\"responses\"><thead><tr><th scope=\"col\">Code</th>"
            .into(),
        "<th scope=\"col\">Status</th><th scope=\"col\">Meaning</th></tr></thead><tbody>".into(),
        "<tr id=\"error-bad_request\"><th scope=\"row\"><code>bad_request</code></th>".into(),
        "<td><span class=\"status of-4\">400</span></td><td>Not <em>readable</em>.</td></tr>"
            .into(),
        "</tbody></table></section>".into(),
    ];
    let start = "<section class=\"prose\" id=\"about-common-headers\">";
    assert_eq!(between(&html, start, "<section class=\"group\""), shared.concat());
}

#[tokio::test]
async fn the_start_of_the_page_has_title_version_and_base_url() {
    let info = json!({ "title": "Tea & co", "version": "2" });
    let documents = [
        (
            json!({ "info": info, "servers": [{ "url": "https://tea.example/api/" }] }),
            "Tea &amp; co",
            "Version 2 · ",
            "https://tea.example/api",
        ),
        (
            json!({ "servers": [{ "url": "/api" }] }),
            "API reference",
            "",
            "https://forum.example/api/v1",
        ),
    ];
    for (document, title, version, base) in documents {
        let html = render(&document).await;
        assert_eq!(between(&html, "<title>", "</title>"), format!("{title} · Reference"));
        let expected = [
            format!("<h1>{title}</h1><p class=\"summary\">{version}"),
            "<a href=\"/api/v1/openapi.json\">OpenAPI document</a></p>".into(),
            "<p class=\"base-url copyable\"><span>Base URL</span> ".into(),
            format!("<code class=\"base\">{base}</code></p>"),
        ];
        assert_eq!(between(&html, "tabindex=\"-1\">", "</main>"), expected.concat());
    }
}

#[tokio::test]
async fn a_document_with_missing_or_malformed_parts_is_rendered() {
    for document in [json!(null), json!([]), json!({}), json!({ "paths": [1], "tags": "x" })] {
        assert!(render(&document).await.contains("<h1>API reference</h1>"));
    }
    let document = document(Surface::Compact);
    for keyword in KEYWORDS {
        for value in [Value::Null, json!("text"), json!([{}]), json!({ "get": {} })] {
            let mut damaged = document.clone();
            assert!(replace(&mut damaged, keyword, &value), "{keyword}");
            render(&damaged).await;
        }
    }
}

/// Replaces the value of each member with this name. Returns whether there is one.
fn replace(value: &mut Value, name: &str, with: &Value) -> bool {
    match value {
        Value::Object(members) => members.iter_mut().fold(false, |found, (key, member)| {
            if key == name {
                *member = with.clone();
                return true;
            }
            replace(member, name, with) || found
        }),
        Value::Array(items) => {
            let replaced =
                items.iter_mut().filter_map(|item| replace(item, name, with).then_some(()));
            replaced.count() > 0
        }
        _ => false,
    }
}

/// Returns a document that has `text` in each place.
fn document_of(text: &str) -> Value {
    let mut info = json!({ "x-errors": { text: { "status": text, "meaning": text } } });
    info["title"] = text.into();
    info["version"] = text.into();
    info["description"] = format!("{text}\n## {text}\n[a](javascript:alert)").into();
    let schema = json!({
        "type": [text], "format": text, "pattern": text, "enum": [text], "default": text,
        "properties": { text: { "const": text, "description": text } }, "required": [text],
    });
    let operation = json!({
        "operationId": text, "summary": text, "tags": [text], "x-scope": text,
        "parameters": [{ "name": text, "in": text, "schema": schema, "example": text, "required": true }],
        "requestBody": { "content": { text: { "schema": schema, "example": { text: text } } } },
        "responses": { text: { "description": text, "headers": { text: {} } } },
    });
    json!({
        "info": info,
        "servers": [{ "url": format!("https://{text}") }],
        "tags": [{ "name": text, "description": text }],
        "paths": { format!("/{text}"): { "get": operation, "post": operation } },
        "webhooks": { text: { "post": operation } },
        "components": { "schemas": { text: schema }, "headers": { text: { "description": text } } },
    })
}

/// Returns the names of all elements with the names of their attributes. Panics if the markup is malformed.
fn markup(html: &str) -> BTreeSet<(String, String)> {
    let name = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let mut names = BTreeSet::new();
    for token in Tokenizer::new(html).flatten() {
        match token {
            Token::StartTag(tag) => {
                let attributes =
                    tag.attributes.keys().map(|attribute| name(attribute)).chain([String::new()]);
                names.extend(attributes.map(|attribute| (name(&tag.name), attribute)));
            }
            Token::Error(error) => panic!("{error:?}: {html}"),
            _ => {}
        }
    }
    names
}

#[tokio::test]
async fn texts_of_the_document_are_escaped() {
    let html = render(&document_of(SCRIPT)).await;
    assert_eq!(html.matches("<script").count(), 1, "the page's own script");
    assert!(!html.contains("javascript:"));
    let harmless = markup(&render(&document_of("text")).await);
    let added: Vec<_> = markup(&html).difference(&harmless).cloned().collect();
    assert_eq!(added, []);
}

#[tokio::test]
async fn examples_of_schemas_have_their_constants_and_nulls() {
    let html = render(&document(Surface::Full)).await;
    assert!(html.contains("<b>&quot;truncated&quot;</b>: true"));
    assert!(html.contains("<b>&quot;actor&quot;</b>: null"));
}

#[tokio::test]
async fn an_example_has_the_fields_of_all_parts_of_its_schema() {
    let with = |name: &str| json!({ "properties": { name: { "type": "boolean" } } });
    let mut tea = with("own");
    tea["allOf"] = json!([with("inline"), { "$ref": "#/components/schemas/Base" }]);
    let schemas = json!({ "Base": with("base"), "Tea": tea });
    let html = render(&json!({ "components": { "schemas": schemas } })).await;
    let shown = between(&html, " id=\"schema-Tea\"", "</details>");
    for name in ["own", "inline", "base"] {
        let member = format!("<b>&quot;{name}&quot;</b>: false");
        assert_eq!(shown.matches(&member).count(), 1, "{name}");
    }
}

#[tokio::test]
async fn a_schema_with_circular_references_is_rendered() {
    let html = render(&json!({
        "paths": { "/a": { "get": { "parameters": [{ "$ref": "#/paths/~1a/get/parameters/0" }],
            "responses": { "200": { "content": { "application/json": {
                "schema": { "$ref": "#/components/schemas/Tree" } } } } } } } },
        "components": { "schemas": {
            "Tree": { "type": "object", "properties": { "parent": { "$ref": "#/components/schemas/Tree" },
                "children": { "type": "array", "items": { "$ref": "#/components/schemas/Tree" } },
                "either": { "$ref": "#/components/schemas/Either" } } },
            "Either": { "anyOf": [{ "$ref": "#/components/schemas/Either" }, { "type": "null" }] },
            "Loop": { "$ref": "#/components/schemas/Loop" },
        } },
    }))
    .await;
    assert!(html.contains("href=\"#schema-Tree\"") && html.contains("id=\"schema-Loop\""));
}

#[tokio::test]
async fn assets_are_cached_by_their_hash_and_the_page_by_its_tag() {
    let mut settings = ReferenceSettings::default();
    settings.base_path = "/docs/".into();
    let page = ReferencePage::of_document(&document(Surface::Full), "/api/v1", settings).unwrap();
    let (head, html) = get(&page, "/docs/").await;
    assert_eq!(head.headers()[CACHE_CONTROL], "no-cache");
    let request = Request::get("/docs")
        .header(IF_NONE_MATCH, &head.headers()[ETAG])
        .body(String::new())
        .unwrap();
    let again = page.respond(request).await;
    assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
    let mut loads = attributes(&html, "src");
    let links = attributes(&html, "href");
    loads.extend(links.iter().filter(|url| url.contains(".css")));
    assert_eq!(loads.len(), 2);
    let immutable = "public, max-age=31536000, immutable";
    let (page_type, script_type, style_type) =
        ("text/html; charset=utf-8", "text/javascript; charset=utf-8", "text/css; charset=utf-8");
    // The script precedes the style sheet.
    let [script, style] = [0, 1].map(|number| *loads.iter().nth(number).unwrap());
    for (url, content_type, cache) in [
        ("/docs", page_type, "no-cache"),
        (script, script_type, immutable),
        (style, style_type, immutable),
        ("/docs/style.css", style_type, "no-cache"),
        ("/docs/script.js?other", script_type, "no-cache"),
    ] {
        let (head, body) = get(&page, url).await;
        let length = body.len().to_string();
        let names = [
            "cache-control",
            "content-length",
            "content-type",
            "referrer-policy",
            "x-content-type-options",
        ];
        let found = names.map(|name| head.headers()[name].to_str().unwrap());
        assert_eq!(
            found,
            [cache, length.as_str(), content_type, "same-origin", "nosniff"],
            "{url}"
        );
        // These, the tag and the content security policy.
        assert_eq!(head.headers().len(), names.len() + 2, "{url}");
    }
    for (method, path, status) in
        [("GET", "/docs/x", 404), ("GET", "/docsstyle.css", 404), ("POST", "/docs", 405)]
    {
        let request = Request::builder().method(method).uri(path).body(String::new()).unwrap();
        let response = page.respond(request).await;
        assert_eq!(response.status(), status);
    }
}
