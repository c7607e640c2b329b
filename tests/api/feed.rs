//! The feed of events (`docs/protocol.md`, section 12.8).

use forum_api::event_feed;
use forum_api::host::RequestInfo;
use forum_api::model::{EventId, Timestamp};
use forum_api::runtime::ManualClock;
use forum_api::store::{FanOut, WebhookStores};
use forum_api::test_util::stores_in_memory;
use forum_api::webhook::Event;

use crate::mcp::Agent;
use crate::support::*;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

struct Feed {
    server: Server,
    webhooks: WebhookStores,
    clock: Arc<ManualClock>,
}

impl Feed {
    fn new() -> Self {
        let clock = Arc::new(ManualClock::new(Timestamp::from_millis(1_767_225_600_000)));
        let (_, webhooks) = stores_in_memory();
        let feed = event_feed(&webhooks, DAY, &Environment::default().clock(clock.clone()));
        let board = FullBoard::new();
        let stores = Stores::in_memory();
        let environment = Environment::default();
        let server = Server::with_operations(
            environment,
            settings(),
            stores,
            &board,
            board.clone(),
            vec![feed],
        );
        Self { server, webhooks, clock }
    }

    async fn expect_expired(&self, token: &str, query: &str) {
        let request = Request::get(&format!("/x/events{query}")).bearer(token);
        let expired = self.server.expect(request, BAD_REQUEST).await;
        assert_eq!(expired.header("x-error-reason"), Some("position_expired"));
        assert_eq!(expired.header("x-error-field"), Some("after"));
    }

    /// Inserts an event, and returns its id.
    async fn insert(&self, topic: Topic, forum: Option<&str>, data: Value) -> EventId {
        let now = self.clock.now();
        let meta = RequestInfo::background(now).event(now).unwrap();
        let forum = forum.map(|forum| ForumId::parse(forum).unwrap());
        let event = Event::new(topic, meta, forum, &data);
        self.webhooks.insert_event(&event).await.unwrap();
        event.id
    }

    /// Inserts an event that a worker has fanned out.
    async fn insert_fanned_out(&self) -> EventId {
        let event = self.insert_post("open").await;
        self.fan_out(&event).await;
        event
    }

    async fn insert_post(&self, forum: &str) -> EventId {
        self.insert(Topic::POST_CREATED, Some(forum), json!({ "forum": forum })).await
    }

    async fn fan_out(&self, event: &EventId) {
        let fan_out =
            FanOut { event_id: event.clone(), endpoint_ids: Vec::new(), stays_in_feed: true };
        self.webhooks.outbox().fan_out(&[fan_out], self.clock.now()).await.unwrap();
    }

    async fn send(&self, token: &str, query: &str) -> TestResponse {
        let path = format!("/x/events{query}");
        self.server.send(&Request::get(&path).bearer(token)).await
    }

    /// Returns the ids of the items, and `next`.
    async fn page(&self, token: &str, query: &str) -> (Vec<String>, Option<String>) {
        let response = self.send(token, query).await;
        assert_eq!(response.status, 200, "{query}: {response:?}");
        let body = response.json();
        let id = |item: &Value| item["event"].as_str().unwrap().to_owned();
        let items = body["items"].as_array().unwrap().iter().map(id).collect();
        let next = body["next"].as_str().map(str::to_owned);
        assert_eq!(response.header("link").is_some(), next.is_some());
        (items, next)
    }
}

/// Returns the document of a board with a feed.
pub(crate) fn document() -> Value {
    Feed::new().server.api.openapi()
}

const FROM_THE_BEGINNING: &str = "?since=2026-01-01T00:00:00Z";

#[tokio::test]
async fn a_client_goes_on_from_its_last_item() {
    let feed = Feed::new();
    let alice = feed.server.token("alice").await;
    assert_eq!(feed.page(&alice, "").await, (vec![], None));
    let mut expected = Vec::new();
    for number in 0..5 {
        let id = feed.insert_post("open").await;
        if number % 2 == 0 {
            feed.fan_out(&id).await;
        }
        expected.push(id.to_string());
    }
    let mut read = Vec::new();
    let mut query = FROM_THE_BEGINNING.to_owned();
    for (count, has_next) in [(2, true), (2, true), (1, false)] {
        let (items, next) = feed.page(&alice, &format!("{query}&limit=2")).await;
        assert_eq!((items.len(), next.is_some()), (count, has_next));
        assert!(next.is_none_or(|next| items.last() == Some(&next)));
        query = format!("?after={}", items.last().unwrap());
        read.extend(items);
    }
    assert_eq!(read, expected);
    assert_eq!(feed.page(&alice, &query).await, (vec![], None));
    let last = expected.last().cloned();
    assert_eq!(feed.page(&alice, "").await, (vec![], last), "now is after the latest event");
    let more = feed.insert_post("open").await.to_string();
    assert_eq!(feed.page(&alice, &query).await, (vec![more.clone()], None));
    feed.insert_post("staff").await;
    let query = format!("?after={more}");
    assert_eq!(feed.page(&alice, "").await, (vec![], Some(more)), "a hidden event has no position");
    assert_eq!(feed.page(&alice, &query).await, (vec![], None), "a hidden event leaves no gap");
}

