//! No attempt was sent twice while the lease on it held.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::database::Database;
use crate::receiver::Received;

/// The shortest time from a request that was taken to one that says the same: only a worker that died before it could
/// note the first sends another, once the lease of 60 s is over, of which the attempt takes up to 10 s.
const AFTER_SUCCESS: Duration = Duration::from_secs(50);

/// The shortest time from a request that was refused to the next.
const AFTER_REFUSAL: Duration = Duration::from_millis(200);

/// Checks the times of what was received. Gives how many requests came though one like them had been taken.
pub fn check_times(received: &[Received]) -> usize {
    let mut repeated = 0;
    for (delivery, requests) in by_delivery(received) {
        for pair in requests.windows(2) {
            let taken = pair[0].answered == Some(204);
            let least = if taken { AFTER_SUCCESS } else { AFTER_REFUSAL };
            let passed = pair[1].at.saturating_duration_since(pair[0].at);
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

/// Checks that each request is an attempt that was noted.
pub async fn check_noted(received: &[Received], database: &Database) {
    let query = "SELECT delivery, count(*) FROM forum_api_attempts GROUP BY delivery";
    let rows = database.connect().await.query(query, &[]).await.unwrap();
    let noted: BTreeMap<String, i64> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    for (delivery, requests) in by_delivery(received) {
        let noted = noted.get(delivery).copied().unwrap_or_default();
        assert!(
            requests.len() as i64 <= noted,
            "{delivery}: {noted} noted of {requests:?}"
        );
    }
}

fn by_delivery(received: &[Received]) -> BTreeMap<&str, Vec<&Received>> {
    let mut deliveries: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for one in received {
        deliveries
            .entry(one.header("x-forum-delivery"))
            .or_default()
            .push(one);
    }
    deliveries
}
