//! Servers that are not a Redis, and malformed addresses.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};

use forum_api::rate_limit::RateLimitKey;
use forum_api::store::redis::{RedisRateLimitStore, RedisSettings};
use forum_test_support::redis::TIMEOUT;
use forum_test_support::thread_log;

use super::charge;

async fn node(url: &str) -> RedisRateLimitStore {
    node_with_timeout(url, TIMEOUT).await
}

async fn node_with_timeout(url: &str, timeout: Duration) -> RedisRateLimitStore {
    let mut settings = RedisSettings::default();
    settings.timeout = timeout;
    RedisRateLimitStore::connect(url, settings).await.unwrap()
}

/// Responds to each command with the same bytes.
fn respond(server: TcpListener, response: &'static str) {
    thread::spawn(move || {
        for mut stream in server.incoming().flatten() {
            let mut received = [0; 4096];
            while stream.read(&mut received).is_ok_and(|count| count > 0) && !response.is_empty() {
                let commands = received.split(|byte| *byte == b'*').count() - 1;
                drop(stream.write_all(response.repeat(commands).as_bytes()));
                received = [0; 4096];
            }
        }
    });
}

#[tokio::test]
async fn the_log_has_the_cause_of_a_malformed_reply() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    respond(server, "*4\r\n:1\r\n:-1\r\n:0\r\n:0\r\n");
    thread_log::record();
    // Without a response, the log would name the timeout.
    node_with_timeout(&format!("redis://{address}"), Duration::from_secs(30)).await;
    let lines = thread_log::take();
    assert!(lines.contains("error=not a count of units"), "{lines}");
}

/// `None` is a server that does not respond.
#[tokio::test]
async fn a_node_charges_locally_without_a_valid_server() {
    for response in [
        None,
        Some("HTTP/1.1 400 Bad Request\r\n\r\n"),
        Some("+OK\r\n"),
        Some("-ERR unknown command\r\n"),
        Some("-LOADING Redis is loading the dataset in memory\r\n"),
        Some("*0\r\n"),
        Some("*3\r\n:1\r\n:1\r\n:0\r\n"),
        Some("*4\r\n:1\r\n:-1\r\n:0\r\n:0\r\n"),
        Some("*4\r\n:1\r\n:4294967296\r\n:0\r\n:0\r\n"),
        Some("*4\r\n:1\r\n:1\r\n$3\r\nabc\r\n:0\r\n"),
        Some("$99999999999999\r\n"),
        Some(""),
    ] {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = server.local_addr().unwrap();
        let _silent = match response {
            Some(response) => {
                respond(server, response);
                None
            }
            None => Some(server),
        };
        let start = Instant::now();
        let node = node(&format!("redis://{address}")).await;
        assert!(response.is_some() || start.elapsed() >= TIMEOUT);
        charges_locally(&node).await;
    }
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = closed.local_addr().unwrap();
    drop(closed);
    charges_locally(&node(&format!("redis://{address}")).await).await;
}

async fn charges_locally(node: &RedisRateLimitStore) {
    for remaining in (0..120).rev() {
        let charge = charge(node, RateLimitKey::UnknownAddress, 1).await;
        assert_eq!((charge.allowed, charge.remaining), (true, remaining));
    }
    assert!(!charge(node, RateLimitKey::UnknownAddress, 1).await.allowed);
    assert!(node.is_unreachable() && node.failures() > 0);
}

#[tokio::test]
async fn a_malformed_address_is_rejected_without_its_password() {
    for url in [
        "",
        "localhost",
        "redis://",
        "http://:hush@localhost",
        "redis://:hush@localhost/first",
        "redis://:hush@localhost:99999",
        "redis://:hush@[::1",
        "redis://:hush@one,other",
        "redis+sentinel://:hush@localhost",
        "redis+sentinel://:hush@localhost//1",
        "redis+sentinel:///board",
        "redis+sentinel://:hush@localhost/board/first",
        "redis+sentinel://:hush@one,/board",
        "redis+cluster://",
        "redis+cluster://:hush@one,,other",
        "redis+cluster://:hush@one,other:99999",
        "redis+servers://:hush@localhost",
    ] {
        let result = RedisRateLimitStore::connect(url, RedisSettings::default()).await;
        let error = result.unwrap_err().to_string();
        assert!(error.starts_with("expected a Redis URL"), "{url}: {error}");
        assert!(!error.contains("hush"));
    }
    for url in [
        "redis://:hush@127.0.0.1:1",
        "redis+sentinel://:hush@127.0.0.1:1,[::1]/board/1?sentinel_password=hush",
        "REDIS+CLUSTER://:hush@127.0.0.1:1,[::1]:1",
    ] {
        let node = node(url).await;
        assert!(node.is_unreachable() && !format!("{node:?}").contains("hush"));
    }
}