#[tokio::test]
async fn an_item_is_the_stored_body() {
    let feed = Feed::new();
    let alice = feed.server.token("alice").await;
    feed.insert(Topic::POST_CREATED, None, json!({ "text": "Grüße \" \u{7}" })).await;
    let item = &feed.send(&alice, FROM_THE_BEGINNING).await.json()["items"][0];
    let fields: Vec<_> = item.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["data", "event", "occurredAt", "requestId", "topic"]);
    assert_eq!(item["data"]["text"], "Grüße \" \u{7}");
}

#[tokio::test]
async fn an_item_is_visible_as_a_delivery_would_be() {
    let feed = Feed::new();
    let rating = json!({ "member": { "userId": "bob" }, "actor": { "userId": "alice" } });
    let message = json!({ "message": { "senderId": "bob", "recipientIds": ["alice"] } });
    let open = feed.insert_post("open").await;
    let staff = feed.insert_post("staff").await;
    let rated = feed.insert(Topic::MEMBER_RATED, None, rating).await;
    let sent = feed.insert(Topic::MESSAGE_SENT, None, message).await;
    let own = feed.insert(Topic::from_static("board.opened"), None, json!({ "by": "alice" })).await;
    for (name, topics, expected) in [
        ("alice", "", vec![&open, &rated, &own]),
        ("alice", "&topics=*", vec![&open, &rated, &own]),
        ("alice", "&topics=message.sent,post.created", vec![&open, &sent]),
        ("alice", "&topics=*,message.sent", vec![&open, &rated, &sent, &own]),
        ("bob", "&topics=member.rated,message.sent", vec![&rated, &sent]),
        ("moderator", "", vec![&open, &staff, &own]),
        ("moderator", "&topics=message.sent", vec![]),
    ] {
        let token = feed.server.token(name).await;
        let (items, next) = feed.page(&token, &format!("{FROM_THE_BEGINNING}{topics}")).await;
        let expected: Vec<_> = expected.into_iter().map(ToString::to_string).collect();
        assert_eq!((items, next), (expected, None), "{name} {topics}");
    }
}

#[tokio::test]
async fn a_page_reads_at_most_1000_events() {
    let feed = Feed::new();
    let alice = feed.server.token("alice").await;
    let mut last = String::new();
    for _ in 0..1000 {
        last = feed.insert_post("staff").await.to_string();
    }
    assert_eq!(feed.page(&alice, FROM_THE_BEGINNING).await, (vec![], None), "no event follows");
    assert_eq!(feed.page(&alice, "").await, (vec![], Some(last)));
    let open = feed.insert_post("open").await.to_string();
    let (items, next) = feed.page(&alice, FROM_THE_BEGINNING).await;
    assert_eq!(items, [""; 0]);
    let page = feed.page(&alice, &format!("?after={}", next.unwrap())).await;
    assert_eq!(page, (vec![open], None));
}

#[tokio::test]
async fn a_page_ends_before_its_bodies_exceed_512_kib() {
    let feed = Feed::new();
    let alice = feed.server.token("alice").await;
    for _ in 0..5 {
        feed.insert(Topic::POST_CREATED, None, json!("x".repeat(200_000))).await;
    }
    let mut query = FROM_THE_BEGINNING.to_owned();
    for count in [2, 2, 1] {
        let (items, next) = feed.page(&alice, &query).await;
        assert_eq!((items.len(), next.is_some()), (count, count == 2));
        query = format!("?after={}", items.last().unwrap());
    }
}

