//! Statements run by Postgres.

use std::fmt;

use deadpool_postgres::{Client, GenericClient};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::numbered::{Numbered, numbered};
use super::{Bound, Error, Result};

/// A connection to Postgres, in a transaction or in none.
#[derive(Clone, Copy)]
pub enum Postgres<'a> {
    /// Each statement sees the state that there is by then.
    Alone(&'a Client),
    /// All of them are one transaction.
    Together(&'a deadpool_postgres::Transaction<'a>),
}

impl Postgres<'_> {
    pub(super) async fn query(
        &self,
        sql: &'static str,
        parameters: &[Bound<'_>],
    ) -> Result<Vec<Row>> {
        let statement = numbered(sql);
        let values = values(&statement, parameters)?;
        match self {
            Self::Alone(client) => query(*client, &statement.sql, &values).await,
            Self::Together(client) => query(*client, &statement.sql, &values).await,
        }
    }

    pub(super) async fn execute(&self, sql: &'static str, parameters: &[Bound<'_>]) -> Result<u64> {
        let statement = numbered(sql);
        let values = values(&statement, parameters)?;
        self.change(&statement.sql, &values).await
    }

    pub(super) async fn execute_texts(&self, sql: &str, parameters: &[String]) -> Result<u64> {
        let values: Vec<_> = parameters
            .iter()
            .map(|text| text as &(dyn ToSql + Sync))
            .collect();
        self.change(sql, &values).await
    }

    pub(super) async fn run(&self, sql: &str) -> Result<()> {
        match self {
            Self::Alone(client) => Ok(client.batch_execute(sql).await?),
            Self::Together(client) => Ok(client.batch_execute(sql).await?),
        }
    }

    async fn change(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<u64> {
        match self {
            Self::Alone(client) => execute(*client, sql, values).await,
            Self::Together(client) => execute(*client, sql, values).await,
        }
    }
}

impl fmt::Debug for Postgres<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Postgres")
    }
}

async fn query(
    client: &impl GenericClient,
    sql: &str,
    values: &[&(dyn ToSql + Sync)],
) -> Result<Vec<Row>> {
    tracing::trace!(sql, "run");
    let statement = client.prepare_cached(sql).await?;
    Ok(client.query(&statement, values).await?)
}

async fn execute(
    client: &impl GenericClient,
    sql: &str,
    values: &[&(dyn ToSql + Sync)],
) -> Result<u64> {
    tracing::trace!(sql, "run");
    let statement = client.prepare_cached(sql).await?;
    Ok(client.execute(&statement, values).await?)
}

/// The values in the order of the statement's numbers.
fn values<'a>(
    statement: &Numbered,
    parameters: &[Bound<'a>],
) -> Result<Vec<&'a (dyn ToSql + Sync)>> {
    if parameters.len() != statement.names.len() {
        return Err(Error::Wrong(
            "a statement has other parameters than were bound",
        ));
    }
    let value = |name: &String| {
        let bound = parameters.iter().find(|(bound, _)| bound == name);
        bound.map(|(_, value)| *value as &(dyn ToSql + Sync))
    };
    let values = statement.names.iter().map(value).collect::<Option<_>>();
    values.ok_or(Error::Wrong("a parameter of a statement was not bound"))
}
