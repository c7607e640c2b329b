//! Deliveries: finding one, sending it again, and removing it.

use forum_api::webhook::State;

use crate::house::House;

#[tokio::test]
async fn a_dead_delivery_is_seen_and_retried() {
    let house = House::furnished().await;
    let path = format!("/panel/deliveries/{}", house.delivery);
    let page = house.get(&path).await.body;
    assert!(page.contains("dead</span>") && page.contains("500") && page.contains("17\u{a0}ms"));
    let done = house.post(&format!("{path}/retry"), &[]).await;
    let page = house.get(done.header("location")).await.body;
    assert!(page.contains("The delivery was queued again.") && page.contains("queued</span>"));
    assert_eq!(house.state().await, Some(State::Queued));
    assert!(!page.contains(&format!("action=\"{path}/retry\"")));
    let again = house.post(&format!("{path}/retry"), &[]).await;
    assert!(again.status == 409 && again.body.contains("The delivery is queued by now"));
}

#[tokio::test]
async fn all_dead_ones_of_an_endpoint_are_retried_at_once() {
    let house = House::furnished().await;
    let listed = house
        .get(&format!("/panel/deliveries?endpoint={}", house.endpoint))
        .await;
    let path = format!("/panel/webhooks/{}/retry-dead", house.endpoint);
    assert!(listed.body.contains(&format!("action=\"{path}\"")));
    let done = house.post(&path, &[]).await;
    let page = house.get(done.header("location")).await.body;
    assert!(page.contains("All dead deliveries of the endpoint were queued again."));
    assert_eq!(house.state().await, Some(State::Queued));
}

#[tokio::test]
async fn a_removed_delivery_is_gone() {
    let house = House::furnished().await;
    let path = format!("/panel/deliveries/{}", house.delivery);
    let done = house.post(&format!("{path}/remove"), &[]).await;
    assert_eq!(
        done.header("location"),
        "/panel/deliveries?done=delivery-removed"
    );
    assert_eq!(house.state().await, None);
    for verb in ["", "/retry", "/remove"] {
        let method = if verb.is_empty() { "GET" } else { "POST" };
        let csrf = house.csrf().await;
        let cookie = [("cookie", crate::ask::ADMIN)];
        let path = format!("{path}{verb}");
        let absent = house.send(method, &path, &cookie, &[("csrf", &csrf)]).await;
        assert_eq!(absent.status, 404, "{verb}");
    }
}

#[tokio::test]
async fn the_list_is_filtered_and_goes_on() {
    let house = House::furnished().await;
    for _ in 0..60 {
        let ping = format!("/panel/webhooks/{}/ping", house.endpoint);
        assert_eq!(house.post(&ping, &[]).await.status, 303);
    }
    let count = |body: &str| body.matches("href=\"/panel/deliveries/dlv_").count();
    for (query, expected) in [
        ("state=dead", 1),
        ("state=queued", 50),
        ("state=delivered", 0),
        ("topic=ping&state=dead", 1),
        ("topic=post.created", 0),
        ("endpoint=whe_none", 0),
        ("state=nonsense&after=nonsense", 50),
    ] {
        let page = house.get(&format!("/panel/deliveries?{query}")).await;
        assert_eq!((page.status, count(&page.body)), (200, expected), "{query}");
    }
    let first = house.get("/panel/deliveries").await;
    let rest = first
        .after("<p class=\"further\"><a href=\"")
        .replace("&amp;", "&");
    let rest = house.get(&rest).await.body;
    assert_eq!(
        (count(&rest), rest.contains("class=\"further\"")),
        (11, false)
    );
}

#[tokio::test]
async fn a_delivery_in_every_state_but_queued_has_a_button() {
    let house = House::furnished().await;
    let path = format!("/panel/deliveries/{}", house.delivery);
    let button = format!("action=\"{path}/retry\"");
    assert!(house.get(&path).await.body.contains(&button));
    for state in [
        State::Delivered,
        State::Gone,
        State::Withheld,
        State::Retrying,
    ] {
        house.post(&format!("{path}/retry"), &[]).await;
        assert_eq!(house.state().await, Some(State::Queued));
        house.end(state).await;
        assert_eq!(house.state().await, Some(state));
        assert!(house.get(&path).await.body.contains(&button), "{state:?}");
    }
}

#[tokio::test]
async fn events_that_cannot_be_read_are_shown() {
    let house = House::with_quarantine().await;
    for page in ["deliveries", "usage"] {
        let page = house.get(&format!("/panel/{page}")).await.body;
        let line = "2 events cannot be read and will not be delivered. The latest is <code>";
        assert!(page.contains(line), "{page}");
        assert!(page.contains("evt &lt;b&gt;") && page.contains("the id is malformed"));
    }
    let house = House::new().await;
    let page = house.get("/panel/deliveries").await.body;
    assert!(!page.contains("cannot be read"));
}

#[tokio::test]
async fn the_usage_of_a_busy_day_is_counted_whole() {
    const MANY: usize = 12_000;
    let house = House::furnished().await;
    house.queue(MANY).await;
    let page = house.get("/panel/usage").await.body;
    let says = format!("{} deliveries in 24 hours", MANY + 1);
    assert!(page.contains(&says), "{page}");
    assert!(page.contains(&format!(">{MANY}<")), "the queued ones");
}
