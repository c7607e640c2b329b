//! The audit log.

use forum_api::audit::{AuditAction, AuditActor};
use forum_api::model::UserId;
use forum_api::panel::PanelSettings;
use forum_api::runtime::{Clock as _, SeededRandom};
use forum_api::scope::Surface;
use forum_api::store::AuditFilter;
use forum_test_support::thread_log;

use crate::fixture::{ADMIN, NAMES, PanelFixture, Response, URL};

/// Returns the page of the entry about the latest issued token.
async fn page_of_latest_issue(fixture: &PanelFixture) -> Response {
    let list = fixture.get("/panel/audit?action=token.issued").await;
    fixture.get(list.after("<td data-label=\"Time\"><div><a href=\"")).await
}

#[tokio::test]
async fn changes_in_the_panel_add_entries() {
    let fixture = PanelFixture::with_content().await;
    let revoke = format!("/panel/tokens/{}/revoke", fixture.token);
    fixture.post(&revoke, &[]).await;
    let page = fixture.get("/panel/audit").await;
    assert_eq!(page.status, 200);
    for action in ["token.issued", "token.revoked", "endpoint.added", "endpoint.secret_rotated"] {
        assert!(page.contains(&format!("<code>{action}</code>")), "{action}");
    }
    for path in [format!("tokens/{}", fixture.token), format!("webhooks/{}", fixture.endpoint)] {
        page.expect(&[&format!("<a href=\"/panel/{path}\">")]);
    }
    assert!(page.contains("admin") && !page.contains("<script>alert"));
    fixture.post(&fixture.endpoint_path("/remove"), &[]).await;
    let page = fixture.get("/panel/audit").await;
    assert!(page.contains("<code>endpoint.added</code>"));
    let link = "href=\"/panel/webhooks/";
    assert!(!page.contains(link), "a removed endpoint has no page");
}

#[tokio::test(start_paused = true)]
async fn an_entry_links_to_a_delivery_unless_it_removed_it() {
    let mut fixture = PanelFixture::with_content().await;
    for action in ["/retry", "/remove"] {
        fixture.post(&fixture.delivery_path(action), &[]).await;
    }
    let link = format!("<a href=\"{}\">", fixture.delivery_path(""));
    for (action, is_linked) in [("delivery.redelivered", true), ("delivery.removed", false)] {
        let page = fixture.get(&format!("/panel/audit?action={action}")).await;
        assert!(page.contains(&fixture.delivery), "{action}");
        assert_eq!(page.contains(&link), is_linked, "{action}");
    }
    fixture.panel = fixture.node_without_webhooks();
    let page = fixture.get("/panel/audit?action=delivery.redelivered").await;
    assert!(page.contains(&fixture.delivery) && !page.contains("/panel/deliveries"));
}

#[tokio::test]
async fn the_page_of_an_entry_has_all_details_and_names() {
    let fixture = PanelFixture::with_content().await;
    let scopes: Vec<_> = Surface::Full.scopes().map(|scope| ("scopes", scope.as_str())).collect();
    let form = [&[("expires_in_days", "")], scopes.as_slice()].concat();
    assert_eq!(fixture.issue(&form).await.status, 200);
    let entry = page_of_latest_issue(&fixture).await;
    entry.expect(&[
        "<span class=\"one-line\" title=\"a laptop\">a laptop</span></a>",
        "<li>owner alice</li>",
        "search:read</li>",
        "<dt>By</dt><dd>admin</dd>",
        "control panel",
    ]);
    for unknown in ["aud_0", "x%20y"] {
        let page = fixture.get(&format!("/panel/audit/{unknown}")).await;
        assert_eq!(page.status, 404);
    }
    let added = fixture.get("/panel/audit?action=endpoint.added").await;
    let escaped = |text: &str| text.replace('<', "&lt;").replace('>', "&gt;");
    added.expect(&[&format!("owner {}", escaped(NAMES[2]))]);
    added.expect(&[&format!("title=\"{}\"", URL.replace('&', "&amp;"))]);
}

#[tokio::test]
async fn a_label_is_one_part_of_the_details() {
    let fixture = PanelFixture::new().await;
    fixture.issue(&[("label", "laptop; scopes everything; x")]).await;
    let entry = page_of_latest_issue(&fixture).await;
    entry.expect(&[
        "<li>label &quot;laptop; scopes everything; x&quot;</li>",
        "<li>owner alice</li>",
    ]);
}

#[tokio::test]
async fn an_entry_has_the_address_of_the_client_behind_a_trusted_proxy() {
    let mut fixture = PanelFixture::with_content().await;
    let mut settings = PanelSettings::default();
    settings.trusted_proxies = vec!["10.0.0.0/8".parse().unwrap()];
    let node = fixture.node_builder().settings(settings).peer_ip(|_| Some([10, 0, 0, 1].into()));
    fixture.panel = node.build().unwrap();
    let csrf = fixture.csrf().await;
    let headers = [ADMIN, ("x-forwarded-for", "192.0.2.9, 203.0.113.1")];
    let disable = fixture.endpoint_path("/disable");
    let disabled = fixture.send("POST", &disable, &headers, &[("csrf", &csrf)]).await;
    assert_eq!(disabled.status, 303);
    let action = Some(AuditAction::ENDPOINT_DISABLED);
    let filter = AuditFilter { action, ..AuditFilter::default() };
    let records = fixture.stores.audit.list(&filter).await.unwrap();
    let addresses: Vec<_> = records.iter().map(|record| record.entry.actor.address).collect();
    assert_eq!(addresses, [Some([203, 0, 113, 1].into())]);
}

