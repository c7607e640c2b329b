//! The stores on a Postgres pool of diesel-async, and commands in transactions of diesel-async.
//!
//! `diesel` needs the feature `i-implement-a-third-party-backend-and-opt-into-breaking-changes`, which diesel-async enables as
//! well: only with it does diesel keep a statement prepared whose placeholders are in its text.
//!
//! diesel does not report the code of an error, so that a timeout of Postgres in a command is a 500 instead of a 503.

use diesel::QueryResult;
use diesel::deserialize::{self, QueryableByName};
use diesel::pg::Pg;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::result::{DatabaseErrorKind, Error};
use diesel::row::{Field as _, NamedRow, Row};
use diesel::sql_types::{Array, BigInt, Binary, Bool, Nullable, Text, Untyped};
use diesel_async::pooled_connection::deadpool::{Object, Pool};
use diesel_async::{AsyncConnection as _, AsyncPgConnection, RunQueryDsl as _};
use std::time::Duration;
use tokio::time::timeout;

use forum_api::async_trait;
use forum_api::host::{BoardError, BoardResult};
use forum_api::store::postgres::{
    ColumnError, Columns, DatabaseError, Parameter, PostgresDriver, PostgresError, RowReader,
    read_token,
};
use forum_api::token::{Lookup, TokenRecord};
use forum_api::webhook::Event;

/// Limit of the wait for a free connection, or for a new one.
const WAIT_TIMEOUT: Duration = Duration::from_secs(5);

/// Runs the statements of the stores on a pool: `Stores::in_postgres(&DieselDriver::new(pool))`.
///
/// The recycling method `Fast` avoids a query before each use of a connection. A connection that Postgres closed while it was
/// idle then fails once.
#[derive(Clone)]
pub struct DieselDriver {
    pool: Pool<AsyncPgConnection>,
}

impl DieselDriver {
    pub fn new(pool: Pool<AsyncPgConnection>) -> Self {
        Self { pool }
    }

    async fn connection(&self) -> Result<Object<AsyncPgConnection>, PostgresError> {
        match timeout(WAIT_TIMEOUT, self.pool.get()).await {
            Ok(Ok(connection)) => Ok(connection),
            Ok(Err(_)) => Err(PostgresError::not_run("cannot connect to Postgres")),
            Err(_) => Err(PostgresError::not_run("timed out waiting for a Postgres connection")),
        }
    }
}

#[async_trait]
impl PostgresDriver for DieselDriver {
    async fn query(
        &self,
        sql: &str,
        parameters: &[Parameter],
        read: RowReader<'_>,
    ) -> Result<(), PostgresError> {
        let mut connection = self.connection().await?;
        let statement = Statement { sql, parameters };
        let rows = statement.load::<OwnedRow>(&mut *connection).await;
        for row in &finish(connection, rows)? {
            read(row)?;
        }
        Ok(())
    }

    async fn execute(&self, sql: &str, parameters: &[Parameter]) -> Result<u64, PostgresError> {
        let mut connection = self.connection().await?;
        let changed = Statement { sql, parameters }.execute(&mut *connection).await;
        Ok(finish(connection, changed)? as u64)
    }

    fn max_connections(&self) -> Option<usize> {
        Some(self.pool.status().max_size)
    }
}

/// Releases the connection of a statement, and returns the result. Closes the connection after an error, because diesel does
/// not report whether Postgres can still use it.
fn finish<T>(
    connection: Object<AsyncPgConnection>,
    done: QueryResult<T>,
) -> Result<T, PostgresError> {
    done.map_err(|error| {
        drop(Object::take(connection));
        without_values(error)
    })
}

/// Returns the error of a statement. Its text, which the log shows, has no values of parameters and rows: the messages of
/// Postgres can contain some.
pub fn without_values(error: Error) -> PostgresError {
    let Error::DatabaseError(kind, fields) = error else {
        return PostgresError::unusable("diesel cannot encode a parameter or decode a row");
    };
    let (code, message) = match kind {
        DatabaseErrorKind::UniqueViolation => ("23505", "a unique constraint is violated"),
        DatabaseErrorKind::ForeignKeyViolation => ("23503", "a foreign key is violated"),
        DatabaseErrorKind::RestrictViolation => ("23001", "a foreign key is violated"),
        DatabaseErrorKind::NotNullViolation => ("23502", "a value is null"),
        DatabaseErrorKind::CheckViolation => ("23514", "a check is violated"),
        DatabaseErrorKind::ExclusionViolation => ("23P01", "an exclusion is violated"),
        DatabaseErrorKind::SerializationFailure => ("40001", "cannot serialize"),
        DatabaseErrorKind::ReadOnlyTransaction => ("25006", "the transaction is read-only"),
        DatabaseErrorKind::UnableToSendCommand | DatabaseErrorKind::ClosedConnection => {
            return PostgresError::disconnected("the connection to Postgres failed");
        }
        _ => return PostgresError::disconnected("Postgres reported an error"),
    };
    let mut reported = DatabaseError::new(code, message);
    reported.table = fields.table_name().map(Into::into);
    reported.constraint = fields.constraint_name().map(Into::into);
    PostgresError::reported(reported)
}

/// A statement with numbered placeholders in its text.
struct Statement<'a> {
    sql: &'a str,
    parameters: &'a [Parameter],
}

