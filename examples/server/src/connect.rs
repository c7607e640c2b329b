//! Connections to the databases that `--database` and `--redis` name.

use std::io::ErrorKind;
use std::path::{self, Path};
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::Pool;
use forum_api::Language;
use forum_api::host::{BoardError, BoardResult, OrInternal};
use forum_api::runtime::SystemClock;
use forum_api::store::postgres::{PostgresError, tokio_postgres_0_7};
use forum_api::store::redis::{self, RedisRateLimitStore};
use forum_api::store::{SchemaStatus, sqlite};
use forum_api::webhook::KeyMismatchError;
use percent_encoding::percent_decode_str;

use crate::board::db::{BoardDatabase, hosts, replica_pools};
use crate::board::{ReferenceBoard, db};
use crate::keys::{self, WebhookCipher};
use crate::options::{DatabaseOptions, ServeArgs, check_sqlite_form, node_name};
use crate::own_files;
use crate::webhooks::refusal;

/// A parsed `--database`. Messages do not show the URL, because it can contain a password.
#[derive(Debug)]
pub enum DatabaseUrl {
    Sqlite(sqlite::DatabasePath, sqlite::DatabaseSettings),
    Postgres(Pool),
}

/// Opens the database of an existing board, and applies pending migrations. Does not change a database without a board,
/// or with another key than that of `cipher`.
///
/// # Errors
/// If the database has no board or has recorded another key, or its schema is newer than the program.
pub async fn open_migrated(
    url: &str,
    options: &DatabaseOptions,
    cipher: &WebhookCipher,
) -> BoardResult<ReferenceBoard> {
    let parsed = DatabaseUrl::of_board(url, options).await?;
    parsed.check_key(cipher).await?;
    let board = parsed.open(Language::English).await?;
    board.migrate().await?;
    Ok(board)
}

/// Opens the database of an existing board for a command.
///
/// # Errors
/// If the database has no board, or its schema is not that of the program.
pub async fn open_current(url: &str) -> BoardResult<ReferenceBoard> {
    let board = open_unmigrated(url).await?;
    must_be_current(&board).await?;
    Ok(board)
}

/// Opens the database of an existing board for a command, with pending migrations, too.
///
/// # Errors
/// If the database has no board.
pub async fn open_unmigrated(url: &str) -> BoardResult<ReferenceBoard> {
    let parsed = DatabaseUrl::of_board(url, &DatabaseOptions::COMMAND).await?;
    Ok(new_board(parsed.open_unmigrated()?, Language::English))
}

/// Applies the pending migrations to the database of an existing board. Returns their names.
///
/// # Errors
/// If the database has no board, or its schema is newer than the program, or a migration fails.
pub async fn migrate(url: &str) -> BoardResult<Vec<String>> {
    let board = open_unmigrated(url).await?;
    let mut applied = board.pending_migrations().await?;
    board.database.migrate_library().await?;
    board.migrate().await?;
    let pending = board.pending_migrations().await?;
    board.database.close().await;
    applied.retain(|name| !pending.contains(name));
    Ok(applied)
}

async fn must_be_current(board: &ReferenceBoard) -> BoardResult<()> {
    let library = board.database.library_schema_status().await?;
    let schemas = [library, board.schema_status().await?];
    if schemas.contains(&SchemaStatus::Newer) {
        let reason =
            "the database's schema is newer than this program; use a newer version of forum-server";
        return Err(BoardError::conflict(reason));
    }
    if schemas.contains(&SchemaStatus::Pending) {
        let pending = board.pending_migrations().await?.join(", ");
        let reason = format!(
            "the database's schema is older than this program; run `forum-server migrate` first; pending migrations: {pending}"
        );
        return Err(BoardError::conflict(reason));
    }
    Ok(())
}

impl DatabaseUrl {
    /// Parses the URL. With `create`, a missing SQLite file is created when the database is opened.
    pub fn parse(url: &str, options: &DatabaseOptions, create: bool) -> BoardResult<Self> {
        let settings = || {
            let mut settings = sqlite::DatabaseSettings::default();
            if let Some(readers) = options.sqlite_readers {
                settings.readers = readers;
            }
            settings.cache_kib = options.sqlite_cache.saturating_mul(1024);
            settings
        };
        check_sqlite_form(url).map_err(|reason| BoardError::validation("database", reason))?;
        match url.split_once(':') {
            Some(("sqlite", ":memory:")) => {
                Ok(Self::Sqlite(sqlite::DatabasePath::Memory, settings()))
            }
            Some(("sqlite", path)) if !path.is_empty() => {
                let file = sqlite::DatabasePath::File { path: path.into(), create };
                Ok(Self::Sqlite(file, settings()))
            }
            Some(("postgres" | "postgresql", _)) => {
                let url = with_application_name(url, options.is_node);
                let pool = tokio_postgres_0_7::connect(&url, options.postgres_connections)?;
                Ok(Self::Postgres(pool))
            }
            _ => Err(BoardError::validation(
                "database",
                "unsupported database URL: use PATH, sqlite:PATH, sqlite::memory: or postgres://…",
            )),
        }
    }

