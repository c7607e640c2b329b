//! What is counted, with labels as the table has them (`docs/protocol.md`, section 18.3).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use forum_api::host::BoardError;
use forum_api::metrics::{ALL, MetricKind, describe};
use forum_api::store::sqlite::{Database, DatabasePath, SqliteError};
use forum_api::store::{Stores, WebhookStores};
use forum_api::test_util::{Intervention, StoreInterceptor};
use metrics::{
    Counter, CounterFn, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit,
    with_local_recorder,
};

use crate::support::server::settings;
use crate::support::*;

/// A name, and what was said of it.
type Described = (String, MetricKind, Option<Unit>);

/// What was counted, by name and labels, and what was described.
#[derive(Clone, Debug, Default)]
struct Kept {
    counts: Arc<Mutex<BTreeMap<String, u64>>>,
    described: Arc<Mutex<Vec<Described>>>,
}

/// One of the counts.
struct Count(Kept, String);

impl CounterFn for Count {
    fn increment(&self, by: u64) {
        let mut counts = self.0.counts.lock().unwrap();
        *counts.entry(self.1.clone()).or_default() += by;
    }

    fn absolute(&self, _: u64) {}
}

impl Kept {
    fn describe(&self, name: &KeyName, kind: MetricKind, unit: Option<Unit>) {
        let described = (name.as_str().to_owned(), kind, unit);
        self.described.lock().unwrap().push(described);
    }

    fn count(&self, sample: &str) -> u64 {
        let counts = self.counts.lock().unwrap();
        counts.get(sample).copied().unwrap_or_default()
    }
}

/// The name and the labels, which have to be those of the table.
fn sample(key: &Key, kind: MetricKind) -> String {
    let metric = ALL.iter().find(|metric| metric.name == key.name()).unwrap();
    let names: Vec<_> = key.labels().map(|label| label.key()).collect();
    assert_eq!((&*names, kind), (metric.labels, metric.kind), "{key}");
    let values: Vec<_> = key.labels().map(|label| label.value()).collect();
    format!("{} {}", key.name(), values.join(" "))
}

impl Recorder for Kept {
    fn describe_counter(&self, name: KeyName, unit: Option<Unit>, _: SharedString) {
        self.describe(&name, MetricKind::Counter, unit);
    }

    fn describe_gauge(&self, name: KeyName, unit: Option<Unit>, _: SharedString) {
        self.describe(&name, MetricKind::Gauge, unit);
    }

    fn describe_histogram(&self, name: KeyName, unit: Option<Unit>, _: SharedString) {
        self.describe(&name, MetricKind::Histogram, unit);
    }

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        let sample = sample(key, MetricKind::Counter);
        Counter::from_arc(Arc::new(Count(self.clone(), sample)))
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        sample(key, MetricKind::Histogram);
        Histogram::noop()
    }
}

/// What is counted while `work` is done, on this thread alone.
fn counted(work: impl Future<Output = ()>) -> Kept {
    let kept = Kept::default();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    with_local_recorder(&kept, || runtime.unwrap().block_on(work));
    kept
}

#[test]
fn each_endpoint_is_counted_by_its_template_and_nothing_of_a_path() {
    let kept = counted(async {
        let server = Server::new();
        let alice = server.token("alice").await;
        for row in ROWS {
            server.send(&Ask::of(row).bearer(&alice)).await;
        }
    });
    for row in ROWS {
        let sample = format!(
            "forum_api_requests_total {} {} {} ",
            row.method, row.template, row.success
        );
        assert_eq!(kept.count(&sample), 1, "{sample}");
    }
    let cost: u32 = ROWS.iter().map(|row| row.cost).sum();
    let units = kept.count("forum_api_units_charged_total token");
    assert_eq!(units, u64::from(cost));
}

#[test]
fn a_rejection_is_counted_with_its_code_each_time() {
    let kept = counted(async {
        let server = Server::new();
        let refuses = || BoardError::invalid("body", "too long");
        server.board.be(Mood::Refuses(refuses));
        let ask = Ask::post("/threads/open-1/posts", r#"{"body":"x"}"#).key("k");
        let ask = ask.bearer(&server.token("alice").await);
        server.send(&ask).await;
        server.send(&ask).await;
    });
    let sample = "forum_api_requests_total POST /threads/{threadId}/posts 422 VALIDATION";
    assert_eq!(kept.count(sample), 2);
}

#[test]
fn each_store_that_fails_is_counted() {
    let kept = counted(async {
        let (board, well) = (FullBoard::new(), Stores::in_memory());
        let over = |stores| Server::over(settings(), stores, &board, board.clone());
        let alice = over(well.clone()).token("alice").await;
        for store in ["tokens.", "rate_limits.", "idempotency."] {
            let interceptor = StoreInterceptor::default();
            interceptor.on_call(move |method, _| match method.starts_with(store) {
                true => Intervention::Fail,
                false => Intervention::Proceed,
            });
            let ask = Ask::post("/threads/open-1/posts", r#"{"body":"x"}"#).key("k");
            over(interceptor.stores(&well))
                .send(&ask.bearer(&alice))
                .await;
        }
    });
    for store in ["tokens", "budgets", "idempotency"] {
        let sample = format!("forum_api_store_errors_total {store}");
        assert_eq!(kept.count(&sample), 1, "{store}");
    }
}

#[test]
fn rows_that_cannot_be_decoded_are_counted() {
    let kept = counted(async {
        let database = Database::open(&DatabasePath::Memory).unwrap();
        let insert = "
            PRAGMA ignore_check_constraints = ON;
            INSERT INTO forum_api_events (id, topic, occurred_at, body)
            VALUES ('evt_1', 'badge.v2', 0, '{}'), ('evt 2', 'post.created', 0, '{}')";
        database
            .write::<_, SqliteError>(move |savepoint| Ok(savepoint.execute_batch(insert)?))
            .await
            .unwrap();
        let outbox = WebhookStores::in_sqlite(&database).outbox;
        for _ in 0..2 {
            assert_eq!(outbox.pending(9).await.unwrap(), []);
        }
    });
    assert_eq!(kept.count("forum_api_unreadable_rows_total events"), 2);
}

#[test]
fn a_recorder_is_told_the_whole_table() {
    let kept = Kept::default();
    with_local_recorder(&kept, describe);
    let table = ALL
        .iter()
        .map(|metric| (metric.name.to_owned(), metric.kind, Some(metric.unit)));
    assert_eq!(*kept.described.lock().unwrap(), table.collect::<Vec<_>>());
}
