//! The tables of a copy, from the catalogs of both databases: a later table is copied without further code.

use forum_api::host::{BoardError, BoardResult};
use tokio_postgres::types::Type;

use super::row;

/// Tables that are not copied. The target writes its migrations and a version of its own, and members sign in again.
pub const LEFT_OUT: [&str; 5] =
    ["access_version", "board_migrations", "forum_api_migrations", "session", "sign_in_key"];

/// The name of a table and the names of its columns, without generated columns.
pub type TableColumns = (String, Vec<String>);

/// A table that both databases have.
#[derive(Clone, Debug)]
pub struct Table {
    pub name: String,
    /// Columns with their types in Postgres.
    pub columns: Vec<(String, Type)>,
    /// The column whose values a sequence of Postgres generates.
    pub identity: Option<String>,
}

impl Table {
    /// Returns the quoted name.
    pub fn quoted_name(&self) -> String {
        quote(&self.name)
    }

    /// Returns the quoted names of the columns, separated by commas.
    pub fn column_list(&self) -> String {
        let names = self.columns.iter().map(|(name, _)| quote(name));
        names.collect::<Vec<_>>().join(", ")
    }
}

pub fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Returns the tables of SQLite with the types of their columns in Postgres. Tables of only one of the databases belong to
/// other programs, such as litestream, or to the search index, and are not copied.
///
/// # Errors
/// If the columns of a table differ or have a type that cannot be copied.
pub fn pair(sqlite: Vec<TableColumns>, mut postgres: Vec<Table>) -> BoardResult<Vec<Table>> {
    let pairs = sqlite.into_iter().filter_map(|(name, mut columns)| {
        let place = postgres.iter().position(|table| table.name == name)?;
        let table = postgres.swap_remove(place);
        let mut others: Vec<_> = table.columns.iter().map(|(column, _)| column).collect();
        columns.sort();
        others.sort();
        let is_same = others.into_iter().eq(&columns);
        let is_supported = table.columns.iter().all(|(_, column)| row::is_supported(column));
        if is_same && is_supported {
            return Some(Ok(table));
        }
        let different = format!("the table \"{name}\" differs between SQLite and Postgres");
        Some(Err(BoardError::conflict(different)))
    });
    pairs.collect()
}

/// Takes the copy offline, also if the source is online.
pub const TAKE_OFFLINE: &str = "INSERT INTO setting (key, value) VALUES ('board.offline', 'true') ON CONFLICT (key) DO NOTHING";

/// Selects whether the board is offline.
pub const IS_OFFLINE: &str =
    "SELECT EXISTS (SELECT 1 FROM setting WHERE key = 'board.offline') AS is_offline";
