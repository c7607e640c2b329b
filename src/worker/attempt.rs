//! An attempt: checks, sending and settlement.

use std::time::Duration;

use tracing::field::Empty;
use tracing::{Span, record_all};

use super::batcher::Batchers;
use super::context::{STORE, WorkerContext};
use crate::audit::{AuditAction, AuditActor};
use crate::error::{BackendError, BackendResult};
use crate::error_chain::ErrorChain;
use crate::mask_secrets::mask_secrets;
use crate::metrics::recorder;
use crate::model::Timestamp;
use crate::store::{ClaimedDelivery, Settlement};
use crate::webhook::{
    AttemptOutcome, AttemptRecord, DeliveryProgress, DeliveryState, ReceiverResponse,
    SignedRequest, TransportError, WebhookSecret, header_lines,
};

/// Delay of a delivery whose attempt could not start. Its slot stays in use for this time, so that other queued deliveries
/// do not call the failed backend at once.
const RECOVERY_DELAY: Duration = Duration::from_secs(5);

/// Creates the span of an attempt. It does not contain the URL, which may contain a secret.
pub(super) fn span(claimed: &ClaimedDelivery) -> Span {
    tracing::info_span!(
        "delivery",
        delivery = %claimed.delivery.id,
        endpoint = %claimed.endpoint.id,
        topic = %claimed.delivery.topic,
        request_id = claimed.event.request_id,
        attempt = claimed.delivery.progress.attempts + 1,
        status = Empty,
        state = Empty,
        elapsed_ms = Empty,
    )
}

pub(super) struct Attempt<'a> {
    pub(super) context: &'a WorkerContext,
    pub(super) batchers: &'a Batchers,
    pub(super) claimed: &'a ClaimedDelivery,
}

