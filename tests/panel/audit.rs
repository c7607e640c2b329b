//! The audit log.

use forum_api::scope::Surface;

use crate::fixture::{NAMES, PanelFixture};

#[tokio::test]
async fn each_change_in_the_panel_adds_an_entry() {
    let fixture = PanelFixture::with_content().await;
    let revoke = format!("/panel/tokens/{}/revoke", fixture.token);
    fixture.post(&revoke, &[]).await;
    let page = fixture.get("/panel/audit").await;
    assert_eq!(page.status, 200);
    for action in [
        "token.issued",
        "token.revoked",
        "endpoint.added",
        "endpoint.secret_rotated",
    ] {
        assert!(page.contains(&format!("<code>{action}</code>")), "{action}");
    }
    for path in [
        format!("tokens/{}", fixture.token),
        format!("webhooks/{}", fixture.endpoint),
    ] {
        assert!(
            page.contains(&format!("<a href=\"/panel/{path}\">")),
            "{path}"
        );
    }
    assert!(page.contains("control panel"));
    assert!(page.contains("admin") && !page.contains("<script>alert"));
}

#[tokio::test]
async fn details_name_the_owner_and_unfold_when_they_are_long() {
    let fixture = PanelFixture::with_content().await;
    let scopes: Vec<_> = Surface::Full
        .scopes()
        .map(|scope| ("scopes", scope.as_str()))
        .collect();
    let form = [&[("expires_in_days", "")], scopes.as_slice()].concat();
    assert_eq!(fixture.issue(&form).await.status, 200);
    let page = fixture.get("/panel/audit?action=token.issued").await;
    let folded = "<details class=\"details\"><summary><small>label &quot;a laptop&quot;; owner alice; does not expire; scopes ";
    let rest = page.after(folded);
    let (last, _) = page.body.split_once("</details>").unwrap();
    assert!(rest.ends_with(", …"), "{rest}");
    assert!(last.ends_with("search:read</small>"), "{last}");
    let added = fixture.get("/panel/audit?action=endpoint.added").await;
    let owner = format!(
        "owner {}",
        NAMES[2].replace('<', "&lt;").replace('>', "&gt;")
    );
    assert!(added.contains(&owner), "{}", added.body);
}

#[tokio::test]
async fn the_log_is_filtered_by_administrator_action_and_target() {
    let fixture = PanelFixture::with_content().await;
    for (query, issued, added) in [
        ("action=token.issued", true, false),
        ("action=endpoint.added&actor=admin", false, true),
        ("actor=alice", false, false),
        ("actor=zoe", false, false),
        ("action=TOKEN", false, false),
    ] {
        let page = fixture.get(&format!("/panel/audit?{query}")).await;
        let has = |action: &str| page.contains(&format!("<code>{action}</code>"));
        let listed = (has("token.issued"), has("endpoint.added"));
        assert_eq!(listed, (issued, added), "{query}");
        assert!(page.contains("<option value=\"endpoint.added\""));
        let is_empty = page.contains("No entries match these filters.");
        assert_eq!(is_empty, !issued && !added, "{query}");
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
    let next = first.next_page().unwrap();
    assert!(next.contains("action=token%2Eissued"), "{next}");
    let second = fixture.get(&next).await;
    assert_eq!((rows(&second.body), second.next_page()), (1, None));
}
