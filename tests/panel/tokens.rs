//! Issuing, listing and revoking tokens.

use std::time::Duration;

use forum_api::runtime::Clock;
use forum_api::token::{PlainToken, TokenState};

use crate::fixture::{PASSWORD, PanelFixture};

#[tokio::test]
async fn a_token_is_shown_once_in_a_read_only_field() {
    let fixture = PanelFixture::new().await;
    let issued = fixture.issue(&[]).await;
    assert_eq!(issued.status, 200);
    assert_eq!(issued.header("cache-control"), "no-store");
    assert!(issued.contains("aria-readonly=\"true\""));
    let token = PlainToken::parse(&format!("forum_pat_{}", issued.after("forum_pat_"))).unwrap();
    let [stored] = fixture.tokens().await.try_into().unwrap();
    assert_eq!(stored.digest, token.digest());
    assert_eq!(*stored.scopes, ["forums:read", "posts:read"]);
    assert_eq!(stored.label, "a laptop");
    let list = fixture.get("/panel/tokens").await;
    assert!(list.contains("a laptop") && list.contains("in 30 days") && list.contains("alice"));
    assert!(!list.contains(token.expose_secret()));
}

#[tokio::test]
async fn an_expiry_is_a_number_of_days_or_empty() {
    let fixture = PanelFixture::new().await;
    for (text, days) in [("", None), (" 007 ", Some(7))] {
        let issued = fixture.issue(&[("expires_in_days", text)]).await;
        assert_eq!(issued.status, 200, "{text:?}");
        let end = days.map(|days| Duration::from_secs(86_400 * days));
        let end = end.map(|length| fixture.clock.now().saturating_add(length));
        let mut tokens = fixture.tokens().await.into_iter();
        assert!(tokens.any(|token| token.expires_at == end), "{text:?}");
    }
    let page = fixture.issue(&[("expires_in_days", "<b>")]).await;
    assert_eq!(page.status, 422);
    for expected in [
        "aria-describedby=\"expires_in_days-hint expires_in_days-error\"",
        "id=\"expires_in_days-error\"",
        "value=\"&lt;b&gt;\"",
        "value=\"a laptop\"",
    ] {
        assert!(page.contains(expected), "{expected}");
    }
    assert!(!page.contains(PASSWORD));
    let twice = [("expires_in_days", ""), ("expires_in_days", "1")];
    assert_eq!(fixture.issue(&twice).await.status, 422);
    assert_eq!(fixture.tokens().await.len(), 2);
}

#[tokio::test]
async fn each_invalid_field_is_marked() {
    let fixture = PanelFixture::new().await;
    for (field, text) in [
        ("owner", "missing"),
        ("owner", ""),
        ("scopes", "admin:write"),
        ("password", "wrong"),
        ("label", "two\nlines"),
        ("label", "\u{202e}txt.exe"),
        ("label", &"ß".repeat(101)),
    ] {
        let page = fixture.issue(&[(field, text)]).await;
        let marked = page.body.matches("class=\"error\"").count();
        assert_eq!((page.status, marked), (422, 1), "{field} {text}");
        let error = format!("id=\"{field}-error\"");
        assert!(page.contains(&error), "{field} {text}");
    }
    let all = [("expires_in_days", "x"), ("label", "\t")];
    let all = fixture.post("/panel/tokens/new", &all).await;
    let marked = all.body.matches("class=\"error\"").count();
    assert_eq!((all.status, marked), (422, 5));
    assert!(fixture.tokens().await.is_empty());
    let label = "ß".repeat(100);
    assert_eq!(fixture.issue(&[("label", &label)]).await.status, 200);
    assert_eq!(fixture.tokens().await[0].label, label);
}

#[tokio::test]
async fn five_wrong_passwords_lock_for_five_minutes() {
    let fixture = PanelFixture::new().await;
    for _ in 0..5 {
        assert_eq!(fixture.issue(&[("password", "wrong")]).await.status, 422);
    }
    let locked = fixture.issue(&[]).await;
    assert_eq!((locked.status, locked.header("retry-after")), (429, "300"));
    assert!(locked.contains("value=\"a laptop\""));
    fixture.clock.advance(Duration::from_secs(299));
    assert_eq!(fixture.issue(&[]).await.header("retry-after"), "1");
    assert!(fixture.tokens().await.is_empty());
    fixture.clock.advance(Duration::from_secs(1));
    assert_eq!(fixture.issue(&[]).await.status, 200);
}

#[tokio::test]
async fn wrong_passwords_count_for_five_minutes_and_right_ones_do_not_count() {
    let fixture = PanelFixture::new().await;
    let wrong = async |times| {
        for _ in 0..times {
            assert_eq!(fixture.issue(&[("password", "wrong")]).await.status, 422);
        }
    };
    wrong(4).await;
    for _ in 0..6 {
        assert_eq!(fixture.issue(&[]).await.status, 200);
    }
    fixture.clock.advance(Duration::from_secs(200));
    wrong(1).await;
    assert_eq!(fixture.issue(&[]).await.header("retry-after"), "300");
    fixture.clock.advance(Duration::from_secs(300));
    wrong(4).await;
    fixture.clock.advance(Duration::from_secs(300));
    wrong(5).await;
    assert_eq!(fixture.issue(&[]).await.status, 429);
}

#[tokio::test]
async fn a_token_is_revoked_without_a_password() {
    let fixture = PanelFixture::with_content().await;
    let path = format!("/panel/tokens/{}/revoke", fixture.token);
    let (status, list) = fixture.post_and_follow(&path).await;
    assert_eq!(status, 303);
    assert!(list.contains("Token revoked.") && !list.contains("/revoke\""));
    let token = &fixture.tokens().await[0];
    assert_eq!(token.state(fixture.clock.now()), TokenState::Revoked);
    for unknown in ["0000000000000000", "x"] {
        let path = format!("/panel/tokens/{unknown}/revoke");
        assert_eq!(fixture.post(&path, &[]).await.status, 404, "{unknown}");
    }
}

#[tokio::test]
async fn tokens_are_listed_newest_first_in_pages_of_50() {
    let fixture = PanelFixture::new().await;
    let mut newest_first = Vec::new();
    for number in 0..120 {
        newest_first.insert(0, fixture.add_token(&format!("number {number}")).await);
        fixture.clock.advance(Duration::from_secs(1));
    }
    let mut listed = Vec::new();
    let mut next = Some("/panel/tokens".to_owned());
    while let Some(path) = next {
        let page = fixture.get(&path).await;
        let forms = page.body.split("action=\"/panel/tokens/").skip(1);
        let lookups = forms.filter_map(|form| Some(form.split_once("/revoke\"")?.0.to_owned()));
        let lookups: Vec<_> = lookups.collect();
        assert!(lookups.len() <= 50);
        listed.extend(lookups);
        next = page.next_page();
    }
    assert_eq!(listed, newest_first);
}

#[tokio::test]
async fn the_names_of_a_page_are_requested_in_one_call() {
    let fixture = PanelFixture::new().await;
    for owner in ["alice", "admin", "alice"] {
        assert_eq!(fixture.issue(&[("owner", owner)]).await.status, 200);
    }
    let before = fixture.names_calls();
    assert_eq!(fixture.get("/panel/tokens").await.status, 200);
    assert_eq!(fixture.names_calls(), before + 1);
}
