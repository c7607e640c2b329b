//! Recorded metrics and their labels.

use std::collections::BTreeMap;

use forum_api::metrics::{ALL, MetricKind, describe};
use forum_api::store::WebhookStores;
use forum_api::store::sqlite::{Database, DatabasePath, SqliteError};
use metrics::{
    Counter, CounterFn, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit,
    with_local_recorder,
};
use tokio::time::{pause, timeout};

use crate::support::*;

type Described = (String, MetricKind, Option<Unit>, String);

/// A recorder of counts by name and labels, and of descriptions.
#[derive(Clone, Debug, Default)]
struct TestRecorder {
    counts: Arc<Mutex<BTreeMap<String, u64>>>,
    described: Arc<Mutex<Vec<Described>>>,
}

/// A counter of a recorder.
struct Count(TestRecorder, String);

impl CounterFn for Count {
    fn increment(&self, count: u64) {
        let mut counts = self.0.counts.lock().unwrap();
        *counts.entry(self.1.clone()).or_default() += count;
    }

    fn absolute(&self, _: u64) {}
}

impl TestRecorder {
    fn describe(&self, name: &KeyName, kind: MetricKind, unit: Option<Unit>, text: SharedString) {
        let described = (name.as_str().to_owned(), kind, unit, text.into_owned());
        self.described.lock().unwrap().push(described);
    }

    fn count(&self, sample: &str) -> u64 {
        let counts = self.counts.lock().unwrap();
        counts.get(sample).copied().unwrap_or_default()
    }
}

/// Returns the name and labels of a metric, and checks them against the table.
fn sample(key: &Key, kind: MetricKind) -> String {
    let metric = ALL.iter().find(|metric| metric.name == key.name()).unwrap();
    let names: Vec<_> = key.labels().map(|label| label.key()).collect();
    assert_eq!((&*names, kind), (metric.labels, metric.kind), "{key}");
    let values: Vec<_> = key.labels().map(|label| label.value()).collect();
    format!("{} {}", key.name(), values.join(" "))
}

impl Recorder for TestRecorder {
    fn describe_counter(&self, name: KeyName, unit: Option<Unit>, text: SharedString) {
        self.describe(&name, MetricKind::Counter, unit, text);
    }

    fn describe_gauge(&self, name: KeyName, unit: Option<Unit>, text: SharedString) {
        self.describe(&name, MetricKind::Gauge, unit, text);
    }

