//! An attempt, signed and ready.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, HeaderValue};

use super::signature::{DELIVERY, EVENT, SIGNATURE, TIMESTAMP, sign};
use super::{Endpoint, Event, Secret, Unsent};
use crate::model::{DeliveryId, Timestamp};

/// An attempt, signed and ready.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// Where it goes.
    pub url: String,
    /// All of its headers but those of the connection.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
}

impl Outgoing {
    /// An attempt at `now` to tell `endpoint` of `event`, signed with the secret in force.
    ///
    /// # Errors
    /// When it cannot be signed, which no topic, id and secret that there are bring about.
    pub fn signed(
        endpoint: &Endpoint,
        delivery: &DeliveryId,
        event: &Event,
        secret: &Secret,
        now: Timestamp,
    ) -> Result<Self, Unsent> {
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

const AGENT: &str = concat!("forum-api/", env!("CARGO_PKG_VERSION"));

fn unsigned(why: impl std::fmt::Display) -> Unsent {
    Unsent(format!("It could not be signed: {why}."))
}
