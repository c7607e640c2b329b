//! Contents of a SQLite database after a restart.

use bytes::Bytes;
use forum_api::model::UserId;
use forum_api::store::sqlite::SqliteError;
use forum_api::store::{
    BeginOutcome, Completion, ResourceIds, StoredResponse, Stores, WebhookStores,
};
use forum_api::test_util::audit_entry;
use forum_api::token::{SecretDigest, TokenRecord};

use crate::fixture::{
    LEASE, add, at, claim_all, endpoint, event, keyed_request, lookup, open, queue, temp_database,
};

#[tokio::test]
async fn tokens_and_responses_survive_a_restart_and_an_interrupted_request_is_unknown() {
    let (directory, database) = temp_database();
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
    let response = StoredResponse {
        status: 201,
        location: None,
        body: Bytes::from_static(b"{}"),
        resource: ResourceIds::default(),
    };
    let Stores {
        tokens,
        idempotency,
        ..
    } = Stores::in_sqlite(&database);
    tokens.create(&token, &audit_entry()).await.unwrap();
    tokens.record_use(&lookup(1), at(90_000)).await.unwrap();
    for key in ["completed", "interrupted"] {
        let outcome = idempotency.begin(&keyed_request(key), at(0)).await;
        let Ok(BeginOutcome::Reserved(reservation)) = outcome else {
            panic!("{outcome:?}");
        };
        if key == "completed" {
            let responded = Completion::Responded(response.clone());
            idempotency.complete(&reservation, responded).await.unwrap();
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
        ("completed", 59_999, BeginOutcome::Replay(response)),
        ("interrupted", 59_999, BeginOutcome::InProgress),
        ("interrupted", 60_000, BeginOutcome::OutcomeUnknown),
    ] {
        let outcome = after.idempotency.begin(&keyed_request(key), at(now)).await;
        assert_eq!(outcome.unwrap(), expected, "{key} at {now}");
    }
}

#[tokio::test]
async fn expired_keys_are_deleted() {
    let (_directory, database) = temp_database();
    let keys = Stores::in_sqlite(&database).idempotency;
    for number in 0..23 {
        let now = if number < 20 { 0 } else { 86_400_000 };
        let request = keyed_request(&number.to_string());
        keys.begin(&request, at(now)).await.unwrap();
    }
    let rows = database.read::<_, SqliteError>(|connection| {
        let count = "SELECT count(*) FROM forum_api_idempotency_keys";
        Ok(connection.query_row(count, [], |row| row.get::<_, u32>(0))?)
    });
    assert_eq!(rows.await.unwrap(), 3);
}

/// The worker ends without a settlement. `acknowledged_writes_survive_kill_9` of the server kills its process.
#[tokio::test]
async fn deliveries_of_an_ended_worker_are_claimed_after_their_leases() {
    let (directory, database) = temp_database();
    let webhooks = WebhookStores::in_sqlite(&database);
    add(&webhooks, &[endpoint(1)]).await;
    queue(&webhooks, [event(1)], &[endpoint(1)]).await;
    webhooks.outbox.insert(&event(2)).await.unwrap();
    let claimed = claim_all(&webhooks, at(0)).await.deliveries;
    let begun = webhooks.deliveries.begin_sending(&claimed, at(1)).await;
    assert_eq!(begun.unwrap().len(), 1);
    database.close().await;

    let webhooks = WebhookStores::in_sqlite(&open(&directory));
    assert_eq!(webhooks.outbox.pending(9).await.unwrap(), [event(2)]);
    let before = claim_all(&webhooks, at(LEASE - 1)).await;
    assert_eq!(
        (before.deliveries, before.next_due_at),
        (vec![], Some(at(LEASE)))
    );
    let [claimed] = &claim_all(&webhooks, at(LEASE)).await.deliveries[..] else {
        panic!("the delivery is not claimed");
    };
    assert!(
        claimed.previous_lease_expired,
        "its worker had begun to send"
    );
    assert_eq!(claimed.event, event(1));
}
