//! What callers may not have too much of, or too fast.

use std::time::Duration;

use forum_api::host::Refusal;

use super::writes;
use crate::support::server::settings;
use crate::support::{Ask, Mood, ROWS, Server, outcome};

#[tokio::test]
async fn api4_unrestricted_resource_consumption() {
    let server = Server::new();
    let alice = server.token("alice").await;
    for path in [
        "/forums/open/threads",
        "/threads/open-1/posts",
        "/messages",
        "/subscriptions",
        "/search?q=tea",
    ] {
        let join = if path.contains('?') { '&' } else { '?' };
        for limit in [
            "0",
            "101",
            "-1",
            "1e9",
            "99999999999999999999",
            "",
            "20&limit=20",
        ] {
            let ask = Ask::get(&format!("{path}{join}limit={limit}")).bearer(&alice);
            let answer = server.send(&ask).await;
            assert_eq!(
                outcome(&answer),
                (400, Some("bad_request")),
                "{path} {limit}"
            );
        }
    }
    for row in ROWS.iter().filter(|row| !row.body.is_empty()) {
        let large = format!("{}{}", row.body, " ".repeat(1 << 20));
        let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        for body in [large, nested, "{\"a\":".repeat(100_000)] {
            let ask = Ask::new(row.method, row.path).json(&body).bearer(&alice);
            assert_eq!(server.send(&ask).await.status, 400, "{row:?}");
        }
    }
    let long = Ask::get(&format!("/search?q={}", "x".repeat(201)));
    assert_eq!(server.send(&long).await.status, 400);
    assert!(server.board.calls().is_empty());

    for row in &ROWS {
        let spent = server.token("alice").await;
        server.spend(&spent, settings().token_window).await;
        let answer = server.send(&Ask::of(row).bearer(&spent)).await;
        assert_eq!(outcome(&answer), (429, Some("rate_limited")), "{row:?}");
        assert!(answer.header("retry-after").is_some());
    }
    assert!(server.board.calls().is_empty());
}

#[tokio::test]
async fn api6_unrestricted_access_to_sensitive_business_flows() {
    let server = Server::new();
    let alice = server.token("alice").await;
    for row in writes() {
        server.board.be(Mood::Refuses(|| {
            Refusal::TooFast("Not so fast.".into(), Some(Duration::from_millis(1500)))
        }));
        let ask = Ask::of(row)
            .bearer(&alice)
            .key(&row.template.replace(['{', '}'], ""));
        let answer = server.send(&ask).await;
        assert_eq!(outcome(&answer), (429, Some("RATE_LIMITED")), "{row:?}");
        assert_eq!(answer.header("retry-after"), Some("2"));
        // Who was too fast is let in later, and once.
        server.board.be(Mood::Well);
        assert_eq!(server.send(&ask).await.status, row.success, "{row:?}");
        let before = server.board.writes();
        server.send(&ask).await;
        let ran = server.board.writes() > before;
        assert_eq!(ran, row.method != "POST", "{row:?}");
    }
}
