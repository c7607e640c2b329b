//! Limits of failed sign-ins: per name and address prefix, and per address prefix. Failures of a name from all
//! addresses do not lock it, so that no other network can lock a member out. Instead, attempts with this name are
//! checked [one at a time](super::turns).

use std::sync::Arc;
use std::time::Duration;

use forum_api::host::BackendResult;
use forum_api::model::Timestamp;
use forum_api::rate_limit::{Budget, RateLimitDecision, RateLimitKey};
use forum_api::store::RateLimitStore;

/// Period in which failures are counted. The message of a refusal states it.
const WINDOW: Duration = Duration::from_secs(5 * 60);

/// Failures per name and address prefix.
const BY_NAME: Budget = Budget { units: 10, window: WINDOW };

/// Failures per address prefix.
const BY_PREFIX: Budget = Budget { units: 50, window: WINDOW };

/// Failures of a name from all addresses. The number of units exceeds the number of possible checks in the window, so
/// that each attempt is counted and can be refunded.
const OF_NAME: Budget = Budget { units: 1_000_000, window: Duration::from_secs(60 * 60) };

/// Number of failures of a name from all addresses from which its attempts are checked one at a time.
const MAX_FAILURES: u32 = 200;

/// Failed sign-ins, counted in the store of the API's rate limits: bounded, and shared by the nodes that share a Redis.
pub struct Throttle(Arc<dyn RateLimitStore>);

/// The limits that apply to one attempt.
pub struct Attempt {
    keys: [(RateLimitKey, Budget); 2],
    /// The name, from all addresses.
    pub name: RateLimitKey,
}

impl Throttle {
    /// Failed sign-ins, counted in `rate_limits`.
    pub const fn new(rate_limits: Arc<dyn RateLimitStore>) -> Self {
        Self(rate_limits)
    }

    /// Returns the time to wait if the attempt exceeds a limit. Charges nothing.
    pub async fn remaining_wait(
        &self,
        attempt: &Attempt,
        now: Timestamp,
    ) -> BackendResult<Option<Duration>> {
        for (key, budget) in &attempt.keys {
            let charged = self.0.charge(key, 0, *budget, now).await?;
            if charged.remaining == 0 {
                return Ok(Some(until_reset(charged)));
            }
        }
        Ok(None)
    }

    /// Returns whether attempts with this name are checked one at a time, after [`MAX_FAILURES`]. Charges nothing.
    pub async fn takes_turns(&self, attempt: &Attempt, now: Timestamp) -> BackendResult<bool> {
        let of_name = self.0.charge(&attempt.name, 0, OF_NAME, now).await?;
        Ok(of_name.limit - of_name.remaining >= MAX_FAILURES)
    }

    /// Counts the attempt as a failure until it is [taken back](Self::refund), so that concurrent attempts cannot exceed
    /// a limit. Returns how long to wait, and counts nothing, if the attempt exceeds one.
    pub async fn charge(
        &self,
        attempt: &Attempt,
        now: Timestamp,
    ) -> BackendResult<Option<Duration>> {
        let [name, prefix] = &attempt.keys;
        let by_name = self.0.charge(&name.0, 1, name.1, now).await?;
        if !by_name.allowed {
            return Ok(Some(until_reset(by_name)));
        }
        let by_prefix = self.0.charge(&prefix.0, 1, prefix.1, now).await?;
        if !by_prefix.allowed {
            self.0.refund(&name.0, 1, name.1, now).await?;
            return Ok(Some(until_reset(by_prefix)));
        }
        self.0.charge(&attempt.name, 1, OF_NAME, now).await?;
        Ok(None)
    }

    /// Takes back the charge of an attempt that did not fail.
    pub async fn refund(&self, attempt: &Attempt, now: Timestamp) -> BackendResult<()> {
        for (key, budget) in &attempt.keys {
            self.0.refund(key, 1, *budget, now).await?;
        }
        self.0.refund(&attempt.name, 1, OF_NAME, now).await
    }
}

impl Attempt {
    /// An attempt to sign in as `name` from an address with this prefix; `None` if no address is known. The case
    /// of letters does not matter in a name.
    pub fn new(name: &str, prefix: Option<u128>) -> Self {
        let prefix = prefix.map_or("-".into(), |prefix| format!("{prefix:032x}"));
        let name = name.to_ascii_lowercase();
        let by_name = format!("{prefix} {name}");
        let key =
            |purpose, subject: &str| RateLimitKey::password_attempts(purpose, subject.as_bytes());
        let keys = [
            (key("sign-in by name", &by_name), BY_NAME),
            (key("sign-in by prefix", &prefix), BY_PREFIX),
        ];
        Self { keys, name: key("sign-in of name", &name) }
    }
}

