//! Files that get their name when they are complete.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use forum_api::runtime::{OsRandom, RandomSource};
use tempfile::TempPath;

/// A file with mode 0600 and a temporary name. It is removed on drop, unless it was published.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    partial: TempPath,
    file: File,
}

impl NewFile {
    /// Creates an empty file beside `path`. Its name is `path` followed by `.partial-` and 16 random digits.
    pub fn create(path: &Path) -> io::Result<Self> {
        // The name is random, because processes in two containers can have the same id.
        let suffix = format!(".partial-{}", random_hex::<8>()?);
        Self::create_at(path, beside(path, &suffix))
    }

    /// Creates an empty file beside `path`, with the name `path` followed by `suffix`. Replaces the file of a process
    /// that was killed: no other process may use the name.
    pub fn replace(path: &Path, suffix: &str) -> io::Result<Self> {
        let partial = beside(path, suffix);
        match fs::remove_file(&partial) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Self::create_at(path, partial),
        }
    }

    fn create_at(path: &Path, partial: PathBuf) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&partial)?;
        Ok(Self { path: path.into(), partial: TempPath::try_from_path(partial)?, file })
    }

    /// Writes to the open file, even if another file has its temporary name now.
    pub fn write(&mut self, content: &[u8]) -> io::Result<()> {
        self.file.write_all(content)
    }

    /// Returns the temporary path.
    pub fn partial(&self) -> &Path {
        &self.partial
    }

    /// Syncs the file, and gives it the name `path`.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`] if the name exists; the existing file is kept.
    pub fn publish(self) -> io::Result<()> {
        self.file.sync_all()?;
        let is_unsupported =
            |kind| matches!(kind, ErrorKind::PermissionDenied | ErrorKind::Unsupported);
        match self.partial.persist_noclobber(&self.path) {
            // Some file systems in user space have no operation that never replaces a file.
            Err(refused) if is_unsupported(refused.error.kind()) && !self.path.try_exists()? => {
                refused.path.persist(&self.path)?;
            }
            named => named?,
        }
        let directory = self.path.parent().filter(|directory| !directory.as_os_str().is_empty());
        File::open(directory.unwrap_or(Path::new(".")))?.sync_all()
    }
}

/// Returns a path followed by `suffix`.
pub fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Returns random bytes as hexadecimal digits.
pub fn random_hex<const BYTES: usize>() -> io::Result<String> {
    let mut bytes = [0; BYTES];
    OsRandom.fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::ErrorKind;
    use std::os::unix::fs::PermissionsExt;

    use super::NewFile;

    #[test]
    fn a_file_gets_its_name_when_it_is_published() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("copy.db");
        let files = || fs::read_dir(directory.path()).unwrap().count();
        let mut file = NewFile::create(&path).unwrap();
        file.write(b"content").unwrap();
        assert!(!path.exists());
        let name = file.partial().file_name().unwrap().to_str().unwrap();
        let digits = name.strip_prefix("copy.db.partial-").unwrap();
        assert!(digits.len() == 16 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        file.publish().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "content");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let second = NewFile::create(&path).unwrap().publish().unwrap_err();
        assert_eq!(second.kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).unwrap(), "content");
        drop(NewFile::create(&path).unwrap());
        assert_eq!(files(), 1, "partial files are removed");
    }
}
