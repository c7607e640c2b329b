//! A panel with in-memory stores, and requests as browsers send them.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use bytes::Bytes;
use forum_api::host::{AdminAuth, BackendError, BackendResult, Session};
use forum_api::model::{DeliveryId, EndpointId, EventId, Timestamp, UserId};
use forum_api::panel::{Panel, PanelBuilder, PanelSettings};
use forum_api::runtime::{Clock, ManualClock, SeededRandom};
use forum_api::scope::Scope;
use forum_api::store::{DeliveryFilter, FanOut, Settlement, Stores, TokenFilter, WebhookStores};
use forum_api::test_util::{StoreInterceptor, attempt_record, claim_request, stores_in_memory};
use forum_api::token::TokenRecord;
use forum_api::webhook::{AttemptRecord, DeliveryProgress, DeliveryState, Event, Topic};
use forum_api::webhook_admin::WebhookAdmin;
use forum_api::{Environment, async_trait};
use http::request::Parts;
use http::{HeaderMap, Request};
use http_body::Body;
use http_body_util::Full;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// A scope of the host.
const VOTES_WRITE: Scope = Scope::from_static("votes:write", "Vote for posts.");

/// Password of the administrator.
pub const PASSWORD: &str = "correct horse";

/// Cookie of the administrator's session.
pub const ADMIN: (&str, &str) = ("cookie", "admin/1");

/// Response of a receiver, with markup.
pub const RESPONSE_EXCERPT: &str = "<script>alert('\"')</script>";

/// Headers of the request of an attempt.
pub const REQUEST_HEADERS: &str = "x-forum-event: ping\nx-forum-signature: sha256=abc\n";

/// Headers of a receiver's response, with markup.
pub const RESPONSE_HEADERS: &str = "server: <script>\n";

/// URL of the endpoint, with markup.
pub const URL: &str = "https://93.184.215.14/?a&b";

/// Usernames of the members with ids from 1. A session's cookie is a username and a secret.
pub const NAMES: [&str; 3] = ["admin", "alice", "<b>bob</b>"];

#[derive(Default)]
pub struct Members {
    names_calls: AtomicU32,
    /// `true` if the names of members cannot be loaded.
    fails: AtomicBool,
}

fn member(name: &str) -> Option<UserId> {
    let index = NAMES.iter().position(|known| *known == name)?;
    Some(UserId::from(index as i64 + 1))
}

#[async_trait]
impl AdminAuth for Members {
    async fn session(&self, head: &Parts) -> BackendResult<Option<Session>> {
        let cookie = head.headers.get("cookie").map(|cookie| cookie.to_str().unwrap());
        let parts = cookie.and_then(|cookie| cookie.split_once('/'));
        Ok(parts.and_then(|(name, secret)| {
            Some(Session::new(member(name)?, name, name == "admin", secret))
        }))
    }

    async fn verify_password(&self, _: &Session, password: &str) -> BackendResult<bool> {
        Ok(password == PASSWORD)
    }

    async fn user_id_by_name(&self, username: &str) -> BackendResult<Option<UserId>> {
        Ok(member(username))
    }

    async fn username(&self, member: &UserId) -> BackendResult<Option<String>> {
        let names = self.usernames(std::slice::from_ref(member)).await?;
        Ok(names.into_values().next())
    }

    async fn usernames(&self, members: &[UserId]) -> BackendResult<HashMap<UserId, String>> {
        self.names_calls.fetch_add(1, Ordering::Relaxed);
        if self.fails.load(Ordering::Relaxed) {
            return Err(BackendError::new("the board is unreachable"));
        }
        let names = (1..).map(UserId::from).zip(NAMES.map(String::from));
        Ok(names.filter(|(id, _)| members.contains(id)).collect())
    }

    async fn suggested_usernames(&self, limit: u32) -> BackendResult<Vec<String>> {
        let names = NAMES.map(String::from).into_iter();
        Ok(names.take(limit as usize).collect())
    }

    fn sign_in_url(&self, back: &str) -> String {
        format!("/sign-in?back={back}")
    }

