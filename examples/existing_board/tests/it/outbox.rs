//! Events in the transactions of the board, and what becomes of them.

use std::time::Duration;

use forum_api::model::{DeliveryId, EndpointId, ForumId, Timestamp};
use forum_api::store::postgres::{LeaseClock, Postgres};
use forum_api::store::{FanOut, Outbox};
use forum_api::webhook::{Event, Topic};
use serde_json::Value;

use crate::database::try_in_postgres;
use crate::site::Site;

const TOPIC: i64 = 1;

async fn waiting(site: &Site) -> Vec<Event> {
    let outbox = Postgres::new(site.club.pool.clone());
    outbox.waiting(9).await.unwrap()
}

#[test]
fn an_event_comes_with_its_entry() {
    try_in_postgres(async {
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
    try_in_postgres(async {
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
    try_in_postgres(async {
        let site = Site::new(Duration::ZERO).await;
        let rename = "ALTER TABLE forum_api_events RENAME TO elsewhere";
        site.change(rename, &[]).await;
        assert_eq!(site.type_reply(TOPIC, "Green.").await.status, 500);
        assert_eq!(site.post_reply(TOPIC, "Green.").await.status, 500);
        assert_eq!(site.count("entry").await, 1);
    });
}

const ENDPOINT: &str = "
    INSERT INTO forum_api_endpoints (id, url, topics, owner, enabled, created_at, secret, version)
    VALUES ($1, 'https://example.com', '[\"*\"]', '1', $2, 0, '', 1)";

#[test]
fn an_event_is_fanned_out_once() {
    try_in_postgres(async {
        let site = Site::new(Duration::ZERO).await;
        for (id, enabled) in [("whe_1", true), ("whe_2", false), ("whe_3", true)] {
            site.change(ENDPOINT, &[&id, &enabled]).await;
        }
        site.post_reply(TOPIC, "Green.").await;
        let [event] = &waiting(&site).await[..] else {
            panic!("one event");
        };
        let endpoints = ["whe_1", "whe_2", "whe_4"].map(|id| EndpointId::new(id).unwrap());
        let outbox = Postgres::new(site.club.pool.clone()).lease_clock(LeaseClock::Caller);
        let to = |endpoints: &[EndpointId]| FanOut {
            event: event.id.clone(),
            endpoints: endpoints.to_vec(),
        };
        for fan_out in [
            to(&endpoints),
            to(&endpoints),
            to(&[EndpointId::new("whe_3").unwrap()]),
        ] {
            let now = Timestamp::from_millis(7);
            outbox.fan_out(&[fan_out], now).await.unwrap();
            assert_eq!(waiting(&site).await, []);
        }
        let client = site.club.pool.get().await.unwrap();
        let rows = "SELECT id, event, topic, endpoint, state, created_at + due_at + attempts FROM forum_api_deliveries";
        let rows = client.query(rows, &[]).await.unwrap();
        let [row] = &rows[..] else {
            panic!("{rows:?}");
        };
        let texts: [String; 5] = std::array::from_fn(|column| row.get(column));
        let id = DeliveryId::of(&event.id, &endpoints[0]).to_string();
        let event = event.id.to_string();
        assert_eq!(texts, [&*id, &*event, "post.created", "whe_1", "queued"]);
        assert_eq!(row.get::<_, i64>(5), 14);
    });
}

#[test]
fn what_goes_to_nobody_is_not_kept() {
    try_in_postgres(async {
        let site = Site::new(Duration::ZERO).await;
        site.post_reply(TOPIC, "Green.").await;
        let fan_out = waiting(&site).await.into_iter().map(|event| FanOut {
            event: event.id,
            endpoints: Vec::new(),
        });
        let outbox = Postgres::new(site.club.pool.clone());
        let fan_out: Vec<_> = fan_out.collect();
        outbox
            .fan_out(&fan_out, Timestamp::default())
            .await
            .unwrap();
        assert_eq!(site.count("forum_api_events").await, 0);
    });
}
