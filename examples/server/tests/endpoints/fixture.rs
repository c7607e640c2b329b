//! A demo board behind the API, in the backend of `FORUM_API_BACKEND`.

use std::any::Any;
use std::collections::HashMap;
use std::env;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use forum_api::model::Timestamp;
use forum_api::runtime::ManualClock;
use forum_api::scope::Scope;
use forum_api::store::redis::{self, RedisRateLimitStore};
use forum_api::store::sqlite::{self, DatabasePath};
use forum_api::store::{Stores, postgres};
use forum_api::test_util::{TestApi, TestResponse};
use forum_api::token::Expiry;
use forum_api::{ApiSettings, Environment, Language};
use forum_server::board::db::BoardDatabase;
use forum_server::board::forums::{self, ForumInsert};
use forum_server::board::moderation::{self, ThreadFlag};
use forum_server::board::permissions::AccessLists;
use forum_server::board::{ReferenceBoard, accounts, demo, settings};
use forum_test_support::postgres as test_postgres;
use http::Method;

/// The demo board, its API, and the clock of both.
pub struct Fixture {
    board: Arc<ReferenceBoard>,
    clock: Arc<ManualClock>,
    api: TestApi,
    /// Tokens by their owner and scopes.
    tokens: Mutex<HashMap<String, String>>,
    _storage: Box<dyn Any>,
}

impl Fixture {
    pub async fn new(settings: ApiSettings, language: Language) -> Self {
        let clock = Arc::new(clock());
        let (database, storage) = database().await;
        let board = Arc::new(ReferenceBoard::new(
            database.clone(),
            clock.clone(),
            language,
        ));
        let mut stores = database.stores();
        stores.tokens = Stores::in_memory().tokens;
        if env::var("FORUM_API_BACKEND").is_ok_and(|backend| backend == "redis") {
            stores.rate_limits = Arc::new(budgets().await);
        }
        let environment = |environment: Environment| environment.clock(clock.clone());
        let api = TestApi::with(board.clone(), stores, environment, |api| {
            api.settings(settings)
        });
        Self {
            board,
            clock,
            api,
            tokens: Mutex::default(),
            _storage: storage,
        }
    }

    /// Sends a request of a member with these scopes, or of a guest.
    pub async fn send(
        &self,
        caller: Option<(&str, &[&str])>,
        (method, path, body): (&str, &str, &str),
        headers: &[(&str, &str)],
    ) -> TestResponse {
        let client = match caller {
            Some((name, scopes)) => {
                let owner = self.member(name).await.to_string();
                let mut tokens = self.tokens.lock().unwrap();
                let token = tokens.entry(format!("{name} {scopes:?}"));
                let issue = || {
                    let scopes = scopes.iter().map(|scope| Scope::parse(scope).unwrap());
                    let scopes: Vec<_> = scopes.collect();
                    let token = self.api.issue_token(&owner, &scopes, Expiry::NEVER);
                    token.expose_secret().to_owned()
                };
                self.api.client(Some(token.or_insert_with(issue).clone()))
            }
            None => self.api.as_guest(),
        };
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let mut request = client.request(method, path).body(body.to_owned());
        if !body.is_empty() {
            request = request.header("content-type", "application/json");
        }
        for (name, value) in headers {
            request = request.header(name, value);
        }
        request.await
    }

    async fn member(&self, name: &str) -> i64 {
        let name = name.to_owned();
        let find = self
            .board
            .read(|connection| Box::pin(async move { accounts::named(connection, &name).await }));
        find.await.unwrap()
    }

