//! warp 0.4: `warp::path!("api" / "v1" / ..).and(forum_api(api))`.

use std::net::SocketAddr;

use bytes::Buf;
use forum_api::ForumApi;
use futures_util::{Stream, TryStreamExt};
use http::{HeaderMap, Method, Request};
use http_body_util::StreamBody;
use hyper::body::Frame;
use warp::path::FullPath;
use warp::{Filter, Rejection, Reply};

pub fn forum_api(api: ForumApi) -> impl Filter<Extract = (impl Reply,), Error = Rejection> + Clone {
    let query = warp::query::raw()
        .map(|query: String| format!("?{query}"))
        .or(warp::any().map(String::new))
        .unify();
    warp::method()
        .and(warp::path::full())
        .and(query)
        .and(warp::header::headers_cloned())
        .and(warp::addr::remote())
        .and(warp::body::stream())
        .then(move |method: Method, path: FullPath, query: String, headers, peer, body| {
            let uri = path.as_str().to_owned() + &query;
            respond(api.clone(), method, uri, headers, peer, body)
        })
}

async fn respond<D: Buf + Send + 'static>(
    api: ForumApi,
    method: Method,
    uri: String,
    headers: HeaderMap,
    peer: Option<SocketAddr>,
    body: impl Stream<Item = Result<D, warp::Error>> + Send + 'static,
) -> Result<impl Reply, http::Error> {
    let mut request = Request::builder().method(method).uri(uri);
    if let Some(peer) = peer {
        request = request.extension(peer);
    }
    let mut request = request.body(StreamBody::new(body.map_ok(Frame::data)))?;
    *request.headers_mut() = headers;
    Ok(api.respond(request).await.map(|body| body.into_bytes()))
}
