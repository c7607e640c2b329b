//! First responses by `Idempotency-Key`.

use bytes::Bytes;

use super::*;
use crate::model::{ForumId, PostId, ThreadId};
use crate::store::{
    BeginOutcome, Completion, IdempotentRequest, Reservation, ResourceIds, StoredResponse,
};

const LEASE: i64 = 60_000;
const DAY: i64 = 86_400_000;

store_rules! {
    mod idempotency;

    /// Of any number of equal requests at once, one is the first, and for the others it is running.
    async fn one_of_concurrent_requests_reserves_the_key(fixture: &StoreFixture) -> TestResult {
        let attempt = attempt()?;
        let requests = repeat_n((fixture.stores.idempotency.clone(), attempt.clone()), 50)
            .map(|(idempotency, attempt)| async move { idempotency.begin(&attempt, at(0)).await });
        let (mut first, mut running) = (0, 0);
        for begun in fixture.race(requests).await {
            match begun? {
                BeginOutcome::Reserved(_) => first += 1,
                BeginOutcome::InProgress => running += 1,
                other => check!(false, "{other:?} is First or Running")?,
            }
        }
        check_eq!((first, running), (1, 49))
    }

    /// A repetition gets the complete first response with its resource ids, for a day.
    async fn a_retry_gets_the_complete_first_response(fixture: &StoreFixture) -> TestResult {
        let bare = StoredResponse {
            status: 200,
            location: None,
            body: Bytes::new(),
            resource: ResourceIds::default(),
        };
        let in_a_forum =
            with(bare.clone(), |kept| kept.resource.forum_id = ForumId::parse("tea"));
        for (key, kept) in [("a", kept()), ("b", bare), ("c", in_a_forum)] {
            let attempt = IdempotentRequest { key: key.into(), ..attempt()? };
            run(fixture, &attempt, 0, Completion::Responded(kept.clone())).await?;
            for now in [0, 1, LEASE, DAY - 1] {
                begins(fixture, &attempt, now, BeginOutcome::Replay(kept.clone())).await?;
            }
        }
        Ok(())
    }

    /// Another request with the same key is reported in every state of the first.
    async fn a_reused_key_is_a_conflict_in_every_state(fixture: &StoreFixture) -> TestResult {
        let ticket = first(fixture, &attempt()?, 0).await?;
        begins(fixture, &other_request()?, 1, BeginOutcome::KeyReused).await?;
        begins(fixture, &other_request()?, LEASE, BeginOutcome::KeyReused).await?;
        for outcome in [Completion::OutcomeUnknown, Completion::Responded(kept())] {
            settle(fixture, &ticket, outcome).await?;
            begins(fixture, &other_request()?, 1, BeginOutcome::KeyReused).await?;
        }
        Ok(())
    }

    /// The same key of another token is another key.
    async fn each_token_has_its_own_keys(fixture: &StoreFixture) -> TestResult {
        run(fixture, &attempt()?, 0, Completion::Responded(kept())).await?;
        run(fixture, &other_token()?, 0, Completion::NotExecuted).await?;
        begins(fixture, &attempt()?, 1, BeginOutcome::Replay(kept())).await
    }

    /// Keys are case-sensitive.
    async fn keys_are_case_sensitive(fixture: &StoreFixture) -> TestResult {
        for key in ["key", "KEY", "Key", "key~", "!"] {
            first(fixture, &IdempotentRequest { key: key.into(), ..attempt()? }, 0).await?;
        }
        Ok(())
    }

    /// A run without an outcome is running for its lease, and unknown afterwards.
    async fn a_request_without_an_outcome_is_unknown_after_its_lease(fixture: &StoreFixture) -> TestResult {
        first(fixture, &attempt()?, 0).await?;
        for (now, expected) in [
            (0, BeginOutcome::InProgress),
            (LEASE - 1, BeginOutcome::InProgress),
            (LEASE, BeginOutcome::OutcomeUnknown),
            (DAY - 1, BeginOutcome::OutcomeUnknown),
        ] {
            begins(fixture, &attempt()?, now, expected).await?;
        }
        Ok(())
    }

    /// A run that ends after its lease is repeated.
    async fn a_request_completed_after_its_lease_is_replayed(fixture: &StoreFixture) -> TestResult {
        let ticket = first(fixture, &attempt()?, 0).await?;
        begins(fixture, &attempt()?, LEASE, BeginOutcome::OutcomeUnknown).await?;
        settle(fixture, &ticket, Completion::Responded(kept())).await?;
        begins(fixture, &attempt()?, LEASE, BeginOutcome::Replay(kept())).await
    }

    /// A refused request frees the key for any request.
    async fn a_request_that_did_not_run_frees_the_key(fixture: &StoreFixture) -> TestResult {
        run(fixture, &attempt()?, 0, Completion::NotExecuted).await?;
        run(fixture, &other_request()?, 1, Completion::Responded(kept())).await?;
        begins(fixture, &attempt()?, 2, BeginOutcome::KeyReused).await
    }

    /// An unknown outcome stays unknown.
    async fn an_unknown_outcome_stays_unknown(fixture: &StoreFixture) -> TestResult {
        run(fixture, &attempt()?, 0, Completion::OutcomeUnknown).await?;
        for now in [0, LEASE, DAY - 1] {
            begins(fixture, &attempt()?, now, BeginOutcome::OutcomeUnknown).await?;
        }
        Ok(())
    }

    /// A key is removed at the instant at which its day ends.
    async fn a_key_expires_after_a_day(fixture: &StoreFixture) -> TestResult {
        run(fixture, &attempt()?, 0, Completion::Responded(kept())).await?;
        begins(fixture, &other_request()?, DAY - 1, BeginOutcome::KeyReused).await?;
        first(fixture, &other_request()?, DAY).await?;
        begins(fixture, &other_request()?, DAY, BeginOutcome::InProgress).await
    }

    /// A run without an outcome is removed after a day, too.
    async fn a_key_without_an_outcome_expires_after_a_day(fixture: &StoreFixture) -> TestResult {
        first(fixture, &attempt()?, 0).await?;
        first(fixture, &attempt()?, DAY).await.map(drop)
    }

    /// A ticket of a removed or freed key does not change the next run with that key.
    async fn a_reservation_of_an_expired_key_changes_nothing(fixture: &StoreFixture) -> TestResult {
        let forgotten = first(fixture, &attempt()?, 0).await?;
        first(fixture, &attempt()?, DAY).await?;
        for outcome in [Completion::Responded(kept()), Completion::OutcomeUnknown, Completion::NotExecuted] {
            settle(fixture, &forgotten, outcome).await?;
            begins(fixture, &attempt()?, DAY, BeginOutcome::InProgress).await?;
        }
        let freed = first(fixture, &other_token()?, 0).await?;
        settle(fixture, &freed, Completion::NotExecuted).await?;
        settle(fixture, &freed, Completion::Responded(kept())).await?;
        first(fixture, &other_token()?, 1).await.map(drop)
    }

    /// Many keys coexist, and each is removed at its own time, even when a clock that was set back puts them out of order.
    async fn keys_expire_independently(fixture: &StoreFixture) -> TestResult {
        let mut attempts = Vec::new();
        for number in 0..30_i64 {
            attempts.push((IdempotentRequest { key: number.to_string(), ..attempt()? }, 100 - number));
        }
        for (attempt, began) in &attempts {
            run(fixture, attempt, *began, Completion::Responded(kept())).await?;
        }
        for (attempt, began) in attempts.iter().rev() {
            begins(fixture, attempt, began + DAY - 1, BeginOutcome::Replay(kept())).await?;
            first(fixture, attempt, began + DAY).await?;
        }
        for (attempt, _) in &attempts {
            first(fixture, attempt, 3 * DAY).await?;
        }
        Ok(())
    }
}

