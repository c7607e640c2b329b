//! Query plans: each statement searches an index, before and after the statistics of large tables are collected.

use std::time::Duration;

use forum_api::model::{DeliveryId, UserId};
use forum_api::store::postgres::tokio_postgres_0_7::deadpool_postgres::Client;
use forum_api::store::postgres::tokio_postgres_0_7::migrate;
use forum_api::store::{
    ClaimedDelivery, DeliveryFilter, Settlement, Stores, TokenFilter, TokenSearch,
    TokenStateFilter, WebhookStores,
};
use forum_api::test_util::audit_entry;
use forum_api::token::TokenState;
use forum_api::webhook::{Delivery, DeliveryProgress, DeliveryState, Topic};
use forum_test_support::postgres::{pool, schema};

use super::Pool;
use crate::fixture::{at, claim, endpoint, event, fan_out, keyed_request, lookup};

const MANY: &str = "
    INSERT INTO forum_api_endpoints (id, url, topics, owner, enabled, created_at, secret, version)
    SELECT 'whe_' || number, '', '[]', '3', TRUE, 0, '', 1 FROM generate_series(1, 40) AS number;
    INSERT INTO forum_api_events (id, topic, occurred_at, body, fanned_out_at)
    SELECT 'evt_' || number, 'post.created', number, json_build_object('x', repeat('x', 100))::TEXT, NULLIF(number % 9, 0)
    FROM generate_series(1, 9000) AS number;
    INSERT INTO forum_api_deliveries
        (id, event, topic, endpoint, created_at, state, attempts, due_at, ended_at)
    SELECT 'dlv_' || number, 'evt_' || number % 9000 + 1, CASE WHEN number % 5 = 0 THEN 'ping' ELSE 'post.created' END,
        'whe_' || number % 40 + 1, number,
        CASE WHEN number % 3 = 0 THEN 'delivered' ELSE 'queued' END, 0,
        CASE WHEN number % 3 > 0 THEN number END, CASE WHEN number % 3 = 0 THEN number END
    FROM generate_series(1, 60000) AS number;
    INSERT INTO forum_api_attempts (delivery, number, attempt, at, sent, duration_ms)
    SELECT 'dlv_' || number, 1, 1, 0, TRUE, 0 FROM generate_series(1, 20000) AS number;
    INSERT INTO forum_api_idempotency_keys (namespace, key, request, began_at)
    SELECT number, number, '', number FROM generate_series(1, 20000) AS number;
    INSERT INTO forum_api_tokens (lookup, digest, owner, label, scopes, created_at, expires_at, revoked_at)
    SELECT lpad(number::TEXT, 16, '0'), '', number % 1000, '', '[]', number, NULLIF(number % 5, 0), NULLIF(number % 2, 0)
    FROM generate_series(1, 20000) AS number;
    INSERT INTO forum_api_usage
        (hour, token, requests, units, rate_limited, unauthenticated, forbidden, rejected, errors)
    SELECT number % 720, number, 1, 1, 0, 0, 0, 0, 0 FROM generate_series(1, 20000) AS number;
    INSERT INTO forum_api_operation_usage
        (hour, operation, requests, units, rate_limited, unauthenticated, forbidden, rejected, errors)
    SELECT number % 720, number, 1, 1, 0, 0, 0, 0, 0 FROM generate_series(1, 20000) AS number;";

fn claimed() -> ClaimedDelivery {
    ClaimedDelivery {
        delivery: Delivery::queued(&event(1), endpoint(1).id, at(0)),
        endpoint: endpoint(1),
        event: event(1),
        previous_lease_expired: false,
        lease_id: 0,
        lease_expires_at: at(60_000),
    }
}

