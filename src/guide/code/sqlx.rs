//! The stores on a Postgres pool of sqlx 0.8 or 0.9, and commands in transactions of sqlx.

use std::borrow::Borrow;
use std::time::Duration;

use forum_api::async_trait;
use forum_api::host::BoardResult;
use forum_api::store::postgres::{
    ColumnError, Columns, DatabaseError, Parameter, PostgresDriver, PostgresError, RowReader,
    read_token,
};
use forum_api::token::{Lookup, TokenRecord};
use forum_api::webhook::Event;
use sqlx::pool::PoolConnection;
use sqlx::postgres::{
    PgArguments, PgConnection, PgDatabaseError, PgPool, PgPoolOptions, PgRow, PgSeverity,
};
use sqlx::{
    Arguments as _, Connection as _, Error, Postgres, QueryBuilder, Row as _, TypeInfo as _,
    ValueRef as _,
};

/// Returns the options of a pool that checks a connection before its use only if it was idle for 5 s. By default, sqlx sends
/// a ping before each use, which doubles the time of a statement, and waits up to 30 s for a connection. Set
/// `max_connections` to the connections of the board and 20 more: by default a pool has ten.
pub fn pool_options() -> PgPoolOptions {
    PgPoolOptions::new()
        .acquire_timeout(Duration::from_secs(5))
        .test_before_acquire(false)
        .before_acquire(|connection, usage| {
            Box::pin(async move {
                if usage.idle_for >= Duration::from_secs(5) {
                    connection.ping().await?;
                }
                Ok(true)
            })
        })
}

/// Runs the statements of the stores on a pool: `Stores::in_postgres(&SqlxDriver::new(pool))`.
#[derive(Clone)]
pub struct SqlxDriver {
    pool: PgPool,
}

impl SqlxDriver {
    pub fn new(pool: PgPool) -> Self {
        Self { pool }
    }
}

#[async_trait]
impl PostgresDriver for SqlxDriver {
    async fn query(
        &self,
        sql: &str,
        parameters: &[Parameter],
        read: RowReader<'_>,
    ) -> Result<(), PostgresError> {
        let mut statement = QueryBuilder::with_arguments(sql, arguments(parameters)?);
        let mut connection = self.pool.acquire().await.map_err(not_run)?;
        let rows = statement.build().fetch_all(&mut *connection).await;
        for row in &finish(connection, rows)? {
            read(&SqlxRow(row))?;
        }
        Ok(())
    }

    async fn execute(&self, sql: &str, parameters: &[Parameter]) -> Result<u64, PostgresError> {
        let mut statement = QueryBuilder::with_arguments(sql, arguments(parameters)?);
        let mut connection = self.pool.acquire().await.map_err(not_run)?;
        let done = statement.build().execute(&mut *connection).await;
        Ok(finish(connection, done)?.rows_affected())
    }

    fn max_connections(&self) -> Option<usize> {
        usize::try_from(self.pool.options().get_max_connections()).ok()
    }
}

fn arguments(parameters: &[Parameter]) -> Result<PgArguments, PostgresError> {
    let mut arguments = PgArguments::default();
    for parameter in parameters {
        let added = match parameter {
            Parameter::Integer(number) => arguments.add(number),
            Parameter::Boolean(value) => arguments.add(value),
            Parameter::Text(text) => arguments.add(text),
            Parameter::Bytes(bytes) => arguments.add(bytes),
            Parameter::Integers(numbers) => arguments.add(numbers),
            Parameter::Booleans(values) => arguments.add(values),
            Parameter::Texts(texts) => arguments.add(texts),
            Parameter::ByteStrings(strings) => arguments.add(strings),
        };
        // The text of the error can quote the value.
        added.map_err(|_| PostgresError::unusable("sqlx cannot encode a parameter"))?;
    }
    Ok(arguments)
}

/// Releases the connection of a statement, and returns the result.
fn finish<T>(
    connection: PoolConnection<Postgres>,
    done: Result<T, Error>,
) -> Result<T, PostgresError> {
    done.map_err(|error| {
        if database_error(&error).is_some_and(|error| error.needs_new_connection()) {
            drop(connection.detach());
        }
        without_values(error)
    })
}

/// Returns the error of a statement that was not sent, because no connection could be opened, or none was free in time.
fn not_run(error: Error) -> PostgresError {
    match database_error(&error) {
        Some(reported) => PostgresError::not_run(reported),
        // The other errors of a connection contain no values.
        None => PostgresError::not_run(error),
    }
}

