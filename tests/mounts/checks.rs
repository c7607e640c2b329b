//! Runs one list of checks against each mounting that the guide shows.

#[expect(dead_code, reason = "no database of diesel is compiled")]
#[path = "../../src/guide/code/diesel.rs"]
mod diesel;
mod servers;

use std::error::Error;
use std::io;
use std::net::Ipv4Addr;
use std::pin::Pin;
use std::task::{Context, Poll};

use ::diesel::result::{DatabaseErrorKind, Error as DieselError};
use bytes::Bytes;
use forum_api::host::BoardError;
use http::header::{
    AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, ETAG, FORWARDED, HOST, IF_NONE_MATCH,
};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::{Value, json};
use servers::{Address, Mounting};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpSocket, UnixStream};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Two clients that share no budget of guests.
const CLIENTS: [Ipv4Addr; 2] = [Ipv4Addr::new(127, 0, 0, 1), Ipv4Addr::new(127, 0, 1, 1)];

#[tokio::main]
async fn main() -> Result<()> {
    errors_of_diesel_have_no_values();
    let directory = std::env::args().nth(1).ok_or("usage: mounts DIRECTORY")?;
    let mountings = servers::start(directory.as_ref()).await?;
    let mut failed = 0;
    let count = mountings.len();
    for mounting in mountings {
        let name = mounting.name;
        let result = tokio::spawn(check(mounting)).await;
        let is_ok = matches!(result, Ok(Ok(())));
        println!("{name} ... {}", if is_ok { "ok" } else { "FAILED" });
        if !is_ok {
            eprintln!("{name}: {result:?}");
            failed += 1;
        }
    }
    println!("{} passed, {failed} failed", count - failed);
    std::process::exit(i32::from(failed > 0));
}

/// The log shows an error of a command with its sources.
fn errors_of_diesel_have_no_values() {
    const MARK: &str = "marked-content-42";
    for error in [
        DieselError::DatabaseError(DatabaseErrorKind::UniqueViolation, Box::new(MARK.to_owned())),
        DieselError::DeserializationError(MARK.into()),
        DieselError::QueryBuilderError(MARK.into()),
        DieselError::SerializationError(MARK.into()),
    ] {
        let error = BoardError::from(diesel::CommandError::from(error));
        let mut texts = format!("{error} {error:?}");
        let mut source = Error::source(&error);
        while let Some(inner) = source {
            texts += &format!("{inner} {inner:?}");
            source = inner.source();
        }
        assert!(!texts.contains(MARK), "{texts}");
    }
}

async fn check(mounting: Mounting) -> Result<()> {
    addresses(&mounting).await?;
    reads(&mounting).await?;
    writes(&mounting).await?;
    large_bodies(&mounting).await
}

async fn reads(mounting: &Mounting) -> Result<()> {
    let get = mounting.get("/forums").await?;
    let body: Value = serde_json::from_slice(get.body())?;
    mounting.expect(get.status(), StatusCode::OK);
    mounting.expect(&body["items"][0]["title"], &"Tea".into());
    let length = get.headers()[CONTENT_LENGTH].to_str()?.parse();
    mounting.expect(length, Ok(get.body().len()));

    let request = mounting.request(Method::HEAD, "/forums", "")?;
    let head = mounting.send(CLIENTS[0], request).await?;
    mounting.expect(head.status(), StatusCode::OK);
    mounting.expect(head.body(), &Bytes::new());
    for name in [CONTENT_LENGTH, CONTENT_TYPE, ETAG] {
        mounting.expect(&head.headers()[&name], &get.headers()[&name]);
    }

    let mut again = mounting.request(Method::GET, "/forums", "")?;
    let tag = get.headers()[ETAG].clone();
    again.headers_mut().insert(IF_NONE_MATCH, tag);
    let again = mounting.send(CLIENTS[0], again).await?;
    mounting.expect(again.status(), StatusCode::NOT_MODIFIED);
    mounting.expect(again.body(), &Bytes::new());

    for path in ["//forums", "/forums/", "/f%6Frums", "/forums?unknown=1&a=%20b"] {
        let unknown = mounting.get(path).await?;
        let is_query = path.contains('?');
        mounting.expect_error(&unknown, if is_query { 400 } else { 404 })?;
    }
    Ok(())
}

async fn writes(mounting: &Mounting) -> Result<()> {
    let mut responses = Vec::new();
    for key in ["first", "first", "second"] {
        let text = json!({ "text": "Tee 🍵" }).to_string();
        let mut request = mounting.request(Method::POST, "/x/notes", &text)?;
        request.headers_mut().insert("idempotency-key", key.parse()?);
        let response = mounting.send(CLIENTS[0], request).await?;
        mounting.expect(response.status(), StatusCode::CREATED);
        let note: Value = serde_json::from_slice(response.body())?;
        mounting.expect(&note["text"], &"Tee 🍵".into());
        let is_replay = response.headers().contains_key("idempotency-replayed");
        responses.push((note["number"].as_u64(), is_replay));
    }
    let expected = [(Some(1), false), (Some(1), true), (Some(2), false)];
    mounting.expect(&responses[..], &expected[..]);
    let request = mounting.request(Method::DELETE, "/x/notes", "")?;
    let deleted = mounting.send(CLIENTS[0], request).await?;
    mounting.expect(deleted.status(), StatusCode::NO_CONTENT);
    Ok(())
}

