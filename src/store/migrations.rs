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
        let table = self.table;
        sql += &self.create_table_sql();
        for (step, migration) in (1..).zip(self.all).skip(applied.len()) {
            let (name, checksum) = (migration.name, migration.checksum());
            sql += migration.sql;
            sql += &format!("\n;INSERT INTO {table} VALUES ({step}, '{name}', '{checksum}');\n");
        }
        Ok(sql)
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
                include_str!("postgres/migrations/0008_operation_usage.sql"),
                "0628ba01e79635fd9e87d016645f80d89bb3c5dc75f70f15716ba0e90c91f04b",
            ),
            (
                include_str!("sqlite/migrations/0008_operation_usage.sql"),
                "339986f33ffbf3206962f676079e9145a753eedc09ce7f98439ce67c1966dbb0",
            ),
            (
                include_str!("postgres/migrations/0007_usage_by_token.sql"),
                "1844a525b7e6ace92c4994b22d40236a2e181707e077fe8013848a1b848a9596",
            ),
            (
                include_str!("sqlite/migrations/0007_usage_by_token.sql"),
                "1844a525b7e6ace92c4994b22d40236a2e181707e077fe8013848a1b848a9596",
            ),
            (
                include_str!("postgres/migrations/0006_token_filters.sql"),
                "b2be0e5b75156ac2636b7335523e2a2deb7b85447de9a9e547a02b3589df94aa",
            ),
            (
                include_str!("sqlite/migrations/0006_token_filters.sql"),
                "b2be0e5b75156ac2636b7335523e2a2deb7b85447de9a9e547a02b3589df94aa",
            ),
            (
                include_str!("postgres/migrations/0005_attempt_headers.sql"),
                "a0f49a03e17721ede347a6e56ba43cb6edf2588784c005c5114d162bc6459b1e",
            ),
            (
                include_str!("sqlite/migrations/0005_attempt_headers.sql"),
                "f46f049e6652d18a00d5c6bbd047c23fec31e419612bc0f40d1b9dee02bad696",
            ),
            (
                include_str!("postgres/migrations/0004_usage.sql"),
                "c87e124a1258639f317c248cba1519107670f4f7f0167cf6db4487fd2c28245d",
            ),
            (
                include_str!("sqlite/migrations/0004_usage.sql"),
                "290c41d5095c6d170e6131d6f7733bc53b62650441ec0921a188b2907b322611",
            ),
            (
                include_str!("postgres/migrations/0003_endpoint_failures.sql"),
                "3a352526bb3256050c04a15352e3b40bad080e98b685155616f5089188a3b03b",
            ),
            (
                include_str!("sqlite/migrations/0003_endpoint_failures.sql"),
                "8fcc3562078139e94164d3ad17f8a08db3cd44f7a6245e0c18344b66849a2980",
            ),
            (
                include_str!("postgres/migrations/0002_audit_log.sql"),
                "51d2c53e8c43390c592d1fdff44b27d8ac4cd4b4743abbac718a35fd6d2a07e2",
            ),
            (
                include_str!("sqlite/migrations/0002_audit_log.sql"),
                "b2e6820a0428d13fc7bc076e097ba934ea8a442806f9324e4e874bc898666115",
            ),
            (
                include_str!("postgres/migrations/0001_init.sql"),
                "ca1eb5378b464e14afc1de8196ba8ef67ea2a96cfb26e86e62396cff7ce596d4",
            ),
            (
                include_str!("sqlite/migrations/0001_init.sql"),
                "7737d5d043c350734f516985cf7974ac8a87b013157e1556611fa411afd060d2",
            ),
        ] {
            let name = "unchanged";
            assert_eq!(Migration { name, sql }.checksum(), checksum);
        }
    }
}
