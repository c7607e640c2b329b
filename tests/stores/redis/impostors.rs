//! What is no Redis, or none that this node may use.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;
use std::time::Instant;

use forum_api::rate_limit::BudgetKey;
use forum_api::store::redis::{RedisBudgets, Settings};

use super::charge;
use super::server::PATIENCE;

async fn node(url: &str) -> RedisBudgets {
    let settings = Settings {
        patience: PATIENCE,
        ..Settings::default()
    };
    RedisBudgets::connect(url, settings).await.unwrap()
}

/// The node meters by itself, at once.
async fn meters_alone(node: &RedisBudgets) {
    let start = Instant::now();
    for remaining in (0..120).rev() {
        let charge = charge(node, BudgetKey::NoAddress, 1).await;
        assert_eq!((charge.granted, charge.remaining), (true, remaining));
    }
    assert!(!charge(node, BudgetKey::NoAddress, 1).await.granted);
    assert!(node.is_away() && node.failures() > 0);
    // To wait for each of the 121 charges would take 121 times as long.
    assert!(start.elapsed() < 40 * PATIENCE, "{:?}", start.elapsed());
}

#[tokio::test]
async fn who_takes_connections_and_never_answers_is_waited_for_once() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let start = Instant::now();
    let node = node(&format!("redis://{}", silent.local_addr().unwrap())).await;
    let waited = start.elapsed();
    assert!(PATIENCE <= waited && waited < 40 * PATIENCE, "{waited:?}");
    meters_alone(&node).await;
}

#[tokio::test]
async fn where_nobody_listens_the_node_meters_by_itself() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = closed.local_addr().unwrap();
    drop(closed);
    meters_alone(&node(&format!("redis://{address}")).await).await;
}

#[tokio::test]
async fn an_answer_that_makes_no_sense_is_none() {
    for answer in [
        "HTTP/1.1 400 Bad Request\r\n\r\n",
        "+OK\r\n",
        "-ERR unknown command\r\n",
        "-LOADING Redis is loading the dataset in memory\r\n",
        "*0\r\n",
        "*3\r\n:1\r\n:1\r\n:0\r\n",
        "*4\r\n:1\r\n:-1\r\n:0\r\n:0\r\n",
        "*4\r\n:1\r\n:4294967296\r\n:0\r\n:0\r\n",
        "*4\r\n:1\r\n:1\r\n$3\r\nabc\r\n:0\r\n",
        "$99999999999999\r\n",
        "",
    ] {
        let impostor = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("redis://{}", impostor.local_addr().unwrap());
        thread::spawn(move || {
            for mut stream in impostor.incoming().flatten() {
                let mut taken = [0; 4096];
                while stream
                    .read(&mut taken)
                    .is_ok_and(|taken| taken > 0 && !answer.is_empty())
                {
                    // As many answers as there were commands.
                    let commands = taken.split(|byte| *byte == b'*').count() - 1;
                    drop(stream.write_all(answer.repeat(commands).as_bytes()));
                    taken = [0; 4096];
                }
            }
        });
        meters_alone(&node(&url).await).await;
    }
}

#[tokio::test]
async fn what_is_no_address_is_refused_in_a_sentence_without_the_password() {
    for url in [
        "",
        "localhost",
        "redis://",
        "http://:hush@localhost",
        "redis://:hush@localhost/first",
        "redis://:hush@localhost:99999",
        "rediss://:hush@localhost",
        "redis://:hush@[::1",
    ] {
        let refused = RedisBudgets::connect(url, Settings::default()).await;
        let sentence = refused.unwrap_err().to_string();
        assert!(
            sentence.starts_with("expected the address of a Redis"),
            "{url}: {sentence}"
        );
        assert!(!sentence.contains("hush"));
    }
    let node = node("redis://:hush@127.0.0.1:1").await;
    assert!(!format!("{node:?}").contains("hush"));
}
