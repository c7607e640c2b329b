//! The administrator, who sends the forms of the panel through its service. The rows of the stores before and after each form
//! are compared: a form has its effect, and no other.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use forum_api::audit::AuditAction;
use forum_api::host::{AdminAuth, BackendResult, Session};
use forum_api::model::{DeliveryId, EndpointId, Timestamp, UserId};
use forum_api::panel::{Panel, PanelSettings};
use forum_api::runtime::{BoxFuture, Runtime};
use forum_api::store::{
    AuditFilter, AuditStore, DeliveryFilter, Stores, TokenFilter, WebhookStores,
};
use forum_api::test_util::{self, Intervention, StoreInterceptor};
use forum_api::token::{Lookup, PlainToken, TokenRecord};
use forum_api::webhook::{
    Delivery, DeliveryState, Endpoint, PlaintextCipher, SecretCipher as _, Topic, WebhookSecret,
};
use forum_api::webhook_admin::WebhookAdmin;
use forum_api::{Environment, async_trait};
use http::Request;
use http::request::Parts;
use http_body_util::Full;
use tokio::runtime::Builder;

use crate::action::EndpointForm;
use crate::faults::Faults;
use crate::journal::{EndpointFacts, Journal, ROTATION_PERIOD, secret_of};
use crate::ready;
use crate::scheduler::{ProcessId, Scheduler};

/// The process of the panel, which has the true time. A crash in the middle of a form loses only the form: the panel has no
/// state of its own.
pub(crate) const PANEL: ProcessId = ProcessId(0);

/// URL of the endpoints that the administrator adds. It has an IP address, because a host name would be resolved.
const ADDED_URL: &str = "https://8.8.8.8/";

const PASSWORD: &str = "password";

/// Scope of the tokens that the administrator issues.
const SCOPE: &str = "posts:write";

/// A form of the panel.
#[derive(Debug)]
pub(crate) enum Form {
    IssueToken,
    /// `member` is the number of the owner.
    RevokeToken {
        member: usize,
        lookup: Lookup,
    },
    AddEndpoint,
    Endpoint {
        endpoint: EndpointId,
        form: EndpointForm,
    },
    Redeliver {
        delivery: DeliveryId,
    },
}

impl Form {
    const fn as_endpoint_form(&self) -> Option<EndpointForm> {
        match self {
            Self::Endpoint { form, .. } => Some(*form),
            _ => None,
        }
    }

    /// Returns the statuses that are permitted if the form has no effect.
    fn refusals(&self, rows: &Rows) -> &'static [u16] {
        match self {
            // A password attempt that a failed call did not refund counts as wrong, so that a later form can be limited.
            Self::IssueToken | Self::AddEndpoint => &[429],
            Self::Endpoint { endpoint, form: EndpointForm::Ping | EndpointForm::Example }
                if rows.endpoints.get(endpoint).is_some_and(|endpoint| endpoint.enabled) =>
            {
                &[]
            }
            _ => &[404, 409],
        }
    }

    /// Returns `true` if the response to the form shows a secret. Such a form is executed once.
    fn has_secret(&self) -> bool {
        matches!(self, Self::IssueToken | Self::AddEndpoint)
            || self.as_endpoint_form() == Some(EndpointForm::Rotate)
    }
}

/// Who sends a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sender {
    Administrator,
    /// A member who is signed in, but not an administrator.
    Member,
    /// A page of another site, in the browser of the administrator. It does not know the CSRF token.
    OtherSite,
}

pub(crate) struct Administrator {
    panel: Panel,
    member: UserId,
    scheduler: Scheduler,
    faults: Faults,
    journal: Journal,
    stores: PanelStores,
    /// `true` if a store call of the current form hangs.
    hangs: Arc<AtomicBool>,
    /// Runtime that the timeout of name resolution needs.
    time: tokio::runtime::Runtime,
    csrf: Option<String>,
    /// Times of activation in forms that were opened before.
    opened: BTreeMap<EndpointId, Timestamp>,
}

/// The stores without faults.
pub(crate) struct PanelStores {
    pub(crate) api: Stores,
    pub(crate) webhooks: WebhookStores,
    /// The audit logs of both.
    pub(crate) logs: Vec<Arc<dyn AuditStore>>,
}

