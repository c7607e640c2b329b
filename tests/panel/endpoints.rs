//! Adding an endpoint, and the actions of an endpoint.

use forum_api::webhook::Endpoint;

use crate::fixture::{PanelFixture, Response};

impl PanelFixture {
    async fn stored_endpoint(&self) -> Option<Endpoint> {
        let id = self.endpoint_id();
        self.webhooks.endpoints.find(&id).await.unwrap()
    }

    /// Sends the form of an action and follows its redirect.
    async fn run_action(&self, action: &str) -> (u16, Response) {
        self.post_and_follow(&self.endpoint_path(action)).await
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
    let stored = &fixture.webhooks.endpoints.list().await.unwrap()[0];
    assert_eq!(stored.topics.to_string(), "*,message.sent");
    assert_eq!(stored.owner, 1.into());
    let list = fixture.get("/panel/webhooks").await;
    assert!(list.contains("https://93.184.215.14/hook") && !list.contains("whsec_"));
}

#[tokio::test]
async fn each_invalid_field_is_marked() {
    let fixture = PanelFixture::new().await;
    let valid = [
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
        let form = valid.map(|(name, value)| (name, if name == field { text } else { value }));
        let page = fixture.post("/panel/webhooks", &form).await;
        let error = format!("id=\"{field}-error\"");
        assert!(
            page.status == 422 && page.contains(&error),
            "{field} {text}"
        );
        assert!(!page.contains("value=\"a secret") && !page.contains("\"short\""));
    }
    let no_topics = fixture.post("/panel/webhooks", &valid[..2]).await;
    assert!(no_topics.status == 422 && no_topics.contains("id=\"topics-error\""));
    assert!(fixture.webhooks.endpoints.list().await.unwrap().is_empty());
}

#[tokio::test]
async fn topics_can_be_changed() {
    let fixture = PanelFixture::with_content().await;
    let path = fixture.endpoint_path("/topics");
    let form = [("topics", "post.created"), ("topics", "poll.voted")];
    let saved = fixture.post(&path, &form).await;
    let page = fixture.get(saved.header("location")).await;
    assert!(page.contains("Topics saved."));
    assert!(page.contains("value=\"poll.voted\" checked") && !page.contains("value=\"*\" checked"));
    for form in [&[][..], &[("topics", "no.such")]] {
        let page = fixture.post(&path, form).await;
        assert!(page.status == 422 && page.contains("id=\"topics-error\""));
    }
    let topics = fixture.stored_endpoint().await.unwrap().topics;
    assert_eq!(topics.to_string(), "poll.voted,post.created");
}

#[tokio::test]
async fn a_secret_is_rotated_once_and_activated() {
    let fixture = PanelFixture::with_content().await;
    let before = fixture.stored_endpoint().await.unwrap();
    let page = fixture.get(&fixture.endpoint_path("")).await;
    let path = fixture.endpoint_path("/rotate");
    let form = [("once", page.nonce())];
    let shown = fixture.post(&path, &form).await;
    assert!(shown.status == 200 && shown.contains("whsec_"));
    assert_eq!(fixture.post(&path, &form).await.status, 409);
    let rotated = fixture.stored_endpoint().await.unwrap();
    assert_eq!(rotated.secret, before.secret);
    assert_ne!(rotated.pending_secret, before.pending_secret);
    let (status, page) = fixture.run_action("/activate").await;
    assert!(status == 303 && page.contains("The new secret is active."));
    let activated = fixture.stored_endpoint().await.unwrap();
    assert_eq!(activated.secret, rotated.pending_secret.unwrap().secret);
    let (status, page) = fixture.run_action("/activate").await;
    assert!(status == 409 && page.contains("no secret is pending"));
}

#[tokio::test]
async fn a_disabled_endpoint_cannot_be_pinged() {
    let fixture = PanelFixture::with_content().await;
    let (_, page) = fixture.run_action("/disable").await;
    assert!(page.contains("Endpoint disabled.") && !page.contains("/ping\""));
    let (status, page) = fixture.run_action("/ping").await;
    assert!(status == 409 && page.contains("the endpoint is disabled"));
    let (_, page) = fixture.run_action("/enable").await;
    assert!(page.contains("Endpoint enabled."));
    let (status, page) = fixture.run_action("/ping").await;
    assert!(status == 303 && page.contains("Ping queued.") && page.contains("queued</span>"));
}

#[tokio::test]
async fn an_endpoint_is_removed_with_its_deliveries() {
    let fixture = PanelFixture::with_content().await;
    let (status, page) = fixture.run_action("/remove").await;
    assert!(status == 303 && page.contains("Endpoint deleted"));
    assert!(fixture.stored_endpoint().await.is_none() && fixture.state().await.is_none());
    for action in "remove rotate activate enable disable ping retry-dead".split(' ') {
        let action = &format!("/{action}");
        assert_eq!(fixture.run_action(action).await.0, 404, "{action}");
    }
    let page = fixture.get(&fixture.endpoint_path("")).await;
    assert_eq!(page.status, 404);
}
