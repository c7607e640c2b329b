//! The board with a member who is signed in to its pages and has a token for its API.

use std::time::Duration;

use axum::Router;
use axum::body::Body;
use forum_api::scope::Scope;
use forum_api::store::{Stores, WebhookStores};
use forum_api::token::{PlainToken, TokenRequest};
use forum_api::webhook::Event;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio_postgres::types::ToSql;
use tower::ServiceExt;
use url::form_urlencoded;

use crate::added::{self, votes::VOTES_WRITE};
use crate::before::{Club, members, pages};
use crate::fixture;

/// The only topic of the sample board.
pub const TOPIC: i64 = 1;

/// The sample board with all routes.
pub struct Site {
    pub club: Club,
    pub alice: i64,
    pub token: PlainToken,
    /// Key of the session of alice.
    pub session: String,
    app: Router,
}

const FORM: &str = "application/x-www-form-urlencoded";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextResponse {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub text: String,
}

impl TextResponse {
    /// Returns the body as JSON, or null if it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_default()
    }
}

impl Site {
    /// Creates the board. Its members have to wait for `pause` between two entries.
    pub async fn new(pause: Duration) -> Self {
        let club = fixture::club(pause).await;
        let (alice, session) = members::sample(&club).await.unwrap();
        let owner = alice.into();
        let scopes = [Scope::POSTS_READ, Scope::POSTS_WRITE, VOTES_WRITE];
        let request = TokenRequest::new(&owner, &scopes);
        let stores = Stores::in_postgres(&club.pool);
        let issued = added::environment().issue_token(&stores, request).await;
        Self {
            token: issued.unwrap().0,
            app: pages::routes(club.clone()).nest_service("/api/v1", added::api(&club).unwrap()),
            club,
            alice,
            session,
        }
    }

    /// Submits the form as alice.
    pub async fn submit_reply(&self, topic: i64, body: &str) -> TextResponse {
        let body =
            form_urlencoded::Serializer::new(String::new()).append_pair("body", body).finish();
        let request = Request::post(format!("/topics/{topic}"))
            .header("cookie", format!("theme=dark; session={}", self.session))
            .header("content-type", FORM);
        self.send(request.body(body.into()).unwrap()).await
    }

    /// Replies through the API as alice.
    pub async fn post_reply(&self, topic: i64, body: &str) -> TextResponse {
        let request = self.with_token("POST", topic).header("content-type", "application/json");
        let body = json!({ "body": body }).to_string();
        self.send(request.body(body.into()).unwrap()).await
    }

    /// Votes for an entry through the API as alice.
    pub async fn vote(&self, topic: i64, entry: &str) -> TextResponse {
        let path = format!("/{entry}/votes");
        let request = self.with_token_at("POST", topic, &path);
        self.send(request.body(Body::empty()).unwrap()).await
    }

    /// Lists a topic's entries through the API as alice.
    pub async fn list_posts(&self, topic: i64) -> TextResponse {
        let request = self.with_token("GET", topic);
        self.send(request.body(Body::empty()).unwrap()).await
    }

    /// Opens a page as alice.
    pub async fn open_page(&self, path: &str) -> TextResponse {
        let request = Request::get(path).header("cookie", format!("session={}", self.session));
        self.send(request.body(Body::empty()).unwrap()).await
    }

    /// Sends a request without a session and a token.
    pub async fn send_as_guest(&self, method: &str, path: &str) -> TextResponse {
        let request = Request::builder().method(method).uri(path).header("content-type", FORM);
        self.send(request.body(Body::empty()).unwrap()).await
    }

    /// Executes SQL in the board's database.
    pub async fn change(&self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) {
        fixture::change(&self.club, sql, parameters).await.unwrap();
    }

    pub async fn pending_events(&self) -> Vec<Event> {
        WebhookStores::in_postgres(&self.club.pool).pending_events(9).await.unwrap()
    }

    /// Returns the number of rows of a table.
    pub async fn count(&self, table: &str) -> i64 {
        let client = self.club.pool.get().await.unwrap();
        let count = format!("SELECT count(*) FROM {table}");
        client.query_one(&count, &[]).await.unwrap().get(0)
    }

    fn with_token(&self, method: &str, topic: i64) -> http::request::Builder {
        self.with_token_at(method, topic, "")
    }

    /// Begins a request of alice for a path below the posts of a topic.
    fn with_token_at(&self, method: &str, topic: i64, path: &str) -> http::request::Builder {
        let authorization = format!("Bearer {}", self.token.expose_secret());
        Request::builder()
            .method(method)
            .uri(format!("/api/v1/threads/{topic}/posts{path}"))
            .header("authorization", authorization)
    }

    async fn send(&self, request: Request<Body>) -> TextResponse {
        let response = self.app.clone().oneshot(request).await.unwrap();
        let (head, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8(body.to_vec()).unwrap();
        TextResponse { status: head.status, headers: head.headers, text }
    }
}