/// Returns the error of a statement. Its text, which the log shows, has no values of parameters and rows. `?` converts the
/// result to an error of the board.
///
/// If no connection was free, the client gets a 503 and repeats the request. A command therefore loads the resource that it
/// returns before its `COMMIT`: a query that fails after it would make the client repeat a change that was made.
pub fn without_values(error: impl Borrow<Error>) -> PostgresError {
    let error = error.borrow();
    if let Some(reported) = database_error(error) {
        return PostgresError::reported(reported);
    }
    match error {
        Error::PoolTimedOut | Error::PoolClosed => PostgresError::not_run(error),
        Error::Io(_) | Error::Protocol(_) | Error::Tls(_) | Error::WorkerCrashed => {
            PostgresError::disconnected("the connection to Postgres failed")
        }
        // Names of columns and types are no values.
        Error::RowNotFound => PostgresError::unusable("the statement returned no row"),
        Error::ColumnNotFound(column) => {
            PostgresError::unusable(format!("the column {column} is missing"))
        }
        Error::ColumnDecode { index, .. } => {
            PostgresError::unusable(format!("sqlx cannot decode the column {index}"))
        }
        _ => PostgresError::unusable("sqlx cannot encode a parameter or decode a row"),
    }
}

fn database_error(error: &Error) -> Option<DatabaseError> {
    let error = error.as_database_error()?.try_downcast_ref::<PgDatabaseError>()?;
    let mut reported = DatabaseError::new(error.code(), error.message());
    reported.is_fatal = matches!(error.severity(), PgSeverity::Fatal | PgSeverity::Panic);
    reported.table = error.table().map(Into::into);
    reported.column = error.column().map(Into::into);
    reported.constraint = error.constraint().map(Into::into);
    reported.routine = error.routine().map(Into::into);
    Some(reported)
}

/// The columns of a row, for `read_token`.
pub struct SqlxRow<'a>(pub &'a PgRow);

impl SqlxRow<'_> {
    fn decode<'r, T>(&'r self, name: &str) -> Result<Option<T>, ColumnError>
    where
        T: sqlx::Decode<'r, Postgres> + sqlx::Type<Postgres>,
    {
        // The text of the error can quote a value.
        self.0.try_get(name).map_err(|_| ColumnError::new(name, "missing, or of another type"))
    }
}

impl Columns for SqlxRow<'_> {
    fn integer(&self, name: &str) -> Result<Option<i64>, ColumnError> {
        let column = self.0.try_get_raw(name).map_err(|_| ColumnError::new(name, "missing"))?;
        Ok(match column.type_info().name() {
            "INT2" => self.decode::<i16>(name)?.map(Into::into),
            "INT4" => self.decode::<i32>(name)?.map(Into::into),
            _ => self.decode(name)?,
        })
    }

    fn boolean(&self, name: &str) -> Result<Option<bool>, ColumnError> {
        self.decode(name)
    }

    fn text(&self, name: &str) -> Result<Option<&str>, ColumnError> {
        self.decode(name)
    }

    fn bytes(&self, name: &str) -> Result<Option<&[u8]>, ColumnError> {
        self.decode(name)
    }
}

/// Example: finds a token. `Authorizer::load_token` does the same with a query that also selects the permissions of the owner.
pub async fn find_token(
    pool: &PgPool,
    lookup: &Lookup,
) -> Result<Option<TokenRecord>, PostgresError> {
    let select = "
        SELECT lookup, digest, owner, label, scopes, created_at, expires_at, revoked_at, last_used_at
        FROM forum_api_tokens WHERE lookup = $1";
    let query = sqlx::query(select).bind(lookup.as_str());
    let row = query.fetch_optional(pool).await.map_err(without_values)?;
    Ok(row.map(|row| read_token(&SqlxRow(&row))).transpose()?)
}

/// Example: writes a post and its event in one transaction, which an error rolls back.
pub async fn create_post(pool: &PgPool, body: &str, event: &Event) -> BoardResult<()> {
    // Before the `COMMIT`, an error has no effect: if it is temporary, the client gets a 503 and repeats the request.
    let before_commit = |error: Error| without_values(error).without_effect();
    let mut transaction = pool.begin().await.map_err(before_commit)?;
    let insert = sqlx::query("INSERT INTO post (body) VALUES ($1)").bind(body);
    insert.execute(&mut *transaction).await.map_err(before_commit)?;
    insert_event(&mut transaction, event).await.map_err(PostgresError::without_effect)?;
    Ok(transaction.commit().await.map_err(without_values)?)
}

/// Inserts an event into the outbox.
pub async fn insert_event(
    connection: &mut PgConnection,
    event: &Event,
) -> Result<(), PostgresError> {
    let mut insert = sqlx::query(Event::INSERT_SQL);
    for text in event.insert_parameters() {
        insert = insert.bind(text);
    }
    insert.execute(connection).await.map_err(without_values)?;
    Ok(())
}
