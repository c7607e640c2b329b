//! Contents of a SQLite database after a restart.

use bytes::Bytes;
use forum_api::model::UserId;
use forum_api::store::sqlite::SqliteError;
use forum_api::store::{BeginOutcome, Completion, ResourceIds, StoredResponse, Stores};
use forum_api::test_util::audit_entry;
use forum_api::token::{SecretDigest, TokenRecord};

use crate::fixture::{at, keyed_request, lookup, open, temp_database};

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
    let rows = database
        .read::<_, SqliteError>(|connection| {
            let count = "SELECT count(*) FROM forum_api_idempotency_keys";
            Ok(connection.query_row(count, [], |row| row.get::<_, u32>(0))?)
        })
        .await
        .unwrap();
    assert_eq!(rows, 3);
}
