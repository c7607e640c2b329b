//! Command `restore`.

use std::fmt::Display;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::{self, Path, PathBuf};
use std::time::Duration;

use clap::Args;
use forum_api::Language;
use forum_api::audit::{AuditAction, AuditEntry};
use forum_api::host::{BoardError, BoardResult, OrInternal};
use forum_api::runtime::{Clock, SystemClock};
use forum_api::store::sqlite::{DatabasePath, DatabaseSettings, SqliteError};
use forum_api::token::Lookup;
use forum_api::webhook::{KeyId, KeyMismatchError};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use serde_json::{Map, Value};

use super::member::erase_command;
use super::refused;
use crate::audit;
use crate::board::accounts::sessions;
use crate::board::carried_changes::{
    CarriedChanges, ChangedEndpoint, ChangedMember, EndpointChange, EndpointValues, ErasedMember,
};
use crate::board::{ReferenceBoard, accounts, db, leave_gap};
use crate::connect::DatabaseUrl;
use crate::database_lock::DatabaseLock;
use crate::keys::WebhookCipher;
use crate::new_file::beside;
use crate::options::DatabaseOptions;
use crate::output::Output;
use crate::own_files::{LOGS, begins_as_sqlite, check_database, check_link};
use crate::prompt::Confirm;

/// Suffix of the index of the write-ahead log, which SQLite creates again.
const INDEX: &str = "-shm";

/// Replaces a SQLite database with a backup.
#[derive(Debug, Args)]
pub struct RestoreCommand {
    /// Path of the backup
    path: PathBuf,
    /// File of the key that encrypts the webhook secrets of the backup [default: the path of the database followed by
    /// .key]
    #[arg(long, value_name = "PATH")]
    secret_key_file: Option<PathBuf>,
    /// Key file that the environment or the configuration file names. Servers read it.
    #[arg(skip)]
    pub configured_key_file: Option<PathBuf>,
    #[command(flatten)]
    confirm: Confirm,
}

/// The files of a restore. They are in one directory, so that a file can get the name of another one in one step.
#[derive(Debug)]
struct Files {
    database: PathBuf,
    /// Copy of the backup that gets the name of the database.
    copy: PathBuf,
    /// The database before the restore.
    kept: PathBuf,
}

/// Result of the preparation of a copy.
struct Prepared {
    /// Id of the key that encrypts its webhook secrets.
    key: Option<KeyId>,
    consequences: Consequences,
}

/// What the operator has to know after a restore.
#[derive(Default)]
struct Consequences {
    /// The changes that were repeated in the restored database, as clauses.
    carried_over: Vec<String>,
    to_repeat: Vec<Repetition>,
    /// Warnings: the databases could not be compared, or no administrator can sign in.
    warnings: Vec<String>,
}

/// A change that the operator has to repeat.
struct Repetition {
    reason: String,
    /// The arguments of the program.
    command: String,
}

impl Repetition {
    fn describe(&self) -> String {
        let Self { reason, command } = self;
        format!("{reason}: run `forum-server {command}`.")
    }
}

