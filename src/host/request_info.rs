//! Metadata of a request: time, id, client address, token and user agent.

use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use http::HeaderValue;

use crate::lock::lock;
use crate::model::{EventId, Timestamp, is_single_line_char};
use crate::runtime::{OsRandom, RandomSource};
use crate::token::Lookup;

/// Metadata of a request: its time and id, and the address, token lookup and user agent of the client.
///
/// An [`Authorizer`](super::Authorizer) receives it with each call, and a [`Board`](super::Board) with each caller
/// ([`Caller::request`](super::Caller::request)). With the client's address, a host can apply the bans, limits and logs
/// of its own web pages to API requests. A `RequestInfo` contains no secret, but addresses and user agents are personal
/// data in many jurisdictions.
///
/// The library creates it for requests of the API and, with [`background`](Self::background), for work without a request,
/// such as the attempts of webhook deliveries. A host creates it for its own web forms:
///
/// ```
/// use forum_api::host::{Access, MemberCaller, RequestInfo, VisibleForums};
/// use forum_api::model::{Timestamp, UserId};
///
/// let received_at = Timestamp::from_millis(1_769_860_800_000);
/// let request = RequestInfo::new(received_at)
///     .with_id("7f3a")
///     .with_client_ip("203.0.113.7".parse()?)
///     .with_user_agent("Mozilla/5.0");
/// let access = Access::new(VisibleForums::all()); // of the host's `Authorizer`, which takes `&request`
/// let member = MemberCaller::new(UserId::from(7), access, request);
/// assert_eq!(member.request().id(), Some("7f3a"));
/// assert!(member.request().token_lookup().is_none());
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct RequestInfo {
    received_at: Timestamp,
    is_background: bool,
    id: Option<Id>,
    client_ip: Option<IpAddr>,
    token_lookup: Option<Lookup>,
    user_agent: Option<HeaderValue>,
    /// Random source of the request's events; `None` for [`OsRandom`].
    random: Option<Arc<dyn RandomSource>>,
}

#[derive(Clone, Debug)]
enum Id {
    Api(RequestId, RequestEvents),
    Host(Arc<str>),
}

impl RequestInfo {
    /// Maximum length of [`user_agent`](Self::user_agent) in bytes.
    const MAX_USER_AGENT_LEN: usize = 256;

    /// Creates a `RequestInfo` with the time only. The `with_` methods set the rest.
    pub fn new(received_at: Timestamp) -> Self {
        Self {
            received_at,
            is_background: false,
            id: None,
            client_ip: None,
            token_lookup: None,
            user_agent: None,
            random: None,
        }
    }

    /// Creates a `RequestInfo` for work without a request, such as an attempt of a delivery.
    pub fn background(started_at: Timestamp) -> Self {
        Self { is_background: true, ..Self::new(started_at) }
    }

    /// Sets the id of the request in the host's own log.
    #[must_use]
    pub fn with_id(mut self, id: &str) -> Self {
        self.id = Some(Id::Host(id.into()));
        self
    }

    /// Sets the client's address.
    #[must_use]
    pub fn with_client_ip(mut self, client_ip: IpAddr) -> Self {
        self.client_ip = Some(client_ip);
        self
    }

    /// Sets the lookup of the token. Requests of web forms have no token.
    #[must_use]
    pub fn with_token_lookup(mut self, lookup: Lookup) -> Self {
        self.token_lookup = Some(lookup);
        self
    }

    /// Sets the user agent, or removes it if a header cannot contain the text, for example because of a line break.
    #[must_use]
    pub fn with_user_agent(self, user_agent: &str) -> Self {
        self.with_user_agent_header(HeaderValue::from_bytes(user_agent.as_bytes()).ok())
    }

    pub(crate) fn with_request_id(mut self, id: RequestId, events: RequestEvents) -> Self {
        self.id = Some(Id::Api(id, events));
        self
    }

    /// Sets the random source of the ids of events.
    pub(crate) fn with_random(self, random: Arc<dyn RandomSource>) -> Self {
        Self { random: Some(random), ..self }
    }

    pub(crate) fn random(&self) -> &dyn RandomSource {
        match &self.random {
            Some(random) => &**random,
            None => &OsRandom,
        }
    }

    /// Sets the user agent without copying the header.
    pub(crate) fn with_user_agent_header(self, user_agent: Option<HeaderValue>) -> Self {
        Self { user_agent, ..self }
    }

    /// Returns the time at which the request was received, or the work began.
    pub fn received_at(&self) -> Timestamp {
        self.received_at
    }

    /// Returns `true` if the value was created with [`background`](Self::background). The webhook worker passes such a
    /// value to the [`Authorizer`](super::Authorizer) when it selects the endpoints that receive an event, and before
    /// each attempt of a delivery.
    pub fn is_background(&self) -> bool {
        self.is_background
    }

