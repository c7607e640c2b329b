//! Shared values, databases and helpers.

use std::error::Error;
use std::fmt::Debug;
use std::iter;
use std::path::PathBuf;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use forum_api::host::OverloadedError;
use forum_api::model::{EndpointId, EventId, ForumId, Timestamp};
use forum_api::store::sqlite::rusqlite::Connection;
use forum_api::store::sqlite::{Database, DatabasePath, SqliteError};
use forum_api::store::{
    ClaimBatch, ClaimRequest, FanOut, IdempotencyNamespace, IdempotentRequest, WebhookStores,
};
use forum_api::test_util::{self, audit_entry, claim_request};
use forum_api::token::Lookup;
use forum_api::webhook::{DeliveryProgress, DeliveryState, Endpoint, Event, Topic};
use tempfile::TempDir;

/// Time limit for operations that never end if they are broken.
pub(crate) const TEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Length of the leases of [`claim`], in milliseconds.
pub(crate) const LEASE: i64 = 60_000;

/// Returns the progress after the first attempt, which ended the delivery in this state.
pub(crate) fn ended(state: DeliveryState) -> DeliveryProgress {
    let mut progress = DeliveryProgress::queued(at(0));
    (progress.state, progress.attempts, progress.due_at) = (state, 1, None);
    progress
}

pub(crate) fn block_on(test: impl Future<Output = ()>) {
    tokio::runtime::Runtime::new().unwrap().block_on(test);
}

/// Returns the path of the database in `directory`.
pub(crate) fn path(directory: &TempDir) -> PathBuf {
    directory.path().join("forum.db")
}

/// Begins a write as another process. Other writes wait until the connection is dropped.
pub(crate) fn hold_write(directory: &TempDir) -> Connection {
    let connection = Connection::open(path(directory)).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    connection
}

pub(crate) fn file(path: PathBuf, create: bool) -> DatabasePath {
    DatabasePath::File { path, create }
}

/// Opens or creates the database in `directory`.
pub(crate) fn open(directory: &TempDir) -> Database {
    Database::open(&file(path(directory), true)).unwrap()
}

pub(crate) fn temp_database() -> (TempDir, Database) {
    let directory = tempfile::tempdir().unwrap();
    let database = open(&directory);
    (directory, database)
}

/// Asserts that an operation did not run for this reason, and that the client can repeat it.
#[track_caller]
pub(crate) fn assert_overloaded<T: Debug>(result: Result<T, impl Error>, reason: &str) {
    let error = result.unwrap_err();
    assert_eq!(error.to_string(), reason);
    let mut sources = iter::successors(error.source(), |&source| source.source());
    let expected = OverloadedError::new(Duration::from_secs(1));
    assert!(sources.any(|source| source.downcast_ref() == Some(&expected)), "{error}");
}

pub(crate) async fn execute(database: &Database, sql: &'static str) {
    database
        .write(move |savepoint| Ok::<_, SqliteError>(savepoint.execute_batch(sql)?))
        .await
        .unwrap();
}

pub(crate) fn lookup(number: u64) -> Lookup {
    Lookup::parse(&format!("{number:016}")).unwrap()
}

/// Returns the time `millis` milliseconds after the start of the tests.
pub(crate) fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(1_767_225_600_000 + millis)
}

pub(crate) fn keyed_request(key: &str) -> IdempotentRequest {
    IdempotentRequest {
        namespace: IdempotencyNamespace::Token(lookup(1)),
        key: key.into(),
        fingerprint: [1; 32],
    }
}

pub(crate) fn endpoint(number: u64) -> Endpoint {
    let mut endpoint = test_util::endpoint();
    endpoint.id = EndpointId::parse(&format!("whe_{number}")).unwrap();
    endpoint.created_at = at(0);
    endpoint
}

pub(crate) fn event(number: u64) -> Event {
    Event {
        id: EventId::parse(&format!("evt_{number}")).unwrap(),
        topic: Topic::POST_CREATED,
        occurred_at: at(-7),
        forum_id: Some(ForumId::from(4)),
        request_id: Some("7f3a".into()),
        body: "{\"a\":\"'é\"}".into(),
    }
}

pub(crate) fn claim(limit: u32, per_endpoint: u32) -> ClaimRequest {
    ClaimRequest { max_in_flight_per_endpoint: per_endpoint, ..claim_request(limit) }
}

/// Claims all due deliveries.
pub(crate) async fn claim_all(webhooks: &WebhookStores, now: Timestamp) -> ClaimBatch {
    webhooks.deliveries().claim(&claim(99, 99), now).await.unwrap()
}

pub(crate) fn fan_out(event: &EventId, endpoints: &[Endpoint]) -> FanOut {
    FanOut {
        event_id: event.clone(),
        endpoint_ids: endpoints.iter().map(|one| one.id.clone()).collect(),
        stays_in_feed: false,
    }
}

pub(crate) async fn add(webhooks: &WebhookStores, endpoints: &[Endpoint]) {
    for endpoint in endpoints {
        assert!(webhooks.endpoints().add(endpoint, &audit_entry()).await.unwrap());
    }
}

/// Queues the events for all endpoints.
pub(crate) async fn queue(
    webhooks: &WebhookStores,
    events: impl IntoIterator<Item = Event>,
    endpoints: &[Endpoint],
) {
    let mut fan_outs = Vec::new();
    for event in events {
        webhooks.insert_event(&event).await.unwrap();
        fan_outs.push(fan_out(&event.id, endpoints));
    }
    webhooks.outbox().fan_out(&fan_outs, at(0)).await.unwrap();
}

/// Polls the future once, and returns whether it is pending.
pub(crate) async fn is_pending<F: Future + Unpin>(future: &mut F) -> bool {
    std::future::poll_fn(|context| Poll::Ready(Pin::new(&mut *future).poll(context).is_pending()))
        .await
}
