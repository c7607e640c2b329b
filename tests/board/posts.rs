//! Posts: what comes first of several refusals, and what a clock does that is put back.

use crate::demo::{Demo, body, code};

#[tokio::test]
async fn who_may_not_reply_is_told_that_before_what_is_wrong_with_the_reply() {
    let demo = Demo::new().await;
    demo.sql("UPDATE forum SET reply_groups = 'staff' WHERE title = 'General'")
        .await;
    let tea = demo.tea().await;
    for (name, answer) in [("alice", (403, "FORBIDDEN")), ("mod", (422, "VALIDATION"))] {
        let refused = demo.post(name, &tea, body(" ")).await;
        assert_eq!(code(&refused), answer, "{name}");
    }
}

#[tokio::test]
async fn a_deleted_thread_is_for_its_moderators() {
    let demo = Demo::new().await;
    let tea = demo.tea().await;
    demo.sql("UPDATE thread SET state = 'deleted'").await;
    for (name, status) in [("guest", 404), ("alice", 404), ("mod", 200), ("admin", 200)] {
        assert_eq!(demo.get(name, &tea).await.0, status, "{name}");
    }
    assert_eq!(
        code(&demo.post("mod", &tea, body("x")).await),
        (403, "FORBIDDEN")
    );
}

#[tokio::test]
async fn a_clock_that_is_put_back_puts_no_post_before_another() {
    let demo = Demo::new().await;
    demo.sql("UPDATE post SET created_at = 2000000000000 WHERE number = 6")
        .await;
    let (_, post) = demo.post("bob", &demo.tea().await, body("x")).await;
    assert_eq!(post["createdAt"], "2033-05-18T03:33:20.000Z");
}
