//! Replies per second over sockets: on SQLite, on Postgres, and on two nodes that share a Postgres.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use forum_api::ForumApi;
use forum_api::Language;
use forum_api::runtime::SystemClock;
use forum_test_support::connection::{ApiClient, ApiRequest, Nodes};
use forum_test_support::random::Random;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::board::ReferenceBoard;
use crate::fixture::BenchFixture;
use crate::measurements::{Goal, Samples, row};
use crate::storage::Storage;
use crate::writers::{Spread, TEXT, WRITERS, Writers, api, nth, path};
use crate::{ROUND, ROUNDS, WARM_UP};

pub async fn measure() {
    let seconds = ROUND.as_secs();
    println!(
        "replies a second over HTTP, {WRITERS} writers, {seconds} s (least, median, most of {ROUNDS})"
    );
    let [mut sqlite, mut one, mut two] = <[Samples; 3]>::default();
    let [mut to_sqlite, mut to_one] = <[Samples; 2]>::default();
    for _ in 0..ROUNDS {
        let on_sqlite = per_second(Storage::sqlite(), 1).await;
        let on_one = per_second(Storage::postgres().await, 1).await;
        let on_two = per_second(Storage::postgres().await, 2).await;
        sqlite.add(on_sqlite);
        one.add(on_one);
        two.add(on_two);
        to_sqlite.add(on_one / on_sqlite);
        to_one.add(on_two / on_one);
    }
    sqlite.report("SQLite");
    one.report("Postgres, one node");
    two.report("Postgres, two nodes");
    row(
        "replies/s over HTTP, 64 writers, Postgres",
        "ratio",
        "SQLite",
        Goal::AtLeast(0.8),
        &to_sqlite,
    );
    row(
        "replies/s over HTTP, 64 writers, two nodes on one Postgres",
        "ratio",
        "one node",
        Goal::AtLeast(1.0),
        &to_one,
    );
}

/// Writes on a new board for one round, after a warm-up; returns replies per second.
async fn per_second(storage: Storage, nodes: usize) -> f64 {
    let fixture = BenchFixture::within(storage).await;
    let writers = Writers::on(&fixture, Spread::Forums).await;
    let mut addresses = Vec::new();
    for _ in 0..nodes {
        let (database, clock) = (fixture.storage.another_node(), Arc::new(SystemClock));
        let board = ReferenceBoard::new(database, clock, Language::English);
        addresses.push(serve(api(board)).await);
    }
    write_for(WARM_UP, &writers, &addresses).await;
    write_for(ROUND, &writers, &addresses).await
}

async fn write_for(time: Duration, writers: &Writers, addresses: &[SocketAddr]) -> f64 {
    let start = Instant::now();
    let mut clients = JoinSet::new();
    for (number, token) in writers.tokens.iter().cloned().enumerate() {
        let threads = writers.threads.clone();
        let node = addresses[number % addresses.len()];
        clients.spawn(async move {
            let mut client = ApiClient::new(&Nodes::new(&[node]), Random::new(number as u64));
            let mut written = 0;
            while start.elapsed() < time {
                let path = path(nth(&threads, number + written));
                let request = ApiRequest::new("POST", &token, &path, &json!({ "body": TEXT }));
                let answer = client.send(&request).await.unwrap();
                assert_eq!(answer.status, 201, "{answer:?}");
                written += 1;
            }
            written
        });
    }
    let written: usize = clients.join_all().await.into_iter().sum();
    written as f64 / start.elapsed().as_secs_f64()
}

async fn serve(api: ForumApi) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            stream.set_nodelay(true).unwrap();
            let service = TowerToHyperService::new(api.clone());
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    });
    address
}