#[tokio::test]
async fn an_entry_names_its_actor_its_origin_and_its_number_of_records() {
    let alice = || AuditActor::panel(UserId::from(2), Some([192, 0, 2, 1].into()));
    let root = || AuditActor::command_line(Some("root".into()));
    let both = AuditActor { user_id: Some(UserId::from(2)), ..root() };
    for (actor, name, origin) in [
        (alice(), "alice", "control panel <code>192.0.2.1</code>"),
        (AuditActor::panel(UserId::from(9), None), "(deleted)", "control panel"),
        (root(), "root, command line", "command line"),
        (both, "alice, root", "command line"),
        (AuditActor::command_line(None), "(unknown)", "command line"),
        (AuditActor::SYSTEM, "the board", "automatic"),
    ] {
        let fixture = PanelFixture::new().await;
        let action = AuditAction::DELIVERY_PURGED;
        let now = fixture.clock.now();
        let entry = actor.entry(&SeededRandom::new(3), now, action, "").unwrap();
        for count in [1, 2] {
            fixture.stores.audit.insert(&entry).await.unwrap();
            let list = fixture.get("/panel/audit").await;
            let page = fixture.get(&format!("/panel/audit/{}", entry.id)).await;
            list.expect(&[&format!("title=\"{name}\">{name}</span>")]);
            page.expect(&[
                &format!("<dt>By</dt><dd>{name}</dd>"),
                &format!("<dt>From</dt><dd>{origin}</dd>"),
            ]);
            for page in [list, page] {
                assert_eq!(page.contains(" <small>× 2</small>"), count == 2, "{name}");
            }
        }
    }
}

#[tokio::test]
async fn the_log_is_filtered_by_administrator_action_and_target() {
    let fixture = PanelFixture::with_content().await;
    for (query, issued, added, reason) in [
        ("action=token.issued", true, false, None),
        ("action=endpoint.added&actor=admin", false, true, None),
        ("actor=alice", false, false, Some("No entries match these filters.")),
        ("actor=zoe", false, false, Some("No member has this username.")),
        ("action=TOKEN", false, false, Some("No action has this name.")),
    ] {
        let page = fixture.get(&format!("/panel/audit?{query}")).await;
        let has = |action: &str| page.contains(&format!("<code>{action}</code>"));
        let listed = (has("token.issued"), has("endpoint.added"));
        assert_eq!(listed, (issued, added), "{query}");
        assert!(page.contains("<option value=\"endpoint.added\""));
        let before = "<div class=\"empty\"><p><strong>";
        let shown = page.contains(before).then(|| page.after(before));
        assert_eq!(shown, reason, "{query}");
        let all = "<a href=\"/panel/audit\">Remove the filters</a>.";
        assert_eq!(page.contains(all), reason.is_some(), "{query}");
    }
    let target = format!("/panel/audit?target={}", fixture.token);
    let page = fixture.get(&target).await;
    let has = |action: &str| page.contains(&format!("<code>{action}</code>"));
    assert!(has("token.issued") && !has("endpoint.added"));
}

#[tokio::test]
async fn the_log_has_pages_of_fifty_entries() {
    let fixture = PanelFixture::new().await;
    for _ in 0..51 {
        fixture.add_token("x").await;
    }
    let first = fixture.get("/panel/audit?action=token.issued").await;
    let rows = |body: &str| body.matches("<code>token.issued</code>").count();
    assert_eq!(rows(&first.body), 50);
    first.expect(&["rel=\"next\">Older entries</a></p>"]);
    let next = first.next_page().unwrap();
    assert!(next.contains("action=token%2Eissued"), "{next}");
    let second = fixture.get(&next).await;
    assert_eq!((rows(&second.body), second.next_page()), (1, None));
}

/// The log of the program has a line for each of these changes, besides the entry of the audit log.
#[tokio::test]
async fn changes_are_logged_with_their_administrator() {
    thread_log::record();
    let fixture = PanelFixture::with_content().await;
    fixture.issue(&[("password", "wrong")]).await;
    let page = format!("/panel/tokens/{}", fixture.token);
    fixture.post(&page, &[("label", "b")]).await;
    let revoke = format!("{page}/revoke");
    for path in [revoke, fixture.delivery_path("/remove"), fixture.endpoint_path("/remove")] {
        fixture.post(&path, &[]).await;
    }
    let log = thread_log::take();
    let changes: Vec<_> = log
        .lines()
        .filter(|line| line.contains(" admin="))
        .filter_map(|line| line.rsplit(": ").next())
        .collect();
    let PanelFixture { token, endpoint, delivery, .. } = &fixture;
    let expected = [
        format!("token issued lookup={token} admin=1"),
        format!("endpoint added endpoint={endpoint} admin=1"),
        format!("endpoint secret rotated endpoint={endpoint} admin=1"),
        "incorrect password admin=1".into(),
        format!("token updated lookup={token} admin=1"),
        format!("token revoked lookup={token} admin=1"),
        format!("delivery removed delivery={delivery} admin=1"),
        format!("endpoint removed endpoint={endpoint} admin=1"),
    ];
    assert_eq!(changes, expected);
}
