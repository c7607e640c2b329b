//! actix-web 4: `.default_service(web::to(forum_api))` of a scope, with `.app_data(web::Data::new(api))`.

use actix_web::http::{Method, StatusCode};
use actix_web::{Error, HttpRequest, HttpResponse, error, web};
use bytes::BytesMut;
use forum_api::ForumApi;
use futures_util::{TryStreamExt, stream};
use http::Request;
use http::header::CONTENT_LENGTH;
use http_body_util::Full;

/// One byte more than `ApiSettings::body_limit`.
const READ_LIMIT: usize = (1 << 20) + 1;

pub async fn forum_api(
    head: HttpRequest,
    mut payload: web::Payload,
    api: web::Data<ForumApi>,
) -> Result<HttpResponse, Error> {
    let mut body = BytesMut::new();
    while body.len() < READ_LIMIT
        && let Some(chunk) = payload.try_next().await?
    {
        body.extend_from_slice(&chunk);
    }
    let is_head = head.method() == Method::HEAD;
    let (method, uri) = (head.method().as_str(), head.uri().to_string());
    let mut request = Request::builder().method(method).uri(uri);
    for (name, value) in head.headers() {
        request = request.header(name.as_str(), value.as_bytes());
    }
    if let Some(peer) = head.peer_addr() {
        request = request.extension(peer);
    }
    let request = request.body(Full::new(body.freeze())).map_err(error::ErrorBadRequest)?;
    let (head, body) = api.respond(request).await.into_parts();
    let status = StatusCode::from_u16(head.status.as_u16()).map_err(error::ErrorBadGateway)?;
    let mut response = HttpResponse::build(status);
    for (name, value) in &head.headers {
        response.append_header((name.as_str(), value.as_bytes()));
    }
    // actix-web sets `content-length` to the size of the body, which is empty for HEAD.
    let length =
        head.headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    Ok(match length {
        Some(length) if is_head => {
            response.no_chunking(length).streaming(stream::empty::<Result<_, Error>>())
        }
        _ => response.body(body.into_bytes()),
    })
}