    /// Returns the id: the response header `x-request-id` for requests of the API, otherwise the id that the host set;
    /// `None` if the host set no id.
    pub fn id(&self) -> Option<&str> {
        match self.id.as_ref()? {
            Id::Api(id, _) => Some(id.as_str()),
            Id::Host(id) => Some(id),
        }
    }

    /// Records an event of a request of the API. Returns the request's id; `None` if the API has not created this value.
    pub(crate) fn record_event(&self, event: &EventId) -> Option<&str> {
        match self.id.as_ref()? {
            Id::Api(id, events) => {
                if let Some(ids) = &events.0 {
                    lock(ids).push(event.clone());
                }
                Some(id.as_str())
            }
            Id::Host(_) => None,
        }
    }

    /// Removes the ids of the request's events, which the last log line of the request contains. A command calls it
    /// before it repeats a transaction that was rolled back.
    pub fn discard_events(&self) {
        if let Some(Id::Api(_, events)) = &self.id
            && let Some(ids) = &events.0
        {
            lock(ids).clear();
        }
    }

    /// Returns the client's address; `None` if the address of the peer is unknown
    /// ([`peer_ip`](crate::ForumApiBuilder::peer_ip)). For requests of the API, the address is the result of
    /// [`client_ip`](crate::client_ip), and determines the budget of a guest.
    pub fn client_ip(&self) -> Option<IpAddr> {
        self.client_ip
    }

    /// Returns the public part of the request's token; `None` for guests and web forms.
    pub fn token_lookup(&self) -> Option<Lookup> {
        self.token_lookup
    }

    /// Returns the client's `user-agent`; `None` if the header is absent or the result is empty.
    ///
    /// The text is truncated to 256 bytes. It also ends before the first byte
    /// that is not UTF-8, and before the first character that a [single-line text](crate::model::is_single_line) cannot
    /// contain; tabs are allowed.
    pub fn user_agent(&self) -> Option<&str> {
        let bytes = self.user_agent.as_ref()?.as_bytes();
        let length = bytes.len().min(Self::MAX_USER_AGENT_LEN);
        let text = bytes.get(..length)?.utf8_chunks().next()?.valid();
        let is_allowed = |c: char| c == '\t' || is_single_line_char(c);
        let text = text.split(|c| !is_allowed(c)).next()?;
        (!text.is_empty()).then_some(text)
    }
}

/// Ids of the events that a request of the API caused, in the order of their creation. The default collects none.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestEvents(Option<Arc<Mutex<Vec<EventId>>>>);

impl RequestEvents {
    pub(crate) fn of_write() -> Self {
        Self(Some(Arc::default()))
    }

    /// Returns the ids, separated by spaces; `None` if there are none.
    pub(crate) fn ids(&self) -> Option<String> {
        let ids: Vec<_> = lock(self.0.as_ref()?).iter().map(ToString::to_string).collect();
        (!ids.is_empty()).then(|| ids.join(" "))
    }
}

/// Id of an API request: 128 bits as 32 lower-case hexadecimal digits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestId(pub(crate) [u8; 32]);

impl RequestId {
    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user_agent(bytes: &[u8]) -> Option<String> {
        let header = HeaderValue::from_bytes(bytes).ok();
        let request = RequestInfo::new(Timestamp::default()).with_user_agent_header(header);
        request.user_agent().map(str::to_owned)
    }

    #[test]
    fn a_user_agent_is_cut_at_a_character() {
        let long = "é".repeat(200);
        assert_eq!(user_agent(long.as_bytes()), Some("é".repeat(128)));
        let odd = format!("x{long}");
        let cut = format!("x{}", "é".repeat(127));
        assert_eq!(user_agent(odd.as_bytes()), Some(cut));
        assert_eq!(user_agent(b"curl/8\xff!"), Some("curl/8".into()));
        assert_eq!(user_agent(b"\xff"), None);
        assert_eq!(user_agent(b""), None);
    }

    #[test]
    fn a_user_agent_is_cut_before_a_character_that_a_line_cannot_contain() {
        for refused in ['\u{80}', '\u{9b}', '\u{2028}', '\u{202e}', '\u{2069}'] {
            let text = format!("a\tb{refused}c");
            assert_eq!(user_agent(text.as_bytes()), Some("a\tb".into()), "{text:?}");
        }
        assert_eq!(user_agent("\u{202e}a".as_bytes()), None);
    }

    #[test]
    fn a_user_agent_with_a_line_break_is_ignored() {
        let request = RequestInfo::new(Timestamp::default()).with_user_agent("a\nb");
        assert_eq!(request.user_agent(), None);
    }
}
