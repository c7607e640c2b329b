//! The headers and the markup of every page.

use crate::fixture::{ADMIN, PanelFixture, Response, URL};

/// Checks the headers of a page, and that nothing in it runs.
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
    let body = page.body.to_lowercase();
    for active in [
        "<script",
        "<b>bob",
        " style=",
        "javascript:",
        "src=",
        "http-equiv",
    ] {
        assert!(!body.contains(active), "{path}: {active}");
    }
    for tag in body
        .split('<')
        .map(|tag| tag.split('>').next().unwrap_or_default())
    {
        let mut attributes = tag.split_whitespace().skip(1);
        let handler = attributes.find(|name| name.starts_with("on") && name.contains('='));
        assert_eq!(handler, None, "{path}: {tag}");
    }
}

#[tokio::test]
async fn every_page_has_its_headers_and_runs_nothing() {
    let fixture = PanelFixture::with_content().await;
    for (path, status) in [
        ("/panel/tokens".to_owned(), 200),
        ("/panel/tokens/new".to_owned(), 200),
        ("/panel/webhooks".to_owned(), 200),
        (format!("/panel/webhooks/{}", fixture.endpoint), 200),
        ("/panel/deliveries".to_owned(), 200),
        (format!("/panel/deliveries/{}", fixture.delivery), 200),
        ("/panel/usage".to_owned(), 200),
        ("/panel/nothing".to_owned(), 404),
    ] {
        let page = fixture.get(&path).await;
        assert_eq!(
            (page.status, page.header("content-type")),
            (status, "text/html; charset=utf-8")
        );
        assert_is_passive(&page, &path);
        assert_is_passive(&fixture.get_as("", &path).await, &path);
        assert_is_passive(&fixture.post(&path, &[]).await, &path);
        let head = fixture.send("HEAD", &path, &[ADMIN], &[]).await;
        assert_eq!((head.status, head.body.as_str()), (status, ""), "{path}");
    }
}

#[tokio::test]
async fn text_of_members_and_receivers_is_escaped() {
    let fixture = PanelFixture::with_content().await;
    let delivery = format!("/panel/deliveries/{}", fixture.delivery);
    for (path, escaped) in [
        ("/panel/tokens", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("/panel/tokens", "&lt;b&gt;bob&lt;/b&gt;"),
        (
            "/panel/webhooks",
            &URL.replace('<', "&lt;").replace('>', "&gt;"),
        ),
        (&delivery, "&lt;script&gt;alert('&quot;')&lt;/script&gt;"),
    ] {
        assert!(fixture.get(path).await.contains(escaped), "{path}");
    }
    let long = "\"><script>".repeat(1_000);
    let form = ["owner", "label", "expires_in_days", "url"].map(|name| (name, long.as_str()));
    for path in ["/panel/tokens/new", "/panel/webhooks"] {
        let refused = fixture.post(path, &form).await;
        assert_eq!(refused.status, 422, "{path}");
        assert!(
            refused.contains(&"&quot;&gt;&lt;script&gt;".repeat(1_000)),
            "{path}"
        );
        assert_is_passive(&refused, path);
    }
}

#[tokio::test]
async fn an_empty_page_says_what_to_do() {
    let fixture = PanelFixture::new().await;
    for (path, next) in [
        ("/panel/tokens", "Issue a token for a member."),
        ("/panel/webhooks", "Add a receiver's URL"),
        ("/panel/deliveries", "Add an endpoint"),
        ("/panel/usage", "Send a ping"),
    ] {
        assert!(fixture.get(path).await.contains(next), "{path}");
    }
}

#[tokio::test]
async fn the_mount_redirects_to_the_tokens_and_ends_at_a_slash() {
    let fixture = PanelFixture::new().await;
    for path in ["/panel", "/panel/"] {
        assert_eq!(
            fixture.get(path).await.status_and_location(),
            (303, "/panel/tokens")
        );
    }
    for path in ["/panelx", "/panel.evil.example/tokens", "/panelstyle.css"] {
        assert_eq!(fixture.get_as("", path).await.status, 404, "{path}");
        assert_eq!(fixture.get(path).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn a_member_returns_to_this_host_after_signing_in() {
    let fixture = PanelFixture::mounted_at("/").await;
    for (path, back) in [
        ("/usage?x=//evil", "/usage?x=//evil"),
        ("//evil.example/usage", "/tokens"),
        ("///evil.example", "/tokens"),
    ] {
        let sign_in = format!("/sign-in?back={back}");
        assert_eq!(
            fixture.get_as("", path).await.header("location"),
            sign_in,
            "{path}"
        );
    }
}

#[tokio::test]
async fn the_style_sheet_is_public_and_cacheable() {
    let fixture = PanelFixture::new().await;
    let path = "/panel/style.css";
    let sheet = fixture.get_as("", path).await;
    assert_eq!(
        (sheet.status, sheet.header("content-type")),
        (200, "text/css; charset=utf-8")
    );
    let known = [("if-none-match", sheet.header("etag"))];
    let same = fixture.send("GET", path, &known, &[]).await;
    assert_eq!((same.status, same.body.as_str()), (304, ""));
}
