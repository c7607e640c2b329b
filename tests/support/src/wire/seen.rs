//! A connection as its receiver saw it.

use forum_api::model::Timestamp;
use forum_api::webhook::{WebhookSecret, verify};
use http::HeaderMap;

/// A connection as its receiver saw it.
#[derive(Clone, Debug, Default)]
pub struct RecordedRequest {
    /// Whom the client asked for, over TLS.
    pub server_name: Option<String>,
    /// The request.
    pub request: String,
    /// Whether it has ended.
    pub is_closed: bool,
}

impl RecordedRequest {
    /// A header's text.
    pub fn header(&self, name: &str) -> String {
        let headers = parse_headers(&self.request);
        headers[name].to_str().unwrap().to_owned()
    }

    /// The body.
    pub fn body(&self) -> &str {
        self.request.split_once("\r\n\r\n").unwrap().1
    }

    /// Whether it was signed with this secret at about `now`.
    pub fn is_signed(&self, secret: &WebhookSecret, now: Timestamp) -> bool {
        let secrets = std::slice::from_ref(secret);
        let body = self.body().as_bytes();
        verify(secrets, &parse_headers(&self.request), body, now).is_ok()
    }
}

/// The headers of a request.
pub(super) fn parse_headers(request: &str) -> HeaderMap {
    let lines = request.lines().skip(1).take_while(|line| !line.is_empty());
    let pairs = lines.map(|line| line.split_once(": ").unwrap());
    pairs
        .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
        .collect::<HeaderMap>()
}
