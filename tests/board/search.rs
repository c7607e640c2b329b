//! Search, where the reference board does more than every board must.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::demo::{Demo, all, body, code};

/// The hits of `query`, to somebody.
async fn hits(demo: &Demo, name: &'static str, query: &str) -> Value {
    let (status, page) = demo.get(name, &format!("/search?limit=100&{query}")).await;
    assert_eq!(status, 200, "{page}");
    page["items"].clone()
}

#[tokio::test]
async fn a_score_tells_nothing_of_what_is_hidden() {
    let demo = Demo::new().await;
    let before = hits(&demo, "guest", "q=tea").await;
    let new = json!({ "title": "Tea, tea, tea", "body": "tea ".repeat(100) });
    let staff = demo.threads_of("Staff").await;
    assert_eq!(demo.post("mod", &staff, new).await.0, 201);
    assert_eq!(hits(&demo, "guest", "q=tea").await, before);
}

#[tokio::test]
async fn what_awaits_approval_is_found_by_nobody() {
    let demo = Demo::new().await;
    let tea = demo.tea().await;
    assert_eq!(demo.post("newbie", &tea, body("quokka")).await.0, 201);
    for name in ["guest", "newbie", "mod", "admin"] {
        assert_eq!(hits(&demo, name, "q=quokka").await, json!([]), "{name}");
    }
}

#[tokio::test]
async fn what_is_a_word_to_look_for_is_one_in_a_text() {
    let demo = Demo::new().await;
    let tea = demo.tea().await;
    let text = body("Ⓐ 🄰 ⅷ हिन्दी ٣ straße ❤\u{fe0f}");
    assert_eq!(demo.post("bob", &tea, text).await.0, 201);
    for word in ["Ⓐ", "🄰", "Ⅷ", "हिन्दी", "٣", "STRASSE"] {
        let query = format!("q={}", utf8_percent_encode(word, NON_ALPHANUMERIC));
        let found = hits(&demo, "guest", &query).await;
        assert!(found[0]["score"].as_f64() > Some(0.0), "{word}: {found}");
    }
    let heart = utf8_percent_encode("❤\u{fe0f}", NON_ALPHANUMERIC);
    let refused = demo.get("guest", &format!("/search?q={heart}")).await;
    assert_eq!(code(&refused), (400, "bad_request"));
}

#[tokio::test]
async fn the_best_are_found_among_the_newest_of_a_window() {
    let demo = Demo::new().await;
    let newest = hits(&demo, "guest", "q=tea&sort=newest").await;
    demo.sql("INSERT INTO setting VALUES ('search.window', '2')")
        .await;
    let best = hits(&demo, "guest", "q=tea").await;
    let mut found = all(&json!({ "items": best }), "postId")
        .into_iter()
        .map(String::from)
        .collect::<Vec<_>>();
    found.sort();
    let mut expected = [0, 1].map(|hit| newest[hit]["postId"].as_str().unwrap().to_owned());
    expected.sort();
    assert_eq!(found, expected);
}

#[tokio::test]
async fn a_walk_through_threads_goes_on_after_a_window_of_one_thread() {
    let demo = Demo::new().await;
    for sort in ["newest", "oldest"] {
        let query = format!("q=tea&show=threads&sort={sort}");
        demo.sql("DELETE FROM setting WHERE key = 'search.window'")
            .await;
        let whole = hits(&demo, "alice", &query).await;
        demo.sql("INSERT INTO setting VALUES ('search.window', '1')")
            .await;
        let (mut walked, mut path) = (Vec::new(), format!("/search?{query}"));
        loop {
            let (_, page) = demo.get("alice", &path).await;
            walked.extend(page["items"].as_array().unwrap().clone());
            let Some(next) = page["next"].as_str() else {
                break;
            };
            path = format!("/search?{query}&after={next}");
        }
        assert_eq!(Value::from(walked), whole);
    }
}

#[tokio::test]
async fn what_was_there_before_search_was_is_found() {
    let demo = Demo::new().await;
    let before = hits(&demo, "alice", "q=tea").await;
    demo.sql("DROP TABLE post_text; DROP VIEW readable_post; DROP INDEX post_by_age")
        .await;
    for trigger in ["new", "changed", "gone", "thread"] {
        let drop = format!("DROP TRIGGER post_text_of_{trigger}");
        demo.change(move |tx| Ok(tx.execute_batch(&drop)?)).await;
    }
    demo.sql(include_str!("../../examples/server/board/schema/5.sql"))
        .await;
    assert_eq!(hits(&demo, "alice", "q=tea").await, before);
}