impl RestoreCommand {
    /// Replaces the database at `url`. A process that is killed leaves the old or the new database under its name.
    pub async fn run(self, url: &str) -> BoardResult<Output> {
        let database = match DatabaseUrl::parse(url, &DatabaseOptions::COMMAND, false)? {
            DatabaseUrl::Sqlite(DatabasePath::File { path, .. }, _) => path,
            DatabaseUrl::Sqlite(DatabasePath::Memory, _) => {
                return Err(refused("an in-memory database cannot be restored"));
            }
            DatabaseUrl::Postgres(_) => {
                return Err(refused(
                    "`restore` supports SQLite only; use pg_restore for a Postgres database",
                ));
            }
        };
        let backup = self.path.display();
        let shown = database.display();
        let failed = |error: io::Error| {
            BoardError::internal(format!(
                "cannot restore the backup \"{backup}\" to \"{shown}\": {error}"
            ))
        };
        check_database(&database)?;
        let files = Files::of(&database).map_err(failed)?;
        let cipher = WebhookCipher::find(url, self.secret_key_file.as_deref())?;
        self.check_file(&files)?;
        let kept = files.kept.display();
        if files.kept.exists() && !is_same_file(&files.kept, &files.database) {
            return Err(refused(&format!(
                "the file \"{kept}\" exists and contains the database before an earlier restore; move it to another path first"
            )));
        }
        files.check_kept_logs()?;
        let is_replaced = files.database.exists();
        let description = if is_replaced {
            format!(
                "This replaces the database \"{shown}\" with the backup \"{backup}\": all changes since the backup are lost."
            )
        } else {
            format!("This creates the database \"{shown}\" from the backup \"{backup}\".")
        };
        self.confirm.ask(&description)?;
        let _lock = DatabaseLock::exclusive(url)?;
        let old = lock(&files.database)?;
        files.remove_copy().map_err(failed)?;
        let prepared = match self.write_copy(&files) {
            Ok(()) => self.prepare(&files, &cipher, old.as_ref()).await,
            Err(error) => Err(failed(error)),
        };
        let restored = prepared.and_then(|key| files.replace().map(|()| key).map_err(failed));
        drop(old);
        if restored.is_err() {
            // Reports the error of the restore rather than an error of the removal.
            drop(files.remove_copy());
        }
        let Prepared { key, consequences } = restored?;
        let of_server = WebhookCipher::find(url, self.configured_key_file.as_deref()).ok();
        let key_of_server = of_server.map(|cipher| cipher.0.key_id());
        let missing_key = key.filter(|key| Some(key) != key_of_server.as_ref());
        let mut text = format!("Restored the database \"{shown}\" from \"{backup}\".");
        let mut fields = Map::new();
        if is_replaced {
            text += &format!(" The database before the restore is \"{kept}\".");
            fields.insert("before".into(), kept.to_string().into());
        }
        for suffix in LOGS {
            let log = beside(&files.kept, suffix);
            if log.exists() {
                let log = log.display();
                text += &format!(" The log of the database before the restore is \"{log}\".");
            }
        }
        if let Some(key) = missing_key {
            let remedy = match &self.secret_key_file {
                Some(named) => format!(
                    "rename the key file that the server reads, if it exists, and copy \"{named}\" to its path; or start each \
                     process with --secret-key-file \"{named}\"",
                    named = named.display()
                ),
                None => "rename the key file that the server reads, if it exists, and copy the file of this key to its path"
                    .into(),
            };
            text += &format!(" Its webhook secrets are encrypted with the key {key}: {remedy}.");
            fields.insert("missingKey".into(), key.to_string().into());
        }
        let Consequences { carried_over, to_repeat, warnings } = consequences;
        text += "\nAll members are signed out.";
        for change in &carried_over {
            text += &format!("\nCarried over: {change}.");
        }
        for repetition in &to_repeat {
            text += &format!("\n{}", repetition.describe());
        }
        fields.insert("carriedOver".into(), carried_over.into());
        let commands = to_repeat.into_iter().map(|repetition| Value::String(repetition.command));
        fields.insert("toRepeat".into(), commands.collect());
        if !warnings.is_empty() {
            text += &format!("\n{}", warnings.join("\n"));
            fields.insert("warning".into(), warnings.join(" ").into());
        }
        Output::change(text, Value::Object(fields))
    }

    /// Checks that the backup is one complete file.
    fn check_file(&self, files: &Files) -> BoardResult<()> {
        let backup = &self.path;
        let shown = backup.display();
        let unreadable = |error| refused(&format!("cannot read the backup \"{shown}\": {error}"));
        check_link(backup).map_err(unreadable)?;
        let file = backup.metadata().map_err(unreadable)?;
        if !file.is_file() || file.len() == 0 {
            return Err(refused(&format!("the backup \"{shown}\" is empty or not a file")));
        }
        if is_same_file(backup, &files.database) {
            return Err(refused(&format!("the backup \"{shown}\" is the database itself")));
        }
        if is_same_file(backup, &files.copy) {
            return Err(refused(&format!(
                "the file \"{shown}\" is the copy of a restore that was killed; move it to another path first"
            )));
        }
        let mut logs = LOGS.into_iter().map(|suffix| beside(backup, suffix));
        if let Some(log) = logs.find(|log| log.metadata().is_ok_and(|log| log.len() > 0)) {
            let log = log.display();
            return Err(refused(&format!(
                "the backup \"{shown}\" is incomplete: its log \"{log}\" is beside it"
            )));
        }
        Ok(())
    }

    /// Copies the backup to a file with mode 0600 that the owner of the database owns.
    fn write_copy(&self, files: &Files) -> io::Result<()> {
        let mut backup = File::open(&self.path)?;
        let mut copy =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(&files.copy)?;
        if let Ok(old) = files.database.metadata() {
            fchown(&copy, Some(old.uid()), None)?;
            // Fails if the process is not in the group, to which the mode gives no access.
            drop(fchown(&copy, None, Some(old.gid())));
        }
        io::copy(&mut backup, &mut copy).map(drop)
    }

