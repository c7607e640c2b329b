//! How long the stores of webhooks in SQLite take, however many deliveries wait.
//!
//! Beside twenty endpoints with 200 deliveries each, one has 1,000,000, all due. Each figure is the median and the
//! worst, in milliseconds, of calls that take turns. `PENDING=100000` has fewer wait.

use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use forum_api::model::{EndpointId, Timestamp};
use forum_api::store::sqlite::rusqlite::{Connection, params_from_iter};
use forum_api::store::sqlite::{Database, Location};
use forum_api::store::{Claimed, FanOut, Filter, Settlement, Webhooks};
use forum_api::webhook::{Event, State};

use crate::fixture::{DELIVERED, at, claim, endpoint, event, happened};

/// How many endpoints there are beside the flooded one, and how many deliveries wait for each.
const OTHERS: (u64, u64) = (20, 200);

/// How often each thing is done.
const ROUNDS: u64 = 30;

pub async fn run() {
    let pending = std::env::var("PENDING").map_or(1_000_000, |pending| pending.parse().unwrap());
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("forum.db");
    let location = Location::File {
        path: path.clone(),
        create: true,
    };
    let webhooks = Webhooks::in_sqlite(&Database::open(&location).unwrap());
    for number in 0..=OTHERS.0 {
        let endpoint = endpoint(number);
        webhooks.endpoints.add(&endpoint).await.unwrap();
    }
    let others: Vec<_> = (1..=OTHERS.0).map(|number| endpoint(number).id).collect();
    fill(&webhooks, &path, 0..OTHERS.1, &others).await;
    measure(&webhooks, &path, 0).await;
    let flood = 1_000_000..1_000_000 + pending;
    fill(&webhooks, &path, flood, &[endpoint(0).id]).await;
    measure(&webhooks, &path, pending).await;
}

async fn measure(webhooks: &Webhooks, path: &Path, pending: u64) {
    println!("{pending} wait for one endpoint");
    let (mut claims, mut settlements, mut nothing, mut fans, mut lists) =
        (vec![], vec![], vec![], vec![], vec![]);
    for round in 0..ROUNDS {
        let now = at(round.cast_signed());
        let (taken, claiming) = time(webhooks.deliveries.claim(&claim(), now)).await;
        claims.push(claiming);
        settlements.push(time(settle(webhooks, &taken.unwrap().taken, now)).await.1);
        nothing.push(
            time(
                webhooks
                    .deliveries
                    .claim(&claim(), happened(0).minus(Duration::from_secs(1))),
            )
            .await
            .1,
        );
        let first = 10_000_000 + pending + round * 64;
        put(path, first..first + 64);
        let ten: Vec<_> = (1..=10).map(|number| endpoint(number).id).collect();
        fans.push(time(fan_out(webhooks, first..first + 64, &ten)).await.1);
        lists.push(time(webhooks.deliveries.list(&dead())).await.1);
    }
    for (what, times) in [
        ("claim of 64", claims),
        ("settlement of 64, one by one", settlements),
        ("claim of nothing", nothing),
        ("fan-out of 64 events to 10 endpoints", fans),
        ("list of the dead", lists),
    ] {
        tell(what, times);
    }
}

/// One after the other, as attempts end.
async fn settle(webhooks: &Webhooks, taken: &[Claimed], now: Timestamp) {
    assert_eq!(taken.len(), 64);
    for claimed in taken {
        let settlement = Settlement::new(claimed, DELIVERED, None);
        let settled = webhooks.deliveries.settle(&[settlement], now).await;
        assert_eq!(settled.unwrap().len(), 1);
    }
}

/// What comes of `work`, and how long it takes.
async fn time<T>(work: impl Future<Output = T>) -> (T, Duration) {
    let start = Instant::now();
    (work.await, start.elapsed())
}

fn tell(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let [median, worst] = [times[times.len() / 2], times[times.len() - 1]];
    let millis = |time: Duration| time.as_secs_f64() * 1_000.0;
    println!(
        "  {what}: {:.2}, at worst {:.2}",
        millis(median),
        millis(worst)
    );
}

/// Puts the events with these numbers as a host does, and fans them out.
async fn fill(webhooks: &Webhooks, path: &Path, numbers: Range<u64>, to: &[EndpointId]) {
    put(path, numbers.clone());
    for first in numbers.clone().step_by(2_000) {
        fan_out(webhooks, first..numbers.end.min(first + 2_000), to).await;
    }
}

fn put(path: &Path, numbers: Range<u64>) {
    let mut host = Connection::open(path).unwrap();
    host.busy_timeout(Duration::from_secs(5)).unwrap();
    let transaction = host.transaction().unwrap();
    for number in numbers {
        let mut put = transaction.prepare_cached(Event::INSERT).unwrap();
        put.execute(params_from_iter(event(number).parameters()))
            .unwrap();
    }
    transaction.commit().unwrap();
}

async fn fan_out(webhooks: &Webhooks, numbers: Range<u64>, to: &[EndpointId]) {
    let fan_outs: Vec<_> = numbers
        .clone()
        .map(|number| FanOut {
            event: event(number).id,
            endpoints: to.to_vec(),
        })
        .collect();
    let now = happened(numbers.start);
    webhooks.outbox.fan_out(&fan_outs, now).await.unwrap();
}

fn dead() -> Filter {
    Filter {
        state: Some(State::Dead),
        limit: 20,
        ..Filter::default()
    }
}
