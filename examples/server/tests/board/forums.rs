//! Visibility and moderators of the forums of the demo board.

use crate::board::{accounts, forums};
use crate::demo::{Demo, field_values, status_and_code};
use forum_api::host::BoardError;

#[tokio::test]
async fn callers_see_the_forums_that_their_groups_may_read() {
    let demo = Demo::new().await;
    for (name, seen) in [
        ("guest", vec!["Announcements", "General", "Help"]),
        ("alice", vec!["Announcements", "General", "Help", "Members"]),
        (
            "newbie",
            vec!["Announcements", "General", "Help", "Members"],
        ),
        (
            "mod",
            vec!["Announcements", "General", "Help", "Members", "Staff"],
        ),
        (
            "admin",
            vec!["Announcements", "General", "Help", "Members", "Staff"],
        ),
    ] {
        let (_, forums) = demo.get(name, "/forums").await;
        assert_eq!(field_values(&forums, "title"), seen, "{name}");
    }
}

#[tokio::test]
async fn a_moderator_must_be_able_to_read_the_forum() {
    let demo = Demo::new().await;
    demo.change(|tx| {
        Box::pin(async {
            let alice = accounts::named(tx, "alice").await?;
            assert!(matches!(
                forums::add_moderator(tx, 5, alice).await,
                Err(BoardError::Validation { .. })
            ));
            assert!(matches!(
                forums::add_moderator(tx, 99, alice).await,
                Err(BoardError::NotFound(_))
            ));
            assert!(forums::add_moderator(tx, 4, alice).await?);
            assert!(!forums::add_moderator(tx, 4, alice).await?);
            Ok(())
        })
    })
    .await;
}

#[tokio::test]
async fn a_member_loses_a_forum_with_a_group() {
    let demo = Demo::new().await;
    let members = demo.threads_path("Members").await;
    assert_eq!(demo.get("bob", &members).await.0, 200);
    demo.change(|tx| {
        Box::pin(async {
            let bob = accounts::named(tx, "bob").await?;
            accounts::set_groups(tx, bob, "newcomers".parse()?).await?;
            Ok(())
        })
    })
    .await;
    let refused = demo.get("bob", &members).await;
    assert_eq!(status_and_code(&refused), (404, "not_found"));
}
