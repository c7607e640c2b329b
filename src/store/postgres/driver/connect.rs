//! The way to the database.

use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use tokio_postgres::{Config, NoTls};

use super::PostgresError;
use crate::store::SchemaStatus;
use crate::store::postgres::{MIGRATE, schema};

/// How long a connection is waited for: until one is free, and until a new one is made.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long what was sent may stay unacknowledged, and a connection silent before it is asked whether it is there.
const SILENCE: Duration = Duration::from_secs(10);

/// How long a statement may take, and how long a transaction waits for the next one: a node that is gone, or stands
/// still, does not keep for ever what it has locked.
const BOUNDS: &str = "-c statement_timeout=10s -c idle_in_transaction_session_timeout=20s";

/// A pool of up to `size` connections to the database at `address`, as
/// `postgres://user:password@host/database`. They are made when they are first needed, so that it does not fail while
/// Postgres is away.
///
/// Nothing takes for ever: a connection is waited for during 5 s at most, a statement takes 10 s at most, a
/// transaction waits for its next statement for 20 s at most, and a server that is not there any more is noticed within
/// 25 s. What the address says itself about any of it goes first:
/// `connect_timeout`, `tcp_user_timeout`, `keepalives_interval`, `keepalives_retries`, and, in `options`,
/// `-c statement_timeout` and `-c idle_in_transaction_session_timeout`.
///
/// A node needs some ten to twenty, beside what the board itself needs; all nodes together stay below the server's
/// `max_connections`. There is no TLS: across a network that is not your own make the pool yourself, with a connector
/// for TLS, and take this one's settings from its source. A connection that broke is noticed when it is next taken, and
/// replaced (`RecyclingMethod::Fast`), so that a statement can fail only if its connection breaks while it runs.
///
/// # Errors
/// When the address is none.
pub fn connect(address: &str, size: usize) -> Result<Pool, PostgresError> {
    let manager = Manager::from_config(
        config(address)?,
        NoTls,
        ManagerConfig {
            recycling_method: RecyclingMethod::Fast,
        },
    );
    let pool = Pool::builder(manager)
        .max_size(size)
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(PATIENCE))
        .create_timeout(Some(PATIENCE))
        .build();
    pool.map_err(PostgresError::unusable)
}

/// What the address says, and beside it what bounds each wait.
fn config(address: &str) -> Result<Config, PostgresError> {
    let mut config: Config = address.parse()?;
    let options = config.get_options().unwrap_or_default();
    let options = format!("{BOUNDS} {options}");
    config.options(options).keepalives_idle(SILENCE);
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(PATIENCE);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(SILENCE);
    }
    if config.get_keepalives_interval().is_none() {
        config.keepalives_interval(PATIENCE);
    }
    if config.get_keepalives_retries().is_none() {
        config.keepalives_retries(3);
    }
    if config.get_application_name().is_none() {
        config.application_name("forum-api");
    }
    Ok(config)
}

/// Creates the library's tables, or migrates them: [`MIGRATE`], without a time limit for the statement.
///
/// # Errors
/// When Postgres cannot be reached, a migration fails, or a newer program migrated the tables
/// ([`SchemaStatus::Newer`]).
pub async fn migrate(pool: &Pool) -> Result<(), PostgresError> {
    let mut client = pool.get().await?;
    let transaction = client.transaction().await?;
    transaction
        .batch_execute("SET LOCAL statement_timeout = 0")
        .await?;
    transaction.batch_execute(MIGRATE).await?;
    Ok(transaction.commit().await?)
}

/// Checks that the database can be written to: changes the library's table of migrations, and rolls that back.
///
/// # Errors
/// When Postgres cannot be reached, the database is read-only or full, or the library's tables do not exist.
pub async fn check_writable(pool: &Pool) -> Result<(), PostgresError> {
    let mut client = pool.get().await?;
    let transaction = client.transaction().await?;
    transaction
        .batch_execute("UPDATE forum_api_migrations SET step = step")
        .await?;
    Ok(transaction.rollback().await?)
}

/// Compares the library's tables with those that [`migrate`] would create. Changes nothing.
///
/// # Errors
/// When Postgres cannot be reached.
pub async fn schema_status(pool: &Pool) -> Result<SchemaStatus, PostgresError> {
    let client = pool.get().await?;
    let exists = "SELECT to_regclass('forum_api_migrations') IS NOT NULL";
    if !client.query_one(exists, &[]).await?.try_get(0)? {
        return Ok(SchemaStatus::Pending);
    }
    let last = "SELECT coalesce(max(step), 0) FROM forum_api_migrations";
    let applied: i32 = client.query_one(last, &[]).await?.try_get(0)?;
    Ok(SchemaStatus::new(applied.unsigned_abs(), schema::LAST))
}
