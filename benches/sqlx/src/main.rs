//! Pages of the reference board on axum and sqlx, with one query each for token, owner and data, and without rate limits
//! and logs. The benchmark `pages` builds and runs it.
//!
//! Reads its configuration as JSON from standard input, prints its origin, and serves until the process is killed.

mod pages;

use std::error::Error;
use std::io;

use sqlx::postgres::{PgPoolOptions, PgRow};
use sqlx::sqlite::{SqlitePoolOptions, SqliteRow};
use sqlx::{PgPool, Row as _, SqlitePool};
use tokio::net::TcpListener;

use pages::{Columns, Config, Database, Item, Statement, Value, Values, router};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

enum Pool {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

struct Site {
    pool: Pool,
    config: &'static Config,
}

/// Fetches the rows of a statement in one of the pools.
macro_rules! fetch {
    ($pool:expr, $statement:expr, $values:expr) => {{
        let mut query = sqlx::query($statement.sql.as_str());
        for name in &$statement.names {
            query = match $values.of(name) {
                Value::Text(text) => query.bind(text),
                Value::Number(number) => query.bind(number),
                Value::Flag(flag) => query.bind(flag),
            };
        }
        let rows = query.fetch_all($pool).await.unwrap();
        rows.iter().map(Item::read).collect()
    }};
}

impl Site {
    async fn all<T: Item>(&self, statement: &str, values: &Values) -> Vec<T> {
        let statement: &'static Statement = &self.config.statements[statement];
        match &self.pool {
            Pool::Sqlite(pool) => fetch!(pool, statement, values),
            Pool::Postgres(pool) => fetch!(pool, statement, values),
        }
    }
}

impl Database for Site {
    async fn items<T: Item>(&self, statement: &'static str, values: Values) -> Vec<T> {
        let token: Vec<Token> = self.all("token", &values).await;
        assert!(token[0].scopes.contains("posts:read"));
        let values = Values { member: Some(token[0].owner), ..values };
        let owner: Vec<Owner> = self.all("owner", &values).await;
        assert!(owner[0].has_groups);
        self.all(statement, &values).await
    }
}

macro_rules! columns {
    ($row:ty) => {
        impl Columns for $row {
            fn number(&self, column: &str) -> i64 {
                self.get_unchecked(column)
            }

            fn optional_number(&self, column: &str) -> Option<i64> {
                self.get_unchecked(column)
            }

            fn optional_text(&self, column: &str) -> Option<&str> {
                self.get_unchecked(column)
            }

            fn flag(&self, column: &str) -> bool {
                self.get_unchecked(column)
            }
        }
    };
}

columns!(SqliteRow);
columns!(PgRow);

/// A token without its secret.
struct Token {
    owner: i64,
    scopes: String,
}

impl Item for Token {
    fn read(row: &impl Columns) -> Self {
        Self { owner: row.text("owner").parse().unwrap(), scopes: row.text("scopes").into() }
    }
}

/// The owner of a token.
struct Owner {
    has_groups: bool,
}

impl Item for Owner {
    fn read(row: &impl Columns) -> Self {
        let has_groups = row.optional_text("groups").is_some();
        Self { has_groups }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let config: Config = serde_json::from_reader(io::stdin())?;
    let url = &config.database;
    let connections = config.connections;
    let pool = if url.starts_with("sqlite:") {
        let options = SqlitePoolOptions::new().max_connections(connections);
        Pool::Sqlite(options.connect(url).await?)
    } else {
        let options = PgPoolOptions::new().max_connections(connections);
        Pool::Postgres(options.connect(url).await?)
    };
    let config = Box::leak(Box::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    Ok(axum::serve(listener, router(Site { pool, config })).await?)
}
