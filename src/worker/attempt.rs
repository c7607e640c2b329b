//! One attempt: checks, sending, settlement.

use std::time::Duration;

use tracing::Span;
use tracing::field::Empty;

use super::batcher::Batchers;
use super::context::WorkerContext;
use crate::error::{BackendError, BackendResult};
use crate::metrics::recorder;
use crate::model::Timestamp;
use crate::store::{ClaimedDelivery, Settlement};
use crate::webhook::{
    AttemptOutcome, AttemptRecord, DeliveryProgress, ReceiverResponse, SignedRequest, WebhookSecret,
};

/// How long a delivery waits, and its slot with it, when it could not be attempted: what failed is not called again at
/// once for the other deliveries in the queue.
const RECOVERY: Duration = Duration::from_secs(5);

/// The span of an attempt; how it ended is recorded later. It has no URL, which may contain a secret.
pub(super) fn span(claimed: &ClaimedDelivery) -> Span {
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

/// An attempt at a claimed delivery.
pub(super) struct Attempt<'a> {
    pub(super) context: &'a WorkerContext,
    pub(super) batchers: &'a Batchers,
    pub(super) claimed: &'a ClaimedDelivery,
}

enum Ended {
    /// The attempt ended, and its end is settled.
    Settled(AttemptResult),
    /// Nothing was sent: the worker stops, or the rest of the lease does not cover the attempt. The lease is returned.
    NotSent,
    /// Nothing was sent: the lease is another worker's, or was ended.
    LeaseLost,
}

/// How an attempt ended, and what is kept of it for the operator.
struct AttemptResult {
    outcome: AttemptOutcome,
    record: Option<AttemptRecord>,
}

