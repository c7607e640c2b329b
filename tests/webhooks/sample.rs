//! Sample endpoint, event and signed requests.

use forum_api::model::{DeliveryId, EventId, Timestamp};
use forum_api::test_util;
use forum_api::webhook::{
    Endpoint, Event, PlaintextCipher, SecretCipher, SignedRequest, Topic, WebhookSecret,
};

/// Unix time of the samples in seconds.
pub const START: i64 = 1_700_000_000;

/// Returns the time this number of milliseconds after [`START`].
pub fn after(millis: i64) -> Timestamp {
    Timestamp::from_millis(START * 1000 + millis)
}

/// Returns a secret of 43 equal letters.
pub fn secret(letter: &str) -> WebhookSecret {
    WebhookSecret::parse(&format!("whsec_{}", letter.repeat(43))).unwrap()
}

/// Returns an endpoint with the secret of this letter.
pub fn endpoint(letter: &str) -> Endpoint {
    let mut endpoint = test_util::endpoint();
    endpoint.url = "https://receiver.example/hook".into();
    endpoint.created_at = after(0);
    endpoint.secret = PlaintextCipher.encrypt(&secret(letter), &endpoint.id).unwrap();
    endpoint
}

/// Signs a delivery of this body at [`START`].
pub fn signed(secret: &WebhookSecret, body: &str) -> SignedRequest {
    signed_request(secret, "dlv_1", body, after(999))
}

/// Signs a delivery with this id and body at `now`.
pub fn signed_request(
    secret: &WebhookSecret,
    delivery: &str,
    body: &str,
    now: Timestamp,
) -> SignedRequest {
    let delivery = DeliveryId::parse(delivery).unwrap();
    SignedRequest::sign(&endpoint("A"), &delivery, &event(body), secret, now).unwrap()
}

/// Returns an event with this body, five seconds before [`START`].
pub fn event(body: &str) -> Event {
    Event {
        id: EventId::parse("evt_1").unwrap(),
        topic: Topic::THREAD_CREATED,
        occurred_at: after(-5000),
        forum_id: None,
        request_id: None,
        body: body.into(),
    }
}
