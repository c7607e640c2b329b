//! Construction of the API: settings out of bounds, and values behind pointers.

use std::sync::Arc;
use std::time::Duration;

use forum_api::host::{Authorizer, Board, Host};
use forum_api::rate_limit::Budget;
use forum_api::runtime::TokioRuntime;
use forum_api::store::Stores;
use forum_api::test_util::TestApi;
use forum_api::{Environment, ForumApi, ForumApiBuilder};

use crate::support::*;

fn builder() -> ForumApiBuilder {
    ForumApi::builder(FullBoard::new(), Stores::in_memory())
}

fn budget(units: u32, seconds: u64) -> Budget {
    Budget {
        units,
        window: Duration::from_secs(seconds),
    }
}

#[test]
fn build_rejects_each_setting_out_of_bounds() {
    for (setting, builder) in [
        ("token_budget.units", builder().token_budget(budget(0, 1))),
        ("token_budget.window", builder().token_budget(budget(1, 0))),
        ("guest_budget.units", builder().guest_budget(budget(0, 1))),
        ("guest_budget.window", builder().guest_budget(budget(1, 0))),
        ("ipv4_prefix_len", builder().ipv4_prefix_len(33)),
        ("ipv6_prefix_len", builder().ipv6_prefix_len(129)),
        ("body_limit", builder().body_limit(0)),
        ("request_timeout", builder().request_timeout(Duration::ZERO)),
        (
            "token_budget.window",
            builder().token_budget(Budget {
                units: 1,
                window: Duration::from_micros(999),
            }),
        ),
        ("base_path", builder().base_path("")),
        ("base_path", builder().base_path("api/v1")),
        ("base_path", builder().base_path("/api/v1?x")),
        ("base_path", builder().base_path("/api#v1")),
        ("base_path", builder().base_path("/api v1")),
        (
            "base_path",
            builder().base_path("https://board.example/api"),
        ),
    ] {
        let error = builder.build().unwrap_err();
        assert_eq!(error.setting(), setting, "{error}");
    }
    let widest = builder()
        .token_budget(budget(1, 1))
        .ipv4_prefix_len(32)
        .ipv6_prefix_len(128)
        .body_limit(1)
        .request_timeout(Duration::from_millis(1))
        .base_path("/");
    assert!(widest.build().is_ok());
}

#[test]
fn build_rejects_an_invalid_public_origin() {
    let build = |origin: &str| {
        let environment = Environment::new(TokioRuntime).public_origin(origin);
        ForumApi::builder(FullBoard::new(), Stores::in_memory())
            .environment(environment)
            .build()
    };
    for origin in [
        "board.example",
        "https://",
        "https://board.example/",
        "https://board.example/forum",
        "https://board.example?x",
        "https://user@board.example",
        "ftp://board.example",
    ] {
        let error = build(origin).unwrap_err();
        assert_eq!(error.setting(), "public_origin", "{origin}");
    }
    for origin in ["", "https://board.example", "http://[::1]:8080"] {
        assert!(build(origin).is_ok(), "{origin}");
    }
}

#[tokio::test]
async fn slashes_at_the_end_of_the_base_path_are_removed() {
    let api = builder().base_path("/forum/").build().unwrap();
    assert_eq!(api.openapi()["servers"][0]["url"], "/forum");
}

#[tokio::test]
async fn boxed_and_shared_hosts_forward_to_the_inner_value() {
    let board = FullBoard::new();
    let boxed: Box<dyn Authorizer> = Box::new(board.clone());
    let shared: Arc<dyn Board> = board.clone();
    let host = Host::new(Arc::new(boxed), Arc::new(shared));
    let direct = TestApi::new(board).as_guest().get("/forums").await;
    let forwarded = TestApi::new(host).as_guest().get("/forums").await;
    assert_eq!((direct.status, &direct.body), (200, &forwarded.body));
}
