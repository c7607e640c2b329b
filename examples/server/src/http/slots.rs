//! Limits of open connections: of a listener and of one client address.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Weak};
use std::time::Duration;

use forum_api::IpNet;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// Number of open files that are reserved for databases, webhooks and the log.
const OTHER_FILES: usize = 512;

/// Time between two warnings about the number of connections.
const WARNING_INTERVAL: Duration = Duration::from_secs(60);

/// Maximum numbers of open connections.
#[derive(Clone, Debug)]
pub struct MaxConnections {
    /// Maximum of the listener. Further connections wait in its backlog.
    pub all: usize,
    /// Maximum of an address, or of an IPv6 prefix of 64 bits. Further connections are closed. 0 is no limit.
    pub per_address: usize,
    /// Addresses without a limit.
    pub trusted_proxies: Vec<IpNet>,
}

/// Slots of open connections.
#[derive(Debug)]
pub struct Slots {
    max: MaxConnections,
    free: Arc<Semaphore>,
    /// Counters by address, or by the prefix of an IPv6 address: the strong references to its token, one for each connection.
    open: HashMap<IpAddr, Weak<()>>,
    warned: Warned,
    warned_of_address: Warned,
}

impl Slots {
    pub fn new(max: MaxConnections) -> Self {
        Self {
            free: Arc::new(Semaphore::new(max.all)),
            max,
            open: HashMap::new(),
            warned: Warned::default(),
            warned_of_address: Warned::default(),
        }
    }

    /// Waits for a free slot.
    pub async fn free(&mut self) -> Option<OwnedSemaphorePermit> {
        if self.free.available_permits() == 0 && self.warned.is_due() {
            tracing::warn!(limit = self.max.all, "connection limit reached: new connections wait");
        }
        // The semaphore is never closed.
        Arc::clone(&self.free).acquire_owned().await.ok()
    }

    /// Returns a slot if one is free.
    pub fn try_free(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.free).try_acquire_owned().ok()
    }

    /// Returns the token of a new connection of an address; `None` if the address has reached its limit.
    pub fn of_address(&mut self, address: IpAddr) -> Option<Arc<()>> {
        let address = address.to_canonical();
        let is_trusted = |net: &IpNet| net.contains(&address);
        let limit = self.max.per_address;
        if limit == 0 || self.max.trusted_proxies.iter().any(is_trusted) {
            return Some(Arc::default());
        }
        let counted = prefix(address);
        let token = self.open.get(&counted).and_then(Weak::upgrade).unwrap_or_default();
        if Arc::strong_count(&token) > limit {
            if self.warned_of_address.is_due() {
                tracing::warn!(
                    %address,
                    limit,
                    "connection limit of an address reached: its new connections are closed; \
                     if the address is a proxy, list it in --trusted-proxies"
                );
            }
            return None;
        }
        if self.open.len() >= 2 * self.max.all {
            self.open.retain(|_, token| token.strong_count() > 0);
        }
        self.open.insert(counted, Arc::downgrade(&token));
        Some(token)
    }
}

/// Returns the address whose connections are counted together: of IPv6 the prefix of 64 bits, which one client has.
fn prefix(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => {
            let masked = address.to_bits() & (u128::MAX << 64);
            IpAddr::V6(Ipv6Addr::from_bits(masked))
        }
    }
}

/// Time of the last warning of a kind.
#[derive(Debug, Default)]
struct Warned(Option<Instant>);

impl Warned {
    /// Returns whether the last warning was at least [`WARNING_INTERVAL`] ago. If so, begins the next interval.
    fn is_due(&mut self) -> bool {
        let is_due = self.0.is_none_or(|warned| warned.elapsed() >= WARNING_INTERVAL);
        if is_due {
            self.0 = Some(Instant::now());
        }
        is_due
    }
}

