//! Replies through the form appear in the API, and replies through the API appear on the page.

use std::time::Duration;

use crate::fixture::run_with_postgres;
use crate::site::{Site, TOPIC};

#[test]
fn a_reply_through_the_form_appears_in_the_api() {
    run_with_postgres(async {
        let site = Site::new(Duration::ZERO).await;
        let form = site.submit_reply(TOPIC, "Green & <b>\n☕").await;
        assert_eq!(form.status, 303);
        let posts = site.list_posts(TOPIC).await.json();
        let post = &posts["items"][1];
        assert_eq!(post["body"], "Green & <b>\n☕");
        assert_eq!(post["bodyHtml"], "<p>Green &amp; &lt;b&gt;<br>☕</p>");
        assert_eq!(post["author"]["username"], "alice");
    });
}

#[test]
fn a_reply_through_the_api_appears_on_the_page() {
    run_with_postgres(async {
        let site = Site::new(Duration::ZERO).await;
        let post = site.post_reply(TOPIC, "Green & <b>").await;
        assert_eq!(post.status, 201);
        let page = site.send_as_guest("GET", "/topics/1").await;
        let post = post.json();
        let html = post["bodyHtml"].as_str().unwrap();
        assert!(page.text.contains(html), "{page:?}");
    });
}
