//! What a token opens is asked anew on each request.

use crate::board::{accounts, settings};
use crate::demo::{Demo, body, posts_of};

#[tokio::test]
async fn a_banned_owner_can_no_longer_act() {
    let demo = Demo::new().await;
    let bob = demo.as_member("bob").await;
    assert_eq!(bob.get("/me").await.status, 200);
    for (banned, answer) in [
        (true, (403, Some("owner_unavailable"))),
        (false, (200, None)),
    ] {
        demo.change(move |tx| {
            Ok(accounts::set_banned(
                tx,
                accounts::named(tx, "bob")?,
                banned,
            )?)
        })
        .await;
        let now = bob.get("/me").await;
        assert_eq!((now.status, now.code()), answer);
    }
    let mallory = demo.as_member("mallory").await.get("/forums").await;
    assert_eq!(mallory.code(), Some("owner_unavailable"));
}

#[tokio::test]
async fn an_owner_loses_a_forum_with_a_group() {
    let demo = Demo::new().await;
    let members = demo.threads_of("Members").await;
    let bob = demo.as_member("bob").await;
    assert_eq!(bob.get(&members).await.status, 200);
    demo.change(|tx| {
        Ok(accounts::set_groups(
            tx,
            accounts::named(tx, "bob")?,
            "newcomers".parse()?,
        )?)
    })
    .await;
    assert_eq!(bob.get(&members).await.code(), Some("not_found"));
}

#[tokio::test]
async fn a_moderator_loses_the_place() {
    let demo = Demo::new().await;
    demo.sql("UPDATE thread SET locked = TRUE; UPDATE post SET state = 'deleted' WHERE number = 2")
        .await;
    let (tea, bread) = (
        demo.tea().await,
        posts_of(&demo.thread("General", "My sourdough will not rise").await),
    );
    let moderator = demo.as_member("mod").await;
    assert_eq!(moderator.post(&tea, &body("x")).await.status, 201);
    let numbers = async || moderator.get(&bread).await.json()["items"][1]["number"].clone();
    assert_eq!(numbers().await, 2);
    demo.sql("DELETE FROM forum_moderator").await;
    assert_eq!(
        moderator.post(&tea, &body("x")).await.code(),
        Some("FORBIDDEN")
    );
    assert_eq!(numbers().await, 3);
}

#[tokio::test]
async fn an_offline_board_is_for_administrators() {
    let demo = Demo::new().await;
    demo.change(|tx| Ok(settings::set_offline(tx, true)?)).await;
    for (name, status) in [("guest", 503), ("alice", 503), ("mod", 503), ("admin", 200)] {
        assert_eq!(demo.get(name, "/forums").await.0, status, "{name}");
    }
    demo.change(|tx| Ok(settings::set_offline(tx, false)?))
        .await;
    assert_eq!(demo.get("guest", "/forums").await.0, 200);
}
