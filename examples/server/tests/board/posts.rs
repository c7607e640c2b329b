//! Posts: order of errors, and clocks that are set back.

use serde_json::json;

use crate::demo::{Demo, body, field_values, status_and_code};

const DAY: u64 = 24 * 60 * 60;

/// The time of the demo's clock.
const NOW: &str = "2026-01-01T00:00:00.000Z";

#[tokio::test]
async fn a_missing_permission_precedes_errors_of_the_reply() {
    let demo = Demo::new().await;
    demo.sql("UPDATE forum SET reply_groups = 'staff' WHERE title = 'General'")
        .await;
    let tea = demo.tea_posts_path().await;
    for (name, answer) in [("alice", (403, "FORBIDDEN")), ("mod", (422, "VALIDATION"))] {
        let refused = demo.post(name, &tea, body(" ")).await;
        assert_eq!(status_and_code(&refused), answer, "{name}");
    }
}

/// A reply is dated a day ahead. Later replies keep their own times and still follow it.
#[tokio::test]
async fn a_post_dated_in_the_future_does_not_change_the_times_of_others() {
    let demo = Demo::new().await;
    let tea = demo.tea_posts_path().await;
    demo.advance(DAY);
    let (_, ahead) = demo.post("alice", &tea, body("tomorrow")).await;
    demo.set_back(DAY);
    let mut written = vec![ahead["postId"].clone()];
    for name in ["bob", "carol"] {
        let (status, post) = demo.post(name, &tea, body("today")).await;
        assert_eq!((status, &post["createdAt"]), (201, &json!(NOW)), "{name}");
        written.push(post["postId"].clone());
    }
    let (_, thread) = demo.get("guest", "/threads/16").await;
    let last = &thread["lastPost"];
    assert_eq!(
        (&last["postId"], &last["createdAt"]),
        (&written[2], &json!(NOW))
    );
    assert_eq!(thread["lastActivityAt"], NOW);
    let (_, forums) = demo.get("guest", "/forums").await;
    let mut general = forums["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|forum| forum["title"] == "General");
    assert_eq!(general.next().unwrap()["lastActivityAt"], NOW);
    // Pages of any size, and those since a time, keep the order.
    let pages = demo.pages("guest", &format!("{tea}?limit=1")).await;
    let listed: Vec<_> = pages
        .iter()
        .map(|page| page["items"][0]["postId"].clone())
        .collect();
    assert!(listed.ends_with(&written), "{listed:?}");
    for (since, found) in [
        ("2025-12-31T23:59:59.999Z", &written[..]),
        (NOW, &written[..1]),
    ] {
        let (_, page) = demo.get("guest", &format!("{tea}?since={since}")).await;
        let posts = field_values(&page, "postId").into_iter();
        assert_eq!(
            posts.map(|id| json!(id)).collect::<Vec<_>>(),
            found,
            "{since}"
        );
    }
}
