//! Checks of a driver of Postgres: the rules for stores, failures of connections, and errors without values.
//!
//! A check is a future that panics. Each uses a new schema of the Postgres at `FORUM_API_POSTGRES`.

use std::error::Error as StdError;
use std::fmt::Debug;
use std::future::Future;
use std::io::Write;
use std::iter::successors;
use std::net::TcpListener;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

use forum_api::Environment;
use forum_api::async_trait;
use forum_api::conformance::FixtureResult;
use forum_api::conformance::stores::{StoreFactory, run_all};
use forum_api::host::{
    Access, Authorizer, BackendResult, Board, BoardError, BoardResult, Caller, OverloadedError,
    RequestInfo, ResourceRef, VisibleForums,
};
use forum_api::model::{EventId, Forum, ForumId, Page, UserId};
use forum_api::runtime::{Clock, SystemClock};
use forum_api::scope::Scope;
use forum_api::store::postgres::{
    Columns, LeaseClock, Parameter, PostgresDriver, check_session, migrate, schema_status,
};
use forum_api::store::{
    IdempotencyNamespace, IdempotentRequest, SchemaStatus, Stores, WebhookStores,
};
use forum_api::test_util::TestApi;
use forum_api::token::{Lookup, TokenRecord, TokenRequest};
use forum_api::webhook::{Event, Topic};
use serde_json::json;
use tokio::task::JoinSet;
use tracing_subscriber::filter::LevelFilter;

/// Content that no log and no error may show.
pub const MARK: &str = "marked-content-42";

/// What the driver writes to the log, and the library.
static LOG: LazyLock<Mutex<Vec<u8>>> = LazyLock::new(Mutex::default);

/// Number of connections of a pool.
const SIZE: u32 = 4;

/// A pool of a host, and what the guide shows for it.
#[async_trait]
pub trait Host: Clone + Send + Sync + 'static {
    type Driver: PostgresDriver + Clone;

    /// `false` if a command replaces a lost connection, or cannot distinguish its loss from an error of the `COMMIT`.
    const REPORTS_LOST_CONNECTION: bool = true;

    /// Creates a pool of up to `size` connections, which are opened when they are needed.
    fn open(url: &str, size: u32) -> Self;

    /// Returns the driver of the stores.
    fn driver(&self) -> Self::Driver;

    /// Creates the library's tables as the migrations of the host do.
    async fn run_migrations(&self);

    /// Writes a post and its event in one transaction.
    async fn create_post(&self, body: &str, event: &Event) -> BoardResult<()>;

    /// Finds a token with a query of the host.
    async fn find_token(&self, lookup: &Lookup) -> Option<TokenRecord>;
}

/// Runs all checks.
pub async fn check<H: Host>(name: &str) {
    tracing_subscriber::fmt()
        .with_ansi(false)
        .with_max_level(LevelFilter::INFO)
        .with_writer(|| LogWriter)
        .try_init()
        .ok();
    let report = run_all(&Schemas::<H>::new()).await;
    assert_eq!(report.failed().count(), 0, "{report}");
    let [passed, skipped] = [report.passed().count(), report.skipped().count()];
    println!("{name}: {passed} rules passed, {skipped} skipped");
    migrations_run_once::<H>().await;
    an_unreachable_server_is_an_error::<H>().await;
    a_full_pool_is_an_error::<H>().await;
    broken_connections_are_replaced::<H>().await;
    connections_that_refuse_writes_are_replaced::<H>().await;
    statements_are_prepared_again_after_a_change_of_a_column::<H>().await;
    a_reservation_that_is_cut_off_did_not_run::<H>().await;
    errors_have_no_values::<H>().await;
    a_command_writes_its_event::<H>().await;
    if H::REPORTS_LOST_CONNECTION {
        a_command_that_cannot_begin_did_not_run::<H>().await;
    }
    a_token_is_found::<H>().await;
    println!("{name}: checks of failures, errors and commands passed");
}

struct LogWriter;

impl Write for LogWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        LOG.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Creates schemas and drivers whose connections use them.
struct Schemas<H: Host> {
    server: String,
    admin: H::Driver,
}

impl<H: Host> Schemas<H> {
    fn new() -> Self {
        let server = std::env::var("FORUM_API_POSTGRES").expect("FORUM_API_POSTGRES is set");
        let admin = H::open(&server, 2).driver();
        Self { server, admin }
    }

    async fn url(&self) -> String {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("driver_{}_{number}", std::process::id());
        self.run(&format!("CREATE SCHEMA {name}")).await;
        let server = &self.server;
        format!("{server}?application_name={name}&options=-csearch_path%3D{name}")
    }

