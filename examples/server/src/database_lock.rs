//! Locks beside a SQLite database, by which its processes detect each other. The system releases the locks of a killed
//! process.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use forum_api::host::{BoardError, BoardResult};
use rustix::fs::OFlags;
use serde::Serialize;

use crate::options::{check_sqlite_form, node_name};
use crate::own_files;

/// Address of a worker, as Postgres shows a process without an address.
const LOCAL: &str = "local";

/// Use of a database by this process, until this value is dropped. Databases in memory and in Postgres have no lock.
#[derive(Debug)]
pub struct DatabaseLock {
    _file: Option<LockFile>,
}

impl DatabaseLock {
    /// Marks an existing database as used. Any number of processes can use a database.
    ///
    /// # Errors
    /// If another process holds the [`exclusive`](Self::exclusive) lock, or a file of the database is one that
    /// [`check_database`](own_files::check_database) refuses.
    pub fn shared(database: &str) -> BoardResult<Self> {
        match sqlite_path(database) {
            Some(path) if Path::new(path).exists() => Self::shared_or_new(database),
            _ => Ok(Self { _file: None }),
        }
    }

    /// Like [`shared`](Self::shared), also for a database that this process is about to create.
    pub fn shared_or_new(database: &str) -> BoardResult<Self> {
        let lock = |path| LockFile::lock(path, "lock", lock_shared);
        match checked_path(database)?.map(lock).transpose() {
            Ok(file) => Ok(Self { _file: file }),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                Err(BoardError::conflict("another process is replacing the database"))
            }
            // A process that may not write the directory uses the database without a lock.
            Err(_) => Ok(Self { _file: None }),
        }
    }

    /// Keeps all other processes of the program from using a database.
    ///
    /// # Errors
    /// If a process uses the database, or the lock cannot be created, or a file of the database is one that
    /// [`check_database`](own_files::check_database) refuses.
    pub fn exclusive(database: &str) -> BoardResult<Self> {
        let lock = |path| LockFile::lock(path, "lock", |file| Ok(file.try_lock()?));
        match checked_path(database)?.map(lock).transpose() {
            Ok(file) => Ok(Self { _file: file }),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                Err(BoardError::conflict("a process uses the database; stop it first"))
            }
            Err(error) => Err(BoardError::internal(format!("cannot lock the database: {error}"))),
        }
    }
}

/// Registration of a server or a worker of a database, until this value is dropped.
#[derive(Debug)]
pub struct NodeLock {
    _file: LockFile,
    /// Description of the server that started last, if another server of the database runs.
    pub other: Option<String>,
}

impl NodeLock {
    /// Registers this process: a server that listens on `address`, or a worker. Returns `None` for databases without a
    /// lock. Fails if another process locks the file exclusively for more than a second.
    pub fn register(database: &str, address: Option<SocketAddr>) -> io::Result<Option<Self>> {
        let Some(path) = sqlite_path(database) else {
            return Ok(None);
        };
        let address = address.map_or(LOCAL.into(), |address| address.to_string());
        let mut other = None;
        let registered = LockFile::lock(path, "server", |mut file| {
            other = None;
            match file.try_lock() {
                Ok(()) => file.set_len(0)?,
                Err(TryLockError::WouldBlock) => {
                    // A process holds the lock exclusively until it has written its line.
                    lock_shared(file)?;
                    let mut text = String::new();
                    file.read_to_string(&mut text)?;
                    let mut running = text.lines().filter(|line| is_running(line));
                    other = running.rfind(|line| !line.ends_with(LOCAL)).map(Into::into);
                }
                Err(error) => return Err(error.into()),
            }
            file.write_all(format!("{} on {address}\n", node_name()).as_bytes())?;
            lock_shared(file)
        })?;
        Ok(Some(Self { _file: registered, other }))
    }
}

/// A running server or worker.
#[derive(Debug, Serialize)]
pub struct Node {
    pub version: String,
    /// Host and process id.
    pub process: String,
    pub address: String,
}

/// Returns the running servers and workers of a SQLite database.
pub fn running_nodes(database: &str) -> Vec<Node> {
    let text = sqlite_path(database)
        .and_then(|path| fs::read_to_string(format!("{path}.server")).ok())
        .unwrap_or_default();
    let running = text.lines().filter(|line| is_running(line));
    let nodes = running.filter_map(|line| {
        let [version, process, _, address] = line.split(' ').collect::<Vec<_>>().try_into().ok()?;
        Some(Node { version: version.into(), process: process.into(), address: address.into() })
    });
    nodes.collect()
}

/// Returns whether the process of a line runs. The line of a killed process exists while other processes run.
fn is_running(line: &str) -> bool {
    let name = line.split(' ').nth(1);
    let process = name.and_then(|name| name.rsplit('/').next());
    process.is_some_and(|process| Path::new("/proc").join(process).exists())
}

