//! A panel over stores in memory: a token, an endpoint whose new secret pends, and a dead delivery to it.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use forum_api::host::{Operator, Session, Stored};
use forum_api::model::{DeliveryId, EventId, Timestamp, UserId};
use forum_api::panel::{Panel, Settings};
use forum_api::runtime::{Clock, Inline, ManualClock, SeededEntropy, TokioRuntime};
use forum_api::scope::Surface;
use forum_api::store::memory::MemoryTokens;
use forum_api::store::{
    Claim, FanOut, Filter, Outbox, Quarantine, QuarantinedEvent, Settlement, Stores, Tokens,
    Webhooks,
};
use forum_api::token::{Issue, TokenRecord, issue};
use forum_api::webhook::{Attempted, Event, Progress, State, Topic};
use forum_api::webhook_admin::{Registration, Registry};
use forum_api::{Environment, async_trait};
use http::request::Parts;

/// The administrator's password.
pub const PASSWORD: &str = "correct horse";

/// What a receiver answered that wants to be more than text.
pub const ANSWER: &str = "<script>alert('\"')</script>";

/// The members: `admin` is the administrator, and a cookie is the name of a member, with what tells sessions apart.
#[derive(Default)]
pub struct Members {
    /// Calls that asked for names.
    pub asked: AtomicU32,
}

const NAMES: [&str; 3] = ["admin", "alice", "<b>bob</b>"];

fn member(name: &str) -> Option<UserId> {
    let place = NAMES.iter().position(|known| *known == name)?;
    Some(UserId::from(place as i64 + 1))
}

#[async_trait]
impl Operator for Members {
    async fn signed_in(&self, head: &Parts) -> Stored<Option<Session>> {
        let cookie = head
            .headers
            .get("cookie")
            .map(|cookie| cookie.to_str().unwrap());
        let name = cookie.and_then(|cookie| cookie.split('/').next());
        Ok(name.and_then(|name| Some(Session::new(member(name)?, name, name == "admin", cookie?))))
    }

    async fn is_password(&self, _: &Session, password: &str) -> Stored<bool> {
        Ok(password == PASSWORD)
    }

    async fn find(&self, username: &str) -> Stored<Option<UserId>> {
        Ok(member(username))
    }

    async fn name(&self, member: &UserId) -> Stored<Option<String>> {
        let place = usize::try_from(member.number().unwrap() - 1).unwrap();
        Ok(NAMES.get(place).map(ToString::to_string))
    }

    async fn names(&self, members: &[UserId]) -> Stored<HashMap<UserId, String>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let mut names = HashMap::new();
        for member in members {
            let name = self.name(member).await?;
            names.extend(name.map(|name| (member.clone(), name)));
        }
        Ok(names)
    }

    fn sign_in(&self, back: &str) -> String {
        format!("/sign-in?back={back}")
    }

    fn sign_out(&self) -> Option<&str> {
        Some("/sign-out")
    }
}

/// An outbox that holds events that cannot be read.
struct Damaged;

#[async_trait]
impl Outbox for Damaged {
    async fn put(&self, _: &Event) -> Stored<()> {
        Ok(())
    }

    async fn waiting(&self, _: u32) -> Stored<Vec<Event>> {
        Ok(Vec::new())
    }

    async fn quarantined(&self, _: u32) -> Stored<Quarantine> {
        let latest = QuarantinedEvent {
            id: "evt <b>".into(),
            reason: "the id is malformed".into(),
        };
        Ok(Quarantine {
            count: 2,
            latest: vec![latest],
        })
    }

    async fn fan_out(&self, _: &[FanOut], _: Timestamp) -> Stored<()> {
        Ok(())
    }
}

/// The panel, and what is behind it.
pub struct House {
    pub panel: Panel,
    pub members: Arc<Members>,
    pub tokens: Arc<MemoryTokens>,
    /// The stores that the panels of several nodes share.
    pub stores: Stores,
    pub webhooks: Webhooks,
    pub clock: Arc<ManualClock>,
    /// The token, the endpoint and the delivery that there are.
    pub token: String,
    pub endpoint: String,
    pub delivery: String,
}

impl House {
    /// An empty one.
    pub async fn new() -> Self {
        Self::at("/panel").await
    }

    /// An empty one whose panel is mounted here.
    pub async fn at(mount: &str) -> Self {
        Self::over(mount, Webhooks::in_memory()).await
    }

    /// One whose outbox holds events that cannot be read.
    pub async fn with_quarantine() -> Self {
        let webhooks = Webhooks {
            outbox: Arc::new(Damaged),
            ..Webhooks::in_memory()
        };
        Self::over("/panel", webhooks).await
    }