    /// Checks the copy, applies pending migrations, ends its sessions, repeats the changes of the `old` database that must
    /// not come undone, adds the entry to its audit log, advances its ids past those of the old database, and syncs it.
    async fn prepare(
        &self,
        files: &Files,
        cipher: &WebhookCipher,
        old: Option<&Connection>,
    ) -> BoardResult<Prepared> {
        self.check_content(&files.copy)?;
        let location = DatabasePath::File { path: files.copy.clone(), create: false };
        let url = DatabaseUrl::Sqlite(location, DatabaseSettings::default());
        let board = url.open(Language::English).await?;
        board.migrate().await?;
        let stored = board.database.webhooks().key_id().await?;
        let given = cipher.0.key_id();
        if let Some(stored) = &stored
            && *stored != given
            && !cipher.is_plaintext()
        {
            let mismatch = KeyMismatchError::new(stored.clone(), given);
            return Err(refused(&format!(
                "{mismatch}; pass the file of the key of the backup with --secret-key-file, or move the file of the other key \
                 to another path"
            )));
        }
        let mut consequences = carry_over(&board, &files.copy, old).await?;
        if !board.read(|connection| Box::pin(accounts::has_administrator(connection))).await? {
            consequences.warnings.push(NO_ADMINISTRATOR.into());
        }
        let entry = audit::entry(audit::DATABASE_RESTORED, self.path.display())?;
        board.write_audited(entry, |tx, _| Box::pin(sessions::end_all(tx))).await?;
        board.database.close().await;
        Connection::open(&files.copy)
            .and_then(|copy| leave_gap(&copy, old))
            .map_err(SqliteError::from)?;
        File::open(&files.copy).and_then(|copy| copy.sync_all()).or_internal()?;
        Ok(Prepared { key: stored, consequences })
    }

    /// Checks that the copy is an undamaged database with a board.
    fn check_content(&self, copy: &Path) -> BoardResult<()> {
        let shown = self.path.display();
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let result = Connection::open_with_flags(copy, flags).and_then(|connection| {
            connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get::<_, String>(0))
        });
        match result {
            Ok(result) if result == "ok" => {}
            Ok(_) => return Err(refused(&format!("the backup \"{shown}\" is damaged"))),
            Err(error) => {
                let reason = match error.sqlite_error_code() {
                    Some(ErrorCode::NotADatabase) => "is not a SQLite database".into(),
                    Some(ErrorCode::DatabaseCorrupt) => "is damaged".into(),
                    _ => format!("cannot be checked: {}", SqliteError::from(error)),
                };
                return Err(refused(&format!("the backup \"{shown}\" {reason}")));
            }
        }
        match db::holds_board(copy) {
            Ok(true) => Ok(()),
            _ => Err(refused(&format!("the backup \"{shown}\" contains no board"))),
        }
    }
}

/// Warning about a board whose administrators are banned, have lost the group, or have no password.
const NO_ADMINISTRATOR: &str = "No administrator can sign in: run \
                                `forum-server member add NAME --groups members,administrators` and \
                                `forum-server member password NAME`.";

/// Details of an audit entry of a repeated change.
const CARRIED_OVER: &str = "carried over by restore";

