//! Settings of a worker.

use std::time::Duration;

use crate::build_error::BuildError;
use crate::model::{DAY, HOUR};
use crate::webhook::{AllowedAddresses, Backoff, HttpTransportSettings};

/// Settings of a [`Worker`](super::Worker). [`WorkerBuilder::build`](super::WorkerBuilder::build) rejects values out of
/// bounds.
///
/// The fields `allowed_addresses`, `connect_timeout`, `attempt_timeout`, `idle_timeout` and `extra_roots_pem` are for the
/// connections to receivers. A [`transport`](super::WorkerBuilder::transport) of the host ignores them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WorkerSettings {
    /// Delay before the second attempt of a delivery, at least 1 ms. Each further attempt doubles it, and jitter adds up to
    /// 20 %, up to [`max_backoff`](Self::max_backoff). Default: 30 s.
    pub initial_backoff: Duration,
    /// Longest delay before an attempt, jitter included, at least 1 ms. Default: 1 hour, which the default
    /// [`initial_backoff`](Self::initial_backoff) does not reach.
    pub max_backoff: Duration,
    /// Largest number of concurrent attempts, at least 1. Endpoints whose last attempt failed or took longer
    /// than a second share at most half of them. Default: 256.
    pub max_in_flight: u32,
    /// Largest number of concurrent attempts for one endpoint, at least 1. Default: 4.
    pub max_in_flight_per_endpoint: u32,
    /// Longest pause before the worker looks for new events and due deliveries again, at least 1 ms. After an error the
    /// pause grows to at most 30 s. Default: 1 s.
    pub poll_interval: Duration,
    /// Time limit of each step of an attempt: checking the owner, decrypting the secret, recording the start of
    /// sending, sending, recording the result. It is also the time limit of every other call to a store. At least 1 ms.
    /// `build` rejects a value that is not longer than [`attempt_timeout`](Self::attempt_timeout). With a transport of the host,
    /// make it longer than the timeout of that transport, which `build` cannot check. Default: 15 s.
    pub step_timeout: Duration,
    /// Time for which delivered, gone and withheld deliveries are kept after they reach this state. Default: 7 days.
    pub retention: Duration,
    /// Time for which events stay in the [feed](crate::event_feed) after their fan-out; 0 for a board without a feed, whose
    /// events are removed with their last delivery. Default: 0.
    pub event_retention: Duration,
    /// Age at which dead deliveries are removed, measured from the time at which they were first queued, or from the
    /// correction of a time in the future. `None` keeps dead deliveries until an operator retries or removes them. Default:
    /// `None`.
    pub dead_retention: Option<Duration>,
    /// Time for which all attempts of an endpoint must have failed when the last attempt of a delivery is due, so that the
    /// worker disables the endpoint when this attempt fails; `None` to never disable an endpoint. Default: 5 days.
    pub disable_after: Option<Duration>,
    /// Time between two sweeps that remove old deliveries, at least 1 ms. Default: 1 hour.
    pub sweep_interval: Duration,
    /// Addresses to which the worker may connect. An attempt to another address fails without a request. Pass the same
    /// value to `WebhookAdmin::allowed_addresses`. Default: [`AllowedAddresses::Public`].
    pub allowed_addresses: AllowedAddresses,
    /// Timeout of name resolution, TCP connection and TLS handshake together. Default: 5 s.
    pub connect_timeout: Duration,
    /// Timeout of name resolution, connection, request and response together. The status line and the headers must arrive
    /// within it. If it expires while the body is read, the part that has arrived is used. `build` rejects a value that is
    /// not shorter than [`step_timeout`](Self::step_timeout), unless a transport is set. Default: 10 s.
    pub attempt_timeout: Duration,
    /// Time for which an idle connection is kept for the next attempt to the same host and address. Keep it shorter
    /// than the idle timeout of the receivers. Zero disables the reuse of connections. A value above a day counts as a day.
    /// Default: 3 s.
    pub idle_timeout: Duration,
    /// Root certificates in PEM that are trusted in addition to the system's. `build` rejects a text without a certificate or
    /// with an invalid one, unless a transport is set. Default: empty.
    pub extra_roots_pem: String,
}

impl Default for WorkerSettings {
    fn default() -> Self {
        let backoff = Backoff::default();
        let http = HttpTransportSettings::default();
        Self {
            initial_backoff: backoff.initial,
            max_backoff: backoff.max,
            max_in_flight: 256,
            max_in_flight_per_endpoint: 4,
            poll_interval: Duration::from_secs(1),
            step_timeout: Duration::from_secs(15),
            retention: DAY * 7,
            event_retention: Duration::ZERO,
            dead_retention: None,
            disable_after: Some(DAY * 5),
            sweep_interval: HOUR,
            allowed_addresses: http.allowed_addresses,
            connect_timeout: http.connect_timeout,
            attempt_timeout: http.attempt_timeout,
            idle_timeout: http.idle_timeout,
            extra_roots_pem: http.extra_roots_pem,
        }
    }
}

impl WorkerSettings {
    pub(super) fn validate(&self) -> Result<(), BuildError> {
        BuildError::require_duration("initial_backoff", self.initial_backoff)?;
        BuildError::require_duration("max_backoff", self.max_backoff)?;
        BuildError::require_positive("max_in_flight", self.max_in_flight)?;
        let per_endpoint = self.max_in_flight_per_endpoint;
        BuildError::require_positive("max_in_flight_per_endpoint", per_endpoint)?;
        BuildError::require_duration("poll_interval", self.poll_interval)?;
        BuildError::require_duration("step_timeout", self.step_timeout)?;
        BuildError::require_duration("sweep_interval", self.sweep_interval)
    }

    /// Largest number of concurrent attempts to endpoints whose last attempt failed or took longer than a second: half
    /// of [`max_in_flight`](Self::max_in_flight), but at least 1.
    pub(super) fn max_impaired(&self) -> u32 {
        (self.max_in_flight / 2).max(1)
    }

    /// Delays between the attempts of a delivery.
    pub(super) fn backoff(&self) -> Backoff {
        Backoff { initial: self.initial_backoff, max: self.max_backoff }
    }

    /// Settings of the default transport.
    pub(super) fn http(&self) -> HttpTransportSettings {
        HttpTransportSettings {
            allowed_addresses: self.allowed_addresses,
            connect_timeout: self.connect_timeout,
            attempt_timeout: self.attempt_timeout,
            idle_timeout: self.idle_timeout,
            extra_roots_pem: self.extra_roots_pem.clone(),
        }
    }

    /// Duration of a lease: four times [`step_timeout`](Self::step_timeout), 60 s by default. The worker begins to send
    /// only if at least one `step_timeout` remains until the lease expires. After a crash of a worker, its claimed
    /// deliveries are due again when their leases expire.
    pub fn lease_duration(&self) -> Duration {
        self.step_timeout.saturating_mul(4)
    }
}
