//! Servers with axum 0.7 and hyper 0.14. A package can name only one version of a crate without another name for it.

#[path = "../../../src/guide/code/axum_0_7.rs"]
mod axum_0_7;
#[path = "../../../src/guide/code/hyper_0_14.rs"]
mod hyper_0_14;

use std::io;
use std::net::SocketAddr;

use axum::Router;
use forum_api::ForumApi;
use tokio::net::TcpListener;

pub use axum_0_7::with_axum;
pub use hyper_0_14::serve as serve_hyper;

/// Serves the API with axum, below a part of its path.
pub async fn serve_axum(api: ForumApi, nested: &str, listener: TcpListener) -> io::Result<()> {
    let router = Router::new().nest_service(nested, api);
    axum::serve(listener, router.into_make_service_with_connect_info::<SocketAddr>()).await
}
