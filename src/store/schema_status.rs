//! Comparison of a database's schema with the program's.

/// State of a database's schema, compared with the migrations that the program knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaStatus {
    /// Every migration is applied, and no other.
    UpToDate,
    /// Migrations are missing, or the database has no tables yet.
    Pending,
    /// A newer program migrated the database. This program must not use it.
    Newer,
}

impl SchemaStatus {
    /// Compares the number of the last applied migration with that of the last known one; 0 means none.
    pub const fn new(applied: u32, known: u32) -> Self {
        if applied < known {
            Self::Pending
        } else if applied == known {
            Self::UpToDate
        } else {
            Self::Newer
        }
    }
}
