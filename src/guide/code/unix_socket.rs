//! A Unix socket, here with axum 0.8: `axum::serve(UnixListener::bind(path)?, router)`.
//!
//! A Unix socket has no peer address, so `trusted_proxies` cannot match. The proxy must replace the header in each
//! request, and only the proxy may connect to the socket.

use forum_api::ForumApiBuilder;

pub fn with_header_of_proxy(builder: ForumApiBuilder) -> ForumApiBuilder {
    builder.peer_ip(|head| head.headers.get("x-real-ip")?.to_str().ok()?.parse().ok())
}