/// Locks a file shared. Another process locks the file exclusively for a moment, before it removes the file or writes
/// its line, so the lock is tried for a second. Fails with [`WouldBlock`](ErrorKind::WouldBlock) if the file is locked
/// for longer.
fn lock_shared(file: &File) -> io::Result<()> {
    for _ in 0..100 {
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(10)),
            locked => return Ok(locked?),
        }
    }
    Ok(file.try_lock_shared()?)
}

/// A locked file beside a database. The last process that drops it removes the file.
#[derive(Debug)]
struct LockFile {
    file: File,
    path: PathBuf,
}

impl LockFile {
    /// Opens the file `<database>.<extension>` and locks it with `lock`.
    fn lock(
        database: &str,
        extension: &str,
        mut lock: impl FnMut(&File) -> io::Result<()>,
    ) -> io::Result<Self> {
        let path = PathBuf::from(format!("{database}.{extension}"));
        loop {
            let file = open(&path, database)?;
            lock(&file)?;
            // Another process can have removed the file after it was opened here.
            let current = path.metadata().map(|current| current.ino()).ok();
            if current == Some(file.metadata()?.ino()) {
                return Ok(Self { file, path });
            }
        }
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        if self.file.try_lock().is_ok() {
            drop(fs::remove_file(&self.path));
        }
    }
}

/// Returns the path of a SQLite database in a file.
fn sqlite_path(database: &str) -> Option<&str> {
    let path = database.strip_prefix("sqlite:")?;
    (path != ":memory:").then_some(path)
}

/// Returns the path of a SQLite database in a file, after the check of its files.
fn checked_path(database: &str) -> BoardResult<Option<&str>> {
    check_sqlite_form(database).map_err(|reason| BoardError::validation("database", reason))?;
    let path = sqlite_path(database);
    if let Some(path) = path {
        own_files::check_database(Path::new(path))?;
    }
    Ok(path)
}

