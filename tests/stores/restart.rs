//! Contents of a SQLite database after a restart, and after the death of a worker.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use bytes::Bytes;
use forum_api::model::UserId;
use forum_api::store::sqlite::{Database, SqliteError};
use forum_api::store::{
    BeginOutcome, Completion, ResourceIds, StoredResponse, Stores, WebhookStores,
};
use forum_api::token::{SecretDigest, TokenRecord};

use crate::fixture::{
    LEASE, add, at, attempt, claim, endpoint, event, file, lookup, open, path, queue,
};

#[tokio::test]
async fn tokens_and_responses_survive_a_restart_and_an_interrupted_request_is_unknown() {
    let directory = tempfile::tempdir().unwrap();
    let token = TokenRecord {
        lookup: lookup(1),
        digest: SecretDigest::new([7; 32]),
        owner: UserId::from(3),
        label: "laptop".into(),
        scopes: ["forums:read".to_owned()].into(),
        created_at: at(0),
        expires_at: None,
        revoked_at: None,
        last_used_at: Some(at(5)),
    };
    let kept = StoredResponse {
        status: 201,
        location: None,
        body: Bytes::from_static(b"{}"),
        resource: ResourceIds::default(),
    };
    let database = open(&directory);
    let before = Stores::in_sqlite(&database);
    before.tokens.create(&token).await.unwrap();
    before
        .tokens
        .record_use(&lookup(1), at(90_000))
        .await
        .unwrap();
    for key in ["answered", "cut"] {
        let begun = before.idempotency.begin(&attempt(key), at(0)).await;
        let Ok(BeginOutcome::Reserved(ticket)) = begun else {
            panic!("{begun:?}");
        };
        if key == "answered" {
            let outcome = Completion::Responded(kept.clone());
            before.idempotency.complete(&ticket, outcome).await.unwrap();
        }
    }
    database.close().await;

    let after = Stores::in_sqlite(&open(&directory));
    let token = TokenRecord {
        last_used_at: Some(at(90_000)),
        ..token
    };
    assert_eq!(after.tokens.find(&lookup(1)).await.unwrap(), Some(token));
    for (key, now, expected) in [
        ("answered", 59_999, BeginOutcome::Replay(kept)),
        ("cut", 59_999, BeginOutcome::InProgress),
        ("cut", 60_000, BeginOutcome::OutcomeUnknown),
    ] {
        let begin = after.idempotency.begin(&attempt(key), at(now)).await;
        assert_eq!(begin.unwrap(), expected, "{key} at {now}");
    }
}

#[tokio::test]
async fn expired_keys_are_deleted() {
    let directory = tempfile::tempdir().unwrap();
    let database = open(&directory);
    let keys = Stores::in_sqlite(&database).idempotency;
    for number in 0..23 {
        let now = if number < 20 { 0 } else { 86_400_000 };
        let attempt = attempt(&number.to_string());
        keys.begin(&attempt, at(now)).await.unwrap();
    }
    let rows = database.read::<_, SqliteError>(|connection| {
        let count = "SELECT count(*) FROM forum_api_idempotency_keys";
        Ok(connection.query_row(count, [], |row| row.get::<_, u32>(0))?)
    });
    assert_eq!(rows.await.unwrap(), 3);
}

/// Names the directory of the database to the process that dies.
const DIES_IN: &str = "FORUM_API_DIES_IN";

/// Queues a delivery, begins to send it, and dies before the attempt is recorded.
async fn die(directory: String) -> ! {
    let location = file(PathBuf::from(directory).join("forum.db"), true);
    let webhooks = WebhookStores::in_sqlite(&Database::open(&location).unwrap());
    add(&webhooks, &[endpoint(1)]).await;
    queue(&webhooks, [event(1)].into_iter(), &[endpoint(1)]).await;
    webhooks.outbox.insert(&event(2)).await.unwrap();
    let deliveries = &webhooks.deliveries;
    let taken = deliveries
        .claim(&claim(9, 9), at(0))
        .await
        .unwrap()
        .deliveries;
    let begun = deliveries.begin_sending(&taken, at(1)).await.unwrap();
    assert_eq!(begun.len(), 1);
    std::process::abort();
}

#[tokio::test]
async fn deliveries_of_a_killed_worker_are_claimed_after_their_leases() {
    if let Ok(directory) = env::var(DIES_IN) {
        die(directory).await;
    }
    let directory = tempfile::tempdir().unwrap();
    let name = "restart::deliveries_of_a_killed_worker_are_claimed_after_their_leases";
    let died = Command::new(env::current_exe().unwrap())
        .args([name, "--exact"])
        .env(DIES_IN, directory.path())
        .output()
        .unwrap();
    assert_eq!(died.status.code(), None, "it was aborted: {died:?}");
    assert!(path(&directory).exists());

    let webhooks = WebhookStores::in_sqlite(&open(&directory));
    assert_eq!(webhooks.outbox.pending(9).await.unwrap(), [event(2)]);
    let deliveries = &webhooks.deliveries;
    let before = deliveries.claim(&claim(9, 9), at(LEASE - 1)).await.unwrap();
    assert_eq!(
        (before.deliveries, before.next_due_at),
        (vec![], Some(at(LEASE)))
    );
    let [claimed] = &deliveries
        .claim(&claim(9, 9), at(LEASE))
        .await
        .unwrap()
        .deliveries[..]
    else {
        panic!("the delivery is not claimed");
    };
    assert!(claimed.lease_expired, "its worker had begun to send");
    assert_eq!(claimed.event, event(1));
}