/// What the forms can change.
#[derive(Clone, Debug, PartialEq)]
struct Rows {
    endpoints: BTreeMap<EndpointId, Endpoint>,
    deliveries: BTreeMap<DeliveryId, Delivery>,
    /// By the texts of their lookups.
    tokens: BTreeMap<String, TokenRecord>,
    /// Actions and targets of the administrator.
    log: Vec<LoggedAction>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct LoggedAction {
    action: AuditAction,
    target: String,
    count: u64,
}

struct Response {
    status: u16,
    location: String,
    body: String,
}

impl Response {
    /// Returns the response to a form whose store call hangs.
    const fn failed() -> Self {
        Self { status: 500, location: String::new(), body: String::new() }
    }

    /// Returns the text after `before`, up to the next quotation mark or tag.
    fn after(&self, before: &str) -> Option<&str> {
        let (_, rest) = self.body.split_once(before)?;
        rest.split(['"', '<']).next()
    }
}

impl Administrator {
    /// Creates the panel over stores whose calls can fail.
    pub(crate) fn new(
        scheduler: &Scheduler,
        faults: &Faults,
        journal: &Journal,
        stores: PanelStores,
        environment: &Environment,
        member: UserId,
    ) -> Self {
        scheduler.start_process(PANEL);
        let calls = StoreInterceptor::default();
        let choice = faults.clone();
        let hangs = Arc::new(AtomicBool::new(false));
        let is_hanging = hangs.clone();
        calls.on_call(move |_, _| {
            let chosen = choice.choose_failure();
            if matches!(chosen, Intervention::Hang | Intervention::DelayResult(_)) {
                is_hanging.store(true, Ordering::SeqCst);
            }
            chosen
        });
        let webhook_admin = WebhookAdmin::new(calls.webhooks(&stores.webhooks), environment);
        ready(webhook_admin.check_key()).unwrap();
        let mut settings = PanelSettings::default();
        // A page shows the result of a delivery that is sent again within this time.
        settings.request_timeout = Duration::from_secs(2);
        let panel = Panel::builder(
            Visitors { admin: member.clone() },
            calls.stores(&stores.api),
            environment,
        )
        .webhooks(webhook_admin)
        .settings(settings)
        .build();
        Self {
            panel: panel.unwrap(),
            member,
            scheduler: scheduler.clone(),
            faults: faults.clone(),
            journal: journal.clone(),
            stores,
            hangs,
            time: Builder::new_current_thread().enable_time().build().unwrap(),
            csrf: None,
            opened: BTreeMap::new(),
        }
    }

    /// Opens the page of a form and sends it, as a browser does.
    pub(crate) fn submit(&mut self, form: &Form) {
        let Some(mut fields) = self.open(form) else {
            return;
        };
        // In another window, the administrator rotates the secret before the form is sent.
        if let Form::Endpoint { endpoint, form: EndpointForm::Activate } = form
            && self.faults.chance(20)
        {
            let (endpoint, form) = (endpoint.clone(), EndpointForm::Rotate);
            self.submit(&Form::Endpoint { endpoint, form });
        }
        let sender = match self.scheduler.choose(|random| random.below(10)) {
            0 => Sender::Member,
            1 => Sender::OtherSite,
            _ => Sender::Administrator,
        };
        if form.as_endpoint_form() == Some(EndpointForm::Example) {
            fields.push(("topic", Topic::POST_CREATED.to_string()));
        }
        if sender != Sender::OtherSite {
            fields.extend(self.csrf.as_ref().map(|csrf| ("csrf", csrf.clone())));
        }
        let response = self.send_and_compare(form, sender, &fields);
        let is_executed = response.is_some_and(|response| response.status == 200);
        if is_executed && form.has_secret() && self.faults.chance(30) {
            self.send_again(form, &fields);
        }
    }

