//! Headers and markup of all pages.

use std::sync::Arc;
use std::time::Duration;

use forum_api::Environment;
use forum_api::host::{BackendError, OverloadedError};
use forum_api::model::Timestamp;
use forum_api::panel::{Panel, PanelSettings};
use forum_api::store::{Stores, TokenFilter};

use crate::fixture::{ADMIN, Fields, Members, PanelFixture, Response, URL};

/// Checks the headers of a page, and that it contains no script but the panel's own, and no foreign content.
fn assert_is_passive(page: &Response, path: &str) {
    let policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; form-action 'self'; \
                  frame-ancestors 'none'; base-uri 'none'";
    for (name, value) in [
        ("content-security-policy", policy),
        ("referrer-policy", "same-origin"),
        ("x-content-type-options", "nosniff"),
        ("cache-control", "no-store"),
    ] {
        assert_eq!(page.header(name), value, "{path}");
    }
    let own = "<script src=\"/panel/script.js\" defer></script>";
    let body = page.body.to_lowercase().replacen(own, "", 1);
    for active in ["<script", "<b>bob", " style=", "javascript:", "src=", "http-equiv"] {
        assert!(!body.contains(active), "{path}: {active}");
    }
    for tag in body.split('<').filter_map(|tag| tag.split('>').next()) {
        let mut attributes = tag.split_whitespace().skip(1);
        let handler = attributes.find(|name| name.starts_with("on") && name.contains('='));
        assert_eq!(handler, None, "{path}: {tag}");
    }
}

/// Checks that the forms that are sent with POST, and no others, have the CSRF token.
fn assert_forms_have_csrf(page: &Response, path: &str) {
    for form in page.body.split("<form ").skip(1) {
        let (form, _) = form.split_once("</form>").unwrap();
        let is_post = form.contains("method=\"post\"");
        assert_eq!(form.contains("name=\"csrf\""), is_post, "{path}: {form}");
    }
}

/// Returns the paths of all pages, with the ids of the content of the fixture. Reads the router's source, because its table is
/// private.
pub async fn page_paths(fixture: &PanelFixture) -> Vec<String> {
    let list = fixture.get("/panel/audit?action=token.issued").await;
    let entry = list.after("href=\"/panel/audit/").to_owned();
    let ids = [
        ("/tokens/", &fixture.token),
        ("/webhooks/", &fixture.endpoint),
        ("/deliveries/", &fixture.delivery),
        ("/audit/", &entry),
    ];
    let router = include_str!("../../src/panel/router.rs");
    let routes = router.lines().filter_map(|line| line.trim_start().strip_prefix("get(\""));
    let with_id = |route: &str| {
        let id =
            ids.iter().find(|(parent, _)| route.starts_with(parent)).map(|(_, id)| id.as_str());
        format!("/panel{}", route.replace("{id}", id.unwrap_or_default()))
    };
    routes.map(|route| with_id(route.split('"').next().unwrap())).collect()
}

#[tokio::test]
async fn all_pages_have_security_headers_and_no_active_content() {
    let fixture = PanelFixture::with_content().await;
    let paths = page_paths(&fixture).await;
    assert!(paths.len() >= 12, "{paths:?}");
    let pages = paths.into_iter().map(|path| (path, 200));
    for (path, status) in pages.chain([("/panel/nothing".to_owned(), 404)]) {
        let page = fixture.get(&path).await;
        assert_eq!(page.status, status, "{path}");
        assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
        assert_is_passive(&page, &path);
        assert_forms_have_csrf(&page, &path);
        let head = fixture.send("HEAD", &path, &[ADMIN], &[]).await;
        assert_eq!((head.status, head.body.as_str()), (status, ""), "{path}");
        assert_is_passive(&fixture.get_as("", &path).await, &path);
        assert_is_passive(&fixture.post(&path, &[]).await, &path);
    }
}

#[tokio::test]
async fn an_overloaded_store_is_a_503_with_the_time_of_a_retry() {
    let fixture = PanelFixture::new().await;
    fixture.interceptor.on_arguments("tokens.list", |_: &mut (TokenFilter, Timestamp)| {
        Err(BackendError::new(OverloadedError::new(Duration::from_secs(7))))
    });
    let page = fixture.get("/panel/tokens").await;
    assert_eq!((page.status, page.header("retry-after")), (503, "7"));
    page.expect(&[
        "<h1><span class=\"long\">Overloaded</span></h1>",
        "<p>The server is overloaded. Try again in a moment. The server log has the cause, with the request id ",
    ]);
}

