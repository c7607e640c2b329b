//! Commands in transactions of diesel 2. They need an error type of the host: `BoardError` is not a type of its crate, so
//! that it cannot implement `From` for errors of diesel there.

use std::time::Duration;

use diesel::r2d2::{ConnectionManager, Pool, R2D2Connection};
use diesel::result::Error;
use forum_api::host::{BoardError, BoardResult, OrInternal, OverloadedError};

#[derive(Debug)]
pub struct CommandError(BoardError);

impl From<BoardError> for CommandError {
    fn from(error: BoardError) -> Self {
        Self(error)
    }
}

impl From<CommandError> for BoardError {
    fn from(error: CommandError) -> Self {
        error.0
    }
}

impl From<Error> for CommandError {
    /// The log shows the result. It has no values: the messages of a database can quote content.
    fn from(error: Error) -> Self {
        Self(match error {
            Error::DatabaseError(kind, fields) => {
                let names = (fields.table_name(), fields.constraint_name());
                BoardError::internal(format!("{kind:?} {names:?}"))
            }
            Error::NotFound => BoardError::internal("a row does not exist"),
            _ => BoardError::internal("diesel cannot encode a parameter or decode a row"),
        })
    }
}

/// Runs a blocking command in a transaction on a thread of its own.
///
/// For SQLite, replace `C` by `SqliteConnection`, and the call of `C::transaction` by
/// `connection.immediate_transaction(command)`: a deferred transaction that reads before it writes fails with `SQLITE_BUSY` if
/// another connection wrote in between.
pub async fn run<C: R2D2Connection + 'static, T: Send + 'static>(
    pool: Pool<ConnectionManager<C>>,
    command: impl FnOnce(&mut C) -> Result<T, CommandError> + Send + 'static,
) -> BoardResult<T> {
    let result = tokio::task::spawn_blocking(move || {
        let no_connection = OverloadedError::new(Duration::from_secs(1));
        // The default of r2d2, 30 s, is as long as a request may take.
        let opened = pool.get_timeout(Duration::from_secs(5));
        let mut connection = opened.map_err(|_| BoardError::internal(no_connection))?;
        C::transaction(&mut connection, command)
    });
    Ok(result.await.or_internal()??)
}
