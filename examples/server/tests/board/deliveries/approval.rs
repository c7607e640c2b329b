//! What awaits approval is told to nobody before it is approved.

use serde_json::json;

use super::post::{OK, Post};
use crate::demo::body;

#[tokio::test]
async fn a_reply_is_told_of_once_it_is_approved() {
    let post = Post::new().await;
    let (mut receiver, _) = post.add("admin", "*,message.sent", &[OK]).await;
    let worker = post.work().await;
    let posts = post.demo.tea().await;
    let (status, reply) = post.demo.post("newbie", &posts, body("Is this on?")).await;
    assert_eq!(
        (status, &reply["state"]),
        (201, &json!("awaiting_approval"))
    );
    let id = reply["postId"].as_str().unwrap();
    let newbie = post.demo.as_member("newbie").await;
    let edited = newbie
        .patch(&format!("{posts}/{id}"), &body("It is on."))
        .await;
    assert_eq!(edited.status, 200);
    worker.wake().await;
    assert_eq!(receiver.connections(), 0);
    post.demo.approve(id.parse().unwrap()).await.unwrap();
    worker.wake().await;
    let [told] = &receiver.ended().await[..] else {
        panic!("it is told of once");
    };
    assert_eq!(told.header("x-forum-event"), "post.created");
    assert!(told.body().contains("It is on.") && !told.body().contains("Is this on?"));
}
