//! A request as its receiver saw it.

use forum_api::model::Timestamp;
use forum_api::webhook::{WebhookSecret, verify};
use http::HeaderMap;

/// A connection to a receiver, with its last request.
#[derive(Clone, Debug, Default)]
pub struct RecordedRequest {
    /// Server name of the TLS handshake.
    pub server_name: Option<String>,
    pub request: String,
    pub is_closed: bool,
}

impl RecordedRequest {
    pub fn header(&self, name: &str) -> String {
        let headers = parse_headers(&self.request);
        headers[name].to_str().unwrap().to_owned()
    }

    pub fn body(&self) -> &str {
        self.request.split_once("\r\n\r\n").unwrap().1
    }

    /// Returns whether the request is signed with this secret at about `now`.
    pub fn is_signed(&self, secret: &WebhookSecret, now: Timestamp) -> bool {
        let secrets = std::slice::from_ref(secret);
        let body = self.body().as_bytes();
        verify(secrets, &parse_headers(&self.request), body, now).is_ok()
    }
}

/// Parses the headers of a request.
pub(crate) fn parse_headers(request: &str) -> HeaderMap {
    let lines = request.lines().skip(1).take_while(|line| !line.is_empty());
    let pairs = lines.map(|line| line.split_once(": ").unwrap());
    let headers = pairs.map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
    headers.collect::<HeaderMap>()
}
