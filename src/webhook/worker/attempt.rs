//! The road of one attempt.

use std::time::Duration;

use tracing::Span;
use tracing::field::Empty;

use super::crew::Crew;
use super::ledger::Ledger;
use super::tried::Tried;
use crate::host::{Fault, Stored};
use crate::measure;
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

/// Attempts what was claimed and notes how it ended, or gives it back. `may_be_told`: whether its owner may be, which was
/// asked since it was claimed.
pub(super) async fn run(
    crew: &Crew,
    ledger: &Ledger,
    claimed: &Claimed,
    may_be_told: Stored<bool>,
) {
    match attempt(crew, claimed, may_be_told).await {
        Ok(Some(tried)) => settle(crew, ledger, claimed, &tried).await,
        Ok(None) => release(crew, claimed, Duration::ZERO).await,
        Err(fault) => {
            tracing::error!(%fault, "a delivery could not be attempted, and waits");
            release(crew, claimed, RECOVERY).await;
            crew.pause(RECOVERY).await;
        }
    }
}

/// `None` when the worker is to end before anything was sent.
async fn attempt(
    crew: &Crew,
    claimed: &Claimed,
    may_be_told: Stored<bool>,
) -> Stored<Option<Tried>> {
    if claimed.lease_expired {
        return Ok(Some(Tried::lost(claimed, crew.clock.now())));
    }
    if !may_be_told? {
        return Ok(Some(Tried::WITHHELD));
    }
    if crew.stopping() {
        return Ok(None);
    }
    let sealed = claimed.endpoint.secret_at(crew.clock.now());
    let open = async { crew.secrets.open(sealed).map_err(Fault::new) };
    let secret = crew.step(open).await?;
    Ok(Some(send(crew, claimed, &secret).await))
}

async fn send(crew: &Crew, claimed: &Claimed, secret: &Secret) -> Tried {
    let at = crew.clock.now();
    let posted = async {
        let (delivery, event) = (&claimed.delivery.id, &claimed.event);
        let request = Outgoing::signed(&claimed.endpoint, delivery, event, secret, at);
        let answer = crew.transport.post(request.map_err(unsent)?).await;
        answer.map_err(unsent)
    };
    let answer = crew.step(posted).await;
    Tried::sent(claimed, at, crew.clock.now().since(at), answer)
}

fn unsent(Unsent(why): Unsent) -> Fault {
    Fault::new(why)
}

async fn settle(crew: &Crew, ledger: &Ledger, claimed: &Claimed, tried: &Tried) {
    let backoff = &crew.settings.backoff;
    let before = claimed.delivery.progress;
    let progress = before.after(tried.outcome, backoff, crew.clock.now(), crew.random());
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
    let due_at = crew.clock.now().plus(wait);
    let deliveries = &crew.stores.deliveries;
    let released = crew.patiently(|| deliveries.release(std::slice::from_ref(claimed), due_at));
    if released.await.is_none() {
        tracing::error!("a delivery was not given back, which counts as failed");
    }
}

fn note(claimed: &Claimed, tried: &Tried, progress: &Progress) {
    let (span, state) = (Span::current(), progress.state.as_str());
    measure::attempted(claimed.delivery.topic.as_str(), state, tried.took());
    span.record("state", state);
    if let Some(attempted) = &tried.attempted {
        span.record("status", attempted.status);
        span.record("elapsed_ms", attempted.duration_ms);
    }
    tracing::info!("attempted");
}