impl Attempt<'_> {
    /// Attempts the delivery and settles it, or returns it to the queue. `may_receive` is the result of the check of the
    /// endpoint's owner, made after the claim.
    pub(super) async fn run(self, may_receive: BackendResult<bool>) {
        match self.attempt(may_receive).await {
            Ok(Ended::Settled(result)) => self.settle(&result).await,
            Ok(Ended::NotSent) => self.release(Duration::ZERO).await,
            Ok(Ended::LeaseLost) => {
                tracing::warn!("lease expired before the attempt; nothing sent");
            }
            Err(fault) => {
                tracing::error!(error = %fault, "delivery attempt not started; rescheduled");
                self.release(RECOVERY).await;
                self.context.sleep(RECOVERY).await;
            }
        }
    }

    /// Sends within the lease only.
    async fn attempt(&self, may_receive: BackendResult<bool>) -> BackendResult<Ended> {
        let (context, claimed) = (self.context, self.claimed);
        if claimed.lease_expired {
            return Ok(Ended::Settled(self.lease_expired()));
        }
        if !may_receive? {
            return Ok(Ended::Settled(AttemptResult {
                outcome: AttemptOutcome::Withheld,
                record: None,
            }));
        }
        let sealed = claimed.endpoint.secret_at(context.now());
        let open = async {
            let secrets = &context.environment.secrets;
            secrets
                .decrypt(sealed, &claimed.endpoint.id)
                .map_err(BackendError::new)
        };
        let secret = match context.with_step_timeout(open).await {
            Ok(secret) => secret,
            Err(fault) => return Ok(Ended::Settled(self.postponed(&fault))),
        };
        if !self.may_send() {
            return Ok(Ended::NotSent);
        }
        if !self.batchers.begin_sending(context, claimed).await? {
            return Ok(Ended::LeaseLost);
        }
        if !self.may_send() {
            return Ok(Ended::NotSent);
        }
        Ok(Ended::Settled(self.send(&secret).await))
    }

    /// Whether the worker goes on, and the rest of the lease covers the time limit of sending.
    fn may_send(&self) -> bool {
        let ends_by = self
            .context
            .now()
            .saturating_add(self.context.settings.step_timeout);
        !self.context.is_stopping() && ends_by <= self.claimed.lease_until
    }

    /// The worker of an earlier attempt began to send, and never recorded the end.
    fn lease_expired(&self) -> AttemptResult {
        let why = "the lease expired and the worker reported no result";
        AttemptResult {
            outcome: AttemptOutcome::LeaseExpired,
            record: Some(self.not_sent(why.into())),
        }
    }

    /// Postpones a delivery whose secret cannot be decrypted. Each wait is as long as the delivery has existed, within the
    /// bounds of the backoff, so the waits double without a counter.
    fn postponed(&self, fault: &BackendError) -> AttemptResult {
        let (now, backoff) = (self.context.now(), &self.context.settings.backoff);
        let age = now.saturating_duration_since(self.claimed.delivery.created_at);
        let wait = backoff.bounded(age, self.context.random());
        tracing::warn!(error = %fault, ?wait, "failed to decrypt endpoint secret; delivery rescheduled");
        AttemptResult {
            outcome: AttemptOutcome::Postponed(wait),
            record: Some(self.not_sent(format!("not sent: {fault}"))),
        }
    }

    async fn send(&self, secret: &WebhookSecret) -> AttemptResult {
        let (context, claimed) = (self.context, self.claimed);
        let at = context.now();
        let sent = async {
            let (delivery, event) = (&claimed.delivery.id, &claimed.event);
            let request = SignedRequest::sign(&claimed.endpoint, delivery, event, secret, at);
            let answer = context
                .transport
                .send(request.map_err(BackendError::new)?)
                .await;
            answer.map_err(BackendError::new)
        };
        let answer = context.with_step_timeout(sent).await;
        let mut record = self.record(at, context.now().saturating_duration_since(at));
        let outcome = match answer {
            Ok(answer) => {
                record.status = Some(answer.status);
                record.response_excerpt = Some(ReceiverResponse::truncate_excerpt(answer.excerpt));
                AttemptOutcome::Responded(answer.status)
            }
            Err(fault) => {
                record.error = Some(ReceiverResponse::truncate_excerpt(fault.to_string()));
                AttemptOutcome::NoResponse
            }
        };
        AttemptResult {
            outcome,
            record: Some(record),
        }
    }

    fn not_sent(&self, why: String) -> AttemptRecord {
        AttemptRecord {
            error: Some(ReceiverResponse::truncate_excerpt(why)),
            ..self.record(self.context.now(), Duration::ZERO)
        }
    }

    fn record(&self, at: Timestamp, took: Duration) -> AttemptRecord {
        AttemptRecord {
            attempt: self.claimed.delivery.progress.attempts + 1,
            at,
            status: None,
            error: None,
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            response_excerpt: None,
        }
    }

    async fn settle(&self, result: &AttemptResult) {
        let (now, backoff) = (self.context.now(), &self.context.settings.backoff);
        let before = self.claimed.delivery.progress;
        let progress = before.after_attempt(result.outcome, backoff, now, self.context.random());
        let settlement = Settlement::new(self.claimed, progress, result.record.clone());
        match self.batchers.settle(self.context, settlement).await {
            Some(true) => self.log(result, &progress),
            Some(false) => {
                tracing::warn!("attempt result ignored: lease expired or delivery removed");
            }
            None => {
                tracing::error!("attempt result not recorded; counts as failed");
            }
        }
        if progress.due_at.is_some() {
            self.context.deliveries.notify();
        }
    }

    async fn release(&self, wait: Duration) {
        let (context, one) = (self.context, std::slice::from_ref(self.claimed));
        let release = || context.stores.deliveries.release(one, wait, context.now());
        if context.retry_with_backoff(release).await.is_none() {
            tracing::error!("failed to release delivery; waiting for its lease to expire");
        }
    }

    fn log(&self, result: &AttemptResult, progress: &DeliveryProgress) {
        let (span, state) = (Span::current(), progress.state.as_str());
        let was_sent = matches!(
            result.outcome,
            AttemptOutcome::Responded(_) | AttemptOutcome::NoResponse
        );
        let sent = result.record.as_ref().filter(|_| was_sent);
        let took = sent.map(|sent| Duration::from_millis(sent.duration_ms));
        recorder::record_attempt(self.claimed.delivery.topic.as_str(), state, took);
        span.record("state", state);
        if let Some(record) = &result.record {
            span.record("status", record.status);
            span.record("elapsed_ms", record.duration_ms);
        }
        tracing::info!("delivery attempt completed");
    }
}
