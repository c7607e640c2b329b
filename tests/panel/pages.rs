//! What every page has, and what none may have.

use crate::ask::Answer;
use crate::house::House;

fn every(house: &House) -> Vec<String> {
    let (endpoint, delivery) = (&house.endpoint, &house.delivery);
    let fixed = [
        "tokens",
        "tokens/new",
        "webhooks",
        "deliveries",
        "usage",
        "nothing",
    ];
    let named = [
        format!("webhooks/{endpoint}"),
        format!("deliveries/{delivery}"),
    ];
    let paths = fixed.map(String::from).into_iter().chain(named);
    paths.map(|path| format!("/panel/{path}")).collect()
}

fn is_plain(page: &Answer, path: &str) {
    let policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; form-action 'self'; \
                  frame-ancestors 'none'; base-uri 'none'";
    assert_eq!(page.header("content-security-policy"), policy, "{path}");
    assert_eq!(page.header("referrer-policy"), "same-origin", "{path}");
    assert_eq!(page.header("cache-control"), "no-store", "{path}");
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
    // Within a tag, no attribute begins with "on".
    let tags = body
        .split('<')
        .map(|tag| tag.split('>').next().unwrap_or_default());
    for tag in tags {
        let attribute = tag
            .split_whitespace()
            .skip(1)
            .find(|one| one.starts_with("on"));
        assert_eq!(
            attribute.filter(|one| one.contains('=')),
            None,
            "{path}: {tag}"
        );
    }
}

#[tokio::test]
async fn each_page_has_its_headers_and_runs_nothing() {
    let house = House::furnished().await;
    for path in every(&house) {
        let page = house.get(&path).await;
        assert_eq!(
            page.status,
            if path.ends_with("nothing") { 404 } else { 200 },
            "{path}"
        );
        assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
        is_plain(&page, &path);
        is_plain(&house.get_as("", &path).await, &path);
        is_plain(&house.post(&path, &[]).await, &path);
        let head = house
            .send("HEAD", &path, &[("cookie", "admin/1")], &[])
            .await;
        assert_eq!(
            (head.status, head.body.as_str()),
            (page.status, ""),
            "{path}"
        );
    }
}

#[tokio::test]
async fn what_people_typed_stays_text() {
    let house = House::furnished().await;
    let house_of = &house;
    let page = |path: String| async move { house_of.get(&path).await.body };
    assert!(
        page("/panel/tokens".into())
            .await
            .contains("&lt;script&gt;alert(1)&lt;/script&gt;")
    );
    assert!(
        page("/panel/tokens".into())
            .await
            .contains("&lt;b&gt;bob&lt;/b&gt;")
    );
    assert!(
        page("/panel/webhooks".into())
            .await
            .contains("https://93.184.215.14/?&lt;script&gt;")
    );
    let delivery = page(format!("/panel/deliveries/{}", house.delivery)).await;
    assert!(delivery.contains("&lt;script&gt;alert('&quot;')&lt;/script&gt;"));
    let long = "\"><script>".repeat(1_000);
    let form = ["owner", "label", "expires_in_days", "url"].map(|name| (name, long.as_str()));
    for path in ["/panel/tokens/new", "/panel/webhooks"] {
        let refused = house.post(path, &form).await;
        assert_eq!(refused.status, 422, "{path}");
        assert!(
            refused
                .body
                .contains(&"&quot;&gt;&lt;script&gt;".repeat(1_000)),
            "{path}"
        );
        is_plain(&refused, path);
    }
}

#[tokio::test]
async fn an_empty_page_says_what_to_do() {
    let house = House::new().await;
    for (path, next) in [
        ("tokens", "Issue one for the member"),
        ("webhooks", "Add the address of a receiver"),
        ("deliveries", "Add an endpoint"),
        ("usage", "Send a ping"),
    ] {
        let page = house.get(&format!("/panel/{path}")).await.body;
        assert!(page.contains(next), "{path}");
    }
}

#[tokio::test]
async fn the_mount_leads_to_the_tokens() {
    let house = House::new().await;
    for path in ["/panel", "/panel/"] {
        let sent = house.get(path).await;
        assert_eq!(
            (sent.status, sent.header("location")),
            (303, "/panel/tokens")
        );
    }
}

#[tokio::test]
async fn a_path_that_only_begins_like_the_mount_is_not_below_it() {
    let house = House::new().await;
    for session in ["", "admin/1"] {
        for path in ["/panelx", "/panel.evil.example/tokens", "/panelstyle.css"] {
            assert_eq!(house.get_as(session, path).await.status, 404, "{path}");
        }
    }
}

#[tokio::test]
async fn one_who_signs_in_comes_back_to_this_host_alone() {
    let house = House::at("/").await;
    for (path, back) in [
        ("/usage?x=//evil", "/usage?x=//evil"),
        ("//evil.example/usage", "/tokens"),
        ("///evil.example", "/tokens"),
    ] {
        let sent = house.get_as("", path).await;
        let sign_in = format!("/sign-in?back={back}");
        assert_eq!(sent.header("location"), sign_in, "{path}");
    }
}

#[tokio::test]
async fn the_style_sheet_is_there_for_anybody_and_kept() {
    let house = House::new().await;
    let sheet = house.get_as("", "/panel/style.css").await;
    assert_eq!(
        (sheet.status, sheet.header("content-type")),
        (200, "text/css; charset=utf-8")
    );
    let known = [("if-none-match", sheet.header("etag"))];
    let same = house.send("GET", "/panel/style.css", &known, &[]).await;
    assert_eq!((same.status, same.body.as_str()), (304, ""));
}

#[tokio::test]
async fn usage_counts_the_last_day() {
    let house = House::furnished().await;
    let page = house.get("/panel/usage").await.body;
    assert!(page.contains("1 delivery in 24 hours, 1 at most in one") && page.contains("<svg"));
    house
        .clock
        .advance(std::time::Duration::from_secs(24 * 60 * 60));
    assert!(
        house
            .get("/panel/usage")
            .await
            .body
            .contains("There were none.")
    );
}