fn until_reset(charge: RateLimitDecision) -> Duration {
    charge.resets_at.saturating_duration_since(charge.charged_at)
}

#[cfg(test)]
mod tests {
    use forum_api::store::memory::MemoryRateLimitStore;

    use super::*;

    const PREFIX: Option<u128> = Some(1);
    const OTHER_PREFIX: Option<u128> = Some(2);

    fn new_throttle() -> Throttle {
        Throttle::new(Arc::new(MemoryRateLimitStore::default()))
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_millis(second * 1000)
    }

    /// Fails to sign in. Returns the time to wait if the attempt is refused, otherwise `None`.
    async fn fail(
        throttle: &Throttle,
        name: &str,
        prefix: Option<u128>,
        second: i64,
    ) -> Option<Duration> {
        let attempt = Attempt::new(name, prefix);
        let now = at(second);
        let wait = throttle.remaining_wait(&attempt, now).await.unwrap();
        let charged = throttle.charge(&attempt, now).await.unwrap();
        assert_eq!(wait, charged);
        charged
    }

    #[tokio::test]
    async fn ten_failures_of_a_name_lock_it_for_their_address_prefix_only() {
        let throttle = new_throttle();
        for _ in 0..10 {
            assert_eq!(fail(&throttle, "Admin", OTHER_PREFIX, 0).await, None);
        }
        let rest = Some(WINDOW - Duration::from_secs(1));
        assert_eq!(fail(&throttle, "admin", OTHER_PREFIX, 1).await, rest);
        assert_eq!(fail(&throttle, "alice", OTHER_PREFIX, 1).await, None);
        assert_eq!(fail(&throttle, "admin", PREFIX, 1).await, None);
        assert_eq!(fail(&throttle, "admin", None, 1).await, None);
        assert_eq!(fail(&throttle, "admin", OTHER_PREFIX, 300).await, None);
    }

    #[tokio::test]
    async fn fifty_failures_of_an_address_prefix_lock_it_for_every_name() {
        let throttle = new_throttle();
        for number in 0..50 {
            let name = format!("name{number}");
            assert_eq!(fail(&throttle, &name, PREFIX, 0).await, None);
        }
        for name in ["name0", "admin"] {
            assert_eq!(fail(&throttle, name, PREFIX, 0).await, Some(WINDOW));
        }
        assert_eq!(fail(&throttle, "admin", OTHER_PREFIX, 0).await, None);
        assert_eq!(fail(&throttle, "name0", PREFIX, 300).await, None);
    }

    #[tokio::test]
    async fn attempts_take_turns_after_200_failures_of_a_name_within_an_hour() {
        let throttle = new_throttle();
        let takes_turns = async |name, second| {
            let attempt = Attempt::new(name, Some(300));
            throttle.takes_turns(&attempt, at(second)).await.unwrap()
        };
        for prefix in 0..200 {
            assert!(!takes_turns("admin", 0).await);
            // The failures of an attempt that succeeds are taken back.
            assert_eq!(fail(&throttle, "bob", Some(prefix), 0).await, None);
            let succeeded = Attempt::new("bob", Some(prefix));
            throttle.refund(&succeeded, at(0)).await.unwrap();
            let second = i64::try_from(prefix).unwrap() * 10;
            assert_eq!(fail(&throttle, "admin", Some(prefix), second).await, None);
        }
        assert!(takes_turns("Admin", 3599).await);
        assert!(!takes_turns("bob", 0).await);
        assert!(!takes_turns("admin", 3600).await);
    }

    #[tokio::test]
    async fn attempts_that_succeed_or_are_refused_are_not_counted() {
        let throttle = new_throttle();
        for _ in 0..9 {
            assert_eq!(fail(&throttle, "admin", PREFIX, 0).await, None);
        }
        for _ in 0..100 {
            assert_eq!(fail(&throttle, "admin", PREFIX, 1).await, None);
            let attempt = Attempt::new("admin", PREFIX);
            throttle.refund(&attempt, at(1)).await.unwrap();
        }
        assert_eq!(fail(&throttle, "admin", PREFIX, 2).await, None);
        for _ in 0..60 {
            assert!(fail(&throttle, "admin", PREFIX, 2).await.is_some());
        }
        for number in 0..40 {
            let name = format!("name{number}");
            assert_eq!(fail(&throttle, &name, PREFIX, 2).await, None);
        }
        for _ in 0..20 {
            assert!(fail(&throttle, "alice", PREFIX, 2).await.is_some());
        }
        let [(name, budget), _] = Attempt::new("alice", PREFIX).keys;
        let charged = throttle.0.charge(&name, 0, budget, at(2)).await.unwrap();
        assert_eq!(charged.remaining, 10);
    }
}