/// A body within the limit of the API reaches it, also if the framework's own limit is lower.
async fn large_bodies(mounting: &Mounting) -> Result<()> {
    for (length, status) in [(900_000, 201), ((1 << 20) + 1, 400), (1_500_000, 400)] {
        let text = json!({ "text": "a".repeat(length - 11) }).to_string();
        let request = mounting.request(Method::POST, "/x/notes", &text)?;
        let response = mounting.send(CLIENTS[0], request).await?;
        if status == 400 {
            mounting.expect_error(&response, status)?;
        } else {
            mounting.expect(response.status().as_u16(), status);
        }
    }
    Ok(())
}

/// Clients have budgets of their own, which no header selects.
async fn addresses(mounting: &Mounting) -> Result<()> {
    let mut remaining = Vec::new();
    for (client, is_spoofed) in [(0, false), (0, true), (1, false), (1, true), (0, false)] {
        let mut request = mounting.request(Method::GET, "/forums", "")?;
        request.headers_mut().remove(AUTHORIZATION);
        if is_spoofed {
            for name in ["x-forwarded-for", "x-real-ip", "cf-connecting-ip"] {
                request.headers_mut().insert(name, "203.0.113.7".parse()?);
            }
            request.headers_mut().insert(FORWARDED, "for=203.0.113.7".parse()?);
        }
        let response = mounting.send(CLIENTS[client], request).await?;
        let left = response.headers()["x-ratelimit-remaining"].to_str()?;
        remaining.push(left.parse::<u64>()?);
    }
    mounting.expect(&remaining[..], &[119, 118, 119, 118, 117]);
    Ok(())
}

impl Mounting {
    #[track_caller]
    fn expect<T: PartialEq + std::fmt::Debug>(&self, found: T, expected: T) {
        assert_eq!(found, expected, "{}", self.name);
    }

    /// Checks that a response is an error object of the API.
    fn expect_error(&self, response: &Response<Bytes>, status: u16) -> Result<()> {
        self.expect(response.status().as_u16(), status);
        let body: Value = serde_json::from_slice(response.body())?;
        assert!(body["error"]["code"].is_string(), "{}: {body}", self.name);
        Ok(())
    }

    async fn get(&self, path: &str) -> Result<Response<Bytes>> {
        self.send(CLIENTS[0], self.request(Method::GET, path, "")?).await
    }

    fn request(&self, method: Method, path: &str, body: &str) -> Result<Request<Full<Bytes>>> {
        let authority = match self.address {
            Address::Http2(_) => "http://board.example",
            _ => "",
        };
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{authority}{}{path}", self.base_path))
            .header(AUTHORIZATION, format!("Bearer {}", self.token));
        if authority.is_empty() {
            request = request.header(HOST, "board.example");
        }
        if !body.is_empty() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        Ok(request.body(Full::from(body.to_owned()))?)
    }

    /// Sends a request over a new connection.
    async fn send(
        &self,
        client: Ipv4Addr,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Response<Bytes>> {
        match &self.address {
            Address::Unix(path) => {
                // The proxy replaces the header.
                let address = client.to_string().parse()?;
                request.headers_mut().insert("x-real-ip", address);
                exchange(UnixStream::connect(path).await?, false, request).await
            }
            Address::Http1(address) | Address::Http2(address) => {
                let socket = TcpSocket::new_v4()?;
                socket.bind((client, 0).into())?;
                let is_http2 = matches!(self.address, Address::Http2(_));
                exchange(socket.connect(*address).await?, is_http2, request).await
            }
        }
    }
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    is_http2: bool,
    request: Request<Full<Bytes>>,
) -> Result<Response<Bytes>> {
    let stream = TokioIo::new(EarlyResponses(stream));
    let response = if is_http2 {
        let (mut sender, connection) = http2::handshake(TokioExecutor::new(), stream).await?;
        tokio::spawn(connection);
        sender.send_request(request).await?
    } else {
        let (mut sender, connection) = http1::handshake(stream).await?;
        tokio::spawn(connection);
        sender.send_request(request).await?
    };
    let (head, body) = response.into_parts();
    Ok(Response::from_parts(head, body.collect().await?.to_bytes()))
}

/// A stream whose client reads the response even if the server closed the connection before it read the whole request.
struct EarlyResponses<S>(S);

impl<S: AsyncRead + Unpin> AsyncRead for EarlyResponses<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for EarlyResponses<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.0).poll_write(context, bytes);
        written.map(|written| Ok(written.unwrap_or(bytes.len())))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context).map(|_| Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context).map(|_| Ok(()))
    }
}
