//! Issuing, listing, searching, changing and revoking tokens.

use std::time::Duration;

use forum_api::Environment;
use forum_api::model::UserId;
use forum_api::panel::PanelSettings;
use forum_api::runtime::{Clock, SeededRandom};
use forum_api::scope::{Scope, Surface};
use forum_api::store::{TokenUsage, UsageCounts};
use forum_api::token::{Lookup, PlainToken, TokenRequest, TokenState, issue_token};
use forum_api::webhook::Topic;

use crate::fixture::{PASSWORD, PanelFixture, Response};
use crate::recorded::noticeable_lines;

const HOUR: Duration = Duration::from_secs(60 * 60);

#[tokio::test]
async fn a_token_is_shown_once_in_a_read_only_field() {
    let fixture = PanelFixture::new().await;
    let issued = fixture.issue(&[]).await;
    assert_eq!(issued.status, 200);
    assert_eq!(issued.header("cache-control"), "no-store");
    let owner = "<dt>Owner</dt><dd><span class=\"long\">alice";
    issued.expect(&["aria-readonly=\"true\"", "New token: a laptop", owner]);
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
async fn omitted_scopes_and_topics_are_not_offered() {
    let mut fixture = PanelFixture::new().await;
    let page = fixture.get("/panel/tokens/new").await;
    assert!(page.contains("polls:write") && page.contains("search:read"));
    let topics = fixture.get("/panel/webhooks/new").await;
    assert!(topics.contains("poll.voted") && topics.contains("post.created"));
    assert!(page.contains("list=\"usernames\"") && page.contains("<option value=\"alice\">"));
    let environment = Environment::default()
        .clock(fixture.clock.clone())
        .omit_operations(["vote", "updatePoll"])
        .omit_topics([Topic::POLL_VOTED]);
    fixture.panel = fixture.node_builder_in(environment).build().unwrap();
    let page = fixture.get("/panel/tokens/new").await;
    assert!(!page.contains("polls:write") && page.contains("search:read"));
    let issued = fixture.issue(&[("scopes", "polls:write")]).await;
    assert_eq!(issued.status, 422);
    let topics = fixture.get("/panel/webhooks/new").await;
    assert!(!topics.contains("poll.voted") && topics.contains("post.created"));
}

#[tokio::test]
async fn an_expiry_is_a_number_of_days_or_empty() {
    let fixture = PanelFixture::new().await;
    for (text, days) in [("", None), ("7", Some(7))] {
        let issued = fixture.issue(&[("expires_in_days", text)]).await;
        assert_eq!(issued.status, 200, "{text:?}");
        let length = days.map(|days| Duration::from_secs(86_400 * days));
        let end = length.map(|length| fixture.clock.now().saturating_add(length));
        let mut tokens = fixture.tokens().await.into_iter();
        assert!(tokens.any(|token| token.expires_at == end), "{text:?}");
    }
    let page = fixture.issue(&[("expires_in_days", "<b>")]).await;
    assert_eq!(page.status, 422);
    page.expect(&[
        "aria-describedby=\"expires_in_days-hint expires_in_days-error\"",
        "id=\"expires_in_days-error\"",
        "value=\"&lt;b&gt;\"",
        "value=\"a laptop\"",
    ]);
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
        ("label", "\u{200b}"),
        ("label", "\u{feff}laptop"),
        ("label", &"ß".repeat(101)),
    ] {
        let page = fixture.issue(&[(field, text)]).await;
        let marked = page.body.matches("class=\"error\"").count();
        assert_eq!((page.status, marked), (422, 1), "{field} {text}");
        let error = format!("id=\"{field}-error\"");
        assert!(page.contains(&error), "{field} {text}");
    }
    let fields = [("expires_in_days", "x"), ("label", "\t")];
    let all = fixture.post("/panel/tokens/new", &fields).await;
    let marked = all.body.matches("class=\"error\"").count();
    assert_eq!((all.status, marked), (422, 5));
    assert!(fixture.tokens().await.is_empty());
    let label = "ß".repeat(100);
    let spaced = format!(" {label}\u{3000}");
    assert_eq!(fixture.issue(&[("label", &spaced)]).await.status, 200);
    assert_eq!(fixture.tokens().await[0].label, label);
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
    // The first four slots are free again before the last one.
    fixture.clock.advance(Duration::from_secs(200));
    assert_eq!(fixture.issue(&[]).await.header("retry-after"), "100");
    fixture.clock.advance(Duration::from_secs(100));
    wrong(4).await;
    fixture.clock.advance(Duration::from_secs(300));
    wrong(5).await;
    let issued = fixture.tokens().await.len();
    fixture.clock.advance(Duration::from_secs(299));
    let locked = fixture.issue(&[]).await;
    assert_eq!((locked.status, locked.header("retry-after")), (429, "1"));
    assert!(locked.contains("value=\"a laptop\""));
    assert_eq!(fixture.tokens().await.len(), issued);
    fixture.clock.advance(Duration::from_secs(1));
    assert_eq!(fixture.issue(&[]).await.status, 200);
}

