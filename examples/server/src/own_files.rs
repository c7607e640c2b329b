//! Checks of links and special files in place of the server's files. A user with write access to the directory of a file
//! can replace the file by a link, or by a pipe, at which a command waits. A command that runs as another user must not
//! follow this link.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use forum_api::host::{BoardError, BoardResult};
use rustix::process::geteuid;

use crate::new_file::beside;

/// First bytes of each SQLite database that is not empty.
pub const SQLITE_HEADER: &[u8; 16] = b"SQLite format 3\0";

/// Suffixes of the files that can contain changes of a SQLite database.
pub const LOGS: [&str; 2] = ["-wal", "-journal"];

/// Suffixes of the files that SQLite creates beside a database.
const FILES_OF_SQLITE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Suffixes of the files beside a database that are never links.
const BESIDE: [&str; 11] = [
    "-wal",
    "-shm",
    "-journal",
    ".lock",
    ".server",
    ".partial",
    ".restoring",
    ".before-restore",
    ".before-restore-wal",
    ".before-restore-shm",
    ".before-restore-journal",
];

fn refused<T>(reason: &str) -> io::Result<T> {
    Err(io::Error::new(ErrorKind::InvalidInput, reason))
}

/// Checks a file that can be a link. The target of a link must be a regular file with the owner of the link. A pipe, a
/// socket or a device is refused. Succeeds if the file does not exist, or is a directory.
pub fn check_link(path: &Path) -> io::Result<()> {
    let link = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        found => found?,
    };
    if !link.is_symlink() {
        return check_kind(&link);
    }
    match path.metadata() {
        Ok(target) if !target.is_file() => {
            refused("it is a symbolic link, but not to a regular file")
        }
        Ok(target) if target.uid() != link.uid() => {
            refused("it is a symbolic link to a file of another owner")
        }
        Ok(_) => Ok(()),
        Err(_) => refused("it is a symbolic link that cannot be followed"),
    }
}

fn check_kind(file: &Metadata) -> io::Result<()> {
    if file.is_file() || file.is_dir() { Ok(()) } else { refused("it is not a regular file") }
}

/// Checks a file like [`check_link`]. Also refuses a file with several names (hard links), which can be that of another
/// program or user.
pub fn check_single(path: &Path) -> io::Result<()> {
    check_link(path)?;
    match path.metadata() {
        Ok(file) => check_names(&file, 1),
        Err(_) => Ok(()),
    }
}

fn check_names(file: &Metadata, known: u64) -> io::Result<()> {
    if file.is_file() && file.nlink() > known {
        return refused("it has several names (hard links)");
    }
    Ok(())
}

/// Files of a SQLite database: the database and the files beside it.
struct DatabaseFiles {
    /// The database, without links in its path.
    target: PathBuf,
    /// Paths of the files beside the database, and beside a link to it.
    beside: BTreeSet<PathBuf>,
}

impl DatabaseFiles {
    fn of(path: &Path) -> Self {
        // SQLite follows a link as well: its log is beside the file, not beside the link.
        let target = path.canonicalize().unwrap_or_else(|_| path.into());
        let beside_of = |suffix| [beside(path, suffix), beside(&target, suffix)];
        Self { beside: BESIDE.into_iter().flat_map(beside_of).collect(), target }
    }

    /// Checks the names of a file. A file can have two of the names of this database: `restore` gives the replaced database
    /// another name before it removes the first.
    fn check_names(&self, file: &Metadata) -> io::Result<()> {
        let is_same = |path: &&PathBuf| {
            let found = fs::symlink_metadata(path);
            found.is_ok_and(|found| (found.dev(), found.ino()) == (file.dev(), file.ino()))
        };
        let paths = self.beside.iter().chain([&self.target]).filter(is_same);
        // The same file below different paths of one directory counts once.
        let names: BTreeSet<_> = paths.filter_map(|path| path.file_name()).collect();
        check_names(file, names.len() as u64)
    }

    /// Checks a file beside the database, which is never a link. SQLite gives a log that root opens to the owner of the
    /// database, so that root must not use the log of another user.
    fn check_beside(&self, path: &Path) -> io::Result<()> {
        let file = match fs::symlink_metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            found => found?,
        };
        if file.is_symlink() {
            return refused("it is a symbolic link");
        }
        check_kind(&file)?;
        self.check_names(&file)?;
        let name = path.as_os_str().as_bytes();
        let is_of_sqlite = FILES_OF_SQLITE.iter().any(|suffix| name.ends_with(suffix.as_bytes()));
        let database = self.target.metadata().ok();
        let is_of_other = database.is_some_and(|database| database.uid() != file.uid());
        if is_of_sqlite && geteuid().is_root() && is_of_other {
            let reason = "it has another owner than the database; change its owner, or run as the owner of the database";
            return refused(reason);
        }
        Ok(())
    }
}

