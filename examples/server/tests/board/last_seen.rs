//! Last-seen times, written in batches and without waiting for locks.

use forum_api::host::{Authorizer, RequestInfo};
use tokio::time::{advance, pause, resume, timeout};

use crate::prelude::*;

const SEEN: &str = "SELECT count(*) AS value FROM member WHERE last_seen_at IS NOT NULL";

async fn see_all_members(demo: &Demo) -> i64 {
    let count = "SELECT count(*) AS value FROM member WHERE banned = FALSE";
    let members: i64 = demo.query_value(count).await;
    for id in 1..=members + 1 {
        let request = RequestInfo::new(demo.clock.now());
        let id = UserId::from(id);
        demo.board.member_access(&id, &request).await.unwrap();
    }
    members
}

#[tokio::test]
async fn requests_do_not_write_last_seen_times() {
    let demo = Demo::new().await;
    let members = see_all_members(&demo).await;
    assert!(members > 4);
    assert_eq!(demo.query_value::<i64>(SEEN).await, 0);
    let (_, alice) = demo.get("alice", "/members/@alice").await;
    assert!(alice["lastSeenAt"].is_string(), "{alice}");
    demo.board.flush_last_seen().await;
    assert_eq!(demo.query_value::<i64>(SEEN).await, members);
}

#[tokio::test]
async fn last_seen_times_are_written_every_ten_seconds() {
    let demo = Demo::new().await;
    let members = see_all_members(&demo).await;
    let board = demo.board.clone();
    tokio::spawn(async move { board.flush_last_seen_periodically().await });
    tokio::task::yield_now().await;
    // Real time also passes while the test waits for the database.
    for (seconds, written) in [(5, 0), (5, members)] {
        pause();
        advance(Duration::from_secs(seconds)).await;
        resume();
        let is_written = async { while demo.query_value::<i64>(SEEN).await != written {} };
        let in_time = timeout(Duration::from_secs(4), is_written).await;
        assert!(in_time.is_ok(), "not {written} times");
    }
}

/// The control panel suggests these names.
#[tokio::test]
async fn the_members_who_were_active_last_are_first_and_banned_ones_are_left_out() {
    let demo = Demo::new().await;
    demo.sql(
        "UPDATE member SET last_seen_at = 1 WHERE username = 'carol';
        UPDATE member SET last_seen_at = 2 WHERE username IN ('bob', 'mallory')",
    )
    .await;
    for (limit, expected) in [
        (4, &["bob", "carol", "admin", "mod"][..]),
        (9, &["bob", "carol", "admin", "mod", "alice", "newbie"]),
    ] {
        let names =
            demo.read(move |connection| Box::pin(accounts::last_active(connection, limit))).await;
        assert_eq!(names, expected);
    }
}

/// A command holds the row lock of one member.
#[test]
fn last_seen_times_do_not_wait_for_commands() {
    run_with_postgres(async {
        let demo = Demo::in_postgres().await;
        let members = see_all_members(&demo).await;
        let command = demo.pool().get().await.unwrap();
        let lock = "BEGIN; UPDATE member SET reputation = 1 WHERE id = 1";
        command.batch_execute(lock).await.unwrap();
        demo.board.flush_last_seen().await;
        assert_eq!(demo.query_value::<i64>(SEEN).await, members - 1);
        command.batch_execute("COMMIT").await.unwrap();
        // A skipped time is recorded again with the next request.
        see_all_members(&demo).await;
        demo.board.flush_last_seen().await;
        assert_eq!(demo.query_value::<i64>(SEEN).await, members);
    });
}

#[tokio::test]
async fn background_requests_do_not_update_the_last_seen_time() {
    let demo = Demo::new().await;
    let (_, bob) = demo.get("guest", "/members/@bob").await;
    let id = UserId::parse(bob["userId"].as_str().unwrap()).unwrap();
    let request = RequestInfo::background(demo.clock.now());
    let access = demo.board.member_access(&id, &request).await.unwrap();
    assert!(access.is_some());
    assert_eq!(demo.get("guest", "/members/@bob").await.1, bob);
    assert_eq!(bob["lastSeenAt"], json!(null));
}
