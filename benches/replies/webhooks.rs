//! Replies per second with ten endpoints that receive each reply, compared with a board without endpoints.

use forum_api::webhook::Topic;
use forum_api::worker::{WorkerHandle, WorkerSettings};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::fixture::BenchFixture;
use crate::measurements::{Goal, Samples, row};
use crate::receiver::fast;
use crate::writers::{Spread, WRITERS, Writers, api};
use crate::{ROUND, ROUNDS};

/// Number of endpoints.
const ENDPOINTS: usize = 10;

/// The process that sends the deliveries.
#[derive(Clone, Copy)]
enum Worker {
    /// A worker in this process: like the receivers, it shares processor and database with the API.
    Here,
    /// No worker: measures the cost of the events only.
    Elsewhere,
}

pub async fn measure() {
    let (seconds, what) = (ROUND.as_secs(), "replies a second");
    println!(
        "{what} and webhooks, {WRITERS} writers, {seconds} s (least, median, most of {ROUNDS})"
    );
    for (worker, backend) in [
        (Worker::Here, "worker and receivers in the same process"),
        (Worker::Elsewhere, "without a worker"),
    ] {
        let [mut none, mut ten, mut deliveries, mut ratio] = <[Samples; 4]>::default();
        for _ in 0..ROUNDS {
            let (without, _) = per_second(0, worker).await;
            let (with, receipts) = per_second(ENDPOINTS, worker).await;
            none.add(without);
            ten.add(with);
            deliveries.add(receipts);
            ratio.add(with / without);
        }
        none.report(&format!("{backend}: {what}, no endpoint"));
        ten.report(&format!("{backend}: {what}, {ENDPOINTS} endpoints"));
        deliveries.report(&format!("{backend}: concurrent deliveries per second"));
        let row_name = format!("replies/s with {ENDPOINTS} webhook endpoints, {backend}");
        row(
            &row_name,
            "ratio",
            "no endpoint",
            Goal::AtLeast(0.9),
            &ratio,
        );
    }
}

/// Replies and completed deliveries of a round on a new board.
async fn per_second(endpoints: usize, worker: Worker) -> (f64, f64) {
    let fixture = BenchFixture::new().await;
    let mut receivers = Vec::new();
    for _ in 0..endpoints {
        let (url, receipts) = fast();
        fixture.endpoint(&url, &Topic::POST_CREATED).await;
        receivers.push(receipts);
    }
    let writers = Writers::on(&fixture, Spread::Forums).await;
    let worker = match worker {
        Worker::Here => Some(fixture.work(WorkerSettings::default())),
        Worker::Elsewhere => None,
    };
    let handle = worker.clone();
    let wake = move || handle.iter().for_each(WorkerHandle::wake);
    let api = api(fixture.board.clone().with_wake(wake));
    let replies = writers.per_second(&api).await;
    let receipts: usize = receivers.iter().map(UnboundedReceiver::len).sum();
    if let Some(worker) = worker {
        worker.stop().await;
    }
    (replies, receipts as f64 / ROUND.as_secs_f64())
}
