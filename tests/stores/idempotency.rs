//! First answers by `Idempotency-Key`, on every backend.

use bytes::Bytes;
use forum_api::model::Timestamp;
use forum_api::store::{Attempt, Begin, Kept, Outcome, Stores, Ticket};
use tokio::task::JoinSet;

use crate::backend::{at, lookup, on_every_backend};

on_every_backend! {
    of_fifty_at_once_one_is_the_first
    the_first_answer_is_repeated_whole
    another_request_is_told_so_in_every_state
    a_key_is_per_token
    a_run_that_does_not_end_is_unknown_after_its_lease
    a_run_that_ends_late_is_repeated
    what_surely_did_not_run_frees_the_key
    what_nobody_knows_stays_unknown
    a_key_is_forgotten_after_a_day
    a_run_without_end_is_forgotten_too
    a_ticket_of_a_forgotten_key_changes_nothing
    many_keys_live_side_by_side
}

const LEASE: i64 = 60_000;
const DAY: i64 = 86_400_000;

fn attempt() -> Attempt {
    Attempt {
        token: lookup(1),
        key: "key".into(),
        request: [1; 32],
    }
}

fn other_request() -> Attempt {
    Attempt {
        request: [2; 32],
        ..attempt()
    }
}

fn kept() -> Kept {
    Kept {
        status: 201,
        location: Some("/api/v1/threads/7".into()),
        body: Bytes::from_static(b"{\"id\":\"7\"}\0\xff"),
    }
}

async fn begin(stores: &Stores, attempt: &Attempt, now: Timestamp) -> Begin {
    stores.idempotency.begin(attempt, now).await.unwrap()
}

async fn first(stores: &Stores, attempt: &Attempt, now: Timestamp) -> Ticket {
    match begin(stores, attempt, now).await {
        Begin::First(ticket) => ticket,
        other => panic!("{other:?}"),
    }
}

async fn settle(stores: &Stores, ticket: &Ticket, outcome: Outcome) {
    stores.idempotency.settle(ticket, outcome).await.unwrap();
}

async fn of_fifty_at_once_one_is_the_first(stores: &Stores) {
    let mut tasks = JoinSet::new();
    for _ in 0..50 {
        let idempotency = stores.idempotency.clone();
        tasks.spawn(async move { idempotency.begin(&attempt(), at(0)).await.unwrap() });
    }
    let said = tasks.join_all().await;
    let firsts = said.iter().filter(|said| matches!(said, Begin::First(_)));
    assert_eq!(firsts.count(), 1);
    assert_eq!(
        said.iter().filter(|said| **said == Begin::Running).count(),
        49
    );
}

async fn the_first_answer_is_repeated_whole(stores: &Stores) {
    let bare = Kept {
        status: 409,
        location: None,
        body: Bytes::new(),
    };
    for (key, kept) in [("a", kept()), ("b", bare)] {
        let attempt = Attempt {
            key: key.into(),
            ..attempt()
        };
        let ticket = first(stores, &attempt, at(0)).await;
        settle(stores, &ticket, Outcome::Answered(kept.clone())).await;
        for now in [0, 1, LEASE, DAY - 1] {
            let said = begin(stores, &attempt, at(now)).await;
            assert_eq!(said, Begin::Repeat(kept.clone()));
        }
    }
}

async fn another_request_is_told_so_in_every_state(stores: &Stores) {
    let ticket = first(stores, &attempt(), at(0)).await;
    let told = async |now| begin(stores, &other_request(), at(now)).await;
    assert_eq!(told(1).await, Begin::OtherRequest);
    assert_eq!(told(LEASE).await, Begin::OtherRequest);
    settle(stores, &ticket, Outcome::Unknown).await;
    assert_eq!(told(1).await, Begin::OtherRequest);
    settle(stores, &ticket, Outcome::Answered(kept())).await;
    assert_eq!(told(1).await, Begin::OtherRequest);
}

async fn a_key_is_per_token(stores: &Stores) {
    let ticket = first(stores, &attempt(), at(0)).await;
    settle(stores, &ticket, Outcome::Answered(kept())).await;
    let others = Attempt {
        token: lookup(2),
        ..attempt()
    };
    let ticket = first(stores, &others, at(0)).await;
    settle(stores, &ticket, Outcome::DidNotRun).await;
    assert_eq!(
        begin(stores, &attempt(), at(1)).await,
        Begin::Repeat(kept())
    );
}

