//! Original URI and peer address of a request that an axum router passes on.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{ConnectInfo, OriginalUri};
use http::Uri;
use http::request::Parts;

pub(crate) fn original_uri(head: &Parts) -> Option<&Uri> {
    head.extensions.get::<OriginalUri>().map(|uri| &uri.0)
}

/// Returns `None` unless the router is served with `into_make_service_with_connect_info::<SocketAddr>()`.
pub(crate) fn peer_ip(head: &Parts) -> Option<IpAddr> {
    head.extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip())
}
