//! What a restart leaves of the stores in SQLite.

use bytes::Bytes;
use forum_api::model::UserId;
use forum_api::store::sqlite::SqliteError;
use forum_api::store::{Attempt, Begin, Kept, Outcome, ResourceIds, Stores};
use forum_api::token::{Digest, TokenRecord};

use crate::backend::{at, lookup, open};

fn attempt(key: &str) -> Attempt {
    Attempt {
        token: lookup(1),
        key: key.into(),
        request: [1; 32],
    }
}

#[tokio::test]
async fn tokens_and_answers_outlive_it_and_a_cut_run_is_unknown() {
    let directory = tempfile::tempdir().unwrap();
    let token = TokenRecord {
        lookup: lookup(1),
        digest: Digest::new([7; 32]),
        owner: UserId::from(3),
        label: "laptop".into(),
        scopes: ["forums:read".to_owned()].into(),
        created_at: at(0),
        expires_at: None,
        revoked_at: None,
        last_used_at: Some(at(5)),
    };
    let kept = Kept {
        status: 201,
        location: None,
        body: Bytes::from_static(b"{}"),
        resource: ResourceIds::default(),
    };

    let database = open(&directory);
    let before = Stores::in_sqlite(&database);
    before.tokens.create(&token).await.unwrap();
    before.tokens.used(&lookup(1), at(90_000)).await.unwrap();
    let answered = before.idempotency.begin(&attempt("answered"), at(0)).await;
    let Ok(Begin::First(ticket)) = answered else {
        panic!("{answered:?}");
    };
    let outcome = Outcome::Answered(kept.clone());
    before.idempotency.settle(&ticket, outcome).await.unwrap();
    let cut = before.idempotency.begin(&attempt("cut"), at(0)).await;
    assert!(matches!(cut, Ok(Begin::First(_))));
    database.close().await;

    let after = Stores::in_sqlite(&open(&directory));
    let token = TokenRecord {
        last_used_at: Some(at(90_000)),
        ..token
    };
    assert_eq!(after.tokens.find(&lookup(1)).await.unwrap(), Some(token));
    for (key, now, said) in [
        ("answered", 59_999, Begin::Repeat(kept)),
        ("cut", 59_999, Begin::Running),
        ("cut", 60_000, Begin::Unknown),
    ] {
        let begin = after.idempotency.begin(&attempt(key), at(now)).await;
        assert_eq!(begin.unwrap(), said, "{key} at {now}");
    }
}

#[tokio::test]
async fn keys_are_deleted_when_their_day_is_over() {
    let directory = tempfile::tempdir().unwrap();
    let database = open(&directory);
    let stores = Stores::in_sqlite(&database);
    let day = 86_400_000;
    for number in 0..20 {
        let attempt = attempt(&number.to_string());
        stores.idempotency.begin(&attempt, at(0)).await.unwrap();
    }
    for number in 20..23 {
        let attempt = attempt(&number.to_string());
        stores.idempotency.begin(&attempt, at(day)).await.unwrap();
    }
    let rows = database
        .read::<_, SqliteError>(|connection| {
            let count = "SELECT count(*) FROM forum_api_idempotency_keys";
            Ok(connection.query_row(count, [], |row| row.get::<_, u32>(0))?)
        })
        .await;
    assert_eq!(rows.unwrap(), 3);
}
