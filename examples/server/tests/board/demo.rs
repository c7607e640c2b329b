//! The demo board, with a manual clock.

use std::sync::Arc;
use std::time::Duration;

use forum_api::host::{BoardResult, Host};
use forum_api::model::Timestamp;
use forum_api::runtime::ManualClock;
use forum_api::store::Stores;
use forum_api::store::postgres::deadpool_postgres::Pool;
use forum_api::test_util::{TestApi, TestClient, audit_entry};
use forum_api::{ApiSettings, Language};
use rusqlite::types::FromSql;
use serde_json::{Value, json};
use tokio_postgres::types::FromSqlOwned;

use crate::backend::{Backend, Place};
use crate::board::db::{BoardDatabase, Connection, Transaction, TransactionFuture};
use crate::board::generate::{self, ContentSize};
use crate::board::{ReferenceBoard, accounts, moderation, settings};

/// Creates the API of a board with its clock.
pub fn api_of(
    host: impl Into<Host>,
    stores: Stores,
    settings: ApiSettings,
    clock: &Arc<ManualClock>,
) -> TestApi {
    let clock = Arc::<ManualClock>::clone(clock);
    TestApi::with_settings(host, stores, settings, |environment| {
        environment.clock(clock)
    })
}

/// The demo board.
pub struct Demo {
    /// Behind the API.
    pub api: TestApi,
    /// The board itself.
    pub board: ReferenceBoard,
    /// The clock that both go by.
    pub clock: Arc<ManualClock>,
    /// Where it is.
    place: Place,
}

impl Demo {
    /// A new one.
    pub async fn new() -> Self {
        Self::that_speaks(Language::English).await
    }

    /// A new one that refuses in `language`.
    pub async fn that_speaks(language: Language) -> Self {
        let place = Backend::Memory.unless_chosen().place().await;
        Self::within(place, language).await
    }

    /// A new one in this place.
    pub async fn within(place: Place, language: Language) -> Self {
        let clock = Arc::new(ManualClock::new(Timestamp::from_millis(1_767_225_600_000)));
        let board = place.demo(clock.clone(), language).await;
        let shared: Arc<ReferenceBoard> = Arc::new(board.clone());
        let api = api_of(shared, Stores::in_memory(), ApiSettings::default(), &clock);
        Self {
            api,
            board,
            clock,
            place,
        }
    }

    /// The API of another node on the same Postgres.
    pub fn another_node(&self) -> TestApi {
        let board = ReferenceBoard::new(self.pool(), self.clock.clone(), Language::English);
        let (stores, settings) = (Stores::in_memory(), ApiSettings::default());
        api_of(Arc::new(board), stores, settings, &self.clock)
    }

    /// Connections to its Postgres.
    pub fn pool(&self) -> Pool {
        match &self.place.database {
            BoardDatabase::Sqlite(_) => panic!("the board is in SQLite"),
            BoardDatabase::Postgres(database) => database.pool.clone(),
        }
    }

    /// A member of the demo board, with all scopes.
    pub async fn as_member(&self, name: &'static str) -> TestClient<'_> {
        self.api.as_member(&self.id(name).await.to_string())
    }

    /// A member's id.
    pub async fn id(&self, name: &'static str) -> i64 {
        self.read(move |connection| Box::pin(accounts::named(connection, name)))
            .await
    }

    /// What `path` answers to a guest, or to a member.
    pub async fn get(&self, name: &'static str, path: &str) -> (u16, Value) {
        let client = match name {
            "guest" => self.api.as_guest(),
            name => self.as_member(name).await,
        };
        let answer = client.get(path).await;
        (answer.status, answer.json())
    }

    /// What posting `body` answers to a member.
    pub async fn post(&self, name: &'static str, path: &str, body: Value) -> (u16, Value) {
        let answer = self.as_member(name).await.post(path, &body).await;
        (answer.status, answer.json())
    }

    /// Changes the board behind the API's back.
    pub async fn change(
        &self,
        change: impl for<'a> FnOnce(&'a Transaction<'a>) -> TransactionFuture<'a, ()>
        + Clone
        + Send
        + 'static,
    ) {
        self.board.write(move |tx, _| change(tx)).await.unwrap();
    }

    /// Looks at the board behind the API's back.
    pub async fn read<T: Send + 'static>(
        &self,
        look: impl for<'a> FnOnce(&'a Connection<'a>) -> TransactionFuture<'a, T> + Send + 'static,
    ) -> T {
        self.board.read(look).await.unwrap()
    }

