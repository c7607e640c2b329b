//! Last-seen times, written in batches and without waiting for locks.

use forum_api::host::{Authorizer, RequestInfo};
use forum_api::model::UserId;
use forum_api::runtime::Clock;

use crate::backend::Backend;
use crate::demo::Demo;
use crate::postgres::run_with_postgres;
use forum_api::Language;

const SEEN: &str = "SELECT count(*) AS value FROM member WHERE last_seen_at IS NOT NULL";

async fn see_all_members(demo: &Demo) -> i64 {
    let members: i64 = demo
        .query_value("SELECT count(*) AS value FROM member WHERE banned = FALSE")
        .await;
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
    let alice = demo
        .as_member("alice")
        .await
        .get("/members/@alice")
        .await
        .json();
    assert!(alice["lastSeenAt"].is_string(), "{alice}");
    demo.board.flush_last_seen().await;
    assert_eq!(demo.query_value::<i64>(SEEN).await, members);
}

/// A command holds the row lock of one member.
#[test]
fn last_seen_times_do_not_wait_for_commands() {
    run_with_postgres(async {
        let demo =
            Demo::in_storage(Backend::Postgres.create_storage().await, Language::English).await;
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