/// Returns whether a path is reserved for the key file or another file beside a database. The file need not exist.
pub fn is_beside(database: &Path, path: &Path) -> bool {
    let resolved = |path: &Path| {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let directory = parent.unwrap_or(Path::new(".")).canonicalize().ok()?;
        Some(directory.join(path.file_name()?))
    };
    let mut files = DatabaseFiles::of(database).beside;
    files.extend([".key", ".copying", ".key.copying"].map(|suffix| beside(database, suffix)));
    let path = resolved(path);
    path.is_some() && files.iter().any(|file| resolved(file) == path)
}

/// Checks the file of a SQLite database and the files beside it. A link must lead to a SQLite database.
///
/// # Errors
/// If a file is a link that the server does not follow, or is not a regular file, or has other names.
pub fn check_database(path: &Path) -> BoardResult<()> {
    let unusable = |file: &Path, reason: &dyn Display| {
        let file = file.display();
        BoardError::conflict(format!("cannot use the file \"{file}\": {reason}"))
    };
    let key = beside(path, ".key");
    check_single(&key).map_err(|error| unusable(&key, &error))?;
    check_link(path).map_err(|error| unusable(path, &error))?;
    let files = DatabaseFiles::of(path);
    if let Ok(database) = files.target.metadata() {
        files.check_names(&database).map_err(|error| unusable(path, &error))?;
    }
    if path.is_symlink() && !begins_as_sqlite(&files.target).unwrap_or(false) {
        return Err(unusable(path, &"it is a symbolic link, but not to a SQLite database"));
    }
    for file in &files.beside {
        files.check_beside(file).map_err(|error| unusable(file, &error))?;
    }
    Ok(())
}

/// Returns the path of a log beside a database, if one exists. The database need not exist.
pub fn find_log(database: &Path) -> Option<PathBuf> {
    let mut logs = LOGS.into_iter().map(|suffix| beside(database, suffix));
    logs.find(|log| log.symlink_metadata().is_ok())
}

