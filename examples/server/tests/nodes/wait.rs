//! Waits for conditions.

use std::time::Duration;

use tokio::time::{sleep, timeout};

/// Longer than any awaited condition takes.
const TIMEOUT: Duration = Duration::from_secs(90);

/// Waits until the condition holds.
pub async fn wait_until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let wait = async {
        while !holds().await {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(TIMEOUT, wait).await.unwrap_or_else(|_| panic!("timed out waiting for {what}"));
}
