//! A panel over stores in memory, with requests as a browser sends them.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bytes::Bytes;
use forum_api::host::{AdminAuth, BackendResult, Session};
use forum_api::model::{DeliveryId, EndpointId, EventId, Timestamp, UserId};
use forum_api::panel::{Panel, PanelSettings};
use forum_api::runtime::{Clock, ManualClock, SeededRandom, TokioRuntime};
use forum_api::store::{ClaimRequest, DeliveryFilter, FanOut, Settlement, Stores, WebhookStores};
use forum_api::test_util::StoreInterceptor;
use forum_api::token::TokenRecord;
use forum_api::webhook::{AttemptRecord, DeliveryProgress, DeliveryState, Event, Topic};
use forum_api::webhook_admin::WebhookAdmin;
use forum_api::{Environment, async_trait};
use http::request::Parts;
use http::{HeaderMap, Request};
use http_body_util::{BodyExt, Full};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use tower::ServiceExt;

/// The administrator's password.
pub const PASSWORD: &str = "correct horse";

/// The cookie of the administrator's session.
pub const ADMIN: (&str, &str) = ("cookie", "admin/1");

/// An answer of a receiver with markup.
pub const RESPONSE_BODY: &str = "<script>alert('\"')</script>";

/// The URL of the endpoint.
pub const URL: &str = "https://93.184.215.14/?<script>";

/// The members, with ids from 1. A cookie is a member's name and a number for the session.
const NAMES: [&str; 3] = ["admin", "alice", "<b>bob</b>"];

#[derive(Default)]
struct Members {
    names_calls: AtomicU32,
}

fn member(name: &str) -> Option<UserId> {
    let place = NAMES.iter().position(|known| *known == name)?;
    Some(UserId::from(place as i64 + 1))
}

#[async_trait]
impl AdminAuth for Members {
    async fn session(&self, head: &Parts) -> BackendResult<Option<Session>> {
        let cookie = head
            .headers
            .get("cookie")
            .map(|cookie| cookie.to_str().unwrap());
        let name = cookie.and_then(|cookie| cookie.split('/').next());
        Ok(name.and_then(|name| Some(Session::new(member(name)?, name, name == "admin", cookie?))))
    }

    async fn verify_password(&self, _: &Session, password: &str) -> BackendResult<bool> {
        Ok(password == PASSWORD)
    }

    async fn user_id_by_name(&self, username: &str) -> BackendResult<Option<UserId>> {
        Ok(member(username))
    }

    async fn username(&self, member: &UserId) -> BackendResult<Option<String>> {
        let place = usize::try_from(member.to_i64().unwrap() - 1).unwrap();
        Ok(NAMES.get(place).map(ToString::to_string))
    }

    async fn names(&self, members: &[UserId]) -> BackendResult<HashMap<UserId, String>> {
        self.names_calls.fetch_add(1, Ordering::Relaxed);
        let names = (1..).map(UserId::from).zip(NAMES.map(String::from));
        Ok(names.filter(|(id, _)| members.contains(id)).collect())
    }

    fn sign_in_url(&self, back: &str) -> String {
        format!("/sign-in?back={back}")
    }

    fn sign_out_path(&self) -> Option<&str> {
        Some("/sign-out")
    }
}

#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: String,
}

impl Response {
    pub fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.map_or("", |value| value.to_str().unwrap())
    }

    pub fn status_and_location(&self) -> (u16, &str) {
        (self.status, self.header("location"))
    }

    pub fn contains(&self, text: &str) -> bool {
        self.body.contains(text)
    }

    /// The text behind `before`, up to the next quotation mark or tag.
    pub fn after(&self, before: &str) -> &str {
        let (_, rest) = self
            .body
            .split_once(before)
            .unwrap_or_else(|| panic!("{}", self.body));
        &rest[..rest.find(['"', '<']).unwrap()]
    }

    /// The nonce of a form.
    pub fn nonce(&self) -> &str {
        self.after("name=\"nonce\" value=\"")
    }

    /// The path of the next page of a list.
    pub fn next_page(&self) -> Option<String> {
        let link = "<p class=\"further\"><a href=\"";
        self.contains(link)
            .then(|| self.after(link).replace("&amp;", "&"))
    }
}

/// The names and values of a form's fields.
pub type Fields<'a> = [(&'a str, &'a str)];

