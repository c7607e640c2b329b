//! Events of transactions that commit out of order.

use forum_api::runtime::{Clock, OsRandom, SystemClock};
use forum_api::webhook::{Event, EventMeta, Topic};
use serde_json::json;
use tokio::task::block_in_place;
use tokio_postgres::Client;
use tokio_postgres::types::ToSql;

use crate::cluster::Cluster;
use crate::prerequisites::{BackendUrls, run_drill};
use crate::receiver::Receiver;
use crate::scale::Scale;

const ROUNDS: usize = 5;

#[test]
fn events_are_delivered_in_any_commit_order() {
    run_drill(|addresses| out_of_order(addresses, Scale::new(1, 3)));
}

async fn out_of_order(addresses: BackendUrls, scale: Scale) {
    let mut cluster = Cluster::new(&addresses, scale, &[]).await;
    let receiver = Receiver::new();
    cluster.add_webhook(&receiver.url, "*");
    let next = || block_in_place(|| receiver.next()).json()["event"].clone();
    for _ in 0..ROUNDS {
        let [first_client, second_client] =
            [start_client(&cluster).await, start_client(&cluster).await];
        let [first, second] = [event(), event()];
        insert(&first_client, &first).await;
        insert(&second_client, &second).await;
        second_client.batch_execute("COMMIT").await.unwrap();
        assert_eq!(next(), json!(second.id));
        first_client.batch_execute("COMMIT").await.unwrap();
        assert_eq!(next(), json!(first.id));
        let number = |event: &Event| {
            let query = format!(
                "SELECT number FROM forum_api_events WHERE id = '{}'",
                event.id
            );
            let database = &cluster.database;
            async move { database.count(&query).await }
        };
        assert!(number(&first).await < number(&second).await);
    }
    block_in_place(|| cluster.stop());
}

async fn start_client(cluster: &Cluster) -> Client {
    let client = cluster.database.connect().await;
    client.batch_execute("BEGIN").await.unwrap();
    client
}

fn event() -> Event {
    let meta = EventMeta::new(&OsRandom, SystemClock.now()).unwrap();
    Event::new(
        Topic::parse("post.created").unwrap(),
        meta,
        None,
        &json!({}),
    )
}

async fn insert(client: &Client, event: &Event) {
    let parameters = event.insert_parameters();
    let texts = parameters
        .each_ref()
        .map(|text| text as &(dyn ToSql + Sync));
    client.execute(Event::INSERT_SQL, &texts).await.unwrap();
}