#[tokio::test]
async fn a_token_is_revoked_without_a_password_after_a_confirmation() {
    let fixture = PanelFixture::with_content().await;
    let path = format!("/panel/tokens/{}/revoke", fixture.token);
    for page in ["/panel/tokens", path.trim_end_matches("/revoke")] {
        let link = format!("href=\"{path}\"");
        assert!(fixture.get(page).await.contains(&link), "{page}");
    }
    let question = fixture.get(&path).await;
    assert!(question.status == 200 && question.contains(&format!("action=\"{path}\"")));
    let token = &fixture.tokens().await[0];
    assert_eq!(token.state(fixture.clock.now()), TokenState::Valid);
    let (status, list) = fixture.post_and_follow(&path).await;
    assert_eq!(status, 303);
    assert!(list.contains("Token revoked.") && !list.contains(&fixture.token));
    let token = &fixture.tokens().await[0];
    assert_eq!(token.state(fixture.clock.now()), TokenState::Revoked);
    let again = fixture.get(&path).await;
    let page = format!("/panel/tokens/{}", fixture.token);
    assert_eq!(again.status_and_location(), (303, page.as_str()));
    assert!(!fixture.get(&page).await.contains("/revoke\""));
    for unknown in ["0000000000000000", "x"] {
        for path in ["", "/revoke"].map(|action| format!("/panel/tokens/{unknown}{action}")) {
            assert_eq!(fixture.get(&path).await.status, 404, "{path}");
            assert_eq!(fixture.post(&path, &[]).await.status, 404, "{path}");
        }
    }
}

