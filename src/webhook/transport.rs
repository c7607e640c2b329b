//! Interface of the transport: signed request and response of an attempt.

use std::fmt;

use async_trait::async_trait;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, HeaderValue};
use serde::{Serialize, Serializer};
use thiserror::Error;

use super::signing::{DELIVERY, EVENT, SIGNATURE, TIMESTAMP, sign};
use super::{Endpoint, Event, WebhookSecret, delivery_body};
#[cfg(feature = "webhooks")]
use crate::model::is_printable;
use crate::model::{DeliveryId, Timestamp};

const AGENT: &str = concat!("forum-api/", env!("CARGO_PKG_VERSION"));

/// The signed HTTP request of an attempt.
#[derive(Clone, Debug)]
pub struct SignedRequest {
    /// URL of the endpoint.
    pub url: String,
    /// The headers `content-type`, `user-agent` and `x-forum-*`. The transport adds the others, such as `host`.
    pub headers: HeaderMap,
    /// Body of the event, with the id of the delivery.
    pub body: Bytes,
}

impl SignedRequest {
    /// Signs the delivery of `event` to `endpoint` with `secret` at `now`.
    ///
    /// # Errors
    /// Fails if an id or the topic is not a valid header value, or if the body of the event is not a JSON object with fields.
    /// Values that the library creates are valid.
    #[doc(hidden)]
    pub fn sign(
        endpoint: &Endpoint,
        delivery: &DeliveryId,
        event: &Event,
        secret: &WebhookSecret,
        now: Timestamp,
    ) -> Result<Self, TransportError> {
        let timestamp = now.as_millis().div_euclid(1000).to_string();
        let body = delivery_body(&event.body, delivery)
            .ok_or_else(|| signing_error("the body of the event is not a JSON object"))?;
        let signature = sign(secret, &timestamp, body.as_bytes()).map_err(signing_error)?;
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
            headers.insert(name, HeaderValue::try_from(value).map_err(signing_error)?);
        }
        let url = endpoint.url.clone();
        Ok(Self { url, headers, body: body.into() })
    }
}

fn signing_error(reason: impl fmt::Display) -> TransportError {
    TransportError::not_sent(format_args!("the request could not be signed: {reason}"))
}

/// Response of a receiver. The worker stores at most 4 KiB of headers and excerpt together, and replaces control
/// characters other than tab, line feed and carriage return, bidirectional overrides and other invisible characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiverResponse {
    /// Status of the response.
    pub status: u16,
    /// Headers as lines `name: value`, at most 2 KiB.
    pub headers: String,
    /// Beginning of the body.
    pub excerpt: String,
}

#[cfg(feature = "webhooks")]
impl ReceiverResponse {
    /// Maximum length of headers and excerpt together, in bytes.
    pub(crate) const MAX_LEN: usize = 4 * 1024;

    /// Maximum length of the headers, in bytes.
    pub(crate) const MAX_HEADERS_LEN: usize = 2 * 1024;

    /// Makes headers and excerpt [`storable`].
    pub(crate) fn storable(self) -> Self {
        let headers = storable(&self.headers, Self::MAX_HEADERS_LEN);
        let excerpt = storable(&self.excerpt, Self::MAX_LEN - headers.len());
        Self { headers, excerpt, ..self }
    }
}

/// Replaces characters that are not [printable](is_printable), other than tab, line feed and carriage return, so that
/// the text is safe for terminals and databases, and truncates it to `limit` bytes at a character boundary.
#[cfg(feature = "webhooks")]
fn storable(text: &str, limit: usize) -> String {
    let is_unprintable =
        |letter: char| !is_printable(letter) && !matches!(letter, '\t' | '\n' | '\r');
    let mut text = text.replace(is_unprintable, "\u{fffd}");
    while text.len() > limit {
        text.pop();
    }
    text
}

/// Formats headers as lines `name: value`. Ends before the first line with which the text would
/// exceed `limit` bytes.
#[cfg(feature = "webhooks")]
pub(crate) fn header_lines(headers: &HeaderMap, limit: usize) -> String {
    let mut lines = String::new();
    for (name, value) in headers {
        let value = String::from_utf8_lossy(value.as_bytes());
        let line = format!("{name}: {value}\n");
        if lines.len() + line.len() > limit {
            break;
        }
        lines += &line;
    }
    lines
}

/// Error of an attempt that had no response. If nothing was sent, its message is the reason after `not sent: `. It is
/// serialized as its message.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}{reason}", if *sent { "" } else { "not sent: " })]
pub struct TransportError {
    /// Reason, as one sentence for the operator.
    pub reason: String,
    /// `false` if the attempt sent no part of the request, for example because the address is not allowed. Otherwise the
    /// receiver may have received the request.
    pub sent: bool,
}

impl TransportError {
    /// Creates the error of an attempt that may have sent the request.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), sent: true }
    }

    /// Creates the error of an attempt that sent no part of the request.
    pub fn not_sent(reason: impl fmt::Display) -> Self {
        Self { reason: reason.to_string(), sent: false }
    }
}

#[cfg(feature = "webhooks")]
impl TransportError {
    /// Makes the reason [`storable`].
    pub(crate) fn storable(mut self) -> Self {
        self.reason = storable(&self.reason, ReceiverResponse::MAX_LEN);
        self
    }
}

impl Serialize for TransportError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Sends the requests of attempts.
#[async_trait]
pub trait Transport: Send + Sync + 'static {
    /// Makes one attempt, without following redirects. Must end before the worker's `step_timeout`. An implementation may
    /// send the request again on a new connection if the receiver closed a reused one.
    ///
    /// # Errors
    /// [`TransportError`] if there was no response. [`TransportError::not_sent`] if nothing was sent: the metrics and
    /// the statistics do not count the duration of such an attempt.
    async fn send(&self, request: SignedRequest) -> Result<ReceiverResponse, TransportError>;
}

impl_for_pointers!(Transport {
    async fn send(request: SignedRequest) -> Result<ReceiverResponse, TransportError>;
});
