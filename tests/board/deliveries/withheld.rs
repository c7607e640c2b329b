//! What its owner may not be told any more is not sent, whenever that came about.

use std::time::Duration;

use forum_api::host::Result;
use forum_api::webhook::State;
use rusqlite::Savepoint;

use super::post::{LATER, OK, Post};
use crate::board::accounts;
use crate::board::groups::{Group, Groups};

/// Something that happens on the board.
type Change = fn(&Savepoint<'_>) -> Result<()>;

/// What happens to alice, on whose behalf a receiver is told of a thread that members alone read; and what becomes of
/// the delivery.
const CHANGES: [(&str, Change, State); 4] = [
    ("nothing happens", |_| Ok(()), State::Delivered),
    ("she is banned", ban, State::Withheld),
    ("she leaves the members", leave, State::Withheld),
    ("the forum becomes the staff's", close, State::Withheld),
];

pub fn ban(tx: &Savepoint<'_>) -> Result<()> {
    let alice = accounts::named(tx, "alice")?;
    Ok(accounts::set_banned(tx, alice, true)?)
}

fn leave(tx: &Savepoint<'_>) -> Result<()> {
    let alice = accounts::named(tx, "alice")?;
    let newcomers = Groups::of([Group::Newcomers]);
    Ok(accounts::set_groups(tx, alice, newcomers)?)
}

fn close(tx: &Savepoint<'_>) -> Result<()> {
    let staff = Groups::of([Group::Staff]);
    let update = "UPDATE forum SET read_groups = ?1 WHERE title = 'Members'";
    tx.execute(update, [staff])?;
    Ok(())
}

#[tokio::test]
async fn between_queueing_and_the_first_attempt() {
    for (what, change, state) in CHANGES {
        let post = Post::new().await;
        let (receiver, endpoint) = post.add("alice", "thread.created", &[OK]).await;
        post.happen().await;
        post.queue(&endpoint).await;
        assert_eq!(post.state(&endpoint).await, State::Queued);
        post.demo.change(change).await;
        post.work().await;
        assert_eq!(post.state(&endpoint).await, state, "{what}");
        let sent = usize::from(state == State::Delivered);
        assert_eq!(receiver.connections(), sent, "{what}");
    }
}

#[tokio::test]
async fn between_one_attempt_and_the_next() {
    for (what, change, state) in CHANGES {
        let post = Post::new().await;
        let (receiver, endpoint) = post.add("alice", "thread.created", &[LATER, OK]).await;
        post.happen().await;
        let worker = post.work().await;
        assert_eq!(post.state(&endpoint).await, State::Retrying);
        post.demo.change(change).await;
        worker.pass(Duration::from_secs(3600)).await;
        assert_eq!(post.state(&endpoint).await, state, "{what}");
        let sent = 1 + usize::from(state == State::Delivered);
        assert_eq!(receiver.connections(), sent, "{what}");
    }
}
