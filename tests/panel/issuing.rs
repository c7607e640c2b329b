//! Issuing and revoking tokens (spec, Authentication 6 and 7).

use std::sync::atomic::Ordering;
use std::time::Duration;

use forum_api::runtime::Clock;
use forum_api::token::{PlainToken, TokenState};

use crate::ask::{Answer, Fields};
use crate::house::{House, PASSWORD};

pub async fn issue(house: &House, changed: &Fields<'_>) -> Answer {
    let usual = [
        ("owner", "alice"),
        ("label", "a laptop"),
        ("scopes", "posts:read"),
        ("scopes", "forums:read"),
        ("expires_in_days", "30"),
        ("password", PASSWORD),
    ];
    let is_changed = |name: &str| changed.iter().any(|(changed, _)| *changed == name);
    let kept = usual.into_iter().filter(|(name, _)| !is_changed(name));
    let form: Vec<_> = kept.chain(changed.iter().copied()).collect();
    house.post("/panel/tokens/new", &form).await
}

#[tokio::test]
async fn a_token_is_shown_once_in_a_field_that_cannot_be_written() {
    let house = House::new().await;
    let issued = issue(&house, &[]).await;
    assert_eq!(
        (issued.status, issued.header("cache-control")),
        (200, "no-store")
    );
    assert!(issued.body.contains("aria-readonly=\"true\""));
    let token = PlainToken::parse(&format!("forum_pat_{}", issued.after("forum_pat_"))).unwrap();
    let tokens = house.all_tokens().await;
    assert_eq!((tokens.len(), tokens[0].digest), (1, token.digest()));
    assert_eq!(*tokens[0].scopes, ["forums:read", "posts:read"]);
    assert_eq!(tokens[0].label, "a laptop");
    let expires = house.clock.now().plus(Duration::from_secs(30 * 86_400));
    assert_eq!(tokens[0].expires_at, Some(expires));
    let list = house.get("/panel/tokens").await.body;
    assert!(list.contains("a laptop") && list.contains("in 30 days") && list.contains("alice"));
    assert!(!list.contains(token.reveal()));
}

#[tokio::test]
async fn an_expiry_is_whole_days_or_nothing() {
    let house = House::new().await;
    for (text, days) in [
        ("", None),
        ("  ", None),
        ("1", Some(1)),
        (" 007 ", Some(7)),
        ("36500", Some(36_500)),
    ] {
        let house = House::new().await;
        assert_eq!(
            issue(&house, &[("expires_in_days", text)]).await.status,
            200,
            "{text:?}"
        );
        let end = days.map(|days| house.clock.now().plus(Duration::from_secs(86_400 * days)));
        assert_eq!(house.all_tokens().await[0].expires_at, end, "{text:?}");
    }
    for text in [
        "0",
        "-1",
        "+1",
        "1.5",
        "1e3",
        "ten",
        "١",
        "36501",
        "99999999999999999999",
        "1 0",
        "<b>",
    ] {
        let refused = issue(&house, &[("expires_in_days", text)]).await;
        assert_eq!(refused.status, 422, "{text}");
        assert!(
            refused.body.contains("id=\"expires_in_days-wrong\""),
            "{text}"
        );
        let described = "aria-describedby=\"expires_in_days-hint expires_in_days-wrong\"";
        assert!(refused.body.contains(described), "{text}");
        let typed = text.replace('<', "&lt;").replace('>', "&gt;");
        assert!(
            refused.body.contains(&format!("value=\"{typed}\"")),
            "{text}"
        );
        assert!(refused.body.contains("value=\"a laptop\"") && !refused.body.contains(PASSWORD));
    }
    let twice = [("expires_in_days", ""), ("expires_in_days", "1e3")];
    assert_eq!(issue(&house, &twice).await.status, 422);
    assert!(house.all_tokens().await.is_empty());
}

#[tokio::test]
async fn each_field_that_is_wrong_says_so() {
    let house = House::new().await;
    for (field, text) in [
        ("owner", "nobody"),
        ("owner", ""),
        ("scopes", "admin:write"),
        ("password", "wrong"),
        ("password", ""),
        ("label", "two\nlines"),
        ("label", "\u{1b}[31m"),
        ("label", "\u{202e}txt.exe"),
        ("label", &"ß".repeat(101)),
    ] {
        let refused = issue(&house, &[(field, text)]).await;
        assert_eq!(refused.status, 422, "{field} {text}");
        let count = refused.body.matches("class=\"wrong\"").count();
        assert_eq!(count, 1, "{field} {text}");
        assert!(
            refused.body.contains(&format!("id=\"{field}-wrong\"")),
            "{field} {text}"
        );
    }
    let all = [("expires_in_days", "x"), ("label", "\t")];
    let all = house.post("/panel/tokens/new", &all).await;
    assert_eq!(
        (all.status, all.body.matches("class=\"wrong\"").count()),
        (422, 5)
    );
    assert!(house.all_tokens().await.is_empty());
}

