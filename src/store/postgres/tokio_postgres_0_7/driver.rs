//! The driver for a pool of `deadpool-postgres`: each statement is prepared once for each connection.

use async_trait::async_trait;
use deadpool_postgres::{Client, Pool};
use tokio_postgres::Statement;
use tokio_postgres::types::ToSql;

use super::columns::to_driver;
use super::pool::finish;
use crate::store::postgres::{Parameter, PostgresDriver, PostgresError, RowReader};

#[async_trait]
impl PostgresDriver for Pool {
    async fn query(
        &self,
        sql: &str,
        parameters: &[Parameter],
        read: RowReader<'_>,
    ) -> Result<(), PostgresError> {
        let (client, statement) = prepare(self, sql).await?;
        let parameters = to_driver(parameters);
        let rows = client.query(&statement, &references(&parameters)).await;
        for row in finish(client, rows)? {
            read(&row)?;
        }
        Ok(())
    }

    async fn execute(&self, sql: &str, parameters: &[Parameter]) -> Result<u64, PostgresError> {
        let (client, statement) = prepare(self, sql).await?;
        let parameters = to_driver(parameters);
        let executed = client.execute(&statement, &references(&parameters)).await;
        finish(client, executed)
    }

    fn max_connections(&self) -> Option<usize> {
        Some(self.status().max_size)
    }
}

/// Prepares a statement on a connection of the pool.
async fn prepare(pool: &Pool, sql: &str) -> Result<(Client, Statement), PostgresError> {
    let client = pool.get().await?;
    match client.prepare_cached(sql).await {
        Ok(statement) => Ok((client, statement)),
        Err(error) => finish(client, Err(error)).map_err(PostgresError::without_effect),
    }
}

fn references<'a>(
    parameters: &'a [Box<dyn ToSql + Sync + Send + 'a>],
) -> Vec<&'a (dyn ToSql + Sync)> {
    parameters.iter().map(|parameter| &**parameter as &(dyn ToSql + Sync)).collect()
}
