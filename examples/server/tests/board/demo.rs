//! The demo board, with a manual clock.

use forum_api::Environment;
use forum_api::store::postgres::tokio_postgres_0_7::deadpool_postgres::Pool;
use forum_api::test_util::{TestClient, audit_entry};
use rusqlite::types::FromSql;
use tokio_postgres::types::FromSqlOwned;

use crate::board::db::{Connection, TransactionFuture};
use crate::board::generate;
use crate::prelude::*;

/// Maximum number of repeats of a search that reaches its time limit.
const MAX_REPEATS: u32 = 20;

/// Creates the API of a board with its clock.
pub fn api_of(
    host: impl Into<Host>,
    stores: Stores,
    settings: ApiSettings,
    clock: &Arc<ManualClock>,
) -> TestApi {
    api_with_overlap(host, stores, settings, clock, Duration::ZERO)
}

/// Creates the API of a board whose lists of threads need an overlap of `since`.
fn api_with_overlap(
    host: impl Into<Host>,
    stores: Stores,
    settings: ApiSettings,
    clock: &Arc<ManualClock>,
    overlap: Duration,
) -> TestApi {
    let clock = Arc::<ManualClock>::clone(clock);
    let environment =
        |environment: Environment| environment.clock(clock).thread_since_overlap(overlap);
    TestApi::with(host, stores, environment, |api| api.settings(settings))
}

/// The demo board and its API.
pub struct Demo {
    pub api: TestApi,
    pub board: ReferenceBoard,
    /// The clock of the API and the board.
    pub clock: Arc<ManualClock>,
    storage: Storage,
}

impl Demo {
    pub async fn new() -> Self {
        Self::in_language(Language::English).await
    }

    /// Creates a demo board with error texts in this language.
    pub async fn in_language(language: Language) -> Self {
        let storage = Backend::Memory.or_from_environment().create_storage().await;
        Self::in_storage(storage, language).await
    }

    /// Runs the batches that commands have left.
    pub async fn run_batches(&self) {
        for kind in BatchKind::ALL {
            while self.board.run_batch(kind).await.unwrap() {}
        }
    }

    pub async fn in_postgres() -> Self {
        let storage = Backend::Postgres.create_storage().await;
        Self::in_storage(storage, Language::English).await
    }

    /// Creates a demo board in this storage.
    pub async fn in_storage(storage: Storage, language: Language) -> Self {
        let clock = Arc::new(ManualClock::new(Timestamp::from_millis(1_767_225_600_000)));
        let board = storage.demo(clock.clone(), language).await;
        let shared: Arc<ReferenceBoard> = Arc::new(board.clone());
        let (stores, settings) = (Stores::in_memory(), ApiSettings::default());
        let overlap = board.database.since_overlap();
        let api = api_with_overlap(shared, stores, settings, &clock, overlap);
        Self { api, board, clock, storage }
    }

    /// Creates the API of another node on the same database, with a clock of its own.
    pub fn another_node(&self, clock: &Arc<ManualClock>) -> TestApi {
        let board = self.storage.board(clock.clone(), Language::English);
        let stores = Stores::in_memory();
        let settings = ApiSettings::default();
        let overlap = board.database.since_overlap();
        api_with_overlap(Arc::new(board), stores, settings, clock, overlap)
    }

    /// Returns the connections to Postgres. Panics if the board is in SQLite.
    pub fn pool(&self) -> Pool {
        self.storage.pool()
    }

    /// Counts the statements of the database from now on, and limits the number of connections. Panics if the board is in
    /// SQLite.
    pub async fn track_statements(&self, connections: usize) {
        let track = "
            CREATE EXTENSION pg_stat_statements;
            DO $$ BEGIN
                EXECUTE format('ALTER DATABASE %I SET pg_stat_statements.track = top', current_database());
            END $$";
        let pool = self.pool();
        pool.get().await.unwrap().batch_execute(track).await.unwrap();
        // Open connections have the earlier setting.
        pool.resize(0);
        pool.resize(connections);
    }