/// Returns the lookups of the tokens that a page of the list shows.
fn lookups(page: &Response) -> Vec<String> {
    let links = page.body.split("<a href=\"/panel/tokens/").skip(1);
    let lookups = links.filter_map(|link| Some(link.split_once('"')?.0.to_owned()));
    lookups.filter(|lookup| lookup.len() == 16).collect()
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
        let lookups = lookups(&page);
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

#[tokio::test]
async fn tokens_are_filtered_by_text_owner_and_state() {
    let fixture = PanelFixture::new().await;
    let mut tokens = Vec::new();
    for (owner, label, days) in
        [("alice", "Laptop of Bob", ""), ("admin", "laptop", "1"), ("admin", "deploy", "")]
    {
        let form = [("owner", owner), ("label", label), ("expires_in_days", days)];
        assert_eq!(fixture.issue(&form).await.status, 200);
        tokens.push(fixture.tokens().await[0].lookup.to_string());
        fixture.clock.advance(Duration::from_secs(1));
    }
    let [bobs, expired, deploy] = tokens.try_into().unwrap();
    let revoked = format!("/panel/tokens/{deploy}/revoke");
    assert_eq!(fixture.post(&revoked, &[]).await.status, 303);
    fixture.clock.advance(Duration::from_secs(86_400));
    for (query, expected) in [
        ("", &[&expired, &bobs][..]),
        ("?state=all", &[&deploy, &expired, &bobs]),
        ("?state=valid", &[&bobs]),
        ("?state=expired", &[&expired]),
        ("?state=revoked", &[&deploy]),
        ("?state=other", &[&expired, &bobs]),
        ("?search=LAPTOP", &[&expired, &bobs]),
        ("?search=+bob+", &[&bobs]),
        ("?search=alice", &[&bobs]),
        ("?search=admin&state=all", &[&deploy, &expired]),
        (&format!("?search={}", &bobs[..5]), &[&bobs]),
        ("?search=nothing", &[]),
        ("?owner=admin", &[&expired]),
        ("?owner=admin&state=all&search=dep", &[&deploy]),
        ("?owner=missing", &[]),
    ] {
        let page = fixture.get(&format!("/panel/tokens{query}")).await;
        let expected: Vec<_> = expected.iter().map(|lookup| lookup.to_string()).collect();
        assert_eq!(lookups(&page), expected, "{query}");
        assert!(!page.contains("value=\"other\""), "{query}: an unknown state is not a filter");
        let is_empty = page.contains("No tokens match these filters.");
        assert_eq!(is_empty, expected.is_empty(), "{query}");
    }
}

#[tokio::test]
async fn a_filter_is_kept_on_the_next_page() {
    let fixture = PanelFixture::new().await;
    for number in 0..52 {
        let label = if number == 0 { "other" } else { "a & b" };
        fixture.add_token(label).await;
        fixture.clock.advance(Duration::from_secs(1));
    }
    let first = fixture.get("/panel/tokens?search=%26+b&state=valid").await;
    assert_eq!(lookups(&first).len(), 50);
    first.expect(&["rel=\"next\">Older tokens</a></p>"]);
    assert!(first.contains("value=\"&amp; b\"") && first.contains("value=\"valid\" selected"));
    let second = fixture.get(&first.next_page().unwrap()).await;
    assert_eq!((lookups(&second).len(), second.next_page()), (1, None));
}

#[tokio::test]
async fn a_list_without_tokens_that_are_not_revoked_links_to_the_revoked_ones() {
    let fixture = PanelFixture::new().await;
    let token = fixture.add_token("x").await;
    let revoke = format!("/panel/tokens/{token}/revoke");
    fixture.post(&revoke, &[]).await;
    let page = fixture.get("/panel/tokens").await;
    assert!(page.contains("All tokens are revoked.") && page.contains("/tokens?state=revoked"));
}

#[tokio::test]
async fn a_label_is_changed_on_the_page_of_its_token() {
    let fixture = PanelFixture::with_content().await;
    let path = format!("/panel/tokens/{}", fixture.token);
    for label in ["two\nlines", &"x".repeat(101)] {
        let page = fixture.post(&path, &[("label", label)]).await;
        assert!(page.marks("label"), "{label}");
        assert!(page.contains(&format!("value=\"{label}\"")), "{label}");
    }
    let stored = async || fixture.tokens().await[0].label.clone();
    assert_eq!(stored().await, "<script>alert(1)</script>");
    let saved = fixture.post(&path, &[("label", " <i>phone ")]).await;
    let location = format!("{path}?done=saved");
    assert_eq!(saved.status_and_location(), (303, location.as_str()));
    assert_eq!(stored().await, "<i>phone");
    let page = fixture.get(&location).await;
    assert!(page.contains("Changes saved.") && page.contains("value=\"&lt;i&gt;phone\""));
    fixture.post(&path, &[("label", "<i>phone")]).await;
    let audit = fixture.get("/panel/audit?action=token.updated").await;
    assert_eq!(audit.body.matches("<code>token.updated</code>").count(), 1);
    assert!(audit.contains("label &quot;&lt;i&gt;phone&quot;"));

    fixture.post(&path, &[("label", "")]).await;
    assert_eq!(stored().await, "");
    let name = "<span class=\"long\">No label</span>";
    fixture.get(&path).await.expect(&[&format!("<h1>{name}</h1>")]);
    let link = format!("<a href=\"{path}\"><strong>{name}</strong></a>");
    fixture.get("/panel/tokens").await.expect(&[&link]);
}

#[tokio::test]
async fn the_page_of_a_token_shows_its_requests_by_hour_and_by_day() {
    let fixture = PanelFixture::with_content().await;
    let path = format!("/panel/tokens/{}", fixture.token);
    let page = fixture.get(&path).await;
    assert!(page.contains("No requests in the last 30 days."));
    let token = Lookup::parse(&fixture.token).unwrap();
    let usage = |hours_ago, requests| TokenUsage {
        hour: TokenUsage::hour_of(fixture.clock.now().saturating_sub(HOUR * hours_ago)),
        token: Some(token),
        operation: None,
        counts: UsageCounts {
            requests,
            units: 2 * requests,
            rate_limited: 1,
            forbidden: 1,
            errors: 1,
            ..UsageCounts::default()
        },
    };
    let other = TokenUsage { token: Lookup::parse("0000000000000000").ok(), ..usage(0, 1_000_000) };
    let usage = [other, usage(0, 7), usage(2, 10), usage(24, 100), usage(24 * 40, 100_000)];
    fixture.stores.usage.add_token_usage(&usage).await.unwrap();
    let page = fixture.get(&path).await;
    let (_, sections) = page.body.split_once("id=\"by-hour\"").unwrap();
    let (sections, _) = sections.split_once("aria-labelledby=\"change\"").unwrap();
    let shown: Vec<_> = noticeable_lines(sections).lines().map(str::to_owned).collect();
    let columns = "Requests Units 401 403 429 Other 4xx 5xx";
    let series = "completed or canceled by the client refused (401, 403, 429) refused with another 4xx failed (5xx)";
    let hours = "17 requests, 4 refused, 0 with another 4xx, 2 failed · busiest hour: 10";
    let days = "117 requests, 6 refused, 0 with another 4xx, 3 failed · busiest day: 110";
    let hour = |time: &str| {
        let (day, hour) = time.split_once(' ').unwrap();
        format!("<time datetime={day}T{hour}:00.000Z title={time}:00 UTC> {time} UTC")
    };
    let day = |day: &str| format!("<time datetime={day}T00:00:00.000Z> {day}");
    assert_eq!(
        shown[1..].join(" "),
        format!(
            "10 5 0 <svg aria-label={hours}> 24 hours ago now {hours} {series} Request counts by hour Hour {columns} \
             {} 7 14 0 1 1 0 1 {} 10 20 0 1 1 0 1 Total 17 34 0 2 2 0 2 \
             Requests of the last 30 days \
             200 100 0 <svg aria-label={days}> 30 days ago today {days} {series} Request counts by day Day (UTC) {columns} \
             {} 7 14 0 1 1 0 1 {} 110 220 0 2 2 0 2 Total 117 234 0 3 3 0 3",
            hour("2026-01-01 00:00"),
            hour("2025-12-31 22:00"),
            day("2026-01-01"),
            day("2025-12-31"),
        )
    );
}

#[tokio::test]
async fn a_token_is_issued_again_with_the_same_scopes() {
    let fixture = PanelFixture::new().await;
    assert_eq!(fixture.issue(&[]).await.status, 200);
    let path = format!("/panel/tokens/{}", fixture.tokens().await[0].lookup);
    let page = fixture.get(&path).await;
    let query = page.after("<p><a href=\"/panel/tokens/new");
    let form = fixture.get(&format!("/panel/tokens/new{query}")).await;
    assert_eq!(form.body.matches(" checked>").count(), 2);
    for value in ["alice", "a laptop", "posts:read", "forums:read"] {
        assert!(form.contains(&format!("value=\"{value}\"")), "{value}");
    }
    let unknown = fixture.get("/panel/tokens/new?like=0000000000000000").await;
    assert_eq!(unknown.status, 404);
}

#[tokio::test]
async fn presets_fill_in_scopes_and_expiry_and_keep_the_other_fields() {
    let fixture = PanelFixture::new().await;
    let values = |page: &Response| {
        let boxes = page
            .body
            .split("name=\"scopes\" value=\"")
            .skip(1)
            .filter_map(|one| one.split_once('>'));
        let checked = boxes.filter(|(one, _)| one.contains("checked"));
        let scopes: Vec<_> = checked.filter_map(|(one, _)| one.split('"').next()).collect();
        let days =
            page.after("id=\"expires_in_days\" name=\"expires_in_days\" type=\"text\" value=\"");
        (scopes.join(" "), days.to_owned())
    };
    let read = "forums:read threads:read posts:read members:read messages:read \
                subscriptions:read search:read";
    let agent = "forums:read threads:read posts:read members:read subscriptions:read search:read";
    let all = "forums:read threads:read threads:write posts:read posts:write members:read \
               messages:read messages:write polls:write reputation:write subscriptions:read \
               subscriptions:write search:read votes:write";
    let entered = "forums:read posts:read";
    for (preset, scopes, days) in [
        (("scope_preset", "read"), read, "30"),
        (("scope_preset", "agent"), agent, "30"),
        (("scope_preset", "all"), all, "30"),
        (("expiry_preset", "7"), entered, "7"),
        (("expiry_preset", "365"), entered, "365"),
        (("expiry_preset", "never"), entered, ""),
    ] {
        let page = fixture.issue(&[preset, ("password", "wrong")]).await;
        assert_eq!(page.status, 200, "{preset:?}");
        assert_eq!(values(&page), (scopes.into(), days.into()), "{preset:?}");
        assert!(page.contains("value=\"alice\"") && page.contains("value=\"a laptop\""));
        assert!(!page.contains("class=\"error\"") && !page.contains(PASSWORD));
        assert!(page.contains("Vote for posts."), "the panel offers scopes of the host");
    }
    assert!(fixture.tokens().await.is_empty());
}

#[tokio::test]
async fn a_scope_that_the_api_no_longer_has_is_not_shown() {
    let mut fixture = PanelFixture::new().await;
    let scopes = [("scopes", "votes:write"), ("scopes", "posts:read")];
    assert_eq!(fixture.issue(&scopes).await.status, 200);
    let token = format!("/panel/tokens/{}", fixture.tokens().await[0].lookup);
    for is_known in [true, false] {
        for path in ["/panel/tokens", &token] {
            let page = fixture.get(path).await;
            assert!(page.contains("posts:read"), "{path}");
            assert_eq!(page.contains("votes:write"), is_known, "{path}");
        }
        fixture.panel = fixture.other_node();
    }
}

#[tokio::test]
async fn a_new_token_has_an_example_request_and_a_link_to_the_reference_if_their_urls_are_set() {
    let mut fixture = PanelFixture::new().await;
    let page = fixture.issue(&[]).await;
    assert!(!page.contains("curl") && !page.contains("API reference"));
    let mut settings = PanelSettings::default();
    settings.api_url = "https://board.example/api/v1/".into();
    settings.reference_url = "/docs".into();
    settings.mcp_url = "https://board.example/mcp".into();
    let panel = fixture.node_builder().settings(settings);
    fixture.panel = panel.build().unwrap();
    for (scope, path) in [
        ("members:read", "/me"),
        ("forums:read", "/forums"),
        ("messages:read", "/messages"),
        ("subscriptions:read", "/subscriptions"),
        ("search:read", "/search?q=hello"),
    ] {
        let page = fixture.issue(&[("scopes", scope)]).await;
        let token = format!("forum_pat_{}", page.after("forum_pat_"));
        let command =
            format!("curl -H 'Authorization: Bearer {token}' 'https://board.example/api/v1{path}'");
        assert!(page.contains(&command), "{command}: {}", page.body);
        assert!(page.contains("href=\"/docs\""));
        // Only the secret has the focus.
        assert_eq!(page.body.matches("autofocus").count(), 1);
        assert!(page.contains("{\n  &quot;mcpServers&quot;: {\n    &quot;forum&quot;: {\n"));
    }
    let page = fixture.issue(&[("scopes", "posts:read")]).await;
    assert!(page.status == 200 && !page.contains("curl"), "{page:?}");
}

#[tokio::test]
async fn the_owner_of_a_token_can_be_a_removed_account() {
    let fixture = PanelFixture::new().await;
    let owner = UserId::from(9);
    let request = TokenRequest::new(&owner, &[Scope::POSTS_READ]);
    let tokens = &*fixture.stores.tokens;
    let random = SeededRandom::new(2);
    let now = fixture.clock.now();
    let issued = issue_token(tokens, &random, Surface::Full, request, now).await;
    let (token, _) = issued.unwrap();
    let deleted = "<span class=\"long\">(deleted)</span>";
    let listed = format!("<td data-label=\"Owner\"><div>{deleted}");
    fixture.get("/panel/tokens").await.expect(&[&listed]);
    let page = fixture.get(&format!("/panel/tokens/{}", token.lookup())).await;
    page.expect(&[&format!("<dt>Owner</dt><dd>{deleted}")]);
}
