//! Deliveries per second with 1, 2 and 4 workers.

use std::time::Duration;

use forum_api::runtime::{Clock, OsRandom, SystemClock};
use forum_api::webhook::{Event, EventMeta, Topic};
use serde_json::json;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, sleep};
use tokio_postgres::types::ToSql;

use crate::cluster::Cluster;
use crate::measurements::Samples;
use crate::node::Node;
use crate::processor::ProcessGroup;
use crate::receiver::{Receipt, fast};
use crate::{NODES, ROUNDS};

/// Number of events in a round, and of endpoints that receive each.
const EVENTS: usize = 500;
const ENDPOINTS: usize = 8;

pub async fn measure(mut cluster: Cluster) {
    let mut receivers: Vec<_> = (0..ENDPOINTS).map(|_| fast()).collect();
    for (url, _) in &receivers {
        cluster.add_webhook(url, "*");
    }
    let all = EVENTS * ENDPOINTS;
    println!("{EVENTS} events to {ENDPOINTS} endpoints (least, median, most of {ROUNDS})");
    for nodes in NODES {
        while cluster.workers.len() < nodes {
            cluster.add_worker();
        }
        let [mut rate, mut workers, mut postgres] = [(); 3].map(|()| Samples::default());
        for _ in 0..ROUNDS {
            // Idle workers hold connections as well, so the pause lets both sets of processes settle before they are
            // counted.
            sleep(Duration::from_secs(2)).await;
            let ids = cluster.workers.iter().map(Node::id).collect();
            let parties = [
                ProcessGroup::new("workers", ids),
                ProcessGroup::postgres(&cluster.database).await,
            ];
            put(&cluster).await;
            let since = first(&mut receivers).await;
            for (_, receipts) in &mut receivers {
                for _ in 0..EVENTS {
                    receipts.recv().await.unwrap();
                }
            }
            rate.add(all as f64 / since.elapsed().as_secs_f64());
            workers.add(parties[0].share(all).1);
            postgres.add(parties[1].share(all).1);
        }
        rate.report(&format!("{nodes} workers, deliveries a second"));
        workers.report(&format!("{nodes} workers, µs of processor time each"));
        postgres.report(&format!("{nodes} workers, µs of Postgres each"));
    }
}

/// Waits for the first receipt and returns its time.
async fn first(receivers: &mut [(String, UnboundedReceiver<Receipt>)]) -> Instant {
    while receivers.iter().all(|(_, receipts)| receipts.is_empty()) {
        sleep(Duration::from_millis(1)).await;
    }
    Instant::now()
}

/// Writes the events of a round in one transaction.
async fn put(cluster: &Cluster) {
    let mut client = cluster.database.connect().await;
    let transaction = client.transaction().await.unwrap();
    let insert = transaction.prepare(Event::INSERT_SQL).await.unwrap();
    for _ in 0..EVENTS {
        let on = EventMeta::new(&OsRandom, SystemClock.now()).unwrap();
        let topic = Topic::parse("post.created").unwrap();
        let event = Event::new(topic, on, None, &json!({ "text": "x".repeat(890) }));
        let parameters = event.insert_parameters();
        let texts = parameters
            .each_ref()
            .map(|text| text as &(dyn ToSql + Sync));
        transaction.execute(&insert, &texts).await.unwrap();
    }
    transaction.commit().await.unwrap();
}
