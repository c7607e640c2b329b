//! The pages of a handwritten server on axum, over a database of the reference board. Two servers share them: the one
//! on sqlx in this package, and the one on rusqlite and tokio-postgres in the benchmark `pages`.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::routing::get;
use axum::{Json, Router};
use forum_api::model::{Author, ContentState, LastPost, Post, Thread, Timestamp, UserId};
use serde::{Deserialize, Serialize};

/// The configuration of a server.
#[derive(Clone, Deserialize, Serialize)]
pub struct Config {
    pub database: String,
    pub connections: u32,
    pub statements: HashMap<String, Statement>,
}

/// A statement whose parameters are numbered, and their names.
#[derive(Clone, Deserialize, Serialize)]
pub struct Statement {
    pub sql: String,
    pub names: Vec<String>,
}

/// Value of a parameter.
pub enum Value<'a> {
    Text(&'a str),
    Number(Option<i64>),
    Flag(bool),
}

/// Values of the parameters that differ between requests.
#[derive(Clone, Default)]
pub struct Values {
    pub lookup: String,
    pub member: Option<i64>,
    pub thread: i64,
    pub rows: i64,
}

impl Values {
    /// Returns the value of a parameter. A guest sees the three public forums of the demo board.
    pub fn of(&self, name: &str) -> Value<'_> {
        match name {
            ":lookup" => Value::Text(&self.lookup),
            ":member" => Value::Number(self.member),
            ":thread" => Value::Number(Some(self.thread)),
            ":rows" => Value::Number(Some(self.rows)),
            ":time" | ":id" | ":since" => Value::Number(Some(i64::MIN)),
            ":from" => Value::Number(None),
            ":max_bytes" => Value::Number(Some(i64::MAX)),
            ":sees" => Value::Text(",1,2,3,"),
            ":moderates" => Value::Text(","),
            ":source" | ":html" => Value::Flag(true),
            ":edit_window" => Value::Text("post.edit_window_minutes"),
            other => panic!("no value of {other}"),
        }
    }
}

/// A row with columns by name.
pub trait Columns {
    fn number(&self, column: &str) -> i64;
    fn optional_number(&self, column: &str) -> Option<i64>;
    fn optional_text(&self, column: &str) -> Option<&str>;
    fn flag(&self, column: &str) -> bool;

    fn text(&self, column: &str) -> &str {
        self.optional_text(column).unwrap()
    }

    fn id<T: From<i64>>(&self, column: &str) -> T {
        self.number(column).into()
    }

    fn optional_id<T: From<i64>>(&self, column: &str) -> Option<T> {
        self.optional_number(column).map(T::from)
    }

    fn count<T: TryFrom<i64>>(&self, column: &str) -> T {
        T::try_from(self.number(column)).ok().unwrap()
    }

    fn time(&self, column: &str) -> Timestamp {
        Timestamp::from_millis(self.number(column))
    }

    fn state(&self, column: &str) -> ContentState {
        match self.text(column) {
            "visible" => ContentState::Visible,
            "awaiting_approval" => ContentState::AwaitingApproval,
            _ => ContentState::Deleted,
        }
    }

    fn author(&self, [id, name, avatar]: [&str; 3]) -> Option<Author> {
        let user_id: UserId = self.optional_id(id)?;
        let mut author = Author::new(user_id, self.text(name));
        author.avatar_url = self.optional_text(avatar).map(Into::into);
        Some(author)
    }
}

/// A value of one row.
pub trait Item: Send + 'static {
    fn read(row: &impl Columns) -> Self;
}

impl Item for Thread {
    fn read(row: &impl Columns) -> Self {
        let mut thread = Self::new(
            row.id("thread_id"),
            row.id("forum_id"),
            row.text("title"),
            row.state("thread_state"),
            row.id("first_post_id"),
            row.time("thread_created_at"),
        );
        thread.author = row.author(["starter_id", "starter_name", "starter_avatar"]);
        thread.last_activity_at = row.time("last_activity_at");
        thread.last_post = row.optional_id("last_post_id").map(|post_id| {
            let mut last = LastPost::new(post_id, thread.last_activity_at);
            last.author = row.author(["last_author_id", "last_author_name", "last_author_avatar"]);
            last
        });
        thread.reply_count = row.count("reply_count");
        thread.pinned = row.flag("pinned");
        thread.locked = row.flag("locked");
        thread.poll_id = row.optional_id("poll_id");
        thread.version = row.number("thread_version");
        thread
    }
}

impl Item for Post {
    fn read(row: &impl Columns) -> Self {
        let mut post = Self::new(
            row.id("post_id"),
            row.id("post_thread_id"),
            row.count("number"),
            row.state("post_state"),
            row.time("post_created_at"),
        );
        post.author = row.author(["author_id", "author_name", "author_avatar"]);
        post.edited_at = row.optional_number("edited_at").map(Timestamp::from_millis);
        post.edited_by = row.author(["editor_id", "editor_name", "editor_avatar"]);
        post.body = row.optional_text("body").map(Into::into);
        post.body_html = row.optional_text("body_html").map(Into::into);
        post.version = row.number("post_version");
        post.in_reply_to = row.optional_id("answered_id");
        post
    }
}

/// The database of a server.
pub trait Database: Send + Sync + 'static {
    /// Looks up the token and its owner, and returns the rows of a statement.
    fn items<T: Item>(
        &self,
        statement: &'static str,
        values: Values,
    ) -> impl Future<Output = Vec<T>> + Send;
}

pub fn router<D: Database>(database: D) -> Router {
    Router::new()
        .route("/api/v1/threads/{thread}", get(thread::<D>))
        .route("/api/v1/threads/{thread}/posts", get(posts::<D>))
        .with_state(Arc::new(database))
}

#[derive(Deserialize)]
struct ListParams {
    limit: Option<i64>,
}

#[derive(Serialize)]
struct Page<T> {
    items: Vec<T>,
    next: Option<String>,
}

async fn thread<D: Database>(
    State(database): State<Arc<D>>,
    Path(thread): Path<i64>,
    headers: HeaderMap,
) -> Json<Thread> {
    let values = Values { lookup: lookup(&headers), thread, ..Values::default() };
    Json(database.items("thread", values).await.remove(0))
}

async fn posts<D: Database>(
    State(database): State<Arc<D>>,
    Path(thread): Path<i64>,
    Query(params): Query<ListParams>,
    headers: HeaderMap,
) -> Json<Page<Post>> {
    let limit = params.limit.unwrap_or(20);
    let values = Values { lookup: lookup(&headers), thread, rows: limit + 1, ..Values::default() };
    let mut items: Vec<Post> = database.items("posts", values).await;
    let more = items.len() > limit as usize;
    items.truncate(limit as usize);
    let last = items.last().filter(|_| more);
    let next = last.map(|post| format!("{}.{}", post.created_at.as_millis(), post.post_id));
    Json(Page { items, next })
}

/// The part of the token by which it is found.
fn lookup(headers: &HeaderMap) -> String {
    let text = headers[AUTHORIZATION].to_str().unwrap();
    text["Bearer forum_pat_".len()..][..16].into()
}
