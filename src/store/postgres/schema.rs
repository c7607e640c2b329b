//! The library's own tables, as one statement that makes them.

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

/// Makes the tables, or brings them up to date: one statement without parameters, for any driver.
///
/// A host runs it when it starts, or once, as a step of its own migrations. The tables are made in the schema where
/// the connection makes tables. What was applied is noted in `forum_api_migrations`, so that it may be run as often as
/// one likes, by any number of nodes at once, and within a transaction (of the level `READ COMMITTED`). It is never
/// changed once published, only added to.
pub const MIGRATE: &str = concat!(
    "DO $forum_api$\nBEGIN\n",
    "PERFORM pg_advisory_xact_lock(hashtextextended('forum_api_migrations', 0));\n",
    "IF to_regclass('forum_api_migrations') IS NULL THEN\n",
    "CREATE TABLE forum_api_migrations (step INTEGER PRIMARY KEY);\n",
    "END IF;\n",
    step!(1),
    step!(2),
    step!(3),
    "END\n$forum_api$"
);
