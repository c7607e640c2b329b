//! Locks beside a SQLite database, which show its processes to each other. The system releases the locks of a killed
//! process.

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::Path;
use std::process;

use forum_api::host::{BoardError, BoardResult};

/// Use of a database by this process, until this value is dropped. Databases in memory and in Postgres have no lock.
#[derive(Debug)]
pub struct DatabaseLock {
    _file: Option<File>,
}

impl DatabaseLock {
    /// Marks an existing database as used. Any number of processes can use a database.
    ///
    /// # Errors
    /// If [`exclusive`](Self::exclusive) holds the database.
    pub fn shared(database: &str) -> BoardResult<Self> {
        match sqlite_path(database) {
            Some(path) if Path::new(path).exists() => Self::shared_or_new(database),
            _ => Ok(Self { _file: None }),
        }
    }

    /// Like [`shared`](Self::shared), also for a database that this process is about to create.
    pub fn shared_or_new(database: &str) -> BoardResult<Self> {
        // A process that may not write the directory uses the database without a lock.
        let file = sqlite_path(database).and_then(|path| open(path, "lock").ok());
        match file.as_ref().map(File::try_lock_shared) {
            Some(Err(TryLockError::WouldBlock)) => Err(BoardError::conflict(
                "another process is replacing the database",
            )),
            Some(Err(TryLockError::Error(error))) => Err(BoardError::internal(error)),
            Some(Ok(())) | None => Ok(Self { _file: file }),
        }
    }

    /// Keeps all other processes of the program from using a database.
    ///
    /// # Errors
    /// If a process uses the database, or the lock cannot be created.
    pub fn exclusive(database: &str) -> BoardResult<Self> {
        let refused = |error| BoardError::internal(format!("cannot lock the database: {error}"));
        let file = sqlite_path(database).map(|path| open(path, "lock"));
        let file = file.transpose().map_err(refused)?;
        match file.as_ref().map(File::try_lock) {
            Some(Err(TryLockError::WouldBlock)) => Err(BoardError::conflict(
                "a process uses the database; stop it first",
            )),
            Some(Err(TryLockError::Error(error))) => Err(refused(error)),
            Some(Ok(())) | None => Ok(Self { _file: file }),
        }
    }
}

/// Registration of a `serve` process of a database, until this value is dropped.
#[derive(Debug)]
pub struct ServerLock {
    _file: File,
    /// Description of the server that started last, if a server of the database runs.
    pub other: Option<String>,
}

impl ServerLock {
    /// Registers this process, which listens on `address`. Returns `None` for databases without a lock.
    pub fn register(database: &str, address: impl ToString) -> io::Result<Option<Self>> {
        let Some(path) = sqlite_path(database) else {
            return Ok(None);
        };
        let mut file = open(path, "server")?;
        let other = match file.try_lock() {
            Ok(()) => None,
            Err(TryLockError::WouldBlock) => {
                let mut other = String::new();
                file.read_to_string(&mut other)?;
                Some(other)
            }
            Err(TryLockError::Error(error)) => return Err(error),
        };
        file.set_len(0)?;
        file.rewind()?;
        write!(file, "process {} on {}", process::id(), address.to_string())?;
        // A server holds the lock exclusively only up to this line.
        file.lock_shared()?;
        Ok(Some(Self { _file: file, other }))
    }
}

/// Returns the path of a SQLite database in a file.
fn sqlite_path(database: &str) -> Option<&str> {
    let path = database.strip_prefix("sqlite:")?;
    (path != ":memory:").then_some(path)
}

/// Opens the file `<path>.<extension>`. Creates it for the owner of the database, because an operator can run a command
/// as root before the server starts.
fn open(path: &str, extension: &str) -> io::Result<File> {
    let database = Path::new(path).metadata().ok();
    if database.as_ref().is_some_and(Metadata::is_dir) {
        return Err(ErrorKind::IsADirectory.into());
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true);
    options.truncate(false).mode(0o600);
    let file = options.open(format!("{path}.{extension}"))?;
    if let Some(database) = database
        && database.uid() != file.metadata()?.uid()
    {
        // Only root can.
        drop(fchown(&file, Some(database.uid()), Some(database.gid())));
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exclusive_lock_excludes_users_and_is_refused_while_one_exists() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("forum.db");
        let path = path.to_str().unwrap();
        let database = format!("sqlite:{path}");
        DatabaseLock::shared(&database).unwrap();
        assert!(!Path::new(&format!("{path}.lock")).exists());
        let server = DatabaseLock::shared_or_new(&database).unwrap();
        File::create(path).unwrap();
        let command = DatabaseLock::shared(&database).unwrap();
        drop(server);
        DatabaseLock::exclusive(&database).unwrap_err();
        drop(command);
        let restore = DatabaseLock::exclusive(&database).unwrap();
        DatabaseLock::shared(&database).unwrap_err();
        drop(restore);
        DatabaseLock::shared(&database).unwrap();
    }

    #[test]
    fn a_server_names_the_one_that_runs() {
        let directory = tempfile::tempdir().unwrap();
        let database = format!("sqlite:{}/forum.db", directory.path().display());
        let register = |address| ServerLock::register(&database, address).unwrap().unwrap();
        let named = |address| Some(format!("process {} on {address}", process::id()));
        let first = register("127.0.0.1:1");
        assert_eq!(first.other, None);
        let second = register("127.0.0.1:22");
        assert_eq!(second.other, named("127.0.0.1:1"));
        drop(first);
        assert_eq!(register("127.0.0.1:3").other, named("127.0.0.1:22"));
        drop(second);
        assert_eq!(register("127.0.0.1:4").other, None);
        for database in ["sqlite::memory:", "postgres://localhost/forum"] {
            assert!(ServerLock::register(database, "").unwrap().is_none());
        }
    }
}
