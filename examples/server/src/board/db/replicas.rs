//! Reads on replicas of Postgres.
//!
//! # Consistency
//!
//! The statement that loads the access of a caller also reads a position in the log of the primary ([`POSITION`]): the
//! end of the records that were inserted when the statement ran. Postgres inserts the record of a commit before it makes
//! the commit visible, also if `synchronous_commit` is off. The records of all commits that the statement sees therefore
//! precede the position. The ends of the written and of the flushed log do not have this property.
//!
//! A replica serves a read only if it has replayed the log to this position ([`CHECK`]). The check completes before the
//! read takes its snapshot, so the read sees all these commits. A server that is not in recovery, or that follows
//! another timeline than the primary, serves no read: after a promotion, positions of the old timeline can exceed those
//! of the new one. The timeline of a replica is the timeline of its last restart point, which is never too recent.
//!
//! # Availability
//!
//! A request waits at most [`WAIT_TIMEOUT`] for a connection to a replica and for the position; then the primary serves
//! the read. A task in the background opens further connections, and checks a replica after a failure or a timeout. A
//! replica that fails is left out until a check succeeds. A read that fails on a replica, for example because of a
//! conflict with the replay, runs again on the primary. A search that reaches its time limit does not run again: the
//! replica is checked, and is left out only if this check fails.

use std::mem;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use deadpool_postgres::{Client, Pool};
use forum_api::host::{BackendError, BackendResult, BoardError, BoardResult};
use forum_api::store::postgres::tokio_postgres_0_7;
use metrics::counter;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_postgres::types::PgLsn;

use super::Query;
use super::postgres_read::{ReadConnection, ReadKind, SearchTimeoutError, share};

/// Time that a request waits for a connection to a replica and for the position.
const WAIT_TIMEOUT: Duration = Duration::from_millis(5);

/// Time between two checks of the position.
const CHECK_INTERVAL: Duration = Duration::from_millis(1);

/// Time limit of a read on a replica, except a search, which has its own. Afterwards the read runs on the primary.
const READ_TIMEOUT: Duration = Duration::from_secs(1);

/// Time limit of a check in the background.
const CHECK_TIMEOUT: Duration = Duration::from_secs(2);

/// Time after which a failed check is repeated.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// Counter of the reads that a replica may serve, by the server that served them.
pub const READS: &str = "forum_server_reads_total";

/// Column of a statement on the primary: the position that a replica must have replayed to serve the caller. A text with
/// the name of the log file, whose first eight digits are the timeline, and the position.
pub const POSITION: &str =
    "(SELECT pg_walfile_name(lsn) || ' ' || lsn FROM pg_current_wal_insert_lsn() AS lsn)";

/// Returns whether a replica has replayed the log to the position `$1` on the timeline `$2`.
const CHECK: &str = "
SELECT
    coalesce(pg_is_in_recovery() AND timeline_id = $2 AND pg_last_wal_replay_lsn() >= $1, FALSE) AS has_replayed
FROM pg_control_checkpoint()";

/// Selects the identifier of a database, which a replica shares with its primary, and `true` on a replica.
const IDENTIFIER: &str = "
SELECT system_identifier || '/' || oid AS identifier, pg_is_in_recovery() AS is_in_recovery
FROM pg_control_system(), pg_database WHERE datname = current_database()";

/// A position in the log of the primary.
#[derive(Clone, Copy, Debug)]
pub struct LogPosition {
    timeline: i32,
    lsn: PgLsn,
}

impl FromStr for LogPosition {
    type Err = BackendError;

    fn from_str(text: &str) -> BackendResult<Self> {
        let parse = || {
            let (file, lsn) = text.split_once(' ')?;
            let timeline = i32::from_str_radix(file.get(..8)?, 16).ok()?;
            let lsn = lsn.parse().ok()?;
            Some(Self { timeline, lsn })
        };
        parse().ok_or_else(|| BackendError::new("a position of the log is invalid"))
    }
}

/// Replicas of one primary, which share its reads. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Replicas {
    replicas: Vec<Arc<Replica>>,
    /// Number of the next read.
    next: Arc<AtomicUsize>,
}

#[derive(Debug)]
struct Replica {
    pool: Pool,
    searches: Arc<Semaphore>,
    /// Place of the replica in the options, for the log.
    number: usize,
    /// The identifier of the primary.
    identifier: String,
    availability: Mutex<Availability>,
    /// True after a request has waited for the position in vain. Further requests do not wait.
    lags: AtomicBool,
}

/// Whether a replica serves reads, and whether a check of it runs. After the first check has begun, a replica that serves no
/// reads is being checked, unless its pool is closed.
#[derive(Debug, Default)]
struct Availability {
    /// False before the first check, and after a failure until a check succeeds.
    serves: bool,
    is_checking: bool,
}

