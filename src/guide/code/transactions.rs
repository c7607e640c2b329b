//! Commands in transactions of diesel 2 and sea-orm 2. Both need an error type of the host: `BoardError` is not a type of
//! its crate, so that it cannot implement `From` for errors of a driver there.

use std::fmt;

use diesel::r2d2::{ConnectionManager, Pool, R2D2Connection};
use diesel::result::Error;
use forum_api::host::{BoardError, BoardResult, OrInternal};
use sea_orm::{DatabaseConnection, DatabaseTransaction, DbErr, TransactionError};

#[derive(Debug)]
pub struct CommandError(BoardError);

impl From<BoardError> for CommandError {
    fn from(error: BoardError) -> Self {
        Self(error)
    }
}

impl From<Error> for CommandError {
    fn from(error: Error) -> Self {
        Self(match error {
            // The text of the error can quote content.
            Error::DatabaseError(kind, fields) => {
                let names = (fields.table_name(), fields.constraint_name());
                BoardError::internal(format!("{kind:?} {names:?}"))
            }
            error => BoardError::internal(error),
        })
    }
}

/// Runs a blocking command in a transaction on a thread of its own.
pub async fn run<C: R2D2Connection + 'static, T: Send + 'static>(
    pool: Pool<ConnectionManager<C>>,
    command: impl FnOnce(&mut C) -> Result<T, CommandError> + Send + 'static,
) -> BoardResult<T> {
    let result = tokio::task::spawn_blocking(move || {
        let mut connection = pool.get().map_err(BoardError::internal)?;
        C::transaction(&mut connection, command)
    });
    result.await.or_internal()?.map_err(|error| error.0)
}

impl From<DbErr> for CommandError {
    fn from(error: DbErr) -> Self {
        Self(BoardError::internal(error))
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Runs an asynchronous command in a transaction.
pub async fn run_async<T: Send>(
    database: &DatabaseConnection,
    command: impl AsyncFnOnce(&DatabaseTransaction) -> Result<T, CommandError> + Send,
) -> BoardResult<T> {
    let result = database.transaction_async(command).await;
    result.map_err(|error| match error {
        TransactionError::Connection(error) => BoardError::internal(error),
        TransactionError::Transaction(error) => error.0,
    })
}
