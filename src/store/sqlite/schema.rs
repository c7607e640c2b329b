//! The library's own tables.

/// Where it is kept which of [`STEPS`] were applied.
pub(super) const TABLE: &str = "forum_api_migrations";

/// The schema, in the steps in which it came to be.
pub(super) const STEPS: &[&str] = &[include_str!("schema/1.sql"), include_str!("schema/2.sql")];