/// The result of a tool escapes the backslashes of a body a second time.
#[tokio::test]
async fn a_page_of_a_tool_ends_before_its_bodies_exceed_256_kib_as_they_are_sent() {
    let feed = Feed::new();
    let alice = feed.server.token("alice").await;
    let agent = Agent::new(&feed.server, Some(&alice));
    for _ in 0..3 {
        feed.insert(Topic::POST_CREATED, None, json!("\\".repeat(50_000))).await;
    }
    let mut arguments = json!({ "since": "2026-01-01T00:00:00Z" });
    for has_next in [true, true, false] {
        let response = agent.call("listEvents", arguments).await;
        let result = &response.json()["result"];
        assert!(result["content"][0]["text"].to_string().len() <= 256 * 1024);
        let page = &result["structuredContent"];
        let item = &page["items"][0]["event"];
        assert_eq!(page["items"].as_array().unwrap().len(), 1);
        assert_eq!(page["next"], if has_next { item.clone() } else { Value::Null });
        arguments = json!({ "after": item });
    }
}

#[tokio::test]
async fn a_page_begins_at_a_time() {
    let feed = Feed::new();
    let alice = feed.server.token("alice").await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(feed.insert_post("open").await.to_string());
        feed.clock.advance(Duration::from_secs(60));
    }
    for (since, expected) in [
        ("2026-01-01T00:00:00Z", &ids[..]),
        ("2026-01-01T00:01:00Z", &ids[1..]),
        ("2026-01-01T00:01:00.001Z", &ids[2..]),
        ("2026-01-01T00:03:00Z", &[]),
    ] {
        let (items, next) = feed.page(&alice, &format!("?since={since}")).await;
        assert_eq!((&items[..], next), (expected, None), "{since}");
    }
    let query = format!("{FROM_THE_BEGINNING}&after={}", ids[1]);
    assert_eq!(feed.page(&alice, &query).await.0, ids[2..], "the position of `after`");
}

#[tokio::test]
async fn a_position_that_is_older_than_the_retention_has_expired() {
    let feed = Feed::new();
    let alice = feed.server.token("alice").await;
    let old = format!("?after={}", feed.insert_fanned_out().await);
    let waiting = feed.insert_post("open").await;
    feed.clock.advance(DAY);
    assert_eq!(feed.page(&alice, &old).await, (vec![waiting.to_string()], None));
    feed.clock.advance(Duration::from_millis(1));
    let waiting = format!("?after={waiting}");
    assert_eq!(feed.page(&alice, &waiting).await, (vec![], None), "it is not fanned out yet");
    for query in [&old, "?after=evt_unknown"] {
        feed.expect_expired(&alice, query).await;
    }
}

/// A client that follows rare topics, or sees few forums.
#[tokio::test]
async fn the_position_of_a_client_moves_with_the_events_of_others() {
    let feed = Feed::new();
    let alice = feed.server.token("alice").await;
    let mut query = String::new();
    for round in 0..4 {
        let event = feed.insert_fanned_out().await;
        let (items, next) = feed.page(&alice, &format!("?topics=member.rated{query}")).await;
        assert_eq!((items, next.as_deref()), (vec![], Some(&*event.to_string())), "round {round}");
        query = format!("&after={}", next.unwrap());
        feed.clock.advance(DAY / 2);
    }
}

#[tokio::test]
async fn a_page_has_no_position_that_has_expired() {
    let feed = Feed::new();
    let alice = feed.server.token("alice").await;
    let old = feed.insert_fanned_out().await;
    feed.clock.advance(DAY);
    assert_eq!(feed.page(&alice, "").await, (vec![], Some(old.to_string())));
    assert_eq!(feed.page(&alice, FROM_THE_BEGINNING).await, (vec![old.to_string()], None));
    feed.clock.advance(Duration::from_millis(1));
    for query in ["", FROM_THE_BEGINNING] {
        assert_eq!(feed.page(&alice, query).await, (vec![], None), "{query}");
    }
    let waiting = feed.insert_post("open").await.to_string();
    assert_eq!(feed.page(&alice, "").await, (vec![], Some(waiting.clone())));
    assert_eq!(feed.page(&alice, FROM_THE_BEGINNING).await, (vec![waiting], None));
}

#[tokio::test]
async fn a_position_is_valid_while_an_earlier_one_is() {
    let feed = Feed::new();
    let alice = feed.server.token("alice").await;
    let first = feed.insert_post("open").await;
    let second = feed.insert_post("open").await;
    feed.fan_out(&second).await;
    feed.clock.advance(DAY / 2);
    feed.fan_out(&first).await;
    feed.clock.advance(DAY);
    let page = (vec![first.to_string(), second.to_string()], None);
    assert_eq!(feed.page(&alice, FROM_THE_BEGINNING).await, page);
    let query = format!("?after={second}");
    assert_eq!(feed.page(&alice, &query).await, (vec![], None));
    feed.clock.advance(Duration::from_millis(1));
    feed.expect_expired(&alice, &query).await;
}

