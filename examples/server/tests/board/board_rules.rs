//! Groups and moderators of forums that a node keeps between requests.

use crate::prelude::*;

/// Changes of another process. Member 1 is the administrator, member 3 is alice.
const CHANGES: [&str; 10] = [
    "INSERT INTO forum (parent_id, position, title, description) VALUES (2, 9, 'New', '')",
    "UPDATE forum SET read_groups = 'staff' WHERE title = 'New'",
    "UPDATE forum SET start_groups = 'staff', reply_groups = 'staff' WHERE id = 2",
    "UPDATE forum SET parent_id = NULL WHERE title = 'New'",
    "INSERT INTO forum_moderator (forum_id, member_id) VALUES (2, 3)",
    "UPDATE forum_moderator SET forum_id = 3 WHERE member_id = 3",
    "UPDATE forum_moderator SET forum_id = 2 WHERE member_id = 3",
    "DELETE FROM forum_moderator WHERE member_id = 3",
    "DELETE FROM forum WHERE title = 'New'",
    "UPDATE member SET groups = 'members,staff' WHERE id = 3",
];

#[tokio::test]
async fn the_next_request_sees_a_change_of_another_process_unless_it_is_refused() {
    let demo = Demo::new().await;
    let node = demo.another_node(&demo.clock);
    for change in CHANGES {
        let before = read_all(&node).await;
        execute(&demo, change, false).await;
        assert_eq!(read_all(&node).await, before, "{change}");
        execute(&demo, change, true).await;
        let after = read_all(&node).await;
        assert_ne!(after, before, "{change}");
        let of_new_node = read_all(&demo.another_node(&demo.clock)).await;
        assert_eq!(after, of_new_node, "{change}");
    }
}

/// Returns what a guest, alice and the administrator read, with their permissions.
async fn read_all(node: &TestApi) -> Vec<Value> {
    let mut reads = Vec::new();
    for client in [node.as_guest(), node.as_member("3"), node.as_member("1")] {
        for path in ["/forums", "/threads/16", "/threads/16/posts"] {
            reads.push(client.get(path).await.json());
        }
    }
    reads
}

async fn execute(demo: &Demo, change: &'static str, commits: bool) {
    let written = demo
        .board
        .write(move |tx, _| {
            Box::pin(async move {
                tx.execute_batch(change).await?;
                if commits { Ok(()) } else { Err(BoardError::conflict("refused")) }
            })
        })
        .await;
    assert_eq!(written.is_ok(), commits);
}
