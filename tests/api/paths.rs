//! Unusual paths, methods and queries have the same response on every mount (`docs/protocol.md`, section 2.2).

use std::net::SocketAddr;

use axum::Router;
use axum::extract::OriginalUri;
use tokio::net::TcpListener;

/// Mounts whose router passes a request to the service. The others return a 404 of their own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mounts {
    Bare,
    BareAndNest,
    All,
}
use Mounts::*;

use crate::support::*;

#[rustfmt::skip]
const PROBES: &[(Mounts, &str, &str, u16, &str)] = &[
    (All,         "GET",     "/api/v1/threads/open-1",              200, ""),
    (All,         "GET",     "/api/v1/threads/%6fpen-1",            200, ""),
    (All,         "GET",     "/api/v1/threads/open-1/",             404, "no_such_route"),
    (All,         "GET",     "/api/v1//threads/open-1",             404, "no_such_route"),
    (All,         "GET",     "/api/v1/threads//open-1",             404, "no_such_route"),
    (All,         "GET",     "/api/v1/threads//posts",              404, "no_such_route"),
    (All,         "GET",     "/api/v1/threads/open%2F1",            404, "no_such_route"),
    (All,         "GET",     "/api/v1/threads/open-1%2fposts",      404, "no_such_route"),
    (All,         "GET",     "/api/v1/threads%2Fopen-1",            404, "no_such_route"),
    (All,         "GET",     "/api/v1/./forums",                    404, "no_such_route"),
    (All,         "GET",     "/api/v1/threads/../forums",           404, "no_such_route"),
    (All,         "GET",     "/api/v1/threads/..",                  404, "not_found"),
    (All,         "GET",     "/api/v1/threads/%2e%2e",              404, "not_found"),
    (All,         "GET",     "/api/v1/threads/%252F",               404, "not_found"),
    (All,         "GET",     "/api/v1/threads/%00",                 404, "not_found"),
    (All,         "GET",     "/api/v1/threads/%ff",                 404, "not_found"),
    (All,         "GET",     "/api/v1/threads/%zz",                 404, "not_found"),
    (All,         "GET",     "/api/v1/threads/open-1;x",            404, "not_found"),
    (All,         "GET",     "/api/v1/members/@",                   404, "not_found"),
    (All,         "GET",     "/api/v1/members/@%00",                404, "not_found"),
    (All,         "GET",     "/api/v1/members/@alice",              200, ""),
    (All,         "GET",     "/api/v1/members/%40alice",            200, ""),
    (All,         "DELETE",  "/api/v1/subscriptions/THREAD/open-1", 404, "not_found"),
    (All,         "GET",     "/api/v1/Forums",                      404, "no_such_route"),
    (All,         "GET",     "/api/v1/forum%73",                    404, "no_such_route"),
    (All,         "GET",     "/api/v1/api/v1/forums",               404, "no_such_route"),
    (All,         "GET",     "/api/v1/forums?",                     200, ""),
    (All,         "GET",     "/api/v1/forums?&&",                   200, ""),
    (All,         "GET",     "/api/v1/forums?x",                    400, "bad_request"),
    (All,         "GET",     "/api/v1/forums?=",                    400, "bad_request"),
    (All,         "GET",     "/api/v1/forums?%zz=1",                400, "bad_request"),
    (All,         "GET",     "/api/v1/openapi.json",                200, ""),
    (All,         "GET",     "/api/v1/openapi.json?x=1",            400, "bad_request"),
    (All,         "GET",     "/api/v1/openapi.json/",               404, "no_such_route"),
    (All,         "POST",    "/api/v1/openapi.json",                404, "no_such_route"),
    (All,         "PUT",     "/api/v1/forums",                      404, "no_such_route"),
    (All,         "BREW",    "/api/v1/forums",                      404, "no_such_route"),
    (All,         "OPTIONS", "/api/v1/forums",                      404, "no_such_route"),
    (All,         "TRACE",   "/api/v1/forums",                      404, "no_such_route"),
    (All,         "DELETE",  "/api/v1/me",                          404, "no_such_route"),
    (BareAndNest, "GET",     "/api/v1",                             404, "no_such_route"),
    (BareAndNest, "GET",     "/api/v1/",                            404, "no_such_route"),
    (Bare,        "GET",     "/",                                   404, "no_such_route"),
    (Bare,        "GET",     "//api/v1/forums",                     404, "no_such_route"),
    (Bare,        "GET",     "/forums",                             404, "no_such_route"),
    (Bare,        "GET",     "/api/v1forums",                       404, "no_such_route"),
    (Bare,        "GET",     "/API/v1/forums",                      404, "no_such_route"),
    (Bare,        "GET",     "/%61pi/v1/forums",                    404, "no_such_route"),
    (Bare,        "GET",     "/api/v1%2Fforums",                    404, "no_such_route"),
];