    fn describe_histogram(&self, name: KeyName, unit: Option<Unit>, text: SharedString) {
        self.describe(&name, MetricKind::Histogram, unit, text);
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

/// Runs `work` on this thread and returns the recorded metrics.
fn record(work: impl Future<Output = ()>) -> TestRecorder {
    let recorded = TestRecorder::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    with_local_recorder(&recorded, || runtime.unwrap().block_on(work));
    recorded
}

#[test]
fn requests_are_counted_by_the_template_of_their_path() {
    let recorded = record(async {
        let server = Server::new();
        let alice = server.token("alice").await;
        for row in ROWS {
            server.send(&Request::of(row).bearer(&alice)).await;
        }
    });
    for row in ROWS {
        let sample =
            format!("forum_api_requests_total {} {} {} ", row.method, row.template, row.success);
        assert_eq!(recorded.count(&sample), 1, "{sample}");
    }
    let cost: u32 = ROWS.iter().map(|row| row.cost).sum();
    let units = recorded.count("forum_api_units_charged_total token");
    assert_eq!(units, u64::from(cost));
}

#[test]
fn a_rejection_is_counted_with_its_code_each_time() {
    let recorded = record(async {
        let server = Server::new();
        let too_long = || BoardError::validation("body", "too long");
        server.board.fail_with(too_long);
        let reply = Request::post("/threads/open-1/posts", r#"{"body":"x"}"#);
        let request = reply.key("k").bearer(&server.token("alice").await);
        server.send(&request).await;
        server.send(&request).await;
    });
    let sample = "forum_api_requests_total POST /threads/{threadId}/posts 422 VALIDATION";
    assert_eq!(recorded.count(sample), 2);
}

#[test]
fn reasons_of_errors_are_counted_and_those_of_hosts_share_a_label() {
    let recorded = record(async {
        let server = Server::new();
        let alice = server.token("alice").await;
        let errors: [fn() -> BoardError; 4] = [
            || BoardError::validation("body", "Too long.").with_reason("too_long"),
            || BoardError::validation("body", "No.").with_reason("of_this_board"),
            || BoardError::forbidden("No.").with_reason("of_another_board"),
            || BoardError::forbidden("No."),
        ];
        for error in errors {
            server.board.fail_with(error);
            let reply = Request::post("/threads/open-1/posts", r#"{"body":"x"}"#);
            server.send(&reply.bearer(&alice)).await;
        }
    });
    let sample = "forum_api_error_reasons_total POST /threads/{threadId}/posts";
    assert_eq!(recorded.count(&format!("{sample} too_long")), 1);
    assert_eq!(recorded.count(&format!("{sample} other")), 2);
}

#[test]
fn each_store_that_fails_is_counted() {
    let recorded = record(async {
        for store in [
            "tokens.find",
            "tokens.record_use",
            "rate_limits.",
            "idempotency.begin",
            "idempotency.complete",
        ] {
            let fail = || Intervention::Fail;
            let (sound, failing) = Server::with_failing_store(settings(), store, fail);
            let alice = sound.token("alice").await;
            let request = Request::post("/threads/open-1/posts", r#"{"body":"x"}"#).key("k");
            failing.send(&request.bearer(&alice)).await;
        }
        let (_, failing) = Server::with_failing_store(settings(), "usage.", || Intervention::Fail);
        failing.send(&Request::get("/forums")).await;
        pause();
        let flush = timeout(Duration::from_secs(90), failing.api.flush_usage_periodically());
        flush.await.unwrap_err();
    });
    for (store, count) in [("tokens", 2), ("budgets", 1), ("idempotency", 2), ("usage", 1)] {
        let sample = format!("forum_api_store_errors_total {store}");
        assert_eq!(recorded.count(&sample), count, "{store}");
    }
}

#[test]
fn rows_that_cannot_be_decoded_are_counted() {
    let recorded = record(async {
        let database = Database::open(&DatabasePath::Memory).unwrap();
        let insert = "
            PRAGMA ignore_check_constraints = ON;
            INSERT INTO forum_api_events (id, topic, occurred_at, body)
            VALUES ('evt_1', 'badge.v2', 0, '{}'), ('evt 2', 'post.created', 0, '{}')";
        database
            .write::<_, SqliteError>(move |savepoint| Ok(savepoint.execute_batch(insert)?))
            .await
            .unwrap();
        let webhooks = WebhookStores::in_sqlite(&database);
        for _ in 0..2 {
            assert_eq!(webhooks.pending_events(9).await.unwrap(), []);
        }
    });
    assert_eq!(recorded.count("forum_api_unreadable_rows_total events"), 2);
}

#[test]
fn describe_passes_the_whole_table_to_the_recorder() {
    let recorded = TestRecorder::default();
    with_local_recorder(&recorded, describe);
    let table = ALL.iter().map(|metric| {
        (metric.name.to_owned(), metric.kind, Some(metric.unit), metric.description.to_owned())
    });
    assert_eq!(*recorded.described.lock().unwrap(), table.collect::<Vec<_>>());
}

#[test]
fn describe_creates_the_counter_of_errors_of_each_store() {
    let recorded = TestRecorder::default();
    with_local_recorder(&recorded, describe);
    let stores = ["tokens", "budgets", "idempotency", "usage", "webhooks"];
    let counters = stores.map(|store| (format!("forum_api_store_errors_total {store}"), 0));
    assert_eq!(*recorded.counts.lock().unwrap(), BTreeMap::from(counters));
}
