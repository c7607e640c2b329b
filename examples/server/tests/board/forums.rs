//! Who sees which forum of the demo board, and who moderates one.

use crate::board::{accounts, forums};
use crate::demo::{Demo, all};
use forum_api::host::Refusal;

#[tokio::test]
async fn each_sees_what_their_groups_may_read() {
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
        assert_eq!(all(&forums, "title"), seen, "{name}");
    }
}

#[tokio::test]
async fn who_may_start_a_thread_is_told_to_each() {
    let demo = Demo::new().await;
    for (name, startable) in [
        ("guest", vec![]),
        ("alice", vec!["General", "Help", "Members"]),
        (
            "mod",
            vec!["Announcements", "General", "Help", "Members", "Staff"],
        ),
    ] {
        let (_, forums) = demo.get(name, "/forums").await;
        let items = forums["items"].as_array().unwrap().iter();
        let may: Vec<_> = items
            .filter(|forum| forum["canStartThread"] == true)
            .collect();
        assert_eq!(
            may.iter().map(|forum| &forum["title"]).collect::<Vec<_>>(),
            startable,
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_moderator_is_somebody_who_can_read_the_forum() {
    let demo = Demo::new().await;
    demo.change(|tx| {
        Box::pin(async {
            let alice = accounts::named(tx, "alice").await?;
            assert!(matches!(
                forums::name_moderator(tx, 5, alice).await,
                Err(Refusal::Invalid { .. })
            ));
            assert!(matches!(
                forums::name_moderator(tx, 99, alice).await,
                Err(Refusal::NotFound(_))
            ));
            forums::name_moderator(tx, 4, alice).await?;
            forums::name_moderator(tx, 4, alice).await
        })
    })
    .await;
}
