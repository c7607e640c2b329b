//! Paths of databases.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
#[cfg(unix)]
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, Error, ErrorCode, OpenFlags};

use super::SqliteError;

/// Path of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DatabasePath {
    /// A database in a file.
    File {
        /// Path of the file, absolute or relative to the working directory.
        path: PathBuf,
        /// `true` to create the file if it does not exist. If `false`, a missing file is an error.
        create: bool,
    },
    /// A database in memory. Its contents are lost when the last handle is dropped.
    Memory,
}

impl DatabasePath {
    /// Opens a connection.
    ///
    /// Makes the path absolute, so that SQLite does not interpret `:memory:` or an empty path. Only the owner can read
    /// a new file. SQLite gives the write-ahead log the same mode as the file.
    pub(super) fn open(&self) -> rusqlite::Result<Connection> {
        let Self::File { path, create } = self else {
            return Connection::open_in_memory();
        };
        let path = std::path::absolute(path).map_err(|_| Error::InvalidPath(path.clone()))?;
        let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        flags.set(OpenFlags::SQLITE_OPEN_CREATE, *create);
        if *create {
            // SQLite reports the error.
            _ = create_private(&path);
        }
        Connection::open_with_flags(path, flags)
    }

    /// Returns the identity of the file that the path names: device and inode. `None` if there is no such file, for a
    /// database in memory, and on systems without inodes.
    pub(super) fn file_id(&self) -> Option<[u64; 2]> {
        #[cfg(unix)]
        if let Self::File { path, .. } = self {
            let file = path.metadata().ok()?;
            return Some([file.dev(), file.ino()]);
        }
        None
    }

    /// Describes an error that the path causes.
    pub(super) fn describe_error(&self, error: SqliteError) -> SqliteError {
        let Self::File { path, create } = self else {
            return error;
        };
        let shown = path.display();
        SqliteError::unusable(match error.code() {
            Some(ErrorCode::CannotOpen) => open_error(path, *create),
            Some(ErrorCode::NotADatabase) => {
                format!("the file \"{shown}\" is not a SQLite database")
            }
            Some(ErrorCode::ReadOnly) => format!("the database \"{shown}\" is not writable"),
            Some(ErrorCode::DatabaseBusy) => {
                format!("the database \"{shown}\" is locked by another process")
            }
            _ => return error,
        })
    }
}

/// Creates an empty file with mode 0600.
///
/// # Errors
/// If a file exists, too: closing it would release the locks of other connections.
fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    options.mode(0o600);
    options.open(path)
}

fn open_error(path: &Path, create: bool) -> String {
    let shown = path.display();
    match path.metadata() {
        Ok(metadata) if metadata.is_dir() => {
            format!("cannot open the database \"{shown}\": it is a directory")
        }
        Ok(_) => format!("cannot open the database \"{shown}\""),
        Err(error) if error.kind() != ErrorKind::NotFound => {
            format!("cannot open the database \"{shown}\": {error}")
        }
        Err(_) if !create => format!("the database \"{shown}\" does not exist"),
        Err(_) if has_directory(path) => {
            let reason =
                create_private(path).map_or_else(|error| format!(": {error}"), |_| String::new());
            format!("cannot create the database \"{shown}\"{reason}")
        }
        Err(_) => format!("the directory of the database \"{shown}\" does not exist"),
    }
}

fn has_directory(path: &Path) -> bool {
    std::path::absolute(path).is_ok_and(|path| path.parent().is_some_and(Path::is_dir))
}
