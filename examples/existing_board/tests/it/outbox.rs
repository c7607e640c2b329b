//! Events in the transactions of the board, and what becomes of them.

use std::time::Duration;

use forum_api::model::ForumId;
use forum_api::store::OutboxStore;
use forum_api::store::postgres::PostgresStore;
use forum_api::webhook::{Event, Topic};
use serde_json::Value;

use crate::fixture::run_with_postgres;
use crate::site::Site;

const TOPIC: i64 = 1;

async fn waiting(site: &Site) -> Vec<Event> {
    let outbox = PostgresStore::new(site.club.pool.clone());
    outbox.pending(9).await.unwrap()
}

#[test]
fn an_event_comes_with_its_entry() {
    run_with_postgres(async {
        let site = Site::new(Duration::ZERO).await;
        assert_eq!(site.type_reply(TOPIC, "Green.").await.status, 303);
        let posted = site.post_reply(TOPIC, "Black.").await.json();
        let mut events = waiting(&site).await;
        events.sort_by_key(|event| event.body.contains("Black."));
        let [typed, posted_event] = &events[..] else {
            panic!("{events:?}");
        };
        for event in [typed, posted_event] {
            assert_eq!(event.topic, Topic::POST_CREATED);
            assert_eq!(event.forum, Some(ForumId::from(1)));
        }
        let body: Value = serde_json::from_str(&posted_event.body).unwrap();
        assert_eq!(body["data"]["post"]["postId"], posted["postId"]);
        assert_eq!(body["data"]["thread"]["replyCount"], 2);
        assert_eq!(body["data"]["forum"]["title"], "Tea");
        assert_eq!(body["data"]["actor"]["username"], "alice");
    });
}

/// What makes each commit of an entry fail.
const FAILS: &str = "
    CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$;
    CREATE CONSTRAINT TRIGGER fails AFTER INSERT ON entry DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION fails();";

#[test]
fn there_is_no_event_without_its_entry() {
    run_with_postgres(async {
        let site = Site::new(Duration::ZERO).await;
        let client = site.club.pool.get().await.unwrap();
        client.batch_execute(FAILS).await.unwrap();
        assert_eq!(site.type_reply(TOPIC, "Green.").await.status, 500);
        assert_eq!(site.post_reply(TOPIC, "Green.").await.status, 500);
        assert_eq!(
            (site.count("entry").await, waiting(&site).await),
            (1, vec![])
        );
        client
            .batch_execute("DROP TRIGGER fails ON entry")
            .await
            .unwrap();
        assert_eq!(site.post_reply(TOPIC, "Green.").await.status, 201);
        assert_eq!(
            (site.count("entry").await, waiting(&site).await.len()),
            (2, 1)
        );
    });
}

#[test]
fn there_is_no_entry_without_its_event() {
    run_with_postgres(async {
        let site = Site::new(Duration::ZERO).await;
        let rename = "ALTER TABLE forum_api_events RENAME TO elsewhere";
        site.change(rename, &[]).await;
        assert_eq!(site.type_reply(TOPIC, "Green.").await.status, 500);
        assert_eq!(site.post_reply(TOPIC, "Green.").await.status, 500);
        assert_eq!(site.count("entry").await, 1);
    });
}
