//! The board and its transactions.

use std::fmt;
use std::future::ready;
use std::sync::Arc;

use deadpool_postgres::Pool;
use forum_api::Language;
use forum_api::audit::AuditEntry;
use forum_api::host::{BoardResult, MemberCaller, WebUrls};
use forum_api::model::Timestamp;
use forum_api::runtime::Clock;
use forum_api::store::SchemaStatus;
use forum_api::webhook::Event;
use futures_util::future::join3;

use super::access::actor::Actor;
use super::access::board_rules::BoardRulesCache;
use super::accounts::last_seen::LastSeenTimes;
use super::accounts::sessions::UseRecords;
use super::db::{
    BoardDatabase, LogPosition, Query, ReadKind, Replicas, Transaction, TransactionFuture, Writer,
};
use super::events::{Command, EventRecorder};
use super::locks::LockTarget;
use super::schema;
use super::settings;
use super::texts::Texts;

#[derive(Clone, Debug)]
pub struct ReferenceBoard {
    pub database: BoardDatabase,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) texts: &'static Texts,
    pub(super) last_seen: LastSeenTimes,
    pub(super) session_uses: UseRecords,
    pub(super) rules: BoardRulesCache,
    waker: WorkerWaker,
    web_urls: WebUrls,
    has_feed: bool,
}

#[derive(Clone)]
struct WorkerWaker(Arc<dyn Fn() + Send + Sync>);

impl fmt::Debug for WorkerWaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WorkerWaker")
    }
}

impl ReferenceBoard {
    /// The board in `database`, with error texts in `language`.
    pub fn new(
        database: impl Into<BoardDatabase>,
        clock: Arc<dyn Clock>,
        language: Language,
    ) -> Self {
        Self {
            database: database.into(),
            clock,
            texts: Texts::of(language),
            last_seen: LastSeenTimes::default(),
            session_uses: UseRecords::default(),
            rules: BoardRulesCache::default(),
            waker: WorkerWaker(Arc::new(|| ())),
            web_urls: WebUrls::default(),
            has_feed: false,
        }
    }

    /// Sets the function that the board calls after it has written events to the outbox. The function must return
    /// quickly.
    pub fn with_wake(self, wake: impl Fn() + Send + Sync + 'static) -> Self {
        let waker = WorkerWaker(Arc::new(wake));
        Self { waker, ..self }
    }

    /// Sets the URLs of the pages for people, which events have.
    pub fn with_web_urls(mut self, web_urls: &WebUrls) -> Self {
        self.web_urls = web_urls.clone();
        self
    }

    /// Writes all events of members' commands to the outbox, also while no webhook endpoint is enabled, for the feed.
    pub fn with_feed(self) -> Self {
        Self { has_feed: true, ..self }
    }

    /// Sets the replicas that serve reads. Without pools, the primary serves all reads.
    ///
    /// # Errors
    /// If the primary is unreachable.
    pub async fn with_replicas(mut self, pools: Vec<Pool>) -> BoardResult<Self> {
        if let BoardDatabase::Postgres(primary) = &mut self.database
            && !pools.is_empty()
        {
            primary.replicas = Replicas::of(&primary.pool, pools).await?;
        }
        Ok(self)
    }

    /// Returns the URL that [`record_base_url`](Self::record_base_url) last recorded; `None` if no server has recorded one.
    pub async fn base_url(&self) -> BoardResult<Option<String>> {
        self.read_short(|connection| Box::pin(settings::base_url(connection))).await
    }

    /// Records the public URL of a server for commands and workers. It is empty if the server listens on all addresses
    /// without `--base-url`.
    pub async fn record_base_url(&self, base_url: &str) -> BoardResult<()> {
        if self.base_url().await?.as_deref() == Some(base_url) {
            return Ok(());
        }
        let base_url = base_url.to_owned();
        self.write(move |tx, _| {
            Box::pin(async move { settings::set_base_url(tx, &base_url).await })
        })
        .await
    }

    /// Returns whether the database has a board already.
    pub async fn exists(&self) -> BoardResult<bool> {
        self.read_short(|connection| Box::pin(schema::exists(connection))).await
    }

    /// Compares the board's tables with those that this program needs.
    pub async fn schema_status(&self) -> BoardResult<SchemaStatus> {
        self.read_short(|connection| Box::pin(schema::status(connection))).await
    }