impl QueryFragment<Pg> for Statement<'_> {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        pass.push_sql(self.sql);
        for parameter in self.parameters {
            match parameter {
                Parameter::Integer(number) => {
                    pass.push_bind_param_value_only::<Nullable<BigInt>, _>(number)?
                }
                Parameter::Boolean(value) => {
                    pass.push_bind_param_value_only::<Nullable<Bool>, _>(value)?
                }
                Parameter::Text(text) => {
                    pass.push_bind_param_value_only::<Nullable<Text>, _>(text)?
                }
                Parameter::Bytes(bytes) => {
                    pass.push_bind_param_value_only::<Nullable<Binary>, _>(bytes)?
                }
                Parameter::Integers(numbers) => {
                    pass.push_bind_param_value_only::<Array<Nullable<BigInt>>, _>(numbers)?
                }
                Parameter::Booleans(values) => {
                    pass.push_bind_param_value_only::<Array<Nullable<Bool>>, _>(values)?
                }
                Parameter::Texts(texts) => {
                    pass.push_bind_param_value_only::<Array<Nullable<Text>>, _>(texts)?
                }
                Parameter::ByteStrings(strings) => {
                    pass.push_bind_param_value_only::<Array<Nullable<Binary>>, _>(strings)?
                }
            }
        }
        Ok(())
    }
}

/// diesel finds the prepared statement by its text.
impl QueryId for Statement<'_> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl Query for Statement<'_> {
    type SqlType = Untyped;
}

impl<Connection> diesel::query_dsl::RunQueryDsl<Connection> for Statement<'_> {}

/// The values of a row in the binary format of Postgres.
struct OwnedRow {
    columns: Vec<Column>,
}

struct Column {
    name: String,
    value: Option<Vec<u8>>,
}

impl QueryableByName<Pg> for OwnedRow {
    fn build<'a>(row: &impl NamedRow<'a, Pg>) -> deserialize::Result<Self> {
        let fields = (0..row.field_count()).filter_map(|position| Row::get(row, position));
        let columns = fields.map(|field| Column {
            name: field.field_name().unwrap_or_default().into(),
            value: field.value().map(|value| value.as_bytes().into()),
        });
        Ok(Self { columns: columns.collect() })
    }
}

fn malformed(name: &str) -> ColumnError {
    ColumnError::new(name, "missing, or of another type")
}

impl Columns for OwnedRow {
    fn integer(&self, name: &str) -> Result<Option<i64>, ColumnError> {
        let number = |bytes: &[u8]| match *bytes {
            [a, b] => Ok(i16::from_be_bytes([a, b]).into()),
            [a, b, c, d] => Ok(i32::from_be_bytes([a, b, c, d]).into()),
            _ => Ok(i64::from_be_bytes(bytes.try_into().map_err(|_| malformed(name))?)),
        };
        self.bytes(name)?.map(number).transpose()
    }

    fn boolean(&self, name: &str) -> Result<Option<bool>, ColumnError> {
        Ok(self.bytes(name)?.map(|value| value == [1]))
    }

    fn text(&self, name: &str) -> Result<Option<&str>, ColumnError> {
        let text = |bytes| std::str::from_utf8(bytes).map_err(|_| malformed(name));
        self.bytes(name)?.map(text).transpose()
    }

    fn bytes(&self, name: &str) -> Result<Option<&[u8]>, ColumnError> {
        let column = self.columns.iter().find(|column| column.name == name);
        Ok(column.ok_or_else(|| malformed(name))?.value.as_deref())
    }
}

/// Finds a token. `Authorizer::load_token` does the same with a query that also selects the permissions of the owner.
pub async fn find_token(
    connection: &mut AsyncPgConnection,
    lookup: &Lookup,
) -> Result<Option<TokenRecord>, PostgresError> {
    let select = "
        SELECT lookup, digest, owner, label, scopes, created_at, expires_at, revoked_at, last_used_at
        FROM forum_api_tokens WHERE lookup = $1";
    let query = diesel::sql_query(select).bind::<Text, _>(lookup.as_str());
    let rows: Vec<OwnedRow> = query.load(connection).await.map_err(without_values)?;
    Ok(rows.iter().map(|row| read_token(row)).next().transpose()?)
}

/// Error of a command: `BoardError` is not a type of the host, so that it cannot implement `From` for an error of diesel.
pub struct CommandError(BoardError);

impl From<BoardError> for CommandError {
    fn from(error: BoardError) -> Self {
        Self(error)
    }
}

impl From<Error> for CommandError {
    fn from(error: Error) -> Self {
        Self(without_values(error).into())
    }
}

/// Writes a post and its event in one transaction, which an error rolls back.
pub async fn create_post(
    connection: &mut AsyncPgConnection,
    body: &str,
    event: &Event,
) -> BoardResult<()> {
    let done = connection.transaction(async |connection| {
        let insert = diesel::sql_query("INSERT INTO post (body) VALUES ($1)").bind::<Text, _>(body);
        insert.execute(connection).await?;
        insert_event(connection, event).await?;
        Ok::<_, CommandError>(())
    });
    done.await.map_err(|CommandError(error)| error)
}

/// Inserts an event into the outbox.
pub async fn insert_event(connection: &mut AsyncPgConnection, event: &Event) -> QueryResult<()> {
    let mut insert = diesel::sql_query(Event::INSERT_SQL).into_boxed();
    for text in event.insert_parameters() {
        insert = insert.bind::<Text, _>(text);
    }
    insert.execute(connection).await?;
    Ok(())
}
