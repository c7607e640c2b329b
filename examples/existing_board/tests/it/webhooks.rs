//! Replies through the form and through the API are sent to webhook endpoints.

use std::time::Duration;

use forum_api::webhook::WebhookSecret;
use forum_test_support::receiver::Receiver;
use serde_json::Value;

use crate::added::webhooks;
use crate::fixture::run_with_postgres;
use crate::site::{Site, TOPIC};

/// Checks the signature of the next request and returns the body of its post.
fn next_post(receiver: &Receiver, secret: &WebhookSecret) -> Value {
    let received = receiver.next();
    assert!(received.is_signed_with(secret.expose_secret()));
    assert_eq!(received.header("x-forum-event"), "post.created");
    received.json()["data"]["post"]["body"].clone()
}

#[test]
fn a_reply_through_the_form_or_the_api_is_delivered_signed() {
    run_with_postgres(async {
        let site = Site::new(Duration::ZERO).await;
        let receiver = Receiver::new();
        let url = receiver.url.clone();
        let registered = webhooks::register(&site.club, site.alice, url).await;
        let secret = registered.unwrap();
        let worker = webhooks::start(&site.club).unwrap();

        assert_eq!(site.submit_reply(TOPIC, "Green.").await.status, 303);
        assert_eq!(next_post(&receiver, &secret), "Green.");
        assert_eq!(site.post_reply(TOPIC, "Black.").await.status, 201);
        assert_eq!(next_post(&receiver, &secret), "Black.");
        worker.stop().await;
        assert_eq!(site.count("forum_api_attempts").await, 2);
    });
}
