//! A board, and a server for each mounting.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ::actix_web::{App, HttpServer, web};
use ::lambda_http::request::LambdaRequest;
use ::lambda_http::{Adapter, Context, LambdaEvent};
use ::poem::Route;
use ::poem::listener::TcpAcceptor;
use ::rocket::Config;
use ::rocket::fairing::AdHoc;
use ::salvo::Router;
use ::warp::Filter;
use axum::extract::Request;
use bytes::Bytes;
use forum_api::host::{BoardResult, MemberCaller};
use forum_api::model::UserId;
use forum_api::operation::{Body, Json, NoForum, Operation, Resource, Tag};
use forum_api::scope::Scope;
use forum_api::store::Stores;
use forum_api::token::TokenRequest;
use forum_api::{ApiSettings, Environment, ForumApi, ForumApiBuilder};
use forum_api_mounts_older as older;
use http::Response;
use http_body_util::{BodyExt, Full};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::net::{TcpListener, UnixListener};
use tower::ServiceExt;

use crate::Result;

#[path = "../../src/guide/code/actix_web.rs"]
mod actix_web;
#[path = "../../src/guide/code/hyper.rs"]
mod hyper;
#[path = "../../src/guide/code/lambda_http.rs"]
mod lambda_http;
#[allow(dead_code)]
#[path = "../../examples/minimal.rs"]
mod minimal;
#[path = "../../src/guide/code/poem.rs"]
mod poem;
#[path = "../../src/guide/code/rocket.rs"]
mod rocket;
#[path = "../../src/guide/code/salvo.rs"]
mod salvo;
#[path = "../../src/guide/code/unix_socket.rs"]
mod unix_socket;
#[path = "../../src/guide/code/warp.rs"]
mod warp;

/// A server that is started.
pub struct Mounting {
    pub name: &'static str,
    pub address: Address,
    pub base_path: String,
    pub token: String,
}

#[derive(Clone)]
pub enum Address {
    Http1(SocketAddr),
    Http2(SocketAddr),
    Unix(PathBuf),
}

/// A note of the board, which the operations of this test write.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewNote {
    /// Text of the note.
    text: String,
}

impl Body for NewNote {
    fn example() -> Self {
        let text = "Tea".into();
        Self { text }
    }
}

/// A stored note.
#[derive(Serialize, JsonSchema)]
struct Note {
    /// Number of notes so far.
    number: u64,
    /// Text of the note.
    text: String,
}

impl Resource for Note {}

#[derive(Default)]
struct Notes(AtomicU64);

impl Notes {
    async fn add(&self, text: String) -> BoardResult<NoForum<Note>> {
        let number = self.0.fetch_add(1, Ordering::Relaxed) + 1;
        Ok(NoForum(Note { number, text }))
    }

    async fn clear(&self) -> BoardResult<()> {
        self.0.store(0, Ordering::Relaxed);
        Ok(())
    }
}

/// An API over a board of its own, and the rest of its mounting.
async fn api(
    name: &'static str,
    base_path: &str,
    with: impl FnOnce(ForumApiBuilder) -> ForumApiBuilder,
) -> Result<(ForumApi, Mounting)> {
    let board = minimal::Toy { forums: vec![("Tea".into(), true)], member_count: 1 };
    let stores = Stores::in_memory();
    let owner = UserId::from(1);
    let scopes = [Scope::FORUMS_READ, Scope::POSTS_WRITE];
    let request = TokenRequest::new(&owner, &scopes);
    let (token, _) = Environment::default().issue_token(&stores, request).await?;
    let notes = Arc::new(Notes::default());
    let tag = Tag::new("notes", "Notes of this test.");
    let create = Operation::post("/x/notes", "createNote", Scope::POSTS_WRITE)
        .tag(tag.clone())
        .summary("Stores a note.")
        .created(
            &notes,
            |notes, _: &MemberCaller, (), Json(new): Json<NewNote>| Box::pin(notes.add(new.text)),
            || Note { number: 1, text: "Tea".into() },
        );
    let delete = Operation::delete("/x/notes", "deleteNotes", Scope::POSTS_WRITE)
        .tag(tag)
        .summary("Removes all notes.")
        .no_content(&notes, |notes, _: &MemberCaller, (), ()| Box::pin(notes.clear()));
    let mut settings = ApiSettings::default();
    settings.base_path = base_path.into();
    let builder = ForumApi::builder(Arc::new(board), stores)
        .settings(settings)
        .operation(create)
        .operation(delete);
    let mounting = Mounting {
        name,
        address: Address::Unix(PathBuf::new()),
        base_path: base_path.into(),
        token: token.expose_secret().into(),
    };
    Ok((with(builder).build()?, mounting))
}

async fn listen() -> Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

