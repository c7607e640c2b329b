//! The library's own tables, as one statement that creates them.

macro_rules! last {
    () => {
        1
    };
}

/// Number of the last migration.
#[cfg(feature = "postgres")]
pub(super) const LAST: u32 = last!();

macro_rules! step {
    ($number:literal) => {
        concat!(
            "IF NOT EXISTS (SELECT FROM forum_api_migrations WHERE step = ",
            $number,
            ") THEN\n",
            include_str!(concat!("schema/", $number, ".sql")),
            "INSERT INTO forum_api_migrations VALUES (",
            $number,
            ");\nEND IF;\n"
        )
    };
}

/// Creates the tables, or migrates them: one statement without parameters, for any driver.
///
/// A host runs it when it starts, or once, as a step of its own migrations. The tables are created in the schema where
/// the connection creates tables. `forum_api_migrations` holds the numbers of the applied migrations, so the statement may
/// be run repeatedly, by any number of nodes at once (an advisory lock of its own serializes them), and within a
/// transaction (of the level `READ COMMITTED`). It fails with SQLSTATE 55000 on tables that a newer version of the library
/// migrated. It is never changed once published, only added to.
pub const MIGRATE: &str = concat!(
    "DO $forum_api$\nBEGIN\n",
    "PERFORM pg_advisory_xact_lock(hashtextextended('forum_api_migrations', 0));\n",
    "IF to_regclass('forum_api_migrations') IS NULL THEN\n",
    "CREATE TABLE forum_api_migrations (step INTEGER PRIMARY KEY);\n",
    "END IF;\n",
    "IF EXISTS (SELECT FROM forum_api_migrations WHERE step > ",
    last!(),
    ") THEN\nRAISE EXCEPTION USING ERRCODE = '55000', MESSAGE =\n",
    "'the database''s schema is newer than this program: use the newer program';\nEND IF;\n",
    step!(1),
    "END\n$forum_api$"
);