impl Availability {
    /// Begins a check. Returns false if one runs already.
    const fn begin_check(&mut self) -> bool {
        !mem::replace(&mut self.is_checking, true)
    }

    /// Leaves the replica out, and begins a check. Returns false if one runs already.
    const fn fail(&mut self) -> bool {
        self.serves = false;
        self.begin_check()
    }

    /// Ends a check that has succeeded. Returns true if the replica served no reads before.
    const fn succeed(&mut self) -> bool {
        self.is_checking = false;
        !mem::replace(&mut self.serves, true)
    }
}

/// Result of a read on a replica.
enum Outcome<T> {
    Served(BoardResult<T>),
    Lagging,
    Unavailable,
}

impl Replicas {
    /// Returns the replicas behind these pools. Opens the first connections in the background.
    ///
    /// # Errors
    /// If the identifier of the primary cannot be read.
    pub async fn of(primary: &Pool, pools: Vec<Pool>) -> BoardResult<Self> {
        let (identifier, _) = identify(primary).await?;
        let replicas = pools.into_iter().enumerate().map(|(place, pool)| {
            let replica = Arc::new(Replica {
                searches: share(&pool, 4),
                pool,
                number: place + 1,
                identifier: identifier.clone(),
                availability: Mutex::default(),
                lags: AtomicBool::new(false),
            });
            replica.check_in_background();
            replica
        });
        Ok(Self { replicas: replicas.collect(), next: Arc::default() })
    }

    pub fn is_empty(&self) -> bool {
        self.replicas.is_empty()
    }

    /// Runs a query on a replica that has replayed the log to this position. `query` returns the query for each attempt. `end`
    /// is the time at which a search ends, and `None` for other reads. Returns `None` if the primary must serve the read.
    pub(super) async fn read<T>(
        &self,
        position: LogPosition,
        kind: ReadKind,
        end: Option<Instant>,
        mut query: impl FnMut() -> Box<dyn Query<T>>,
    ) -> Option<BoardResult<T>> {
        let deadline = Instant::now() + WAIT_TIMEOUT;
        let first = self.next.fetch_add(1, Ordering::Relaxed) % self.replicas.len().max(1);
        let replicas = self.replicas.iter().cycle().skip(first);
        let mut target = "primary_unavailable";
        for replica in replicas.take(self.replicas.len()) {
            match replica.read(position, deadline, kind, end, query()).await {
                Outcome::Served(result) => {
                    counter!(READS, "target" => "replica").increment(1);
                    return Some(result);
                }
                Outcome::Lagging => target = "primary_lagging",
                Outcome::Unavailable => {}
            }
        }
        counter!(READS, "target" => target).increment(1);
        None
    }
}

impl Replica {
    async fn read<T>(
        self: &Arc<Self>,
        position: LogPosition,
        deadline: Instant,
        kind: ReadKind,
        end: Option<Instant>,
        query: Box<dyn Query<T>>,
    ) -> Outcome<T> {
        let permit = match kind {
            ReadKind::Search => {
                let searches = Arc::clone(&self.searches);
                match timeout_at(deadline, searches.acquire_owned()).await {
                    Ok(permit) => permit.ok(),
                    Err(_) => return Outcome::Unavailable,
                }
            }
            _ => None,
        };
        let Some(client) = self.connection(deadline).await else {
            return Outcome::Unavailable;
        };
        match timeout_at(deadline, self.has_replayed(&client, position, deadline)).await {
            Ok(Ok(true)) => {}
            Ok(Ok(false)) => return Outcome::Lagging,
            Ok(Err(_)) => return self.fail(),
            Err(_) => {
                self.check_in_background();
                return Outcome::Unavailable;
            }
        }
        let limit = end.unwrap_or_else(|| Instant::now() + READ_TIMEOUT);
        let mut connection = ReadConnection::new(client, permit);
        match timeout_at(limit, connection.run(kind, query)).await {
            Ok(Err(BoardError::Internal(error))) => {
                tracing::warn!(replica = self.number, %error, "read on a replica failed");
                if connection.client().is_closed() {
                    return self.fail();
                }
                Outcome::Unavailable
            }
            Ok(result) => Outcome::Served(result),
            Err(_) => {
                if end.is_none() {
                    return self.fail();
                }
                // A search can reach its time limit although the replica responds.
                self.check_in_background();
                Outcome::Served(Err(SearchTimeoutError::default().into()))
            }
        }
    }

