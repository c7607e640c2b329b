//! Stored responses by idempotency key.

use bytes::Bytes;

use super::*;
use crate::model::{ForumId, PostId, ThreadId};
use crate::store::{
    BeginOutcome, Completion, IdempotencyNamespace, IdempotentRequest, Reservation, ResourceIds,
    StoredResponse,
};

/// Duration of a lease, in milliseconds.
const LEASE: i64 = 60_000;

/// A day in milliseconds.
const DAY: i64 = 86_400_000;

store_rules! {
    mod idempotency, __rules_idempotency;

    /// Exactly one of several concurrent requests reserves the key. The others get `InProgress`.
    async fn one_of_concurrent_requests_reserves_the_key(fixture: &StoreFixture) -> TestResult {
        let request = request()?;
        let requests = repeat_n((fixture.stores.idempotency.clone(), request.clone()), 50)
            .map(|(idempotency, request)| async move { idempotency.begin(&request, instant(0)).await });
        let mut reserved = 0;
        let mut in_progress = 0;
        for begun in run_concurrently(requests).await {
            match begun? {
                BeginOutcome::Reserved(_) => reserved += 1,
                BeginOutcome::InProgress => in_progress += 1,
                other => check!(false, "{other:?} is Reserved or InProgress")?,
            }
        }
        check_eq!((reserved, in_progress), (1, 49))
    }

    /// A retry gets the complete first response with its resource ids for a day.
    async fn a_retry_gets_the_complete_first_response(fixture: &StoreFixture) -> TestResult {
        let resource = ResourceIds::default();
        let bare = StoredResponse { status: 200, location: None, body: Bytes::new(), resource };
        let mut in_a_forum = bare.clone();
        in_a_forum.resource.forum_id = ForumId::parse("tea").ok();
        for (key, response) in [("a", response()), ("b", bare), ("c", in_a_forum)] {
            let request = IdempotentRequest { key: key.into(), ..request()? };
            fixture.run(&request, 0, Completion::Responded(response.clone())).await?;
            for now in [0, 1, LEASE, DAY - 1] {
                fixture.expect_begin(&request, now, BeginOutcome::Replay(response.clone())).await?;
            }
        }
        Ok(())
    }

    /// Another request with the same key is reported in every state of the first request.
    async fn a_reused_key_is_a_conflict_in_every_state(fixture: &StoreFixture) -> TestResult {
        let reservation = fixture.reserve(&request()?, 0).await?;
        fixture.expect_begin(&other_request()?, 1, BeginOutcome::KeyReused).await?;
        fixture.expect_begin(&other_request()?, LEASE, BeginOutcome::KeyReused).await?;
        for completion in [Completion::OutcomeUnknown, Completion::Responded(response())] {
            fixture.complete(&reservation, completion).await?;
            fixture.expect_begin(&other_request()?, 1, BeginOutcome::KeyReused).await?;
        }
        Ok(())
    }

    /// Equal keys of two tokens are independent.
    async fn each_token_has_its_own_keys(fixture: &StoreFixture) -> TestResult {
        fixture.run(&request()?, 0, Completion::Responded(response())).await?;
        fixture.run(&other_token()?, 0, Completion::NotExecuted).await?;
        fixture.expect_begin(&request()?, 1, BeginOutcome::Replay(response())).await
    }

    /// Keys are case-sensitive.
    async fn keys_are_case_sensitive(fixture: &StoreFixture) -> TestResult {
        for key in ["key", "KEY", "Key", "key~", "!"] {
            fixture.reserve(&IdempotentRequest { key: key.into(), ..request()? }, 0).await?;
        }
        Ok(())
    }

    /// A request without an outcome is in progress during its lease, and has an unknown outcome afterwards, or if it began a lease
    /// ahead of the clock.
    async fn a_request_without_an_outcome_is_unknown_after_its_lease(fixture: &StoreFixture) -> TestResult {
        fixture.reserve(&request()?, 0).await?;
        for (now, expected) in [
            (-LEASE, BeginOutcome::OutcomeUnknown),
            (1 - LEASE, BeginOutcome::InProgress),
            (0, BeginOutcome::InProgress),
            (LEASE - 1, BeginOutcome::InProgress),
            (LEASE, BeginOutcome::OutcomeUnknown),
            (DAY - 1, BeginOutcome::OutcomeUnknown),
        ] {
            fixture.expect_begin(&request()?, now, expected).await?;
        }
        Ok(())
    }

    /// A key that began more than a day ahead is free: a clock that was ahead wrote it. One that began earlier keeps its
    /// response, so that its request takes effect once.
    async fn a_key_that_began_more_than_a_day_ahead_is_free(fixture: &StoreFixture) -> TestResult {
        fixture.run(&request()?, DAY + 1, Completion::Responded(response())).await?;
        fixture.expect_begin(&request()?, 1, BeginOutcome::Replay(response())).await?;
        let again = fixture.reserve(&request()?, 0).await?;
        fixture.complete(&again, Completion::OutcomeUnknown).await?;
        fixture.expect_begin(&request()?, DAY - 1, BeginOutcome::OutcomeUnknown).await
    }

    /// A request that completes after its lease is replayed.
    async fn a_request_completed_after_its_lease_is_replayed(fixture: &StoreFixture) -> TestResult {
        let reservation = fixture.reserve(&request()?, 0).await?;
        fixture.expect_begin(&request()?, LEASE, BeginOutcome::OutcomeUnknown).await?;
        fixture.complete(&reservation, Completion::Responded(response())).await?;
        fixture.expect_begin(&request()?, LEASE, BeginOutcome::Replay(response())).await
    }

    /// A request that was not executed frees the key for any request.
    async fn a_request_that_did_not_run_frees_the_key(fixture: &StoreFixture) -> TestResult {
        fixture.run(&request()?, 0, Completion::NotExecuted).await?;
        fixture.run(&other_request()?, 1, Completion::Responded(response())).await?;
        fixture.expect_begin(&request()?, 2, BeginOutcome::KeyReused).await
    }

    /// An unknown outcome stays unknown.
    async fn an_unknown_outcome_stays_unknown(fixture: &StoreFixture) -> TestResult {
        fixture.run(&request()?, 0, Completion::OutcomeUnknown).await?;
        for now in [0, LEASE, DAY - 1] {
            fixture.expect_begin(&request()?, now, BeginOutcome::OutcomeUnknown).await?;
        }
        Ok(())
    }

    /// A key expires exactly a day after its request began.
    async fn a_key_expires_after_a_day(fixture: &StoreFixture) -> TestResult {
        fixture.run(&request()?, 0, Completion::Responded(response())).await?;
        fixture.expect_begin(&other_request()?, DAY - 1, BeginOutcome::KeyReused).await?;
        fixture.reserve(&other_request()?, DAY).await?;
        fixture.expect_begin(&other_request()?, DAY, BeginOutcome::InProgress).await
    }

    /// A key whose request has no outcome expires after a day.
    async fn a_key_without_an_outcome_expires_after_a_day(fixture: &StoreFixture) -> TestResult {
        fixture.reserve(&request()?, 0).await?;
        fixture.reserve(&request()?, DAY).await.map(drop)
    }

    /// A reservation of an expired or freed key does not change the next request with that key.
    async fn a_reservation_of_an_expired_key_changes_nothing(fixture: &StoreFixture) -> TestResult {
        let expired = fixture.reserve(&request()?, 0).await?;
        fixture.reserve(&request()?, DAY).await?;
        for completion in [Completion::Responded(response()), Completion::OutcomeUnknown, Completion::NotExecuted] {
            fixture.complete(&expired, completion).await?;
            fixture.expect_begin(&request()?, DAY, BeginOutcome::InProgress).await?;
        }
        let freed = fixture.reserve(&other_token()?, 0).await?;
        fixture.complete(&freed, Completion::NotExecuted).await?;
        fixture.complete(&freed, Completion::Responded(response())).await?;
        fixture.reserve(&other_token()?, 1).await.map(drop)
    }

    /// Each of many keys expires at its own time, even if a clock that was set back changes their order.
    async fn keys_expire_independently(fixture: &StoreFixture) -> TestResult {
        let mut requests = Vec::new();
        for number in 0..30_i64 {
            requests.push((IdempotentRequest { key: number.to_string(), ..request()? }, 100 - number));
        }
        for (request, began) in &requests {
            fixture.run(request, *began, Completion::Responded(response())).await?;
        }
        for (request, began) in requests.iter().rev() {
            fixture.expect_begin(request, began + DAY - 1, BeginOutcome::Replay(response())).await?;
            fixture.reserve(request, began + DAY).await?;
        }
        for (request, _) in &requests {
            fixture.reserve(request, 3 * DAY).await?;
        }
        Ok(())
    }
}

