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

/// A migration of the library's tables as one text, for the migrations of a host.
///
/// A version of the library with new migrations has more scripts. A published script never changes, so that a migration tool
/// that compares texts or checksums accepts it again. A tool executes each script in a transaction, in the order of the
/// numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MigrationScript {
    /// Number of the migration, from 1, without gaps.
    pub number: u32,
    /// Name of the migration, such as `0001_init`.
    pub name: &'static str,
    /// The SQL, without parameters. It also records the migration in the library's table of applied migrations.
    pub sql: String,
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
        self.refuse_newer(applied)?;
        Ok(self.scripts().into_iter().skip(applied.len()).map(|script| script.sql).collect())
    }

    /// Rejects applied migrations of a newer program.
    pub(crate) fn refuse_newer(&self, applied: &[(String, String)]) -> Result<(), MigrationError> {
        match self.status(applied)? {
            SchemaStatus::UpToDate | SchemaStatus::Pending => Ok(()),
            SchemaStatus::Newer => {
                Err(MigrationError::Newer { applied: applied.len(), known: self.all.len() })
            }
        }
    }

    /// Returns each migration as statements that fail if the migration is applied.
    pub(crate) fn scripts(&self) -> Vec<MigrationScript> {
        self.scripts_with(|number, migration| {
            let create_table = self.create_table_sql();
            let insert = self.insert_sql(number, migration);
            format!("{create_table}{}\n;{insert}", migration.sql)
        })
    }

    /// Returns each migration as one `DO` statement of Postgres, which changes nothing if the migration is applied, and waits
    /// for concurrent transactions that apply migrations.
    #[cfg(feature = "postgres")]
    pub(crate) fn postgres_scripts(&self) -> Vec<MigrationScript> {
        let Self { table, .. } = self;
        self.scripts_with(|number, migration| {
            let create_table = self.create_table_sql();
            let insert = self.insert_sql(number, migration);
            format!(
                "DO $forum_api$ BEGIN\n\
                 PERFORM pg_advisory_xact_lock(hashtextextended('{table}', 0));\n\
                 {create_table}\
                 IF NOT EXISTS (SELECT FROM {table} WHERE step = {number}) THEN\n\
                 EXECUTE $migration$\n{}$migration$;\n{insert}END IF;\n\
                 END $forum_api$",
                migration.sql
            )
        })
    }

    fn scripts_with(&self, sql: impl Fn(u32, &Migration) -> String) -> Vec<MigrationScript> {
        let script = |(number, migration): (u32, &Migration)| MigrationScript {
            number,
            name: migration.name,
            sql: sql(number, migration),
        };
        (1..).zip(self.all).map(script).collect()
    }

    /// Returns the statement that records an applied migration.
    fn insert_sql(&self, number: u32, migration: &Migration) -> String {
        let Self { table, .. } = self;
        let Migration { name, .. } = migration;
        let checksum = migration.checksum();
        format!("INSERT INTO {table} VALUES ({number}, '{name}', '{checksum}');\n")
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
    use super::{Migration, Migrations};

    const FIRST: Migration = Migration { name: "0001_first", sql: "CREATE TABLE t (a TEXT);\n" };
    const SECOND: Migration = Migration { name: "0002_second", sql: "DROP TABLE t;\n" };

    /// Tools of hosts store checksums of the scripts, so the text around the SQL of a migration does not change either.
    #[test]
    fn published_scripts_do_not_change() {
        let one = Migrations { table: "applied", all: &[FIRST] };
        let two = Migrations { table: "applied", all: &[FIRST, SECOND] };
        let [scripts, longer] = [one.scripts(), two.scripts()];
        assert_eq!(scripts, longer[..1]);
        let [number, name] = [longer[1].number.to_string(), longer[1].name.into()];
        assert_eq!([number, name], ["2", "0002_second"]);
        let create = "CREATE TABLE IF NOT EXISTS applied
            (step INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL);\n";
        let checksum = FIRST.checksum();
        let insert = format!("INSERT INTO applied VALUES (1, '0001_first', '{checksum}');\n");
        let expected = format!("{create}CREATE TABLE t (a TEXT);\n\n;{insert}");
        assert_eq!(scripts[0].sql, expected);

        #[cfg(feature = "postgres")]
        {
            let scripts = one.postgres_scripts();
            assert_eq!(scripts, two.postgres_scripts()[..1]);
            let expected = format!(
                "DO $forum_api$ BEGIN
PERFORM pg_advisory_xact_lock(hashtextextended('applied', 0));
{create}IF NOT EXISTS (SELECT FROM applied WHERE step = 1) THEN
EXECUTE $migration$
CREATE TABLE t (a TEXT);
$migration$;
{insert}END IF;
END $forum_api$"
            );
            assert_eq!(scripts[0].sql, expected);
        }
    }

    /// Databases contain these checksums. A changed migration, even in a comment, is rejected at the next start.
    #[test]
    fn published_migrations_do_not_change() {
        for (sql, checksum) in [
            (
                include_str!("postgres/migrations/0001_init.sql"),
                "6c77cbe58568a77eb41006d3fa186f6ade63e080e48b4c26f6c6600eb341b9dd",
            ),
            (
                include_str!("sqlite/migrations/0001_init.sql"),
                "321d35fb26b8bfbb03f23e3414fb40f03676614df3a0135c46b009ae4f74d1ff",
            ),
        ] {
            let name = "unchanged";
            assert_eq!(Migration { name, sql }.checksum(), checksum);
        }
    }
}
