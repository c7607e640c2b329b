//! Files of the key that encrypts webhook secrets.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use forum_api::Environment;
use forum_api::host::{BoardError, BoardResult};
use forum_api::runtime::OsRandom;
use forum_api::webhook::{AeadCipher, PlaintextCipher, SecretCipher};

use crate::new_file::{NewFile, random_hex};
use crate::options::WebhookOptions;
use crate::own_files::check_single;

/// Length of a created key, in bytes.
const KEY_LEN: usize = 32;

/// Mode bit of a file that users other than its owner and its group can read.
const READABLE_BY_OTHERS: u32 = 0o004;

/// Cipher for the webhook secrets of one database.
#[derive(Clone)]
pub struct WebhookCipher(pub Arc<dyn SecretCipher>);

impl WebhookCipher {
    /// Reads the key file that the option names, or else the default key file of the database. Without either, secrets are
    /// stored in plain text.
    pub fn find(database: &str, option: Option<&Path>) -> BoardResult<Self> {
        Self::read_or_plaintext(path_in_use(database, option).as_deref())
    }

    /// Returns the environment of this process, with this cipher.
    pub fn environment(&self) -> Environment {
        Environment::default().secret_cipher(self.0.clone())
    }

    /// Reads a key file; without one, secrets are stored in plain text.
    pub fn read_or_plaintext(path: Option<&Path>) -> BoardResult<Self> {
        match path {
            Some(path) => Self::read(path),
            None => Ok(Self(Arc::new(PlaintextCipher))),
        }
    }

    /// Reads a key file. One line end at the end of the file is not part of the key.
    pub fn read(path: &Path) -> BoardResult<Self> {
        let shown = path.display();
        let unreadable = |error| format!("cannot read the key file \"{shown}\": {error}");
        let key = check_single(path)
            .and_then(|()| fs::read(path))
            .map_err(|error| BoardError::validation("key", unreadable(error)))?;
        let invalid = |error| format!("the key file \"{shown}\" is invalid: {error}");
        let cipher = AeadCipher::new(without_line_end(&key), OsRandom)
            .map_err(|error| BoardError::validation("key", invalid(error)))?;
        Ok(Self(Arc::new(cipher)))
    }

    /// Creates the key file of a new SQLite database, unless a key was found.
    pub fn create_if_missing(self, database: &str) -> BoardResult<Self> {
        match default_path(database) {
            Some(path) if self.is_plaintext() => {
                let refused =
                    |error| format!("cannot create the key file \"{}\": {error}", path.display());
                create(&path).map_err(|error| BoardError::internal(refused(error)))?;
                Self::read(&path)
            }
            _ => Ok(self),
        }
    }

    /// Returns whether secrets are stored in plain text.
    pub fn is_plaintext(&self) -> bool {
        self.0.key_id() == PlaintextCipher.key_id()
    }

    /// Logs a warning if secrets are stored in plain text in a database that outlives the process.
    pub fn warn_about_plaintext(&self, database: &str) {
        if self.is_plaintext() && database != "sqlite::memory:" {
            tracing::warn!(
                "webhook secrets are stored in plain text; run `webhook reencrypt --new-key-file FILE` to encrypt them, then start with --secret-key-file FILE"
            );
        }
    }
}

/// Logs a warning for each weakness of the key file.
pub fn warn_about_weakness(database: &str, options: &WebhookOptions) {
    for reason in weaknesses(database, options.secret_key_file.as_deref()) {
        tracing::warn!(reason, "weak key file");
    }
}

/// Returns the weaknesses of the key file that the option names, or else of the default key file.
pub fn weaknesses(database: &str, option: Option<&Path>) -> Vec<&'static str> {
    let path = path_in_use(database, option);
    let file = path.as_ref().and_then(|path| path.metadata().ok());
    let mode = file.map_or(0, |file| file.permissions().mode());
    let content =
        path.filter(|path| path.is_file()).and_then(|path| fs::read(path).ok()).unwrap_or_default();
    let key = without_line_end(&content);
    let mut found = Vec::new();
    if mode & READABLE_BY_OTHERS != 0 {
        found.push("all users of the machine can read the key file; set its mode to 0600");
    }
    if key.iter().all(|byte| Some(byte) == key.first()) && !key.is_empty() {
        found.push(
            "the key is one repeated character; replace it with `webhook reencrypt --new-key-file FILE`",
        );
    }
    found
}

/// Returns the key file that the option names, or else the default key file if it exists.
pub fn path_in_use(database: &str, option: Option<&Path>) -> Option<PathBuf> {
    let default = || default_path(database).filter(|path| path.exists());
    option.map(Into::into).or_else(default)
}

fn without_line_end(key: &[u8]) -> &[u8] {
    let line = key.strip_suffix(b"\n").map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    line.unwrap_or(key)
}

/// Returns the default key file of a SQLite database in a file: `<database>.key`.
pub fn default_path(database: &str) -> Option<PathBuf> {
    let path = database.strip_prefix("sqlite:")?;
    (path != ":memory:").then(|| format!("{path}.key").into())
}

/// Creates a key file with a random key, readable by its owner only. It appears complete under its name, and a file that
/// another process created meanwhile is kept.
fn create(path: &Path) -> io::Result<()> {
    let mut file = NewFile::create(path)?;
    file.write(format!("{}\n", random_hex::<KEY_LEN>()?).as_bytes())?;
    match file.publish() {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        published => published,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{WebhookCipher, create};

    #[test]
    fn one_line_end_is_not_part_of_the_key() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key");
        let id = |key: &str| {
            fs::write(&path, key).unwrap();
            WebhookCipher::read(&path).map(|cipher| cipher.0.key_id())
        };
        let expected = id("0123456789abcdef").unwrap();
        for (key, is_same) in [
            ("0123456789abcdef\n", true),
            ("0123456789abcdef\r\n", true),
            ("0123456789abcdef\n\n", false),
            ("0123456789abcdef\r", false),
            ("0123456789abcdef ", false),
        ] {
            assert_eq!(id(key).unwrap() == expected, is_same, "{key:?}");
        }
        assert!(id("0123456789abcde\n").is_err(), "15 bytes");
    }

    #[test]
    fn only_the_first_of_two_creations_writes_the_key() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key");
        create(&path).unwrap();
        let key = fs::read_to_string(&path).unwrap();
        assert_eq!(key.trim().len(), 64);
        create(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), key);
        let files = fs::read_dir(directory.path()).unwrap();
        assert_eq!(files.count(), 1, "partial files are removed");
    }
}