fn request() -> TestResult<IdempotentRequest> {
    Ok(IdempotentRequest {
        namespace: IdempotencyNamespace::Token(lookup(1)?),
        key: "key".into(),
        fingerprint: [1; 32],
    })
}

fn other_request() -> TestResult<IdempotentRequest> {
    Ok(with(request()?, |request| request.fingerprint = [2; 32]))
}

fn other_token() -> TestResult<IdempotentRequest> {
    let namespace = IdempotencyNamespace::Token(lookup(2)?);
    Ok(with(request()?, |request| request.namespace = namespace))
}

fn response() -> StoredResponse {
    StoredResponse {
        status: 201,
        location: Some("/api/v1/threads/7".into()),
        body: Bytes::from_static(b"{\"id\":\"7\"}\0\xff"),
        resource: ResourceIds {
            forum_id: Some(ForumId::from(5)),
            thread_id: ThreadId::parse("thread-7_a").ok(),
            post_id: Some(PostId::from(-9)),
        },
    }
}

impl StoreFixture {
    async fn begin(&self, request: &IdempotentRequest, now: i64) -> TestResult<BeginOutcome> {
        let store = &self.stores.idempotency;
        Ok(store.begin(request, instant(now)).await?)
    }

    async fn reserve(&self, request: &IdempotentRequest, now: i64) -> TestResult<Reservation> {
        match self.begin(request, now).await? {
            BeginOutcome::Reserved(reservation) => Ok(reservation),
            other => {
                let call = format!("begin({request:?}) at {now}");
                let actual = format!("{other:?}");
                Err(TestFailure::mismatch(call, actual, "Reserved"))
            }
        }
    }

    /// Runs a request from its reservation to its completion.
    async fn run(
        &self,
        request: &IdempotentRequest,
        now: i64,
        completion: Completion,
    ) -> TestResult {
        let reservation = self.reserve(request, now).await?;
        self.complete(&reservation, completion).await
    }

    async fn expect_begin(
        &self,
        request: &IdempotentRequest,
        now: i64,
        expected: BeginOutcome,
    ) -> TestResult {
        let actual = self.begin(request, now).await?;
        check_eq!(actual, expected, "begin({request:?}) at {now}")
    }

    async fn complete(&self, reservation: &Reservation, completion: Completion) -> TestResult {
        let store = &self.stores.idempotency;
        Ok(store.complete(reservation, completion).await?)
    }
}
