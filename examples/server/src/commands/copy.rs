//! Command `copy`.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use deadpool_postgres::Pool;
use forum_api::audit::AuditEntry;
use forum_api::host::{BoardError, BoardResult};
use forum_api::store::sqlite::DatabasePath;
use forum_api::webhook::{KeyId, KeyMismatchError};
use serde_json::json;

use super::{check_no_log, refused};
use crate::audit;
use crate::board::copy::{self, Checksum, CopiedBoard, Progress};
use crate::connect::{self, DatabaseUrl};
use crate::database_lock::DatabaseLock;
use crate::keys::{self, WebhookCipher};
use crate::new_file::NewFile;
use crate::options::{CopyTarget, DatabaseOptions, without_password};
use crate::output::{self, Column, Output, Table};

/// Suffix of the files of a SQLite target and its key until they are complete.
const PARTIAL: &str = ".copying";

/// Copies the board into an empty database of the other kind.
#[derive(Debug, Args)]
pub struct CopyCommand {
    #[command(flatten)]
    target: CopyTarget,
    /// Also copy a board that is online, to test the copy: changes after its beginning are missing in the target
    #[arg(long)]
    online: bool,
    /// File of the key that encrypts the webhook secrets of the board [default: the path of a SQLite --database
    /// followed by .key]
    #[arg(long, value_name = "PATH")]
    secret_key_file: Option<PathBuf>,
}

impl CopyCommand {
    /// Copies the board in the database at `url`.
    pub async fn run(self, url: &str) -> BoardResult<Output> {
        let options = &DatabaseOptions::COMMAND;
        let source = DatabaseUrl::parse(url, options, false)?;
        let target = DatabaseUrl::parse(&self.target.to, options, false)?;
        let _lock = DatabaseLock::shared(url)?;
        let direction = Direction::of(source, target)?;
        let database = connect::open_current(url).await?.database;
        let key = database.webhooks().key_id().await?;
        database.close().await;
        let key = self.key(url, key.filter(|key| *key != KeyId::plaintext()))?;
        let entry = audit::entry(audit::DATABASE_COPIED, without_password(url))?
            .with_details(format_args!("to {}", without_password(&self.target.to)));
        let progress = Progress::begin("Reading the catalogs");
        let (copied, key) = match direction {
            Direction::ToPostgres(source, target) => {
                let copied =
                    copy::to_postgres(&source, &target, self.online, &entry, &progress).await?;
                (copied, key.as_ref().map(WebhookKey::for_postgres))
            }
            Direction::ToSqlite(source, target) => {
                self.copy_to_sqlite(&source, &target, &entry, &progress, key).await?
            }
        };
        progress.finish();
        if !copied.was_offline {
            output::warn(
                "the board was online: changes after the beginning of the copy are missing in the copy",
            );
        }
        self.report(&copied.tables, key)
    }

    /// Finds the file of the key that encrypts the secrets of the source.
    fn key(&self, source: &str, id: Option<KeyId>) -> BoardResult<Option<WebhookKey>> {
        let option = self.secret_key_file.as_deref();
        let path = keys::path_in_use(source, option);
        let cipher = WebhookCipher::read_or_plaintext(path.as_deref())?;
        let given = cipher.0.key_id();
        let Some(id) = id else {
            return Ok(None);
        };
        if option.is_some() && given != id {
            return Err(refused(&KeyMismatchError::new(id, given).to_string()));
        }
        let path = path.filter(|_| given == id);
        Ok(Some(WebhookKey { id, path }))
    }

    async fn copy_to_sqlite(
        &self,
        source: &Pool,
        target: &Path,
        entry: &AuditEntry,
        progress: &Progress,
        key: Option<WebhookKey>,
    ) -> BoardResult<(CopiedBoard, Option<String>)> {
        let shown = target.display();
        let failed = |error| {
            BoardError::internal(format!("cannot create the database \"{shown}\": {error}"))
        };
        connect::check_directory(target)?;
        let _lock = DatabaseLock::exclusive(&self.target.to)?;
        if fs::symlink_metadata(target).is_ok() {
            return Err(refused(&match crate::board::db::holds_board(target) {
                Ok(true) => format!("the target \"{shown}\" contains a board already"),
                _ => format!("the file \"{shown}\" already exists"),
            }));
        }
        check_no_log(target)?;
        let key_file = keys::default_path(&self.target.to).unwrap_or_default();
        let has_key_file = key_file.exists();
        if has_key_file {
            let found = WebhookCipher::read(&key_file)?.0.key_id();
            if key.as_ref().is_none_or(|key| key.id != found) {
                let key_file = key_file.display();
                return Err(refused(&format!(
                    "the key file \"{key_file}\" contains another key than the key of the board; move it to another path"
                )));
            }
        }
        let file = NewFile::replace(target, PARTIAL).map_err(failed)?;
        let board = copy::to_sqlite(source, file.partial(), self.online, entry, progress).await?;
        let copied = match &key {
            Some(key) if !has_key_file => key.copy_to(&key_file)?,
            _ => false,
        };
        file.publish().map_err(failed).inspect_err(|_| {
            if copied {
                drop(fs::remove_file(&key_file));
            }
        })?;
        let key = key.map(|key| key.for_sqlite(&key_file, has_key_file || copied));
        Ok((board, key))
    }

