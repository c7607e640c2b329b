//! The transport of attempts: the signed request that leaves, and the response.

use async_trait::async_trait;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, HeaderValue};
use thiserror::Error;

use super::signing::{DELIVERY, EVENT, SIGNATURE, TIMESTAMP, sign};
use super::{Endpoint, Event, WebhookSecret};
use crate::model::{DeliveryId, Timestamp};

const AGENT: &str = concat!("forum-api/", env!("CARGO_PKG_VERSION"));

/// An attempt, signed and ready.
#[derive(Clone, Debug)]
pub struct SignedRequest {
    /// Where it goes.
    pub url: String,
    /// All of its headers but those of the connection.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
}

impl SignedRequest {
    /// An attempt at `now` to tell `endpoint` of `event`, signed with the secret in force.
    ///
    /// # Errors
    /// When it cannot be signed, which no topic, id and secret that there are bring about.
    pub fn sign(
        endpoint: &Endpoint,
        delivery: &DeliveryId,
        event: &Event,
        secret: &WebhookSecret,
        now: Timestamp,
    ) -> Result<Self, TransportError> {
        let timestamp = now.as_millis().div_euclid(1000).to_string();
        let signature = sign(secret, &timestamp, event.body.as_bytes()).map_err(unsigned)?;
        let mut headers = HeaderMap::from_iter([
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (USER_AGENT, HeaderValue::from_static(AGENT)),
        ]);
        for (name, value) in [
            (EVENT, event.topic.to_string()),
            (DELIVERY, delivery.to_string()),
            (TIMESTAMP, timestamp),
            (SIGNATURE, signature),
        ] {
            headers.insert(name, HeaderValue::try_from(value).map_err(unsigned)?);
        }
        Ok(Self {
            url: endpoint.url.clone(),
            headers,
            body: Bytes::from(event.body.clone()),
        })
    }
}

fn unsigned(why: impl std::fmt::Display) -> TransportError {
    TransportError(format!("the request could not be signed: {why}"))
}

/// What the receiver answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiverResponse {
    /// The status.
    pub status: u16,
    /// The beginning of the body, at most 4 KiB.
    pub excerpt: String,
}

#[cfg(feature = "webhooks")]
impl ReceiverResponse {
    /// The most bytes of an excerpt.
    pub(crate) const MAX_EXCERPT: usize = 4 * 1024;

    /// The beginning of a text, in whole characters.
    pub(crate) fn excerpt_of(mut text: String) -> String {
        while text.len() > Self::MAX_EXCERPT {
            text.pop();
        }
        text
    }
}

/// Why there was no answer, in one sentence for the log.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct TransportError(pub String);

/// Sends one attempt.
#[async_trait]
pub trait Transport: Send + Sync + 'static {
    /// Sends it once, and follows no redirect. It answers within the time that an attempt has.
    ///
    /// # Errors
    /// When there was no answer, or nothing may be sent there.
    async fn send(&self, request: SignedRequest) -> Result<ReceiverResponse, TransportError>;
}
