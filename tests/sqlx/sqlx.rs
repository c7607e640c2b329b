//! The checks of a host with sqlx, and of one with the version of sea-orm that uses the same version of sqlx.

mod checks;
mod sea_orm {
    include!(concat!(env!("OUT_DIR"), "/sea_orm.rs"));
}
#[path = "../../src/guide/code/sqlx.rs"]
mod sqlx;

use ::sea_orm::DatabaseConnection;
use ::sqlx::postgres::PgPool;
use forum_api::async_trait;
use forum_api::host::BoardResult;
use forum_api::store::postgres::migrate;
use forum_api::token::{Lookup, TokenRecord};
use forum_api::webhook::Event;
use sea_orm_migration::{MigrationTrait, MigratorTrait};

use crate::checks::{Host, check};
use crate::sea_orm::forum_api_migrations;
use crate::sqlx::SqlxDriver;

#[derive(Clone)]
struct SqlxHost {
    pool: PgPool,
}

#[async_trait]
impl Host for SqlxHost {
    type Driver = SqlxDriver;

    fn open(url: &str, size: u32) -> Self {
        let pool = sqlx::pool_options().max_connections(size).connect_lazy(url);
        Self { pool: pool.unwrap() }
    }

    fn driver(&self) -> SqlxDriver {
        SqlxDriver::new(self.pool.clone())
    }

    async fn run_migrations(&self) {
        migrate(&self.driver()).await.unwrap();
    }

    async fn create_post(&self, body: &str, event: &Event) -> BoardResult<()> {
        sqlx::create_post(&self.pool, body, event).await
    }

    async fn find_token(&self, lookup: &Lookup) -> Option<TokenRecord> {
        sqlx::find_token(&self.pool, lookup).await.unwrap()
    }
}

#[derive(Clone)]
struct SeaOrmHost {
    database: DatabaseConnection,
}

#[async_trait]
impl Host for SeaOrmHost {
    type Driver = SqlxDriver;

    const REPORTS_LOST_CONNECTION: bool = false;

    fn open(url: &str, size: u32) -> Self {
        Self { database: sea_orm::connect(url, size).unwrap() }
    }

    fn driver(&self) -> SqlxDriver {
        sea_orm::driver(&self.database)
    }

    async fn run_migrations(&self) {
        Migrator::up(&self.database, None).await.unwrap();
    }

    async fn create_post(&self, body: &str, event: &Event) -> BoardResult<()> {
        sea_orm::create_post(&self.database, body, event).await
    }

    async fn find_token(&self, lookup: &Lookup) -> Option<TokenRecord> {
        let pool = self.database.get_postgres_connection_pool();
        sqlx::find_token(pool, lookup).await.unwrap()
    }
}

/// The migrations of the host.
struct Migrator;

impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        forum_api_migrations()
    }
}

#[tokio::main]
async fn main() {
    check::<SqlxHost>(concat!(env!("CARGO_PKG_NAME"), " sqlx")).await;
    check::<SeaOrmHost>(concat!(env!("CARGO_PKG_NAME"), " sea-orm")).await;
}