    /// Returns a client with a token of this member with all scopes.
    pub async fn as_member(&self, name: &str) -> TestClient<'_> {
        self.api.as_member(&self.id(name).await.to_string())
    }

    /// Returns the id of a member.
    pub async fn id(&self, name: &str) -> i64 {
        let name = name.to_owned();
        self.read(|connection| Box::pin(async move { accounts::find_id(connection, &name).await }))
            .await
    }

    /// Returns status and body of `GET path` by this member, or by `guest`.
    pub async fn get(&self, name: &'static str, path: &str) -> (u16, Value) {
        let client = match name {
            "guest" => self.api.as_guest(),
            name => self.as_member(name).await,
        };
        let answer = client.get(path).await;
        (answer.status, answer.json())
    }

    /// Returns all pages of a list. `path` has a query.
    pub async fn pages(&self, name: &'static str, path: &str) -> Vec<Value> {
        self.pages_with_repeats(name, path, 0).await
    }

    /// Returns all pages of a search with much work. Repeats a page that reaches its time limit, because other tests run at the
    /// same time.
    pub async fn pages_of_long_search(&self, path: &str) -> Vec<Value> {
        self.pages_with_repeats("guest", path, MAX_REPEATS).await
    }

    async fn pages_with_repeats(
        &self,
        name: &'static str,
        path: &str,
        max_repeats: u32,
    ) -> Vec<Value> {
        let mut pages = Vec::new();
        let mut after = String::new();
        loop {
            let page_path = format!("{path}{after}");
            let mut repeats = max_repeats;
            let page = loop {
                let (status, page) = self.get(name, &page_path).await;
                if status != 503 || repeats == 0 {
                    assert_eq!(status, 200, "{page}");
                    break page;
                }
                repeats -= 1;
            };
            let next = page["next"].as_str().map(|next| format!("&after={next}"));
            pages.push(page);
            match next {
                Some(next) => after = next,
                None => return pages,
            }
        }
    }

    /// Returns status and body of `POST path` by this member.
    pub async fn post(&self, name: &'static str, path: &str, body: Value) -> (u16, Value) {
        let answer = self.as_member(name).await.post(path, &body).await;
        (answer.status, answer.json())
    }

    /// Runs a transaction on the board without the API.
    pub async fn change<T: Send + 'static>(
        &self,
        change: impl for<'a> FnOnce(&'a Transaction<'a>) -> TransactionFuture<'a, T>
        + Clone
        + Send
        + 'static,
    ) {
        self.board.write(move |tx, _| change(tx)).await.unwrap();
    }

    /// Runs a query on the board without the API.
    pub async fn read<T: Send + 'static>(
        &self,
        query: impl for<'a> FnOnce(&'a Connection<'a>) -> TransactionFuture<'a, T> + Send + 'static,
    ) -> T {
        self.board.read_snapshot(query).await.unwrap()
    }

    /// Returns the column `value` of the only row of a query.
    pub async fn query_value<T>(&self, sql: &'static str) -> T
    where
        T: FromSql + FromSqlOwned + Send + 'static,
    {
        self.query_values(sql).await.pop().unwrap()
    }

    /// Returns the column `value` of each row of a query.
    pub async fn query_values<T>(&self, sql: &'static str) -> Vec<T>
    where
        T: FromSql + FromSqlOwned + Send + 'static,
    {
        self.read(move |connection| Box::pin(connection.all(sql, &[], |row| row.value("value"))))
            .await
    }

    pub const fn database(&self) -> &BoardDatabase {
        &self.storage.database
    }

    /// Returns the value for the backend of the board.
    pub fn for_backend<T>(&self, sqlite: T, postgres: T) -> T {
        match self.storage.database {
            BoardDatabase::Sqlite(_) => sqlite,
            BoardDatabase::Postgres(_) => postgres,
        }
    }

    /// Fills the board with generated content.
    pub async fn generate(&self, amount: ContentSize) {
        generate::run(&self.board, amount, 1, audit_entry(), |_| ()).await.unwrap();
    }

    /// Adds an endpoint for all topics.
    pub async fn add_endpoint(&self) {
        self.storage.add_endpoint().await;
    }

    /// Approves a post, as an operator does.
    pub async fn approve(&self, post: i64) -> BoardResult<()> {
        self.board.write(move |tx, events| Box::pin(moderation::approve(tx, events, post))).await
    }

    /// Restores a post, as an operator does.
    pub async fn restore(&self, post: i64) -> BoardResult<()> {
        self.board.write(move |tx, events| Box::pin(moderation::restore(tx, events, post))).await
    }

    /// Runs statements, which may take longer than those of a request: they can add tens of thousands of rows, beside
    /// other tests.
    pub async fn sql(&self, sql: &str) {
        let sql = sql.to_owned();
        self.database()
            .write_without_timeout(move |tx| Box::pin(async move { tx.execute_batch(&sql).await }))
            .await
            .unwrap();
    }

    /// Sets a setting, as an operator does.
    pub async fn set(&self, key: &str, value: &str) {
        let setting = settings::find(key).unwrap();
        let value = value.to_owned();
        self.change(move |tx| Box::pin(async move { Ok(setting.set(tx, &value).await?.unwrap()) }))
            .await;
    }

    /// Advances the clock.
    pub fn advance(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }

    /// Sets the clock back.
    pub fn set_back(&self, seconds: u64) {
        self.clock.set(self.clock.now().saturating_sub(Duration::from_secs(seconds)));
    }

    /// Returns the forum with this title, as an administrator sees it.
    pub async fn forum(&self, title: &str) -> Value {
        let (_, forums) = self.get("admin", "/forums").await;
        find_item(&forums, "title", title)
    }

    /// Returns the path of the threads of the forum with this title.
    pub async fn threads_path(&self, title: &str) -> String {
        let forum = self.forum(title).await;
        format!("/forums/{}/threads", forum["forumId"].as_str().unwrap())
    }

    /// Returns the thread with this title in the forum `forum`.
    pub async fn thread(&self, forum: &str, title: &str) -> Value {
        let path = format!("{}?limit=100", self.threads_path(forum).await);
        let (_, threads) = self.get("admin", &path).await;
        find_item(&threads, "title", title)
    }

    /// Returns the path of the posts of the thread about tea in General.
    pub async fn tea_posts_path(&self) -> String {
        posts_path(&self.thread("General", "Which tea for a rainy afternoon?").await)
    }
}

/// Returns the path of a thread's posts.
pub fn posts_path(thread: &Value) -> String {
    format!("/threads/{}/posts", thread["threadId"].as_str().unwrap())
}

/// Returns the id of the thread in the path of its posts.
pub fn thread_in(posts_path: &str) -> &str {
    posts_path.split('/').nth(2).unwrap()
}

/// Returns the item of a list that has this value in this field.
pub fn find_item(list: &Value, field: &str, value: &str) -> Value {
    let items = list["items"].as_array().unwrap();
    items
        .iter()
        .find(|item| item[field] == value)
        .unwrap_or_else(|| panic!("no {value} in {list}"))
        .clone()
}

/// Returns this field of every item of a list.
pub fn field_values<'a>(list: &'a Value, field: &str) -> Vec<&'a str> {
    let items = list["items"].as_array().unwrap();
    items.iter().map(|item| item[field].as_str().unwrap()).collect()
}

/// Returns the status, the code and the message of a refusal; both texts are empty for a success.
pub fn refusal((status, body): &(u16, Value)) -> (u16, &str, &str) {
    let [code, message] = ["code", "message"].map(|key| body["error"][key].as_str().unwrap_or(""));
    (*status, code, message)
}

/// Returns an id as a number.
pub fn number(id: &Value) -> i64 {
    id.as_str().unwrap().parse().unwrap()
}

/// Returns the request body of a post with this text.
pub fn body(text: &str) -> Value {
    json!({ "body": text })
}
