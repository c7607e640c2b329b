//! Every byte of what is delivered is searched for what is private.

use std::collections::BTreeSet;

use forum_api::webhook::Topic;

use super::post::{OK, Post};
use crate::events::{check_public, happen};

#[tokio::test]
async fn no_delivery_tells_what_is_private() {
    let post = Post::new().await;
    let (mut receiver, _) = post.add("admin", "*,message.sent", &[OK]).await;
    happen(&post.demo).await;
    post.work().await;
    let sent = receiver.ended().await;
    let topics = sent.iter().map(|seen| seen.header("x-forum-event"));
    let standard = Topic::STANDARD.map(|topic| topic.to_string());
    assert_eq!(topics.collect::<BTreeSet<_>>(), standard.into());
    for seen in sent {
        check_public(&post.demo, &seen.request).await;
    }
}
