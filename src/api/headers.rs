//! The headers of one response.

use std::fmt::{Display, Write as _};

use bytes::BytesMut;
use http::HeaderMap;
use http::header::{HeaderName, HeaderValue};

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

    pub(super) fn fixed(&mut self, name: HeaderName, value: &'static str) {
        self.map.insert(name, HeaderValue::from_static(value));
    }

    /// A value that cannot stand in a header is left out: no part of these comes from a client undecoded.
    pub(super) fn written(&mut self, name: HeaderName, value: impl Display) {
        let written = write!(self.text, "{value}").is_ok();
        let value = HeaderValue::from_maybe_shared(self.text.split().freeze());
        if let Some(value) = value.ok().filter(|_| written) {
            self.map.insert(name, value);
        }
    }
}