pub async fn start(directory: &Path) -> Result<Vec<Mounting>> {
    const PATH: &str = "/api/v1";
    let mut mountings = Vec::new();
    let mut add = |mut mounting: Mounting, address| {
        mounting.address = address;
        mountings.push(mounting);
    };

    let (api, mounting) = self::api("actix-web", PATH, |builder| builder).await?;
    let (listener, address) = listen().await?;
    let server = HttpServer::new(move || {
        let scope = web::scope(PATH).default_service(web::to(actix_web::forum_api));
        App::new().app_data(web::Data::new(api.clone())).service(scope)
    });
    tokio::spawn(server.workers(1).listen(listener.into_std()?)?.run());
    add(mounting, Address::Http1(address));

    let (api, mounting) = self::api("Rocket", PATH, |builder| builder).await?;
    let (sender, started) = tokio::sync::oneshot::channel();
    let config =
        Config { port: 0, log_level: ::rocket::config::LogLevel::Off, ..Config::release_default() };
    let server =
        ::rocket::custom(config)
            .mount(PATH, rocket::routes(&api))
            .attach(AdHoc::on_liftoff("port", |rocket| {
                Box::pin(async move { _ = sender.send(rocket.config().port) })
            }));
    tokio::spawn(server.launch());
    let address = (Ipv4Addr::LOCALHOST, started.await?).into();
    add(mounting, Address::Http1(address));

    let (api, mounting) = self::api("poem", PATH, |builder| builder).await?;
    let (listener, address) = listen().await?;
    let app = Route::new().nest_no_strip(PATH, poem::forum_api(api));
    let acceptor = TcpAcceptor::from_tokio(listener)?;
    tokio::spawn(::poem::Server::new_with_acceptor(acceptor).run(app));
    add(mounting, Address::Http1(address));

    let (api, mounting) = self::api("salvo", PATH, |builder| builder).await?;
    let (listener, address) = listen().await?;
    let router =
        Router::with_path("api/v1/{**path}").hoop(salvo::insert_peer).goal(salvo::forum_api(api));
    let acceptor = ::salvo::conn::tcp::TcpAcceptor::try_from(listener)?;
    tokio::spawn(async move { ::salvo::Server::new(acceptor).serve(router).await });
    add(mounting, Address::Http1(address));

    let (api, mounting) = self::api("warp", PATH, |builder| builder).await?;
    let (listener, address) = listen().await?;
    let filter = ::warp::path!("api" / "v1" / ..).and(warp::forum_api(api));
    tokio::spawn(::warp::serve(filter).incoming(listener).run());
    add(mounting, Address::Http1(address));

    let stage = "/prod/api/v1";
    let (api, mounting) = self::api("lambda_http", stage, lambda_http::with_source_ip).await?;
    let (listener, address) = listen().await?;
    let gateway = axum::Router::new().fallback(move |request| invoke(api.clone(), request));
    let service = gateway.into_make_service_with_connect_info::<SocketAddr>();
    tokio::spawn(axum::serve(listener, service).into_future());
    add(mounting, Address::Http1(address));

    let (api, mounting) = self::api("axum 0.7", "/open/v1", older::with_axum).await?;
    let (listener, address) = listen().await?;
    tokio::spawn(older::serve_axum(api, "/open", listener));
    add(mounting, Address::Http1(address));

    let (api, mounting) = self::api("hyper 0.14", PATH, |builder| builder).await?;
    let (listener, address) = listen().await?;
    tokio::spawn(older::serve_hyper(api, listener.into_std()?));
    add(mounting, Address::Http1(address));

    let (api, mounting) = self::api("Unix socket", PATH, unix_socket::with_header_of_proxy).await?;
    let path = directory.join("socket");
    let router = axum::Router::new().fallback_service(api);
    tokio::spawn(axum::serve(UnixListener::bind(&path)?, router).into_future());
    add(mounting, Address::Unix(path));

    let (api, mounting) = self::api("hyper, HTTP/2", PATH, |builder| builder).await?;
    let (listener, address) = listen().await?;
    tokio::spawn(async move {
        while let Ok((stream, peer)) = listener.accept().await {
            tokio::spawn(hyper::serve(api.clone(), stream, peer));
        }
    });
    add(mounting, Address::Http2(address));
    Ok(mountings)
}

/// Sends a request to the API as an event of API Gateway.
async fn invoke(
    api: ForumApi,
    request: Request,
) -> std::result::Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let peer: &axum::extract::ConnectInfo<SocketAddr> = head.extensions.get().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let headers =
        head.headers.iter().map(|(name, value)| (name.to_string(), text(value.as_bytes()).into()));
    let event = json!({
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": head.uri.path(),
        "rawQueryString": head.uri.query().unwrap_or_default(),
        "headers": headers.collect::<serde_json::Map<_, _>>(),
        "requestContext": {
            "accountId": "1", "apiId": "a", "domainName": "board.example", "domainPrefix": "board",
            "requestId": "1", "routeKey": "$default", "stage": "prod",
            "time": "26/Nov/2026:12:00:00 +0000", "timeEpoch": 1795694400000_u64,
            "http": {
                "method": head.method.as_str(), "path": head.uri.path(), "protocol": "HTTP/1.1",
                "sourceIp": peer.0.ip().to_string(), "userAgent": "test",
            },
        },
        "body": text(&body.collect().await.unwrap().to_bytes()),
        "isBase64Encoded": false,
    });
    let request: LambdaRequest = serde_json::from_value(event).unwrap();
    let event = LambdaEvent::new(request, Context::default());
    let Ok(answer) = Adapter::from(api).oneshot(event).await;
    let answer = serde_json::to_value(answer).unwrap();
    let status = answer["statusCode"].as_u64().unwrap();
    let mut response = Response::builder().status(u16::try_from(status).unwrap());
    for (name, value) in answer["headers"].as_object().unwrap() {
        response = response.header(name, value.as_str().unwrap());
    }
    let body = answer["body"].as_str().unwrap_or_default().to_owned();
    Ok(response.body(Full::from(body)).unwrap())
}
