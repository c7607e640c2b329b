//! The routes of the server, and the options that change its responses.

use std::time::UNIX_EPOCH;

use forum_test_support::free_port;
use http::HeaderName;

use crate::prelude::*;

const OK: &str = r#"{"status":"ok"}"#;
const UNAVAILABLE: &str = r#"{"status":"unavailable"}"#;
const NOT_FOUND: &str = r#"{"status":"not found"}"#;

/// Paths without a route.
const UNKNOWN_PATHS: &[&str] = &[
    "/panels",
    "/docsx",
    "/sign-in/",
    "/sign-out",
    "/health/",
    "/api",
    "/api/v10/forums",
    "/api/v2/forums",
    "/docs/nothing",
    "/docs//",
    "/docs/../health",
];

/// Paths without an endpoint: the API receives them unchanged.
const UNKNOWN_API_PATHS: &[&str] = &[
    "/api/v1",
    "/api/v1/",
    "/api/v1//forums",
    "/api/v1/forums/",
    "/api/v1/FORUMS",
    "/api/v1/%66orums",
    "/api/v1/%ff",
    "/api/v1/api/v1/forums",
    "/api/v1/../v1/forums",
    "/api/v1/./forums",
];

#[test]
fn paths_are_routed_to_their_services() {
    let server = Server::new(&[]);
    let health = get(&server.url("/health"));
    assert_eq!((health.status, &*health.body), (200, OK));
    for (paths, code) in [(UNKNOWN_PATHS, ""), (UNKNOWN_API_PATHS, "no_such_route")] {
        for path in paths {
            let absent = get(&server.url(path));
            assert_eq!(absent.status_and_code(), (404, code.into()), "{path}");
            let metered = absent.header("x-ratelimit-limit").is_some();
            assert_eq!(metered, !code.is_empty(), "{path}");
            assert_eq!(absent.header("content-type"), Some("application/json"), "{path}");
            assert_eq!(absent.body == NOT_FOUND, code.is_empty(), "{path}");
        }
    }
    let browser = "text/html,application/xhtml+xml,*/*;q=0.8";
    for (path, accepted, is_page) in [
        ("/nothing", browser, true),
        ("/docs/nothing", browser, true),
        ("/apis", browser, true),
        ("/api", browser, false),
        ("/api/nothing", browser, false),
        ("/api/v1/nothing", browser, false),
        ("/nothing", "application/xml, TEXT/HTML;q=0.1", true),
        ("/nothing", "text/html5, */*", false),
    ] {
        let absent = send("GET", &server.url(path), &[("accept", accepted)], "");
        let is_html = absent.header("content-type") == Some("text/html; charset=utf-8");
        assert_eq!((absent.status, is_html), (404, is_page), "{path}");
        for part in [
            "<title>Not found · Forum</title>",
            "<main class=\"narrow\"><h1>Not found</h1><p>There is no page at this address.</p>",
            "<a href=\"/\">Start page</a> · <a href=\"/docs\">API reference</a>",
        ] {
            assert_eq!(absent.body.contains(part), is_page, "{path}: {part}");
        }
    }
    let posted = send("POST", &server.url("/docs"), &[], "");
    assert_eq!(posted.status_and("allow"), (405, Some("GET, HEAD")));
    server.directory.query("DROP TABLE board_migrations");
    let health = get(&server.url("/health"));
    assert_eq!((health.status, &*health.body), (503, UNAVAILABLE));
    let (_, log) = server.stop_with_log();
    let reason = "database unreachable error=\"the database contains no board\"";
    assert!(log.lines().any(|line| line.contains("ERROR") && line.ends_with(reason)), "{log}");
}

/// The page shows no image of this server, because the address of an image in a post could be a request to the API.
const READER_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
                             form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

const PANEL_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                            form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