    /// Returns the fields of a form; `None` if its page cannot be opened, or does not contain the form.
    fn open(&mut self, form: &Form) -> Option<Vec<(&'static str, String)>> {
        use EndpointForm::{Activate, Rotate, SetTopics};
        let path = match form {
            Form::Endpoint { endpoint, form: Rotate | Activate | SetTopics(_) } => {
                endpoint_form(endpoint)
            }
            Form::AddEndpoint => "/panel/webhooks/new".into(),
            Form::IssueToken => "/panel/tokens/new".into(),
            _ if self.csrf.is_some() => return Some(Vec::new()),
            _ => "/panel/audit".into(),
        };
        let request = self.request("GET", &path, Sender::Administrator, &[]);
        let page = self.send(request)?;
        let hidden = |name| page.after(&format!(r#"name="{name}" value=""#)).map(str::to_owned);
        if page.status != 200 {
            return None;
        }
        self.csrf = hidden("csrf");
        let mut fields = Vec::new();
        if form.has_secret() {
            fields.push(("once", hidden("once")?));
        }
        match form {
            Form::AddEndpoint => fields.extend([
                ("url", ADDED_URL.to_owned()),
                ("topics", "*".to_owned()),
                ("password", PASSWORD.to_owned()),
            ]),
            Form::IssueToken => fields.extend([
                ("owner", "visitor".to_owned()),
                ("scopes", SCOPE.to_owned()),
                ("password", PASSWORD.to_owned()),
            ]),
            Form::Endpoint { form: SetTopics(topics), .. } => {
                let [url, owner] = [hidden("opened_url")?, hidden("opened_owner")?];
                fields.extend([
                    ("opened_url", url.clone()),
                    ("opened_owner", owner.clone()),
                    ("opened_topics", hidden("opened_topics")?),
                    ("url", url),
                    ("owner", owner),
                    ("topics", (*topics).to_owned()),
                ]);
            }
            Form::Endpoint { endpoint, form: Activate } => {
                let known = self.opened.get(endpoint).copied();
                let shown = hidden("activates_at").map(|time| Timestamp::parse(&time).unwrap());
                self.opened.extend(shown.map(|time| (endpoint.clone(), time)));
                let is_stale = self.faults.chance(30);
                let sent = if is_stale { known.or(shown) } else { shown.or(known) };
                fields.push(("activates_at", sent?.to_string()));
            }
            _ => {}
        }
        Some(fields)
    }

    /// Sends a form, and checks its effect. Returns `None` while the panel waits for the result of an attempt.
    fn send_and_compare(
        &self,
        form: &Form,
        sender: Sender,
        fields: &[(&str, String)],
    ) -> Option<Response> {
        let before = self.rows();
        let response = self.send(self.request("POST", &path(form), sender, fields));
        let after = self.rows();
        let status = response.as_ref().map_or(303, |response| response.status);
        self.journal.note(|| format!("{sender:?} sends {form:?}: {status}"));
        let effect = match sender {
            Sender::Administrator => self.effect(form, fields, &before, &after),
            Sender::Member | Sender::OtherSite => None,
        };
        let expected = match (&effect, sender) {
            (_, Sender::Member) => &[404][..],
            (_, Sender::OtherSite) => &[403],
            (Some(_), _) if form.has_secret() => &[200],
            (Some(_), _) => &[303],
            (None, _) => form.refusals(&before),
        };
        let is_failed = status >= 500;
        let has_effect = effect.as_ref().unwrap_or(&before) == &after;
        let holds = has_effect || is_failed && before == after;
        let target = effect.as_ref().unwrap_or(&before);
        self.journal.require(holds && (is_failed || expected.contains(&status)), || {
            let [found, missing] = [after.without(target), target.without(&after)];
            format!("a form has its effect and no other: {sender:?} {form:?} {status}: {found}, not {missing}")
        });
        if let Some(response) = &response {
            self.check_page(form, response, &before, &after);
        }
        self.record(form, &before, &after);
        response
    }

    /// Sends a form with a secret a second time, which has no effect.
    fn send_again(&self, form: &Form, fields: &[(&str, String)]) {
        let before = self.rows();
        let response = self.send(self.request("POST", &path(form), Sender::Administrator, fields));
        let status = response.map_or(0, |response| response.status);
        let is_refused = status == 409 || status >= 500;
        self.journal.require(is_refused && self.rows() == before, || {
            format!("a form that is sent twice has its effect once: {form:?} {status}")
        });
    }

    fn request(
        &self,
        method: &str,
        path: &str,
        sender: Sender,
        fields: &[(&str, String)],
    ) -> Request<Full<Bytes>> {
        let session = if sender == Sender::Member { "member" } else { "admin" };
        let pairs: Vec<_> = fields.iter().map(|(name, value)| format!("{name}={value}")).collect();
        Request::builder()
            .method(method)
            .uri(path)
            .header("host", "board.example")
            .header("cookie", session)
            .body(Full::from(pairs.join("&")))
            .unwrap()
    }

    /// Returns the response, which is a failure if a store call hangs: the node crashes, or the request times out. Returns
    /// `None` if the panel waits for the result of an attempt, which then goes on as a task.
    fn send(&self, request: Request<Full<Bytes>>) -> Option<Response> {
        let panel = self.panel.clone();
        let mut exchange = Box::pin(async move {
            let (head, body) = panel.respond(request).await.into_parts();
            let location = head.headers.get("location").map(|text| text.to_str().unwrap());
            Response {
                status: head.status.as_u16(),
                location: location.unwrap_or_default().to_owned(),
                body: String::from_utf8(body.into_bytes().into()).unwrap(),
            }
        });
        self.hangs.store(false, Ordering::SeqCst);
        let _time = self.time.enter();
        if let Poll::Ready(response) =
            exchange.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        {
            return Some(response);
        }
        let hangs = self.hangs.load(Ordering::SeqCst);
        if hangs && self.faults.chance(50) {
            self.journal.note(|| "the node of the panel crashes".into());
            return Some(Response::failed());
        }
        let journal = self.journal.clone();
        let rest = async move {
            let status = exchange.await.status;
            journal.note(|| format!("the panel responds later: {status}"));
            journal.require(status == 303 || status >= 500, || {
                format!("a form has its effect: the later response is {status}")
            });
        };
        self.scheduler.spawn(PANEL, Box::pin(rest));
        hangs.then(Response::failed)
    }

    fn rows(&self) -> Rows {
        let mut filter = DeliveryFilter::default();
        filter.limit = u32::MAX;
        let deliveries = ready(self.stores.webhooks.list_deliveries(&filter)).unwrap().into_iter();
        let endpoints = ready(self.stores.webhooks.list_endpoints()).unwrap().into_iter();
        let all = TokenFilter { limit: u32::MAX, ..TokenFilter::default() };
        let now = self.scheduler.now();
        let tokens = ready(self.stores.api.tokens.list(&all, now)).unwrap().into_iter();
        let mine = AuditFilter {
            actor: Some(self.member.clone()),
            limit: u32::MAX,
            ..AuditFilter::default()
        };
        let records = self.stores.logs.iter().flat_map(|log| ready(log.list(&mine)).unwrap());
        let mut log: Vec<_> = records
            .map(|record| LoggedAction {
                action: record.entry.action,
                target: record.entry.target,
                count: record.count,
            })
            .collect();
        log.sort();
        Rows {
            endpoints: endpoints.map(|endpoint| (endpoint.id.clone(), endpoint)).collect(),
            deliveries: deliveries.map(|(delivery, _)| (delivery.id.clone(), delivery)).collect(),
            tokens: tokens.map(|token| (token.lookup.to_string(), token)).collect(),
            log,
        }
    }

    /// Returns the rows after a form; `None` if it is refused.
    fn effect(
        &self,
        form: &Form,
        fields: &[(&str, String)],
        before: &Rows,
        after: &Rows,
    ) -> Option<Rows> {
        let now = self.scheduler.now();
        let mut rows = before.clone();
        match form {
            Form::IssueToken => {
                let (lookup, issued) = added(&before.tokens, &after.tokens)?;
                let mut token = issued.clone();
                token.owner = self.member.clone();
                token.scopes = [SCOPE.to_owned()].into();
                token.created_at = now;
                token.revoked_at = None;
                rows.tokens.insert(lookup.clone(), token);
                rows.log(AuditAction::TOKEN_ISSUED, lookup, 1);
            }
            Form::RevokeToken { lookup, .. } => {
                let token = rows.tokens.get_mut(&lookup.to_string())?;
                if token.revoked_at.is_none() {
                    token.revoked_at = Some(now);
                    rows.log(AuditAction::TOKEN_REVOKED, lookup, 1);
                }
            }
            Form::AddEndpoint => {
                let (id, new) = added(&before.endpoints, &after.endpoints)?;
                let mut endpoint = test_util::endpoint();
                endpoint.id = id.clone();
                endpoint.url = ADDED_URL.into();
                endpoint.owner = self.member.clone();
                endpoint.created_at = now;
                // The secret is random.
                endpoint.secret = new.secret.clone();
                rows.endpoints.insert(id.clone(), endpoint);
                rows.log(AuditAction::ENDPOINT_ADDED, id, 1);
            }
            Form::Endpoint { endpoint, form } => {
                Self::change_endpoint(*form, endpoint, fields, now, &mut rows, after)?;
            }
            Form::Redeliver { delivery: id } => {
                let progress = &mut rows.deliveries.get_mut(id)?.progress;
                // A lease that has ended does not prevent it.
                let may_be_leased =
                    progress.state == DeliveryState::Queued || self.journal.is_leased(id);
                if may_be_leased && before == after {
                    return None;
                }
                if progress.state != DeliveryState::Retrying {
                    progress.state = DeliveryState::Queued;
                    progress.attempts = 0;
                }
                progress.due_at = Some(now);
                rows.log(AuditAction::DELIVERY_REDELIVERED, id, 1);
            }
        }
        Some(rows)
    }

    /// Changes the rows as a form about an endpoint does; `None` if it is refused.
    fn change_endpoint(
        form: EndpointForm,
        id: &EndpointId,
        fields: &[(&str, String)],
        now: Timestamp,
        rows: &mut Rows,
        after: &Rows,
    ) -> Option<()> {
        let endpoint = rows.endpoints.get_mut(id)?;
        match form {
            EndpointForm::SetTopics(topics) => {
                let topics = topics.parse().unwrap();
                if endpoint.topics != topics {
                    endpoint.topics = topics;
                    endpoint.version += 1;
                    rows.log(AuditAction::ENDPOINT_UPDATED, id, 1);
                }
            }
            EndpointForm::Rotate => {
                if let Some(active) =
                    endpoint.pending_secret.take_if(|pending| pending.activates_at <= now)
                {
                    endpoint.secret = active.secret;
                }
                // The new secret is random.
                let new = after.endpoints.get(id)?.pending_secret.clone();
                endpoint.pending_secret =
                    new.filter(|new| new.activates_at == now.saturating_add(ROTATION_PERIOD));
                endpoint.version += 1;
                rows.log(AuditAction::ENDPOINT_SECRET_ROTATED, id, 1);
            }
            EndpointForm::Activate => {
                let activates_at = Timestamp::parse(&fields.first()?.1).unwrap();
                let pending = endpoint.pending_secret.take_if(|pending| {
                    pending.activates_at == activates_at && pending.activates_at > now
                })?;
                endpoint.secret = pending.secret;
                endpoint.version += 1;
                rows.log(AuditAction::ENDPOINT_SECRET_ACTIVATED, id, 1);
            }
            EndpointForm::Enable if !endpoint.enabled => {
                endpoint.enabled = true;
                endpoint.failing_since = None;
                endpoint.auto_disabled = false;
                endpoint.version += 1;
                rows.log(AuditAction::ENDPOINT_ENABLED, id, 1);
            }
            EndpointForm::Disable if endpoint.enabled => {
                endpoint.enabled = false;
                endpoint.version += 1;
                rows.log(AuditAction::ENDPOINT_DISABLED, id, 1);
            }
            EndpointForm::Enable | EndpointForm::Disable => {}
            EndpointForm::Ping | EndpointForm::Example => {
                let (key, queued) = added(&rows.deliveries, &after.deliveries)?;
                if !endpoint.enabled {
                    return None;
                }
                let is_ping = form == EndpointForm::Ping;
                let mut delivery = queued.clone();
                delivery.endpoint_id = id.clone();
                delivery.topic = if is_ping { Topic::PING } else { Topic::POST_CREATED };
                delivery.created_at = now;
                delivery.progress.state = DeliveryState::Queued;
                delivery.progress.attempts = 0;
                delivery.progress.due_at = Some(now);
                rows.deliveries.insert(key.clone(), delivery);
            }
            EndpointForm::Remove => {
                rows.endpoints.remove(id);
                rows.deliveries.retain(|_, delivery| delivery.endpoint_id != *id);
                rows.log(AuditAction::ENDPOINT_REMOVED, id, 1);
            }
            EndpointForm::RetryDead => {
                let dead: Vec<_> = rows
                    .deliveries
                    .values_mut()
                    .filter(|one| one.endpoint_id == *id)
                    .filter(|one| one.progress.state == DeliveryState::Dead)
                    .collect();
                let count = dead.len() as u64;
                for delivery in dead {
                    // They are due one after the other.
                    let due_at = after.deliveries.get(&delivery.id)?.progress.due_at?;
                    let delay = due_at.as_millis() - now.as_millis();
                    delivery.progress.state = DeliveryState::Queued;
                    delivery.progress.attempts = 0;
                    delivery.progress.due_at = Some(due_at).filter(|_| (0..1000).contains(&delay));
                }
                if count > 0 {
                    rows.log(AuditAction::DELIVERY_REDELIVERED, id, count);
                }
            }
        }
        Some(())
    }

    /// Checks the page after a form: the secret on it is the stored one, and the redirect names the action.
    fn check_page(&self, form: &Form, response: &Response, before: &Rows, after: &Rows) {
        use EndpointForm::{Activate, Disable, Enable, Remove, Rotate, SetTopics};
        let Response { status, location, .. } = response;
        if *status == 200 {
            let shown = |label| response.after(&format!(r#"data-copy="{label}">"#));
            let is_stored = match form {
                Form::IssueToken => shown("token").is_some_and(|text| {
                    let digest = PlainToken::parse(text).unwrap().digest();
                    let issued = added(&before.tokens, &after.tokens);
                    issued.is_some_and(|(_, token)| token.digest == digest)
                }),
                Form::AddEndpoint => {
                    let endpoint = added(&before.endpoints, &after.endpoints);
                    let secret = endpoint.map(|(_, endpoint)| secret_of(endpoint));
                    shown("secret").map(str::to_owned) == secret
                }
                Form::Endpoint { endpoint, form: Rotate } => {
                    shown("new secret") == after.pending_secret(endpoint).as_deref()
                }
                _ => true,
            };
            self.journal.require(is_stored, || format!("the page has the new secret: {form:?}"));
        }
        let (page, done) = match form {
            Form::RevokeToken { .. } => ("/panel/tokens".into(), "revoked"),
            Form::Endpoint { endpoint, form } => match form {
                SetTopics(_) => (endpoint_form(endpoint), "saved"),
                Enable => (endpoint_form(endpoint), "enabled"),
                Disable => (endpoint_form(endpoint), "disabled"),
                Activate => (endpoint_form(endpoint), "activated"),
                Remove => ("/panel/webhooks".into(), "endpoint-removed"),
                _ => return,
            },
            _ => return,
        };
        self.journal.require(*status != 303 || *location == format!("{page}?done={done}"), || {
            format!("the redirect of a form names its action: {form:?} {location}")
        });
    }

    /// Records the effect of a form, also of one whose response is an error.
    fn record(&self, form: &Form, before: &Rows, after: &Rows) {
        if before == after {
            return;
        }
        let now = self.scheduler.now();
        match form {
            Form::IssueToken => {}
            Form::RevokeToken { member, .. } => {
                self.journal.with(|facts| facts.tokens[*member].is_revoked = true);
            }
            Form::AddEndpoint => {
                let endpoints = added(&before.endpoints, &after.endpoints).into_iter();
                let added = endpoints.map(|(_, endpoint)| EndpointFacts::from_endpoint(endpoint));
                self.journal.with(|facts| {
                    facts.endpoints.extend(added);
                    facts.exclude(|one| !before.endpoints.contains_key(&one.id));
                });
            }
            Form::Endpoint { endpoint, form } => match form {
                EndpointForm::SetTopics(topics) => {
                    self.journal.with(|facts| {
                        facts.endpoint(endpoint).topics = topics.parse().unwrap();
                        facts.exclude(|one| one.id == *endpoint);
                    });
                }
                EndpointForm::Rotate => {
                    if let Some(secret) = after.pending_secret(endpoint) {
                        self.journal.rotated(endpoint, WebhookSecret::parse(&secret).unwrap(), now);
                    }
                }
                EndpointForm::Activate => self.journal.activated(endpoint),
                EndpointForm::Enable | EndpointForm::Disable => {
                    self.journal.with(|facts| facts.exclude(|one| one.id == *endpoint));
                }
                EndpointForm::Ping | EndpointForm::Example => {
                    if let Some((_, delivery)) = added(&before.deliveries, &after.deliveries) {
                        self.journal.queued(&delivery.event_id);
                    }
                }
                EndpointForm::Remove => self.journal.removed(endpoint),
                EndpointForm::RetryDead => {
                    let mut retried = after.deliveries.clone();
                    retried.retain(|id, one| before.deliveries.get(id) != Some(one));
                    self.journal.retried_dead(retried.keys());
                }
            },
            Form::Redeliver { delivery } => self.journal.redelivered(delivery, now),
        }
    }
}

/// Returns the first row that is only in `after`.
fn added<'a, K: Ord, V>(
    before: &BTreeMap<K, V>,
    after: &'a BTreeMap<K, V>,
) -> Option<(&'a K, &'a V)> {
    after.iter().find(|(key, _)| !before.contains_key(key))
}

impl Rows {
    fn pending_secret(&self, id: &EndpointId) -> Option<String> {
        let pending = self.endpoints.get(id)?.pending_secret.as_ref()?;
        let secret = PlaintextCipher.decrypt(&pending.secret, id).unwrap();
        Some(secret.expose_secret().to_owned())
    }

    /// Describes the rows that `other` does not have.
    fn without(&self, other: &Self) -> String {
        let log = self.log.iter().filter(|one| !other.log.contains(one));
        let rows = [
            rows_without(&self.endpoints, &other.endpoints),
            rows_without(&self.deliveries, &other.deliveries),
            rows_without(&self.tokens, &other.tokens),
            log.map(|one| format!("{one:?}")).collect(),
        ];
        rows.concat().join(", ")
    }

    fn log(&mut self, action: AuditAction, target: &impl ToString, count: u64) {
        self.log.push(LoggedAction { action, target: target.to_string(), count });
        self.log.sort();
    }
}

fn rows_without<K: Ord, V: Debug + PartialEq>(
    rows: &BTreeMap<K, V>,
    other: &BTreeMap<K, V>,
) -> Vec<String> {
    let differing = rows.iter().filter(|(key, row)| other.get(key) != Some(row));
    differing.map(|(_, row)| format!("{row:?}")).collect()
}

fn endpoint_form(endpoint: &EndpointId) -> String {
    format!("/panel/webhooks/{endpoint}")
}

/// Returns the path to which a form is sent.
fn path(form: &Form) -> String {
    let (endpoint, form) = match form {
        Form::IssueToken => return "/panel/tokens/new".into(),
        Form::RevokeToken { lookup, .. } => return format!("/panel/tokens/{lookup}/revoke"),
        Form::AddEndpoint => return "/panel/webhooks".into(),
        Form::Redeliver { delivery } => return format!("/panel/deliveries/{delivery}/retry"),
        Form::Endpoint { endpoint, form } => (endpoint, form),
    };
    let button = match form {
        EndpointForm::SetTopics(_) => "",
        EndpointForm::Rotate => "/rotate",
        EndpointForm::Activate => "/activate",
        EndpointForm::Enable => "/enable",
        EndpointForm::Disable => "/disable",
        EndpointForm::Ping => "/ping",
        EndpointForm::Example => "/example",
        EndpointForm::Remove => "/remove",
        EndpointForm::RetryDead => "/retry-dead",
    };
    endpoint_form(endpoint) + button
}

/// The visitors of the panel, whose cookies are `admin` and `member`.
struct Visitors {
    admin: UserId,
}

#[async_trait]
impl AdminAuth for Visitors {
    async fn session(&self, head: &Parts) -> BackendResult<Option<Session>> {
        let is_admin = head.headers.get("cookie").is_some_and(|cookie| cookie == "admin");
        Ok(Some(Session::new(self.admin.clone(), "visitor", is_admin, "a session")))
    }

    async fn verify_password(&self, _: &Session, password: &str) -> BackendResult<bool> {
        Ok(password == PASSWORD)
    }

    async fn user_id_by_name(&self, _: &str) -> BackendResult<Option<UserId>> {
        Ok(Some(self.admin.clone()))
    }

    async fn username(&self, _: &UserId) -> BackendResult<Option<String>> {
        Ok(None)
    }

    fn sign_in_url(&self, _: &str) -> String {
        "/sign-in".into()
    }

    fn sign_out_path(&self) -> Option<&str> {
        Some("/sign-out")
    }
}

/// Runtime of the panel, whose work runs where it is awaited: a form has its effect in one step.
#[derive(Clone)]
pub(crate) struct PanelRuntime(pub(crate) Scheduler);

impl std::fmt::Debug for PanelRuntime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PanelRuntime")
    }
}

impl Runtime for PanelRuntime {
    fn spawn(&self, work: BoxFuture<'static, ()>) -> BoxFuture<'static, ()> {
        work
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.0.sleep(duration)
    }
}
