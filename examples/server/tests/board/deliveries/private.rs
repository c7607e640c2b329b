//! Every byte of what is delivered is searched for what is private.

use std::collections::BTreeSet;

use forum_api::webhook::Topic;

use super::post::{OK, Post};
use crate::events::{check_public, happen};

#[tokio::test]
async fn no_delivery_tells_what_is_private() {
    let post = Post::new().await;
    let (mut admins, _) = post.add("admin", "*,message.sent", &[OK]).await;
    let (mut recipients, _) = post.add("carol", "message.sent", &[OK]).await;
    happen(&post.demo).await;
    post.work().await;
    let (admins, recipients) = (admins.ended().await, recipients.ended().await);
    let mut standard = BTreeSet::from(Topic::STANDARD.map(|topic| topic.to_string()));
    standard.remove("message.sent");
    let topics = admins.iter().map(|seen| seen.header("x-forum-event"));
    assert_eq!(topics.collect::<BTreeSet<_>>(), standard);
    let topics = recipients.iter().map(|seen| seen.header("x-forum-event"));
    assert_eq!(topics.collect::<Vec<_>>(), ["message.sent"]);
    for seen in admins.iter().chain(&recipients) {
        check_public(&post.demo, &seen.request).await;
    }
}
