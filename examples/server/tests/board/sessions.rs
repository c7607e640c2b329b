//! Expiry and removal of sessions.

use std::sync::mpsc::channel;

use forum_api::model::UserRef;
use forum_api::store::sqlite::SqliteError;
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::board::accounts::sessions::{self, Hash};

use crate::prelude::*;

const SESSION: Hash = [1; 32];
const OTHER_SESSION: Hash = [2; 32];
const MINUTE: u64 = 60;

/// Idle time after which a session ends, in seconds.
const IDLE: u64 = 120 * MINUTE;

const HOUR: u64 = 60 * MINUTE;

async fn begin(demo: &Demo, session: Hash) {
    let now = demo.clock.now();
    demo.change(move |tx| {
        Box::pin(async move {
            let admin = accounts::find_id(tx, "admin").await?;
            let account = accounts::login(tx, UserRef::Id(admin.into())).await?.unwrap();
            sessions::begin(tx, &session, &account, now).await
        })
    })
    .await;
}

async fn is_signed_in(demo: &Demo, session: Hash) -> bool {
    demo.board.signed_in(session).await.unwrap().is_some()
}

async fn last_use(demo: &Demo) -> i64 {
    demo.query_value("SELECT max(used_at) AS value FROM session").await
}

/// Waits until a use at the present time is recorded.
async fn wait_for_record(demo: &Demo) {
    let now = demo.clock.now().as_millis();
    let is_recorded = async { while last_use(demo).await != now {} };
    timeout(Duration::from_secs(4), is_recorded).await.unwrap();
}

#[tokio::test]
async fn a_session_ends_after_two_idle_hours_and_after_a_day_of_use() {
    for (uses, pause, last_pause) in [(2, IDLE - 1, IDLE), (23, HOUR, HOUR)] {
        let demo = Demo::new().await;
        begin(&demo, SESSION).await;
        assert!(!is_signed_in(&demo, OTHER_SESSION).await);
        for _ in 0..uses {
            demo.advance(pause);
            assert!(is_signed_in(&demo, SESSION).await, "{uses} uses");
            wait_for_record(&demo).await;
        }
        demo.advance(last_pause);
        assert!(!is_signed_in(&demo, SESSION).await, "{uses} uses");
    }
}

#[tokio::test]
async fn a_use_is_recorded_once_a_minute() {
    let demo = Demo::new().await;
    begin(&demo, SESSION).await;
    let begun = last_use(&demo).await;
    demo.advance(MINUTE - 1);
    assert!(is_signed_in(&demo, SESSION).await);
    assert_eq!(last_use(&demo).await, begun);
    demo.advance(1);
    assert!(is_signed_in(&demo, SESSION).await);
    wait_for_record(&demo).await;
}

/// Each page records the use in a task of its own, except while the session has such a task.
#[tokio::test]
async fn pages_do_not_wait_for_other_writes_and_queue_one_record_of_use() {
    let demo = Demo::in_storage(Backend::File.create_storage().await, Language::English).await;
    begin(&demo, SESSION).await;
    demo.advance(MINUTE);
    let BoardDatabase::Sqlite(database) = demo.database() else {
        panic!("the database is in Postgres");
    };
    let (release, held) = channel::<()>();
    database.write_detached::<SqliteError>(move |_| {
        held.recv().unwrap_err();
        Ok(())
    });
    let tasks = || Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    for _ in 0..3 {
        let signed_in = timeout(Duration::from_secs(4), is_signed_in(&demo, SESSION)).await;
        assert_eq!((signed_in, tasks()), (Ok(true), before + 1));
    }
    drop(release);
    wait_for_record(&demo).await;
}

#[tokio::test]
async fn a_new_session_removes_expired_sessions() {
    let demo = Demo::new().await;
    begin(&demo, SESSION).await;
    demo.advance(IDLE);
    begin(&demo, OTHER_SESSION).await;
    let count = "SELECT count(*) AS value FROM session";
    assert_eq!(demo.query_value::<i64>(count).await, 1);
    assert!(is_signed_in(&demo, OTHER_SESSION).await);
}

#[tokio::test]
async fn a_new_session_removes_the_hundred_oldest_expired_sessions() {
    let demo = Demo::new().await;
    let bytes =
        demo.for_backend("CAST(CAST(n AS TEXT) AS BLOB)", "convert_to(CAST(n AS TEXT), 'UTF8')");
    demo.sql(&format!(
        "WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 150)
        INSERT INTO session (hash, member_id, password, began_at, used_at)
        SELECT {bytes}, member.id, {bytes}, 0, 1000 - n FROM number JOIN member ON member.username = 'admin'"
    ))
    .await;
    begin(&demo, SESSION).await;
    let left = "SELECT used_at AS value FROM session ORDER BY used_at";
    let now = demo.clock.now().as_millis();
    let expected: Vec<_> = (950..1_000).chain([now]).collect();
    assert_eq!(demo.query_values::<i64>(left).await, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_whose_clock_is_ahead_of_postgres_removes_no_sessions() {
    let demo = Demo::in_postgres().await;
    demo.advance(100 * 365 * 24 * HOUR);
    begin(&demo, SESSION).await;
    demo.advance(IDLE);
    begin(&demo, OTHER_SESSION).await;
    let count = "SELECT count(*) AS value FROM session";
    assert_eq!(demo.query_value::<i64>(count).await, 2);
}

/// The account was read before the ban, and its password checked meanwhile.
#[tokio::test]
async fn no_session_begins_after_a_ban() {
    let demo = Demo::new().await;
    let now = demo.clock.now();
    demo.change(move |tx| {
        Box::pin(async move {
            let admin = accounts::find_id(tx, "admin").await?;
            let account = accounts::login(tx, UserRef::Id(admin.into())).await?.unwrap();
            accounts::set_banned(tx, admin, true).await?;
            sessions::begin(tx, &SESSION, &account, now).await?;
            accounts::set_banned(tx, admin, false).await
        })
    })
    .await;
    assert!(!is_signed_in(&demo, SESSION).await);
}

/// A session of a clock that was ahead would otherwise last until its time is reached.
#[tokio::test]
async fn a_session_that_began_or_was_used_in_the_future_has_ended() {
    const SHIFT_USE: &str = "UPDATE session SET used_at = used_at + ?1";
    const SHIFT_BEGIN: &str = "UPDATE session SET began_at = began_at + ?1";
    for (shift, seconds, is_valid) in
        [(SHIFT_USE, 60, true), (SHIFT_USE, 61, false), (SHIFT_BEGIN, 61, false)]
    {
        let demo = Demo::new().await;
        begin(&demo, SESSION).await;
        demo.change(move |tx| {
            Box::pin(async move { tx.execute(shift, bind![seconds * 1000_i64]).await })
        })
        .await;
        assert_eq!(is_signed_in(&demo, SESSION).await, is_valid, "{shift} {seconds}");
    }
}
