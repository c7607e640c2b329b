//! Sentinels and a cluster that replace masters.

use std::time::{Duration, Instant};

use forum_api::rate_limit::RateLimitKey;
use forum_api::store::redis::{RedisRateLimitStore, RedisSettings};
use forum_test_support::free_port;

use super::group::RedisGroup;
use super::{BUDGET, charge, remaining, until};
use crate::fixture::lookup;

/// Timeout of a charge, long enough for a busy machine.
const TIMEOUT: Duration = Duration::from_millis(500);
/// The documented permissions of the user `board`, without `client|setinfo`, which Redis before 7.2 does not know.
const PERMISSIONS: &str =
    "user board on >board ~forum_api:* -@all +evalsha +script|load +time +get +set +select";
const DEADLINE: Duration = Duration::from_secs(60);
/// Line of a replica that is connected to its master.
const REPLICATES: &str = "master_link_status:up";

#[tokio::test(flavor = "multi_thread")]
async fn sentinels_replace_failed_masters() {
    let mut group = RedisGroup::new();
    let data = &format!("requirepass data\nmasterauth data\n{PERMISSIONS} +role\n");
    let master = group.start("data", data);
    let replica_settings = format!("{data}replicaof 127.0.0.1 {master}\n");
    let replicas = [(); 2].map(|()| group.start("data", &replica_settings));
    for replica in replicas {
        group.wait_for(replica, "info replication", REPLICATES).await;
    }
    // A sentinel pings once a second, and first connects to a promoted server. After a shorter time without a response it
    // would replace this server again.
    let watch = format!(
        "requirepass watch\nuser board on >watch -@all +role +sentinel|masters\n\
         sentinel sentinel-pass watch\nsentinel monitor board 127.0.0.1 {master} 2\n\
         sentinel auth-pass board data\nsentinel down-after-milliseconds board 2000\n\
         sentinel failover-timeout board 5000\n"
    );
    let sentinels = [(); 3].map(|()| group.start("watch", &watch));
    for sentinel in sentinels {
        for expected in ["num-slaves\n2", "num-other-sentinels\n2"] {
            let command = "sentinel master board";
            group.wait_for(sentinel, command, expected).await;
        }
    }
    let hosts = sentinels.map(|port| format!("127.0.0.1:{port}")).join(",");
    let credentials = "sentinel_username=board&sentinel_password=watch";
    let url = format!("redis+sentinel://board:board@{hosts}/board/1?{credentials}");
    let mut nodes = Nodes::connect(url).await;
    // The sentinels learn of a replacement one after the other.
    let replacement = |sentinels: &[u16], failed: u16| {
        let mut masters = sentinels.iter().map(|sentinel| {
            let address = group.run(*sentinel, "sentinel get-master-addr-by-name board");
            address.lines().nth(1).unwrap().parse::<u16>().unwrap()
        });
        masters.find(|master| *master != failed)
    };
    let fail = || group.signal(master, "KILL");
    let is_replaced = || replacement(&sentinels, master).is_some();
    nodes.charge_through(fail, is_replaced).await;
    let promoted = replacement(&sentinels, master).unwrap();
    // Sentinels do not promote a replica whose connection to its master has been lost for long before the master failed.
    let remaining = replicas.into_iter().find(|replica| *replica != promoted).unwrap();
    let master_port = format!("master_port:{promoted}");
    for expected in [master_port.as_str(), REPLICATES] {
        group.wait_for(remaining, "info replication", expected).await;
    }
    for sentinel in &sentinels[1..] {
        let command = "sentinel get-master-addr-by-name board";
        group.wait_for(*sentinel, command, &promoted.to_string()).await;
    }
    let fail = || {
        group.signal(sentinels[0], "STOP");
        group.signal(promoted, "STOP");
    };
    let is_replaced = || replacement(&sentinels[1..], promoted).is_some();
    nodes.charge_through(fail, is_replaced).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_replaces_failed_masters() {
    let mut group = RedisGroup::new();
    let nodes = [(); 5].map(|()| {
        let bus = free_port();
        let settings = format!(
            "requirepass data\nmasterauth data\ncluster-enabled yes\ncluster-port {bus}\n\
             cluster-config-file {bus}.nodes\ncluster-node-timeout 1000\n\
             {PERMISSIONS} +cluster|slots +ping +asking\n"
        );
        (group.start("data", &settings), bus)
    });
    let ports = nodes.map(|(port, _)| port);
    let [masters @ .., first_replica, second_replica] = ports;
    for (place, master) in masters.into_iter().enumerate() {
        let first = place * 6_000;
        let last = (place * 6_000 + 5_999).min(16_383);
        group.run(master, &format!("cluster addslotsrange {first} {last}"));
        group.run(master, &format!("cluster set-config-epoch {}", place + 1));
    }
    for (port, bus) in nodes {
        group.run(ports[0], &format!("cluster meet 127.0.0.1 {port} {bus}"));
    }
    for port in ports {
        for expected in ["cluster_state:ok", "cluster_known_nodes:5"] {
            group.wait_for(port, "cluster info", expected).await;
        }
    }
    for (replica, master) in [(first_replica, masters[0]), (second_replica, masters[1])] {
        let master = group.run(master, "cluster myid");
        group.run(replica, &format!("cluster replicate {}", master.trim()));
        group.wait_for(replica, "info replication", REPLICATES).await;
    }
    let hosts = masters.map(|port| format!("127.0.0.1:{port}")).join(",");
    let mut nodes = Nodes::connect(format!("redis+cluster://board:board@{hosts}")).await;
    for (master, replica, failure) in
        [(masters[1], second_replica, "KILL"), (masters[0], first_replica, "STOP")]
    {
        let is_replaced = || group.run(replica, "role").starts_with("master");
        let fail = || group.signal(master, failure);
        nodes.charge_through(fail, is_replaced).await;
    }
}

/// Two nodes that share rate limits.
struct Nodes {
    url: String,
    nodes: [Node; 2],
    /// Number of keys that were charged.
    keys: u32,
}

struct Node {
    store: RedisRateLimitStore,
    /// Durations of the charges that reached the timeout.
    delays: Vec<Duration>,
}

impl Nodes {
    async fn connect(url: String) -> Self {
        let nodes = [Node::connect(&url).await, Node::connect(&url).await];
        Self { url, nodes, keys: 0 }
    }

    /// Returns keys of tokens that are in all parts of a cluster.
    fn new_keys(&mut self) -> Vec<RateLimitKey> {
        let first = self.keys;
        self.keys += 16;
        let key = |number| RateLimitKey::Token(lookup(number as _));
        (first..self.keys).map(key).collect()
    }

    /// Charges while a master fails, until the nodes reach Redis again: not before the master is replaced. Then charges of
    /// both nodes are exact.
    async fn charge_through(&mut self, fail: impl FnOnce(), is_replaced: impl FnOnce() -> bool) {
        let keys = self.new_keys();
        for key in &keys {
            let [one, other] = &self.nodes;
            charge(&one.store, *key, 10).await;
            assert_eq!(remaining(&other.store, *key).await, 110);
        }
        self.nodes.iter_mut().for_each(|node| node.delays.clear());
        fail();
        let mut granted = vec![10; keys.len()];
        let failed = Instant::now();
        let mut is_first = true;
        while is_first || self.is_unreachable() {
            is_first = false;
            for (key, granted) in keys.iter().zip(&mut granted) {
                let [one, other] = &mut self.nodes;
                let (one, other) = tokio::join!(one.spend(*key), other.spend(*key));
                *granted += one + other;
            }
            assert!(failed.elapsed() < DEADLINE, "not replaced");
        }
        assert!(is_replaced(), "reached without a master");
        for node in &self.nodes {
            let delays = &node.delays;
            let are_short = delays.iter().all(|delay| *delay < 2 * TIMEOUT);
            assert!(delays.len() <= 2 && are_short, "{delays:?}");
            assert!(node.store.failures() > 0);
        }

        let observer = Node::connect(&self.url).await;
        for (key, granted) in keys.iter().zip(granted) {
            assert!((120..=240).contains(&granted), "{granted}");
            for node in &mut self.nodes {
                assert_eq!(node.spend(*key).await, 0);
            }
            assert_eq!(remaining(&observer.store, *key).await, 0);
        }
        // A charge can exceed the timeout on a busy machine.
        while !self.spend_exactly().await {
            assert!(failed.elapsed() < DEADLINE, "not shared");
        }
    }

    /// Spends new budgets on both nodes at once. Returns `false` if a charge did not reach Redis.
    async fn spend_exactly(&mut self) -> bool {
        let failures = self.failures();
        let is_reachable = !self.is_unreachable();
        let mut granted = Vec::new();
        for key in self.new_keys() {
            let [one, other] = &mut self.nodes;
            let (one, other) = tokio::join!(one.spend(key), other.spend(key));
            granted.push(one + other);
        }
        let are_shared = is_reachable && self.failures() == failures;
        assert!(!are_shared || granted.iter().all(|granted| *granted == BUDGET.units));
        are_shared
    }

    fn failures(&self) -> u64 {
        self.nodes.iter().map(|node| node.store.failures()).sum()
    }

    fn is_unreachable(&self) -> bool {
        self.nodes.iter().any(|node| node.store.is_unreachable())
    }
}

impl Node {
    async fn connect(url: &str) -> Self {
        let mut settings = RedisSettings::default();
        settings.timeout = TIMEOUT;
        let store = RedisRateLimitStore::connect(url, settings).await.unwrap();
        until(|| !store.is_unreachable()).await;
        Self { store, delays: Vec::new() }
    }

    /// Charges single units until a charge is refused. Returns the number of granted units.
    async fn spend(&mut self, key: RateLimitKey) -> u32 {
        for granted in 0.. {
            let start = Instant::now();
            let charge = charge(&self.store, key, 1).await;
            let elapsed = start.elapsed();
            if elapsed >= TIMEOUT {
                self.delays.push(elapsed);
            }
            if !charge.allowed {
                return granted;
            }
        }
        unreachable!()
    }
}
