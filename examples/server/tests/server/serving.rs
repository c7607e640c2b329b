//! The routes, and what the options for serving change.

use serde_json::json;

use crate::client::{get, send};
use crate::program::Server;

#[test]
fn health_is_told_and_other_paths_are_not_there() {
    let server = Server::new(&["--empty"]);
    let health = get(&server.beside("/health"));
    assert_eq!(
        (health.status, health.json()),
        (200, json!({ "status": "ok" }))
    );
    for path in [
        "/",
        "/panels",
        "/sign-in/",
        "/sign-out",
        "/health/",
        "/api",
        "/api/v10/forums",
        "/api/v2/forums",
    ] {
        let absent = get(&server.beside(path));
        assert_eq!(
            (absent.status, absent.code()),
            (404, String::new()),
            "{path}"
        );
        assert_eq!(absent.header("x-ratelimit-limit"), None, "{path}");
    }
}

#[test]
fn health_is_refused_when_the_board_is_out_of_reach() {
    let server = Server::new(&["--empty"]);
    server.home.ask("DROP TABLE board_migrations");
    let health = get(&server.beside("/health"));
    assert_eq!(
        (health.status, health.json()),
        (503, json!({ "status": "unavailable" }))
    );
}

#[test]
fn odd_paths_below_the_mount_reach_the_api_as_they_are() {
    let server = Server::new(&["--empty"]);
    for path in [
        "",
        "/",
        "//forums",
        "/forums/",
        "/FORUMS",
        "/%66orums",
        "/api/v1/forums",
        "/../v1/forums",
        "/./forums",
    ] {
        let answer = get(&server.api(path));
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (404, "no_such_route"),
            "{path}"
        );
    }
}

#[test]
fn budgets_are_options() {
    let server = Server::new(&[
        "--guest-budget",
        "3",
        "--token-budget",
        "7",
        "--window",
        "60",
    ]);
    let token = server.greeting["token"].as_str().unwrap();
    assert_eq!(
        server.get(token, "/me").header("x-ratelimit-limit"),
        Some("7")
    );
    for left in ["2", "1", "0"] {
        assert_eq!(
            get(&server.api("/forums")).header("x-ratelimit-remaining"),
            Some(left)
        );
    }
    let refused = get(&server.api("/forums"));
    assert_eq!(
        (refused.status, refused.header("x-ratelimit-limit")),
        (429, Some("3"))
    );
    let wait: u32 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait));
}

#[test]
fn a_trusted_proxy_tells_the_clients_address() {
    let server = Server::new(&[
        "--guest-budget",
        "1",
        "--trusted-proxies",
        "127.0.0.1,10.0.0.0/8",
    ]);
    let from = |address| {
        send(
            "GET",
            &server.api("/forums"),
            &[("x-forwarded-for", address)],
            "",
        )
        .status
    };
    assert_eq!(
        [
            from("203.0.113.1"),
            from("203.0.113.99"),
            from("198.51.100.1, 10.1.2.3")
        ],
        [200, 429, 200]
    );
}

#[test]
fn messages_are_in_the_boards_language() {
    let server = Server::new(&["--language", "de"]);
    let token = server.greeting["token"].as_str().unwrap();
    let message = |path, body| {
        let answer = server.post(token, path, &body).json();
        answer["error"]["message"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        message("/nowhere", json!({})),
        "Diesen Endpunkt gibt es nicht."
    );
    assert_eq!(
        message("/forums/2/threads", json!({})),
        "title: Ein Thema braucht einen Titel."
    );
}

#[test]
fn the_smaller_surface_routes_seven_endpoints() {
    let server = Server::new(&["--surface", "compact"]);
    let token = server.greeting["token"].as_str().unwrap();
    assert_eq!(
        server.get(token, "/me").json()["scopes"]
            .as_array()
            .unwrap()
            .len(),
        8
    );
    assert_eq!(server.get(token, "/members/@alice").code(), "no_such_route");
    let document = get(&server.api("/openapi.json")).json();
    assert_eq!(document["servers"][0]["url"], server.api(""));
}

#[test]
fn the_base_url_is_where_clients_are_sent() {
    let server = Server::new(&["--base-url", "https://board.example/"]);
    assert_eq!(server.greeting["api"], "https://board.example/api/v1");
}

#[test]
fn pages_of_named_origins_may_call_the_api() {
    let server = Server::new(&[
        "--cors-origin",
        "https://a.example",
        "--cors-origin",
        "https://b.example",
    ]);
    let asks = |method, origin| {
        let headers = [("origin", origin), ("access-control-request-method", "GET")];
        send(method, &server.api("/forums"), &headers, "")
    };
    for origin in ["https://a.example", "https://b.example"] {
        let answer = asks("GET", origin);
        assert_eq!(answer.header("access-control-allow-origin"), Some(origin));
        let exposed = answer.header("access-control-expose-headers").unwrap();
        assert!(
            exposed.contains("x-ratelimit-remaining") && exposed.contains("retry-after"),
            "{exposed}"
        );
        assert_eq!(asks("OPTIONS", origin).status, 200);
    }
    assert_eq!(
        asks("GET", "https://c.example").header("access-control-allow-origin"),
        None
    );
    for path in [
        "/panel/style.css",
        "/sign-in",
        "/metrics",
        "/health",
        "/docs",
    ] {
        for method in ["GET", "OPTIONS"] {
            let headers = [
                ("origin", "https://a.example"),
                ("access-control-request-method", "GET"),
            ];
            let answer = send(method, &server.beside(path), &headers, "");
            assert!(
                !answer.head.contains("access-control-"),
                "{path} {}",
                answer.head
            );
        }
    }
    let closed = Server::new(&["--empty"]);
    let options = send(
        "OPTIONS",
        &closed.api("/forums"),
        &[("origin", "https://a.example")],
        "",
    );
    assert_eq!(options.code(), "no_such_route");
}