async fn a_run_that_does_not_end_is_unknown_after_its_lease(stores: &Stores) {
    first(stores, &attempt(), at(0)).await;
    for (now, said) in [
        (0, Begin::Running),
        (LEASE - 1, Begin::Running),
        (LEASE, Begin::Unknown),
        (DAY - 1, Begin::Unknown),
    ] {
        assert_eq!(begin(stores, &attempt(), at(now)).await, said, "at {now}");
    }
}

async fn a_run_that_ends_late_is_repeated(stores: &Stores) {
    let ticket = first(stores, &attempt(), at(0)).await;
    assert_eq!(begin(stores, &attempt(), at(LEASE)).await, Begin::Unknown);
    settle(stores, &ticket, Outcome::Answered(kept())).await;
    let said = begin(stores, &attempt(), at(LEASE)).await;
    assert_eq!(said, Begin::Repeat(kept()));
}

async fn what_surely_did_not_run_frees_the_key(stores: &Stores) {
    let ticket = first(stores, &attempt(), at(0)).await;
    settle(stores, &ticket, Outcome::DidNotRun).await;
    let ticket = first(stores, &other_request(), at(1)).await;
    settle(stores, &ticket, Outcome::Answered(kept())).await;
    assert_eq!(begin(stores, &attempt(), at(2)).await, Begin::OtherRequest);
}

async fn what_nobody_knows_stays_unknown(stores: &Stores) {
    let ticket = first(stores, &attempt(), at(0)).await;
    settle(stores, &ticket, Outcome::Unknown).await;
    for now in [0, LEASE, DAY - 1] {
        assert_eq!(begin(stores, &attempt(), at(now)).await, Begin::Unknown);
    }
}

async fn a_key_is_forgotten_after_a_day(stores: &Stores) {
    let ticket = first(stores, &attempt(), at(0)).await;
    settle(stores, &ticket, Outcome::Answered(kept())).await;
    let said = begin(stores, &other_request(), at(DAY - 1)).await;
    assert_eq!(said, Begin::OtherRequest);
    first(stores, &other_request(), at(DAY)).await;
    let said = begin(stores, &other_request(), at(DAY)).await;
    assert_eq!(said, Begin::Running);
}

async fn a_run_without_end_is_forgotten_too(stores: &Stores) {
    first(stores, &attempt(), at(0)).await;
    first(stores, &attempt(), at(DAY)).await;
}

async fn a_ticket_of_a_forgotten_key_changes_nothing(stores: &Stores) {
    let forgotten = first(stores, &attempt(), at(0)).await;
    first(stores, &attempt(), at(DAY)).await;
    for outcome in [
        Outcome::Answered(kept()),
        Outcome::Unknown,
        Outcome::DidNotRun,
    ] {
        settle(stores, &forgotten, outcome).await;
        assert_eq!(begin(stores, &attempt(), at(DAY)).await, Begin::Running);
    }
    let freed = first(stores, &other_token(), at(0)).await;
    settle(stores, &freed, Outcome::DidNotRun).await;
    settle(stores, &freed, Outcome::Answered(kept())).await;
    first(stores, &other_token(), at(1)).await;
}

fn other_token() -> Attempt {
    Attempt {
        token: lookup(2),
        ..attempt()
    }
}

/// More are over at once than one `begin` deletes, and a clock that was set back has put some out of order.
async fn many_keys_live_side_by_side(stores: &Stores) {
    let attempts: Vec<_> = (0..30_i64)
        .map(|number| Attempt {
            key: number.to_string(),
            ..attempt()
        })
        .collect();
    let began = |number: usize| 100 - number as i64;
    for (number, attempt) in attempts.iter().enumerate() {
        let ticket = first(stores, attempt, at(began(number))).await;
        settle(stores, &ticket, Outcome::Answered(kept())).await;
    }
    for (number, attempt) in attempts.iter().enumerate().rev() {
        let last = at(began(number) + DAY - 1);
        assert_eq!(begin(stores, attempt, last).await, Begin::Repeat(kept()));
        first(stores, attempt, at(began(number) + DAY)).await;
    }
    for attempt in &attempts {
        first(stores, attempt, at(3 * DAY)).await;
    }
}
