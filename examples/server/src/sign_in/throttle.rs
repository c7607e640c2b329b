//! Limits of failed sign-ins: per name and address prefix, and per address prefix. Failures of a name from all
//! addresses do not lock it, so that no other network can lock a member out. Instead, attempts with this name are
//! checked [one at a time](super::check_queue). A browser that has signed in with the name before has a limit of its own.

use std::sync::Arc;
use std::time::Duration;

use forum_api::host::BackendResult;
use forum_api::model::Timestamp;
use forum_api::rate_limit::{Budget, RateLimitDecision, RateLimitKey};
use forum_api::store::RateLimitStore;
use sha2::{Digest, Sha256};

use super::device::DeviceId;

/// Period in which failures are counted. The message of a refusal states it.
const WINDOW: Duration = Duration::from_secs(5 * 60);

/// Failures per name and address prefix.
const BY_NAME: Budget = Budget { units: 10, window: WINDOW };

/// Failures of a browser that has signed in with the name before. Further attempts are those of an unknown browser.
const BY_DEVICE: Budget = Budget { units: 10, window: WINDOW };

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
    /// `None` for an unknown browser.
    device: Option<Limit>,
    by_name: Limit,
    by_prefix: Limit,
    of_name: Limit,
}

type Limit = (RateLimitKey, Budget);

/// The limits that counted an attempt.
pub struct Charge(Vec<Limit>);

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
        for (key, budget) in attempt.limits() {
            let charge = self.0.charge(&key, 0, budget, now).await?;
            if charge.remaining == 0 {
                return Ok(Some(until_reset(charge)));
            }
        }
        Ok(None)
    }

    /// Returns whether the name is being guessed: its attempts are checked one at a time, after [`MAX_FAILURES`]. Charges
    /// nothing.
    pub async fn is_guessed(&self, attempt: &Attempt, now: Timestamp) -> BackendResult<bool> {
        let (name, budget) = attempt.of_name;
        let of_name = self.0.charge(&name, 0, budget, now).await?;
        Ok(of_name.limit - of_name.remaining >= MAX_FAILURES)
    }

    /// Counts the attempt as a failure until it is [taken back](Self::refund), so that concurrent attempts cannot exceed
    /// a limit. If the attempt exceeds one, counts nothing, and returns how long to wait.
    pub async fn charge(
        &self,
        attempt: &Attempt,
        now: Timestamp,
    ) -> BackendResult<Result<Charge, Duration>> {
        let mut counted = Charge(Vec::new());
        for limit in attempt.limits() {
            if let Some(wait) = self.count(limit, &mut counted, now).await? {
                self.refund(counted, now).await?;
                return Ok(Err(wait));
            }
        }
        for limit in attempt.further_counters() {
            self.count(limit, &mut counted, now).await?;
        }
        Ok(Ok(counted))
    }

    /// Counts an attempt, or returns how long to wait.
    async fn count(
        &self,
        limit: Limit,
        counted: &mut Charge,
        now: Timestamp,
    ) -> BackendResult<Option<Duration>> {
        let (key, budget) = limit;
        let charge = self.0.charge(&key, 1, budget, now).await?;
        if !charge.allowed {
            return Ok(Some(until_reset(charge)));
        }
        counted.0.push(limit);
        Ok(None)
    }

    /// Takes back the charge of an attempt that did not fail.
    pub async fn refund(&self, charge: Charge, now: Timestamp) -> BackendResult<()> {
        for (key, budget) in charge.0 {
            self.0.refund(&key, 1, budget, now).await?;
        }
        Ok(())
    }
}

impl Attempt {
    /// An attempt to sign in as `name` from an address with this prefix; `None` if no address is known. The case
    /// of letters does not matter in a name. `device` is the id of a browser that has signed in with the name before.
    pub fn new(name: &str, prefix: Option<u128>, device: Option<DeviceId>) -> Self {
        let prefix = prefix.map_or("-".into(), |prefix| format!("{prefix:032x}"));
        let name = name.to_ascii_lowercase();
        let name_and_prefix = format!("{prefix} {name}");
        // All names share 65,536 counters of failures from all addresses. The counters last for an hour, so those of invented
        // names would fill the store otherwise.
        let [first, second, ..]: [u8; 32] = Sha256::digest(&name).into();
        let key = |purpose, subject: &[u8]| RateLimitKey::password_attempts(purpose, subject);
        Self {
            device: device.map(|id| (key("sign-in of device", id.as_bytes()), BY_DEVICE)),
            by_name: (key("sign-in by name", name_and_prefix.as_bytes()), BY_NAME),
            by_prefix: (key("sign-in by prefix", prefix.as_bytes()), BY_PREFIX),
            of_name: (key("sign-in of name", &[first, second]), OF_NAME),
        }
    }

    /// Returns the attempt as that of an unknown browser.
    pub const fn without_device(self) -> Self {
        Self { device: None, ..self }
    }

