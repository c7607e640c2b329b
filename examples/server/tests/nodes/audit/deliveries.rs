//! Checks that no attempt was sent twice while its lease was in force.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::postgres::Database;
use crate::receiver::Received;

/// Minimum time between an accepted request and a request with the same content. A request is repeated only if its
/// worker was killed before it recorded the attempt. The repetition begins after the lease of 60 s, of which the
/// attempt takes up to 10 s.
const AFTER_SUCCESS: Duration = Duration::from_secs(50);

/// Minimum time between a rejected request and its retry.
const AFTER_REFUSAL: Duration = Duration::from_millis(200);

/// Checks the times of the received requests. Returns how many repeat an accepted one.
pub fn check_times(received: &[Received]) -> usize {
    let mut repeated = 0;
    for (delivery, requests) in by_delivery(received) {
        for pair in requests.windows(2) {
            let taken = pair[0].status == Some(204);
            let least = if taken { AFTER_SUCCESS } else { AFTER_REFUSAL };
            let passed = pair[1]
                .received_at
                .saturating_duration_since(pair[0].received_at);
            assert!(
                passed >= least,
                "{delivery}: {passed:?} after {:?}",
                pair[0]
            );
            repeated += usize::from(taken);
        }
    }
    repeated
}

/// Checks that each request is a recorded attempt.
pub async fn check_recorded(received: &[Received], database: &Database) {
    let query = "SELECT delivery, count(*) FROM forum_api_attempts GROUP BY delivery";
    let rows = database.connect().await.query(query, &[]).await.unwrap();
    let recorded: BTreeMap<String, i64> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    for (delivery, requests) in by_delivery(received) {
        let recorded = recorded.get(delivery).copied().unwrap_or_default();
        assert!(
            requests.len() as i64 <= recorded,
            "{delivery}: {recorded} recorded of {requests:?}"
        );
    }
}

fn by_delivery(received: &[Received]) -> BTreeMap<&str, Vec<&Received>> {
    let mut deliveries: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for request in received {
        deliveries
            .entry(request.header("x-forum-delivery"))
            .or_default()
            .push(request);
    }
    deliveries
}