/// The clock of the worker is ahead, or that of the node behind.
#[tokio::test]
async fn a_position_of_the_future_is_valid() {
    let feed = Feed::new();
    let alice = feed.server.token("alice").await;
    let first = feed.insert_post("open").await;
    let second = feed.insert_post("open").await;
    feed.clock.advance(2 * DAY);
    feed.fan_out(&first).await;
    feed.clock.set(feed.clock.now().saturating_sub(2 * DAY));
    let page = feed.page(&alice, &format!("?after={first}")).await;
    assert_eq!(page, (vec![second.to_string()], None));
}

#[tokio::test]
async fn the_feed_passes_the_pipeline() {
    let feed = Feed::new();
    let alice = feed.server.token("alice").await;
    let get = |query: &str| Request::get(&format!("/x/events{query}"));
    feed.server.expect(get(""), UNAUTHENTICATED).await;
    let other = feed.server.token_with("alice", &["threads:read"]).await;
    feed.server.expect(get("").bearer(&other), MISSING_SCOPE).await;
    for query in [
        "?limit=0",
        "?limit=101",
        "?after=a+b",
        "?since=now",
        "?topics=",
        "?topics=ping",
        "?topics=post.liked",
        "?x=1",
    ] {
        feed.server.expect(get(query).bearer(&alice), BAD_REQUEST).await;
    }
    feed.insert_post("open").await;
    let response = feed.send(&alice, FROM_THE_BEGINNING).await;
    assert_eq!(response.header("x-ratelimit-cost"), Some("2"));
    let tag = response.header("etag").unwrap();
    let request = get(FROM_THE_BEGINNING).bearer(&alice).header("if-none-match", tag);
    assert_eq!(feed.server.send(&request).await.status, 304);
    let path = format!("/x/events{FROM_THE_BEGINNING}");
    let head = feed.server.send(&Request::new("HEAD", &path).bearer(&alice)).await;
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(head.header("etag"), Some(tag));
}

/// A client reads the events of all topics with one type.
#[tokio::test]
async fn the_type_of_an_event_describes_the_data_of_each_topic() {
    let document = document();
    let operation = &document["paths"]["/x/events"]["get"];
    let content = &operation["responses"]["200"]["content"]["application/json"];
    let page = resolve_ref(&document, &content["schema"]);
    let event = &page["properties"]["items"]["items"];
    let data = &resolve_ref(&document, event)["properties"]["data"];
    let described = resolve_ref(&document, data)["properties"].as_object().unwrap();
    let webhooks = document["webhooks"].as_object().unwrap().iter();
    for (topic, webhook) in webhooks.filter(|(topic, _)| *topic != "ping") {
        let content = &webhook["post"]["requestBody"]["content"]["application/json"];
        let mut stored = content["example"].clone();
        stored.as_object_mut().unwrap().remove("delivery").unwrap();
        for name in stored["data"].as_object().unwrap().keys() {
            assert!(described.contains_key(name), "{topic}: {name}");
        }
        // The data of a topic can lack fields that the type of all topics has.
        let checked = schema::check_request(&document, event, &stored);
        checked.unwrap_or_else(|reason| panic!("{topic}: {reason}"));
    }
    let without_avatar = json!({ "userId": "7", "username": "bob", "avatarUrl": null });
    for member in [without_avatar, json!({ "userId": "7" })] {
        schema::check_request(&document, &described["member"], &member).unwrap();
    }
}

#[tokio::test]
async fn the_document_describes_the_feed() {
    let document = document();
    let operation = &document["paths"]["/x/events"]["get"];
    let content = &operation["responses"]["200"]["content"]["application/json"];
    schema::check(&document, &content["schema"], &content["example"]).unwrap();
    let parameters = operation["parameters"].as_array().unwrap();
    let names: Vec<_> =
        parameters.iter().filter_map(|parameter| parameter["name"].as_str()).collect();
    assert_eq!(names, ["after", "since", "topics", "limit"]);
    let notes = operation["description"].as_str().unwrap();
    let tag = document["tags"].as_array().unwrap().iter().find(|tag| tag["name"] == "events");
    let group = tag.unwrap()["description"].as_str().unwrap();
    for (text, part) in [
        (notes, "The board keeps events for 24 hours."),
        (group, "`thread.created`, "),
        (notes, "`message.sent`"),
        (group, "The board keeps events for 24 hours."),
        (group, "RETENTION = timedelta(seconds=86400)\n"),
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