#[test]
fn the_start_page_links_to_the_services_and_the_document_has_a_short_url() {
    let server = Server::new(&[]);
    let page = get(&server.url("/"));
    assert_eq!(page.status, 200);
    for (path, media_type, policy) in [
        ("/", "text/html; charset=utf-8", READER_POLICY),
        ("/reader.js", "text/javascript; charset=utf-8", PANEL_POLICY),
        ("/reader.css", "text/css; charset=utf-8", PANEL_POLICY),
    ] {
        let mut headers = get(&server.url(path)).headers;
        // Headers of the connection, and those that the body determines.
        for name in ["connection", "content-length", "date", "etag", "transfer-encoding"] {
            headers.remove(name);
        }
        let found = headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap()));
        let expected = [
            ("cache-control", "no-cache"),
            ("content-security-policy", policy),
            ("content-type", media_type),
            ("referrer-policy", "same-origin"),
            ("vary", "accept-encoding"),
            ("x-content-type-options", "nosniff"),
        ];
        assert_eq!(found.collect::<BTreeMap<_, _>>(), expected.into(), "{path}");
    }
    let addresses = page_urls(&page.body);
    let expected = [
        "/",
        "/api/v1/forums",
        "/api/v1/openapi.json",
        "/docs",
        "/mcp",
        "/panel",
        "/panel/style.css",
        "/reader.css",
        "/reader.js",
    ];
    assert!(addresses.iter().copied().eq(expected), "{addresses:?}");
    for address in addresses {
        let answer = get(&server.url(address));
        let expected = match address {
            "/mcp" => 405,
            "/panel" => 303,
            _ => 200,
        };
        assert_eq!(answer.status, expected, "{address}");
        if address.contains('.') || address == "/" {
            assert_compressed_and_unchanged(&server, address, &answer);
        }
    }
    assert_eq!(send("POST", &server.url("/"), &[], "").status, 404);
    let document = get(&server.url("/openapi.json"));
    assert_eq!(document.status_and("location"), (307, Some("/api/v1/openapi.json")));
}

#[test]
fn a_server_without_mcp_neither_serves_nor_names_it() {
    let server = Server::new(&["--no-mcp"]);
    for path in ["/mcp", "/mcp/"] {
        let absent = get(&server.url(path));
        assert_eq!((absent.status, &*absent.body), (404, NOT_FOUND), "{path}");
    }
    let page = get(&server.url("/")).body;
    assert!(page.contains("/api/v1/openapi.json") && !page.contains("MCP"), "{page}");
}

/// Asserts that a resource is compressed, and not sent again to a client that has it.
fn assert_compressed_and_unchanged(server: &Server, path: &str, known: &Response) {
    let compressed = send("HEAD", &server.url(path), &[("accept-encoding", "gzip")], "");
    assert_eq!(compressed.header("content-encoding"), Some("gzip"), "{path}");
    let known = [("if-none-match", known.header("etag").unwrap())];
    let again = send("GET", &server.url(path), &known, "");
    assert_eq!((again.status, &*again.body), (304, ""), "{path}");
}

/// Returns the URLs that a page loads or links to, without fragments and those of its data.
fn page_urls(page: &str) -> BTreeSet<&str> {
    [" src=\"", " href=\""]
        .into_iter()
        .flat_map(|attribute| page.split(attribute).skip(1))
        .filter_map(|rest| rest.split(['"', '#']).next())
        .filter(|link| !link.is_empty() && !link.starts_with("data:image/svg+xml,"))
        .collect()
}

const POLICY: &str = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self' \
                      data:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

#[test]
fn the_reference_page_and_its_resources_are_on_this_server() {
    let server = Server::new(&[]);
    let page = get(&server.url("/docs"));
    assert_eq!(page.header("content-security-policy"), Some(POLICY));
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(get(&server.url("/docs/")).body, page.body);
    let mut loads = page_urls(&page.body);
    for other_page in ["/", "/panel"] {
        assert!(loads.remove(other_page), "{other_page}");
    }
    assert_eq!(loads.len(), 4, "{loads:?}");
    for address in loads {
        assert!(address.starts_with("/docs") || address == "/api/v1/openapi.json");
        let head = send("HEAD", &server.url(address), &[], "");
        assert_eq!((head.status, &*head.body), (200, ""), "{address}");
        assert_compressed_and_unchanged(&server, address, &head);
    }
}