    /// Runs a command of the operator, or advances the clock.
    pub async fn command(&self, command: &str) {
        let words: Vec<_> = command.split(' ').map(str::to_owned).collect();
        if let ["wait", seconds] = words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            self.clock
                .advance(Duration::from_secs(seconds.parse().unwrap()));
            return;
        }
        let done = self.board.write(move |tx, events| {
            Box::pin(async move {
                let id = |text: &str| text.parse::<i64>().unwrap();
                let words: Vec<_> = words.iter().map(String::as_str).collect();
                match words[..] {
                    ["ban", name] | ["unban", name] => {
                        let member = accounts::named(tx, name).await?;
                        accounts::set_banned(tx, member, words[0] == "ban").await?;
                    }
                    ["groups", name, groups] => {
                        let member = accounts::named(tx, name).await?;
                        accounts::set_groups(tx, member, groups.parse().unwrap()).await?;
                    }
                    ["setting", key, value] => {
                        let setting = settings::named(key).unwrap();
                        assert!(setting.set(tx, value).await?.is_some());
                    }
                    ["offline"] | ["online"] => {
                        settings::set_offline(tx, words[0] == "offline").await?;
                    }
                    ["lock", thread] | ["unlock", thread] => {
                        let locked = words[0] == "lock";
                        moderation::set_flag(tx, id(thread), ThreadFlag::Locked, locked).await?;
                    }
                    ["pin", thread] => {
                        moderation::set_flag(tx, id(thread), ThreadFlag::Pinned, true).await?;
                    }
                    ["approve", post] => moderation::approve(tx, events, id(post)).await?,
                    ["restore", post] => moderation::restore(tx, events, id(post)).await?,
                    ["forum", title, parent, readers, repliers] => {
                        let new = ForumInsert {
                            title: title.into(),
                            parent: parent.parse().ok(),
                            lists: AccessLists {
                                read: Some(readers.parse().unwrap()),
                                start: None,
                                reply: Some(repliers.parse().unwrap()),
                            },
                            ..ForumInsert::default()
                        };
                        forums::add(tx, &new).await?;
                    }
                    ["close"] => {
                        let hide = "UPDATE forum SET read_groups = 'members'";
                        tx.execute(hide, &[]).await?;
                    }
                    _ => panic!("unknown command {words:?}"),
                }
                Ok(())
            })
        });
        done.await.unwrap();
    }
}

/// A clock at 2026-01-01T00:00:00Z.
fn clock() -> ManualClock {
    ManualClock::new(Timestamp::from_millis(1_767_225_600_000))
}

/// A database with the demo board.
async fn database() -> (BoardDatabase, Box<dyn Any>) {
    if env::var("FORUM_API_BACKEND").is_ok() {
        static TEMPLATE: OnceLock<test_postgres::Database> = OnceLock::new();
        let database = test_postgres::Database::copy_of(TEMPLATE.get_or_init(template));
        let pool = postgres::connect(&database.url(), 4).unwrap();
        return (pool.into(), Box::new(database));
    }
    let database = sqlite::Database::open(&DatabasePath::Memory)
        .unwrap()
        .into();
    fill(&database).await;
    (database, Box::new(()))
}

fn template() -> test_postgres::Database {
    let database = test_postgres::Database::new();
    let pool = postgres::connect(&database.url(), 1).unwrap();
    test_postgres::block_on_thread(async move {
        postgres::migrate(&pool).await.unwrap();
        fill(&pool.into()).await;
    });
    database
}

async fn fill(database: &BoardDatabase) {
    let board = ReferenceBoard::new(database.clone(), Arc::new(clock()), Language::English);
    board.migrate().await.unwrap();
    let fill = board.write(|tx, events| Box::pin(demo::begin(tx, "", false, events.now)));
    fill.await.unwrap();
}

/// Rate limits in Redis, under a prefix that no other fixture has.
async fn budgets() -> RedisRateLimitStore {
    static CREATED: AtomicU32 = AtomicU32::new(0);
    let number = CREATED.fetch_add(1, Ordering::Relaxed);
    let mut settings = redis::RedisSettings::default();
    settings.prefix = format!("endpoints_{}_{number}:", std::process::id());
    let url = env::var("FORUM_API_REDIS").unwrap();
    RedisRateLimitStore::connect(&url, settings).await.unwrap()
}
