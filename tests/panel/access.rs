//! Only an administrator uses the panel, and only a form of the session changes anything. The routes are those of the
//! panel's router.

use crate::fixture::{ADMIN, Fields, PASSWORD, PanelFixture};

const ROUTER: &str = include_str!("../../src/panel/router.rs");

/// The paths of the routes of a method, with ids that exist.
fn paths(method: &str, fixture: &PanelFixture) -> Vec<String> {
    let begin = format!("    {method}(\"");
    let rows = ROUTER.lines().filter_map(|line| line.strip_prefix(&begin));
    let paths = rows.map(|row| row.split('"').next().unwrap());
    let id = |path: &str| match path.split('/').nth(1) {
        Some("tokens") => fixture.token.clone(),
        Some("webhooks") => fixture.endpoint.clone(),
        _ => fixture.delivery.clone(),
    };
    let paths: Vec<_> = paths
        .map(|path| format!("/panel{}", path.replace("{id}", &id(path))))
        .collect();
    assert!(paths.len() > 6, "{method}: {paths:?}");
    paths
}

/// The fields of every form, so that each forged form would be carried out.
const FORM: &Fields<'static> = &[
    ("owner", "alice"),
    ("label", "x"),
    ("scopes", "posts:read"),
    ("expires_in_days", ""),
    ("password", PASSWORD),
    ("url", "https://93.184.215.14/"),
    ("topics", "post.created"),
];

#[tokio::test]
async fn each_form_changes_something() {
    let count = paths("post", &PanelFixture::with_content().await).len();
    for number in 0..count {
        let fixture = PanelFixture::with_content().await;
        let path = &paths("post", &fixture)[number];
        let before = fixture.snapshot().await;
        let done = fixture.post(path, FORM).await;
        assert!(matches!(done.status, 200 | 303), "{path}: {done:?}");
        assert_ne!(fixture.snapshot().await, before, "{path}");
    }
}

#[tokio::test]
async fn a_forged_form_changes_nothing() {
    let fixture = PanelFixture::with_content().await;
    let before = fixture.snapshot().await;
    let own = fixture.csrf().await;
    let other = fixture.get_as("admin/2", "/panel/tokens/new").await;
    let other = other.after("name=\"csrf\" value=\"");
    assert_ne!(own, other);
    let evil = "https://evil.example";
    let forged: [(&Fields<'_>, &[(&str, &str)]); 6] = [
        (&[], &[]),
        (&[("csrf", "")], &[]),
        (&[("csrf", &own[1..])], &[]),
        (&[("csrf", other)], &[]),
        (&[("csrf", &own)], &[("origin", evil)]),
        (&[("csrf", &own)], &[("sec-fetch-site", "cross-site")]),
    ];
    for path in paths("post", &fixture) {
        for (csrf, headers) in forged {
            let headers = [&[ADMIN], headers].concat();
            let form = [csrf, FORM].concat();
            let refused = fixture.send("POST", &path, &headers, &form).await;
            assert_eq!(refused.status, 403, "{path} {headers:?}");
        }
    }
    assert_eq!(fixture.snapshot().await, before);
}

#[tokio::test]
async fn only_an_administrator_sees_or_changes_anything() {
    let fixture = PanelFixture::with_content().await;
    let before = fixture.snapshot().await;
    let absent = fixture.get("/panel/nothing").await;
    for path in paths("get", &fixture) {
        let guest = fixture.get_as("", &format!("{path}?x=1")).await;
        let sign_in = format!("/sign-in?back={path}?x=1");
        assert_eq!(guest.status_and_location(), (303, sign_in.as_str()));
        let member = fixture.get_as("alice/1", &path).await;
        assert_eq!((member.status, &member.body), (404, &absent.body), "{path}");
    }
    for path in paths("post", &fixture) {
        let guest = fixture.send("POST", &path, &[], FORM).await;
        assert_eq!(
            guest.status_and_location(),
            (303, "/sign-in?back=/panel/tokens")
        );
        let member = fixture
            .send("POST", &path, &[("cookie", "alice/1")], FORM)
            .await;
        assert_eq!((member.status, &member.body), (404, &absent.body), "{path}");
    }
    for path in ["/panel", "/panel/"] {
        let member = fixture.get_as("alice/1", path).await;
        assert_eq!((member.status, &member.body), (404, &absent.body), "{path}");
    }
    assert_eq!(fixture.snapshot().await, before);
}

#[tokio::test]
async fn a_form_that_cannot_be_read_changes_nothing() {
    let fixture = PanelFixture::with_content().await;
    let before = fixture.snapshot().await;
    for label in ["\0", &"x".repeat(2 << 20)] {
        let form = [&[("label", label)], FORM].concat();
        assert_eq!(fixture.post("/panel/tokens/new", &form).await.status, 400);
    }
    assert_eq!(fixture.snapshot().await, before);
}