    fn session_ended_url(&self, back: &str) -> String {
        format!("/sign-in?back={back}&ended")
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

    /// Checks that the page contains each of these parts.
    #[track_caller]
    pub fn expect(&self, parts: &[&str]) {
        for part in parts {
            assert!(self.contains(part), "{part}: {}", self.body);
        }
    }

    /// Returns the messages of the page and the errors beside its fields, in their order.
    pub fn messages(&self) -> Vec<&str> {
        let paragraphs = self.body.split("<p class=\"").skip(1);
        let marked = paragraphs.filter(|paragraph| {
            ["alert", "notice", "error"].iter().any(|class| paragraph.starts_with(class))
        });
        marked.filter_map(|paragraph| paragraph.split(['>', '<']).nth(1)).collect()
    }

    /// Returns whether the form is shown again with an error beside this field.
    pub fn marks(&self, field: &str) -> bool {
        self.status == 422 && self.contains(&format!("id=\"{field}-error\""))
    }

    /// Returns the id of the endpoint that was added.
    pub fn added_endpoint(&self) -> String {
        let path = self.after("/panel/webhooks/");
        path.split('/').next().unwrap_or_default().to_owned()
    }

    /// Returns the text after `before`, up to the next quotation mark or tag.
    pub fn after(&self, before: &str) -> &str {
        let rest = self
            .body
            .split_once(before)
            .map(|(_, rest)| rest)
            .unwrap_or_else(|| panic!("{}", self.body));
        &rest[..rest.find(['"', '<']).unwrap()]
    }

    /// Returns the nonce of a form.
    pub fn nonce(&self) -> &str {
        self.after("name=\"once\" value=\"")
    }

    /// Returns the path of the next page of a list.
    pub fn next_page(&self) -> Option<String> {
        let link = "<p class=\"next-page\"><a href=\"";
        self.contains(link).then(|| self.after(link).replace("&amp;", "&"))
    }
}

/// Names and values of the fields of a form.
pub type Fields<'a> = [(&'a str, &'a str)];

/// A panel with its stores.
pub struct PanelFixture {
    pub panel: Panel,
    members: Arc<Members>,
    pub stores: Stores,
    pub webhooks: WebhookStores,
    pub interceptor: StoreInterceptor,
    pub clock: Arc<ManualClock>,
    /// Lookup of the token.
    pub token: String,
    /// Id of the endpoint.
    pub endpoint: String,
    /// Id of the delivery.
    pub delivery: String,
}

impl PanelFixture {
    /// Creates a panel with empty stores.
    pub async fn new() -> Self {
        Self::with_base_path("/panel").await
    }

