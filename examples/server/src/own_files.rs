//! Checks of symbolic links in place of the server's files. A user with write access to the directory of a file can
//! replace the file by a link. A command that runs as another user must not follow this link.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use forum_api::host::{BoardError, BoardResult};

use crate::new_file::beside;

/// First bytes of each SQLite database that is not empty.
pub const SQLITE_HEADER: &[u8; 16] = b"SQLite format 3\0";

/// Suffixes of the files beside a database that are never links.
const BESIDE: [&str; 10] = [
    "-wal",
    "-shm",
    "-journal",
    ".lock",
    ".server",
    ".partial",
    ".restoring",
    ".before-restore",
    ".before-restore-wal",
    ".before-restore-journal",
];

/// Checks a file that can be a link. The target of a link must be a regular file with the owner of the link. Succeeds
/// if the file does not exist.
pub fn check_link(path: &Path) -> io::Result<()> {
    let link = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        found => found?,
    };
    if !link.is_symlink() {
        return Ok(());
    }
    let refused = |reason| Err(io::Error::new(ErrorKind::InvalidInput, reason));
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

/// Checks the file of a SQLite database and the files beside it. A link must lead to a SQLite database.
///
/// # Errors
/// If a file is a link that the server does not follow.
pub fn check_database(path: &Path) -> BoardResult<()> {
    let refused = |file: &Path, reason| {
        let file = file.display();
        Err(BoardError::conflict(format!("cannot use the file \"{file}\": {reason}")))
    };
    for file in [path, &beside(path, ".key")] {
        if let Err(error) = check_link(file) {
            return refused(file, error.to_string());
        }
    }
    // SQLite follows a link as well: its log is beside the file, not beside the link.
    let target = path.canonicalize().unwrap_or_else(|_| path.into());
    if path.is_symlink() && !begins_as_sqlite(&target).unwrap_or(false) {
        return refused(path, "it is a symbolic link, but not to a SQLite database".into());
    }
    for suffix in BESIDE {
        for file in [beside(path, suffix), beside(&target, suffix)] {
            if file.is_symlink() {
                return refused(&file, "it is a symbolic link".into());
            }
        }
    }
    Ok(())
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
            check_link(&at("link")).unwrap_err();
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
            check_database(&database).unwrap_err();
        }
        fs::write(at("disk/board.db"), SQLITE_HEADER).unwrap();
        check_database(&database).unwrap();
        fs::write(at("other"), "").unwrap();
        for name in ["forum.db", "disk/board.db"] {
            for suffix in BESIDE {
                let link = beside(&at(name), suffix);
                symlink(at("other"), &link).unwrap();
                let refused = check_database(&database).unwrap_err().to_string();
                assert!(refused.contains(suffix), "{refused}");
                fs::remove_file(link).unwrap();
            }
        }
        symlink(at("missing"), at("forum.db.key")).unwrap();
        check_database(&database).unwrap_err();
    }
}
