//! The HTTP transport: requests, responses, TLS and reuse of connections.

use std::sync::Arc;
use std::time::Duration;

use forum_api::webhook::{HttpTransport, ReceiverResponse, Transport as _, TransportError};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::wire::Behavior::{
    self, CloseOnReuse, Flood, KeepAlive, Reset, Respond, RespondAndHang, RespondSlowly,
    SendUnprompted, Trickle,
};
use crate::wire::{
    FakeResolver, LONG_TIMEOUT, ROOT_CERTIFICATE, SHORT_TIMEOUT, ScriptedReceiver,
    loopback_transport, settings, test_request, transport,
};

const KIBIBYTE: &[u8] = &[b'y'; 1024];

const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/// Checks the result of an attempt for each behavior. Its connection must be closed afterwards.
async fn check_responses<T: Copy + Send + Sync + 'static>(
    limit: Duration,
    rows: &[(Behavior, T)],
    expect: fn(T, Result<ReceiverResponse, TransportError>),
) {
    let transport = loopback_transport(limit);
    let mut attempts = JoinSet::new();
    for (behavior, expected) in rows.iter().copied() {
        let transport = transport.clone();
        attempts.spawn(async move {
            let mut receiver = ScriptedReceiver::new(behavior).await;
            let url = receiver.url("http://receiver.test");
            let result = transport.send(test_request(&url)).await;
            println!("{behavior:?}: {result:?}");
            expect(expected, result);
            assert_eq!(receiver.wait_for_close().await.len(), 1);
        });
    }
    while let Some(attempt) = attempts.join_next().await {
        attempt.unwrap();
    }
}

fn expect_response(expected: (u16, &str), outcome: Result<ReceiverResponse, TransportError>) {
    let response = outcome.unwrap();
    assert_eq!((response.status, response.excerpt.as_str()), expected);
}

fn expect_error(why: &str, outcome: Result<ReceiverResponse, TransportError>) {
    assert_eq!(outcome, Err(TransportError::new(why)));
}

