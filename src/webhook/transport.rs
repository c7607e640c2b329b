//! Interface of the transport: signed request and response of an attempt.

use std::fmt;

use async_trait::async_trait;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, HeaderValue};
use thiserror::Error;

use super::signing::{DELIVERY, EVENT, SIGNATURE, TIMESTAMP, sign};
use super::{Endpoint, Event, WebhookSecret};
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
    /// Body of the event.
    pub body: Bytes,
}

impl SignedRequest {
    /// Signs the delivery of `event` to `endpoint` with `secret` at `now`.
    ///
    /// # Errors
    /// Fails if an id or the topic is not a valid header value. Values that the library creates are valid.
    #[doc(hidden)]
    pub fn sign(
        endpoint: &Endpoint,
        delivery: &DeliveryId,
        event: &Event,
        secret: &WebhookSecret,
        now: Timestamp,
    ) -> Result<Self, TransportError> {
        let timestamp = now.as_millis().div_euclid(1000).to_string();
        let signature = sign(secret, &timestamp, event.body.as_bytes()).map_err(signing_error)?;
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
        Ok(Self {
            url: endpoint.url.clone(),
            headers,
            body: Bytes::from(event.body.clone()),
        })
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
        Self {
            headers,
            excerpt,
            ..self
        }
    }
}

/// Replaces characters that are not [printable](is_printable), other than tab, line feed and carriage return, so that
/// the text is safe for terminals and databases, and truncates it to `limit` bytes at a character boundary.
#[cfg(feature = "webhooks")]
pub(crate) fn storable(text: &str, limit: usize) -> String {
    let is_unprintable =
        |letter: char| !is_printable(letter) && !matches!(letter, '\t' | '\n' | '\r');
    let mut text = text.replace(is_unprintable, "\u{fffd}");
    while text.len() > limit {
        text.pop();
    }
    text
}

/// Formats headers as lines `name: value`. Omits the lines that exceed `limit` bytes.
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

/// Beginning of the error of an attempt that sent nothing.
pub(crate) const NOT_SENT: &str = "not sent: ";

/// Reason why an attempt had no response, as one sentence for the operator.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
#[non_exhaustive]
pub struct TransportError(String);

impl TransportError {
    /// Creates an error with a sentence for the operator. The receiver may have received the request.
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }

    /// Creates an error of an attempt that sent no part of the request, for example because the address is not
    /// allowed. The message of the error is the reason after `not sent: `.
    pub fn not_sent(reason: impl fmt::Display) -> Self {
        Self(format!("{NOT_SENT}{reason}"))
    }

    /// Returns `true` if the attempt sent no part of the request.
    #[cfg(feature = "webhooks")]
    pub(crate) fn is_not_sent(&self) -> bool {
        self.0.starts_with(NOT_SENT)
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