/// Runs each operation, which prepares its statement on the only connection of the pool.
async fn run_each_operation(pool: &Pool) {
    let stores = Stores::in_postgres(pool);
    let webhooks = WebhookStores::in_postgres(pool);
    let deliveries = webhooks.deliveries();
    let now = at(0);
    let id = claimed().delivery.id;
    let settlement = Settlement::new(&claimed(), DeliveryProgress::queued(now), None, now);
    deliveries.claim(&claim(64, 4), now).await.unwrap();
    deliveries.begin_sending(&[claimed()], now).await.unwrap();
    deliveries.settle(&[settlement], now).await.unwrap();
    let claimed = [claimed()];
    deliveries.release(&claimed, Duration::ZERO, now).await.unwrap();
    deliveries.retry(&id, now, &audit_entry()).await.unwrap();
    let to = endpoint(1).id;
    let audit = audit_entry();
    deliveries.retry_dead(&to, now, 500, &audit).await.unwrap();
    deliveries.queue_stats(now).await.unwrap();
    deliveries.correct_times(now).await.unwrap();
    deliveries.delivery_stats(Duration::ZERO, now).await.unwrap();
    deliveries.endpoint_stats(Duration::ZERO, now).await.unwrap();
    deliveries.remove(&id, &audit).await.unwrap();
    deliveries.find(&id).await.unwrap();
    deliveries.enqueue(&event(0), &to, now).await.unwrap();
    deliveries.sweep(Duration::ZERO, now, 500).await.unwrap();
    deliveries.purge(DeliveryState::Dead, Duration::ZERO, now, 500, &audit).await.unwrap();
    webhooks.pending_events(100).await.unwrap();
    webhooks.find_event(&event(1).id).await.unwrap();
    let fan_out = fan_out(&event(1).id, &[endpoint(1)]);
    webhooks.outbox().fan_out(&[fan_out], now).await.unwrap();
    let store = &stores.idempotency;
    store.begin(&keyed_request("7"), now).await.unwrap();
    stores.tokens.find(&lookup(7)).await.unwrap();
    stores.tokens.record_use(&lookup(7), now).await.unwrap();
    let audit = audit_entry();
    let tokens = &stores.tokens;
    tokens.set_label(&lookup(7), "x", &audit).await.unwrap();
    tokens.purge(now, 500, &audit).await.unwrap();
    stores.usage.sweep(Duration::ZERO, now, 500).await.unwrap();
    stores.usage.most_used_tokens(now, 20).await.unwrap();
}

/// Returns each combination of filters for the first page and a later one, each with the index that the list scans.
fn lists() -> Vec<(DeliveryFilter, &'static str)> {
    let to = Some(endpoint(1).id);
    let topic = Some(Topic::PING);
    let mut lists = Vec::new();
    for (endpoint, topic, index) in [
        (None, None, "by_state"),
        (None, topic.clone(), "by_topic"),
        (to.clone(), None, "by_endpoint"),
        (to, topic, "by_endpoint_topic"),
    ] {
        for after in [None, DeliveryId::parse("dlv_1").ok()] {
            let mut filter = DeliveryFilter::default();
            filter.state = Some(DeliveryState::Dead);
            filter.endpoint_id = endpoint.clone();
            filter.topic = topic.clone();
            filter.limit = 20;
            filter.after = after.map(|id| (at(0), id));
            lists.push((filter, index));
        }
    }
    lists
}

/// Returns each combination of filters of tokens, each with the index that the list scans.
fn token_lists() -> Vec<(TokenFilter, &'static str)> {
    let search = TokenSearch { text: "x".into(), owner: None };
    let mut lists = Vec::new();
    for (states, index) in [
        (TokenStateFilter::Any, "by_age"),
        (TokenStateFilter::NotRevoked, "not_revoked"),
        (TokenStateFilter::Only(TokenState::Valid), "not_revoked"),
        (TokenStateFilter::Only(TokenState::Expired), "not_revoked"),
        (TokenStateFilter::Only(TokenState::Revoked), "revoked"),
    ] {
        for search in [None, Some(search.clone())] {
            for (owner, index) in [(None, index), (Some(UserId::from(3)), "by_owner")] {
                let filter =
                    TokenFilter { owner, states, search: search.clone(), after: None, limit: 20 };
                lists.push((filter, index));
            }
        }
    }
    lists
}

/// Returns the statements that were prepared since the previous call, each with the types of its parameters.
async fn take_statements(pool: &Pool) -> Vec<(String, Vec<String>)> {
    let client = pool.get().await.unwrap();
    let prepared = "SELECT statement, parameter_types::TEXT[] FROM pg_prepared_statements
        WHERE statement LIKE '%forum_api_%' AND statement NOT LIKE '%pg_prepared%' AND NOT from_sql";
    let rows = client.query(prepared, &[]).await.unwrap();
    client.statement_cache.clear();
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}

