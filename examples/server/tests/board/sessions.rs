//! Sessions: their end and their removal.

use forum_api::runtime::Clock;

use crate::board::accounts;
use crate::board::sessions::{self, Hash};
use crate::demo::Demo;

const ONE: Hash = [1; 32];
const ANOTHER: Hash = [2; 32];
const MINUTE: u64 = 60;

/// Two hours, and twice the interval of hints.
const IDLE: u64 = 120 * MINUTE + 20;

const HOUR: u64 = 60 * MINUTE;

async fn begin(demo: &Demo, session: Hash) {
    let now = demo.clock.now();
    demo.change(move |tx| {
        Box::pin(async move {
            let admin = accounts::named(tx, "admin").await?;
            let account = accounts::login(tx, admin).await?.unwrap();
            Ok(sessions::begin(tx, &session, &account, now).await?)
        })
    })
    .await;
}

async fn is_on(demo: &Demo, session: Hash) -> bool {
    demo.board.signed_in(session).await.unwrap().is_some()
}

async fn last_use(demo: &Demo) -> i64 {
    demo.one("SELECT max(used_at) FROM session").await
}

/// Uses the session and writes the hints.
async fn used(demo: &Demo) {
    assert!(is_on(demo, ONE).await);
    demo.board.write_hints().await;
}

#[tokio::test]
async fn a_session_ends_after_two_idle_hours() {
    let demo = Demo::new().await;
    begin(&demo, ONE).await;
    assert!(!is_on(&demo, ANOTHER).await);
    for _ in 0..2 {
        demo.wait(IDLE - 1);
        used(&demo).await;
    }
    demo.wait(IDLE);
    assert!(!is_on(&demo, ONE).await);
}

/// The use may have been on another node.
#[tokio::test]
async fn an_unwritten_use_extends_a_session() {
    let demo = Demo::new().await;
    begin(&demo, ONE).await;
    demo.wait(120 * MINUTE - 2);
    assert!(is_on(&demo, ONE).await);
    demo.wait(3);
    assert!(is_on(&demo, ONE).await);
}

#[tokio::test]
async fn a_session_ends_after_a_day_of_continuous_use() {
    let demo = Demo::new().await;
    begin(&demo, ONE).await;
    for _ in 1..24 {
        demo.wait(HOUR);
        used(&demo).await;
    }
    demo.wait(HOUR);
    assert!(!is_on(&demo, ONE).await);
}

#[tokio::test]
async fn a_use_is_recorded_once_a_minute() {
    let demo = Demo::new().await;
    begin(&demo, ONE).await;
    let begun = last_use(&demo).await;
    demo.wait(MINUTE - 1);
    used(&demo).await;
    assert_eq!(last_use(&demo).await, begun);
    demo.wait(1);
    used(&demo).await;
    assert_eq!(last_use(&demo).await, demo.clock.now().as_millis());
}

#[tokio::test]
async fn a_new_session_removes_expired_sessions() {
    let demo = Demo::new().await;
    begin(&demo, ONE).await;
    demo.wait(IDLE);
    begin(&demo, ANOTHER).await;
    let left: i64 = demo.one("SELECT count(*) FROM session").await;
    assert!(left == 1 && is_on(&demo, ANOTHER).await);
}

#[tokio::test]
async fn an_ended_session_is_invalid() {
    let demo = Demo::new().await;
    begin(&demo, ONE).await;
    begin(&demo, ANOTHER).await;
    demo.change(|tx| Box::pin(async move { Ok(sessions::end(tx, &ONE).await?) }))
        .await;
    assert!(!is_on(&demo, ONE).await && is_on(&demo, ANOTHER).await);
}

#[tokio::test]
async fn a_session_ends_when_the_password_changes() {
    let demo = Demo::new().await;
    begin(&demo, ONE).await;
    assert!(is_on(&demo, ONE).await);
    demo.change(|tx| {
        Box::pin(async move {
            let admin = accounts::named(tx, "admin").await?;
            Ok(accounts::set_password(tx, admin, "another hash").await?)
        })
    })
    .await;
    assert!(!is_on(&demo, ONE).await);
}

#[tokio::test]
async fn a_lifted_ban_does_not_restore_sessions() {
    let demo = Demo::new().await;
    begin(&demo, ONE).await;
    for banned in [true, false] {
        demo.change(move |tx| {
            Box::pin(async move {
                let admin = accounts::named(tx, "admin").await?;
                accounts::set_banned(tx, admin, banned).await?;
                Ok(())
            })
        })
        .await;
        assert!(!is_on(&demo, ONE).await);
    }
}