#[test]
fn the_name_and_the_accent_colour_of_the_board_are_on_each_page() {
    let server = Server::new(&["--board-name", "Tea <club>", "--accent-color", "#c2410c"]);
    for path in ["/", "/docs", "/sign-in", "/nothing"] {
        let page = send("GET", &server.url(path), &[("accept", "text/html")], "").body;
        for part in
            ["<span class=\"name\">Tea &lt;club&gt;</span>", "data:image/svg+xml,", "%23c2410c"]
        {
            assert!(page.contains(part), "{path}: {part}");
        }
    }
    for path in ["/panel/style.css", "/docs/style.css"] {
        let style = get(&server.url(path)).body;
        assert!(style.contains("--brand: #c2410c;"), "{path}");
    }
    let refused = ServerDirectory::new().run(&["--accent-color", "red"], "");
    assert_eq!(refused.status, 2);
}

#[test]
fn options_change_rate_limits_proxies_and_language() {
    let server = Server::new(&[
        "--guest-budget",
        "1",
        "--window",
        "60",
        "--trusted-proxies",
        "127.0.0.1,10.0.0.0/8",
        "--language",
        "de",
    ]);
    let token = server.token("alice");
    for (path, message) in [
        ("/unknown", "Unbekannter Endpunkt."),
        ("/forums/2/threads", "title: Ein Titel ist erforderlich."),
    ] {
        let posted = server.post(&token, path, &json!({})).json();
        assert_eq!(posted["error"]["message"], message);
    }
    let from = |address| {
        let headers = [("x-forwarded-for", address)];
        send("GET", &server.api_url("/forums"), &headers, "")
    };
    assert_eq!(from("203.0.113.1").status, 200);
    let refused = from("203.0.113.99");
    assert_eq!(refused.status_and("x-ratelimit-limit"), (429, Some("1")));
    assert!((1..=60).contains(&refused.header_number("retry-after").unwrap()));
    assert_eq!(from("198.51.100.1, 10.1.2.3").status, 200);
}

/// Headers that pages of other origins may read.
const EXPOSED: [&str; 13] = [
    "etag",
    "idempotency-replayed",
    "link",
    "location",
    "retry-after",
    "www-authenticate",
    "x-error-field",
    "x-error-reason",
    "x-ratelimit-cost",
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "x-request-id",
];

