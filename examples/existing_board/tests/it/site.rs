//! The board with a member who is signed in at its form, and has a token for its API.

use std::time::Duration;

use axum::Router;
use axum::body::Body;
use forum_api::runtime::{Clock, OsRandom, SystemClock};
use forum_api::scope::Surface;
use forum_api::store::postgres::PostgresStore;
use forum_api::token::{PlainToken, TokenRequest, issue_token};
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio_postgres::types::ToSql;
use tower::ServiceExt;
use url::form_urlencoded;

use crate::added;
use crate::before::{Club, members, pages};
use crate::fixture;

/// The board's sample, behind all of its routes.
pub struct Site {
    pub club: Club,
    pub alice: i64,
    pub token: PlainToken,
    session: String,
    app: Router,
}

const FORM: &str = "application/x-www-form-urlencoded";

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub status: StatusCode,
    pub text: String,
}

impl Answer {
    /// The body as JSON; null when it is none.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_default()
    }
}

impl Site {
    /// One whose members wait for so long between two entries.
    pub async fn new(pause: Duration) -> Self {
        let club = fixture::club(pause).await;
        let (alice, session) = members::sample(&club).await.unwrap();
        let wanted = TokenRequest {
            owner: &alice.into(),
            label: "",
            scopes: &["posts:read".into(), "posts:write".into()],
            expires_in_days: "",
        };
        let (tokens, now) = (PostgresStore::new(club.pool.clone()), SystemClock.now());
        let issued = issue_token(&tokens, &OsRandom, Surface::Full, wanted, now).await;
        Self {
            token: issued.unwrap().0,
            app: pages::routes(club.clone()).nest_service("/api/v1", added::api(&club)),
            club,
            alice,
            session,
        }
    }

    /// Types a reply into the form.
    pub async fn type_reply(&self, topic: i64, body: &str) -> Answer {
        let body = form_urlencoded::Serializer::new(String::new())
            .append_pair("body", body)
            .finish();
        let request = Request::post(format!("/topics/{topic}"))
            .header("cookie", format!("theme=dark; session={}", self.session))
            .header("content-type", FORM);
        self.send(request.body(body.into()).unwrap()).await
    }

    /// Posts a reply through the API.
    pub async fn post_reply(&self, topic: i64, body: &str) -> Answer {
        let request = self
            .with_token("POST", topic)
            .header("content-type", "application/json");
        let body = json!({ "body": body }).to_string();
        self.send(request.body(body.into()).unwrap()).await
    }

    /// Lists a topic's entries through the API.
    pub async fn list(&self, topic: i64) -> Answer {
        let request = self.with_token("GET", topic);
        self.send(request.body(Body::empty()).unwrap()).await
    }

    /// Asks for a path without being signed in, and without a token.
    pub async fn ask_as_guest(&self, method: &str, path: &str) -> Answer {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", FORM);
        self.send(request.body(Body::empty()).unwrap()).await
    }

    /// Changes the board behind its own back.
    pub async fn change(&self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) {
        fixture::change(&self.club, sql, parameters).await.unwrap();
    }

    /// How many rows a table has.
    pub async fn count(&self, table: &str) -> i64 {
        let client = self.club.pool.get().await.unwrap();
        let count = format!("SELECT count(*) FROM {table}");
        client.query_one(&count, &[]).await.unwrap().get(0)
    }

    fn with_token(&self, method: &str, topic: i64) -> http::request::Builder {
        Request::builder()
            .method(method)
            .uri(format!("/api/v1/threads/{topic}/posts"))
            .header(
                "authorization",
                format!("Bearer {}", self.token.expose_secret()),
            )
    }

    async fn send(&self, request: Request<Body>) -> Answer {
        let (head, body) = self
            .app
            .clone()
            .oneshot(request)
            .await
            .unwrap()
            .into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Answer {
            status: head.status,
            text: String::from_utf8(body.to_vec()).unwrap(),
        }
    }
}
