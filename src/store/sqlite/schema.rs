//! The library's own tables.

/// Table of the numbers of the applied [`STEPS`].
pub(super) const TABLE: &str = "forum_api_migrations";

/// Migrations of the library's tables.
pub(super) const STEPS: &[&str] = &[include_str!("schema/1.sql")];
