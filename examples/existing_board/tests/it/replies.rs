//! What is written through one door is there behind the other.

use std::time::Duration;

use crate::fixture::run_with_postgres;
use crate::site::Site;

const TOPIC: i64 = 1;

#[test]
fn a_typed_reply_is_in_the_api() {
    run_with_postgres(async {
        let site = Site::new(Duration::ZERO).await;
        assert_eq!(site.type_reply(TOPIC, "Green & <b>\n☕").await.status, 303);
        let posts = site.list(TOPIC).await.json();
        let post = &posts["items"][1];
        assert_eq!(post["body"], "Green & <b>\n☕");
        assert_eq!(post["bodyHtml"], "<p>Green &amp; &lt;b&gt;<br>☕</p>");
        assert_eq!(post["author"]["username"], "alice");
    });
}

#[test]
fn a_reply_through_the_api_is_on_the_page() {
    run_with_postgres(async {
        let site = Site::new(Duration::ZERO).await;
        let post = site.post_reply(TOPIC, "Green & <b>").await;
        assert_eq!(post.status, 201);
        let page = site.ask_as_guest("GET", "/topics/1").await;
        let shown = post.json()["bodyHtml"].as_str().unwrap().to_owned();
        assert!(page.text.contains(&shown), "{page:?}");
    });
}