    /// Parses the URL of an existing database.
    ///
    /// # Errors
    /// If the database has no board. A missing or unreadable SQLite file is an error when the database is opened.
    async fn of_board(url: &str, options: &DatabaseOptions) -> BoardResult<Self> {
        let parsed = Self::parse(url, options, false)?;
        if parsed.holds_board(url).await? == Some(false) {
            let reason = "the database contains no board; run `forum-server serve` first";
            return Err(BoardError::not_found(reason));
        }
        Ok(parsed)
    }

    /// Parses the URLs of the replicas.
    ///
    /// # Errors
    /// If the database is not on Postgres, or a URL is malformed or names several hosts.
    pub fn replicas(&self, options: &ServeArgs) -> BoardResult<Vec<Pool>> {
        let urls = &options.database_replica;
        if matches!(self, Self::Sqlite(..)) && !urls.is_empty() {
            return Err(BoardError::validation(
                "database-replica",
                "a SQLite database has no replicas; set --database to the URL of the primary Postgres",
            ));
        }
        replica_pools(urls, options.connections.postgres_connections)
    }

    /// Checks that the file of a SQLite database exists, or that a new database does not replace a lost one. `url` is
    /// the text of this URL.
    ///
    /// # Errors
    /// If the file is empty, or is missing although its key file or its log exists, or its directory does not exist, or a
    /// file of the database is one that [`check_database`](own_files::check_database) refuses.
    pub fn check_file(&self, url: &str) -> BoardResult<()> {
        let Self::Sqlite(sqlite::DatabasePath::File { path, .. }, _) = self else {
            return Ok(());
        };
        own_files::check_database(path)?;
        let shown = path.display();
        let remedy = "run `forum-server restore` to restore a backup, or remove";
        let reason = match path.metadata() {
            Ok(file) if file.is_file() && file.len() == 0 => {
                format!(
                    "the database \"{shown}\" is an empty file; {remedy} it and its key file to create a new database"
                )
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                check_directory(path)?;
                let log = own_files::find_log(path);
                if keys::default_path(url).is_some_and(|key| key.exists()) {
                    format!(
                        "the database \"{shown}\" does not exist, but its key file does; {remedy} the key file to create a new \
                         database"
                    )
                } else if let Some(log) = log {
                    let log = log.display();
                    format!(
                        "the database \"{shown}\" does not exist, but its log \"{log}\" does; run `forum-server restore` to \
                         restore a backup, or move the log to another path to create a new database"
                    )
                } else {
                    return Ok(());
                }
            }
            _ => return Ok(()),
        };
        Err(BoardError::conflict(reason))
    }

    /// Returns whether the database contains a board; `None` if the SQLite file is missing or unreadable. Changes nothing.
    /// `url` is the text from which this value was parsed.
    ///
    /// # Errors
    /// - If the file is not empty and does not begin like a SQLite database: SQLite would remove the log beside the
    ///   file when it closes the file.
    /// - If Postgres is unreachable, or is behind a pooler that cannot be used. The error names the directory of the
    ///   socket.
    pub async fn holds_board(&self, url: &str) -> BoardResult<Option<bool>> {
        match self {
            Self::Sqlite(sqlite::DatabasePath::Memory, _) => Ok(Some(false)),
            Self::Sqlite(sqlite::DatabasePath::File { path, .. }, _) => {
                let has_content = path.metadata().is_ok_and(|file| file.len() > 0);
                if has_content && own_files::begins_as_sqlite(path).is_ok_and(|begins| !begins) {
                    let shown = path.display();
                    let reason = format!("the file \"{shown}\" is not a SQLite database");
                    return Err(BoardError::conflict(reason));
                }
                Ok(db::holds_board(path).ok())
            }
            Self::Postgres(pool) => {
                let checked = tokio_postgres_0_7::check_pooler(pool).await;
                checked.map_err(|error| with_socket(error, url))?;
                new_board(pool.clone(), Language::English).exists().await.map(Some)
            }
        }
    }

    /// Checks the key of webhook secrets against the one that an existing database has recorded, before any migration.
    /// Passes if the recorded key cannot be read, for example because the schema is too old to record one:
    /// `WebhookAdmin::check_key` checks the key again after the migration.
    ///
    /// # Errors
    /// If the database cannot be opened, or has recorded another key.
    pub async fn check_key(&self, cipher: &WebhookCipher) -> BoardResult<()> {
        let database = self.open_unmigrated()?;
        let recorded = database.webhooks().key_id().await.ok().flatten();
        if matches!(self, Self::Sqlite(..)) {
            database.close().await;
        }
        let given = cipher.0.key_id();
        match recorded {
            Some(stored) if stored != given => {
                Err(refusal(KeyMismatchError::new(stored, given).into()))
            }
            _ => Ok(()),
        }
    }