#[test]
fn pages_of_named_origins_may_call_the_api_and_the_tools() {
    let origins = ["https://a.example", "https://b.example"];
    let server = Server::new(&["--cors-origin", origins[0], "--cors-origin", origins[1]]);
    let request_from = |method, url: String, origin| {
        let headers = [("origin", origin), ("access-control-request-method", "GET")];
        send(method, &url, &headers, "")
    };
    for origin in origins {
        let answer = request_from("GET", server.api_url("/forums"), origin);
        assert_eq!(answer.header("access-control-allow-origin"), Some(origin));
        let exposed = answer.header("access-control-expose-headers").unwrap();
        assert_eq!(exposed.split(',').collect::<BTreeSet<_>>(), EXPOSED.into());
        let options = request_from("OPTIONS", server.api_url("/forums"), origin);
        assert_eq!(options.status, 200);
    }
    let other = request_from("GET", server.api_url("/forums"), "https://c.example");
    assert_eq!(other.header("access-control-allow-origin"), None);
    let preflight = [
        ("origin", origins[1]),
        ("access-control-request-method", "POST"),
        (
            "access-control-request-headers",
            "accept,authorization,content-type,idempotency-key,if-none-match,last-event-id,mcp-method,mcp-name,\
             mcp-protocol-version,mcp-session-id,x-request-id",
        ),
    ];
    let answer = send("OPTIONS", &server.url("/mcp"), &preflight, "");
    let names = |text: &str| text.split(',').map(str::to_owned).collect::<BTreeSet<_>>();
    let allowed = answer.header("access-control-allow-headers").unwrap();
    assert_eq!(names(allowed), names(preflight[2].1));
    let methods = answer.header("access-control-allow-methods").unwrap();
    assert_eq!(names(methods), names("DELETE,GET,HEAD,PATCH,POST"));
    assert_eq!(answer.status_and("access-control-max-age"), (200, Some("3600")));
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let from = |path, origin| {
        let headers = [("origin", origin), ("content-type", "application/json")];
        send("POST", &server.url(path), &headers, ping)
    };
    let with_slash = from("/mcp/", origins[1]);
    let answer = from("/mcp", origins[1]);
    for answer in [&with_slash, &answer] {
        assert_eq!(answer.status_and("access-control-allow-origin"), (200, Some(origins[1])));
        assert!(answer.body.contains(r#""result":{}"#));
    }
    let exposed = answer.header("access-control-expose-headers").unwrap();
    assert!(exposed.contains("x-request-id") && exposed.contains("retry-after"));
    let foreign = from("/mcp", "https://c.example");
    assert_eq!(foreign.status_and("access-control-allow-origin"), (403, None));
    for path in ["/panel/style.css", "/sign-in", "/metrics", "/health", "/docs"] {
        for method in ["GET", "OPTIONS"] {
            let answer = request_from(method, server.url(path), origins[0]);
            let mut names = answer.headers.keys().map(HeaderName::as_str);
            let is_cors = names.any(|name| name.starts_with("access-control-"));
            assert!(!is_cors, "{path} {answer:?}");
        }
    }
    let closed = Server::new(&[]);
    let options = request_from("OPTIONS", closed.api_url("/forums"), origins[0]);
    assert_eq!(options.error_code(), "no_such_route");
}

#[test]
fn pages_of_any_origin_may_call_the_api_and_the_tools_if_an_origin_is_a_star() {
    let server = Server::new(&["--cors-origin", "https://a.example", "--cors-origin", "*"]);
    let headers = [("origin", "https://c.example"), ("content-type", "application/json")];
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for (method, url, body) in
        [("GET", server.api_url("/forums"), ""), ("POST", server.url("/mcp"), ping)]
    {
        let answer = send(method, &url, &headers, body);
        assert_eq!(answer.status_and("access-control-allow-origin"), (200, Some("*")), "{url}");
    }
}

#[test]
fn a_server_whose_redis_is_unreachable_applies_rate_limits_in_memory() {
    let server = Server::new(&["--redis", "redis://:hush@127.0.0.1:1"]);
    for remaining in [119, 118] {
        let forums = get(&server.api_url("/forums"));
        assert_eq!(forums.header_number("x-ratelimit-remaining"), Some(remaining));
    }
    let metrics = get(&server.url("/metrics"));
    assert_eq!(sample_value(&metrics, "forum_server_redis_reachable"), Some(0.0));
    let (_, log) = server.stop_with_log();
    assert_eq!(log.matches("Redis unreachable").count(), 1, "{log}");
    assert!(!log.contains("hush"), "{log}");
}

#[test]
fn a_server_is_ready_while_its_database_is_writable_and_current() {
    let server = Server::start(ServerDirectory::in_sqlite(), &["--empty"]);
    let ready = server.url("/ready");
    assert_eq!(wait_for_status(&ready, 200).body, OK);
    let other = Connection::open(server.directory.path().join("forum.db")).unwrap();
    let rename = |from: &str, to: &str| format!("ALTER TABLE {from} RENAME TO {to}");
    let renamed = ["forum_api_migrations", "board_migrations"]
        .map(|table| (rename(table, "elsewhere"), rename("elsewhere", table)));
    let locked = [("BEGIN IMMEDIATE".into(), "ROLLBACK".into())];
    let changed = [(
        "UPDATE board_migrations SET name = name || '+' WHERE step = 1".into(),
        "UPDATE board_migrations SET name = rtrim(name, '+') WHERE step = 1".into(),
    )];
    for (begin, end) in locked.into_iter().chain(renamed).chain(changed) {
        other.execute_batch(&begin).unwrap();
        assert_eq!(wait_for_status(&ready, 503).body, UNAVAILABLE);
        if begin == "BEGIN IMMEDIATE" {
            assert_eq!(get(&server.url("/health")).status, 200);
        }
        other.execute_batch(&end).unwrap();
        assert_eq!(wait_for_status(&ready, 200).body, OK);
    }
    let (_, log) = server.stop_with_log();
    let not_ready = |line: &&str| line.contains("database not ready for writes");
    let logged: Vec<_> = log.lines().filter(not_ready).collect();
    let has_reason = |line: &&str| line.contains("error=") && !line.contains("error=\"\"");
    assert!(!logged.is_empty() && logged.iter().all(has_reason), "{log}");
    let pending = "error=\"migrations are pending; run `migrate`\"";
    assert!(logged.iter().any(|line| line.ends_with(pending)), "{log}");
}

/// The value of a sample, by its name and labels in any order.
fn sample_value(metrics: &Response, sample: &str) -> Option<f64> {
    let parts =
        |sample: &str| BTreeSet::from_iter(sample.split(['{', ',', '}']).map(str::to_owned));
    let (_, value) = metrics
        .body
        .lines()
        .filter_map(|line| line.rsplit_once(' '))
        .find(|(found, _)| parts(found) == parts(sample))?;
    value.parse().ok()
}

/// Samples and their values after three reads by a token, two requests without a route, a delivered ping, and a ping
/// that was not sent.
#[rustfmt::skip]
const SAMPLES: [(&str, f64); 8] = [
    (r#"requests_total{code="",method="GET",route="/threads/{threadId}",status="200"}"#, 2.0),
    (r#"requests_total{code="rate_limited",method="GET",route="/threads/{threadId}",status="429"}"#, 1.0),
    (r#"requests_total{code="no_such_route",method="GET",route="other",status="404"}"#, 1.0),
    (r#"requests_total{code="no_such_route",method="other",route="other",status="404"}"#, 1.0),
    (r#"request_duration_seconds_bucket{method="GET",route="/threads/{threadId}",le="+Inf"}"#, 3.0),
    (r#"units_charged_total{budget="token"}"#, 2.0),
    (r#"budget_refusals_total{budget="token"}"#, 1.0),
    ("delivery_attempt_duration_seconds_count", 1.0),
];

/// Samples and their values after the worker has attempted both pings and measured the queue.
const AWAITED: [(&str, f64); 7] = [
    (r#"deliveries_total{state="delivered",topic="ping"}"#, 1.0),
    (r#"deliveries_total{state="retrying",topic="ping"}"#, 1.0),
    ("delivery_queue_depth", 0.0),
    ("delivery_queue_age_seconds", 0.0),
    ("retrying_deliveries", 1.0),
    ("dead_deliveries", 2.0),
    ("disabled_endpoints", 3.0),
];

/// Copies a delivery twice, as a dead one, and an endpoint three times, as a disabled one.
const COPIES: &str = "
    INSERT INTO forum_api_deliveries (id, event, topic, endpoint, created_at, state, attempts)
    SELECT 'dlv_000000000000000000000' || copy.number, event, topic, endpoint, created_at, 'dead', 6
    FROM
        (SELECT * FROM forum_api_deliveries LIMIT 1) AS source,
        (SELECT 1 AS number UNION ALL SELECT 2) AS copy;

    INSERT INTO forum_api_endpoints (id, version, url, topics, owner, enabled, created_at, secret)
    SELECT 'whe_000000000000000000000' || copy.number, version, url, topics, owner, FALSE, created_at, secret
    FROM
        (SELECT * FROM forum_api_endpoints LIMIT 1) AS source,
        (SELECT 1 AS number UNION ALL SELECT 2 UNION ALL SELECT 3) AS copy;";

#[test]
fn metrics_count_requests_units_refusals_and_deliveries() {
    let server = Server::new(&["--token-budget", "2", "--allow-private-webhooks"]);
    let receiver = Receiver::new();
    let endpoint = add_endpoint(&server, &receiver, "");
    let closed = format!("127.0.0.1:{}", free_port());
    let add = format!("webhook add --json --allow-private-webhooks --url http://{closed}/");
    let unreachable = server.run_ok(&add).json();
    for endpoint in [&unreachable, &endpoint] {
        server.run_ok(&format!("webhook ping {} --wait 0", endpoint_id(endpoint)));
    }
    let token = server.token("alice");
    let statuses = [1, 2, 3].map(|_| server.get(&token, "/threads/1").status);
    assert_eq!(statuses, [200, 200, 429]);
    assert_eq!(get(&server.api_url("/unknown/at/all")).status, 404);
    let brewed = send("BREW", &server.api_url("/forums"), &[], "");
    assert_eq!(brewed.status, 404);
    receiver.next();
    server.directory.execute(COPIES);
    let holds = |metrics: &Response, (sample, expected): (&str, f64)| {
        sample_value(metrics, &format!("forum_api_{sample}")) == Some(expected)
    };
    let metrics = std::iter::repeat_with(|| get(&server.url("/metrics")))
        .take(100_000)
        .find(|metrics| AWAITED.iter().all(|&sample| holds(metrics, sample)))
        .unwrap();
    assert_eq!(metrics.header("content-type"), Some("text/plain; version=0.0.4"));
    for sample in SAMPLES {
        assert!(holds(&metrics, sample), "{sample:?}\n{}", metrics.body);
    }
    for line in [
        "# HELP forum_api_requests_total Completed requests.",
        "# HELP forum_server_ready 1 if `/ready` is 200, otherwise 0.",
        "# HELP forum_server_log_lines_dropped_total Log lines that were dropped because standard error was too slow.",
        "# TYPE forum_api_requests_total counter",
        "# TYPE forum_api_request_duration_seconds histogram",
        concat!("forum_server_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"} 1"),
        "forum_server_connections_max 10000",
        "forum_server_ready 1",
        "forum_server_board_offline 0",
        "forum_server_log_lines_dropped_total 0",
    ] {
        assert!(metrics.body.lines().any(|found| found == line), "{line}");
    }
    let bucket = "forum_api_delivery_attempt_duration_seconds_bucket{le=\"";
    let buckets = metrics.body.lines().filter_map(|line| line.strip_prefix(bucket));
    let bounds: Vec<_> = buckets.filter_map(|rest| rest.split('"').next()).collect();
    let expected = [
        "0.001", "0.0025", "0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1", "2.5", "5",
        "10", "+Inf",
    ];
    assert_eq!(bounds, expected);
    let value = |sample: &str| sample_value(&metrics, sample).expect(sample);
    let pool = value("forum_server_database_connections{state=\"in_use\"}")
        + value("forum_server_database_connections{state=\"idle\"}");
    assert!(1.0 <= pool && pool <= value("forum_server_database_connections_max"));
    assert!(value("process_resident_memory_bytes") > 1e7);
    let start = value("process_start_time_seconds");
    let retried = value("forum_api_latest_retry_timestamp_seconds");
    assert!((start..start + 1_200.0).contains(&retried), "{start} {retried}");
    server.run_ok("board offline");
    let metrics = get(&server.url("/metrics"));
    assert_eq!(sample_value(&metrics, "forum_server_board_offline"), Some(1.0));
    for path in ["/metrics", "/health", "/ready"] {
        let posted = send("POST", &server.url(path), &[], "{}");
        assert_eq!(posted.status, 404, "{path}: a webhook reads nothing");
    }
    assert!((10.0..value("process_max_fds")).contains(&value("process_open_fds")));
    assert!((1.0..=value("forum_server_tasks")).contains(&value("forum_server_connections")));
    let start = Duration::from_secs_f64(value("process_start_time_seconds"));
    assert!((UNIX_EPOCH + start).elapsed().unwrap() < Duration::from_secs(600));
    assert!(!metrics.body.contains("unknown") && !metrics.body.contains("BREW"));
}