    /// Returns a pool for empty tables, and its URL.
    async fn tables(&self, size: u32) -> (H, String) {
        let url = self.url().await;
        let host = H::open(&url, size);
        migrate(&host.driver()).await.unwrap();
        (host, url)
    }

    async fn run(&self, sql: &str) -> u64 {
        self.admin.execute(sql, &[]).await.unwrap()
    }

    /// Terminates the connections for which a condition of `pg_stat_activity` is true. Returns their number.
    async fn terminate(&self, condition: &str) -> u64 {
        self.run(&format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {condition}"
        ))
        .await
    }
}

#[async_trait]
impl<H: Host> StoreFactory for Schemas<H> {
    async fn create(&self) -> FixtureResult<(Stores, WebhookStores)> {
        let driver = self.tables(16).await.0.driver();
        let stores = Stores::in_postgres_with(&driver, LeaseClock::Caller);
        Ok((stores, WebhookStores::in_postgres_with(&driver, LeaseClock::Caller)))
    }
}

fn lookup() -> Lookup {
    Lookup::parse("0000000000000001").unwrap()
}

/// Returns an error and its sources as texts.
fn texts(error: &(dyn StdError + 'static)) -> Vec<String> {
    let sources = successors(Some(error), |&error| error.source());
    sources.flat_map(|error| [error.to_string(), format!("{error:?}")]).collect()
}

fn is_overloaded(error: &(dyn StdError + 'static)) -> bool {
    successors(Some(error), |&error| error.source()).any(|error| error.is::<OverloadedError>())
}

/// Returns the text of an error after which the client may repeat the request.
fn assert_overloaded<T: Debug>(result: Result<T, impl StdError + 'static>) -> String {
    let error = result.unwrap_err();
    assert!(is_overloaded(&error), "{error}");
    error.to_string()
}

/// Looks a token up until it succeeds. Returns the number of failures, after which the client may repeat the request.
async fn failures_of_look_up(stores: &Stores) -> u32 {
    for count in 0..=SIZE {
        match stores.tokens.find(&lookup()).await {
            Ok(token) => {
                assert_eq!(token, None);
                return count;
            }
            Err(error) => assert!(is_overloaded(&error), "{error}"),
        }
    }
    panic!("the connections are not replaced");
}

async fn migrations_run_once<H: Host>() {
    let schemas = Schemas::<H>::new();
    let [own, other] = [schemas.url().await, schemas.url().await];
    let mut nodes = JoinSet::new();
    for _ in 0..3 {
        let driver = H::open(&own, 1).driver();
        nodes.spawn(async move { migrate(&driver).await.unwrap() });
    }
    nodes.join_all().await;
    let driver = H::open(&own, 1).driver();
    assert_eq!(schema_status(&driver).await.unwrap(), SchemaStatus::UpToDate);

    let host = H::open(&other, SIZE);
    let driver = host.driver();
    assert_eq!(schema_status(&driver).await.unwrap(), SchemaStatus::Pending);
    for _ in 0..2 {
        host.run_migrations().await;
        assert_eq!(schema_status(&driver).await.unwrap(), SchemaStatus::UpToDate);
    }
    let serializable = format!("{own}%20-cdefault_transaction_isolation%3Dserializable");
    let error = check_session(&H::open(&serializable, 1).driver()).await.unwrap_err();
    assert!(error.to_string().contains("isolation level"), "{error}");
}

async fn an_unreachable_server_is_an_error<H: Host>() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let driver = H::open(&format!("postgres://forum:secret@{address}/forum"), 2).driver();
    let found = Stores::in_postgres(&driver).tokens.find(&lookup()).await;
    let text = assert_overloaded(found);
    assert!(!text.contains("secret"), "{text}");
}

async fn a_full_pool_is_an_error<H: Host>() {
    let schemas = Schemas::<H>::new();
    let (host, url) = schemas.tables(1).await;
    let driver = host.driver();
    let busy = driver.clone();
    let sleep = tokio::spawn(async move { busy.execute("SELECT pg_sleep(60)", &[]).await });
    let name = name_of(&url);
    let is_busy = format!(
        "application_name = '{name}' AND query LIKE 'SELECT pg_sleep%' AND state = 'active'"
    );
    while schemas.run(&format!("SELECT FROM pg_stat_activity WHERE {is_busy}")).await == 0 {
        tokio::task::yield_now().await;
    }
    let found = Stores::in_postgres(&driver).tokens.find(&lookup()).await;
    assert_overloaded(found);
    schemas.terminate(&is_busy).await;
    sleep.await.unwrap().unwrap_err();
}

/// Returns the name of the schema of a URL.
fn name_of(url: &str) -> &str {
    url.rsplit_once("%3D").unwrap().1
}

async fn broken_connections_are_replaced<H: Host>() {
    let schemas = Schemas::<H>::new();
    let (host, url) = schemas.tables(SIZE).await;
    let driver = host.driver();
    let stores = Stores::in_postgres(&driver);
    let mut each = JoinSet::new();
    for _ in 0..8 {
        let stores = stores.clone();
        each.spawn(async move { stores.tokens.find(&lookup()).await.unwrap() });
    }
    each.join_all().await;
    let terminated = schemas.terminate(&format!("application_name = '{}'", name_of(&url))).await;
    assert!(terminated > 0);
    assert!(u64::from(failures_of_look_up(&stores).await) <= terminated);
}

async fn connections_that_refuse_writes_are_replaced<H: Host>() {
    let schemas = Schemas::<H>::new();
    let (host, _) = schemas.tables(1).await;
    let driver = host.driver();
    driver.execute("SET default_transaction_read_only = on", &[]).await.unwrap();
    let tokens = Stores::in_postgres(&driver).tokens;
    let used = tokens.record_use(&lookup(), SystemClock.now()).await;
    let text = assert_overloaded(used);
    assert!(text.contains("25006"), "{text}");
    tokens.record_use(&lookup(), SystemClock.now()).await.unwrap();
}

async fn statements_are_prepared_again_after_a_change_of_a_column<H: Host>() {
    let schemas = Schemas::<H>::new();
    let (host, url) = schemas.tables(1).await;
    let driver = host.driver();
    let stores = Stores::in_postgres(&driver);
    assert_eq!(failures_of_look_up(&stores).await, 0);
    let change = "ALTER TABLE forum_api_tokens ALTER COLUMN label TYPE VARCHAR";
    H::open(&url, 1).driver().execute(change, &[]).await.unwrap();
    assert_eq!(failures_of_look_up(&stores).await, 1);
}

async fn a_reservation_that_is_cut_off_did_not_run<H: Host>() {
    let schemas = Schemas::<H>::new();
    let (host, url) = schemas.tables(SIZE).await;
    let driver = host.driver();
    let other = driver.clone();
    // The statement holds the lock of the key until it is terminated.
    let hold = "
        INSERT INTO forum_api_idempotency_keys (namespace, key, request, began_at)
        SELECT '0000000000000001', 'key', '', 0 FROM (VALUES (1), (2)) AS rows (number)
        WHERE number = 1 OR pg_sleep(60) IS NULL";
    let holder = tokio::spawn(async move { other.execute(hold, &[]).await });
    let name = name_of(&url);
    let of = |event: &str| format!("application_name = '{name}' AND wait_event_type = '{event}'");
    while schemas.run(&format!("SELECT FROM pg_stat_activity WHERE {}", of("Timeout"))).await == 0 {
        tokio::task::yield_now().await;
    }
    let store = Stores::in_postgres(&driver).idempotency;
    let request = IdempotentRequest {
        namespace: IdempotencyNamespace::Token(lookup()),
        key: "key".into(),
        fingerprint: [0; 32],
    };
    let reservation = tokio::spawn(async move { store.begin(&request, SystemClock.now()).await });
    while schemas.terminate(&of("Lock")).await == 0 {
        tokio::task::yield_now().await;
    }
    assert_overloaded(reservation.await.unwrap());
    schemas.terminate(&of("Timeout")).await;
    holder.await.unwrap().unwrap_err();
}

/// A board whose list of forums is a command that fails.
struct FailingBoard {
    command: Box<dyn Fn() -> Pin<Box<dyn Future<Output = BoardResult<()>> + Send>> + Send + Sync>,
}

#[async_trait]
impl Authorizer for FailingBoard {
    async fn guest_access(&self, _: &RequestInfo) -> BackendResult<Access> {
        Ok(Access::new(VisibleForums::all()))
    }

    async fn member_access(&self, _: &UserId, _: &RequestInfo) -> BackendResult<Option<Access>> {
        Ok(None)
    }
}

#[async_trait]
impl Board for FailingBoard {
    async fn containing_forum(&self, _: &Caller, _: ResourceRef<'_>) -> BoardResult<ForumId> {
        Err(BoardError::NotImplemented)
    }

    async fn list_forums(&self, _: &Caller) -> BoardResult<Page<Forum>> {
        (self.command)().await?;
        Ok(Page::from(Vec::new()))
    }
}

/// Statements whose errors, in Postgres or in the driver, quote the mark.
fn failing_statements() -> [(String, Vec<Parameter>); 5] {
    let marked = || vec![Parameter::Text(Some(MARK.into()))];
    [
        ("SELECT CAST($1::TEXT AS BIGINT) AS number".into(), marked()),
        ("SELECT $1::TEXT AS number".into(), marked()),
        ("INSERT INTO post (body) VALUES ($1), ($1)".into(), marked()),
        (format!("DO $$ BEGIN RAISE EXCEPTION '{MARK}'; END $$"), Vec::new()),
        (
            format!("DO $$ BEGIN RAISE unique_violation USING MESSAGE = '{MARK}'; END $$"),
            Vec::new(),
        ),
    ]
}

async fn errors_have_no_values<H: Host>() {
    let schemas = Schemas::<H>::new();
    let (host, _) = schemas.tables(SIZE).await;
    let driver = host.driver();
    let create = format!(
        "CREATE TABLE post (body TEXT UNIQUE CHECK (CAST(body AS TEXT) <> '{MARK}-refused'))"
    );
    driver.execute(&create, &[]).await.unwrap();
    for (sql, parameters) in failing_statements() {
        let mut read = |row: &dyn Columns| row.integer("number").map(drop);
        let error = driver.query(&sql, &parameters, &mut read).await.unwrap_err();
        let texts = texts(&error);
        assert!(!texts.concat().contains(MARK), "{sql}: {texts:?}");
    }
    // The text of the check, and the row, are in the error of Postgres.
    let command = move || -> Pin<Box<dyn Future<Output = BoardResult<()>> + Send>> {
        let host = host.clone();
        Box::pin(
            async move { host.create_post(&format!("{MARK}-refused"), &event("refused")).await },
        )
    };
    LOG.lock().unwrap().clear();
    let api = TestApi::new(Arc::new(FailingBoard { command: Box::new(command) }));
    let response = api.as_guest().get("/forums").await;
    assert_eq!(response.status, 500);
    let log = String::from_utf8(LOG.lock().unwrap().clone()).unwrap();
    assert!(log.contains("internal error"), "{log}");
    assert!(!log.contains(MARK), "{log}");
}

fn event(id: &str) -> Event {
    let now = SystemClock.now();
    let meta = RequestInfo::background(now).event(now).unwrap();
    let mut event = Event::new(Topic::from_static("post.greeted"), meta, None, &json!({}));
    event.id = EventId::parse(id).unwrap();
    event
}

async fn a_command_writes_its_event<H: Host>() {
    let schemas = Schemas::<H>::new();
    let (host, _) = schemas.tables(SIZE).await;
    let driver = host.driver();
    driver.execute("CREATE TABLE post (body TEXT)", &[]).await.unwrap();
    host.create_post("Hello", &event("first")).await.unwrap();
    let webhooks = WebhookStores::in_postgres(&driver);
    let pending = webhooks.pending_events(9).await.unwrap();
    assert_eq!(pending.len(), 1);
    let mut refused = event("second");
    refused.body = "no object".into();
    host.create_post("Bye", &refused).await.unwrap_err();
    let posts = driver.execute("SELECT FROM post", &[]).await.unwrap();
    assert_eq!(posts, 1, "the transaction of a refused event is rolled back");
    assert_eq!(webhooks.pending_events(9).await.unwrap(), pending);
}

async fn a_command_that_cannot_begin_did_not_run<H: Host>() {
    let schemas = Schemas::<H>::new();
    let (host, url) = schemas.tables(1).await;
    host.driver().execute("CREATE TABLE post (body TEXT)", &[]).await.unwrap();
    let is_own = format!("application_name = '{}'", name_of(&url));
    // The connection was used a moment ago, so that the pool does not check it.
    assert_eq!(schemas.terminate(&is_own).await, 1);
    while schemas.run(&format!("SELECT FROM pg_stat_activity WHERE {is_own}")).await > 0 {
        tokio::task::yield_now().await;
    }
    assert_overloaded(host.create_post("Hello", &event("first")).await);
}

async fn a_token_is_found<H: Host>() {
    let schemas = Schemas::<H>::new();
    let (host, _) = schemas.tables(SIZE).await;
    let driver = host.driver();
    let stores = Stores::in_postgres(&driver);
    let owner = UserId::from(7);
    let request = TokenRequest::new(&owner, &[Scope::POSTS_READ]);
    let (_, token) = Environment::default().issue_token(&stores, request).await.unwrap();
    assert_eq!(host.find_token(&lookup()).await, None);
    assert_eq!(host.find_token(&token.lookup).await, Some(token));
}
