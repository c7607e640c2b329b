//! Webhook endpoints: adding one, and its actions.

use forum_api::webhook::Endpoint;

use crate::fixture::{PanelFixture, Response};

impl PanelFixture {
    async fn stored_endpoint(&self) -> Option<Endpoint> {
        let id = self.endpoint_id();
        self.webhooks.endpoints.find(&id).await.unwrap()
    }

    /// Sends the form of an action, and loads the page that it redirects to.
    async fn act(&self, action: &str) -> (u16, Response) {
        self.post_and_follow(&format!("/panel/webhooks/{}/{action}", self.endpoint))
            .await
    }
}

#[tokio::test]
async fn an_endpoint_is_added_and_its_secret_shown_once() {
    let fixture = PanelFixture::new().await;
    let form = [
        ("url", "https://93.184.215.14/hook"),
        ("owner", ""),
        ("topics", "*"),
        ("topics", "message.sent"),
        ("secret", ""),
    ];
    let added = fixture.post("/panel/webhooks", &form).await;
    assert_eq!(added.status, 200);
    assert!(added.after("whsec_").len() == 43 && added.contains("aria-readonly=\"true\""));
    let [stored] = fixture
        .webhooks
        .endpoints
        .list()
        .await
        .unwrap()
        .try_into()
        .unwrap();
    assert_eq!(
        (stored.topics.to_string(), stored.owner),
        ("*,message.sent".into(), 1.into())
    );
    let list = fixture.get("/panel/webhooks").await;
    assert!(list.contains("https://93.184.215.14/hook") && !list.contains("whsec_"));
}

#[tokio::test]
async fn each_incorrect_field_is_marked() {
    let fixture = PanelFixture::new().await;
    let correct = [
        ("url", "https://93.184.215.14/hook"),
        ("owner", "alice"),
        ("topics", "*"),
        ("secret", "a secret of 16 characters"),
    ];
    for (field, text) in [
        ("url", "no-url"),
        ("url", "http://127.0.0.1/"),
        ("owner", "missing"),
        ("topics", "no.such"),
        ("topics", "a,b"),
        ("secret", "short"),
    ] {
        let form = correct.map(|(name, value)| (name, if name == field { text } else { value }));
        let refused = fixture.post("/panel/webhooks", &form).await;
        assert_eq!(refused.status, 422, "{field} {text}");
        assert!(
            refused.contains(&format!("id=\"{field}-wrong\"")),
            "{field} {text}"
        );
        assert!(!refused.contains("value=\"a secret") && !refused.contains("\"short\""));
    }
    let no_topics = fixture.post("/panel/webhooks", &correct[..2]).await;
    assert!(no_topics.status == 422 && no_topics.contains("id=\"topics-wrong\""));
    assert!(fixture.webhooks.endpoints.list().await.unwrap().is_empty());
}

#[tokio::test]
async fn topics_are_changed() {
    let fixture = PanelFixture::with_content().await;
    let path = format!("/panel/webhooks/{}/topics", fixture.endpoint);
    let form = [("topics", "post.created"), ("topics", "poll.voted")];
    let done = fixture.post(&path, &form).await;
    let page = fixture.get(done.header("location")).await;
    assert!(page.contains("Topics saved."));
    assert!(page.contains("value=\"poll.voted\" checked") && !page.contains("value=\"*\" checked"));
    for form in [&[][..], &[("topics", "no.such")]] {
        let refused = fixture.post(&path, form).await;
        assert!(refused.status == 422 && refused.contains("id=\"topics-wrong\""));
    }
    let topics = fixture.stored_endpoint().await.unwrap().topics;
    assert_eq!(topics.to_string(), "poll.voted,post.created");
}

#[tokio::test]
async fn a_secret_is_rotated_once_and_activated() {
    let fixture = PanelFixture::with_content().await;
    let before = fixture.stored_endpoint().await.unwrap();
    let page = fixture
        .get(&format!("/panel/webhooks/{}", fixture.endpoint))
        .await;
    let path = format!("/panel/webhooks/{}/rotate", fixture.endpoint);
    let form = [("nonce", page.nonce())];
    let shown = fixture.post(&path, &form).await;
    assert!(shown.status == 200 && shown.contains("whsec_"));
    assert_eq!(fixture.post(&path, &form).await.status, 409);
    let rotated = fixture.stored_endpoint().await.unwrap();
    assert_eq!(rotated.secret, before.secret);
    assert_ne!(rotated.pending_secret, before.pending_secret);
    let (status, page) = fixture.act("activate").await;
    assert!(status == 303 && page.contains("The new secret is active."));
    let activated = fixture.stored_endpoint().await.unwrap();
    assert_eq!(activated.secret, rotated.pending_secret.unwrap().secret);
    let (status, page) = fixture.act("activate").await;
    assert!(status == 409 && page.contains("no secret is pending"));
}

#[tokio::test]
async fn a_disabled_endpoint_is_not_pinged() {
    let fixture = PanelFixture::with_content().await;
    let (_, page) = fixture.act("disable").await;
    assert!(page.contains("Endpoint disabled.") && !page.contains("/ping\""));
    let (status, page) = fixture.act("ping").await;
    assert!(status == 409 && page.contains("the endpoint is disabled"));
    let (_, page) = fixture.act("enable").await;
    assert!(page.contains("Endpoint enabled."));
    let (status, page) = fixture.act("ping").await;
    assert!(status == 303 && page.contains("Ping queued.") && page.contains("queued</span>"));
}

#[tokio::test]
async fn an_endpoint_is_removed_with_its_deliveries() {
    let fixture = PanelFixture::with_content().await;
    let (status, page) = fixture.act("remove").await;
    assert!(status == 303 && page.contains("Endpoint deleted"));
    assert_eq!(
        (fixture.stored_endpoint().await, fixture.state().await),
        (None, None)
    );
    for action in [
        "remove",
        "rotate",
        "activate",
        "enable",
        "disable",
        "ping",
        "retry-dead",
    ] {
        assert_eq!(fixture.act(action).await.0, 404, "{action}");
    }
    let absent = fixture
        .get(&format!("/panel/webhooks/{}", fixture.endpoint))
        .await;
    assert_eq!(absent.status, 404);
}
