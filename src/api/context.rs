//! What the service is made of, and what is known of a request.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use http::Extensions;
use http::request::Parts;

use super::ApiSettings;
use super::client_ip::budget_key;
use super::endpoint::ApiEndpoint;
use super::request_id::{Hex128, RequestIdGenerator};
use crate::environment::Environment;
use crate::host::{Authorizer, Board};
use crate::http_util::{OriginalUri, restore_uri};
use crate::model::Timestamp;
use crate::rate_limit::{RateLimitDecision, RateLimitKey};
use crate::store::Stores;

/// What the service is made of.
pub(super) struct ApiInner {
    pub(super) authority: Arc<dyn Authorizer>,
    pub(super) board: Arc<dyn Board>,
    pub(super) stores: Stores,
    pub(super) environment: Environment,
    pub(super) settings: ApiSettings,
    pub(super) request_ids: RequestIdGenerator,
    pub(super) document: Bytes,
    pub(super) peer: fn(&Extensions) -> Option<IpAddr>,
    pub(super) original_uri: OriginalUri,
    pub(super) warned_no_peer_ip: AtomicBool,
}

/// A request, with what the steps of the pipeline find out about it.
pub(super) struct RequestContext<'h> {
    /// Has the URI that the request was sent with, before a router cut its path.
    pub(super) head: &'h Parts,
    pub(super) id: Hex128,
    /// The budget of the address that the request comes from.
    pub(super) guest_key: RateLimitKey,
    pub(super) received_at: Timestamp,
    pub(super) endpoint: Option<&'static ApiEndpoint>,
    /// The template of the path, if there is such an endpoint.
    pub(super) route: Option<&'static str>,
    pub(super) charge: Option<RateLimitDecision>,
    /// The units that were charged, once that is known.
    pub(super) charged_units: Option<u32>,
    /// True while the body is read: a timeout is the client's fault then.
    pub(super) reading_body: bool,
}

/// Extension of a request that the HTTP server in front rejects, for example because of its `Host` header. The API
/// answers 400 `bad_request` with its usual headers, and charges nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The header at fault, in lower case.
    pub header: &'static str,
    /// Expected value of the header: an English phrase, which [`Messages::phrases`](crate::Messages::phrases) can translate.
    pub expected: &'static str,
}

impl ApiInner {
    pub(super) fn begin<'h>(&self, head: &'h mut Parts) -> RequestContext<'h> {
        restore_uri(head, self.original_uri);
        let head = &*head;
        let peer = (self.peer)(&head.extensions);
        if peer.is_none() && !self.warned_no_peer_ip.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                "client IP unknown; all such guests share one budget (see ForumApiBuilder::peer_ip)"
            );
        }
        let guest_key = budget_key(peer, &head.headers, &self.settings);
        let received_at = self.environment.clock.now();
        RequestContext {
            head,
            id: self.request_ids.next(received_at),
            guest_key,
            received_at,
            endpoint: None,
            route: None,
            charge: None,
            charged_units: None,
            reading_body: false,
        }
    }
}
