//! Handwritten server on rusqlite and tokio-postgres. One query finds the token and its owner, in the same visit to the
//! database as the data.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::thread::available_parallelism;

use deadpool_postgres::{Client, Pool};
use forum_api::store::postgres::tokio_postgres_0_7;
use forum_api::store::sqlite;
use forum_benches::fixture::CONNECTIONS;
use forum_server::board::access::actor;
use forum_server::board::db::{Dialects, Param, named_params};
use forum_server::board::{posts, threads};
use rusqlite::Connection;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::pages::{Columns, Config, Database, Item, Statement, Value, Values, router};

const TOKEN: &str = "SELECT owner, scopes FROM forum_api_tokens WHERE lookup = :lookup";

/// Returns the configuration of the handwritten servers, with as many connections as the example server has.
pub fn config(database: String) -> Config {
    let is_postgres = database.starts_with("postgres");
    let connections =
        if is_postgres { CONNECTIONS } else { available_parallelism().unwrap().get() };
    let of_database = |queries: &'static Dialects<String>| {
        if is_postgres { &*queries.postgres } else { &*queries.sqlite }
    };
    let statements: [(&str, &'static str); 5] = [
        ("token", TOKEN),
        ("owner", &actor::LOAD),
        ("token and owner", of_database(&actor::LOAD_TOKEN)),
        ("thread", &threads::ONE),
        ("posts", of_database(&posts::PAGE.oldest)),
    ];
    let statement = |(name, sql): (&str, &'static str)| {
        let parsed = named_params(&[sql]);
        let sql = parsed.sql.clone();
        let names = parsed.names.clone();
        (name.to_owned(), Statement { sql, names })
    };
    Config {
        database,
        connections: u32::try_from(connections).unwrap(),
        statements: statements.map(statement).into(),
    }
}

enum Backend {
    Sqlite(sqlite::Database),
    Postgres(Pool),
}

struct Site {
    backend: Backend,
    statements: &'static HashMap<String, Statement>,
}

/// Serves the board until the process ends; returns the origin.
pub fn start(config: Config) -> String {
    let runtime = Box::leak(Box::new(Runtime::new().unwrap()));
    let backend = match config.database.strip_prefix("sqlite:") {
        Some(path) => {
            let path = path.into();
            let create = false;
            let location = sqlite::DatabasePath::File { path, create };
            Backend::Sqlite(sqlite::Database::open(&location).unwrap())
        }
        None => {
            Backend::Postgres(tokio_postgres_0_7::connect(&config.database, CONNECTIONS).unwrap())
        }
    };
    let statements = Box::leak(Box::new(config.statements));
    let site = router(Site { backend, statements });
    let any: SocketAddr = ([127, 0, 0, 1], 0).into();
    let listener = runtime.block_on(TcpListener::bind(any)).unwrap();
    let address = listener.local_addr().unwrap();
    runtime.spawn(async move { axum::serve(listener, site).await });
    format!("http://{address}")
}

impl Database for Site {
    async fn items<T: Item>(&self, statement: &'static str, values: Values) -> Vec<T> {
        let [token, statement] = ["token and owner", statement].map(|name| &self.statements[name]);
        match &self.backend {
            Backend::Sqlite(database) => database
                .read::<_, sqlite::SqliteError>(move |connection| {
                    check(&rows(connection, token, &values)?);
                    Ok(rows(connection, statement, &values)?)
                })
                .await
                .unwrap(),
            Backend::Postgres(pool) => {
                let client = pool.get().await.unwrap();
                check(&fetched(&client, token, &values).await);
                fetched(&client, statement, &values).await
            }
        }
    }
}

fn rows<T: Item>(
    connection: &Connection,
    statement: &Statement,
    values: &Values,
) -> rusqlite::Result<Vec<T>> {
    let mut prepared = connection.prepare_cached(&statement.sql)?;
    let named: Vec<_> = statement.names.iter().map(|name| values.of(name)).collect();
    let parameters = rusqlite::params_from_iter(named.iter().map(param));
    let items = prepared.query_map(parameters, |row| Ok(T::read(row)))?;
    items.collect()
}

async fn fetched<T: Item>(client: &Client, statement: &Statement, values: &Values) -> Vec<T> {
    let prepared = client.prepare_cached(&statement.sql).await.unwrap();
    let named: Vec<_> = statement.names.iter().map(|name| values.of(name)).collect();
    let parameters: Vec<_> = named
        .iter()
        .map(|value| param(value) as &(dyn tokio_postgres::types::ToSql + Sync))
        .collect();
    let rows = client.query(&prepared, &parameters).await.unwrap();
    rows.iter().map(Item::read).collect()
}

fn param<'a>(value: &'a Value<'_>) -> &'a (dyn Param + Sync) {
    match value {
        Value::Text(text) => text,
        Value::Number(number) => number,
        Value::Flag(flag) => flag,
    }
}

/// A token and its owner.
struct Token {
    scopes: String,
    has_owner: bool,
}

impl Item for Token {
    fn read(row: &impl Columns) -> Self {
        Self {
            scopes: row.text("scopes").into(),
            has_owner: row.optional_number("member_id").is_some(),
        }
    }
}

fn check(tokens: &[Token]) {
    assert!(tokens[0].has_owner && tokens[0].scopes.contains("posts:read"));
}

impl Columns for rusqlite::Row<'_> {
    fn number(&self, column: &str) -> i64 {
        self.get(column).unwrap()
    }

    fn optional_number(&self, column: &str) -> Option<i64> {
        self.get(column).unwrap()
    }

    fn optional_text(&self, column: &str) -> Option<&str> {
        self.get_ref(column).unwrap().as_str_or_null().unwrap()
    }

    fn flag(&self, column: &str) -> bool {
        self.get(column).unwrap()
    }
}

impl Columns for tokio_postgres::Row {
    fn number(&self, column: &str) -> i64 {
        self.get(column)
    }

    fn optional_number(&self, column: &str) -> Option<i64> {
        self.get(column)
    }

    fn optional_text(&self, column: &str) -> Option<&str> {
        self.get(column)
    }

    fn flag(&self, column: &str) -> bool {
        self.get(column)
    }
}