    fn report(&self, tables: &[(String, Checksum)], key: Option<String>) -> BoardResult<Output> {
        const COLUMNS: &[Column] =
            &[Column::new("TABLE"), Column::new("ROWS"), Column::new("CHECKSUM")];
        let mut table = Table::new(COLUMNS);
        for (name, checksum) in tables {
            table.row([name.clone(), checksum.rows.to_string(), checksum.digits()]);
        }
        let rows: Vec<_> = tables
            .iter()
            .map(|(name, checksum)| {
                json!({ "table": name, "rows": checksum.rows, "checksum": checksum.digits() })
            })
            .collect();
        let target = without_password(&self.target.to);
        let key = key.unwrap_or_else(|| "The new database needs no key file.".into());
        let text = format_args!(
            "{table}Copied the board to {target}. The copy is offline: start its server, then run `board online`.\n{key}"
        );
        Output::change(text, json!({ "tables": rows, "key": key }))
    }
}

/// The paths and pools of the source and the target.
enum Direction {
    ToPostgres(PathBuf, Pool),
    ToSqlite(Pool, PathBuf),
}

impl Direction {
    fn of(source: DatabaseUrl, target: DatabaseUrl) -> BoardResult<Self> {
        let same = "the databases are of the same kind; use `backup` and `restore` for SQLite, and pg_dump for Postgres";
        match (source, target) {
            (DatabaseUrl::Sqlite(source, _), DatabaseUrl::Postgres(target)) => match source {
                DatabasePath::File { path, .. } => Ok(Self::ToPostgres(path, target)),
                DatabasePath::Memory => Err(refused("an in-memory database cannot be copied")),
            },
            (DatabaseUrl::Postgres(source), DatabaseUrl::Sqlite(target, _)) => match target {
                DatabasePath::File { path, .. } => Ok(Self::ToSqlite(source, path)),
                DatabasePath::Memory => {
                    Err(refused("an in-memory database cannot be the target of a copy"))
                }
            },
            _ => Err(refused(same)),
        }
    }
}

/// The key that encrypts the webhook secrets of the board.
struct WebhookKey {
    id: KeyId,
    /// File of the key; `None` if no option names it.
    path: Option<PathBuf>,
}

impl WebhookKey {
    /// Copies the key file to `target`. No other copy may write the same target meanwhile. Returns `false` if the path of the
    /// key file is unknown.
    fn copy_to(&self, target: &Path) -> BoardResult<bool> {
        let Some(path) = &self.path else {
            return Ok(false);
        };
        let failed = |error| {
            let target = target.display();
            BoardError::internal(format!("cannot create the key file \"{target}\": {error}"))
        };
        let mut file = NewFile::replace(target, PARTIAL).map_err(failed)?;
        let key = fs::read(path).map_err(failed)?;
        file.write(&key).map_err(failed)?;
        file.publish().map_err(failed)?;
        Ok(true)
    }

    fn for_postgres(&self) -> String {
        let id = &self.id;
        match &self.path {
            Some(path) => format!(
                "Its webhook secrets are encrypted with the key {id}: start each server and each worker of the new database \
                 with --secret-key-file \"{}\".",
                path.display()
            ),
            None => format!(
                "Its webhook secrets are encrypted with the key {id}: pass the file of this key with --secret-key-file to each \
                 server and each worker of the new database."
            ),
        }
    }

    fn for_sqlite(&self, path: &Path, exists: bool) -> String {
        let id = &self.id;
        let path = path.display();
        if exists {
            format!(
                "Its webhook secrets are encrypted with the key {id} in the file \"{path}\", which the server reads."
            )
        } else {
            format!(
                "Its webhook secrets are encrypted with the key {id}: copy the file of this key to \"{path}\", or pass it with \
                 --secret-key-file."
            )
        }
    }
}
