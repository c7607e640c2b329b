//! Access checks of all routes of the panel's router.

use forum_api::Environment;
use forum_api::test_util::Intervention;
use forum_test_support::body_in_parts::BodyInParts;
use forum_test_support::endless_body::EndlessBody;
use forum_test_support::thread_log;
use http::Request;
use tokio::time::Instant;

use crate::fixture::{ADMIN, Fields, PASSWORD, PanelFixture, Response};

const ROUTER: &str = include_str!("../../src/panel/router.rs");

/// Returns the paths of the routes of a method, with existing ids.
fn paths(method: &str, fixture: &PanelFixture) -> Vec<String> {
    let prefix = format!("    {method}(\"");
    let rows = ROUTER.lines().filter_map(|line| line.strip_prefix(&prefix));
    let paths = rows.map(|row| row.split('"').next().unwrap());
    let id = |path: &str| match path.split('/').nth(1) {
        Some("tokens") => fixture.token.clone(),
        Some("webhooks") => fixture.endpoint.clone(),
        _ => fixture.delivery.clone(),
    };
    let paths: Vec<_> = paths
        .filter(|path| *path != "/audit/{id}")
        .map(|path| format!("/panel{}", path.replace("{id}", &id(path))))
        .collect();
    assert!(paths.len() > 6, "{method}: {paths:?}");
    paths
}

/// The fields of all forms, so that each forged form would be valid otherwise.
const FORM: &Fields<'static> = &[
    ("owner", "alice"),
    ("label", "x"),
    ("scopes", "posts:read"),
    ("expires_in_days", ""),
    ("password", PASSWORD),
    ("url", "https://93.184.215.14/"),
    ("topics", "post.created"),
    ("topic", "post.created"),
    ("activates_at", "2026-01-02T00:00:00.000Z"),
];

#[tokio::test(start_paused = true)]
async fn each_valid_form_changes_stored_data() {
    let count = paths("post", &PanelFixture::with_content().await).len();
    for number in 0..count {
        let fixture = PanelFixture::with_content().await;
        let path = &paths("post", &fixture)[number];
        if path.ends_with("/enable") {
            fixture.post(&fixture.endpoint_path("/disable"), &[]).await;
        }
        let before = fixture.snapshot().await;
        let response = fixture.post(path, FORM).await;
        assert!(matches!(response.status, 200 | 303), "{path}: {response:?}");
        assert_ne!(fixture.snapshot().await, before, "{path}");
    }
}

