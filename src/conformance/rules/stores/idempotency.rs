//! First responses by `Idempotency-Key`.

use bytes::Bytes;

use super::*;
use crate::model::{ForumId, PostId, ThreadId};
use crate::store::{Attempt, Begin, Kept, Outcome, ResourceIds, Ticket};

const LEASE: i64 = 60_000;
const DAY: i64 = 86_400_000;

store_rules! {
    mod idempotency;

    /// Of any number of equal requests at once, one is the first, and for the others it is running.
    async fn of_fifty_at_once_one_is_the_first(fixture: &Shelf) -> TestResult {
        let attempt = attempt()?;
        let requests = repeat_n((fixture.stores.idempotency.clone(), attempt.clone()), 50)
            .map(|(idempotency, attempt)| async move { idempotency.begin(&attempt, at(0)).await });
        let (mut first, mut running) = (0, 0);
        for begun in fixture.race(requests).await {
            match begun? {
                Begin::First(_) => first += 1,
                Begin::Running => running += 1,
                other => check!(false, "{other:?} is First or Running")?,
            }
        }
        check_eq!((first, running), (1, 49))
    }

    /// A repetition gets the complete first response with its resource ids, for a day.
    async fn the_first_answer_is_repeated_whole(fixture: &Shelf) -> TestResult {
        let bare = Kept {
            status: 200,
            location: None,
            body: Bytes::new(),
            resource: ResourceIds::default(),
        };
        let in_a_forum =
            with(bare.clone(), |kept| kept.resource.forum_id = ForumId::new("tea"));
        for (key, kept) in [("a", kept()), ("b", bare), ("c", in_a_forum)] {
            let attempt = Attempt { key: key.into(), ..attempt()? };
            run(fixture, &attempt, 0, Outcome::Answered(kept.clone())).await?;
            for now in [0, 1, LEASE, DAY - 1] {
                begins(fixture, &attempt, now, Begin::Repeat(kept.clone())).await?;
            }
        }
        Ok(())
    }

    /// Another request with the same key is reported in every state of the first.
    async fn another_request_is_told_so_in_every_state(fixture: &Shelf) -> TestResult {
        let ticket = first(fixture, &attempt()?, 0).await?;
        begins(fixture, &other_request()?, 1, Begin::OtherRequest).await?;
        begins(fixture, &other_request()?, LEASE, Begin::OtherRequest).await?;
        for outcome in [Outcome::Unknown, Outcome::Answered(kept())] {
            settle(fixture, &ticket, outcome).await?;
            begins(fixture, &other_request()?, 1, Begin::OtherRequest).await?;
        }
        Ok(())
    }

    /// The same key of another token is another key.
    async fn a_key_is_per_token(fixture: &Shelf) -> TestResult {
        run(fixture, &attempt()?, 0, Outcome::Answered(kept())).await?;
        run(fixture, &other_token()?, 0, Outcome::DidNotRun).await?;
        begins(fixture, &attempt()?, 1, Begin::Repeat(kept())).await
    }

    /// Keys are case-sensitive.
    async fn a_key_is_taken_by_the_letter(fixture: &Shelf) -> TestResult {
        for key in ["key", "KEY", "Key", "key~", "!"] {
            first(fixture, &Attempt { key: key.into(), ..attempt()? }, 0).await?;
        }
        Ok(())
    }

    /// A run without an outcome is running for its lease, and unknown afterwards.
    async fn a_run_that_does_not_end_is_unknown_after_its_lease(fixture: &Shelf) -> TestResult {
        first(fixture, &attempt()?, 0).await?;
        for (now, expected) in [
            (0, Begin::Running),
            (LEASE - 1, Begin::Running),
            (LEASE, Begin::Unknown),
            (DAY - 1, Begin::Unknown),
        ] {
            begins(fixture, &attempt()?, now, expected).await?;
        }
        Ok(())
    }

    /// A run that ends after its lease is repeated.
    async fn a_run_that_ends_late_is_repeated(fixture: &Shelf) -> TestResult {
        let ticket = first(fixture, &attempt()?, 0).await?;
        begins(fixture, &attempt()?, LEASE, Begin::Unknown).await?;
        settle(fixture, &ticket, Outcome::Answered(kept())).await?;
        begins(fixture, &attempt()?, LEASE, Begin::Repeat(kept())).await
    }

    /// A refused request frees the key for any request.
    async fn what_surely_did_not_run_frees_the_key(fixture: &Shelf) -> TestResult {
        run(fixture, &attempt()?, 0, Outcome::DidNotRun).await?;
        run(fixture, &other_request()?, 1, Outcome::Answered(kept())).await?;
        begins(fixture, &attempt()?, 2, Begin::OtherRequest).await
    }

    /// An unknown outcome stays unknown.
    async fn what_nobody_knows_stays_unknown(fixture: &Shelf) -> TestResult {
        run(fixture, &attempt()?, 0, Outcome::Unknown).await?;
        for now in [0, LEASE, DAY - 1] {
            begins(fixture, &attempt()?, now, Begin::Unknown).await?;
        }
        Ok(())
    }

    /// A key is removed at the instant at which its day ends.
    async fn a_key_is_forgotten_after_a_day(fixture: &Shelf) -> TestResult {
        run(fixture, &attempt()?, 0, Outcome::Answered(kept())).await?;
        begins(fixture, &other_request()?, DAY - 1, Begin::OtherRequest).await?;
        first(fixture, &other_request()?, DAY).await?;
        begins(fixture, &other_request()?, DAY, Begin::Running).await
    }

    /// A run without an outcome is removed after a day, too.
    async fn a_run_without_end_is_forgotten_too(fixture: &Shelf) -> TestResult {
        first(fixture, &attempt()?, 0).await?;
        first(fixture, &attempt()?, DAY).await.map(drop)
    }

    /// A ticket of a removed or freed key does not change the next run with that key.
    async fn a_ticket_of_a_forgotten_key_changes_nothing(fixture: &Shelf) -> TestResult {
        let forgotten = first(fixture, &attempt()?, 0).await?;
        first(fixture, &attempt()?, DAY).await?;
        for outcome in [Outcome::Answered(kept()), Outcome::Unknown, Outcome::DidNotRun] {
            settle(fixture, &forgotten, outcome).await?;
            begins(fixture, &attempt()?, DAY, Begin::Running).await?;
        }
        let freed = first(fixture, &other_token()?, 0).await?;
        settle(fixture, &freed, Outcome::DidNotRun).await?;
        settle(fixture, &freed, Outcome::Answered(kept())).await?;
        first(fixture, &other_token()?, 1).await.map(drop)
    }

    /// Many keys coexist, and each is removed at its own time, even when a clock that was set back puts them out of order.
    async fn many_keys_live_side_by_side(fixture: &Shelf) -> TestResult {
        let mut attempts = Vec::new();
        for number in 0..30_i64 {
            attempts.push((Attempt { key: number.to_string(), ..attempt()? }, 100 - number));
        }
        for (attempt, began) in &attempts {
            run(fixture, attempt, *began, Outcome::Answered(kept())).await?;
        }
        for (attempt, began) in attempts.iter().rev() {
            begins(fixture, attempt, began + DAY - 1, Begin::Repeat(kept())).await?;
            first(fixture, attempt, began + DAY).await?;
        }
        for (attempt, _) in &attempts {
            first(fixture, attempt, 3 * DAY).await?;
        }
        Ok(())
    }
}

