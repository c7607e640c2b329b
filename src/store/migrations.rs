//! Schema migrations: named steps with checksums, each applied once.

use sha2::{Digest, Sha256};
use thiserror::Error;

/// One step of a schema. Do not change a published migration: correct it with a later one.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    /// Name, such as `0002_add_sessions`. Allowed characters: `[a-z0-9_]`.
    pub name: &'static str,
    /// One or more SQL statements.
    pub sql: &'static str,
}

/// The migrations of one schema, and the name of the table that records the applied ones.
///
/// Each backend applies them with its function `apply_migrations`. A host with another driver runs
/// [`create_table_sql`](Self::create_table_sql), [`applied_sql`](Self::applied_sql) and [`pending_sql`](Self::pending_sql) in
/// one transaction that excludes other migrations ([example](super::sqlite_schema#migrations)). The library and a host that
/// share a database use different tables.
#[derive(Clone, Copy, Debug)]
pub struct Migrations {
    /// Name of the table that records applied migrations. Allowed characters: `[a-z0-9_]`.
    pub table: &'static str,
    /// All migrations, in order.
    pub all: &'static [Migration],
}

/// The [`Migrations`] of the library, from files in a folder beside the file that calls the macro.
macro_rules! migrations {
    ($folder:literal: $($name:literal)+) => {
        $crate::store::Migrations {
            table: "forum_api_migrations",
            all: &[$($crate::store::Migration {
                name: $name,
                sql: include_str!(concat!($folder, "/", $name, ".sql")),
            }),+],
        }
    };
}
pub(crate) use migrations;

/// State of a database's schema, compared with the migrations of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaStatus {
    /// Exactly the program's migrations are applied.
    UpToDate,
    /// Migrations are missing, or the database is empty.
    Pending,
    /// A newer program migrated the database, and this program must not use it.
    Newer,
}

/// The applied migrations of a database are not a prefix of the program's migrations.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MigrationError {
    /// A newer program migrated the database.
    #[error(
        "the database's schema is newer than this program (migration {applied}; the program knows {known}): \
         use a newer version of the program"
    )]
    Newer {
        /// Number of applied migrations.
        applied: usize,
        /// Number of known migrations.
        known: usize,
    },
    /// A migration was changed after it was applied.
    #[error(
        "the migration {name} that was applied to the database differs from this program's: \
         use the program that applied it"
    )]
    Changed {
        /// Name of the applied migration.
        name: String,
    },
}

impl Migrations {
    /// Returns the statement that creates the table of applied migrations, unless it exists.
    pub fn create_table_sql(&self) -> String {
        format!(
            "CREATE TABLE IF NOT EXISTS {}
            (step INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL);\n",
            self.table
        )
    }

    /// Returns the query for the names and the checksums of the applied migrations, in order.
    pub fn applied_sql(&self) -> String {
        format!("SELECT name, checksum FROM {} ORDER BY step", self.table)
    }

    /// Compares the applied migrations, given as pairs of name and checksum, with the program's migrations.
    ///
    /// # Errors
    /// [`MigrationError::Changed`] if an applied migration differs from the program's migration at the same position.
    pub fn status(&self, applied: &[(String, String)]) -> Result<SchemaStatus, MigrationError> {
        for ((name, checksum), known) in applied.iter().zip(self.all) {
            if name != known.name || *checksum != known.checksum() {
                return Err(MigrationError::Changed { name: name.clone() });
            }
        }
        Ok(match applied.len().cmp(&self.all.len()) {
            std::cmp::Ordering::Less => SchemaStatus::Pending,
            std::cmp::Ordering::Equal => SchemaStatus::UpToDate,
            std::cmp::Ordering::Greater => SchemaStatus::Newer,
        })
    }

    /// Returns the statements that apply the migrations that are not in `applied`, and record them. The text is empty if no
    /// migration is pending. Run it in the transaction that read `applied`.
    ///
    /// # Errors
    /// [`MigrationError`] if a newer program migrated the database, or an applied migration differs from the program's
    /// migration at the same position.
    pub fn pending_sql(&self, applied: &[(String, String)]) -> Result<String, MigrationError> {
        let mut sql = String::new();
        match self.status(applied)? {
            SchemaStatus::UpToDate => return Ok(sql),
            SchemaStatus::Pending => {}
            SchemaStatus::Newer => {
                return Err(MigrationError::Newer {
                    applied: applied.len(),
                    known: self.all.len(),
                });
            }
        }
        sql += &self.create_table_sql();
        for (step, migration) in (1..).zip(self.all).skip(applied.len()) {
            sql += migration.sql;
            sql += "\n;";
            sql += &self.insert_sql(step, migration);
        }
        Ok(sql)
    }

    /// Returns the statement that records an applied migration.
    pub(crate) fn insert_sql(&self, step: u32, migration: &Migration) -> String {
        let Self { table, .. } = self;
        let Migration { name, .. } = migration;
        let checksum = migration.checksum();
        format!("INSERT INTO {table} VALUES ({step}, '{name}', '{checksum}');\n")
    }
}

impl Migration {
    /// Returns the SHA-256 of the SQL in hexadecimal digits.
    pub fn checksum(&self) -> String {
        base16ct::lower::encode_string(&Sha256::digest(self.sql))
    }
}

#[cfg(test)]
mod tests {
    use super::Migration;

    /// Databases contain these checksums. A changed migration, even in a comment, is rejected at the next start.
    #[test]
    fn published_migrations_do_not_change() {
        for (sql, checksum) in [
            (
                include_str!("postgres/migrations/0001_init.sql"),
                "b40e8a7392aecb126e951468373fa7594889c189b2d0d51cfc4f9da250ea5c04",
            ),
            (
                include_str!("sqlite/migrations/0001_init.sql"),
                "1f769237392e0cea808b20130101f50141dec925e0368121a5bd8928c614a551",
            ),
        ] {
            let name = "unchanged";
            assert_eq!(Migration { name, sql }.checksum(), checksum);
        }
    }
}