#[tokio::test]
#[rustfmt::skip]
async fn a_response_is_its_status_and_the_start_of_its_body() {
    let rows = [
        (Respond(OK), (200, "ok")),
        (RespondSlowly(OK), (200, "ok")),
        (Respond(b"HTTP/1.1 204 No Content\r\n\r\n"), (204, "")),
        (Respond(b"HTTP/1.0 200 OK\r\n\r\nuntil the end"), (200, "until the end")),
        (Respond(b"HTTP/1.1 202 Accepted\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n"), (202, "abcd")),
        (Respond(b"HTTP/1.1 301 Moved\r\nlocation: /elsewhere\r\n\r\n"), (301, "")),
        (Respond(b"HTTP/1.1 308 Moved\r\nlocation: /elsewhere\r\n\r\n"), (308, "")),
        (Respond(b"HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n"), (410, "")),
        (Respond(b"HTTP/1.1 500 Oh\r\ncontent-length: 4\r\n\r\nwhy?"), (500, "why?")),
        (Respond(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"), (101, "")),
        (Respond(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"), (200, "ok")),
        // The connection breaks off after the head.
        (Respond(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 9\r\n\r\nhalf"), (200, "half")),
        (Respond(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\nnonsense"), (200, "a")),
        // Nothing is decompressed, and invalid UTF-8 is replaced.
        (Respond(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\r\n\x1f\x8b\x08"), (200, "\x1f\u{fffd}\x08")),
        (Respond(b"HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n\x1b[2J\0\xc3\xbc\xff\r\n\t."), (200, "\x1b[2J\0\u{fc}\u{fffd}\r\n\t.")),
    ];
    check_responses(LONG_TIMEOUT, &rows, expect_response).await;
}

#[tokio::test]
#[rustfmt::skip]
async fn at_most_4_kib_of_headers_and_body_are_kept() {
    let rows = [
        (Flood(b"HTTP/1.1 200 OK\r\n\r\n", KIBIBYTE), 4096),
        (Flood(b"HTTP/1.1 200 OK\r\ncontent-length: 10737418240\r\n\r\n", KIBIBYTE), 4096),
        (Flood(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", b"4\r\nbyte\r\n"), 4096),
    ];
    check_responses(LONG_TIMEOUT, &rows, |length, outcome| {
        let response = outcome.unwrap();
        let kept = response.headers.len() + response.excerpt.len();
        assert_eq!((response.status, kept), (200, length));
    })
    .await;
}

#[tokio::test]
async fn headers_are_kept_as_lines() {
    let long: &'static str = Box::leak("v".repeat(2_000).into_boxed_str());
    let text = format!(
        "HTTP/1.1 500 Oh\r\nX-One: a\r\nx-two: \t\u{e9}\u{80} b \r\nX-One: c\r\nlong: {long}\r\nmore: {long}\r\ncontent-length: 0\r\n\r\n"
    );
    let head: &'static [u8] = Box::leak(text.into_bytes().into_boxed_slice());
    let expected: &'static str =
        format!("x-one: a\nx-one: c\nx-two: \u{e9}\u{80} b\nlong: {long}\n").leak();
    let cases = [(Respond(head), expected)];
    check_responses(LONG_TIMEOUT, &cases, |expected, outcome| {
        assert_eq!(outcome.unwrap().headers, expected);
    })
    .await;
}

#[tokio::test]
#[rustfmt::skip]
async fn a_body_ends_with_the_time_limit_of_the_attempt() {
    let rows = [
        (RespondAndHang(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf"), "half"),
        (RespondAndHang(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n9"), "abc"),
        (Trickle(b"HTTP/1.1 200 OK\r\n\r\nslow", b"ly"), "slow"),
    ];
    check_responses(SHORT_TIMEOUT * 10, &rows, |beginning, outcome| {
        let response = outcome.unwrap();
        assert_eq!(response.status, 200);
        assert!(response.excerpt.starts_with(beginning) && response.excerpt.len() < 1000);
    })
    .await;
}

#[tokio::test]
async fn an_incomplete_head_is_a_timeout() {
    let rows = [
        RespondAndHang(b""),
        RespondAndHang(b"HTTP/1.1 200 OK\r\n"),
        RespondAndHang(b"HTTP/1.1 100 Continue\r\n\r\n"),
        Trickle(b"HTTP/1.1 200 OK\r\n", b"x: y\r\n"),
        Trickle(b"HTTP/1.1 200 OK\r\nx: ", b"y"),
        Trickle(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
    ]
    .map(|behavior| (behavior, "no response within 300ms"));
    check_responses(SHORT_TIMEOUT, &rows, expect_error).await;
}

#[tokio::test]
#[rustfmt::skip]
async fn an_invalid_response_is_an_error_with_a_reason() {
    let cut = "no response: connection closed before message completed";
    let large = "no response: message head is too large";
    let rows = [
        (Respond(b""), cut),
        (Respond(b"HTTP/1.1 200 OK\r\n"), cut),
        (Respond(b"HTTP/1.1 100 Continue\r\n\r\n"), cut),
        (Reset, "no response: connection reset"),
        (Flood(b"HTTP/1.1 200 OK\r\n", b"x: y\r\n"), large),
        (Flood(b"HTTP/1.1 200 OK\r\nx: ", KIBIBYTE), large),
        (Flood(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), "no response: the response is too large"),
        (Flood(b"", b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n"), "no response: the response is too large"),
        (Respond(b"220 mail.test ESMTP\r\n\r\n"), "no response: invalid HTTP version parsed"),
        (Respond(b"HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n"), "no response: invalid content-length parsed"),
    ];
    check_responses(LONG_TIMEOUT, &rows, expect_error).await;
}

#[tokio::test]
async fn a_head_has_at_most_64_lines_and_16_kib() {
    let head = |lines: usize, letters: usize| {
        let line = format!("x: {}\r\n", "y".repeat(letters));
        let head = format!("HTTP/1.1 204 No Content\r\n{}\r\n", line.repeat(lines));
        Respond(head.leak().as_bytes())
    };
    let rows = [
        (head(64, 1), Some(204)),
        (head(65, 1), None),
        (head(1, 16_000), Some(204)),
        (head(1, 17_000), None),
    ];
    check_responses(LONG_TIMEOUT, &rows, |status, outcome| {
        assert_eq!(outcome.ok().map(|response| response.status), status);
    })
    .await;
}

#[tokio::test]
async fn a_request_has_exactly_the_documented_bytes() {
    let mut receiver = ScriptedReceiver::new(Respond(OK)).await;
    let authority = format!("receiver.test:{}", receiver.address().port());
    let url = format!("http://{authority}//hook?of={{board}}|^`");
    let sender = loopback_transport(LONG_TIMEOUT);
    expect_response((200, "ok"), sender.send(test_request(&url)).await);
    let expected = format!(
        "POST //hook?of={{board}}|^` HTTP/1.1\r\n\
         host: {authority}\r\n\
         content-type: application/json\r\n\
         x-forum-event: ping\r\n\
         content-length: 17\r\n\
         \r\n\
         {{\"event\":\"evt_1\"}}"
    );
    assert_eq!(receiver.wait_for_close().await[0].request, expected);
}

#[tokio::test]
async fn a_refused_connection_is_an_error() {
    let closed = ScriptedReceiver::refusing_connections();
    let address = closed.address();
    let url = format!("http://{address}/hook");
    let why = format!("cannot connect to {address}: connection refused");
    let transport = loopback_transport(LONG_TIMEOUT);
    let outcome = transport.send(test_request(&url)).await;
    assert_eq!(outcome, Err(TransportError::not_sent(why)));
}

#[tokio::test]
async fn resolution_and_connection_have_their_own_time_limit() {
    let silent = ScriptedReceiver::new(SendUnprompted(b"")).await;
    let late = "cannot connect within 300ms";
    for (names, why) in [
        (FakeResolver::resolving_to(&[]), "the host name \"receiver.test\" does not resolve"),
        (FakeResolver::hanging(), late),
        (FakeResolver::resolving_to(&["127.0.0.1"]), late),
    ] {
        let mut settings = settings(LONG_TIMEOUT);
        settings.connect_timeout = SHORT_TIMEOUT;
        let request = test_request(&silent.url("https://receiver.test"));
        let outcome = transport(settings, &names).send(request).await;
        assert_eq!(outcome, Err(TransportError::not_sent(why)));
    }
}

#[tokio::test]
async fn a_silent_address_does_not_block_the_next_one() {
    let acts = vec![SendUnprompted(b""), SendUnprompted(b"?"), Respond(OK)];
    let receiver = ScriptedReceiver::with_behaviors(acts, Some(acceptor("receiver"))).await;
    let mut settings = settings(LONG_TIMEOUT);
    settings.connect_timeout = SHORT_TIMEOUT * 12;
    let names = FakeResolver::resolving_to(&["127.0.0.1"; 4]);
    let url = receiver.url("https://receiver.test");
    let transport = transport(settings, &names);
    expect_response((200, "ok"), transport.send(test_request(&url)).await);
    assert_eq!((receiver.connections(), names.calls()), (3, 1));
}

/// Creates an acceptor with the certificate of this name.
pub(crate) fn acceptor(certificate: &str) -> TlsAcceptor {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/certificates");
    let chain = CertificateDer::from_pem_file(format!("{folder}/{certificate}.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(format!("{folder}/receiver.key")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![chain], key);
    Arc::new(config.unwrap()).into()
}

#[tokio::test]
#[rustfmt::skip]
async fn a_certificate_is_verified() {
    let name = "https://receiver.test";
    let address = "https://127.0.0.1";
    let rooted = "https://RECEIVER.test.";
    let other = "https://other.test";
    let untrusted = Err("the certificate is not trusted");
    for (certificate, origin, roots, outcome) in [
        ("receiver", name, ROOT_CERTIFICATE, Ok(200)),
        ("receiver", address, ROOT_CERTIFICATE, Ok(200)),
        ("receiver", rooted, ROOT_CERTIFICATE, Ok(200)),
        ("receiver", name, "", untrusted),
        ("untrusted", name, ROOT_CERTIFICATE, untrusted),
        ("receiver", other, ROOT_CERTIFICATE, Err("the certificate is for another host name")),
        ("expired", name, ROOT_CERTIFICATE, Err("the certificate has expired")),
        ("not_yet_valid", name, ROOT_CERTIFICATE, Err("the certificate is not valid yet")),
    ] {
        let mut settings = settings(LONG_TIMEOUT);
        settings.extra_roots_pem = roots.into();
        let mut receiver = ScriptedReceiver::with_behaviors(vec![Respond(OK)], Some(acceptor(certificate))).await;
        let transport = transport(settings, &FakeResolver::resolving_to(&["127.0.0.1"]));
        let response = transport.send(test_request(&receiver.url(origin))).await;
        let status = response.map(|response| response.status);
        let outcome = outcome.map_err(|why: &str| TransportError::not_sent(why));
        assert_eq!(status, outcome, "{certificate} {origin}");
        if outcome.is_ok() && origin == name {
            let seen = receiver.wait_for_close().await;
            assert_eq!(seen[0].server_name.as_deref(), Some("receiver.test"));
            let host = format!("\r\nhost: receiver.test:{}\r\n", receiver.address().port());
            assert!(seen[0].request.contains(&host));
        }
    }
}

#[tokio::test]
async fn a_receiver_without_tls_1_2_receives_no_request() {
    let old_alert = SendUnprompted(b"\x15\x03\x01\x00\x02\x02\x46");
    for (behavior, why) in [
        (
            SendUnprompted(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
            "TLS handshake failed: received corrupt message",
        ),
        (old_alert, "TLS handshake failed: received fatal alert"),
        (Reset, "TLS handshake failed: connection reset"),
    ] {
        let mut receiver = ScriptedReceiver::new(behavior).await;
        let url = receiver.url("https://receiver.test");
        let sender = loopback_transport(LONG_TIMEOUT);
        let response = sender.send(test_request(&url)).await;
        let error = response.expect_err("no response").to_string();
        let why = TransportError::not_sent(why).to_string();
        assert!(error.starts_with(&why), "{behavior:?}: {error}");
        assert_eq!(receiver.wait_for_close().await[0].request, "");
    }
}

#[test]
fn extra_roots_must_be_certificates() {
    for roots in
        ["no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"]
    {
        let mut settings = settings(LONG_TIMEOUT);
        settings.extra_roots_pem = roots.into();
        assert!(HttpTransport::new(settings).is_err(), "{roots}");
    }
}

fn with_idle_timeout(idle: Duration, limit: Duration, names: &Arc<FakeResolver>) -> HttpTransport {
    let mut settings = settings(limit);
    settings.idle_timeout = idle;
    transport(settings, names)
}

fn local_sender(idle: Duration, limit: Duration) -> HttpTransport {
    with_idle_timeout(idle, limit, &FakeResolver::resolving_to(&["127.0.0.1"]))
}

async fn status(transport: &HttpTransport, url: &str) -> Result<u16, TransportError> {
    let response = transport.send(test_request(url)).await;
    response.map(|response| response.status)
}

#[tokio::test]
async fn a_connection_is_reused_for_its_host() {
    for origin in ["http://receiver.test", "https://receiver.test"] {
        let tls = origin.starts_with("https").then(|| acceptor("receiver"));
        let receiver = ScriptedReceiver::with_behaviors(vec![KeepAlive(OK)], tls).await;
        let sender = local_sender(LONG_TIMEOUT, LONG_TIMEOUT);
        let url = receiver.url(origin);
        for _ in 0..5 {
            assert_eq!(status(&sender, &url).await, Ok(200));
        }
        assert_eq!(receiver.connections(), 1, "{origin}");
        let other = receiver.url(&origin.replace("receiver", "other"));
        status(&sender, &other).await.ok();
        assert_eq!(receiver.connections(), 2, "another host, {origin}");
    }
}

#[tokio::test]
async fn a_connection_can_be_kept_without_a_limit() {
    let receiver = ScriptedReceiver::new(KeepAlive(OK)).await;
    let sender = local_sender(Duration::MAX, LONG_TIMEOUT);
    let url = receiver.url("http://receiver.test");
    for _ in 0..2 {
        assert_eq!(status(&sender, &url).await, Ok(200));
    }
    assert_eq!(receiver.connections(), 1);
}

#[tokio::test]
async fn concurrent_attempts_use_separate_connections() {
    let receiver = ScriptedReceiver::new(KeepAlive(OK)).await;
    let sender = local_sender(LONG_TIMEOUT, LONG_TIMEOUT);
    let url = receiver.url("http://receiver.test");
    for _ in 0..2 {
        let (one, other) = tokio::join!(status(&sender, &url), status(&sender, &url));
        assert_eq!((one, other), (Ok(200), Ok(200)));
        assert_eq!(receiver.connections(), 2);
    }
}

#[tokio::test]
async fn a_connection_that_is_not_reused_is_announced() {
    let mut receiver = ScriptedReceiver::new(KeepAlive(OK)).await;
    let url = receiver.url("http://receiver.test");
    let sender = local_sender(Duration::ZERO, LONG_TIMEOUT);
    for _ in 0..2 {
        assert_eq!(status(&sender, &url).await, Ok(200));
    }
    let recorded = receiver.wait_for_close().await;
    let headers = recorded.iter().map(|one| one.header("connection"));
    assert_eq!(headers.collect::<Vec<_>>(), ["close", "close"]);
}

#[tokio::test]
async fn a_connection_is_reused_only_for_a_resolved_address() {
    let receiver = ScriptedReceiver::new(KeepAlive(OK)).await;
    let url = receiver.url("http://receiver.test");
    let here: &[_] = &["127.0.0.1"];
    let elsewhere: &[_] = &["127.0.0.9"];
    let names = FakeResolver::with_results(&[here, elsewhere, &["169.254.169.254"], here]);
    let sender = with_idle_timeout(LONG_TIMEOUT, LONG_TIMEOUT, &names);
    assert_eq!(status(&sender, &url).await, Ok(200));
    for _ in 0..2 {
        status(&sender, &url).await.unwrap_err();
    }
    assert_eq!((receiver.connections(), names.calls()), (1, 3));
    assert_eq!(status(&sender, &url).await, Ok(200));
    assert_eq!(receiver.connections(), 1, "the connection stayed open");
}

#[tokio::test]
async fn a_connection_closed_by_the_receiver_does_not_fail_an_attempt() {
    for behavior in [Respond(OK), CloseOnReuse(OK)] {
        let receiver = ScriptedReceiver::new(behavior).await;
        let names = FakeResolver::resolving_to(&["127.0.0.1"]);
        let sender = with_idle_timeout(LONG_TIMEOUT, LONG_TIMEOUT, &names);
        let url = receiver.url("http://receiver.test");
        for _ in 0..3 {
            assert_eq!(status(&sender, &url).await, Ok(200), "{behavior:?}");
        }
        let counts = (receiver.connections(), names.calls());
        assert_eq!(counts, (3, 3), "{behavior:?}");
    }
}

#[tokio::test]
async fn a_hanging_connection_fails_the_attempt_and_is_closed() {
    let mut receiver = ScriptedReceiver::new(RespondAndHang(OK)).await;
    let url = receiver.url("http://receiver.test");
    let sender = local_sender(LONG_TIMEOUT, SHORT_TIMEOUT * 10);
    assert_eq!(status(&sender, &url).await, Ok(200));
    status(&sender, &url).await.unwrap_err();
    assert_eq!(receiver.wait_for_close().await.len(), 1);
}

#[tokio::test]
async fn idle_connections_are_closed() {
    let mut receivers =
        [ScriptedReceiver::new(KeepAlive(OK)).await, ScriptedReceiver::new(KeepAlive(OK)).await];
    let sender = local_sender(SHORT_TIMEOUT, LONG_TIMEOUT);
    for round in 1..=2 {
        for receiver in &receivers {
            let url = receiver.url("http://receiver.test");
            assert_eq!(status(&sender, &url).await, Ok(200));
        }
        for receiver in &mut receivers {
            assert_eq!(receiver.wait_for_close().await.len(), round);
        }
    }
}