/// Raises the soft limit of open files for `connections` if necessary and possible. Returns the number of connections
/// that the limit allows, at most `connections`. Logs a warning if it is smaller.
pub fn raise_file_limit(connections: usize) -> usize {
    let needed = u64::try_from(connections.saturating_add(OTHER_FILES)).unwrap_or(u64::MAX);
    let before = getrlimit(Resource::Nofile);
    if before.current.is_some_and(|current| current < needed) {
        let current = before.maximum.map_or(needed, |maximum| maximum.min(needed));
        let raised = Rlimit { current: Some(current), ..before };
        // The limit is read again below, so that a failure lowers the number of connections.
        let _ = setrlimit(Resource::Nofile, raised);
    }
    let files = getrlimit(Resource::Nofile).current;
    let allowed = connections_within(connections, files);
    if allowed < connections {
        tracing::warn!(
            files,
            allowed,
            "--max-connections lowered: the limit of open files is too low"
        );
    }
    allowed
}

/// Returns the number of connections that a limit of open files allows; `None` is no limit.
fn connections_within(connections: usize, files: Option<u64>) -> usize {
    let Some(files) = files.and_then(|files| usize::try_from(files).ok()) else {
        return connections;
    };
    let left = files.saturating_sub(OTHER_FILES).max(files / 2);
    connections.min(left.max(1))
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[test]
    fn the_connection_limit_reserves_files_for_other_uses() {
        for (connections, files, expected) in [
            (10_000, None, 10_000),
            (10_000, Some(1_048_576), 10_000),
            (10_000, Some(10_512), 10_000),
            (10_000, Some(4_096), 3_584),
            (10_000, Some(64), 32),
            (10_000, Some(1), 1),
            (100, Some(1_024), 100),
        ] {
            assert_eq!(connections_within(connections, files), expected, "{files:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn connections_of_an_address_are_limited_but_not_those_of_a_trusted_proxy() {
        let mut slots = Slots::new(MaxConnections {
            all: 2,
            per_address: 2,
            trusted_proxies: vec!["10.0.0.0/8".parse().unwrap()],
        });
        let mut of = |address: &str| slots.of_address(address.parse().unwrap());
        let open = [of("192.0.2.1").unwrap(), of("::ffff:192.0.2.1").unwrap()];
        assert_eq!(of("192.0.2.1"), None);
        assert_eq!(of("::ffff:192.0.2.1"), None);
        assert!(of("192.0.2.2").is_some());
        let trusted: Vec<_> = (0..9).map(|_| of("::ffff:10.0.0.1")).collect();
        assert!(trusted.iter().all(Option::is_some));
        drop(open);
        let open = [of("192.0.2.1"), of("192.0.2.1")];
        assert!(open.iter().all(Option::is_some));
        assert_eq!(of("192.0.2.1"), None);
        let first = of("203.0.113.1").unwrap();
        for last in 0..=255 {
            of(&format!("198.51.100.{last}")).unwrap();
        }
        assert_eq!(of("192.0.2.1"), None);
        let both = [first, of("203.0.113.1").unwrap()];
        assert_eq!(of("203.0.113.1"), None);
        drop(both);
        assert!(slots.open.len() <= 4, "{:?}", slots.open);
        let mut of = |address: &str| slots.of_address(address.parse().unwrap());
        let open = [of("2001:db8:0:1::1"), of("2001:db8:0:1:ffff::2")];
        assert!(open.iter().all(Option::is_some));
        assert_eq!(of("2001:db8:0:1::3"), None);
        assert!(of("2001:db8:0:2::1").is_some());
        slots.max.per_address = 0;
        assert!(slots.of_address("192.0.2.1".parse().unwrap()).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn warnings_about_connections_are_a_minute_apart() {
        let mut warned = Warned::default();
        assert!(warned.is_due());
        assert!(!warned.is_due());
        advance(WARNING_INTERVAL - Duration::from_millis(1)).await;
        assert!(!warned.is_due());
        advance(Duration::from_millis(1)).await;
        assert!(warned.is_due());
    }
}
