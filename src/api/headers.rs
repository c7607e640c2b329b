//! The headers of one response.

use bytes::BytesMut;
use http::HeaderMap;
use http::header::{HeaderName, HeaderValue};
use itoa::{Buffer, Integer};

/// Headers, and the one piece of memory in which the values stand that were written for this response.
pub(super) struct Headers {
    pub(super) map: HeaderMap,
    text: BytesMut,
}

impl Headers {
    /// None yet, with room for those of most responses.
    pub(super) fn new() -> Self {
        Self {
            map: HeaderMap::with_capacity(12),
            text: BytesMut::with_capacity(128),
        }
    }

    pub(super) fn number(&mut self, name: HeaderName, number: impl Integer) {
        self.written(name, &[Buffer::new().format(number)]);
    }

    /// A value of these parts. One that cannot stand in a header is left out: none of it comes from a client undecoded.
    pub(super) fn written(&mut self, name: HeaderName, parts: &[&str]) {
        for part in parts {
            self.text.extend_from_slice(part.as_bytes());
        }
        let value = HeaderValue::from_maybe_shared(self.text.split().freeze());
        if let Ok(value) = value {
            self.map.insert(name, value);
        }
    }
}