/// Returns the plan for parameters of these types with small numbers.
async fn plan(client: &Client, statement: &str, types: &[String]) -> String {
    let sample = |(number, kind): (usize, &String)| match kind.as_str() {
        "text" if statement.contains(&format!("topic = ${number}")) => "'ping'",
        "text" if statement.contains(&format!("CAST(${number} AS TEXT) IS NULL")) => "NULL",
        "text" => "'whe_1'",
        "text[]" if statement.contains(&format!("(${number}::TEXT[])[2]::BIGINT")) => {
            "'{aud_1,20}'"
        }
        "text[]" => "ARRAY['dlv_1', 'evt_2', 'dead']",
        "bigint[]" | "integer[]" => "'{1,2,3}'",
        "boolean[]" => "'{t,f,t}'",
        "bytea" => "'x'",
        // The limit of a sweep is larger than those of lists.
        "bigint" if statement.contains("RECURSIVE") => "500",
        "bigint" => "20",
        other => panic!("no sample of {other}"),
    };
    let values: Vec<_> = (1..).zip(types).map(sample).collect();
    let prepare = format!("PREPARE explained AS {statement}");
    client.batch_execute(&prepare).await.unwrap();
    let explain = format!("EXPLAIN EXECUTE explained ({})", values.join(", "));
    let rows = client.query(&explain, &[]).await.unwrap();
    client.batch_execute("DEALLOCATE explained").await.unwrap();
    let lines: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    lines.join("\n")
}

/// Asserts that only the small table of endpoints is scanned sequentially, and that nothing is compiled.
fn assert_searches(statement: &str, plan: &str) {
    let is_costly = |line: &&str| {
        line.contains("Seq Scan on forum_api_") && !line.contains("forum_api_endpoints")
            || line.contains("JIT")
    };
    let costly = plan.lines().find(is_costly);
    assert_eq!(costly, None, "{statement}\n{plan}");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_statement_searches_an_index() {
    let pool = pool(&schema().await, 1);
    migrate(&pool).await.unwrap();
    run_each_operation(&pool).await;
    let mut statements = take_statements(&pool).await;
    assert_eq!(statements.len(), 28);
    let stores = Stores::in_postgres(&pool);
    let webhooks = WebhookStores::in_postgres(&pool);
    let mut scans = Vec::new();
    for (filter, index) in lists() {
        webhooks.list_deliveries(&filter).await.unwrap();
        let last = take_statements(&pool).await.pop().unwrap();
        scans.push((last, index));
    }
    let mut token_scans = Vec::new();
    for (filter, index) in token_lists() {
        stores.tokens.list(&filter, at(0)).await.unwrap();
        let last = take_statements(&pool).await.pop().unwrap();
        token_scans.push((last, index));
    }
    let fill = format!("SET statement_timeout = 0; {MANY}");
    for sql in [&fill, "ANALYZE"] {
        let client = pool.get().await.unwrap();
        client.batch_execute(sql).await.unwrap();
        for (statement, types) in &statements {
            assert_searches(statement, &plan(&client, statement, types).await);
        }
        for ((statement, types), index) in &scans {
            let plan = plan(&client, statement, types).await;
            assert_searches(statement, &plan);
            let scan = format!(" using forum_api_deliveries_{index} on ");
            assert!(plan.contains(&scan), "{statement}\n{plan}");
            // Apart from the index, only the endpoint is looked up.
            let filters = plan.lines().filter(|line| line.contains("Filter:"));
            let other = filters.filter(|line| !line.contains("Filter: (id = "));
            assert_eq!(other.count(), 0, "{plan}");
        }
        for ((statement, types), index) in &token_scans {
            let plan = plan(&client, statement, types).await;
            assert_searches(statement, &plan);
            // Without statistics the planner expects few tokens that are not revoked.
            let scan = format!(" forum_api_tokens_{index} ");
            let is_expected = sql != "ANALYZE" || plan.contains(&scan);
            assert!(is_expected, "{statement}\n{plan}");
        }
        // Only the statistics show the planner that few events are in quarantine.
        drop(client);
        webhooks.quarantined_events(20).await.unwrap();
        statements.extend(take_statements(&pool).await.pop());
    }
}
