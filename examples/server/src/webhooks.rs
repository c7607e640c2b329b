//! Administration of webhooks, and the worker that sends them.

use std::sync::Arc;
use std::time::Duration;

use forum_api::Environment;
use forum_api::host::{BoardError, BoardResult, OrInternal};
use forum_api::model::EndpointId;
use forum_api::webhook::{AddressError, AllowedAddresses, KeyId, KeyMismatchError, Topic};
use forum_api::webhook_admin::{WebhookAdmin, WebhookAdminError};
use forum_api::worker::{Worker, WorkerHandle, WorkerSettings};

use crate::board::ReferenceBoard;
use crate::board::db::BoardDatabase;
use crate::options::RetryOptions;
use crate::shutdown::Shutdown;

/// Minimum ratio of the time limit of a step to the time limit of an attempt. An attempt must end before its step.
const STEP_FACTOR: f64 = 1.5;

const ADDRESS_REMEDY: &str = "pass --allow-private-webhooks to allow it";

/// Returns the administration of endpoints and deliveries.
pub fn admin(
    database: &BoardDatabase,
    environment: &Environment,
    allowed: AllowedAddresses,
) -> WebhookAdmin {
    WebhookAdmin::new(database.webhooks(), environment)
        .allowed_addresses(allowed)
        .address_remedy(ADDRESS_REMEDY)
}

/// Starts a worker over the webhooks of the board.
pub fn start(
    board: &ReferenceBoard,
    environment: &Environment,
    allowed: AllowedAddresses,
    retries: &RetryOptions,
) -> BoardResult<WorkerHandle> {
    let worker = Worker::builder(board.database.webhooks(), Arc::new(board.clone()), environment)
        .settings(worker_settings(allowed, retries))
        .build()
        .or_internal()?;
    Ok(worker.start())
}

fn worker_settings(allowed: AllowedAddresses, retries: &RetryOptions) -> WorkerSettings {
    let keep = retries.webhook_retention;
    let mut settings = WorkerSettings::default();
    settings.initial_backoff = retries.webhook_initial_backoff;
    settings.max_backoff = retries.webhook_max_backoff;
    let step_timeout = retries.webhook_timeout.mul_f64(STEP_FACTOR);
    settings.step_timeout = settings.step_timeout.max(step_timeout);
    settings.allowed_addresses = allowed;
    settings.attempt_timeout = retries.webhook_timeout;
    settings.max_in_flight = retries.webhook_concurrency;
    settings.max_in_flight_per_endpoint = retries.webhook_endpoint_concurrency;
    settings.retention = keep;
    settings.event_retention = retries.event_retention;
    settings.dead_retention = retries.webhook_dead_retention;
    let shortest = [Some(keep), Some(retries.event_retention), retries.webhook_dead_retention]
        .into_iter()
        .flatten()
        .filter(|time| !time.is_zero())
        .min()
        .unwrap_or_default()
        .max(Duration::from_secs(1));
    settings.sweep_interval = settings.sweep_interval.min(shortest);
    settings
}

/// Stops a worker. Attempts that are cut off count as failed when their lease ends.
pub async fn stop(worker: &WorkerHandle, shutdown: &Shutdown) {
    shutdown.drain("webhooks", worker.stop()).await;
}

/// Returns the topics to which an endpoint can subscribe.
pub fn topic_names() -> String {
    let names: Vec<_> = Topic::STANDARD.iter().map(Topic::to_string).collect();
    names.join(", ")
}

/// Error of an id that no endpoint has.
pub fn unknown_endpoint(id: &EndpointId) -> BoardError {
    BoardError::not_found(format!("unknown endpoint \"{id}\""))
}

/// Converts the error of an operation on the endpoint `id` for the operator.
pub fn refusal_for(id: &EndpointId, error: WebhookAdminError) -> BoardError {
    match error {
        WebhookAdminError::EndpointNotFound => unknown_endpoint(id),
        other => refusal(other),
    }
}

/// Converts an error for the operator: adds the option or the command that helps.
pub fn refusal(error: WebhookAdminError) -> BoardError {
    match error {
        WebhookAdminError::Backend(source) => BoardError::Internal(source),
        WebhookAdminError::Address(private @ AddressError::Private { .. }) => {
            BoardError::validation("url", format!("{private}; {ADDRESS_REMEDY}"))
        }
        WebhookAdminError::UnknownTopic(unknown) => {
            let known = topic_names();
            BoardError::validation("topics", format!("{unknown}; expected `*` or {known}"))
        }
        WebhookAdminError::Key(mismatch) => key_refusal(&mismatch, "--secret-key-file"),
        WebhookAdminError::NoPendingSecret => {
            BoardError::validation("secret", format!("{error}; run `webhook rotate` to create one"))
        }
        other => BoardError::validation("endpoint", other.to_string()),
    }
}

/// Converts the error of a wrong key for the operator, who can name the file of the right key with `option`.
pub fn key_refusal(mismatch: &KeyMismatchError, option: &str) -> BoardError {
    let remedy = if mismatch.stored == KeyId::plaintext() {
        "run `webhook reencrypt --new-key-file FILE` to encrypt them"
    } else {
        &format!("pass the file of the correct key with {option}")
    };
    BoardError::validation("key", format!("{mismatch}; {remedy}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RETRIES: RetryOptions = RetryOptions {
        webhook_initial_backoff: Duration::from_secs(1),
        webhook_max_backoff: Duration::from_secs(2),
        webhook_timeout: Duration::from_secs(3),
        webhook_retention: Duration::ZERO,
        webhook_dead_retention: None,
        event_retention: Duration::ZERO,
        webhook_concurrency: 5,
        webhook_endpoint_concurrency: 4,
    };

    #[test]
    fn a_worker_has_the_settings_of_its_options() {
        let seconds = Duration::from_secs;
        let retries = RetryOptions {
            webhook_retention: seconds(9),
            webhook_dead_retention: Some(seconds(7)),
            event_retention: seconds(8),
            ..RETRIES
        };
        let settings = worker_settings(AllowedAddresses::Private, &retries);
        assert_eq!(settings.allowed_addresses, AllowedAddresses::Private);
        assert_eq!([settings.max_in_flight, settings.max_in_flight_per_endpoint], [5, 4]);
        assert_eq!(settings.dead_retention, Some(seconds(7)));
        assert_eq!(
            [
                settings.initial_backoff,
                settings.max_backoff,
                settings.attempt_timeout,
                settings.retention,
                settings.event_retention,
            ],
            [1, 2, 3, 9, 8].map(seconds)
        );
    }

    #[test]
    fn a_step_is_longer_than_an_attempt_and_sweeps_are_as_frequent_as_the_shortest_retention() {
        let seconds = Duration::from_secs;
        for (timeout, keep, dead, event, expected) in [
            (3, 0, None, 0, [15, 1]),
            (10, 604_800, None, 86_400, [15, 3600]),
            (12, 604_800, None, 0, [18, 3600]),
            (60, 90, None, 0, [90, 90]),
            (60, 90, Some(60), 80, [90, 60]),
            (60, 90, Some(0), 80, [90, 80]),
        ] {
            let retries = RetryOptions {
                webhook_timeout: seconds(timeout),
                webhook_retention: seconds(keep),
                webhook_dead_retention: dead.map(seconds),
                event_retention: seconds(event),
                ..RETRIES
            };
            let settings = worker_settings(AllowedAddresses::Public, &retries);
            let found = [settings.step_timeout, settings.sweep_interval];
            assert_eq!(found, expected.map(seconds), "{retries:?}");
        }
    }
}
