//! hyper 0.14, on which axum 0.6, warp 0.3 and tonic 0.11 are built. It has the types of version 0.2 of the crate `http`, and
//! the API has those of version 1.

use std::convert::Infallible;
use std::error::Error;
use std::net::{SocketAddr, TcpListener};

use forum_api::ForumApi;
use futures_util::TryStreamExt;
use http_body::Frame;
use http_body_util::StreamBody;
use hyper::server::conn::AddrStream;
use hyper::service::{make_service_fn, service_fn};
use hyper::{Body, Request, Response, Server};

pub async fn serve(api: ForumApi, listener: TcpListener) -> hyper::Result<()> {
    let connections = make_service_fn(|stream: &AddrStream| {
        let peer = stream.remote_addr();
        let api = api.clone();
        let service = service_fn(move |request| respond(api.clone(), peer, request));
        async move { Ok::<_, Infallible>(service) }
    });
    Server::from_tcp(listener)?.serve(connections).await
}

async fn respond(
    api: ForumApi,
    peer: SocketAddr,
    request: Request<Body>,
) -> Result<Response<Body>, Box<dyn Error + Send + Sync>> {
    let (head, body) = request.into_parts();
    let mut request = http::Request::builder()
        .method(head.method.as_str())
        .uri(head.uri.to_string())
        .extension(peer);
    for (name, value) in &head.headers {
        request = request.header(name.as_str(), value.as_bytes());
    }
    let request = request.body(StreamBody::new(body.map_ok(Frame::data)))?;
    let (head, body) = api.respond(request).await.into_parts();
    let mut response = Response::builder().status(head.status.as_u16());
    for (name, value) in &head.headers {
        response = response.header(name.as_str(), value.as_bytes());
    }
    Ok(response.body(body.into_bytes().into())?)
}
