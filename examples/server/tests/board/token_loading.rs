//! The board loads tokens with their owners.

use forum_api::runtime::SeededRandom;
use forum_api::scope::Surface;
use forum_api::test_util::audit_entry;
use forum_api::token::{PlainToken, TokenRequest, issue_token};
use metrics_exporter_prometheus::PrometheusBuilder;

use crate::board::access::actor::LOAD_TOKEN;
use crate::board::db::{READS, named_params};
use crate::prelude::*;

const SEEN: &str = "SELECT count(*) AS value FROM member WHERE last_seen_at IS NOT NULL";

#[tokio::test]
async fn only_accepted_requests_are_recorded_as_last_seen() {
    let demo = Demo::new().await;
    let stores = demo.board.database.stores();
    let mut settings = ApiSettings::default();
    settings.token_budget.units = 1;
    let host = Arc::new(demo.board.clone());
    let api = api_of(host, stores.clone(), settings, &demo.clock);
    let text = create_token(demo.database(), 2).await;
    let lookup = *PlainToken::parse(&text).unwrap().lookup();
    let client = api.client(Some(text));
    for (path, status, seen) in [("/search?q=tea", 429, 0), ("/forums", 200, 1)] {
        assert_eq!(client.get(path).await.status, status);
        demo.board.flush_last_seen().await;
        assert_eq!(demo.query_value::<i64>(SEEN).await, seen, "{path}");
    }
    demo.sql("UPDATE member SET last_seen_at = NULL").await;
    assert!(stores.tokens.revoke(&lookup, demo.clock.now(), &audit_entry()).await.unwrap());
    assert_eq!(client.get("/forums").await.status, 401);
    demo.board.flush_last_seen().await;
    assert_eq!(demo.query_value::<i64>(SEEN).await, 0);
}

/// The only replica is the primary, which serves no read as a replica. Each read that a replica may serve is counted as
/// `primary_unavailable`.
#[tokio::test]
async fn replicas_may_serve_the_reads_of_tokens_and_of_guests() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let metrics = recorder.handle();
    let _guard = metrics::set_default_local_recorder(&recorder);
    let demo = Demo::in_postgres().await;
    let board = demo.board.clone().with_replicas(vec![demo.pool()]).await.unwrap();
    let stores = demo.board.database.stores();
    let api = api_of(Arc::new(board), stores, ApiSettings::default(), &demo.clock);
    let token = create_token(demo.database(), 2).await;
    for (client, reads) in [(api.client(Some(token)), 1), (api.client(None), 2)] {
        assert_eq!(client.get("/forums").await.status, 200);
        let counted = format!("{READS}{{target=\"primary_unavailable\"}} {reads}\n");
        let metrics = metrics.render();
        assert!(metrics.contains(&counted), "{counted}{metrics}");
    }
}

/// On SQLite, `query_plans` checks it.
#[test]
fn the_statement_searches_indexes_of_postgres() {
    run_with_postgres(async {
        let demo = Demo::in_postgres().await;
        let client = demo.pool().get().await.unwrap();
        let statement = named_params(&[&LOAD_TOKEN.postgres]);
        // Tables of a few rows are otherwise scanned.
        let prepare = format!("SET enable_seqscan = off; PREPARE load_token AS {}", statement.sql);
        client.batch_execute(&prepare).await.unwrap();
        let explain = "EXPLAIN EXECUTE load_token ('0123456789abcdEF')";
        let rows = client.query(explain, &[]).await.unwrap();
        let lines: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        let plan = lines.join("\n");
        for index in ["forum_api_tokens_pkey", "member_pkey"] {
            assert!(plan.contains(&format!("Index Scan using {index}")), "{plan}");
        }
    });
}

/// Issues a token of this member with all scopes.
pub async fn create_token(database: &BoardDatabase, member: i64) -> String {
    let owner = UserId::from(member);
    let scopes = Vec::from_iter(Surface::Full.scopes());
    let request = TokenRequest::new(&owner, &scopes).label("test");
    let stores = database.stores();
    let now = Timestamp::from_millis(1_767_225_600_000);
    let random = SeededRandom::new(1_000 * member.unsigned_abs());
    let (token, _) =
        issue_token(&*stores.tokens, &random, Surface::Full, request, now).await.unwrap();
    token.expose_secret().to_owned()
}