/// Repeats the changes of the old database that must not come undone in the copy, and copies their entries in the audit
/// log.
async fn carry_over(
    board: &ReferenceBoard,
    copy: &Path,
    old: Option<&Connection>,
) -> BoardResult<Consequences> {
    let found = old.map(|old| {
        let copy = Connection::open_with_flags(copy, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        CarriedChanges::find(&copy, old)
    });
    let unread = match found {
        Some(Ok(Some(changes))) => return repeat(board, changes).await,
        Some(Ok(None)) => "is another board".into(),
        Some(Err(error)) => format!("cannot be read ({})", SqliteError::from(error)),
        None => "is missing or cannot be read".into(),
    };
    let warning = format!(
        "The database before the restore {unread}: tokens that were revoked, members who were banned or erased, passwords \
         that were changed, groups that were removed, endpoints that were removed, changed or disabled, and secrets that \
         were rotated since the backup are as in the backup. Repeat these changes."
    );
    Ok(Consequences { warnings: vec![warning], ..Consequences::default() })
}

/// Repeats changes in a restored database. The entries of the original changes follow those of the backup in the audit log,
/// with their times.
async fn repeat(board: &ReferenceBoard, changes: CarriedChanges) -> BoardResult<Consequences> {
    let mut carried_over = Vec::new();
    let carried_entry = |action, target: &str| -> BoardResult<AuditEntry> {
        Ok(audit::entry(action, target)?.with_details(CARRIED_OVER))
    };
    let tokens = board.database.stores().tokens;
    for lookup in &changes.revoked_tokens {
        let entry = carried_entry(AuditAction::TOKEN_REVOKED, lookup)?;
        let parsed = Lookup::parse(lookup).or_internal()?;
        tokens.revoke(&parsed, SystemClock.now(), &entry).await?;
        carried_over.push(format!("the token {lookup} is revoked"));
    }
    for ChangedMember { id, name, is_banned, password_hash, groups } in changes.members {
        if is_banned {
            let entry = carried_entry(audit::MEMBER_BANNED, &name)?;
            board
                .set_audited(entry, move |tx, _| Box::pin(accounts::set_banned(tx, id, true)))
                .await?;
            carried_over.push(format!("{name:?} is banned"));
        }
        if let Some(hash) = password_hash {
            let entry = carried_entry(audit::MEMBER_PASSWORD_CHANGED, &name)?;
            board
                .write_audited(entry, move |tx, _| {
                    Box::pin(async move { accounts::set_password(tx, id, &hash).await })
                })
                .await?;
            carried_over.push(format!("{name:?} has the last password"));
        }
        if let Some(groups) = groups {
            let entry = audit::entry(audit::MEMBER_GROUPS_CHANGED, &name)?
                .with_details(format_args!("groups {groups}, {CARRIED_OVER}"));
            board
                .set_audited(entry, move |tx, _| Box::pin(accounts::set_groups(tx, id, groups)))
                .await?;
            carried_over.push(format!("the groups of {name:?} are {groups}"));
        }
    }
    let entries = changes.entries;
    board
        .write(move |tx, _| {
            Box::pin(async move {
                for entry in &entries {
                    tx.execute_texts(AuditEntry::INSERT_SQL, entry).await?;
                }
                Ok(())
            })
        })
        .await?;
    let mut to_repeat = Vec::new();
    for name in changes.lost_passwords {
        to_repeat.push(Repetition {
            reason: format!("The password of {name:?} was changed since the backup"),
            command: format!("member password {name}"),
        });
    }
    for ChangedEndpoint { id, change } in changes.endpoints {
        let mut options = String::new();
        let (what, done, action) = match change {
            EndpointChange::Removed => ("endpoint", "removed", "remove"),
            EndpointChange::Updated(values) => {
                options = update_options(values);
                ("endpoint", "changed", "update")
            }
            EndpointChange::Disabled => ("endpoint", "disabled", "disable"),
            EndpointChange::OwnerLost => {
                ("owner of the endpoint", "replaced by a later member", "disable")
            }
            EndpointChange::SecretRotated => ("secret of the endpoint", "rotated", "rotate"),
            EndpointChange::SecretActivated => ("secret of the endpoint", "activated", "activate"),
        };
        to_repeat.push(Repetition {
            reason: format!("The {what} {id} was {done} since the backup"),
            command: format!("webhook {action} {id}{options}"),
        });
    }
    // An erasure removes the endpoints of the member: those that have another owner now are changed before.
    for ErasedMember { name, with_posts } in changes.erased_members {
        to_repeat.push(Repetition {
            reason: format!("The member {name:?} was erased since the backup"),
            command: erase_command(&[&name], with_posts),
        });
    }
    Ok(Consequences { carried_over, to_repeat, warnings: Vec::new() })
}

/// Returns the options of `webhook update` that set these values.
fn update_options(values: EndpointValues) -> String {
    let EndpointValues { url, topics, owner } = values;
    let options = [("url", url), ("topics", topics), ("owner", owner)];
    let set = options.into_iter().filter_map(|(name, value)| Some((name, value?)));
    set.map(|(name, value)| format!(" --{name} {}", quote_for_shell(&value))).collect()
}

/// Quotes a text as one argument of a POSIX shell, if it needs quotes.
fn quote_for_shell(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-,/:@%+".contains(&byte);
    if !text.is_empty() && text.bytes().all(is_plain) {
        return text.into();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

impl Files {
    fn of(database: &Path) -> io::Result<Self> {
        // SQLite follows a link as well: the log is beside the file, not beside the link.
        let database = match database.canonicalize() {
            Err(error) if error.kind() == ErrorKind::NotFound => path::absolute(database)?,
            path => path?,
        };
        Ok(Self {
            copy: beside(&database, ".restoring"),
            kept: beside(&database, ".before-restore"),
            database,
        })
    }

    /// Refuses a log that an earlier restore kept: SQLite would apply it to the database that this restore keeps.
    ///
    /// Accepts the log of this database, which a restore that was killed can leave there.
    fn check_kept_logs(&self) -> BoardResult<()> {
        if self.kept.exists() {
            return Ok(());
        }
        for suffix in LOGS {
            let log = beside(&self.kept, suffix);
            if log.exists() && !is_same_file(&log, &beside(&self.database, suffix)) {
                let log = log.display();
                return Err(refused(&format!(
                    "the file \"{log}\" exists and is the log of the database before an earlier restore; move it to another path first"
                )));
            }
        }
        Ok(())
    }

    /// Removes the copy, including the copy of a restore that was killed.
    fn remove_copy(&self) -> io::Result<()> {
        for suffix in [LOGS[0], LOGS[1], INDEX, ""] {
            remove(&beside(&self.copy, suffix))?;
        }
        Ok(())
    }

    /// Gives the old database the name `kept`, and the copy the name of the database.
    ///
    /// The database has a log only if SQLite cannot read the database, or if the database is missing. The log then gets the name that belongs to
    /// `kept`. The log is removed from beside the database before the copy gets its name, because SQLite would apply
    /// the log to the copy.
    fn replace(&self) -> io::Result<()> {
        let is_replaced = self.database.exists();
        for suffix in ["", LOGS[0], LOGS[1]] {
            keep(&beside(&self.database, suffix), &beside(&self.kept, suffix))?;
        }
        self.sync()?;
        for suffix in [LOGS[0], LOGS[1], INDEX] {
            remove(&beside(&self.database, suffix))?;
        }
        if is_replaced {
            fs::rename(&self.copy, &self.database)?;
        } else {
            // Fails if a server has created a database meanwhile.
            fs::hard_link(&self.copy, &self.database)?;
            fs::remove_file(&self.copy)?;
        }
        self.sync()
    }

    /// Writes the names in the directory to the disk.
    fn sync(&self) -> io::Result<()> {
        let directory = self.database.parent().unwrap_or(Path::new("/"));
        File::open(directory)?.sync_all()
    }
}

/// Locks the database for other programs, and merges its log into it. Returns `None` for a missing file, and for one
/// that SQLite cannot read.
///
/// A process that opens the file now gets an error, also after the file has lost its name: a database without a log
/// must have the name under which it was opened before SQLite writes to it.
fn lock(database: &Path) -> BoardResult<Option<Connection>> {
    let unusable = |error: &dyn Display| {
        let shown = database.display();
        refused(&format!("cannot lock the database \"{shown}\": {error}"))
    };
    // SQLite would remove the log of a file without this header.
    match begins_as_sqlite(database) {
        Ok(true) => {}
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(unusable(&error)),
        _ => return Ok(None),
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let locked = Connection::open_with_flags(database, flags).and_then(|connection| {
        connection.busy_timeout(Duration::ZERO)?;
        connection.execute_batch("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE")?;
        let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
        Ok((connection, mode == "delete"))
    });
    let error = locked.as_ref().err();
    let code = error.and_then(|error| error.sqlite_error_code());
    match (locked, code) {
        (Ok((connection, true)), _) => Ok(Some(connection)),
        (_, Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt)) => Ok(None),
        (Ok(_), _) | (_, Some(ErrorCode::DatabaseBusy)) => {
            let shown = database.display();
            Err(refused(&format!("another program uses the database \"{shown}\"; stop it first")))
        }
        (Err(error), _) => Err(unusable(&SqliteError::from(error))),
    }
}

/// Gives the file the name `kept` as well, unless it does not exist or has that name from a restore that was killed.
fn keep(file: &Path, kept: &Path) -> io::Result<()> {
    match fs::hard_link(file, kept) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists && is_same_file(file, kept) => {
            Ok(())
        }
        linked => linked,
    }
}

fn remove(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| path.metadata().map(|file| (file.dev(), file.ino())).ok();
    identity(one).is_some_and(|one| identity(other) == Some(one))
}
