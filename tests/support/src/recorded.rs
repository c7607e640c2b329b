//! Texts that tests compare with recorded files.

use std::path::Path;

use snapbox::{Assert, Data};

/// Compares a text with a file. With `SNAPSHOTS=overwrite`, writes the text to the file instead.
///
/// # Panics
/// If the text differs from the file.
pub fn assert_recorded(text: String, file: impl AsRef<Path>) {
    Assert::new().action_env("SNAPSHOTS").eq(text, Data::read_from(file.as_ref(), None).raw());
}