impl Attempt<'_> {
    /// Attempts the delivery and settles it, or releases it. `may_receive` is the result of the check of the endpoint's
    /// owner, made after the claim.
    pub(super) async fn run(self, may_receive: BackendResult<bool>) {
        if let Err(error) = self.attempt(may_receive).await {
            tracing::error!(error = %ErrorChain(&error), "delivery attempt not started; rescheduled");
            self.release(RECOVERY_DELAY).await;
            self.context.sleep(RECOVERY_DELAY).await;
        }
    }

    /// Checks the delivery, records that sending begins, and sends the request. Sends only while the lease is valid.
    /// Releases the delivery if the worker stops, or the rest of the lease does not cover the attempt.
    ///
    /// # Errors
    /// If the attempt was not started.
    async fn attempt(&self, may_receive: BackendResult<bool>) -> BackendResult<()> {
        let context = self.context;
        let claimed = self.claimed;
        if claimed.previous_lease_expired {
            self.settle_expired_lease().await;
            return Ok(());
        }
        if !may_receive? {
            self.settle(AttemptOutcome::Withheld, None).await;
            return Ok(());
        }
        let encrypted = claimed.endpoint.secret_at(context.now());
        let decrypt = async {
            let secrets = &context.environment.secret_cipher;
            secrets.decrypt(encrypted, &claimed.endpoint.id).map_err(BackendError::new)
        };
        let secret = match context.with_step_timeout(decrypt).await {
            Ok(secret) => secret,
            Err(error) => {
                self.settle_failed_decryption(&error).await;
                return Ok(());
            }
        };
        if !self.may_send() {
            self.release(Duration::ZERO).await;
            return Ok(());
        }
        if !self.batchers.begin_sending(context, claimed).await? {
            tracing::warn!("lease expired before the attempt; nothing sent");
            return Ok(());
        }
        if !self.may_send() {
            self.release(Duration::ZERO).await;
            return Ok(());
        }
        let (outcome, record) = self.send(secret).await;
        self.settle(outcome, Some(record)).await;
        Ok(())
    }

    /// Returns `true` if the worker is not stopping and the rest of the lease covers the time limit of sending.
    fn may_send(&self) -> bool {
        let context = self.context;
        let ends_by = context.now().saturating_add(context.settings.step_timeout);
        !context.is_stopping() && ends_by <= self.claimed.lease_expires_at
    }

    /// Settles an earlier attempt whose worker began to send and recorded no result.
    async fn settle_expired_lease(&self) {
        let reason = "the lease expired and the worker reported no result";
        let failed = self.failed(TransportError::new(reason));
        self.settle(AttemptOutcome::LeaseExpired, Some(failed)).await;
    }

    /// Settles an attempt whose secret cannot be decrypted. The delay until the next attempt is the age of the delivery, so
    /// that the delays double without a counter. It is at least the first delay and at most the longest delay after an
    /// attempt.
    async fn settle_failed_decryption(&self, error: &BackendError) {
        let now = self.context.now();
        let backoff = self.context.settings.backoff();
        let age = now.saturating_duration_since(self.claimed.delivery.created_at);
        let delay = backoff.bounded(age, self.context.random());
        tracing::warn!(error = %ErrorChain(error), wait = ?delay, "failed to decrypt endpoint secret; delivery rescheduled");
        let record = self.failed(TransportError::not_sent(error));
        self.settle(AttemptOutcome::DecryptionFailed(delay), Some(record)).await;
    }

    /// Sends the request. Drops the secret before the attempt is settled.
    async fn send(&self, secret: WebhookSecret) -> (AttemptOutcome, AttemptRecord) {
        let context = self.context;
        let claimed = self.claimed;
        let at = context.now();
        let delivery = &claimed.delivery.id;
        let event = &claimed.event;
        let request = SignedRequest::sign(&claimed.endpoint, delivery, event, &secret, at);
        let headers = request
            .as_ref()
            .map(|request| header_lines(&request.headers, ReceiverResponse::MAX_HEADERS_LEN))
            .ok();
        let send = async {
            Ok(match request {
                Ok(request) => context.transport.send(request).await,
                Err(error) => Err(error),
            })
        };
        let response = context
            .with_step_timeout(send)
            .await
            .unwrap_or_else(|error| Err(TransportError::new(error.to_string())));
        let mut record = self.record(at, context.now().saturating_duration_since(at));
        record.request_headers = headers;
        let outcome = match response.map(ReceiverResponse::storable) {
            Ok(response) => {
                record.status = Some(response.status);
                record.response_headers = Some(response.headers);
                record.response_excerpt = Some(response.excerpt);
                AttemptOutcome::Responded(response.status)
            }
            Err(error) => {
                let sent = error.sent;
                record.error = Some(error.storable());
                if sent {
                    AttemptOutcome::NoResponse
                } else {
                    record.request_headers = None;
                    AttemptOutcome::NotSent
                }
            }
        };
        (outcome, record)
    }

    fn failed(&self, error: TransportError) -> AttemptRecord {
        AttemptRecord {
            error: Some(error.storable()),
            ..self.record(self.context.now(), Duration::ZERO)
        }
    }

    fn record(&self, at: Timestamp, duration: Duration) -> AttemptRecord {
        AttemptRecord {
            attempt: self.claimed.delivery.progress.attempts + 1,
            started_at: at,
            status: None,
            error: None,
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            response_excerpt: None,
            request_headers: None,
            response_headers: None,
        }
    }

    /// Stores the outcome, with the record for the operator, if one is kept.
    async fn settle(&self, outcome: AttemptOutcome, record: Option<AttemptRecord>) {
        let now = self.context.now();
        let backoff = self.context.settings.backoff();
        let before = self.claimed.delivery.progress;
        let progress = before.after_attempt(outcome, &backoff, now, self.context.random());
        let settlement = Settlement::new(self.claimed, progress, record.clone(), now);
        match self.batchers.settle(self.context, settlement).await {
            Some(true) => {
                self.log(outcome, record, &progress);
                let is_attempted = outcome != AttemptOutcome::LeaseExpired;
                if progress.state == DeliveryState::Dead && is_attempted {
                    self.disable_if_failing(now).await;
                }
            }
            Some(false) => {
                tracing::warn!("attempt result ignored: lease expired or delivery removed");
            }
            None => {
                tracing::error!(
                    "attempt result not recorded yet; counts as failed if its lease ends first"
                );
            }
        }
        if progress.due_at.is_some() {
            self.context.deliveries.notify();
        }
    }

    /// Disables the endpoint after the last attempt of a delivery, if all attempts of the endpoint had already failed for
    /// `disable_after` when this attempt was due.
    ///
    /// The time of the attempt does not decide: a clock that jumps ahead between two attempts would disable an endpoint that has
    /// been failing for seconds. The attempt before set the due time.
    async fn disable_if_failing(&self, now: Timestamp) {
        let context = self.context;
        let endpoint = &self.claimed.endpoint;
        let Some(disable_after) = context.settings.disable_after else {
            return;
        };
        let due_at = self.claimed.delivery.progress.due_at;
        let latest_start = due_at.map(|due_at| due_at.saturating_sub(disable_after));
        let has_failed_for_long = |at: &Timestamp| latest_start.is_some_and(|latest| *at <= latest);
        let Some(failing_since) = endpoint.failing_since.filter(has_failed_for_long) else {
            return;
        };
        let disable = async {
            let random = &*context.environment.random;
            let action = AuditAction::ENDPOINT_DISABLED;
            let audit = AuditActor::SYSTEM
                .entry(random, now, action, &endpoint.id)?
                .with_details(format_args!("all deliveries failed since {failing_since}"));
            let endpoints = &context.stores.endpoints;
            endpoints.disable_if_failing(&endpoint.id, disable_after, now, &audit).await
        };
        match context.with_step_timeout(disable).await {
            Ok(true) => {
                tracing::warn!(endpoint = %endpoint.id, %failing_since, "endpoint disabled: all deliveries failed");
            }
            // Another worker disabled it, or an attempt succeeded meanwhile.
            Ok(false) => {}
            Err(error) => {
                recorder::record_store_error(STORE);
                tracing::warn!(endpoint = %endpoint.id, error = %ErrorChain(&error), "failed to disable endpoint");
            }
        }
    }

    async fn release(&self, delay: Duration) {
        let context = self.context;
        let one = std::slice::from_ref(self.claimed);
        let release = || context.stores.deliveries.release(one, delay, context.now());
        if context.retry_with_backoff(release).await.is_none() {
            tracing::error!("failed to release delivery; waiting for its lease to expire");
        }
    }

    fn log(
        &self,
        outcome: AttemptOutcome,
        record: Option<AttemptRecord>,
        progress: &DeliveryProgress,
    ) {
        use AttemptOutcome::{NoResponse, Responded};
        let span = Span::current();
        let state = progress.state.as_str();
        let was_sent = matches!(outcome, Responded(_) | NoResponse);
        let sent = record.as_ref().filter(|_| was_sent);
        let duration = sent.map(|sent| Duration::from_millis(sent.duration_ms));
        recorder::record_attempt(self.claimed.delivery.topic.as_str(), state, duration);
        span.record("state", state);
        let status = record.as_ref().and_then(|record| record.status);
        let elapsed_ms = record.as_ref().map(|record| record.duration_ms);
        record_all!(span, status = status, elapsed_ms = elapsed_ms);
        let reason = match outcome {
            _ if progress.state == DeliveryState::Delivered => None,
            AttemptOutcome::Withheld => Some("the owner may not receive the event".to_owned()),
            _ => record.map(|record| mask_secrets(&record.result())),
        };
        // The event has the fields of the span, too, for programs without spans.
        macro_rules! log {
            ($level:ident) => {
                tracing::$level!(
                    delivery = %self.claimed.delivery.id,
                    endpoint = %self.claimed.endpoint.id,
                    topic = %self.claimed.delivery.topic,
                    request_id = self.claimed.event.request_id,
                    attempt = self.claimed.delivery.progress.attempts + 1,
                    status,
                    state,
                    elapsed_ms,
                    reason,
                    "delivery attempt completed"
                )
            };
        }
        if progress.state == DeliveryState::Dead {
            log!(warn);
        } else {
            log!(info);
        }
    }
}
