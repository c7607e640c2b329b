//! Check of Redis for the metrics, which notices its loss on a board without requests.

use std::future::pending;
use std::time::Duration;

use forum_api::store::redis::RedisRateLimitStore;
use tokio::time::sleep;

use crate::http::metrics::{self, REDIS_REACHABLE};

/// Time between two checks.
const INTERVAL: Duration = Duration::from_secs(10);

/// Records whether Redis is reachable. Never returns.
pub async fn record_periodically(redis: Option<&RedisRateLimitStore>) {
    let Some(redis) = redis else {
        return pending().await;
    };
    loop {
        let is_reachable = redis.check().await;
        metrics::set(REDIS_REACHABLE, usize::from(is_reachable));
        sleep(INTERVAL).await;
    }
}
