//! Processor time of groups of processes.

use std::fs;

use crate::cluster::Cluster;
use crate::node::Node;
use crate::postgres::Database;

/// Clock ticks of the kernel per second.
const TICKS: f64 = 100.0;

/// Processes of one kind.
#[derive(Debug)]
pub struct ProcessGroup {
    name: &'static str,
    ids: Vec<u32>,
    before: f64,
}

impl ProcessGroup {
    /// Starts counting the processor time of these processes.
    pub fn new(name: &'static str, ids: Vec<u32>) -> Self {
        let before = seconds(&ids);
        Self { name, ids, before }
    }

    /// This process.
    fn this() -> Self {
        Self::new("this program", vec![std::process::id()])
    }

    /// The Postgres processes that serve a database.
    pub async fn postgres(database: &Database) -> Self {
        let query = "SELECT pid FROM pg_stat_activity WHERE datname = current_database()";
        let rows = database.connect().await.query(query, &[]).await.unwrap();
        let ids = rows.iter().map(|row| row.get::<_, i32>(0).cast_unsigned());
        Self::new("Postgres", ids.collect())
    }

    /// The servers of the first `nodes` nodes, their Postgres and Redis, and this process.
    pub async fn all(cluster: &Cluster, nodes: usize, redis: u32) -> [Self; 4] {
        let servers = cluster.servers[..nodes].iter().map(Node::id);
        [
            Self::new("servers", servers.collect()),
            Self::postgres(&cluster.database).await,
            Self::new("Redis", vec![redis]),
            Self::this(),
        ]
    }

    /// Returns the group's name and its processor time in microseconds for each of `count` operations.
    pub fn share(&self, count: usize) -> (&'static str, f64) {
        let taken = seconds(&self.ids) - self.before;
        (self.name, taken * 1e6 / count as f64)
    }
}

/// Sums the processor seconds of the processes. Ended processes count as zero.
fn seconds(ids: &[u32]) -> f64 {
    ids.iter()
        .map(|id| ticks(*id).unwrap_or_default() / TICKS)
        .sum()
}

fn ticks(id: u32) -> Option<f64> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<_> = fields.split_whitespace().collect();
    let number = |index: usize| fields.get(index)?.parse::<f64>().ok();
    Some(number(11)? + number(12)?)
}