#[tokio::test]
async fn a_label_has_up_to_100_characters() {
    let house = House::new().await;
    let label = "ß".repeat(100);
    assert_eq!(issue(&house, &[("label", &label)]).await.status, 200);
    assert_eq!(house.all_tokens().await[0].label, label);
}

#[tokio::test]
async fn five_wrong_passwords_lock_for_five_minutes() {
    let house = House::new().await;
    for _ in 0..5 {
        assert_eq!(issue(&house, &[("password", "wrong")]).await.status, 422);
    }
    let locked = issue(&house, &[]).await;
    assert_eq!((locked.status, locked.header("retry-after")), (429, "300"));
    assert!(locked.body.contains("value=\"a laptop\""));
    house.clock.advance(Duration::from_secs(299));
    assert_eq!(issue(&house, &[]).await.header("retry-after"), "1");
    assert!(house.all_tokens().await.is_empty());
    house.clock.advance(Duration::from_secs(1));
    assert_eq!(issue(&house, &[]).await.status, 200);
    assert_eq!(house.all_tokens().await.len(), 1);
}

#[tokio::test]
async fn wrong_passwords_count_for_five_minutes_and_right_ones_do_not_count() {
    let house = House::new().await;
    let wrong = async || issue(&house, &[("password", "wrong")]).await.status;
    for _ in 0..4 {
        assert_eq!(wrong().await, 422);
    }
    for _ in 0..6 {
        assert_eq!(issue(&house, &[]).await.status, 200);
    }
    house.clock.advance(Duration::from_secs(200));
    assert_eq!(wrong().await, 422);
    assert_eq!(issue(&house, &[]).await.header("retry-after"), "300");
    house.clock.advance(Duration::from_secs(300));
    for _ in 0..4 {
        assert_eq!(wrong().await, 422);
    }
    house.clock.advance(Duration::from_secs(300));
    for _ in 0..5 {
        assert_eq!(wrong().await, 422);
    }
    assert_eq!(wrong().await, 429);
}

#[tokio::test]
async fn a_form_that_is_sent_again_issues_nothing() {
    let house = House::new().await;
    let page = house.get("/panel/tokens/new").await;
    let once = page.after("name=\"once\" value=\"");
    assert_eq!(
        issue(&house, &[("once", once), ("password", "wrong")])
            .await
            .status,
        422
    );
    assert_eq!(issue(&house, &[("once", once)]).await.status, 200);
    let again = issue(&house, &[("once", once)]).await;
    assert_eq!(again.status, 409);
    assert!(!again.body.contains("forum_pat_"));
    assert_eq!(house.all_tokens().await.len(), 1);
    let another = house.get("/panel/tokens/new").await;
    assert_ne!(another.after("name=\"once\" value=\""), once);
}

#[tokio::test]
async fn revoking_asks_for_no_password() {
    let house = House::furnished().await;
    let path = format!("/panel/tokens/{}/revoke", house.token);
    let done = house.post(&path, &[]).await;
    assert_eq!(done.status, 303);
    let list = house.get(done.header("location")).await.body;
    assert!(list.contains("The token was revoked.") && !list.contains("/revoke\""));
    let token = &house.all_tokens().await[0];
    assert_eq!(token.state(house.clock.now()), TokenState::Revoked);
    for absent in ["0000000000000000", "x"] {
        let path = format!("/panel/tokens/{absent}/revoke");
        assert_eq!(house.post(&path, &[]).await.status, 404, "{absent}");
    }
}

#[tokio::test]
async fn tokens_are_listed_from_the_newest_on_in_pages_of_50() {
    let house = House::new().await;
    let mut newest_first = Vec::new();
    for number in 0..120 {
        newest_first.insert(0, house.add_token(&format!("number {number}")).await);
        house.clock.advance(Duration::from_secs(1));
    }
    let mut listed = Vec::new();
    let mut page = house.get("/panel/tokens").await;
    loop {
        let found = page.body.split("/panel/tokens/").skip(1);
        let found = found.filter_map(|rest| Some(rest.split_once("/revoke\"")?.0));
        let found: Vec<_> = found
            .filter(|lookup| lookup.len() == 16)
            .map(str::to_owned)
            .collect();
        assert!(found.len() <= 50);
        listed.extend(found);
        if !page.body.contains("class=\"further\"") {
            break;
        }
        let next = page.after("<p class=\"further\"><a href=\"").to_owned();
        page = house.get(&next).await;
    }
    assert_eq!(listed, newest_first);
}

#[tokio::test]
async fn the_names_of_a_page_are_asked_for_in_one_call() {
    let house = House::new().await;
    for owner in ["alice", "admin", "alice"] {
        assert_eq!(issue(&house, &[("owner", owner)]).await.status, 200);
    }
    let asked = house.members.asked.load(Ordering::Relaxed);
    assert_eq!(house.get("/panel/tokens").await.status, 200);
    assert_eq!(house.members.asked.load(Ordering::Relaxed), asked + 1);
}
