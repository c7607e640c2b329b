//! Command `backup`.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{self, Path, PathBuf};

use clap::Args;
use forum_api::host::{BoardError, BoardResult};
use forum_api::store::sqlite::SqliteError;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use super::{check_no_log, refused};
use crate::board::db::holds_board;
use crate::database_lock::DatabaseLock;
use crate::new_file::NewFile;
use crate::output::Output;
use crate::own_files::is_beside;

/// Number of pages that a single step copies: all of them, so that writes during the backup do not restart it.
const ALL_PAGES: i32 = -1;

/// Writes a backup of a SQLite database.
#[derive(Debug, Args)]
pub struct BackupCommand {
    /// Path of the new file, which must not exist
    path: PathBuf,
}

impl BackupCommand {
    /// Copies a consistent snapshot of the database at `url` while servers run.
    pub fn run(self, url: &str) -> BoardResult<Output> {
        let source = match url.split_once(':') {
            Some(("sqlite", ":memory:")) => {
                let reason = "an in-memory database cannot be backed up";
                return Err(BoardError::validation("database", reason));
            }
            Some(("sqlite", source)) => Path::new(source),
            _ => {
                let reason = "`backup` supports SQLite only; use pg_dump for a Postgres database";
                return Err(BoardError::validation("database", reason));
            }
        };
        if !source.exists() {
            let reason = format!("the database \"{}\" does not exist", source.display());
            return Err(BoardError::not_found(reason));
        }
        if source.is_dir() {
            let shown = source.display();
            let reason = format!("cannot open the database \"{shown}\": it is a directory");
            return Err(refused(&reason));
        }
        let _lock = DatabaseLock::shared(url)?;
        // An unreadable database is reported by the copy.
        if let Ok(false) = holds_board(source) {
            return Err(BoardError::not_found("the database contains no board"));
        }
        let shown = self.path.display();
        let conflict = |error: io::Error| {
            let reason = match error.kind() {
                ErrorKind::AlreadyExists => format!("the file \"{shown}\" already exists"),
                _ => format!("cannot create the file \"{shown}\": {error}"),
            };
            BoardError::conflict(reason)
        };
        if fs::symlink_metadata(&self.path).is_ok() {
            return Err(conflict(ErrorKind::AlreadyExists.into()));
        }
        if is_beside(source, &self.path) {
            return Err(refused(&format!(
                "the path \"{shown}\" is reserved for a file of the database; choose another path"
            )));
        }
        check_no_log(&self.path)?;
        let file = NewFile::create(&self.path).map_err(conflict)?;
        copy(source, file.partial()).map_err(|error| {
            let source = source.display();
            BoardError::internal(format!(
                "cannot back up the database \"{source}\" to \"{shown}\": {error}"
            ))
        })?;
        file.publish().map_err(conflict)?;
        Output::message(format_args!(
            "Wrote a backup of the database to \"{}\". It does not contain the key file of the webhook secrets; back that \
             file up separately.",
            shown
        ))
    }
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let text = |error: rusqlite::Error| SqliteError::from(error).to_string();
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    // An absolute path is never a URI with parameters.
    let absolute = |path| path::absolute(path).map_err(|error| error.to_string());
    let source = Connection::open_with_flags(absolute(from)?, flags).map_err(text)?;
    let mut target = Connection::open(absolute(to)?).map_err(text)?;
    let backup = Backup::new(&source, &mut target).map_err(text)?;
    match backup.step(ALL_PAGES).map_err(text)? {
        StepResult::Done => Ok(()),
        _ => Err("the database is locked by another process".into()),
    }
}
