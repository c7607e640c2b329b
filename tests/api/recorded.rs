//! Texts that clients read, compared as a whole: the messages in German.
//! `SNAPSHOTS=overwrite cargo test --workspace --test api recorded` replaces the file.

use std::path::Path;

use forum_api::{ErrorMessages, Language};
use snapbox::{Assert, Data};

/// Compares a text with a file of `recorded`.
fn compare(text: String, file: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/api/recorded").join(file);
    Assert::new().action_env("SNAPSHOTS").eq(text, Data::read_from(&path, None).raw());
}

#[test]
fn messages_have_the_recorded_translations() {
    let german = ErrorMessages::for_language(Language::German);
    let lines =
        ErrorMessages::texts().map(|text| format!("{text}\n  {}\n", german.translate(text)));
    compare(lines.collect(), "german.txt");
}