    /// Returns the names of the pending migrations of the library's and the board's tables.
    pub async fn pending_migrations(&self) -> BoardResult<Vec<String>> {
        self.read_snapshot(|connection| Box::pin(schema::pending(connection))).await
    }

    /// Applies the pending migrations to the board's tables.
    ///
    /// # Errors
    /// If the tables are of a newer version. Nothing is changed then.
    pub async fn migrate(&self) -> BoardResult<()> {
        if self.schema_status().await? == SchemaStatus::UpToDate {
            return Ok(());
        }
        self.database.write_without_timeout(|tx| Box::pin(schema::apply(tx))).await.map(drop)
    }

    /// Creates a board and fills it with `fill`, in one transaction. If the database has a board already, migrates its
    /// tables and returns `None`.
    pub async fn begin<T: Send + 'static>(
        &self,
        fill: impl for<'a> FnOnce(&'a Transaction<'a>, Timestamp) -> TransactionFuture<'a, T>
        + Clone
        + Send
        + 'static,
    ) -> BoardResult<Option<T>> {
        let clock = self.clock.clone();
        self.database
            .write_without_timeout(move |tx| {
                Box::pin(async move {
                    match schema::apply(tx).await? {
                        0 => fill(tx, clock.now()).await.map(Some),
                        _ => Ok(None),
                    }
                })
            })
            .await
    }

    /// Runs a query of one statement.
    pub async fn read<T: Send + 'static>(&self, query: impl Query<T> + 'static) -> BoardResult<T> {
        self.database.read(ReadKind::One, query).await
    }

    /// Runs a query of one statement, on a replica that has replayed the log to the position of the caller's access, or
    /// else on the primary.
    pub(super) async fn read_at<T: Send + 'static>(
        &self,
        position: Option<LogPosition>,
        query: impl Query<T> + Clone + 'static,
    ) -> BoardResult<T> {
        self.database.read_at(position, ReadKind::One, query).await
    }

    /// Runs a query of several statements, which see the same state of the database.
    pub async fn read_snapshot<T: Send + 'static>(
        &self,
        query: impl Query<T> + 'static,
    ) -> BoardResult<T> {
        self.database.read(ReadKind::Snapshot, query).await
    }

    /// Runs a query of one statement that looks up a key and takes well below a millisecond.
    pub async fn read_short<T: Send + 'static>(
        &self,
        query: impl Query<T> + 'static,
    ) -> BoardResult<T> {
        self.database.read(ReadKind::Short, query).await
    }

    /// Changes the board in one transaction; the events that `change` records go to the outbox with it. On Postgres
    /// `change` may run several times, each time in a new transaction.
    pub async fn write<T: Send + 'static>(
        &self,
        change: impl RecordedChange<T> + Clone + 'static,
    ) -> BoardResult<T> {
        self.write_by(Writer::Operator, change).await
    }

    /// Changes the board like [`write`](Self::write).
    async fn write_by<T: Send + 'static>(
        &self,
        by: Writer,
        change: impl RecordedChange<T> + Clone + 'static,
    ) -> BoardResult<T> {
        let (clock, web_urls) = (self.clock.clone(), self.web_urls.clone());
        let (done, events): (T, Vec<Event>) = self
            .database
            .write(by, move |tx| {
                Box::pin(async move {
                    let mut events = EventRecorder::at(clock.now(), web_urls);
                    let done = change(tx, &mut events).await?;
                    Ok((done, events.commit(tx).await?))
                })
            })
            .await?;
        for event in &events {
            tracing::debug!(id = %event.id, topic = %event.topic, "event committed");
        }
        if !events.is_empty() {
            (self.waker.0)();
        }
        Ok(done)
    }

    /// Locks the rows of `target` and of `member`, and then changes the board like [`write`](Self::write).
    pub async fn write_locked<T: Send + 'static>(
        &self,
        target: LockTarget,
        member: i64,
        change: impl RecordedChange<T> + Clone + 'static,
    ) -> BoardResult<T> {
        let clock = self.clock.clone();
        self.write(move |tx, events| {
            Box::pin(async move {
                target.lock(tx, Some(member)).await?;
                events.now = clock.now();
                change(tx, events).await
            })
        })
        .await
    }

    /// Changes the board as [`write`](Self::write) does, for an operator, and writes `entry` to the audit log in the same
    /// transaction.
    pub async fn write_audited<T: Send + 'static>(
        &self,
        entry: AuditEntry,
        change: impl RecordedChange<T> + Clone + 'static,
    ) -> BoardResult<T> {
        self.write_counted(entry, |_| 1, change).await
    }

    /// Changes the board like [`write_audited`](Self::write_audited). Writes no entry if `change` returns `false`,
    /// which means that the board is already in the requested state. Returns the result of `change`.
    pub async fn set_audited(
        &self,
        entry: AuditEntry,
        change: impl RecordedChange<bool> + Clone + 'static,
    ) -> BoardResult<bool> {
        self.write_counted(entry, |is_changed| u64::from(*is_changed), change).await
    }

    /// Changes the board like [`write_audited`](Self::write_audited). Adds the number of affected records, which `count`
    /// returns, to the entry in the log, and writes no entry for 0.
    pub async fn write_counted<T: Send + 'static>(
        &self,
        entry: AuditEntry,
        count: fn(&T) -> u64,
        change: impl RecordedChange<T> + Clone + 'static,
    ) -> BoardResult<T> {
        self.write(move |tx, events| {
            Box::pin(async move {
                let done = change(tx, events).await?;
                let affected = count(&done);
                if affected > 0 {
                    let parameters = entry.insert_parameters(affected);
                    tx.execute_texts(AuditEntry::INSERT_SQL, &parameters).await?;
                }
                Ok(done)
            })
        })
        .await
    }

    /// Changes the board for the member `by`. Locks the rows of `target` and of the member, and then loads the member's
    /// permissions in the same transaction.
    pub(super) async fn act<T: Send + 'static>(
        &self,
        by: &MemberCaller,
        target: LockTarget,
        command: impl for<'a> FnOnce(Command<'a>) -> TransactionFuture<'a, T> + Clone + Send + 'static,
    ) -> BoardResult<T> {
        self.act_on(by, target, load_nothing, move |arguments, ()| command(arguments)).await
    }

    /// Changes the board as [`act`](Self::act) does, with what `load` reads after the rows are locked. On Postgres the
    /// statements that lock and read are sent together. `load` gets the time before the wait for the locks.
    pub(super) async fn act_on<T: Send + 'static, L: Send + 'static>(
        &self,
        by: &MemberCaller,
        target: LockTarget,
        load: impl for<'a> FnOnce(&'a Transaction<'a>, Timestamp) -> TransactionFuture<'a, L>
        + Clone
        + Send
        + 'static,
        command: impl for<'a> FnOnce(Command<'a>, L) -> TransactionFuture<'a, T>
        + Clone
        + Send
        + 'static,
    ) -> BoardResult<T> {
        let member = by.user_id().to_i64()?;
        let request = by.request().clone();
        let texts = self.texts;
        let rules = self.rules.clone();
        let clock = self.clock.clone();
        let has_feed = self.has_feed;
        let writer = Writer::Member { thread: target.thread() };
        self.write_by(writer, move |tx, events| {
            Box::pin(async move {
                let (locked, actor, loaded) = join3(
                    target.lock(tx, Some(member)),
                    Actor::acting(tx, member, &rules, texts),
                    load(tx, clock.now()),
                )
                .await;
                locked?;
                let actor = actor?;
                let loaded = loaded?;
                events.now = clock.now();
                events.actor = actor.member;
                // The transaction may be repeated.
                request.discard_events();
                events.request = Some(request);
                events.has_readers = has_feed || actor.has_endpoints;
                command(Command { tx, events, actor: &actor, texts }, loaded).await
            })
        })
        .await
    }
}

fn load_nothing<'a>(_: &'a Transaction<'a>, _: Timestamp) -> TransactionFuture<'a, ()> {
    Box::pin(ready(Ok(())))
}

/// A change that records its events.
pub trait RecordedChange<T>:
    for<'a> FnOnce(&'a Transaction<'a>, &'a mut EventRecorder) -> TransactionFuture<'a, T> + Send
{
}

impl<T, F> RecordedChange<T> for F where
    F: for<'a> FnOnce(&'a Transaction<'a>, &'a mut EventRecorder) -> TransactionFuture<'a, T>
        + Send
{
}