    /// Opens the database, creating it if that is allowed, and returns its board, whose tables may be missing.
    ///
    /// # Errors
    /// If the database cannot be used, or its schema is newer than the program.
    pub async fn open(self, language: Language) -> BoardResult<ReferenceBoard> {
        let database = match self {
            Self::Sqlite(location, settings) => {
                BoardDatabase::from(sqlite::Database::open_with(&location, &settings)?)
            }
            Self::Postgres(pool) => {
                tokio_postgres_0_7::migrate(&pool).await?;
                BoardDatabase::from(pool)
            }
        };
        Ok(new_board(database, language))
    }

    /// Opens the database without applying migrations.
    fn open_unmigrated(&self) -> BoardResult<BoardDatabase> {
        Ok(match self {
            Self::Sqlite(location, _) => sqlite::Database::open_unmigrated(location)?.into(),
            Self::Postgres(pool) => pool.clone().into(),
        })
    }
}

/// Adds the directory of the Unix-domain socket to an error, if the URL names one.
fn with_socket(error: PostgresError, url: &str) -> BoardError {
    let decoded = |host| percent_decode_str(host).decode_utf8_lossy();
    match hosts(url).map(decoded).find(|host| host.starts_with('/')) {
        Some(directory) => BoardError::internal(format!(
            "{error}; the socket is the file .s.PGSQL.PORT in {directory}"
        )),
        None => error.into(),
    }
}

/// Adds the name that Postgres shows for the connections to its URL, unless the URL has one.
fn with_application_name(url: &str, is_node: bool) -> String {
    if url.contains("application_name=") {
        return url.into();
    }
    let name = if is_node { node_name() } else { "forum-server command".to_owned() };
    let application = name.replace(' ', "%20");
    // A password can contain a question mark.
    let address = url.split_once('@').map_or(url, |(_, address)| address);
    let separator = if address.contains('?') { '&' } else { '?' };
    format!("{url}{separator}application_name={application}")
}

/// Checks that the directory of a SQLite database exists.
pub fn check_directory(database: &Path) -> BoardResult<()> {
    let path = path::absolute(database).or_internal()?;
    if path.parent().is_some_and(|parent| !parent.is_dir()) {
        let shown = database.display();
        let reason = format!("the directory of the database \"{shown}\" does not exist");
        return Err(BoardError::conflict(reason));
    }
    Ok(())
}

fn new_board(database: impl Into<BoardDatabase>, language: Language) -> ReferenceBoard {
    ReferenceBoard::new(database, Arc::new(SystemClock), language)
}

/// Returns the rate limits in this Redis.
pub async fn redis(url: &str, timeout: Duration) -> BoardResult<Arc<RedisRateLimitStore>> {
    let mut settings = redis::RedisSettings::default();
    settings.timeout = timeout;
    Ok(Arc::new(RedisRateLimitStore::connect(url, settings).await?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_readers_and_the_page_cache_of_sqlite_are_those_of_the_options() {
        let options = DatabaseOptions {
            sqlite_cache: 3,
            sqlite_readers: Some(7),
            ..DatabaseOptions::COMMAND
        };
        let parsed = DatabaseUrl::parse("sqlite::memory:", &options, false);
        let Ok(DatabaseUrl::Sqlite(path, settings)) = parsed else {
            panic!("{parsed:?}");
        };
        assert_eq!(settings.readers, 7);
        let database = sqlite::Database::open_with(&path, &settings).unwrap();
        let cache_size = database
            .read(|connection| -> Result<i64, sqlite::SqliteError> {
                Ok(connection.pragma_query_value(None, "cache_size", |row| row.get(0))?)
            })
            .await
            .unwrap();
        assert_eq!(cache_size, -3 * 1024, "in KiB");
    }

    #[test]
    fn connections_to_postgres_have_the_name_of_the_url_or_of_the_process() {
        let named = "postgres://h/d?application_name=board";
        assert_eq!(with_application_name(named, true), named);
        let node = node_name().replace(' ', "%20");
        for (is_node, name) in [(true, &*node), (false, "forum-server%20command")] {
            for (url, separator) in [
                ("postgres://h/d", '?'),
                ("postgres://forum:p?q@h/d", '?'),
                ("postgres://forum:p@h/d?sslmode=disable", '&'),
                ("postgres:///d?host=h", '&'),
            ] {
                let expected = format!("{url}{separator}application_name={name}");
                assert_eq!(with_application_name(url, is_node), expected);
            }
        }
    }
}
