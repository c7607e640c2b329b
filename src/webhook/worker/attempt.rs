//! The road of one attempt.

use std::time::Duration;

use tracing::Span;
use tracing::field::Empty;

use super::audience::may_be_told;
use super::crew::Crew;
use super::tried::Tried;
use crate::host::{Fault, Stored};
use crate::measure;
use crate::store::Claimed;
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

/// Attempts what was claimed and notes how it ended, or gives it back.
pub(super) async fn run(crew: &Crew, claimed: &Claimed) {
    match attempt(crew, claimed).await {
        Ok(Some(tried)) => settle(crew, claimed, &tried).await,
        Ok(None) => release(crew, claimed, Duration::ZERO).await,
        Err(fault) => {
            tracing::error!(%fault, "a delivery could not be attempted, and waits");
            release(crew, claimed, RECOVERY).await;
            crew.pause(RECOVERY).await;
        }
    }
}

/// `None` when the worker is to end before anything was sent.
async fn attempt(crew: &Crew, claimed: &Claimed) -> Stored<Option<Tried>> {
    if claimed.lease_expired {
        return Ok(Some(Tried::lost(claimed, crew.clock.now())));
    }
    let Some(secret) = crew.step(ready(crew, claimed)).await? else {
        return Ok(Some(Tried::WITHHELD));
    };
    if crew.stopping() {
        return Ok(None);
    }
    Ok(Some(send(crew, claimed, &secret).await))
}

/// The secret that signs it; `None` when its owner may not be told any more.
async fn ready(crew: &Crew, claimed: &Claimed) -> Stored<Option<Secret>> {
    let endpoint = &claimed.endpoint;
    let standing = crew.authority.member(&endpoint.owner).await?;
    if !standing.is_some_and(|owner| may_be_told(&owner, &claimed.event)) {
        return Ok(None);
    }
    let sealed = endpoint.secret_at(crew.clock.now());
    crew.secrets.open(sealed).map(Some).map_err(Fault::new)
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

async fn settle(crew: &Crew, claimed: &Claimed, tried: &Tried) {
    let now = crew.clock.now();
    let backoff = &crew.settings.backoff;
    let before = claimed.delivery.progress;
    let progress = before.after(tried.outcome, backoff, now, crew.random());
    let attempted = tried.attempted.as_ref();
    let deliveries = &crew.stores.deliveries;
    let settled = crew.patiently(|| deliveries.settle(claimed, &progress, attempted, now));
    match settled.await {
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