    /// Returns a connection. Further connections are opened in the background.
    async fn connection(self: &Arc<Self>, deadline: Instant) -> Option<Client> {
        if !self.availability().serves {
            return None;
        }
        let pool = self.pool.status();
        let is_idle = pool.available > 0;
        if !is_idle && pool.size < pool.max_size {
            self.check_in_background();
            return None;
        }
        match timeout_at(deadline, self.pool.get()).await {
            Ok(Ok(client)) => return Some(client),
            Ok(Err(_)) => {
                self.fail::<()>();
            }
            // Connections do not respond.
            Err(_) if is_idle => self.check_in_background(),
            // All connections are busy.
            Err(_) => {}
        }
        None
    }

    async fn has_replayed(
        &self,
        client: &Client,
        position: LogPosition,
        deadline: Instant,
    ) -> BackendResult<bool> {
        let check = client.prepare_cached(CHECK).await?;
        loop {
            let parameters = &[&position.lsn as &_, &position.timeline as &_];
            let row = client.query_one(&check, parameters).await?;
            let has_replayed = row.try_get("has_replayed")?;
            if has_replayed {
                self.lags.store(false, Ordering::Relaxed);
                return Ok(true);
            }
            let ends_late = Instant::now() + 2 * CHECK_INTERVAL > deadline;
            if ends_late || self.lags.load(Ordering::Relaxed) {
                self.lags.store(true, Ordering::Relaxed);
                return Ok(false);
            }
            sleep(CHECK_INTERVAL).await;
        }
    }

    fn availability(&self) -> MutexGuard<'_, Availability> {
        self.availability.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leaves the replica out until a check in the background succeeds.
    fn fail<T>(self: &Arc<Self>) -> Outcome<T> {
        if self.availability().fail() {
            self.spawn_check();
        }
        Outcome::Unavailable
    }

    /// Opens a connection and checks the replica in the background, unless a check runs already.
    fn check_in_background(self: &Arc<Self>) {
        if self.availability().begin_check() {
            self.spawn_check();
        }
    }

    /// Spawns a task that opens a connection and checks the replica, until a check succeeds.
    fn spawn_check(self: &Arc<Self>) {
        let replica = Arc::clone(self);
        tokio::spawn(async move {
            let mut is_logged = false;
            while let Err(error) = replica.check().await {
                replica.availability().serves = false;
                if replica.pool.is_closed() {
                    return;
                }
                if !is_logged {
                    tracing::warn!(replica = replica.number, %error, "replica left out");
                    is_logged = true;
                }
                sleep(RETRY_INTERVAL).await;
            }
            if replica.availability().succeed() {
                tracing::info!(replica = replica.number, "replica serves reads");
            }
        });
    }

    /// Checks that the replica responds and belongs to the primary.
    async fn check(&self) -> BoardResult<()> {
        let Ok(database) = timeout(CHECK_TIMEOUT, identify(&self.pool)).await else {
            self.pool.retain(|_, _| false);
            return Err(BackendError::new("the replica does not respond").into());
        };
        let (identifier, is_in_recovery) = database?;
        if identifier != self.identifier || !is_in_recovery {
            let reason =
                "the server is not a replica of the database, or the URL names another database";
            return Err(BackendError::new(reason).into());
        }
        Ok(())
    }
}

/// Returns the identifier of a database, and `true` if the server is a replica.
async fn identify(pool: &Pool) -> BackendResult<(String, bool)> {
    let client = pool.get().await?;
    let row = client.query_one(IDENTIFIER, &[]).await?;
    Ok((row.try_get("identifier")?, row.try_get("is_in_recovery")?))
}

/// Parses the URLs of replicas, and returns a pool of up to `size` connections for each.
///
/// # Errors
/// If a URL is malformed, or does not name exactly one host.
pub fn replica_pools(urls: &[String], size: usize) -> BoardResult<Vec<Pool>> {
    let open = |url: &String| {
        let pool = tokio_postgres_0_7::connect(url, size)?;
        if hosts(url).count() != 1 {
            return Err(BoardError::validation(
                "database-replica",
                "a URL of --database-replica has one host; repeat the option for each replica",
            ));
        }
        Ok(pool)
    };
    urls.iter().map(open).collect()
}

/// Returns the hosts that a URL names before its path and in its parameters, as they are written there.
pub fn hosts(url: &str) -> impl Iterator<Item = &str> {
    let (address, _) = address_and_parameters(url);
    let lists = address.split('/').take(1).chain(parameters(url, "host"));
    lists.flat_map(|list| list.split(',')).filter(|host| !host.is_empty())
}

/// Returns the values of a parameter of a URL, as they are written there.
pub fn parameters<'a>(url: &'a str, name: &'static str) -> impl Iterator<Item = &'a str> {
    let (_, parameters) = address_and_parameters(url);
    let pairs = parameters.split('&').filter_map(|parameter| parameter.split_once('='));
    pairs.filter(move |(found, _)| *found == name).map(|(_, value)| value)
}

