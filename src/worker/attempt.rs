//! One attempt: checks, sending, settlement.

use std::time::Duration;

use tracing::Span;
use tracing::field::Empty;

use super::attempt_result::Tried;
use super::context::Crew;
use super::dispatch::Batchers;
use super::settlement_batcher::Ledger;
use crate::host::{Fault, Stored};
use crate::metrics::recorder;
use crate::store::{Claimed, Settlement};
use crate::webhook::{Outgoing, Progress, Secret, Unsent};

/// So long a delivery waits, and its slot with it, when it could not be attempted: what failed is not asked again
/// at once for whatever else is queued.
const RECOVERY: Duration = Duration::from_secs(5);

/// The span of an attempt; how it ended is recorded on its way. No URL: it may carry a secret.
pub(super) fn span(claimed: &Claimed) -> Span {
    tracing::info_span!(
        "delivery",
        delivery = %claimed.delivery.id,
        endpoint = %claimed.endpoint.id,
        topic = %claimed.delivery.topic,
        attempt = claimed.delivery.progress.attempts + 1,
        status = Empty,
        state = Empty,
        elapsed_ms = Empty,
    )
}

/// Attempts a claimed delivery and settles it, or returns it to the queue. `may_be_told` is the result of the check of the
/// endpoint's owner, made after the claim.
pub(super) async fn run(
    crew: &Crew,
    batchers: &Batchers,
    claimed: &Claimed,
    may_be_told: Stored<bool>,
) {
    match attempt(crew, batchers, claimed, may_be_told).await {
        Ok(Attempt::Ended(tried)) => settle(crew, &batchers.ledger, claimed, &tried).await,
        Ok(Attempt::NotSent) => release(crew, claimed, Duration::ZERO).await,
        Ok(Attempt::LeaseLost) => {
            tracing::warn!("the lease expired before sending began, and nothing was sent");
        }
        Err(fault) => {
            tracing::error!(%fault, "a delivery could not be attempted, and waits");
            release(crew, claimed, RECOVERY).await;
            crew.pause(RECOVERY).await;
        }
    }
}

/// Result of an attempt.
enum Attempt {
    /// It ended, and its end is settled.
    Ended(Tried),
    /// Nothing was sent: the worker stops, or the rest of the lease does not cover the attempt. The lease is returned.
    NotSent,
    /// Nothing was sent: the lease is another worker's, or was ended.
    LeaseLost,
}

/// Sends within the lease only.
async fn attempt(
    crew: &Crew,
    batchers: &Batchers,
    claimed: &Claimed,
    may_be_told: Stored<bool>,
) -> Stored<Attempt> {
    if claimed.lease_expired {
        let lost = Tried::lost(claimed, crew.environment.clock.now());
        return Ok(Attempt::Ended(lost));
    }
    if !may_be_told? {
        return Ok(Attempt::Ended(Tried::WITHHELD));
    }
    let sealed = claimed.endpoint.secret_at(crew.environment.clock.now());
    let endpoint = &claimed.endpoint.id;
    let open = async {
        crew.environment
            .secrets
            .open(sealed, endpoint)
            .map_err(Fault::new)
    };
    let secret = match crew.step(open).await {
        Ok(secret) => secret,
        Err(fault) => return Ok(Attempt::Ended(postponed(crew, claimed, &fault))),
    };
    let may_send = || !crew.stopping() && is_covered(crew, claimed);
    if !may_send() {
        return Ok(Attempt::NotSent);
    }
    if !batchers.starts.begin(crew, claimed).await? {
        return Ok(Attempt::LeaseLost);
    }
    if !may_send() {
        return Ok(Attempt::NotSent);
    }
    Ok(Attempt::Ended(send(crew, claimed, &secret).await))
}

/// Postpones a delivery whose secret cannot be decrypted. Each wait is as long as the delivery has existed, within the
/// bounds of the backoff, so the waits double without a counter.
fn postponed(crew: &Crew, claimed: &Claimed, fault: &Fault) -> Tried {
    let (now, backoff) = (crew.environment.clock.now(), &crew.settings.backoff);
    let wait = backoff.bounded(now.since(claimed.delivery.created_at), crew.random());
    tracing::warn!(%fault, ?wait, "a delivery waits: the secret of its endpoint cannot be decrypted");
    Tried::postponed(claimed, now, wait, fault)
}

/// Returns whether the rest of the lease covers the time limit of sending.
fn is_covered(crew: &Crew, claimed: &Claimed) -> bool {
    crew.environment.clock.now().plus(crew.settings.step) <= claimed.lease_until
}

async fn send(crew: &Crew, claimed: &Claimed, secret: &Secret) -> Tried {
    let at = crew.environment.clock.now();
    let posted = async {
        let (delivery, event) = (&claimed.delivery.id, &claimed.event);
        let request = Outgoing::signed(&claimed.endpoint, delivery, event, secret, at);
        let answer = crew.transport.post(request.map_err(unsent)?).await;
        answer.map_err(unsent)
    };
    let answer = crew.step(posted).await;
    Tried::sent(claimed, at, crew.environment.clock.now().since(at), answer)
}

fn unsent(Unsent(why): Unsent) -> Fault {
    Fault::new(why)
}

async fn settle(crew: &Crew, ledger: &Ledger, claimed: &Claimed, tried: &Tried) {
    let backoff = &crew.settings.backoff;
    let before = claimed.delivery.progress;
    let progress = before.after(
        tried.outcome,
        backoff,
        crew.environment.clock.now(),
        crew.random(),
    );
    let settlement = Settlement::new(claimed, progress, tried.attempted.clone());
    match ledger.note(crew, settlement).await {
        Some(true) => note(claimed, tried, &progress),
        Some(false) => {
            tracing::warn!("an attempt ended after its lease, or what it was of is away")
        }
        None => tracing::error!("how an attempt ended was not noted, which counts as failed"),
    }
    if progress.due_at.is_some() {
        crew.deliveries.ring();
    }
}

async fn release(crew: &Crew, claimed: &Claimed, wait: Duration) {
    let deliveries = &crew.stores.deliveries;
    let one = std::slice::from_ref(claimed);
    let released = crew.patiently(|| deliveries.release(one, wait, crew.environment.clock.now()));
    if released.await.is_none() {
        tracing::error!(
            "a delivery was not returned to the queue: it waits for the end of its lease"
        );
    }
}

fn note(claimed: &Claimed, tried: &Tried, progress: &Progress) {
    let (span, state) = (Span::current(), progress.state.as_str());
    recorder::record_attempt(claimed.delivery.topic.as_str(), state, tried.took());
    span.record("state", state);
    if let Some(attempted) = &tried.attempted {
        span.record("status", attempted.status);
        span.record("elapsed_ms", attempted.duration_ms);
    }
    tracing::info!("attempted");
}
