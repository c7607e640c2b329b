//! Construction of the API: settings out of bounds, and values behind pointers.

use forum_api::BuildError;
use forum_api::operation::ExtraOf;
use forum_api::rate_limit::Budget;
use forum_api::test_util::TestApi;

use crate::support::*;

fn build(change: impl FnOnce(&mut ApiSettings)) -> Result<ForumApi, BuildError> {
    let mut settings = ApiSettings::default();
    change(&mut settings);
    let api = ForumApi::builder(FullBoard::new(), Stores::in_memory());
    api.settings(settings).build()
}

fn budget(units: u32, millis: u64) -> Budget {
    Budget { units, window: Duration::from_millis(millis) }
}

/// Fails unless the error names the setting and has this text.
fn assert_invalid(error: &BuildError, setting: &str, expected: &str) {
    assert_eq!(error.setting(), setting);
    assert_eq!(error.to_string(), format!("invalid setting `{setting}`: expected {expected}"));
}

#[test]
fn build_rejects_each_setting_out_of_bounds() {
    type Change = fn(&mut ApiSettings);
    const POSITIVE: &str = "a number of at least 1";
    const DURATION: &str = "a duration of at least 1 ms";
    const IPV4: &str = "a number of bits from 0 to 32";
    const IPV6: &str = "a number of bits from 0 to 128";
    const PATH: &str = "a path such as `/api/v1`, with a leading slash and without a query";
    let cases: &[(&str, &str, Change)] = &[
        ("token_budget.units", POSITIVE, |settings| settings.token_budget = budget(0, 1000)),
        ("token_budget.window", DURATION, |settings| settings.token_budget = budget(1, 0)),
        ("token_budget.window", DURATION, |settings| {
            settings.token_budget.window = Duration::from_micros(999)
        }),
        ("guest_budget.units", POSITIVE, |settings| settings.guest_budget = budget(0, 1000)),
        ("guest_budget.window", DURATION, |settings| settings.guest_budget = budget(1, 0)),
        ("ipv4_prefix_len", IPV4, |settings| settings.ipv4_prefix_len = 33),
        ("ipv6_prefix_len", IPV6, |settings| settings.ipv6_prefix_len = 129),
        ("body_limit", POSITIVE, |settings| settings.body_limit = 0),
        ("request_timeout", DURATION, |settings| settings.request_timeout = Duration::ZERO),
        ("base_path", PATH, |settings| settings.base_path = "".into()),
        ("base_path", PATH, |settings| settings.base_path = "api/v1".into()),
        ("base_path", PATH, |settings| settings.base_path = "/api/v1?x".into()),
        ("base_path", PATH, |settings| settings.base_path = "/api#v1".into()),
        ("base_path", PATH, |settings| settings.base_path = "/api v1".into()),
        ("base_path", PATH, |settings| settings.base_path = "https://board.example/api".into()),
    ];
    for (setting, expected, change) in cases {
        assert_invalid(&build(change).unwrap_err(), setting, expected);
    }
    let widest = build(|settings| {
        settings.token_budget = budget(1, 1);
        settings.ipv4_prefix_len = 32;
        settings.ipv6_prefix_len = 128;
        settings.body_limit = 1;
        settings.request_timeout = Duration::from_millis(1);
        settings.base_path = "/".into();
    });
    assert!(widest.is_ok());
}

#[test]
fn build_rejects_a_topic_that_exists() {
    let own = Topic::from_static("link.opened");
    for topics in [&[Topic::POST_CREATED][..], &[Topic::PING], &[own.clone(), own]] {
        let topics = topics.iter().cloned();
        let environment = topics.fold(Environment::default(), |environment, topic| {
            environment.topic(topic, "A link was opened.", &())
        });
        let api = ForumApi::builder(FullBoard::new(), Stores::in_memory());
        let error = api.environment(&environment).build().unwrap_err();
        assert_invalid(&error, "topic", "topics with different names");
    }
}

/// Adds this many scopes of the host.
fn with_scopes(count: usize) -> Environment {
    let names = (1..=count).map(|length| format!("{}:read", "x".repeat(length)));
    names.fold(Environment::default(), |environment, name| {
        environment.scope(Scope::from_static(name.leak(), "Reads."))
    })
}

#[test]
fn build_rejects_repeated_scopes_and_more_than_64() {
    let build = |environment: &Environment| {
        let api = ForumApi::builder(FullBoard::new(), Stores::in_memory());
        api.environment(environment).build()
    };
    let own = Scope::from_static("links:write", "Add links.");
    for environment in [
        with_scopes(52),
        Environment::default().scope(Scope::FORUMS_READ),
        Environment::default().scope(own).scope(own),
    ] {
        let error = build(&environment).unwrap_err();
        assert_invalid(&error, "scope", "at most 64 scopes with different names");
    }
    assert!(build(&with_scopes(51)).is_ok());
}

#[tokio::test]
async fn a_token_can_carry_the_last_of_64_scopes() {
    let server = Server::within(with_scopes(51), settings());
    let last = format!("{}:read", "x".repeat(51));
    let token = server.token_with("alice", &[&last, "members:read"]).await;
    let me = server.send(&Request::get("/me").bearer(&token)).await.json();
    assert_eq!(me["scopes"], json!(["members:read", last]));
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Stars {}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Lenient {}

#[test]
fn build_rejects_a_second_type_for_a_body_and_a_type_that_accepts_unknown_fields() {
    let api = || ForumApi::builder(FullBoard::new(), Stores::in_memory());
    for invalid in [
        api().extra::<Stars>(ExtraOf::NewPost).extra::<Stars>(ExtraOf::NewPost),
        api().extra::<Lenient>(ExtraOf::NewPost),
    ] {
        let error = invalid.build().unwrap_err();
        let expected = "at most one type for each body, with `#[serde(deny_unknown_fields)]`";
        assert_invalid(&error, "extra", expected);
    }
}

#[test]
fn build_rejects_an_invalid_public_origin() {
    let build = |origin: &str| {
        let environment = Environment::default().public_origin(origin);
        ForumApi::builder(FullBoard::new(), Stores::in_memory()).environment(&environment).build()
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
        let expected =
            "an origin such as `https://board.example`, without a path or a slash at the end";
        assert_invalid(&error, "public_origin", expected);
    }
    for origin in ["", "https://board.example", "http://[::1]:8080"] {
        assert!(build(origin).is_ok(), "{origin}");
    }
}

#[tokio::test]
async fn slashes_at_the_end_of_the_base_path_are_removed() {
    let api = build(|settings| settings.base_path = "/forum/".into()).unwrap();
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