    async fn over(mount: &str, webhooks: Webhooks) -> Self {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_767_225_600_000)));
        let tokens = Arc::new(MemoryTokens::default());
        let environment = Environment::new(Inline)
            .clock(clock.clone())
            .random(Arc::new(SeededEntropy::new(1)));
        let registry = Registry::new(webhooks.clone(), &environment);
        let members = Arc::new(Members::default());
        let panel = Panel::builder(members.clone(), tokens.clone(), registry, environment)
            .settings(Settings {
                mount: mount.into(),
                ..Settings::default()
            })
            .build();
        let stores = Stores {
            tokens: tokens.clone(),
            ..Stores::in_memory()
        };
        Self {
            panel,
            members,
            tokens,
            stores,
            webhooks,
            clock,
            token: String::new(),
            endpoint: String::new(),
            delivery: String::new(),
        }
    }

    fn registry(&self) -> Registry {
        let environment = Environment::new(Inline).clock(self.clock.clone());
        Registry::new(self.webhooks.clone(), environment)
    }

    /// The panel of another node: it shares the stores, and its store of tokens is `tokens`.
    pub fn node(&self, tokens: Arc<dyn Tokens>) -> Panel {
        let environment = Environment::new(TokioRuntime).clock(self.clock.clone());
        let registry = Registry::new(self.webhooks.clone(), &environment);
        Panel::builder(self.members.clone(), tokens, registry, environment)
            .budgets(self.stores.budgets.clone())
            .idempotency(self.stores.idempotency.clone())
            .build()
    }

    /// One with a token, an endpoint and a dead delivery, all with names that want to be more than text.
    pub async fn furnished() -> Self {
        let mut house = Self::new().await;
        house.token = house.add_token("<script>alert(1)</script>").await;
        house.endpoint = house.add_endpoint("https://93.184.215.14/?<script>").await;
        house.delivery = house.add_dead().await;
        house
    }

    pub async fn add_token(&self, label: &str) -> String {
        let wanted = Issue {
            owner: &member("<b>bob</b>").unwrap(),
            label,
            scopes: &["posts:read".to_owned()],
            expires_in_days: "30",
        };
        let seed = self.all_tokens().await.len() as u64 + 1_000;
        let entropy = SeededEntropy::new(seed);
        let now = self.clock.now();
        let issued = issue(&*self.tokens, &entropy, Surface::Full, wanted, now).await;
        issued.unwrap().1.lookup.to_string()
    }

    pub async fn add_endpoint(&self, url: &str) -> String {
        let registry = self.registry();
        let new = Registration {
            url: url.into(),
            topics: "*".parse().unwrap(),
            owner: member("<b>bob</b>").unwrap(),
            secret: None,
        };
        let id = registry.register(new).await.unwrap().endpoint.id;
        registry.rotate(&id).await.unwrap();
        id.to_string()
    }

    /// Queues this number of events for the endpoint.
    pub async fn queue(&self, many: usize) {
        let mut fan_outs = Vec::new();
        for number in 0..many {
            let event = Event {
                id: EventId::new(&format!("evt_{number}")).unwrap(),
                topic: Topic::POST_CREATED,
                occurred_at: self.clock.now(),
                forum: None,
                body: "{}".into(),
            };
            self.webhooks.outbox.put(&event).await.unwrap();
            fan_outs.push(FanOut {
                event: event.id,
                endpoints: vec![self.endpoint.parse_id()],
            });
        }
        let now = self.clock.now();
        self.webhooks.outbox.fan_out(&fan_outs, now).await.unwrap();
    }

    /// A ping to the endpoint that failed six times.
    pub async fn add_dead(&self) -> String {
        let registry = self.registry();
        let id = registry.ping(&self.endpoint.parse_id()).await.unwrap();
        self.end(State::Dead).await;
        id.to_string()
    }

    /// Ends the attempt of the delivery that is due, in this state.
    pub async fn end(&self, state: State) {
        let claim = Claim {
            room: 1,
            per_endpoint: 1,
            running: Default::default(),
            lease: Duration::from_secs(60),
        };
        let now = self.clock.now();
        let claimed = self.webhooks.deliveries.claim(&claim, now).await.unwrap();
        let due_at = state
            .is_pending()
            .then(|| now.plus(Duration::from_secs(30)));
        let ended = Progress {
            state,
            attempts: 6,
            due_at,
        };
        let attempted = Attempted {
            attempt: 6,
            at: now,
            status: Some(500),
            error: None,
            duration_ms: 17,
            answer: Some(ANSWER.into()),
        };
        let settlement = Settlement::new(&claimed.taken[0], ended, Some(attempted));
        let settled = self.webhooks.deliveries.settle(&[settlement], now).await;
        assert_eq!(settled.unwrap().len(), 1);
    }

    pub async fn all_tokens(&self) -> Vec<TokenRecord> {
        self.tokens.list(None, 1_000).await.unwrap()
    }

    /// All that is kept, to be compared with what is kept later.
    pub async fn kept(&self) -> String {
        let tokens = self.all_tokens().await;
        let endpoints = self.webhooks.endpoints.all().await.unwrap();
        let filter = Filter {
            limit: 1_000,
            ..Filter::default()
        };
        let deliveries = self.webhooks.deliveries.list(&filter).await.unwrap();
        format!("{tokens:?} {endpoints:?} {deliveries:?}")
    }

    /// The state of the delivery; `None` when it is not there.
    pub async fn state(&self) -> Option<State> {
        let id = DeliveryId::new(&self.delivery).unwrap();
        let found = self.webhooks.deliveries.find(&id).await.unwrap();
        found.map(|(delivery, _)| delivery.progress.state)
    }
}

/// An id that was written.
pub trait ParseId {
    fn parse_id(&self) -> forum_api::model::EndpointId;
}

impl ParseId for String {
    fn parse_id(&self) -> forum_api::model::EndpointId {
        forum_api::model::EndpointId::new(self).unwrap()
    }
}