/// Creates the same service for axum, which removes path prefixes.
fn for_axum(server: &Server) -> ForumApi {
    let environment = Environment::default().clock(server.clock.clone());
    ForumApi::builder(server.board.clone(), server.stores.clone())
        .environment(&environment)
        .settings(settings())
        .original_uri(|head| head.extensions.get::<OriginalUri>().map(|uri| &uri.0))
        .build()
        .unwrap()
}

async fn serve(router: Router) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

#[tokio::test]
async fn a_path_has_the_same_response_on_every_mount() {
    let server = Server::new().listening().await;
    let alice = server.token("alice").await;
    let api = for_axum(&server);
    let nest = serve(Router::new().nest_service("/api/v1", api.clone())).await;
    let route = serve(Router::new().route_service("/api/v1/{*rest}", api)).await;
    for (reaches, method, path, status, code) in PROBES {
        let request = Request::exact(method, path).bearer(&alice);
        let expected = server.send(&request).await;
        let code = Some(*code).filter(|code| !code.is_empty());
        assert_eq!(outcome(&expected), (*status, code), "{method} {path}");
        for (mount, needed) in [(nest, BareAndNest), (route, All)] {
            let response = Server::send_to(mount, &request).await;
            if *reaches >= needed {
                let [found, wanted] = [&response, &expected].map(comparable_parts);
                assert_eq!(found, wanted, "{method} {path}");
            } else {
                let id = response.header("x-request-id");
                assert_eq!((response.status, id), (404, None), "{method} {path}");
            }
        }
    }
}

#[tokio::test]
async fn links_include_a_path_prefix_that_a_router_removed() {
    let server = Server::new();
    let nest = serve(Router::new().nest_service("/api/v1", for_axum(&server))).await;
    let response = Server::send_to(nest, &Request::get("/threads/open-1/posts")).await;
    let link = response.header("link").unwrap();
    assert!(link.starts_with("</api/v1/threads/open-1/posts?after="));
}

#[tokio::test]
async fn links_and_locations_are_absolute_paths() {
    let server = Server::new().listening().await;
    let alice = server.token("alice").await;
    let posts = "/threads/open-1/posts?limit=40&from=open-1-1";
    let page = server.send(&Request::get(posts).bearer(&alice)).await;
    let next = page.json()["next"].as_str().unwrap().to_owned();
    let link = format!("</api/v1/threads/open-1/posts?limit=40&after={next}>; rel=\"next\"");
    assert_eq!(page.header("link"), Some(&*link));
    let linked = Request::exact("GET", &link[1..link.find('>').unwrap()]);
    let rest = server.send(&linked).await;
    assert_eq!(rest.json()["items"].as_array().unwrap().len(), 5);
    let thread = r#"{"title":"Tea","body":"Green?"}"#;
    let request = Request::post("/forums/open/threads", thread).bearer(&alice);
    let created = server.send(&request).await;
    let new = created.json();
    let location = format!("/api/v1/threads/{}", new["threadId"].as_str().unwrap());
    assert_eq!(created.header("location"), Some(&*location));
    let message = r#"{"to":["bob"],"subject":"Tea","body":"At five?"}"#;
    let request = Request::post("/messages", message).bearer(&alice);
    let sent = server.send(&request).await;
    assert_eq!(sent.header("location"), Some("/api/v1/messages/alice-6"));
}
