//! Nobody but an administrator is here, and nothing is changed but by a form of the session's own. The routes are those
//! of the panel's table.

use crate::ask::{ADMIN, Fields};
use crate::house::{House, PASSWORD};

const TABLE: &str = include_str!("../../src/panel/router.rs");

/// The paths of the table's rows of a kind, with ids that there are.
fn paths(kind: &str, house: &House) -> Vec<String> {
    let begin = format!("    {kind}(\"");
    let rows = TABLE.lines().filter_map(|line| line.strip_prefix(&begin));
    let paths = rows.map(|row| row.split('"').next().unwrap());
    let id = |path: &str| match path.split('/').nth(1) {
        Some("tokens") => house.token.clone(),
        Some("webhooks") => house.endpoint.clone(),
        _ => house.delivery.clone(),
    };
    let paths = paths.map(|path| format!("/panel{}", path.replace("{id}", &id(path))));
    paths.collect()
}

/// What every form could want: whatever was forged would be carried out.
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
async fn each_form_does_something_when_it_is_sent_in_earnest() {
    for number in 0..13 {
        let house = House::furnished().await;
        let path = &paths("post", &house)[number];
        let before = house.kept().await;
        let done = house.post(path, FORM).await;
        assert!(matches!(done.status, 200 | 303), "{path}: {done:?}");
        assert_ne!(house.kept().await, before, "{path}");
    }
}

#[tokio::test]
async fn a_forged_form_changes_nothing() {
    let house = House::furnished().await;
    let before = house.kept().await;
    let own = house.csrf().await;
    let others = house.get_as("admin/2", "/panel/tokens/new").await;
    let others = others.after("name=\"csrf\" value=\"").to_owned();
    assert_ne!(own, others);
    let forged: [(&str, &[(&str, &str)]); 9] = [
        ("", &[]),
        ("x", &[]),
        (&own[1..], &[]),
        (&others, &[]),
        (&own, &[("origin", "https://evil.example")]),
        (&own, &[("origin", "null")]),
        (&own, &[("referer", "https://evil.example/panel")]),
        (&own, &[("sec-fetch-site", "cross-site")]),
        (&own, &[("sec-fetch-site", "same-site")]),
    ];
    for path in paths("post", &house) {
        for (csrf, headers) in forged {
            let headers = [&[("cookie", ADMIN)], headers].concat();
            let form = [&[("csrf", csrf)], FORM].concat();
            let refused = house.send("POST", &path, &headers, &form).await;
            assert_eq!(refused.status, 403, "{path} {headers:?}");
        }
        let without = house.send("POST", &path, &[("cookie", ADMIN)], FORM).await;
        assert_eq!(without.status, 403, "{path}");
    }
    assert_eq!(house.kept().await, before);
}

#[tokio::test]
async fn a_form_from_the_panel_itself_is_taken_wherever_a_browser_says_it_is_from() {
    let house = House::furnished().await;
    let csrf = house.csrf().await;
    let headers = [
        ("cookie", ADMIN),
        ("origin", "https://board.example"),
        ("referer", "https://board.example/panel/tokens"),
        ("sec-fetch-site", "same-origin"),
    ];
    let path = format!("/panel/tokens/{}/revoke", house.token);
    let done = house
        .send("POST", &path, &headers, &[("csrf", &csrf)])
        .await;
    assert_eq!(
        (done.status, done.header("location")),
        (303, "/panel/tokens?done=revoked")
    );
}

#[tokio::test]
async fn whoever_is_not_signed_in_is_sent_to_sign_in() {
    let house = House::furnished().await;
    let before = house.kept().await;
    for path in paths("get", &house) {
        let sent = house.get_as("", &format!("{path}?x=1")).await;
        let sign_in = format!("/sign-in?back={path}?x=1");
        assert_eq!(
            (sent.status, sent.header("location")),
            (303, sign_in.as_str())
        );
    }
    for path in paths("post", &house) {
        let sent = house.send("POST", &path, &[], FORM).await;
        assert_eq!(
            (sent.status, sent.header("location")),
            (303, "/sign-in?back=/panel/tokens")
        );
    }
    assert_eq!(house.kept().await, before);
}

#[tokio::test]
async fn to_whoever_is_no_administrator_there_is_no_panel() {
    let house = House::furnished().await;
    let before = house.kept().await;
    let absent = house.get("/panel/nothing").await;
    for path in paths("get", &house)
        .iter()
        .map(String::as_str)
        .chain(["/panel", "/panel/"])
    {
        let answer = house.get_as("alice/1", path).await;
        assert_eq!((answer.status, &answer.body), (404, &absent.body), "{path}");
    }
    for path in paths("post", &house) {
        let answer = house
            .send("POST", &path, &[("cookie", "alice/1")], FORM)
            .await;
        assert_eq!((answer.status, &answer.body), (404, &absent.body), "{path}");
    }
    assert_eq!(house.kept().await, before);
}

#[tokio::test]
async fn what_cannot_be_read_changes_nothing() {
    let house = House::furnished().await;
    let before = house.kept().await;
    let csrf = house.csrf().await;
    let path = "/panel/tokens/new";
    for label in ["\0", &"x".repeat(2 << 20)] {
        let form = [&[("csrf", csrf.as_str()), ("label", label)], FORM].concat();
        let refused = house.send("POST", path, &[("cookie", ADMIN)], &form).await;
        assert_eq!(refused.status, 400);
    }
    assert_eq!(house.kept().await, before);
}