/// Splits a URL without its scheme and its credentials into the part before its parameters, and the parameters.
fn address_and_parameters(url: &str) -> (&str, &str) {
    let without_scheme = url.split_once("://").map_or("", |(_, rest)| rest);
    // A password can contain a question mark.
    let rest = without_scheme.split_once('@').map_or(without_scheme, |(_, rest)| rest);
    rest.split_once('?').unwrap_or((rest, ""))
}

#[cfg(test)]
mod tests {
    use deadpool_postgres::Manager;
    use tokio::io::AsyncWriteExt;
    use tokio::net::TcpListener;
    use tokio_postgres::NoTls;

    use super::*;

    /// Returns a pool of one connection to a server that begins sessions, but does not respond to statements.
    async fn silent_pool() -> Pool {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            let mut sessions = Vec::new();
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                // AuthenticationOk and ReadyForQuery.
                stream.write_all(b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I").await.unwrap();
                sessions.push(stream);
            }
        });
        let url = format!("postgres://forum@127.0.0.1:{port}/forum?sslmode=disable");
        let manager = Manager::new(url.parse().unwrap(), NoTls);
        Pool::builder(manager).max_size(1).build().unwrap()
    }

    fn new_replica(pool: Pool, serves: bool) -> Arc<Replica> {
        Arc::new(Replica {
            searches: share(&pool, 4),
            pool,
            number: 1,
            identifier: String::new(),
            availability: Mutex::new(Availability { serves, is_checking: false }),
            lags: AtomicBool::new(false),
        })
    }

    fn position() -> LogPosition {
        "000000010000000000000001 0/1".parse().unwrap()
    }

    fn boxed(query: impl Query<()> + 'static) -> Box<dyn Query<()>> {
        Box::new(query)
    }

    fn query() -> Box<dyn Query<()>> {
        boxed(|_| Box::pin(async { Ok(()) }))
    }

    #[tokio::test]
    async fn each_read_tries_all_replicas() {
        let pool = silent_pool().await;
        let replicas = Replicas {
            replicas: vec![new_replica(pool.clone(), false), new_replica(pool, false)],
            next: Arc::default(),
        };
        for _ in 0..3 {
            let mut tried = 0;
            let count = || {
                tried += 1;
                query()
            };
            let read = replicas.read(position(), ReadKind::One, None, count).await;
            assert!(read.is_none());
            assert_eq!(tried, 2);
        }
    }

    #[tokio::test]
    async fn a_replica_that_does_not_respond_is_checked() {
        let pool = silent_pool().await;
        drop(pool.get().await.unwrap());
        let replica = new_replica(pool, true);
        let deadline = Instant::now() + WAIT_TIMEOUT;
        let outcome = replica.read(position(), deadline, ReadKind::One, None, query()).await;
        assert!(matches!(outcome, Outcome::Unavailable));
        assert!(replica.availability().is_checking);
    }

    /// The check would wait for a connection as well, and leave the replica out.
    #[tokio::test]
    async fn a_replica_whose_connections_are_busy_is_not_checked() {
        let pool = silent_pool().await;
        let _busy = pool.get().await.unwrap();
        let replica = new_replica(pool, true);
        let deadline = Instant::now() + WAIT_TIMEOUT;
        let outcome = replica.read(position(), deadline, ReadKind::One, None, query()).await;
        assert!(matches!(outcome, Outcome::Unavailable));
        assert!(!replica.availability().is_checking);
    }

    #[test]
    fn a_position_has_the_timeline_of_its_file() {
        let LogPosition { timeline, lsn } = "0000001F00000002000000AB 2/AB00001".parse().unwrap();
        assert_eq!((timeline, u64::from(lsn)), (31, 0x2_0AB0_0001));
        for invalid in ["", "0000001F", "0000001F 0", "000001F 2/0", "0000001G 2/0"] {
            assert!(invalid.parse::<LogPosition>().is_err(), "{invalid}");
        }
    }

    /// Reads that began before a failure can fail at any time after it.
    #[test]
    fn a_replica_that_serves_no_reads_is_being_checked() {
        let mut availability = Availability::default();
        assert!(availability.begin_check());
        assert!(!availability.fail(), "the check that runs is repeated until it succeeds");
        assert!(availability.succeed());
        assert!(availability.serves);
        assert!(availability.fail(), "the check has ended");
        assert!(!availability.serves);
        assert!(availability.succeed());
        // A check that opens a further connection does not leave the replica out.
        assert!(availability.begin_check());
        assert!(availability.serves && !availability.begin_check());
        assert!(!availability.succeed());
    }
}
