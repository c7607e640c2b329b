//! Interface to a driver of Postgres.

use std::sync::Arc;

use async_trait::async_trait;

use super::PostgresError;
use crate::driver_error::ColumnError;
use crate::store::sql::{Columns, Value};

/// Runs the statements of the stores on connections to Postgres, for example on the pool of the host.
///
/// Each call is one statement in its own transaction at the isolation level `READ COMMITTED`. The placeholders of a
/// statement are `$1`, `$2` and so on. The texts are few and constant, so that the driver should keep them prepared.
/// The library may drop a future before it completes, after which the statement may or may not take effect. The driver
/// closes a connection after an error for which
/// [`DatabaseError::needs_new_connection`](super::DatabaseError::needs_new_connection) returns `true`.
///
/// The feature `tokio-postgres-0_7` implements the trait for a pool of `deadpool-postgres`. The chapter
/// [`stores`](crate::guide::stores) of the guide has implementations for sqlx, sea-orm and diesel-async. The rules for stores
/// of the suite [`conformance`](crate::conformance) check an implementation.
///
/// # Errors
/// Each method returns one of these errors, which determine the response of the API and the log:
///
/// | case | error |
/// |---|---|
/// | the statement was not sent: no connection, none free in time | [`PostgresError::not_run`] |
/// | Postgres reports an error | [`PostgresError::reported`] |
/// | the connection breaks, or does not respond, after the statement was sent | [`PostgresError::disconnected`] |
#[async_trait]
pub trait PostgresDriver: Send + Sync + 'static {
    /// Runs a statement, and calls `read` for each row of its result, in order.
    ///
    /// # Errors
    /// As described [above](Self#errors). An error of `read` is returned as it is (with `?`).
    async fn query(
        &self,
        sql: &str,
        parameters: &[Parameter],
        read: RowReader<'_>,
    ) -> Result<(), PostgresError>;

    /// Runs a statement without a result. Returns the number of rows that it inserted, changed or deleted.
    ///
    /// # Errors
    /// As described [above](Self#errors).
    async fn execute(&self, sql: &str, parameters: &[Parameter]) -> Result<u64, PostgresError>;

    /// Returns the maximum number of connections of the pool, or `None` if it is not limited or not known.
    ///
    /// A commit can wait without a limit, for example for a lost synchronous standby. So that reads continue, changes
    /// whose commits can wait occupy at most a quarter of the connections in `Stores`, and an eighth in
    /// `WebhookStores`, but at least one in each. A change that waits longer than 10 s for such a connection fails with
    /// [`PostgresError::not_run`]. With `None`, the default, changes can use all connections. Each call of `in_postgres` has a
    /// limit of its own.
    fn max_connections(&self) -> Option<usize> {
        None
    }
}

/// Function that a [`PostgresDriver`] calls for each row.
pub type RowReader<'a> = &'a mut (dyn FnMut(&dyn Columns) -> Result<(), ColumnError> + Send);

/// Value of a parameter, with its type. `None` is null, also as an element of an array.
///
/// Each variant has one type of Postgres. A driver that prepares a statement with the types of its parameters uses this
/// type, also for null.
///
/// The enum is exhaustive, because a driver binds each type. `Debug` prints only the type, because the value can be content
/// of a member.
#[derive(Clone, PartialEq, Eq)]
pub enum Parameter {
    /// A `BIGINT`.
    Integer(Option<i64>),
    /// A `BOOLEAN`.
    Boolean(Option<bool>),
    /// A `TEXT`.
    Text(Option<String>),
    /// A `BYTEA`.
    Bytes(Option<Vec<u8>>),
    /// A `BIGINT[]`.
    Integers(Vec<Option<i64>>),
    /// A `BOOLEAN[]`.
    Booleans(Vec<Option<bool>>),
    /// A `TEXT[]`.
    Texts(Vec<Option<String>>),
    /// A `BYTEA[]`.
    ByteStrings(Vec<Option<Vec<u8>>>),
}

impl Parameter {
    pub(super) fn integers<T: Into<i64>>(values: impl IntoIterator<Item = T>) -> Self {
        Self::Integers(values.into_iter().map(|value| Some(value.into())).collect())
    }

    pub(super) fn texts<T: ToString>(values: impl IntoIterator<Item = T>) -> Self {
        Self::Texts(values.into_iter().map(|value| Some(value.to_string())).collect())
    }

    pub(super) fn booleans(values: impl IntoIterator<Item = bool>) -> Self {
        Self::Booleans(values.into_iter().map(Some).collect())
    }

    const fn type_name(&self) -> &'static str {
        match self {
            Self::Integer(_) => "Integer",
            Self::Boolean(_) => "Boolean",
            Self::Text(_) => "Text",
            Self::Bytes(_) => "Bytes",
            Self::Integers(_) => "Integers",
            Self::Booleans(_) => "Booleans",
            Self::Texts(_) => "Texts",
            Self::ByteStrings(_) => "ByteStrings",
        }
    }
}

impl std::fmt::Debug for Parameter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple(self.type_name()).finish_non_exhaustive()
    }
}

impl<T: Into<Value>> From<T> for Parameter {
    fn from(value: T) -> Self {
        match value.into() {
            Value::Integer(number) => Self::Integer(number),
            Value::Boolean(value) => Self::Boolean(value),
            Value::Text(text) => Self::Text(text),
            Value::Bytes(bytes) => Self::Bytes(bytes),
        }
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<T: PostgresDriver + ?Sized> PostgresDriver for Arc<T> {
    async fn query(
        &self,
        sql: &str,
        parameters: &[Parameter],
        read: RowReader<'_>,
    ) -> Result<(), PostgresError> {
        (**self).query(sql, parameters, read).await
    }

    async fn execute(&self, sql: &str, parameters: &[Parameter]) -> Result<u64, PostgresError> {
        (**self).execute(sql, parameters).await
    }

    fn max_connections(&self) -> Option<usize> {
        (**self).max_connections()
    }
}
