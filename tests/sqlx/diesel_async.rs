//! The checks of a host with diesel-async.

mod checks;
#[path = "../../src/guide/code/diesel_async.rs"]
mod diesel_guide;

use diesel_async::pooled_connection::deadpool::Pool;
use diesel_async::pooled_connection::{
    AsyncDieselConnectionManager, ManagerConfig, RecyclingMethod,
};
use diesel_async::{AsyncPgConnection, SimpleAsyncConnection as _};
use forum_api::async_trait;
use forum_api::host::BoardResult;
use forum_api::store::postgres::migration_scripts;
use forum_api::token::{Lookup, TokenRecord};
use forum_api::webhook::Event;

use crate::checks::{Host, check};
use crate::diesel_guide::DieselDriver;

#[derive(Clone)]
struct DieselHost {
    pool: Pool<AsyncPgConnection>,
}

#[async_trait]
impl Host for DieselHost {
    type Driver = DieselDriver;

    const REPORTS_LOST_CONNECTION: bool = false;

    fn open(url: &str, size: u32) -> Self {
        let mut config = ManagerConfig::default();
        config.recycling_method = RecyclingMethod::Fast;
        let manager = AsyncDieselConnectionManager::new_with_config(url, config);
        Self { pool: Pool::builder(manager).max_size(size as usize).build().unwrap() }
    }

    fn driver(&self) -> DieselDriver {
        DieselDriver::new(self.pool.clone())
    }

    async fn run_migrations(&self) {
        let mut connection = self.pool.get().await.unwrap();
        for script in migration_scripts() {
            connection.batch_execute(&script.sql).await.unwrap();
        }
    }

    async fn create_post(&self, body: &str, event: &Event) -> BoardResult<()> {
        let mut connection = self.pool.get().await.unwrap();
        diesel_guide::create_post(&mut connection, body, event).await
    }

    async fn find_token(&self, lookup: &Lookup) -> Option<TokenRecord> {
        let mut connection = self.pool.get().await.unwrap();
        diesel_guide::find_token(&mut connection, lookup).await.unwrap()
    }
}

#[tokio::main]
async fn main() {
    check::<DieselHost>("diesel-async").await;
}
