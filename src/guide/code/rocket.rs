//! Rocket 0.5: `rocket::build().mount("/api/v1", routes(&api))`.

use std::io::Cursor;

use bytes::Bytes;
use forum_api::ForumApi;
use http::header::CONTENT_LENGTH;
use http_body_util::Full;
use rocket::data::{Data, ToByteUnit};
use rocket::http::{Method, Status};
use rocket::route::{Handler, Outcome, Route};
use rocket::{Request, Response};

/// One byte more than `ApiSettings::body_limit`.
const READ_LIMIT: usize = (1 << 20) + 1;

#[derive(Clone)]
struct Mounted(ForumApi);

/// The API matches paths and methods itself.
pub fn routes(api: &ForumApi) -> Vec<Route> {
    use Method::*;
    let route = |method| Route::new(method, "/<path..>", Mounted(api.clone()));
    Vec::from([Get, Head, Post, Put, Patch, Delete, Options].map(route))
}

#[rocket::async_trait]
impl Handler for Mounted {
    async fn handle<'r>(&self, head: &'r Request<'_>, data: Data<'r>) -> Outcome<'r> {
        let Ok(body) = data.open(READ_LIMIT.bytes()).into_bytes().await else {
            return Outcome::Error(Status::BadRequest);
        };
        let (method, uri) = (head.method().as_str(), head.uri().to_string());
        let mut request = http::Request::builder().method(method).uri(uri);
        for header in head.headers().iter() {
            request = request.header(header.name.as_str(), header.value.as_bytes());
        }
        // `client_ip` reads a header that each client can send.
        if let Some(peer) = head.remote() {
            request = request.extension(peer);
        }
        let Ok(request) = request.body(Full::<Bytes>::from(body.into_inner())) else {
            return Outcome::Error(Status::BadRequest);
        };
        let (head, body) = self.0.respond(request).await.into_parts();
        let mut response = Response::build();
        response.status(Status::new(head.status.as_u16()));
        for (name, value) in &head.headers {
            if let Ok(value) = value.to_str() {
                response.raw_header_adjoin(name.to_string(), value.to_owned());
            }
        }
        // Rocket sets `content-length` to the size of the body, which is empty for HEAD.
        let length =
            head.headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
        response.sized_body(length, Cursor::new(body.into_bytes()));
        Outcome::Success(response.finalize())
    }
}
