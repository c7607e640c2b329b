//! axum 0.7: `Router::new().fallback_service(api)` or `nest_service`, served with
//! `into_make_service_with_connect_info::<SocketAddr>()`.

use std::net::SocketAddr;

use axum::extract::{ConnectInfo, OriginalUri};
use forum_api::ForumApiBuilder;

pub fn with_axum(builder: ForumApiBuilder) -> ForumApiBuilder {
    builder
        .peer_ip(|head| Some(head.extensions.get::<ConnectInfo<SocketAddr>>()?.0.ip()))
        .original_uri(|head| Some(&head.extensions.get::<OriginalUri>()?.0))
}
