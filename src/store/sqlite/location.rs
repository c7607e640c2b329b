//! Where a database is, and how a connection to it is set up.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::SqliteError;

/// How long a connection waits for another process that writes.
const PATIENCE: Duration = Duration::from_secs(5);

/// How many prepared statements a connection keeps.
const STATEMENTS: usize = 256;

/// Acknowledged writes survive a power failure (`FULL`); readers and the writer do not wait for each other (`WAL`);
/// pages are read from a map of the file (up to 2 GiB of it) rather than copied, beside a cache of 32 MiB.
const PRAGMAS: &str = "
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA mmap_size = 2147483648;
    PRAGMA cache_size = -32768;
    PRAGMA foreign_keys = ON;
";

/// Where a database is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// In a file.
    File {
        /// Its path.
        path: PathBuf,
        /// Whether it is made if it is not there.
        create: bool,
    },
    /// In memory: gone when the last handle is dropped.
    Memory,
}

impl Location {
    /// A connection that may write.
    pub(super) fn connect(&self) -> Result<Connection, SqliteError> {
        self.open()
            .and_then(set_up)
            .map_err(|error| self.explain(error))
    }

    /// A connection that may only read; `None` where no second connection sees the same database.
    pub(super) fn connect_reader(&self) -> Option<Result<Connection, SqliteError>> {
        matches!(self, Self::File { .. }).then(|| {
            let connection = self.connect()?;
            connection.pragma_update(None, "query_only", true)?;
            Ok(connection)
        })
    }

    /// The path is made absolute, so that SQLite takes neither `:memory:` nor an empty one for something else.
    fn open(&self) -> rusqlite::Result<Connection> {
        let Self::File { path, create } = self else {
            return Connection::open_in_memory();
        };
        let path =
            std::path::absolute(path).map_err(|_| rusqlite::Error::InvalidPath(path.clone()))?;
        let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        flags.set(OpenFlags::SQLITE_OPEN_CREATE, *create);
        Connection::open_with_flags(path, flags)
    }

    /// What is wrong with the place, where that is the reason.
    pub(super) fn explain(&self, error: rusqlite::Error) -> SqliteError {
        let Self::File { path, create } = self else {
            return error.into();
        };
        let shown = path.display();
        match error.sqlite_error_code() {
            Some(ErrorCode::CannotOpen) => SqliteError::unusable(no_way_in(path, *create)),
            Some(ErrorCode::NotADatabase) => {
                SqliteError::unusable(format!("{shown} is not a database"))
            }
            Some(ErrorCode::ReadOnly) => {
                SqliteError::unusable(format!("{shown} may not be written"))
            }
            Some(ErrorCode::DatabaseBusy) => {
                SqliteError::unusable(format!("{shown} is locked by another process"))
            }
            _ => error.into(),
        }
    }
}

fn set_up(connection: Connection) -> rusqlite::Result<Connection> {
    connection.busy_timeout(PATIENCE)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.execute_batch(PRAGMAS)?;
    Ok(connection)
}

fn no_way_in(path: &Path, create: bool) -> String {
    let shown = path.display();
    match path.metadata() {
        Ok(found) if found.is_dir() => format!("{shown} is a directory"),
        Err(error) if error.kind() != ErrorKind::NotFound => format!("{shown}: {error}"),
        Err(_) if !create => format!("there is no database at {shown}"),
        Err(_) if !has_directory(path) => format!("the directory of {shown} does not exist"),
        _ => format!("{shown} may not be opened"),
    }
}

fn has_directory(path: &Path) -> bool {
    std::path::absolute(path).is_ok_and(|path| path.parent().is_some_and(Path::is_dir))
}
