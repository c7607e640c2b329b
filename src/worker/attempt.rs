//! One attempt: checks, sending, settlement.

use std::time::Duration;

use tracing::Span;
use tracing::field::Empty;

use super::batcher::Batchers;
use super::context::WorkerContext;
use crate::host::{Fault, Stored};
use crate::measure;
use crate::model::Timestamp;
use crate::store::{Claimed, Settlement};
use crate::webhook::{Answer, Attempted, Outcome, Outgoing, Progress, Secret, Unsent};

/// How long a delivery waits, and its slot with it, when it could not be attempted: what failed is not called again at
/// once for the other deliveries in the queue.
const RECOVERY: Duration = Duration::from_secs(5);

/// The span of an attempt; how it ended is recorded later. It has no URL, which may contain a secret.
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

/// Attempts a claimed delivery and settles it, or returns it to the queue. `may_receive` is the result of the check of
/// the endpoint's owner, made after the claim.
pub(super) async fn run(
    context: &WorkerContext,
    batchers: &Batchers,
    claimed: &Claimed,
    may_receive: Stored<bool>,
) {
    match attempt(context, batchers, claimed, may_receive).await {
        Ok(Attempt::Ended(result)) => settle(context, batchers, claimed, &result).await,
        Ok(Attempt::NotSent) => release(context, claimed, Duration::ZERO).await,
        Ok(Attempt::LeaseLost) => {
            tracing::warn!("the lease expired before sending began, and nothing was sent");
        }
        Err(fault) => {
            tracing::error!(%fault, "a delivery could not be attempted, and waits");
            release(context, claimed, RECOVERY).await;
            context.sleep(RECOVERY).await;
        }
    }
}

enum Attempt {
    /// It ended, and its end is settled.
    Ended(AttemptResult),
    /// Nothing was sent: the worker stops, or the rest of the lease does not cover the attempt. The lease is returned.
    NotSent,
    /// Nothing was sent: the lease is another worker's, or was ended.
    LeaseLost,
}

/// How an attempt ended, and what is kept of it for the operator.
struct AttemptResult {
    outcome: Outcome,
    record: Option<Attempted>,
}

/// Sends within the lease only.
async fn attempt(
    context: &WorkerContext,
    batchers: &Batchers,
    claimed: &Claimed,
    may_receive: Stored<bool>,
) -> Stored<Attempt> {
    if claimed.lease_expired {
        return Ok(Attempt::Ended(lease_expired(context, claimed)));
    }
    if !may_receive? {
        return Ok(Attempt::Ended(AttemptResult {
            outcome: Outcome::Withheld,
            record: None,
        }));
    }
    let sealed = claimed.endpoint.secret_at(context.clock.now());
    let endpoint = &claimed.endpoint.id;
    let open = async { context.secrets.open(sealed, endpoint).map_err(Fault::new) };
    let secret = match context.with_step_timeout(open).await {
        Ok(secret) => secret,
        Err(fault) => return Ok(Attempt::Ended(postponed(context, claimed, &fault))),
    };
    let may_send = || !context.is_stopping() && is_covered(context, claimed);
    if !may_send() {
        return Ok(Attempt::NotSent);
    }
    if !batchers.begin_sending(context, claimed).await? {
        return Ok(Attempt::LeaseLost);
    }
    if !may_send() {
        return Ok(Attempt::NotSent);
    }
    Ok(Attempt::Ended(send(context, claimed, &secret).await))
}

/// Returns whether the rest of the lease covers the time limit of sending.
fn is_covered(context: &WorkerContext, claimed: &Claimed) -> bool {
    context.clock.now().plus(context.settings.step) <= claimed.lease_until
}

/// An attempt whose worker began to send, and never recorded the end.
fn lease_expired(context: &WorkerContext, claimed: &Claimed) -> AttemptResult {
    AttemptResult {
        outcome: Outcome::LeaseExpired,
        record: Some(Attempted {
            error: Some("the worker that had it never said how it ended".into()),
            ..record(claimed, context.clock.now(), Duration::ZERO)
        }),
    }
}