    /// The one value that a query gives.
    pub async fn one<T>(&self, sql: &'static str) -> T
    where
        T: FromSql + FromSqlOwned + Send + 'static,
    {
        self.read(move |connection| {
            Box::pin(async move { Ok(connection.one(sql, &[], |row| row.value()).await?) })
        })
        .await
    }

    /// Where it is.
    pub const fn database(&self) -> &BoardDatabase {
        &self.place.database
    }

    /// What is for SQLite, or what is for Postgres.
    pub fn either<T>(&self, sqlite: T, postgres: T) -> T {
        match self.place.database {
            BoardDatabase::Sqlite(_) => sqlite,
            BoardDatabase::Postgres(_) => postgres,
        }
    }

    /// Fills the board with so much.
    pub async fn generate(&self, amount: ContentSize) {
        generate::run(&self.board, amount, 1, audit_entry(), |_| ())
            .await
            .unwrap();
    }

    /// Registers an endpoint for all topics.
    pub async fn add_endpoint(&self) {
        self.place.add_endpoint().await;
    }

    /// Approves a post, as an operator does.
    pub async fn approve(&self, post: i64) -> BoardResult<()> {
        self.board
            .write(move |tx, events| Box::pin(moderation::approve(tx, events, post)))
            .await
    }

    /// Restores a post, as an operator does.
    pub async fn restore(&self, post: i64) -> BoardResult<()> {
        self.board
            .write(move |tx, events| Box::pin(moderation::restore(tx, events, post)))
            .await
    }

    /// Runs SQL.
    pub async fn sql(&self, sql: &'static str) {
        self.change(move |tx| Box::pin(async move { Ok(tx.run(sql).await?) }))
            .await;
    }

    /// Sets a setting, as an operator does.
    pub async fn set(&self, key: &'static str, value: &'static str) {
        self.change(move |tx| {
            Box::pin(async move {
                let set = settings::named(key).unwrap().set(tx, value).await?;
                set.unwrap();
                Ok(())
            })
        })
        .await;
    }

    /// Lets time go by.
    pub fn wait(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }

    /// The forum with this title, as an administrator sees it.
    pub async fn forum(&self, title: &str) -> Value {
        let (_, forums) = self.get("admin", "/forums").await;
        find(&forums, "title", title)
    }

    /// The path of the list of threads of the forum with this title.
    pub async fn threads_of(&self, title: &str) -> String {
        let forum = self.forum(title).await;
        format!("/forums/{}/threads", forum["forumId"].as_str().unwrap())
    }

    /// The thread with this title, of the forum with that one.
    pub async fn thread(&self, forum: &str, title: &str) -> Value {
        let (_, threads) = self
            .get(
                "admin",
                &format!("{}?limit=100", self.threads_of(forum).await),
            )
            .await;
        find(&threads, "title", title)
    }

    /// The path of the list of posts of the thread in General about tea.
    pub async fn tea(&self) -> String {
        let thread = self
            .thread("General", "Which tea for a rainy afternoon?")
            .await;
        posts_of(&thread)
    }
}

/// The path of the list of a thread's posts.
pub fn posts_of(thread: &Value) -> String {
    format!("/threads/{}/posts", thread["threadId"].as_str().unwrap())
}

/// The item of a list that has this value in this field.
pub fn find(list: &Value, field: &str, value: &str) -> Value {
    let items = list["items"].as_array().unwrap();
    let found = items.iter().find(|item| item[field] == value);
    found
        .unwrap_or_else(|| panic!("no {value} in {list}"))
        .clone()
}

/// One field of every item of a list.
pub fn all<'a>(list: &'a Value, field: &str) -> Vec<&'a str> {
    let items = list["items"].as_array().unwrap();
    items
        .iter()
        .map(|item| item[field].as_str().unwrap())
        .collect()
}

/// The code of an error.
pub fn code((status, body): &(u16, Value)) -> (u16, &str) {
    (*status, body["error"]["code"].as_str().unwrap_or(""))
}

/// A post's body.
pub fn body(text: &str) -> Value {
    json!({ "body": text })
}