    pub async fn with_base_path(base_path: &str) -> Self {
        let (stores, webhooks) = stores_in_memory();
        let interceptor = StoreInterceptor::default();
        let clock = Arc::new(ManualClock::new(Timestamp::from_millis(1_767_225_600_000)));
        let members = Arc::new(Members::default());
        let environment = Environment::default()
            .clock(clock.clone())
            .random(Arc::new(SeededRandom::new(1)))
            .scope(VOTES_WRITE);
        let admin = WebhookAdmin::new(interceptor.webhooks(&webhooks), &environment);
        let mut settings = PanelSettings::default();
        settings.base_path = base_path.into();
        let wrapped = interceptor.stores(&stores);
        let panel = Panel::builder(members.clone(), wrapped, &environment).webhooks(admin);
        Self {
            panel: panel.settings(settings).build().unwrap(),
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

    /// Creates a panel with a token, an endpoint with a pending secret, and a dead delivery. Their names contain markup.
    pub async fn with_content() -> Self {
        let mut fixture = Self::new().await;
        fixture.token = fixture.add_token("<script>alert(1)</script>").await;
        let form = [("url", URL), ("owner", NAMES[2]), ("topics", "*")];
        let added = fixture.post_confirmed("/panel/webhooks", &form).await;
        fixture.endpoint = added.after("href=\"/panel/webhooks/").to_owned();
        fixture.post(&fixture.endpoint_path("/rotate"), &[]).await;
        let environment = Environment::default()
            .clock(fixture.clock.clone())
            .random(Arc::new(SeededRandom::new(2)));
        let admin = WebhookAdmin::new(fixture.webhooks.clone(), &environment);
        let pinged = admin.ping(&fixture.endpoint_id()).await;
        fixture.delivery = pinged.unwrap().to_string();
        fixture.end_attempt(DeliveryState::Dead).await;
        fixture
    }

    /// After this method of a store, the names of members cannot be loaded.
    pub fn fail_names_after(&self, method: &'static str) {
        let members = self.members.clone();
        let change = move |_: &mut bool| members.fails.store(true, Ordering::Relaxed);
        self.interceptor.on_result(method, change);
    }

    /// Creates the panel of another node with the same stores.
    pub fn other_node(&self) -> Panel {
        self.node_builder().build().unwrap()
    }

    /// Begins the panel of another node with the same stores.
    pub fn node_builder(&self) -> PanelBuilder {
        self.node_builder_in(Environment::default().clock(self.clock.clone()))
    }

    /// Creates a panel without webhooks with the same stores of the API.
    pub fn node_without_webhooks(&self) -> Panel {
        let environment = Environment::default().clock(self.clock.clone());
        Panel::builder(self.members.clone(), self.stores.clone(), &environment).build().unwrap()
    }

    pub fn node_builder_in(&self, environment: Environment) -> PanelBuilder {
        let admin = WebhookAdmin::new(self.webhooks.clone(), &environment);
        let stores = self.stores.clone();
        Panel::builder(self.members.clone(), stores, &environment).webhooks(admin)
    }

    pub async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        form: &Fields<'_>,
    ) -> Response {
        let mut request = Request::builder().method(method).uri(path);
        request = request.header("host", "board.example");
        for (name, value) in headers.iter().filter(|(_, value)| !value.is_empty()) {
            request = request.header(*name, *value);
        }
        let encode = |text| utf8_percent_encode(text, NON_ALPHANUMERIC);
        let pairs = form.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value)));
        let body = pairs.collect::<Vec<_>>().join("&");
        self.call(request.body(Full::<Bytes>::from(body)).unwrap()).await
    }

    pub async fn call<B>(&self, request: Request<B>) -> Response
    where
        B: Body<Data = Bytes, Error = Infallible> + Send + 'static,
    {
        let (head, body) = self.panel.respond(request).await.into_parts();
        Response {
            status: head.status.as_u16(),
            headers: head.headers,
            body: String::from_utf8(body.into_bytes().into()).unwrap(),
        }
    }

    /// Requests a page with this session cookie; `""` for no session.
    pub async fn get_as(&self, cookie: &str, path: &str) -> Response {
        self.send("GET", path, &[("cookie", cookie)], &[]).await
    }

    pub async fn get(&self, path: &str) -> Response {
        self.send("GET", path, &[ADMIN], &[]).await
    }

    /// Returns the CSRF token of the administrator's session.
    pub async fn csrf(&self) -> String {
        let page = self.get("/panel/tokens/new").await;
        page.after("name=\"csrf\" value=\"").to_owned()
    }

    /// Sends a form in the administrator's session, with the headers of a browser.
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

    /// Sends a form with the administrator's password.
    pub async fn post_confirmed(&self, path: &str, form: &Fields<'_>) -> Response {
        self.post(path, &[form, &[("password", PASSWORD)]].concat()).await
    }

    /// Sends a form without fields and follows its redirect.
    pub async fn post_and_follow(&self, path: &str) -> (u16, Response) {
        self.send_and_follow(path, &[]).await
    }

    /// Sends a form and follows its redirect.
    pub async fn send_and_follow(&self, path: &str, form: &Fields<'_>) -> (u16, Response) {
        let response = self.post(path, form).await;
        match response.status {
            303 => (303, self.get(response.header("location")).await),
            status => (status, response),
        }
    }

    /// Sends a valid form that issues a token, with some fields replaced.
    pub async fn issue(&self, changed: &Fields<'_>) -> Response {
        let defaults = [
            ("owner", "alice"),
            ("label", "a laptop"),
            ("scopes", "posts:read"),
            ("scopes", "forums:read"),
            ("expires_in_days", "30"),
            ("password", PASSWORD),
        ];
        let is_changed = |name: &str| changed.iter().any(|(changed, _)| *changed == name);
        let unchanged = defaults.into_iter().filter(|(name, _)| !is_changed(name));
        let form: Vec<_> = unchanged.chain(changed.iter().copied()).collect();
        self.post("/panel/tokens/new", &form).await
    }

    /// Returns the path of the endpoint's page or of one of its actions.
    pub fn endpoint_path(&self, action: &str) -> String {
        format!("/panel/webhooks/{}{action}", self.endpoint)
    }

    /// Returns the path of the delivery's page or of one of its actions.
    pub fn delivery_path(&self, action: &str) -> String {
        format!("/panel/deliveries/{}{action}", self.delivery)
    }

    pub fn names_calls(&self) -> u32 {
        self.members.names_calls.load(Ordering::Relaxed)
    }

    /// Issues a token with this label to a member whose name contains markup. Returns its lookup.
    pub async fn add_token(&self, label: &str) -> String {
        let form = [("owner", NAMES[2]), ("label", label)];
        assert_eq!(self.issue(&form).await.status, 200);
        self.tokens().await[0].lookup.to_string()
    }

    pub fn endpoint_id(&self) -> EndpointId {
        EndpointId::parse(&self.endpoint).unwrap()
    }

    /// Queues this number of deliveries for the endpoint.
    pub async fn queue(&self, count: usize) {
        let mut fan_outs = Vec::new();
        for number in 0..count {
            let event = Event {
                id: EventId::parse(&format!("evt_{number}")).unwrap(),
                topic: Topic::POST_CREATED,
                occurred_at: self.clock.now(),
                forum_id: None,
                request_id: Some("7f3a".into()),
                body: "{}".into(),
            };
            self.webhooks.insert_event(&event).await.unwrap();
            fan_outs.push(FanOut {
                event_id: event.id,
                endpoint_ids: vec![self.endpoint_id()],
                stays_in_feed: false,
            });
        }
        let now = self.clock.now();
        self.webhooks.outbox().fan_out(&fan_outs, now).await.unwrap();
    }

    /// Settles the due delivery with this state.
    pub async fn end_attempt(&self, state: DeliveryState) {
        self.end_attempt_with(state, |_| {}).await;
    }

    /// Settles the due delivery with this state and a changed record.
    pub async fn end_attempt_with(
        &self,
        state: DeliveryState,
        change: impl FnOnce(&mut AttemptRecord),
    ) {
        let now = self.clock.now();
        let deliveries = self.webhooks.deliveries();
        let claimed = deliveries.claim(&claim_request(1), now).await.unwrap();
        let due_at = now.saturating_add(Duration::from_secs(30));
        let mut progress = DeliveryProgress::queued(due_at);
        (progress.state, progress.attempts) = (state, 6);
        if !state.is_pending() {
            progress.due_at = None;
        }
        let mut attempt = attempt_record(6);
        attempt.started_at = now;
        attempt.duration_ms = 17;
        attempt.response_excerpt = Some(RESPONSE_EXCERPT.into());
        attempt.request_headers = Some(REQUEST_HEADERS.into());
        attempt.response_headers = Some(RESPONSE_HEADERS.into());
        change(&mut attempt);
        let settlement = Settlement::new(&claimed.deliveries[0], progress, Some(attempt), now);
        let settled = self.webhooks.deliveries().settle(&[settlement], now).await;
        assert_eq!(settled.unwrap().len(), 1);
    }

    pub async fn tokens(&self) -> Vec<TokenRecord> {
        let filter = TokenFilter { limit: 1_000, ..TokenFilter::default() };
        let tokens = &self.stores.tokens;
        tokens.list(&filter, self.clock.now()).await.unwrap()
    }

    /// Returns all stored data as text, for comparisons.
    pub async fn snapshot(&self) -> String {
        let endpoints = self.webhooks.list_endpoints().await.unwrap();
        let mut filter = DeliveryFilter::default();
        filter.limit = 1_000;
        let deliveries = self.webhooks.list_deliveries(&filter).await.unwrap();
        format!("{:?} {endpoints:?} {deliveries:?}", self.tokens().await)
    }

    /// Returns the state of the delivery; `None` if it was removed.
    pub async fn state(&self) -> Option<DeliveryState> {
        let id = DeliveryId::parse(&self.delivery).unwrap();
        let delivery = self.webhooks.find_delivery(&id).await.unwrap();
        delivery.map(|(delivery, _)| delivery.progress.state)
    }
}