/// Opens or creates the lock file of a database. The owner of the database owns a created file, because an operator can
/// run a command as root before the server starts.
///
/// # Errors
/// If the file is a symbolic link or has several hard links, because it can then belong to another program.
fn open(path: &Path, database: &str) -> io::Result<File> {
    let database = Path::new(database).metadata().ok();
    let mut options = OpenOptions::new();
    options.read(true).append(true).mode(0o600);
    options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    loop {
        match options.create_new(true).open(path) {
            Ok(file) => {
                if let Some(database) = database
                    && database.uid() != file.metadata()?.uid()
                {
                    // Only root can change the owner.
                    drop(fchown(&file, Some(database.uid()), Some(database.gid())));
                }
                return Ok(file);
            }
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            Err(_) => {}
        }
        match options.create_new(false).open(path) {
            // Another process has removed the file in the meantime.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            opened => {
                let file = opened?;
                let found = file.metadata()?;
                if !found.is_file() || found.nlink() > 1 {
                    return Err(io::Error::other("the lock file is not a file of the server"));
                }
                return Ok(file);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

    use super::*;

    /// Returns whether this process has opened a file twice.
    fn is_open_twice(path: &str) -> bool {
        let open = fs::read_dir("/proc/self/fd").unwrap();
        let targets = open.filter_map(|entry| fs::read_link(entry.unwrap().path()).ok());
        targets.filter(|target| target == Path::new(path)).count() == 2
    }

    /// The other server has locked the file and not written its line.
    #[test]
    fn a_server_waits_for_the_line_of_another_one_that_starts() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("forum.db").display().to_string();
        let mut file = File::create(format!("{path}.server")).unwrap();
        file.lock().unwrap();
        let second = thread::spawn({
            let database = format!("sqlite:{path}");
            move || NodeLock::register(&database, None).unwrap().unwrap()
        });
        while !is_open_twice(&format!("{path}.server")) && !second.is_finished() {
            thread::yield_now();
        }
        let line = format!("{} on 127.0.0.1:1", node_name());
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
        file.lock_shared().unwrap();
        let registered = second.join().unwrap();
        assert_eq!(registered.other.as_ref(), Some(&line));
        let lines = fs::read_to_string(format!("{path}.server")).unwrap();
        assert_eq!(lines, format!("{line}\n{} on {LOCAL}\n", node_name()));
    }

    /// The other server was stopped before it wrote its line.
    #[test]
    fn a_registration_fails_if_another_process_keeps_the_file_locked() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("forum.db").display().to_string();
        let file = File::create(format!("{path}.server")).unwrap();
        file.lock().unwrap();
        let refused = NodeLock::register(&format!("sqlite:{path}"), None).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::WouldBlock);
    }

    #[test]
    fn a_server_learns_of_the_server_that_started_last() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("forum.db").display().to_string();
        let database = format!("sqlite:{path}");
        let file = format!("{path}.server");
        let line = |address: &str| format!("{} on {address}", node_name());
        let register = |address: Option<&str>| {
            let address = address.map(|address| address.parse().unwrap());
            NodeLock::register(&database, address).unwrap().unwrap()
        };
        // All processes of the database were killed.
        fs::write(&file, format!("{}\n", line("127.0.0.1:9"))).unwrap();
        let worker = register(None);
        let first = register(Some("127.0.0.1:1"));
        let second = register(Some("[::1]:2"));
        // No process has an id of this size.
        let mut killed = OpenOptions::new().append(true).open(&file).unwrap();
        killed.write_all(b"forum-server/0 host/4294967295 on 127.0.0.1:3\n").unwrap();
        let last = register(None);
        let others = [&worker, &first, &second, &last].map(|node| node.other.clone());
        assert_eq!(others, [None, None, Some(line("127.0.0.1:1")), Some(line("[::1]:2"))]);

        let name = node_name();
        let (version, process) = name.split_once(' ').unwrap();
        let nodes = running_nodes(&database);
        let found: Vec<_> =
            nodes.iter().map(|node| [&*node.version, &*node.process, &*node.address]).collect();
        let addresses = [LOCAL, "127.0.0.1:1", "[::1]:2", LOCAL];
        assert_eq!(found, addresses.map(|address| [version, process, address]));
        drop((worker, first, second));
        assert!(Path::new(&file).exists());
        drop(last);
        assert!(!Path::new(&file).exists());
        assert!(running_nodes(&database).is_empty());
    }

    #[test]
    fn a_file_that_was_removed_before_it_was_locked_is_created_again() {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("forum.db").display().to_string();
        let path = format!("{database}.lock");
        let mut locked = 0;
        let lock = LockFile::lock(&database, "lock", |file| {
            locked += 1;
            if locked == 1 {
                fs::remove_file(&path)?;
            }
            Ok(file.try_lock_shared()?)
        });
        assert!(Path::new(&path).exists());
        drop(lock.unwrap());
        assert_eq!(locked, 2);
    }

    /// The other process is the last user, and removes the file.
    #[test]
    fn a_process_waits_for_the_end_of_the_last_user() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("forum.db").display().to_string();
        File::create(&path).unwrap();
        let last = File::create(format!("{path}.lock")).unwrap();
        last.lock().unwrap();
        let next = thread::spawn({
            let database = format!("sqlite:{path}");
            move || DatabaseLock::shared(&database).map(drop)
        });
        while !is_open_twice(&format!("{path}.lock")) && !next.is_finished() {
            thread::yield_now();
        }
        fs::remove_file(format!("{path}.lock")).unwrap();
        drop(last);
        next.join().unwrap().unwrap();
    }

    #[test]
    fn an_exclusive_lock_excludes_users_and_is_refused_while_one_exists() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("forum.db");
        let path = file.to_str().unwrap();
        let database = format!("sqlite:{path}");
        DatabaseLock::shared(&database).unwrap();
        assert!(!Path::new(&format!("{path}.lock")).exists());
        let server = DatabaseLock::shared_or_new(&database).unwrap();
        let mode = Path::new(&format!("{path}.lock")).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        File::create(path).unwrap();
        let command = DatabaseLock::shared(&database).unwrap();
        drop(server);
        let refused = DatabaseLock::exclusive(&database).unwrap_err().to_string();
        assert_eq!(refused, "a process uses the database; stop it first");
        drop(command);
        let restore = DatabaseLock::exclusive(&database).unwrap();
        let refused = DatabaseLock::shared(&database).unwrap_err().to_string();
        assert_eq!(refused, "another process is replacing the database");
        drop(restore);
        DatabaseLock::shared(&database).unwrap();
        assert!(!Path::new(&format!("{path}.lock")).exists());
    }

    #[test]
    fn a_lock_file_that_has_another_name_is_not_changed() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let database = at("forum.db").display().to_string();
        for name in ["forum.db", "other"] {
            fs::write(at(name), "content").unwrap();
        }
        type Link = fn(PathBuf, PathBuf) -> io::Result<()>;
        for link in [symlink as Link, fs::hard_link] {
            link(at("other"), at("forum.db.server")).unwrap();
            NodeLock::register(&format!("sqlite:{database}"), None).unwrap_err();
            assert_eq!(fs::read_to_string(at("other")).unwrap(), "content");
            fs::remove_file(at("forum.db.server")).unwrap();
        }
    }

    #[test]
    fn only_a_created_lock_file_gets_the_owner_of_the_database() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let database = at("forum.db");
        fs::write(&database, "").unwrap();
        fs::write(at("forum.db.lock"), "").unwrap();
        let own = database.metadata().unwrap().uid();
        // Only root can change an owner; without root both files keep theirs.
        drop(chown(&database, Some(65_534), None));
        let owner = database.metadata().unwrap().uid();
        let database = format!("sqlite:{}", database.display());
        let lock = DatabaseLock::shared(&database).unwrap();
        assert_eq!(at("forum.db.lock").metadata().unwrap().uid(), own);
        drop(lock);
        let lock = DatabaseLock::shared(&database).unwrap();
        assert_eq!(at("forum.db.lock").metadata().unwrap().uid(), owner);
        drop(lock);
    }
}