#[tokio::test]
async fn an_empty_list_shows_the_next_step() {
    let fixture = PanelFixture::new().await;
    for (path, next) in [
        ("/panel/tokens", "Issue a token for a member."),
        ("/panel/webhooks", "Add a receiver's URL"),
        ("/panel/deliveries", "Add an endpoint"),
        ("/panel/usage", "Add an endpoint"),
    ] {
        assert!(fixture.get(path).await.contains(next), "{path}");
    }
}

#[tokio::test]
async fn a_panel_without_webhooks_has_only_the_other_pages() {
    let mut fixture = PanelFixture::with_content().await;
    let ids = [fixture.endpoint_path(""), fixture.delivery_path("")];
    fixture.panel = fixture.node_without_webhooks();
    for path in ["/panel/usage", "/panel/tokens", "/panel/audit"] {
        let page = fixture.get(path).await;
        assert!(!page.contains("/panel/webhooks") && !page.contains("/panel/deliveries"), "{path}");
    }
    let pages = ["/panel/webhooks", "/panel/webhooks/new", "/panel/deliveries"];
    for path in pages.into_iter().chain(ids.iter().map(String::as_str)) {
        assert_eq!(fixture.get(path).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn the_base_path_redirects_to_the_usage_and_matches_whole_segments() {
    let fixture = PanelFixture::new().await;
    for path in ["/panel", "/panel/"] {
        let page = fixture.get(path).await;
        assert_eq!(page.status_and_location(), (303, "/panel/usage"));
    }
    for path in ["/panelx", "/panel.evil.example/tokens", "/panelstyle.css"] {
        assert_eq!(fixture.get_as("", path).await.status, 404, "{path}");
        assert_eq!(fixture.get(path).await.status, 404, "{path}");
    }
}

#[test]
fn build_rejects_each_setting_out_of_bounds() {
    type Change = fn(&mut PanelSettings);
    let cases: &[(&str, Change)] = &[
        ("base_path", |settings| settings.base_path = "panel".into()),
        ("body_limit", |settings| settings.body_limit = 0),
        ("request_timeout", |settings| settings.request_timeout = Duration::ZERO),
        ("api_url", |settings| settings.api_url = "/api/v1".into()),
        ("reference_url", |settings| settings.reference_url = "javascript:alert(1)".into()),
        ("reference_url", |settings| settings.reference_url = "//other.example".into()),
        ("mcp_url", |settings| settings.mcp_url = "/mcp".into()),
        ("board_url", |settings| settings.board_url = "board".into()),
        ("accent_color", |settings| settings.accent_color = "#12345".into()),
        ("accent_color", |settings| settings.accent_color = "#12345}".into()),
    ];
    for (setting, change) in cases {
        let mut settings = PanelSettings::default();
        change(&mut settings);
        let environment = Environment::default();
        let members = Arc::new(Members::default());
        let panel = Panel::builder(members, Stores::in_memory(), &environment).settings(settings);
        assert_eq!(panel.build().unwrap_err().setting(), *setting);
    }
}

#[tokio::test]
async fn a_member_returns_to_this_host_after_signing_in() {
    let fixture = PanelFixture::with_base_path("/").await;
    for (path, back) in [
        ("/usage?x=//evil", "/usage?x=//evil"),
        ("//evil.example/usage", "/usage"),
        ("///evil.example", "/usage"),
    ] {
        let sign_in = format!("/sign-in?back={back}");
        let page = fixture.get_as("", path).await;
        assert_eq!(page.header("location"), sign_in, "{path}");
    }
    let head = fixture.send("HEAD", "/tokens", &[], &[]).await;
    assert_eq!(head.status_and_location(), (303, "/sign-in?back=/usage"));
}

#[tokio::test]
async fn style_sheet_and_script_are_public_and_cacheable() {
    let fixture = PanelFixture::new().await;
    for (path, content_type) in [
        ("/panel/style.css", "text/css; charset=utf-8"),
        ("/panel/script.js", "text/javascript; charset=utf-8"),
    ] {
        let asset = fixture.get_as("", path).await;
        assert_eq!(asset.status, 200);
        assert_eq!(asset.header("content-type"), content_type);
        assert_eq!(asset.header("cache-control"), "no-cache");
        let known = [("if-none-match", asset.header("etag"))];
        let same = fixture.send("GET", path, &known, &[]).await;
        assert_eq!((same.status, same.body.as_str()), (304, ""));
    }
}

#[tokio::test]
async fn a_relative_time_has_its_time_in_utc() {
    let fixture = PanelFixture::with_content().await;
    fixture.clock.advance(Duration::from_secs(12));
    let tokens = fixture.get("/panel/tokens").await;
    let time = "datetime=\"2026-01-01T00:00:00.000Z\" title=\"2026-01-01 00:00:00 UTC\">";
    let relative = format!("<time class=\"relative\" {time}12 seconds ago</time>");
    assert!(tokens.contains(&relative), "{}", tokens.body);
    let path = format!("/panel/tokens/{}", fixture.token);
    let token = fixture.get(&path).await;
    let both = format!("<time {time}12 seconds ago <small>2026-01-01 00:00:00 UTC</small></time>");
    assert!(token.contains(&both), "{}", token.body);
}

#[tokio::test]
async fn an_empty_required_field_asks_for_its_value() {
    let fixture = PanelFixture::new().await;
    let empty = [("owner", " "), ("password", "")];
    let page = fixture.issue(&empty).await;
    assert!(page.status == 422 && page.contains("Enter a username."));
    assert!(page.contains("Enter your password.") && !page.contains("Incorrect password."));
    let empty = [("url", ""), ("topics", "*")];
    let page = fixture.post("/panel/webhooks", &empty).await;
    assert!(page.status == 422 && page.contains("Enter a URL."));
    let page = fixture.issue(&[("owner", "missing")]).await;
    assert!(page.status == 422 && page.contains("No member has this username."));
}

#[tokio::test]
async fn pages_have_the_name_of_the_board_and_of_their_object_and_a_way_back() {
    let mut fixture = PanelFixture::with_content().await;
    let mut settings = PanelSettings::default();
    settings.board_name = "Tea <club>".into();
    settings.other_tasks = vec![("members".into(), "tea member".into())];
    fixture.panel = fixture.node_builder().settings(settings).build().unwrap();
    let url = URL.replace('&', "&amp;");
    let delivery = format!("ping {}", fixture.delivery);
    let label = "&lt;script&gt;alert(1)&lt;/script&gt;";
    for (path, area, area_name, name) in [
        (format!("/panel/tokens/{}", fixture.token), "tokens", "API tokens", label),
        (fixture.endpoint_path(""), "webhooks", "Webhooks", &url),
        (fixture.delivery_path(""), "deliveries", "Deliveries", &delivery),
    ] {
        let page = fixture.get(&path).await;
        let back = format!("<a href=\"/panel/{area}\">Back to the list</a>");
        page.expect(&[
            &format!("<title>{name} · {area_name} · Control panel · Tea &lt;club&gt;</title>"),
            "<h1><span class=\"long\"",
            &back,
        ]);
    }
    let list = fixture.get("/panel/tokens").await;
    assert!(list.contains("<title>API tokens · Control panel"));
    assert!(!list.contains("Back to the list") && !list.contains("tea member"));
    let start = fixture.get("/panel/usage").await;
    start.expect(&["<footer class=\"other\"><p>Not in this panel:</p><ul><li>members <code>tea member</code></li></ul></footer>"]);
}

/// The parameter `done` is a name, so that a crafted link cannot show another text.
#[tokio::test]
async fn each_change_has_its_message_on_the_page_to_which_it_redirects() {
    let fixture = PanelFixture::new().await;
    for (name, messages) in [
        ("revoked", &["Token revoked. Requests that use it now return 401."][..]),
        ("saved", &["Changes saved."]),
        ("activated", &["The new secret is active."]),
        ("enabled", &["Endpoint enabled. Queued deliveries are sent now."]),
        ("disabled", &["Endpoint disabled. Queued deliveries are kept."]),
        ("all-retried", &["All dead deliveries are queued again."]),
        ("endpoint-removed", &["Endpoint deleted with its deliveries."]),
        ("delivery-removed", &["Delivery removed."]),
        ("Changes+saved.", &[]),
        ("", &[]),
    ] {
        let page = fixture.get(&format!("/panel/tokens?done={name}")).await;
        assert_eq!(page.messages(), messages, "{name}");
    }
    let absent = fixture.get("/panel/nothing?done=saved").await;
    assert_eq!((absent.status, absent.messages()), (404, vec![]));
}

#[tokio::test]
async fn a_refused_form_has_a_message_and_the_errors_of_its_fields() {
    const NOT_ISSUED: &str = "The token was not issued. Correct the fields marked below.";
    const NOT_ADDED: &str = "The endpoint was not added. Correct the fields marked below.";
    const LABEL: &str = "The label must have at most 100 characters, not only invisible ones, and no control characters, line breaks or bidirectional overrides.";
    let fixture = PanelFixture::with_content().await;
    let token = format!("/panel/tokens/{}", fixture.token);
    let endpoint = fixture.endpoint_path("");
    let new_token = [
        ("owner", "missing"),
        ("label", "\t"),
        ("scopes", "no:such"),
        ("expires_in_days", "x"),
        ("password", "wrong"),
    ];
    let new_endpoint = [
        ("url", "https://admin@93.184.215.14/"),
        ("owner", "missing"),
        ("secret", "short"),
        ("password", "wrong"),
    ];
    let not_a_url = [("url", "no url"), ("topics", "a b")];
    let cases: [(&str, &Fields<'_>, &[&str]); 6] = [
        (
            "/panel/tokens/new",
            &new_token,
            &[
                NOT_ISSUED,
                "No member has this username.",
                LABEL,
                "Unknown scope &quot;no:such&quot;.",
                "Expected an expiry of 1 to 36500 whole days, or an empty text for no expiry.",
                "Incorrect password.",
            ],
        ),
        (
            "/panel/tokens/new",
            &[],
            &[
                NOT_ISSUED,
                "Enter a username.",
                "A token needs at least one scope.",
                "Enter your password.",
            ],
        ),
        (
            "/panel/webhooks",
            &new_endpoint,
            &[
                NOT_ADDED,
                "The URL must not contain a username or password.",
                "No member has this username.",
                "Choose at least one topic.",
                "The secret must have at least 16 characters.",
                "Incorrect password.",
            ],
        ),
        (
            "/panel/webhooks",
            &not_a_url,
            &[
                NOT_ADDED,
                "Expected a URL of at most 2048 bytes without spaces and invisible characters, for example https://example.org/hook.",
                "Unknown topic &quot;a b&quot;.",
                "Enter your password.",
            ],
        ),
        (
            &endpoint,
            &[],
            &[
                "The changes were not saved. Correct the fields marked below.",
                "Enter a URL.",
                "Enter a username.",
                "Choose at least one topic.",
                "Enter your password.",
            ],
        ),
        (
            &token,
            &[("label", "\t")],
            &["The label was not changed. Correct the field marked below.", LABEL],
        ),
    ];
    for (path, form, messages) in cases {
        let page = fixture.post(path, form).await;
        assert_eq!((page.status, &*page.messages()), (422, messages), "{path}");
    }
}

#[tokio::test]
async fn a_locked_form_has_the_minutes_until_the_next_attempt() {
    let fixture = PanelFixture::with_content().await;
    for _ in 0..5 {
        fixture.issue(&[("password", "wrong")]).await;
    }
    let endpoint = fixture.endpoint_path("");
    let form = [("owner", "alice"), ("url", "https://93.184.215.14/new"), ("topics", "*")];
    let locked = async |wait: &str| {
        for (path, refused) in [
            ("/panel/tokens/new", "The token was not issued"),
            ("/panel/webhooks", "The endpoint was not added"),
            (&*endpoint, "The changes were not saved"),
        ] {
            let page = fixture.post_confirmed(path, &form).await;
            let message = format!("{refused}: too many incorrect passwords. Try again in {wait}.");
            assert_eq!((page.status, page.messages()), (429, vec![&*message]), "{path}");
        }
    };
    locked("5 minutes").await;
    fixture.clock.advance(Duration::from_secs(239));
    locked("2 minutes").await;
    fixture.clock.advance(Duration::from_secs(1));
    locked("1 minute").await;
}