/// A panel and its stores.
pub struct PanelFixture {
    pub panel: Panel,
    members: Arc<Members>,
    pub stores: Stores,
    pub webhooks: WebhookStores,
    pub interceptor: StoreInterceptor,
    pub clock: Arc<ManualClock>,
    /// The ids of the token, the endpoint and the delivery.
    pub token: String,
    pub endpoint: String,
    pub delivery: String,
}

impl PanelFixture {
    /// A panel with empty stores.
    pub async fn new() -> Self {
        Self::mounted_at("/panel").await
    }

    pub async fn mounted_at(mount: &str) -> Self {
        let (stores, webhooks) = (Stores::in_memory(), WebhookStores::in_memory());
        let interceptor = StoreInterceptor::default();
        let clock = Arc::new(ManualClock::new(Timestamp::from_millis(1_767_225_600_000)));
        let members = Arc::new(Members::default());
        let environment = Environment::new(TokioRuntime)
            .clock(clock.clone())
            .random(Arc::new(SeededRandom::new(1)));
        let registry = WebhookAdmin::new(interceptor.webhooks(&webhooks), &environment);
        let intercepted = interceptor.stores(&stores);
        let panel = Panel::builder(members.clone(), intercepted, registry, environment)
            .settings(PanelSettings {
                base_path: mount.into(),
                ..PanelSettings::default()
            })
            .build();
        Self {
            panel,
            members,
            stores,
            webhooks,
            interceptor,
            clock,
            token: String::new(),
            endpoint: String::new(),
            delivery: String::new(),
        }
    }

    /// A panel with a token, an endpoint whose new secret is pending, and a dead delivery. Their names are markup.
    pub async fn with_content() -> Self {
        let mut fixture = Self::new().await;
        fixture.token = fixture.add_token("<script>alert(1)</script>").await;
        let form = [("url", URL), ("owner", NAMES[2]), ("topics", "*")];
        let added = fixture.post("/panel/webhooks", &form).await;
        fixture.endpoint = added.after("/panel/webhooks/").to_owned();
        let path = format!("/panel/webhooks/{}", fixture.endpoint);
        fixture.post(&format!("{path}/rotate"), &[]).await;
        let pinged = fixture.post(&format!("{path}/ping"), &[]).await;
        let delivery = pinged.header("location").strip_suffix("?done=pinged");
        fixture.delivery = delivery.unwrap().rsplit('/').next().unwrap().into();
        fixture.end_attempt(DeliveryState::Dead).await;
        fixture
    }

    /// The panel of another node that shares the stores.
    pub fn other_node(&self) -> Panel {
        let environment = Environment::new(TokioRuntime).clock(self.clock.clone());
        let registry = WebhookAdmin::new(self.webhooks.clone(), &environment);
        let (members, stores) = (self.members.clone(), self.stores.clone());
        Panel::builder(members, stores, registry, environment).build()
    }

