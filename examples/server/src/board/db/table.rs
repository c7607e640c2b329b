//! Many rows at once into a table.

use std::pin::pin;

use rusqlite::params_from_iter;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{ToSql, Type};

use super::postgres::Postgres;
use super::{Connection, Error, Result, Transaction, Value};

/// A table, as far as it is filled.
#[derive(Debug)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Its columns, each with its type in Postgres.
    pub columns: &'static [(&'static str, Type)],
}

impl Table {
    /// Adds rows, each with a value for each column.
    pub async fn add<'a, const N: usize>(
        &self,
        tx: &Transaction<'_>,
        rows: impl Iterator<Item = [&'a (dyn Value + Sync); N]> + Send,
    ) -> Result<()> {
        match &**tx {
            Connection::Sqlite(sqlite) => {
                let mut insert = sqlite.prepare_cached(&self.insert())?;
                for row in rows {
                    insert.execute(params_from_iter(row))?;
                }
                Ok(())
            }
            Connection::Postgres(Postgres::Together(postgres)) => {
                let sink = postgres.copy_in(&self.copy()).await?;
                let types: Vec<Type> = self.columns.iter().map(|(_, of)| of.clone()).collect();
                let mut copy = pin!(BinaryCopyInWriter::new(sink, &types));
                for row in rows {
                    let row = row.map(|value| value as &(dyn ToSql + Sync));
                    copy.as_mut().write(&row).await?;
                }
                copy.finish().await?;
                Ok(())
            }
            Connection::Postgres(Postgres::Alone(_)) => {
                Err(Error::Wrong("rows are added in no transaction"))
            }
        }
    }

    fn insert(&self) -> String {
        let places = vec!["?"; self.columns.len()].join(", ");
        format!("INSERT INTO {} VALUES ({places})", self.named())
    }

    fn copy(&self) -> String {
        format!("COPY {} FROM STDIN BINARY", self.named())
    }

    fn named(&self) -> String {
        let columns: Vec<&str> = self.columns.iter().map(|(column, _)| *column).collect();
        format!("{} ({})", self.name, columns.join(", "))
    }
}
