//! Added: tokens and the outbox in the board's own database, through its own pool and driver.

use deadpool_postgres::{GenericClient, Pool};
use forum_api::async_trait;
use forum_api::host::{Fault, Stored};
use forum_api::model::Timestamp;
use forum_api::store::postgres::{Statement, outbox, tokens};
use forum_api::store::{FanOut, Outbox, Tokens};
use forum_api::token::{Lookup, TokenRecord};
use forum_api::webhook::Event;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

/// The tables that the library's statements name, beside the board's own.
#[derive(Clone, Debug)]
pub struct OwnTables(pub Pool);

#[async_trait]
impl Tokens for OwnTables {
    async fn create(&self, token: &TokenRecord) -> Stored<bool> {
        Ok(self.change(tokens::create(token)).await? == 1)
    }

    async fn find(&self, lookup: &Lookup) -> Stored<Option<TokenRecord>> {
        let found = self.rows(tokens::find(lookup), tokens::record).await?;
        Ok(found.into_iter().next())
    }

    async fn revoke(&self, lookup: &Lookup, at: Timestamp) -> Stored<bool> {
        Ok(self.change(tokens::revoke(lookup, at)).await? == 1)
    }

    async fn used(&self, lookup: &Lookup, at: Timestamp) -> Stored<()> {
        self.change(tokens::used(lookup, at)).await.map(drop)
    }

    async fn list(&self, after: Option<&Lookup>, limit: u32) -> Stored<Vec<TokenRecord>> {
        self.rows(tokens::list(after, limit), tokens::record).await
    }
}

#[async_trait]
impl Outbox for OwnTables {
    async fn put(&self, event: &Event) -> Stored<()> {
        self.change(outbox::put(event)).await.map(drop)
    }

    async fn waiting(&self, limit: u32) -> Stored<Vec<Event>> {
        self.rows(outbox::waiting(limit), outbox::event).await
    }

    async fn fan_out(&self, events: &[FanOut], now: Timestamp) -> Stored<()> {
        let mut client = self.0.get().await.map_err(Fault::new)?;
        let transaction = client.transaction().await.map_err(Fault::new)?;
        for event in events {
            change(&transaction, &outbox::fan_out(event, now)).await?;
        }
        transaction.commit().await.map_err(Fault::new)
    }
}

impl OwnTables {
    async fn change(&self, statement: Statement) -> Stored<u64> {
        let client = self.0.get().await.map_err(Fault::new)?;
        change(&client, &statement).await
    }

    async fn rows<T>(
        &self,
        statement: Statement,
        read: fn(&[&str]) -> Stored<T>,
    ) -> Stored<Vec<T>> {
        let client = self.0.get().await.map_err(Fault::new)?;
        let prepared = client.prepare_cached(statement.sql).await;
        let prepared = prepared.map_err(Fault::new)?;
        let rows = client.query(&prepared, &bound(&statement)).await;
        let rows = rows.map_err(Fault::new)?;
        rows.iter().map(|row| read(&columns(row)?)).collect()
    }
}

/// How many rows a statement changes.
pub async fn change(db: &impl GenericClient, statement: &Statement) -> Stored<u64> {
    let prepared = db.prepare_cached(statement.sql).await.map_err(Fault::new)?;
    let changed = db.execute(&prepared, &bound(statement)).await;
    changed.map_err(Fault::new)
}

fn bound(statement: &Statement) -> Vec<&(dyn ToSql + Sync)> {
    let parameters = statement.parameters.iter();
    parameters.map(|text| text as _).collect()
}

fn columns(row: &Row) -> Stored<Vec<&str>> {
    let columns = (0..row.len()).map(|place| row.try_get(place));
    columns.collect::<Result<_, _>>().map_err(Fault::new)
}
