//! Each statement finds what it is about by an index, before the tables are known to be large and afterwards.

use std::time::Duration;

use forum_api::model::{DeliveryId, EndpointId};
use forum_api::store::postgres::deadpool_postgres::Client;
use forum_api::store::postgres::{LeaseClock, Statement, deliveries, idempotency, outbox, tokens};
use forum_api::store::{Attempt, Claimed, Filter, Settlement};
use forum_api::webhook::{Delivery, Progress, State, Topic};

use super::database::try_in_postgres;
use super::{endpoint, event, room, tables, to};
use crate::backend::{at, lookup};

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
    INSERT INTO forum_api_attempts (delivery, number, attempt, at, duration_ms)
    SELECT 'dlv_' || number, 1, 1, 0, 0 FROM generate_series(1, 20000) AS number;
    INSERT INTO forum_api_idempotency_keys (token, key, request, began_at)
    SELECT number, number, '', number FROM generate_series(1, 20000) AS number;
    INSERT INTO forum_api_tokens (lookup, digest, owner, label, scopes, created_at)
    SELECT lpad(number::TEXT, 16, '0'), '', '3', '', '[]', 0 FROM generate_series(1, 20000) AS number;";

fn claimed() -> Claimed {
    let delivery = Delivery {
        id: DeliveryId::new("dlv_1").unwrap(),
        event: event(1).id,
        topic: Topic::POST_CREATED,
        endpoint: endpoint(1).id,
        created_at: at(0),
        progress: Progress::queued(at(0)),
    };
    Claimed {
        delivery,
        endpoint: endpoint(1),
        event: event(1),
        lease_expired: false,
        lease: 0,
        lease_until: at(60_000),
    }
}

/// A list for each combination of filters, with the conditions of its walk over an index.
fn lists() -> Vec<(Statement, &'static str)> {
    let to = || EndpointId::new("whe_1");
    let filters = [
        (None, None, "(state = "),
        (None, Some(Topic::PING), "((topic = $3) AND (state = "),
        (to(), None, "((endpoint = $2) AND (state = "),
        (
            to(),
            Some(Topic::PING),
            "((endpoint = $2) AND (topic = $3) AND (state = ",
        ),
    ];
    let states = [None, Some(State::Dead)];
    let each = filters
        .into_iter()
        .flat_map(|filter| states.map(|state| (filter.clone(), state)));
    let list = |((endpoint, topic, walk), state)| {
        let filter = Filter {
            state,
            endpoint,
            topic,
            limit: 20,
            after: None,
        };
        (deliveries::list(&filter), walk)
    };
    each.map(list).collect()
}

fn statements() -> Vec<Statement> {
    let (id, now) = (claimed().delivery.id, at(0));
    let settlement = &Settlement::new(&claimed(), Progress::queued(now), None);
    let attempt = Attempt {
        token: lookup(7),
        key: "7".into(),
        request: [1; 32],
    };
    let fan_out = [1, 2, 3].map(|number| to(&event(number).id, &[endpoint(1), endpoint(2)]));
    vec![
        deliveries::claim(&room(64, 4), now, LeaseClock::Database),
        deliveries::claim(&room(64, 4), now, LeaseClock::Caller),
        deliveries::begin_sending(&[claimed()], now, LeaseClock::Database),
        deliveries::settle(
            &[settlement; 3].map(|one| one.clone()),
            now,
            LeaseClock::Database,
        ),
        deliveries::release(&[claimed()], Duration::ZERO, now, LeaseClock::Database),
        deliveries::retry(&id, now, LeaseClock::Database),
        deliveries::retry_dead(&endpoint(1).id, now, LeaseClock::Database, 500),
        deliveries::backlog(now, LeaseClock::Caller),
        deliveries::usage(now, now),
        outbox::quarantined(20),
        deliveries::remove(&id),
        deliveries::find(&id),
        deliveries::send(&event(0), &endpoint(1).id, now, LeaseClock::Database),
        deliveries::sweep(now, 500),
        outbox::waiting(100),
        outbox::fan_out(&fan_out, now, LeaseClock::Database),
        idempotency::begin(&attempt, now),
        tokens::find(&lookup(7)),
        tokens::used(&lookup(7), now),
        tokens::list(None, 20),
        tokens::list(Some(&(now, lookup(7))), 20),
    ]
}

/// How Postgres would run the statement.
async fn plan(client: &Client, statement: &Statement) -> String {
    let prepare = format!("PREPARE it AS {}", statement.sql);
    client.batch_execute(&prepare).await.unwrap();
    let quoted = |text: &String| format!("'{}'", text.replace('\'', "''"));
    let values: Vec<_> = statement.parameters.iter().map(quoted).collect();
    let explain = format!("EXPLAIN EXECUTE it ({})", values.join(", "));
    let rows = client.query(&explain, &[]).await.unwrap();
    client.batch_execute("DEALLOCATE it").await.unwrap();
    let lines: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    lines.join("\n")
}

/// No table but that of the few endpoints is read from end to end, and nothing is compiled first.
fn assert_searches(statement: &Statement, plan: &str) {
    let costly = |line: &&str| {
        line.contains("Seq Scan on forum_api_") && !line.contains("forum_api_endpoints")
            || line.contains("JIT")
    };
    let found = plan.lines().find(costly);
    assert_eq!(found, None, "{}\n{plan}", statement.sql);
}

#[test]
fn each_statement_searches_an_index() {
    try_in_postgres(async {
        let client = tables().await.get().await.unwrap();
        client.batch_execute(MANY).await.unwrap();
        for then in ["", "ANALYZE"] {
            client.batch_execute(then).await.unwrap();
            for statement in statements() {
                assert_searches(&statement, &plan(&client, &statement).await);
            }
            for (statement, _) in lists() {
                assert_searches(&statement, &plan(&client, &statement).await);
            }
        }
    });
}
