//! Who sees which forum.

use forum_api::host::Refusal;
use serde_json::json;

use crate::board::access::Lists;
use crate::board::accounts;
use crate::board::forums::{self, NewForum};
use crate::demo::{Demo, all, code, find};

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
async fn counts_are_of_visible_content_alone() {
    let demo = Demo::new().await;
    let help = demo.forum("Help").await;
    assert_eq!(
        (&help["threadCount"], &help["postCount"]),
        (&json!(4), &json!(12))
    );
    let (_, threads) = demo.get("guest", &demo.threads_of("Help").await).await;
    let replies = threads["items"].as_array().unwrap().iter();
    let replies: u64 = replies
        .map(|thread| thread["replyCount"].as_u64().unwrap())
        .sum();
    assert_eq!(4 + replies, 12);
    assert_eq!(
        help["lastActivityAt"],
        threads["items"][0]["lastActivityAt"]
    );
}

#[tokio::test]
async fn a_sub_forum_of_a_hidden_one_stands_alone() {
    let demo = Demo::new().await;
    let staff: i64 = demo.forum("Staff").await["forumId"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    demo.change(move |tx| {
        let open = NewForum {
            title: " Open hours ".into(),
            parent: Some(staff),
            lists: Lists {
                read: Some("guests".parse()?),
                ..Lists::default()
            },
            ..NewForum::default()
        };
        forums::add(tx, &open).map(drop)
    })
    .await;
    let (_, seen) = demo.get("guest", "/forums").await;
    assert_eq!(find(&seen, "title", "Open hours")["parentId"], json!(null));
    let (_, seen) = demo.get("mod", "/forums").await;
    assert_eq!(
        find(&seen, "title", "Open hours")["parentId"],
        staff.to_string()
    );
}

#[tokio::test]
async fn a_parent_is_the_nearest_forum_above_that_the_caller_sees() {
    let demo = Demo::new().await;
    demo.change(|tx| {
        let below = |title: &str, parent, readers: &str| {
            let read = Some(readers.parse()?);
            let lists = Lists {
                read,
                ..Lists::default()
            };
            let (title, parent) = (title.into(), Some(parent));
            forums::add(
                tx,
                &NewForum {
                    title,
                    parent,
                    lists,
                    ..NewForum::default()
                },
            )
        };
        let hidden = below("Hidden", 2, "staff")?;
        let deeper = below("Deeper", hidden, "staff")?;
        below("Open again", deeper, "guests").map(drop)
    })
    .await;
    let (_, seen) = demo.get("guest", "/forums").await;
    assert_eq!(find(&seen, "title", "Open again")["parentId"], "2");
    let (_, seen) = demo.get("mod", "/forums").await;
    let deeper = &find(&seen, "title", "Deeper")["forumId"];
    assert_eq!(&find(&seen, "title", "Open again")["parentId"], deeper);
}

#[tokio::test]
async fn children_follow_their_parents_by_position() {
    let demo = Demo::new().await;
    demo.change(|tx| {
        for (title, parent) in [("Bread", Some(2)), ("Rye", Some(6)), ("Last", None)] {
            let title = title.into();
            forums::add(
                tx,
                &NewForum {
                    title,
                    parent,
                    ..NewForum::default()
                },
            )?;
        }
        Ok(())
    })
    .await;
    let (_, seen) = demo.get("guest", "/forums").await;
    assert_eq!(
        all(&seen, "title"),
        ["Announcements", "General", "Help", "Bread", "Rye", "Last"]
    );
    assert_eq!(find(&seen, "title", "Bread")["position"], 2);
    assert_eq!(find(&seen, "title", "Rye")["parentId"], "6");
}

#[tokio::test]
async fn a_moderator_is_somebody_who_can_read_the_forum() {
    let demo = Demo::new().await;
    demo.change(|tx| {
        let alice = accounts::named(tx, "alice")?;
        assert!(matches!(
            forums::name_moderator(tx, 5, alice),
            Err(Refusal::Invalid(_))
        ));
        assert!(matches!(
            forums::name_moderator(tx, 99, alice),
            Err(Refusal::NotFound(_))
        ));
        forums::name_moderator(tx, 4, alice)?;
        forums::name_moderator(tx, 4, alice)
    })
    .await;
}

#[tokio::test]
async fn a_hidden_forum_is_absent() {
    let demo = Demo::new().await;
    let staff = demo.threads_of("Staff").await;
    let absent = "/forums/99/threads";
    for name in ["guest", "alice"] {
        let hidden = demo.get(name, &staff).await;
        assert_eq!(code(&hidden), (404, "not_found"));
        assert_eq!(code(&hidden), code(&demo.get(name, absent).await));
    }
    assert_eq!(demo.get("mod", &staff).await.0, 200);
}
