//! The context of one request: its id, client, charge and log lines.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::StatusCode;
use http::header::USER_AGENT;
use http::request::Parts;
use serde_json::value::RawValue;
use tracing::field::Empty;
use tracing::{Span, record_all};
use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::usage::RequestUsage;
use crate::host::{RequestEvents, RequestId, RequestInfo};
use crate::http_util::loggable_path;
use crate::mask_secrets::mask_secrets;
use crate::metrics::recorder;
use crate::model::Timestamp;
use crate::operation::CachePolicy;
use crate::rate_limit::{RateLimitDecision, RateLimitKey};
use crate::runtime::RandomSource;
use crate::token::Lookup;

const X_REQUEST_ID: &str = "x-request-id";

/// A request and the results of the pipeline's steps that the response and the log need.
pub(crate) struct RequestContext<'h> {
    /// Head of the request. Its URI includes the path prefix that a router in front of the service removed.
    pub(crate) head: &'h Parts,
    pub(crate) id: RequestId,
    pub(crate) events: RequestEvents,
    /// Address of the client; `None` if the server does not know the peer.
    pub(crate) client_ip: Option<IpAddr>,
    /// Key of the budget that is charged for a request without a valid token.
    pub(crate) guest_key: RateLimitKey,
    pub(crate) received_at: Timestamp,
    /// Path template of the endpoint; `None` for an unknown path.
    pub(crate) route: Option<&'static str>,
    /// Id of the operation; `None` for an unknown path, and for a path without operations.
    pub(crate) operation: Option<&'static str>,
    /// Caching policy of a successful response.
    pub(crate) cache_policy: CachePolicy,
    /// True if a successful response has an `etag`.
    pub(crate) is_conditional: bool,
    /// Lookup of the token for which the request is counted; the token can be revoked or expired. `None` for a request
    /// without a token, or with an unknown one.
    pub(crate) token: Option<Lookup>,
    pub(crate) charge: Option<RateLimitDecision>,
    /// Charged units; `None` before the first charge.
    pub(crate) charged_units: Option<u32>,
}

impl<'h> RequestContext<'h> {
    pub(super) fn new(
        head: &'h Parts,
        id: RequestId,
        client_ip: Option<IpAddr>,
        guest_key: RateLimitKey,
        received_at: Timestamp,
    ) -> Self {
        Self {
            head,
            id,
            events: RequestEvents::default(),
            client_ip,
            guest_key,
            received_at,
            route: None,
            operation: None,
            cache_policy: CachePolicy::PrivateNoCache,
            is_conditional: false,
            token: None,
            charge: None,
            charged_units: None,
        }
    }

    /// Opens the span of the request. The empty fields are recorded later.
    pub(crate) fn span(&self) -> Span {
        tracing::info_span!(
            "request",
            request_id = self.id.as_str(),
            client_request_id = self.client_request_id(),
            client = self.client_ip.map(tracing::field::display),
            method = %recorder::method_label(&self.head.method),
            route = Empty,
            cost = Empty,
            owner = Empty,
            token = Empty,
            status = Empty,
            code = Empty,
            reason = Empty,
            elapsed_ms = Empty,
        )
    }

    /// Returns the request id that the client sent, with secrets masked; `None` unless it has 1 to 64 characters of
    /// `A-Za-z0-9._-`.
    fn client_request_id(&self) -> Option<String> {
        let text = self.head.headers.get(X_REQUEST_ID)?.to_str().ok()?;
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        ((1..=64).contains(&text.len()) && text.bytes().all(is_plain)).then(|| mask_secrets(text))
    }

    /// Returns the metadata of the request, for the host. `random` is the source of the ids of its events.
    pub(super) fn request_info(&self, random: &Arc<dyn RandomSource>) -> RequestInfo {
        let user_agent = self.head.headers.get(USER_AGENT).cloned();
        let mut request = RequestInfo::new(self.received_at)
            .with_random(Arc::clone(random))
            .with_request_id(self.id, self.events.clone())
            .with_user_agent_header(user_agent);
        if let Some(client_ip) = self.client_ip {
            request = request.with_client_ip(client_ip);
        }
        match self.token {
            Some(lookup) => request.with_token_lookup(lookup),
            None => request,
        }
    }

    /// Returns the data of the request for the usage counters. `status` is `None` if the client disconnected before the
    /// response.
    pub(super) fn usage(&self, status: Option<StatusCode>) -> RequestUsage {
        RequestUsage {
            received_at: self.received_at,
            token: self.token,
            operation: self.operation,
            units: self.charged_units.unwrap_or_default(),
            status,
        }
    }