    pub async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        form: &Fields<'_>,
    ) -> Response {
        let host = ("host", "board.example");
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers
            .iter()
            .chain([&host])
            .filter(|(_, value)| !value.is_empty())
        {
            request = request.header(*name, *value);
        }
        let encode = |text| utf8_percent_encode(text, NON_ALPHANUMERIC);
        let pairs = form
            .iter()
            .map(|(name, value)| format!("{}={}", encode(name), encode(value)));
        let body = pairs.collect::<Vec<_>>().join("&");
        let request = request.body(Full::<Bytes>::from(body)).unwrap();
        let Ok(response) = self.panel.clone().oneshot(request).await;
        let (head, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes().to_vec();
        Response {
            status: head.status.as_u16(),
            headers: head.headers,
            body: String::from_utf8(body).unwrap(),
        }
    }

    /// A page for the session with this cookie; `""` for no session.
    pub async fn get_as(&self, cookie: &str, path: &str) -> Response {
        self.send("GET", path, &[("cookie", cookie)], &[]).await
    }

    pub async fn get(&self, path: &str) -> Response {
        self.send("GET", path, &[ADMIN], &[]).await
    }

    /// The CSRF token of the administrator's session.
    pub async fn csrf(&self) -> String {
        let page = self.get("/panel/tokens/new").await;
        page.after("name=\"csrf\" value=\"").to_owned()
    }

    /// Sends a form of the administrator's session with the headers of a browser.
    pub async fn post(&self, path: &str, form: &Fields<'_>) -> Response {
        let csrf = self.csrf().await;
        let form = [&[("csrf", csrf.as_str())], form].concat();
        let headers = [
            ADMIN,
            ("origin", "https://board.example"),
            ("referer", "https://board.example/panel/tokens"),
            ("sec-fetch-site", "same-origin"),
        ];
        self.send("POST", path, &headers, &form).await
    }

    /// Sends a form, and loads the page that it redirects to.
    pub async fn post_and_follow(&self, path: &str) -> (u16, Response) {
        let done = self.post(path, &[]).await;
        match done.status {
            303 => (303, self.get(done.header("location")).await),
            status => (status, done),
        }
    }

    /// Sends a correct form that issues a token, with these fields instead of the usual ones.
    pub async fn issue(&self, changed: &Fields<'_>) -> Response {
        let usual = [
            ("owner", "alice"),
            ("label", "a laptop"),
            ("scopes", "posts:read"),
            ("scopes", "forums:read"),
            ("expires_in_days", "30"),
            ("password", PASSWORD),
        ];
        let is_changed = |name: &str| changed.iter().any(|(changed, _)| *changed == name);
        let kept = usual.into_iter().filter(|(name, _)| !is_changed(name));
        let form: Vec<_> = kept.chain(changed.iter().copied()).collect();
        self.post("/panel/tokens/new", &form).await
    }

    pub fn names_calls(&self) -> u32 {
        self.members.names_calls.load(Ordering::Relaxed)
    }

    /// Issues a token with this label to a member whose name is markup, and returns its lookup.
    pub async fn add_token(&self, label: &str) -> String {
        let form = [("owner", NAMES[2]), ("label", label)];
        assert_eq!(self.issue(&form).await.status, 200);
        self.tokens().await[0].lookup.to_string()
    }

    pub fn endpoint_id(&self) -> EndpointId {
        EndpointId::parse(&self.endpoint).unwrap()
    }

    /// Queues this number of events for the endpoint.
    pub async fn queue(&self, many: usize) {
        let mut fan_outs = Vec::new();
        for number in 0..many {
            let event = Event {
                id: EventId::parse(&format!("evt_{number}")).unwrap(),
                topic: Topic::POST_CREATED,
                occurred_at: self.clock.now(),
                forum: None,
                body: "{}".into(),
            };
            self.webhooks.outbox.insert(&event).await.unwrap();
            fan_outs.push(FanOut {
                event: event.id,
                endpoints: vec![self.endpoint_id()],
            });
        }
        let now = self.clock.now();
        self.webhooks.outbox.fan_out(&fan_outs, now).await.unwrap();
    }

    /// Ends the attempt of the delivery that is due, in this state.
    pub async fn end_attempt(&self, state: DeliveryState) {
        let claim = ClaimRequest {
            limit: 1,
            per_endpoint: 1,
            in_flight: Default::default(),
            lease: Duration::from_secs(60),
        };
        let now = self.clock.now();
        let claimed = self.webhooks.deliveries.claim(&claim, now).await.unwrap();
        let due_at = now.saturating_add(Duration::from_secs(30));
        let progress = DeliveryProgress {
            state,
            attempts: 6,
            due_at: state.is_pending().then_some(due_at),
        };
        let attempted = AttemptRecord {
            attempt: 6,
            at: now,
            status: Some(500),
            error: None,
            duration_ms: 17,
            response_excerpt: Some(RESPONSE_BODY.into()),
        };
        let settlement = Settlement::new(&claimed.deliveries[0], progress, Some(attempted));
        let settled = self.webhooks.deliveries.settle(&[settlement], now).await;
        assert_eq!(settled.unwrap().len(), 1);
    }

    pub async fn tokens(&self) -> Vec<TokenRecord> {
        self.stores.tokens.list(None, 1_000).await.unwrap()
    }

    /// Everything that is stored, for comparisons.
    pub async fn snapshot(&self) -> String {
        let endpoints = self.webhooks.endpoints.list().await.unwrap();
        let filter = DeliveryFilter {
            limit: 1_000,
            ..DeliveryFilter::default()
        };
        let deliveries = self.webhooks.deliveries.list(&filter).await.unwrap();
        format!("{:?} {endpoints:?} {deliveries:?}", self.tokens().await)
    }

    /// The state of the delivery; `None` when it was removed.
    pub async fn state(&self) -> Option<DeliveryState> {
        let id = DeliveryId::parse(&self.delivery).unwrap();
        let found = self.webhooks.deliveries.find(&id).await.unwrap();
        found.map(|(delivery, _)| delivery.progress.state)
    }
}
