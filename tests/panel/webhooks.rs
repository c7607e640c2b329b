//! Endpoints: adding one, and what is done to one.

use forum_api::webhook::Endpoint;

use crate::house::{House, ParseId};

impl House {
    async fn found(&self) -> Option<Endpoint> {
        let id = self.endpoint.parse_id();
        self.webhooks.endpoints.find(&id).await.unwrap()
    }

    /// Does something to the endpoint; gives the status, and what the next page says of it.
    async fn do_to_endpoint(&self, verb: &str) -> (u16, String) {
        let done = self
            .post(&format!("/panel/webhooks/{}/{verb}", self.endpoint), &[])
            .await;
        match done.status {
            303 => (303, self.get(done.header("location")).await.body),
            status => (status, done.body),
        }
    }
}

#[tokio::test]
async fn an_endpoint_is_added_and_its_secret_shown_once() {
    let house = House::new().await;
    let form = [
        ("url", "https://93.184.215.14/hook"),
        ("owner", ""),
        ("topics", "*"),
        ("topics", "message.sent"),
        ("secret", ""),
    ];
    let added = house.post("/panel/webhooks", &form).await;
    assert_eq!(added.status, 200);
    assert!(added.after("whsec_").len() == 43 && added.body.contains("aria-readonly=\"true\""));
    let all = house.webhooks.endpoints.all().await.unwrap();
    assert_eq!(
        (all.len(), all[0].topics.to_string().as_str()),
        (1, "*,message.sent")
    );
    assert_eq!(all[0].owner, 1.into());
    let list = house.get("/panel/webhooks").await.body;
    assert!(list.contains("https://93.184.215.14/hook") && !list.contains("whsec_"));
}

#[tokio::test]
async fn a_bad_endpoint_says_what_is_bad() {
    let house = House::new().await;
    let good = [
        ("url", "https://93.184.215.14/hook"),
        ("owner", "alice"),
        ("topics", "*"),
        ("secret", "a secret of 16 characters"),
    ];
    for (field, text) in [
        ("url", "nowhere"),
        ("url", "ftp://93.184.215.14/"),
        ("url", "http://127.0.0.1/"),
        ("url", "http://169.254.169.254/"),
        ("owner", "nobody"),
        ("topics", "no.such"),
        ("topics", "a,b"),
        ("secret", "short"),
    ] {
        let form = good.map(|(name, value)| (name, if name == field { text } else { value }));
        let refused = house.post("/panel/webhooks", &form).await;
        assert_eq!(refused.status, 422, "{field} {text}");
        assert!(
            refused.body.contains(&format!("id=\"{field}-wrong\"")),
            "{field} {text}"
        );
        assert!(!refused.body.contains("value=\"a secret") && !refused.body.contains("\"short\""));
    }
    let none = house.post("/panel/webhooks", &good[..2]).await;
    assert!(none.status == 422 && none.body.contains("id=\"topics-wrong\""));
    assert!(house.webhooks.endpoints.all().await.unwrap().is_empty());
}

#[tokio::test]
async fn topics_are_changed() {
    let house = House::furnished().await;
    let path = format!("/panel/webhooks/{}/topics", house.endpoint);
    let done = house
        .post(
            &path,
            &[("topics", "post.created"), ("topics", "poll.voted")],
        )
        .await;
    let page = house.get(done.header("location")).await.body;
    assert!(page.contains("The topics were changed."));
    assert!(page.contains("value=\"poll.voted\" checked") && !page.contains("value=\"*\" checked"));
    for form in [&[][..], &[("topics", "no.such")]] {
        let refused = house.post(&path, form).await;
        assert!(refused.status == 422 && refused.body.contains("id=\"topics-wrong\""));
    }
    assert_eq!(
        house.found().await.unwrap().topics.to_string(),
        "poll.voted,post.created"
    );
}

#[tokio::test]
async fn a_secret_is_rotated_and_activated() {
    let house = House::furnished().await;
    let before = house.found().await.unwrap();
    let (status, page) = house.do_to_endpoint("rotate").await;
    assert!(status == 200 && page.contains("whsec_"));
    let rotated = house.found().await.unwrap();
    assert_eq!(rotated.secret, before.secret);
    assert_ne!(rotated.pending, before.pending);
    let (status, page) = house.do_to_endpoint("activate").await;
    assert!(status == 303 && page.contains("The new secret is in force."));
    assert_eq!(
        house.found().await.unwrap().secret,
        rotated.pending.unwrap().secret
    );
    let (status, page) = house.do_to_endpoint("activate").await;
    assert!(status == 409 && page.contains("no new secret waits to be activated"));
    let page = house
        .get(&format!("/panel/webhooks/{}", house.endpoint))
        .await;
    let once = page.after("name=\"once\" value=\"");
    let path = format!("/panel/webhooks/{}/rotate", house.endpoint);
    assert_eq!(house.post(&path, &[("once", once)]).await.status, 200);
    assert_eq!(house.post(&path, &[("once", once)]).await.status, 409);
}

#[tokio::test]
async fn a_disabled_endpoint_is_not_pinged() {
    let house = House::furnished().await;
    let (_, page) = house.do_to_endpoint("disable").await;
    assert!(page.contains("The endpoint is disabled.") && !page.contains("/ping\""));
    let (status, page) = house.do_to_endpoint("ping").await;
    assert!(status == 409 && page.contains("the endpoint is disabled"));
    let (_, page) = house.do_to_endpoint("enable").await;
    assert!(page.contains("The endpoint is enabled."));
    let (status, page) = house.do_to_endpoint("ping").await;
    assert!(status == 303 && page.contains("A ping was queued.") && page.contains("queued</span>"));
}

#[tokio::test]
async fn a_removed_endpoint_is_gone_with_its_deliveries() {
    let house = House::furnished().await;
    let (status, page) = house.do_to_endpoint("remove").await;
    assert!(status == 303 && page.contains("The endpoint was removed"));
    assert_eq!((house.found().await, house.state().await), (None, None));
    for verb in [
        "remove",
        "rotate",
        "activate",
        "enable",
        "disable",
        "ping",
        "retry-dead",
    ] {
        assert_eq!(house.do_to_endpoint(verb).await.0, 404, "{verb}");
    }
    let absent = house
        .get(&format!("/panel/webhooks/{}", house.endpoint))
        .await;
    assert_eq!(absent.status, 404);
}
