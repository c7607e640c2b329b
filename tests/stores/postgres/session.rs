//! Settings of connections, whatever the defaults of the database are.

use forum_api::store::postgres::tokio_postgres_0_7::deadpool_postgres::{Manager, Pool};
use forum_api::store::postgres::tokio_postgres_0_7::{connect, migrate};
use forum_test_support::postgres::Database;
use tokio_postgres::NoTls;

#[tokio::test(flavor = "multi_thread")]
async fn the_defaults_of_a_database_have_no_effect() {
    let database = Database::new();
    let settings = [
        ("default_transaction_isolation", "serializable", "read committed"),
        ("statement_timeout", "1ms", "10s"),
        ("idle_in_transaction_session_timeout", "1ms", "20s"),
        ("lock_timeout", "1ms", "0"),
        ("idle_session_timeout", "1h", "0"),
    ];
    for (setting, default, _) in settings {
        database.alter(&format!("SET {setting} = '{default}'"));
    }
    let address = format!("{}?options=-c%20search_path%3Dpublic", database.url());
    let client = connect(&address, 1).unwrap().get().await.unwrap();
    for (setting, _, expected) in settings {
        assert_eq!(show(&client, setting).await, expected, "{setting}");
    }
    let longer = address + "%20-c%20statement_timeout%3D1min";
    let client = connect(&longer, 1).unwrap().get().await.unwrap();
    assert_eq!(show(&client, "statement_timeout").await, "1min");
}

async fn show(client: &tokio_postgres::Client, setting: &str) -> String {
    let show = format!("SHOW {setting}");
    client.query_one(&show, &[]).await.unwrap().get(0)
}

/// A pool without the settings of [`connect`].
fn pool_of_a_host(database: &Database) -> Pool {
    let manager = Manager::new(database.url().parse().unwrap(), NoTls);
    Pool::builder(manager).build().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_not_in_utf8_is_refused() {
    for encoding in ["LATIN1", "SQL_ASCII"] {
        let database = Database::with_encoding(encoding);
        let sentence = format!(
            "the encoding of the database is {encoding}; create the database with the encoding UTF8"
        );
        let own = connect(&database.url(), 1).unwrap();
        for pool in [own, pool_of_a_host(&database)] {
            assert_eq!(migrate(&pool).await.unwrap_err().to_string(), sentence);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_with_another_isolation_level_is_refused() {
    let database = Database::new();
    database.alter("SET default_transaction_isolation = 'serializable'");
    let error = migrate(&pool_of_a_host(&database)).await.unwrap_err();
    let expected = "the default isolation level of the connection is serializable; ";
    assert!(error.to_string().starts_with(expected), "{error}");
    let pool = connect(&database.url(), 1).unwrap();
    migrate(&pool).await.unwrap();
}
