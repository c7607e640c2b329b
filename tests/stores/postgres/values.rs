//! The library's values as columns of a host's own tables.

use forum_api::model::{DeliveryId, EndpointId, EventId, ForumId, Timestamp, UserId};
use forum_api::token::{Digest, Lookup};
use forum_api::webhook::{State, Topic};
use tokio_postgres::types::{FromSql, ToSql};

use super::database::{pool, schema, try_in_postgres};
use crate::backend::{at, lookup};

async fn comes_back<T>(column: &str, value: T)
where
    T: ToSql + for<'a> FromSql<'a> + Sync + PartialEq + std::fmt::Debug,
{
    let client = pool(&schema().await, 1).get().await.unwrap();
    let row = client
        .query_one(&format!("SELECT $1::{column}"), &[&value])
        .await;
    assert_eq!(row.unwrap().get::<_, T>(0), value);
}

#[test]
fn what_is_bound_comes_back() {
    try_in_postgres(async {
        comes_back::<Timestamp>("BIGINT", at(-7)).await;
        comes_back::<Option<Timestamp>>("BIGINT", None).await;
        comes_back::<Lookup>("TEXT", lookup(7)).await;
        comes_back::<Digest>("BYTEA", Digest::new([200; 32])).await;
        comes_back::<DeliveryId>("TEXT", DeliveryId::new("dlv_1").unwrap()).await;
        comes_back::<EndpointId>("TEXT", EndpointId::new("whe_1").unwrap()).await;
        comes_back::<EventId>("VARCHAR", EventId::new("evt_1").unwrap()).await;
        comes_back::<ForumId>("TEXT", ForumId::from(4)).await;
        comes_back::<UserId>("TEXT", UserId::from(4)).await;
        comes_back::<State>("TEXT", State::Gone).await;
        comes_back::<Topic>("TEXT", Topic::PING).await;
    });
}

#[test]
fn what_is_no_such_value_is_an_error() {
    try_in_postgres(async {
        let client = pool(&schema().await, 1).get().await.unwrap();
        let row = client
            .query_one("SELECT 'nowhere', '\\x00'::BYTEA", &[])
            .await
            .unwrap();
        assert!(row.try_get::<_, State>(0).is_err());
        assert!(row.try_get::<_, Timestamp>(0).is_err());
        assert!(row.try_get::<_, Digest>(1).is_err());
    });
}