/// Postpones a delivery whose secret cannot be decrypted. Each wait is as long as the delivery has existed, within the
/// bounds of the backoff, so the waits double without a counter.
fn postponed(context: &WorkerContext, claimed: &Claimed, fault: &Fault) -> AttemptResult {
    let (now, backoff) = (context.clock.now(), &context.settings.backoff);
    let wait = backoff.bounded(now.since(claimed.delivery.created_at), context.random());
    tracing::warn!(%fault, ?wait, "a delivery waits: the secret of its endpoint cannot be decrypted");
    AttemptResult {
        outcome: Outcome::Postponed(wait),
        record: Some(Attempted {
            error: Some(Answer::excerpt_of(format!("nothing was sent: {fault}"))),
            ..record(claimed, now, Duration::ZERO)
        }),
    }
}

async fn send(context: &WorkerContext, claimed: &Claimed, secret: &Secret) -> AttemptResult {
    let at = context.clock.now();
    let sent = async {
        let (delivery, event) = (&claimed.delivery.id, &claimed.event);
        let request = Outgoing::signed(&claimed.endpoint, delivery, event, secret, at);
        let answer = context
            .transport
            .post(request.map_err(transport_error)?)
            .await;
        answer.map_err(transport_error)
    };
    let answer = context.with_step_timeout(sent).await;
    let mut record = record(claimed, at, context.clock.now().since(at));
    let outcome = match answer {
        Ok(answer) => {
            record.status = Some(answer.status);
            record.answer = Some(Answer::excerpt_of(answer.excerpt));
            Outcome::Answered(answer.status)
        }
        Err(fault) => {
            record.error = Some(Answer::excerpt_of(fault.to_string()));
            Outcome::Unanswered
        }
    };
    AttemptResult {
        outcome,
        record: Some(record),
    }
}

fn transport_error(Unsent(why): Unsent) -> Fault {
    Fault::new(why)
}

fn record(claimed: &Claimed, at: Timestamp, took: Duration) -> Attempted {
    Attempted {
        attempt: claimed.delivery.progress.attempts + 1,
        at,
        status: None,
        error: None,
        duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        answer: None,
    }
}

async fn settle(
    context: &WorkerContext,
    batchers: &Batchers,
    claimed: &Claimed,
    result: &AttemptResult,
) {
    let (now, backoff) = (context.clock.now(), &context.settings.backoff);
    let before = claimed.delivery.progress;
    let progress = before.after(result.outcome, backoff, now, context.random());
    let settlement = Settlement::new(claimed, progress, result.record.clone());
    match batchers.settle(context, settlement).await {
        Some(true) => log_attempt(claimed, result, &progress),
        Some(false) => {
            tracing::warn!("an attempt ended after its lease, or its delivery was removed");
        }
        None => tracing::error!("the end of an attempt was not recorded, which counts as failed"),
    }
    if progress.due_at.is_some() {
        context.deliveries.notify();
    }
}

async fn release(context: &WorkerContext, claimed: &Claimed, wait: Duration) {
    let (deliveries, one) = (&context.stores.deliveries, std::slice::from_ref(claimed));
    let released =
        context.retry_with_backoff(|| deliveries.release(one, wait, context.clock.now()));
    if released.await.is_none() {
        tracing::error!(
            "a delivery was not returned to the queue: it waits for the end of its lease"
        );
    }
}

fn log_attempt(claimed: &Claimed, result: &AttemptResult, progress: &Progress) {
    let (span, state) = (Span::current(), progress.state.as_str());
    let was_sent = matches!(result.outcome, Outcome::Answered(_) | Outcome::Unanswered);
    let sent = result.record.as_ref().filter(|_| was_sent);
    let took = sent.map(|sent| Duration::from_millis(sent.duration_ms));
    measure::attempted(claimed.delivery.topic.as_str(), state, took);
    span.record("state", state);
    if let Some(record) = &result.record {
        span.record("status", record.status);
        span.record("elapsed_ms", record.duration_ms);
    }
    tracing::info!("attempted");
}