    /// Returns the key of the failures of the browser; `None` for an unknown browser.
    pub fn device_key(&self) -> Option<RateLimitKey> {
        self.device.map(|(key, _)| key)
    }

    /// Returns the key of the failures of the name from all addresses.
    pub const fn name_key(&self) -> RateLimitKey {
        self.of_name.0
    }

    /// Returns the limits that can refuse the attempt. A known browser is not refused for failures of other browsers.
    fn limits(&self) -> Vec<Limit> {
        match self.device {
            Some(device) => vec![device],
            None => vec![self.by_name, self.by_prefix],
        }
    }

    /// Returns the limits that count the attempt but do not refuse it. An attempt of a known browser counts for its address,
    /// and is no guess of the name.
    fn further_counters(&self) -> Vec<Limit> {
        match self.device {
            Some(_) => vec![self.by_name, self.by_prefix],
            None => vec![self.of_name],
        }
    }
}

fn until_reset(charge: RateLimitDecision) -> Duration {
    charge.resets_at.saturating_duration_since(charge.charged_at)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

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
        let attempt = Attempt::new(name, prefix, None);
        let now = at(second);
        let wait = throttle.remaining_wait(&attempt, now).await.unwrap();
        let charged = throttle.charge(&attempt, now).await.unwrap().err();
        assert_eq!(wait, charged);
        charged
    }

    /// Signs in successfully.
    async fn succeed(throttle: &Throttle, attempt: &Attempt, second: i64) {
        let charge = throttle.charge(attempt, at(second)).await.unwrap();
        throttle.refund(charge.ok().unwrap(), at(second)).await.unwrap();
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
    async fn a_name_is_guessed_after_200_failures_within_an_hour() {
        let throttle = new_throttle();
        let is_guessed = async |name, second| {
            let attempt = Attempt::new(name, Some(300), None);
            throttle.is_guessed(&attempt, at(second)).await.unwrap()
        };
        for prefix in 0..200 {
            assert!(!is_guessed("admin", 0).await);
            succeed(&throttle, &Attempt::new("bob", Some(prefix), None), 0).await;
            let second = i64::try_from(prefix).unwrap() * 10;
            assert_eq!(fail(&throttle, "admin", Some(prefix), second).await, None);
        }
        assert!(is_guessed("Admin", 3599).await);
        assert!(!is_guessed("bob", 0).await);
        assert!(!is_guessed("admin", 3600).await);
    }

    #[test]
    fn the_number_of_counters_that_last_for_an_hour_is_bounded() {
        let attempts = (0..70_000).map(|name| Attempt::new(&name.to_string(), PREFIX, None));
        let counters: HashSet<_> = attempts.map(|attempt| attempt.name_key()).collect();
        assert!((20_000..=65_536).contains(&counters.len()), "{}", counters.len());
    }

    #[tokio::test]
    async fn attempts_that_succeed_or_are_refused_are_not_counted() {
        let throttle = new_throttle();
        for _ in 0..9 {
            assert_eq!(fail(&throttle, "admin", PREFIX, 0).await, None);
        }
        for _ in 0..100 {
            succeed(&throttle, &Attempt::new("admin", PREFIX, None), 1).await;
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
        let (name, budget) = Attempt::new("alice", PREFIX, None).by_name;
        let charged = throttle.0.charge(&name, 0, budget, at(2)).await.unwrap();
        assert_eq!(charged.remaining, 10);
    }

    #[tokio::test]
    async fn a_known_browser_has_a_limit_of_its_own_and_counts_for_its_address() {
        let throttle = new_throttle();
        for _ in 0..10 {
            assert_eq!(fail(&throttle, "admin", PREFIX, 0).await, None);
        }
        let of_device = |id| Attempt::new("admin", PREFIX, Some(DeviceId::from([id; 16])));
        let [known, other] = [1, 2].map(of_device);
        for _ in 0..100 {
            succeed(&throttle, &known, 0).await;
        }
        for _ in 0..10 {
            assert_eq!(throttle.remaining_wait(&known, at(0)).await.unwrap(), None);
            assert!(throttle.charge(&known, at(0)).await.unwrap().is_ok());
        }
        let second = Some(Duration::from_secs(1));
        assert_eq!(throttle.remaining_wait(&known, at(299)).await.unwrap(), second);
        assert_eq!(throttle.charge(&known, at(299)).await.unwrap().err(), second);
        assert!(throttle.charge(&other, at(299)).await.unwrap().is_ok());
        // 10 failures of others, and 11 of known browsers.
        let (prefix, budget) = known.by_prefix;
        let of_prefix = throttle.0.charge(&prefix, 0, budget, at(299)).await.unwrap();
        assert_eq!(of_prefix.remaining, 50 - 21);
        let (name, budget) = known.of_name;
        let of_name = throttle.0.charge(&name, 0, budget, at(299)).await.unwrap();
        assert_eq!(of_name.limit - of_name.remaining, 10, "not a guess of the name");
        assert!(throttle.charge(&known, at(300)).await.unwrap().is_ok());
    }
}