    /// Returns the path, for the log; `None` for an unknown route, whose path can be any text.
    fn path(&self) -> Option<String> {
        self.route.and_then(|_| loggable_path(&self.head.uri))
    }

    /// Logs the end of a request whose client disconnected before the response.
    pub(super) fn log_disconnect(&self) {
        let span = Span::current();
        record_all!(span, route = self.route, cost = self.charged_units);
        tracing::info!(
            request_id = self.id.as_str(),
            token = self.token.as_ref().map(Lookup::as_str),
            method = %recorder::method_label(&self.head.method),
            path = self.path(),
            route = self.route,
            cost = self.charged_units,
            "client disconnected"
        );
    }

    /// Logs the end of the request. Records all fields in one call, because each call makes a subscriber look up the
    /// span. The event has the fields, too, for programs without spans. `reason` is that of the header `x-error-reason`.
    /// `created` is the body of a new resource.
    pub(super) fn log_response(
        &self,
        status: StatusCode,
        code: Option<&'static str>,
        reason: Option<&str>,
        elapsed: Duration,
        created: Option<&[u8]>,
    ) {
        let elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        record_all!(
            Span::current(),
            route = self.route,
            cost = self.charged_units,
            status = status.as_u16(),
            code = code,
            reason = reason,
            elapsed_ms = elapsed_ms,
        );
        tracing::info!(
            request_id = self.id.as_str(),
            token = self.token.as_ref().map(Lookup::as_str),
            method = %recorder::method_label(&self.head.method),
            path = self.path(),
            route = self.route,
            cost = self.charged_units,
            status = status.as_u16(),
            code,
            reason,
            elapsed_ms,
            created = created.and_then(ids),
            events = status.is_success().then(|| self.events.ids()).flatten(),
            "request completed"
        );
    }
}

/// Returns the ids of a resource with the names of their fields. Copies none of its texts, which can be long.
fn ids(resource: &[u8]) -> Option<String> {
    let fields: BTreeMap<String, &RawValue> = serde_json::from_slice(resource).ok()?;
    let texts: Vec<_> = fields
        .iter()
        .filter(|(name, _)| name.ends_with("Id"))
        .filter_map(|(name, id)| {
            let id = id.get().strip_prefix('"')?.strip_suffix('"')?;
            Some(format!("{name}={id}"))
        })
        .collect();
    Some(texts.join(" "))
}

/// Generates the request ids of a service. The ids do not reveal the number of requests.
#[derive(Debug)]
pub(crate) struct RequestIdGenerator {
    seed: u64,
    counter: AtomicU64,
}

impl RequestIdGenerator {
    pub(crate) fn new(random: &dyn RandomSource) -> Self {
        let mut seed = [0; 8];
        if let Err(error) = random.fill(&mut seed) {
            tracing::error!(%error, "random source failed; request ids are predictable");
        }
        Self { seed: u64::from_le_bytes(seed), counter: AtomicU64::new(0) }
    }

    /// Returns a new id: 48 bits of the time, so that ids sort by time, and 80 bits of a hashed counter.
    pub(crate) fn next(&self, now: Timestamp) -> RequestId {
        let count = self.counter.fetch_add(1, Ordering::Relaxed);
        let hash = xxh3_128_with_seed(&count.to_le_bytes(), self.seed);
        let time = u128::from(now.as_millis().unsigned_abs()) << 80;
        let mut digits = [b'0'; 32];
        // 16 bytes have exactly 32 digits, so this cannot fail.
        let _ = base16ct::lower::encode(&(time | hash >> 48).to_be_bytes(), &mut digits);
        RequestId(digits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::SeededRandom;

    /// The ids begin with the time. The rest differs between services that have received the same number of requests.
    #[test]
    fn services_generate_different_ids_at_the_same_time() {
        let now = Timestamp::from_millis(1_767_225_600_000);
        let [one, other] = [1, 2].map(|seed| {
            let ids = RequestIdGenerator::new(&SeededRandom::new(seed));
            ids.next(now).as_str().to_owned()
        });
        let [(time, one), (other_time, other)] = [&one, &other].map(|id| id.split_at(12));
        let hex = format!("{:012x}", now.as_millis());
        assert_eq!([time, other_time], [&*hex; 2]);
        assert_ne!(one, other);
    }
}
