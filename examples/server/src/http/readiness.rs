//! The checks behind `/health` and `/ready`.

use std::sync::Arc;
use std::time::Duration;

use forum_api::host::BoardError;
use forum_api::model::Timestamp;
use forum_api::runtime::{Clock, SystemClock};
use forum_api::store::SchemaStatus;
use forum_api::worker::WorkerHandle;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use crate::board::ReferenceBoard;
use crate::board::db::BoardDatabase;

/// Time for which the result of a write probe is cached.
const CACHE_TIME: Duration = Duration::from_secs(1);

/// Maximum time since the last successful poll of a healthy worker, in milliseconds. A worker polls once a second.
const POLL_LIMIT_MS: i64 = 60_000;

/// Time limit of a probe.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// Checks the board's database. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Readiness {
    database: BoardDatabase,
    board: ReferenceBoard,
    /// The worker of a process that only sends webhooks.
    worker: Option<WorkerHandle>,
    /// Time and result of the last probe of writes. It is locked while a probe runs.
    last: Arc<Mutex<Option<(Instant, bool)>>>,
}

impl Readiness {
    /// Returns the checks of this board in this database.
    pub fn new(database: BoardDatabase, board: ReferenceBoard) -> Self {
        Self {
            database,
            board,
            worker: None,
            last: Arc::default(),
        }
    }

    /// Makes the process unhealthy while this worker does not read its deliveries.
    pub fn of_worker(self, worker: WorkerHandle) -> Self {
        Self {
            worker: Some(worker),
            ..self
        }
    }

    /// Returns whether the database can be read, and the worker works.
    pub async fn is_healthy(&self) -> bool {
        self.is_readable().await && self.worker.as_ref().is_none_or(is_working)
    }

    async fn is_readable(&self) -> bool {
        let read = timeout(PROBE_TIMEOUT, self.board.exists()).await;
        let healthy = matches!(read, Ok(Ok(true)));
        if !healthy {
            tracing::error!(outcome = ?read, "database unreachable");
        }
        healthy
    }

    /// Returns whether the database can be written to and no migration is pending. Probes at most once per second for
    /// all clients together. A probe completes even if its client disconnects.
    pub async fn is_ready(&self) -> bool {
        let this = self.clone();
        let probe = tokio::spawn(async move {
            let mut last = this.last.lock().await;
            if let Some((at, ready)) = *last
                && at.elapsed() < CACHE_TIME
            {
                return ready;
            }
            let ready = this.probe().await;
            *last = Some((Instant::now(), ready));
            ready
        });
        probe.await.unwrap_or(false)
    }

    async fn probe(&self) -> bool {
        let probe = timeout(PROBE_TIMEOUT, async {
            self.database.check_writable().await?;
            let library = self.database.library_schema_status().await?;
            Ok::<_, BoardError>([library, self.board.schema_status().await?])
        });
        let error = match probe.await {
            // Programs also run on a newer schema, while the nodes are upgraded one by one.
            Ok(Ok(schemas)) if !schemas.contains(&SchemaStatus::Pending) => return true,
            Ok(Ok(_)) => "migrations are pending; run `migrate`".into(),
            Ok(Err(error)) => format!("{error:?}"),
            Err(_) => format!("no response within {PROBE_TIMEOUT:?}"),
        };
        tracing::error!(error, "database not ready for writes");
        false
    }
}

/// Logs an error if the worker does not work.
fn is_working(worker: &WorkerHandle) -> bool {
    let health = worker.health();
    let now = SystemClock.now().as_millis();
    let is_old = |read: Timestamp| now.saturating_sub(read.as_millis()) > POLL_LIMIT_MS;
    let working = !health.stopped && !health.last_poll_at.is_some_and(is_old);
    if !working {
        tracing::error!(?health, "webhook worker stuck");
    }
    working
}