/// Returns whether a file begins with [`SQLITE_HEADER`].
pub fn begins_as_sqlite(path: &Path) -> io::Result<bool> {
    let mut header = [0; SQLITE_HEADER.len()];
    match File::open(path)?.read_exact(&mut header) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        read => read.map(|()| header == *SQLITE_HEADER),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{chown, lchown, symlink};

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn a_link_must_lead_to_a_regular_file_of_its_owner() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::write(at("target"), "").unwrap();
        fs::create_dir(at("directory")).unwrap();
        let is_no_file = Some("it is a symbolic link, but not to a regular file");
        let is_lost = Some("it is a symbolic link that cannot be followed");
        for (target, expected) in [
            ("target", None),
            ("directory", is_no_file),
            ("/dev/null", is_no_file),
            ("missing", is_lost),
            ("link", is_lost),
        ] {
            symlink(target, at("link")).unwrap();
            let refused = check_link(&at("link")).err().map(|error| error.to_string());
            assert_eq!(refused.as_deref(), expected, "{target}");
            fs::remove_file(at("link")).unwrap();
        }
        check_link(&at("link")).unwrap();
        symlink("target", at("link")).unwrap();
        // Only root can change an owner.
        if lchown(at("link"), Some(65_534), None).is_ok() {
            let refused = check_link(&at("link")).unwrap_err().to_string();
            assert_eq!(refused, "it is a symbolic link to a file of another owner");
            chown(at("target"), Some(65_534), None).unwrap();
            check_link(&at("link")).unwrap();
        }
    }

    #[test]
    fn a_link_of_a_database_leads_to_a_database_and_no_file_beside_it_is_a_link() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::create_dir(at("disk")).unwrap();
        let database = at("forum.db");
        symlink("disk/board.db", &database).unwrap();
        for content in ["", "root:x:0:0", "root:x:0:0:root:/root:/bin/bash"] {
            fs::write(at("disk/board.db"), content).unwrap();
            let refused = check_database(&database).unwrap_err().to_string();
            let expected = "forum.db\": it is a symbolic link, but not to a SQLite database";
            assert!(refused.ends_with(expected), "{refused}");
        }
        fs::write(at("disk/board.db"), SQLITE_HEADER).unwrap();
        check_database(&database).unwrap();
        fs::write(at("other"), "").unwrap();
        for name in ["forum.db", "disk/board.db"] {
            for suffix in BESIDE {
                let link = beside(&at(name), suffix);
                symlink(at("other"), &link).unwrap();
                let refused = check_database(&database).unwrap_err().to_string();
                let expected = format!("{suffix}\": it is a symbolic link");
                assert!(refused.starts_with("cannot use the file \""), "{refused}");
                assert!(refused.ends_with(&expected), "{refused}");
                fs::remove_file(link).unwrap();
            }
        }
        symlink(at("missing"), at("forum.db.key")).unwrap();
        let refused = check_database(&database).unwrap_err().to_string();
        let expected = "forum.db.key\": it is a symbolic link that cannot be followed";
        assert!(refused.ends_with(expected), "{refused}");
    }

    #[test]
    fn a_file_of_a_database_is_regular_and_has_one_name() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::write(at("other"), SQLITE_HEADER).unwrap();
        let database = at("forum.db");
        let make_pipe = |path: &Path| mknodat(CWD, path, FileType::Fifo, Mode::RUSR, 0).unwrap();
        let link = |path: &Path| fs::hard_link(at("other"), path).unwrap();
        for suffix in ["", ".key"].into_iter().chain(BESIDE) {
            let file = beside(&database, suffix);
            let is_database = suffix.is_empty();
            if !is_database {
                fs::write(&database, SQLITE_HEADER).unwrap();
            }
            check_database(&database).unwrap();
            for (make, expected) in [
                (&make_pipe as &dyn Fn(&Path), "it is not a regular file"),
                (&link as &dyn Fn(&Path), "it has several names (hard links)"),
            ] {
                make(&file);
                let refused = check_database(&database).unwrap_err().to_string();
                assert!(refused.ends_with(expected), "{suffix}: {refused}");
                fs::remove_file(&file).unwrap();
            }
        }
        // A restore that was killed leaves two names of the replaced database.
        let kept = beside(&database, ".before-restore");
        fs::hard_link(&database, &kept).unwrap();
        check_database(&database).unwrap();
        fs::hard_link(&database, at("another")).unwrap();
        check_database(&database).unwrap_err();
        make_pipe(&at("backup"));
        check_link(&at("backup")).unwrap_err();
    }

    #[test]
    fn the_names_beside_a_database_are_reserved() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::create_dir(at("disk")).unwrap();
        fs::write(at("disk/board.db"), SQLITE_HEADER).unwrap();
        symlink("disk/board.db", at("forum.db")).unwrap();
        let ends = [
            "-wal",
            "-shm",
            "-journal",
            ".lock",
            ".server",
            ".partial",
            ".restoring",
            ".before-restore",
            ".before-restore-wal",
            ".before-restore-shm",
            ".before-restore-journal",
        ];
        let names = ["forum.db", "disk/../forum.db", "disk/board.db"];
        let of_either = names.iter().flat_map(|name| ends.map(|end| format!("{name}{end}")));
        let of_link = [".key", ".copying", ".key.copying"].map(|end| format!("forum.db{end}"));
        for name in of_either.chain(of_link) {
            assert!(is_beside(&at("forum.db"), &at(&name)), "{name}");
        }
        for name in ["forum.db", "forum.db.backup", "other.db-wal", "disk/forum.db-wal", "no/x-wal"]
        {
            assert!(!is_beside(&at("forum.db"), &at(name)), "{name}");
        }
    }

    /// SQLite would change the owner.
    #[test]
    fn root_does_not_use_a_log_of_another_owner_than_that_of_the_database() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let database = at("forum.db");
        fs::write(&database, SQLITE_HEADER).unwrap();
        for suffix in ["-wal", "-shm", "-journal"] {
            let log = beside(&database, suffix);
            fs::write(&log, "").unwrap();
            check_database(&database).unwrap();
            // Only root can change an owner.
            if chown(&log, Some(65_534), None).is_ok() {
                let refused = check_database(&database).unwrap_err().to_string();
                let expected = "it has another owner than the database; change its owner, or run as the owner of the database";
                assert!(refused.ends_with(expected), "{suffix}: {refused}");
            }
            fs::remove_file(log).unwrap();
        }
    }
}
