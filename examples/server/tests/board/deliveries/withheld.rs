//! What its owner may not be told any more is not sent, whenever that came about.

use std::time::Duration;

use forum_api::webhook::State;

use super::post::{LATER, OK, Post};
use crate::board::accounts;
use crate::board::db::{Transaction, TransactionFuture, bind};
use crate::board::groups::{Group, Groups};

/// Something that happens on the board.
type Change = for<'a> fn(&'a Transaction<'a>) -> TransactionFuture<'a, ()>;

/// What happens to alice, on whose behalf a receiver is told of a thread that members alone read; and what becomes of
/// the delivery.
const CHANGES: [(&str, Change, State); 4] = [
    (
        "nothing happens",
        |_| Box::pin(async { Ok(()) }),
        State::Delivered,
    ),
    ("she is banned", ban, State::Withheld),
    ("she leaves the members", leave, State::Withheld),
    ("the forum becomes the staff's", close, State::Withheld),
];

pub fn ban<'a>(tx: &'a Transaction<'a>) -> TransactionFuture<'a, ()> {
    Box::pin(async {
        let alice = accounts::named(tx, "alice").await?;
        Ok(accounts::set_banned(tx, alice, true).await?)
    })
}

fn leave<'a>(tx: &'a Transaction<'a>) -> TransactionFuture<'a, ()> {
    Box::pin(async {
        let alice = accounts::named(tx, "alice").await?;
        let newcomers = Groups::of([Group::Newcomers]);
        Ok(accounts::set_groups(tx, alice, newcomers).await?)
    })
}

fn close<'a>(tx: &'a Transaction<'a>) -> TransactionFuture<'a, ()> {
    Box::pin(async {
        let staff = Groups::of([Group::Staff]);
        let update = "UPDATE forum SET read_groups = ?1 WHERE title = 'Members'";
        tx.change(update, bind![staff.to_string()]).await?;
        Ok(())
    })
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
