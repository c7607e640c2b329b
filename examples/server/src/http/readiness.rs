//! The checks behind `/health` and `/ready`.

use std::sync::Arc;
use std::time::Duration;

use forum_api::host::BoardError;
use forum_api::runtime::{Clock, SystemClock};
use forum_api::store::SchemaStatus;
use forum_api::worker::WorkerHandle;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use crate::board::{ReferenceBoard, settings};

/// Time for which the result of a write probe is cached.
const CACHE_TIME: Duration = Duration::from_secs(1);

/// Maximum time since the start or the last successful poll of a healthy worker. A worker polls once a second.
const POLL_LIMIT: Duration = Duration::from_secs(60);

/// Time limit of a probe.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// Checks the board's database. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Readiness {
    pub board: ReferenceBoard,
    /// The worker of a process that only sends webhooks, and the time at which it was started.
    worker: Option<(WorkerHandle, Instant)>,
    /// It is locked while a client waits for a probe.
    probe: Arc<Mutex<WriteProbe>>,
}

/// Probe of writes, for all clients together.
#[derive(Debug, Default)]
struct WriteProbe {
    /// Time and result of the last probe.
    last: Option<(Instant, bool)>,
    /// A probe that has not ended. Without the synchronous standby of a Postgres, its commit waits and occupies a
    /// connection, so no other probe begins meanwhile.
    running: Option<JoinHandle<bool>>,
}

impl Readiness {
    /// Returns the checks of this board.
    pub fn new(board: ReferenceBoard) -> Self {
        Self { board, worker: None, probe: Arc::default() }
    }

    /// Adds a worker to the health check: the process is unhealthy if the worker stops, or has not read its events or
    /// deliveries for 60 s. The first 60 s begin with this call.
    pub fn with_worker(self, worker: WorkerHandle) -> Self {
        Self { worker: Some((worker, Instant::now())), ..self }
    }

    /// Returns whether the database can be read, and the worker works.
    pub async fn is_healthy(&self) -> bool {
        self.is_readable().await
            && self.worker.as_ref().is_none_or(|(worker, started)| is_working(worker, *started))
    }

    async fn is_readable(&self) -> bool {
        let error = match timeout(PROBE_TIMEOUT, self.board.exists()).await {
            Ok(Ok(true)) => return true,
            Ok(Ok(false)) => "the database contains no board".into(),
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("no response within {PROBE_TIMEOUT:?}"),
        };
        tracing::error!(error, "database unreachable");
        false
    }

    /// Returns whether the board is offline; `None` if the database does not respond in time.
    pub async fn is_offline(&self) -> Option<bool> {
        let read = self.board.read_short(|connection| Box::pin(settings::availability(connection)));
        let availability = timeout(PROBE_TIMEOUT, read).await.ok()?.ok()?;
        Some(availability != settings::ONLINE)
    }

    /// Returns whether a write commits within the time limit, the disk of the database has free space, and no migration
    /// is pending. Probes at most once per second for all clients together. A probe completes even if its client
    /// disconnects.
    pub async fn is_ready(&self) -> bool {
        let mut probe = self.probe.lock().await;
        if let Some((at, ready)) = probe.last
            && at.elapsed() < CACHE_TIME
        {
            return ready;
        }
        let running = probe.running.get_or_insert_with(|| {
            let board = self.board.clone();
            tokio::spawn(async move { probe_writes(&board).await })
        });
        let ready = match timeout(PROBE_TIMEOUT, running).await {
            Ok(probed) => {
                probe.running = None;
                probed.unwrap_or(false)
            }
            Err(_) => {
                tracing::error!("no write was committed within {PROBE_TIMEOUT:?}");
                false
            }
        };
        probe.last = Some((Instant::now(), ready));
        ready
    }
}

async fn probe_writes(board: &ReferenceBoard) -> bool {
    let probe = async {
        board.database.check_writable().await?;
        let library = board.database.library_schema_status().await?;
        Ok::<_, BoardError>([library, board.schema_status().await?])
    };
    let error = match probe.await {
        // Programs also run on a newer schema, while the nodes are upgraded one by one.
        Ok(schemas) if !schemas.contains(&SchemaStatus::Pending) => return true,
        Ok(_) => "migrations are pending; run `migrate`".into(),
        Err(error) => error.to_string(),
    };
    tracing::error!(error, "database not ready for writes");
    false
}

/// Logs an error if the worker does not work.
fn is_working(worker: &WorkerHandle, started: Instant) -> bool {
    let health = worker.health();
    let now = SystemClock.now();
    let since_last_poll = health.last_poll_at.map(|last| now.saturating_duration_since(last));
    let working = !health.stopped && polls(since_last_poll, started.elapsed());
    if !working {
        tracing::error!(?health, "webhook worker stuck");
    }
    working
}

/// Returns `false` if the last successful poll is too old, or if no poll has succeeded since the start.
fn polls(since_last_poll: Option<Duration>, since_start: Duration) -> bool {
    since_last_poll.unwrap_or(since_start) <= POLL_LIMIT
}

#[cfg(test)]
mod tests {
    use super::{Duration, polls};

    #[test]
    fn a_worker_without_a_successful_poll_for_a_minute_is_stuck() {
        for (since_last_poll, since_start, expected) in
            [(None, 60, true), (None, 61, false), (Some(60), 90, true), (Some(61), 90, false)]
        {
            let last_poll = since_last_poll.map(Duration::from_secs);
            let has_polled = polls(last_poll, Duration::from_secs(since_start));
            assert_eq!(has_polled, expected, "{since_last_poll:?} of {since_start}");
        }
    }
}
