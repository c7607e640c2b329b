//! An endpoint, an event, and its deliveries.

use forum_api::model::{DeliveryId, EndpointId, EventId, Timestamp, UserId};
use forum_api::webhook::{
    Endpoint, Event, PlaintextCipher, SecretCipher, SignedRequest, Topic, WebhookSecret,
};

/// When everything begins, in seconds.
pub const START: i64 = 1_700_000_000;

/// So many milliseconds after the beginning.
pub fn after(millis: i64) -> Timestamp {
    Timestamp::from_millis(START * 1000 + millis)
}

/// A secret of one letter, 43 times.
pub fn secret(letter: &str) -> WebhookSecret {
    WebhookSecret::parse(&format!("whsec_{}", letter.repeat(43))).unwrap()
}

/// An endpoint with the secret of this letter.
pub fn endpoint(letter: &str) -> Endpoint {
    let id = EndpointId::parse("whe_1").unwrap();
    Endpoint {
        secret: PlaintextCipher.encrypt(&secret(letter), &id).unwrap(),
        id,
        url: "https://receiver.example/hook".into(),
        topics: "*".parse().unwrap(),
        owner: UserId::from(1),
        enabled: true,
        created_at: after(0),
        pending_secret: None,
        version: 1,
    }
}

/// An attempt at the beginning to deliver this body, signed with `secret`.
pub fn signed(secret: &WebhookSecret, body: &str) -> SignedRequest {
    signed_request(secret, "dlv_1", body, after(999))
}

/// An attempt at `now` to deliver this body under this id, signed with `secret`.
pub fn signed_request(
    secret: &WebhookSecret,
    delivery: &str,
    body: &str,
    now: Timestamp,
) -> SignedRequest {
    let delivery = DeliveryId::parse(delivery).unwrap();
    SignedRequest::sign(&endpoint("A"), &delivery, &event(body), secret, now).unwrap()
}

/// An event with this body, of a little before the beginning.
pub fn event(body: &str) -> Event {
    Event {
        id: EventId::parse("evt_1").unwrap(),
        topic: Topic::THREAD_CREATED,
        occurred_at: after(-5000),
        forum: None,
        body: body.into(),
    }
}