fn attempt() -> TestResult<IdempotentRequest> {
    Ok(IdempotentRequest {
        token: lookup(1)?,
        key: "key".into(),
        fingerprint: [1; 32],
    })
}

fn other_request() -> TestResult<IdempotentRequest> {
    Ok(with(attempt()?, |attempt| attempt.fingerprint = [2; 32]))
}

fn other_token() -> TestResult<IdempotentRequest> {
    let token = lookup(2)?;
    Ok(with(attempt()?, |attempt| attempt.token = token))
}

fn kept() -> StoredResponse {
    StoredResponse {
        status: 201,
        location: Some("/api/v1/threads/7".into()),
        body: Bytes::from_static(b"{\"id\":\"7\"}\0\xff"),
        resource: ResourceIds {
            forum_id: Some(ForumId::from(5)),
            thread_id: ThreadId::parse("thread-7_a"),
            post_id: Some(PostId::from(-9)),
        },
    }
}

async fn first(
    fixture: &StoreFixture,
    attempt: &IdempotentRequest,
    now: i64,
) -> TestResult<Reservation> {
    match fixture.stores.idempotency.begin(attempt, at(now)).await? {
        BeginOutcome::Reserved(ticket) => Ok(ticket),
        other => Err(TestFailure::mismatch(
            format_args!("begin({attempt:?}) at {now}"),
            format_args!("{other:?}"),
            "First",
        )),
    }
}

async fn run(
    fixture: &StoreFixture,
    attempt: &IdempotentRequest,
    now: i64,
    outcome: Completion,
) -> TestResult {
    let ticket = first(fixture, attempt, now).await?;
    settle(fixture, &ticket, outcome).await
}

async fn begins(
    fixture: &StoreFixture,
    attempt: &IdempotentRequest,
    now: i64,
    expected: BeginOutcome,
) -> TestResult {
    let found = fixture.stores.idempotency.begin(attempt, at(now)).await?;
    check_eq!(found, expected, "begin({attempt:?}) at {now}")
}

async fn settle(fixture: &StoreFixture, ticket: &Reservation, outcome: Completion) -> TestResult {
    Ok(fixture.stores.idempotency.complete(ticket, outcome).await?)
}