#[tokio::test]
async fn a_forged_form_changes_nothing() {
    let fixture = PanelFixture::with_content().await;
    let before = fixture.snapshot().await;
    let own = fixture.csrf().await;
    let page = fixture.get_as("admin/2", "/panel/tokens/new").await;
    let other = page.after("name=\"csrf\" value=\"");
    assert_ne!(own, other);
    let evil = "https://evil.example";
    let forged: [(&Fields<'_>, &[(&str, &str)]); 9] = [
        (&[], &[]),
        (&[("csrf", "")], &[]),
        (&[("csrf", &own[1..])], &[]),
        (&[("csrf", other)], &[]),
        (&[("csrf", &own)], &[("origin", evil)]),
        (&[("csrf", &own)], &[("origin", "null")]),
        (&[("csrf", &own)], &[("referer", evil)]),
        (&[("csrf", &own)], &[("sec-fetch-site", "cross-site")]),
        (&[("csrf", &own)], &[("sec-fetch-site", "same-site")]),
    ];
    for path in paths("post", &fixture) {
        for (csrf, headers) in forged {
            let headers = [&[ADMIN], headers].concat();
            let form = [csrf, FORM].concat();
            let response = fixture.send("POST", &path, &headers, &form).await;
            assert_eq!(response.status, 403, "{path} {headers:?}");
        }
    }
    assert_eq!(fixture.snapshot().await, before);
}

/// Only a form must come from the host: a link in a mail opens a page.
#[tokio::test]
async fn a_link_on_another_site_opens_a_page() {
    let fixture = PanelFixture::with_content().await;
    let headers = [ADMIN, ("referer", "https://mail.example/"), ("sec-fetch-site", "cross-site")];
    for path in paths("get", &fixture) {
        let page = fixture.send("GET", &path, &headers, &[]).await;
        assert_eq!(page.status, 200, "{path}");
    }
}

/// Behind a proxy, the host of the request can be another one.
#[tokio::test]
async fn a_form_can_come_from_the_public_origin_of_the_environment() {
    let mut fixture = PanelFixture::new().await;
    let environment =
        Environment::default().clock(fixture.clock.clone()).public_origin("https://public.example");
    fixture.panel = fixture.node_builder_in(environment).build().unwrap();
    let csrf = fixture.csrf().await;
    for (origin, status) in [("https://public.example", 422), ("https://other.example", 403)] {
        let headers = [ADMIN, ("origin", origin)];
        let form = [("csrf", &*csrf)];
        let response = fixture.send("POST", "/panel/tokens/new", &headers, &form).await;
        assert_eq!(response.status, status, "{origin}");
    }
}

#[tokio::test]
async fn a_session_with_an_empty_secret_has_no_valid_form() {
    let fixture = PanelFixture::new().await;
    for (cookie, status) in [("admin/x", 422), ("admin/", 403)] {
        let page = fixture.get_as(cookie, "/panel/tokens/new").await;
        let csrf = [("csrf", page.after("name=\"csrf\" value=\""))];
        let headers = [("cookie", cookie)];
        let path = "/panel/tokens/new";
        let response = fixture.send("POST", path, &headers, &csrf).await;
        assert_eq!(response.status, status, "{cookie}");
    }
}

#[tokio::test]
async fn guests_and_members_have_no_access_to_the_panel() {
    let fixture = PanelFixture::with_content().await;
    let before = fixture.snapshot().await;
    let not_found = fixture.get_as("alice/1", "/panel/nothing").await.body;
    assert!(!not_found.contains("<nav"));
    assert!(not_found.contains("Sign out"));
    let assert_not_found = |response: Response, path: &str| {
        assert_eq!(response.status, 404, "{path}");
        assert_eq!(response.body, not_found, "{path}");
    };
    for path in paths("get", &fixture) {
        let guest = fixture.get_as("", &format!("{path}?x=1")).await;
        let sign_in = format!("/sign-in?back={path}?x=1");
        assert_eq!(guest.status_and_location(), (303, sign_in.as_str()));
        assert_not_found(fixture.get_as("alice/1", &path).await, &path);
    }
    for path in paths("post", &fixture) {
        let guest = fixture.send("POST", &path, &[], FORM).await;
        let sign_in = guest.header("location").to_owned();
        let back = sign_in.strip_prefix("/sign-in?back=").unwrap();
        let page = back.strip_suffix("&ended").unwrap();
        assert_eq!(guest.status, 303);
        assert_eq!(fixture.get(page).await.status, 200, "{path}: {page}");
        let forms = [format!("action=\"{path}\""), format!("action=\"{path}#")];
        let shown = fixture.get(page).await;
        let is_button = path.ends_with("/enable") || path.ends_with("/retry-dead");
        let is_shown = forms.iter().any(|form| shown.contains(form));
        assert!(is_button || is_shown, "{path}: {page}");
        let member = [("cookie", "alice/1")];
        assert_not_found(fixture.send("POST", &path, &member, FORM).await, &path);
    }
    for path in ["/panel", "/panel/"] {
        assert_not_found(fixture.get_as("alice/1", path).await, path);
    }
    assert_eq!(fixture.snapshot().await, before);
}

#[tokio::test]
async fn an_invalid_form_changes_nothing() {
    let fixture = PanelFixture::with_content().await;
    let before = fixture.snapshot().await;
    for (label, reason) in
        [("\0", "The form could not be read."), (&*"x".repeat(2 << 20), "The form is too long.")]
    {
        let form = [&[("label", label)], FORM].concat();
        let page = fixture.post("/panel/tokens/new", &form).await;
        assert!(page.status == 400 && page.contains(reason), "{reason}");
    }
    for (length, status) in [(1_040_000, 422), (1_050_000, 400)] {
        let label = "x".repeat(length);
        let page = fixture.post("/panel/tokens/new", &[("label", &*label)]).await;
        assert_eq!(page.status, status, "{length}");
    }
    let too_many = [FORM, &[("topics", "post.created"); 1000]].concat();
    assert_eq!(fixture.post("/panel/webhooks", &too_many).await.status, 400);
    assert_eq!(fixture.snapshot().await, before);
}

#[tokio::test(start_paused = true)]
async fn a_form_that_does_not_arrive_before_the_timeout_is_a_400() {
    let fixture = PanelFixture::new().await;
    let request = Request::post("/panel/webhooks").header(ADMIN.0, ADMIN.1);
    let began = Instant::now();
    let response = fixture.call(request.body(EndlessBody::default()).unwrap()).await;
    assert_eq!((response.status, began.elapsed().as_secs()), (400, 30));
    assert!(response.contains("The form could not be read."));
}

#[tokio::test(start_paused = true)]
async fn a_page_whose_store_does_not_respond_before_the_timeout_is_a_500() {
    let fixture = PanelFixture::new().await;
    fixture.interceptor.on_call(|method, _| match method {
        "tokens.list" => Intervention::Hang,
        _ => Intervention::Proceed,
    });
    thread_log::record();
    let began = Instant::now();
    let page = fixture.get("/panel/tokens").await;
    assert_eq!((page.status, began.elapsed().as_secs()), (500, 30));
    let id = page.after("request id ").trim_end_matches('.');
    let text = format!(
        "<p>An internal error occurred. The server log has the cause, with the request id {id}.</p>"
    );
    page.expect(&[&text, "<h1><span class=\"long\">Internal error</span></h1>"]);
    let log = thread_log::take();
    for line in [
        "internal error error=the request timed out",
        "request completed method=GET path=\"/panel/tokens\" status=500",
    ] {
        assert!(log.contains(line), "{line}: {log}");
    }
}

#[tokio::test]
async fn a_form_in_too_many_parts_cannot_be_read() {
    let fixture = PanelFixture::new().await;
    let request = Request::post("/panel/webhooks").header(ADMIN.0, ADMIN.1);
    let body = BodyInParts::new(&"x".repeat(5_000), 1);
    let response = fixture.call(request.body(body).unwrap()).await;
    assert_eq!(response.status, 400);
    assert!(response.contains("The form could not be read."), "{response:?}");
}

#[tokio::test]
async fn an_error_page_has_a_title_navigation_and_a_link_back_for_an_administrator() {
    let fixture = PanelFixture::with_content().await;
    let unknown = fixture.get("/panel/nothing").await;
    let absent = fixture.get("/panel/webhooks/whe_9").await;
    let forged = fixture.send("POST", "/panel/webhooks", &[ADMIN], &[]).await;
    let unreadable = fixture.post("/panel/webhooks", &[("url", "\0")]).await;
    let too_long = fixture.post("/panel/webhooks", &[("url", &*"x".repeat(2 << 20))]).await;
    for (page, status, title, back) in [
        (unknown, 404, "Not found", "/panel/usage\">Back to Usage"),
        (absent, 404, "Not found", "/panel/webhooks\">Back to Webhooks"),
        (forged, 403, "Form rejected", "/panel/webhooks\">Back to Webhooks"),
        (unreadable, 400, "Invalid form", "/panel/webhooks\">Back to Webhooks"),
        (too_long, 400, "Form too long", "/panel/webhooks\">Back to Webhooks"),
    ] {
        assert_eq!(page.status, status);
        page.expect(&["<nav", &format!("<h1><span class=\"long\">{title}</span></h1>"), back]);
    }
    for panics in [false, true] {
        fixture.interceptor.on_call(move |method, _| match method {
            "audit.list" if panics => Intervention::Panic,
            "audit.list" => Intervention::Fail,
            _ => Intervention::Proceed,
        });
        thread_log::record();
        let failed = fixture.get("/panel/audit").await;
        assert_eq!(failed.status, 500);
        assert!(failed.contains("<nav") && failed.contains("An internal error occurred."));
        let id = failed.after("request id ").trim_end_matches('.');
        let log = thread_log::take();
        let logged = format!("panel{{request_id=\"{id}\"");
        let cause = |line: &str| line.contains("internal error") && line.contains(&logged);
        assert!(log.lines().any(cause), "{log}");
    }
}