fn attempt() -> TestResult<Attempt> {
    Ok(Attempt {
        token: lookup(1)?,
        key: "key".into(),
        request: [1; 32],
    })
}

fn other_request() -> TestResult<Attempt> {
    Ok(with(attempt()?, |attempt| attempt.request = [2; 32]))
}

fn other_token() -> TestResult<Attempt> {
    let token = lookup(2)?;
    Ok(with(attempt()?, |attempt| attempt.token = token))
}

fn kept() -> Kept {
    Kept {
        status: 201,
        location: Some("/api/v1/threads/7".into()),
        body: Bytes::from_static(b"{\"id\":\"7\"}\0\xff"),
        resource: ResourceIds {
            forum_id: Some(ForumId::from(5)),
            thread_id: ThreadId::new("thread-7_a"),
            post_id: Some(PostId::from(-9)),
        },
    }
}

async fn first(fixture: &Shelf, attempt: &Attempt, now: i64) -> TestResult<Ticket> {
    match fixture.stores.idempotency.begin(attempt, at(now)).await? {
        Begin::First(ticket) => Ok(ticket),
        other => Err(TestFailure::mismatch(
            format_args!("begin({attempt:?}) at {now}"),
            format_args!("{other:?}"),
            "First",
        )),
    }
}

async fn run(fixture: &Shelf, attempt: &Attempt, now: i64, outcome: Outcome) -> TestResult {
    let ticket = first(fixture, attempt, now).await?;
    settle(fixture, &ticket, outcome).await
}

async fn begins(fixture: &Shelf, attempt: &Attempt, now: i64, expected: Begin) -> TestResult {
    let found = fixture.stores.idempotency.begin(attempt, at(now)).await?;
    check_eq!(found, expected, "begin({attempt:?}) at {now}")
}

async fn settle(fixture: &Shelf, ticket: &Ticket, outcome: Outcome) -> TestResult {
    Ok(fixture.stores.idempotency.settle(ticket, outcome).await?)
}
