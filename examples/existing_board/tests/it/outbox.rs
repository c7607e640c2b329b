//! The board writes an entry and its event in one transaction.

use std::time::Duration;

use forum_api::model::ForumId;
use forum_api::webhook::Topic;
use serde_json::Value;

use crate::fixture::run_with_postgres;
use crate::site::{Site, TOPIC};

#[test]
fn an_entry_emits_an_event() {
    run_with_postgres(async {
        let site = Site::new(Duration::ZERO).await;
        assert_eq!(site.submit_reply(TOPIC, "Green.").await.status, 303);
        let posted = site.post_reply(TOPIC, "Black.").await.json();
        let mut events = site.pending_events().await;
        events.sort_by_key(|event| event.body.contains("Black."));
        let [form_event, api_event] = &events[..] else {
            panic!("{events:?}");
        };
        for event in [form_event, api_event] {
            assert_eq!(event.topic, Topic::POST_CREATED);
            assert_eq!(event.forum_id, Some(ForumId::from(1)));
        }
        let body: Value = serde_json::from_str(&api_event.body).unwrap();
        assert_eq!(body["data"]["post"]["postId"], posted["postId"]);
        assert_eq!(body["data"]["thread"]["replyCount"], 2);
        assert_eq!(body["data"]["forum"]["title"], "Tea");
        assert_eq!(body["data"]["actor"]["username"], "alice");
        let page = "https://club.example/topics/1";
        for resource in [&posted, &body["data"]["post"], &body["data"]["thread"]] {
            assert_eq!(resource["webUrl"], page, "{resource}");
        }
    });
}

/// Makes each commit of an entry fail.
const FAIL_COMMITS: &str = "
    CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$;
    CREATE CONSTRAINT TRIGGER fails AFTER INSERT ON entry DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION fails();";

#[test]
fn a_failed_entry_emits_no_event() {
    run_with_postgres(async {
        let site = Site::new(Duration::ZERO).await;
        let client = site.club.pool.get().await.unwrap();
        client.batch_execute(FAIL_COMMITS).await.unwrap();
        assert_eq!(site.submit_reply(TOPIC, "Green.").await.status, 500);
        assert_eq!(site.post_reply(TOPIC, "Green.").await.status, 500);
        assert_eq!((site.count("entry").await, site.pending_events().await), (1, vec![]));
        client.batch_execute("DROP TRIGGER fails ON entry").await.unwrap();
        assert_eq!(site.post_reply(TOPIC, "Green.").await.status, 201);
        assert_eq!((site.count("entry").await, site.pending_events().await.len()), (2, 1));
    });
}

#[test]
fn a_failed_event_writes_no_entry() {
    run_with_postgres(async {
        let site = Site::new(Duration::ZERO).await;
        let rename = "ALTER TABLE forum_api_events RENAME TO elsewhere";
        site.change(rename, &[]).await;
        assert_eq!(site.submit_reply(TOPIC, "Green.").await.status, 500);
        assert_eq!(site.post_reply(TOPIC, "Green.").await.status, 500);
        assert_eq!(site.count("entry").await, 1);
    });
}
