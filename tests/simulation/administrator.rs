//! The administrator, who sends the forms of the panel through its service. The rows of the stores before and after each form
//! are compared: a form has its effect, and no other.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use forum_api::audit::AuditAction;
use forum_api::host::{AdminAuth, BackendResult, Session};
use forum_api::model::{DeliveryId, EndpointId, Timestamp, UserId};
use forum_api::panel::{Panel, PanelSettings};
use forum_api::runtime::{BoxFuture, Runtime};
use forum_api::store::{AuditFilter, AuditStore, DeliveryFilter, Stores, WebhookStores};
use forum_api::test_util::StoreInterceptor;
use forum_api::token::{Lookup, TokenRecord};
use forum_api::webhook::{
    Delivery, DeliveryState, Endpoint, PlaintextCipher, SecretCipher as _, WebhookSecret,
};
use forum_api::webhook_admin::WebhookAdmin;
use forum_api::{Environment, async_trait};
use http::Request;
use http::request::Parts;
use http_body_util::Full;

use crate::faults::Faults;
use crate::journal::{Journal, ROTATION_PERIOD};
use crate::ready;
use crate::scheduler::{ProcessId, Scheduler};

/// The process of the panel. It does not crash, and has the true time.
pub(crate) const PANEL: ProcessId = ProcessId(0);

/// A form of the panel.
#[derive(Debug)]
pub(crate) enum Form {
    /// `member` is the number of the owner.
    RevokeToken {
        member: usize,
        lookup: Lookup,
    },
    SetEnabled {
        endpoint: EndpointId,
        enabled: bool,
    },
    RotateSecret {
        endpoint: EndpointId,
    },
    ActivateSecret {
        endpoint: EndpointId,
    },
    RemoveEndpoint {
        endpoint: EndpointId,
    },
    RetryDead {
        endpoint: EndpointId,
    },
    Redeliver {
        delivery: DeliveryId,
    },
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
    endpoints: Vec<Endpoint>,
    deliveries: BTreeMap<DeliveryId, Delivery>,
    /// The token of the form.
    token: Option<TokenRecord>,
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
        calls.on_call(move |_, _| choice.choose_failure());
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
        if let Form::ActivateSecret { endpoint } = form
            && self.faults.chance(20)
        {
            self.submit(&Form::RotateSecret { endpoint: endpoint.clone() });
        }
        let sender = match self.scheduler.choose(|random| random.below(10)) {
            0 => Sender::Member,
            1 => Sender::OtherSite,
            _ => Sender::Administrator,
        };
        if sender != Sender::OtherSite {
            fields.extend(self.csrf.as_ref().map(|csrf| ("csrf", csrf.clone())));
        }
        let response = self.send_and_compare(form, sender, &fields);
        let is_executed = response.is_some_and(|response| response.status == 200);
        if is_executed && matches!(form, Form::RotateSecret { .. }) && self.faults.chance(30) {
            self.send_again(form, &fields);
        }
    }

    /// Returns the fields of a form; `None` if its page cannot be opened, or does not contain the form.
    fn open(&mut self, form: &Form) -> Option<Vec<(&'static str, String)>> {
        let path = match form {
            Form::RotateSecret { endpoint } | Form::ActivateSecret { endpoint } => {
                format!("/panel/webhooks/{endpoint}")
            }
            _ if self.csrf.is_some() => return Some(Vec::new()),
            _ => "/panel/audit".into(),
        };
        let request = self.request("GET", &path, Sender::Administrator, &[]);
        let page = self.send(request)?;
        let csrf = page.after(r#"name="csrf" value=""#).map(str::to_owned);
        if page.status != 200 {
            return None;
        }
        self.csrf = csrf;
        match form {
            Form::RotateSecret { .. } => {
                let nonce = page.after(r#"name="once" value=""#)?;
                Some(vec![("once", nonce.to_owned())])
            }
            Form::ActivateSecret { endpoint } => {
                let known = self.opened.get(endpoint).copied();
                let text = page.after(r#"name="activates_at" value=""#);
                let shown = text.map(|time| Timestamp::parse(time).unwrap());
                self.opened.extend(shown.map(|time| (endpoint.clone(), time)));
                let is_stale = self.faults.chance(30);
                let sent = if is_stale { known.or(shown) } else { shown.or(known) };
                Some(vec![("activates_at", sent?.to_string())])
            }
            _ => Some(Vec::new()),
        }
    }

    /// Sends a form, and checks its effect. Returns `None` while the panel waits for the result of an attempt.
    fn send_and_compare(
        &self,
        form: &Form,
        sender: Sender,
        fields: &[(&str, String)],
    ) -> Option<Response> {
        let before = self.rows(form);
        let response = self.send(self.request("POST", &path(form), sender, fields));
        let after = self.rows(form);
        let status = response.as_ref().map_or(303, |response| response.status);
        self.journal.note(|| format!("{sender:?} sends {form:?}: {status}"));
        let effect = match sender {
            Sender::Administrator => self.effect(form, fields, &before, &after),
            Sender::Member | Sender::OtherSite => None,
        };
        let expected = match (&effect, sender) {
            (_, Sender::Member) => &[404][..],
            (_, Sender::OtherSite) => &[403],
            (Some(_), _) if matches!(form, Form::RotateSecret { .. }) => &[200],
            (Some(_), _) => &[303],
            (None, _) => &[404, 409],
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
            self.check_page(form, response, &after);
        }
        self.record(form, &before, &after);
        response
    }

    /// Sends a form with a secret a second time, which has no effect.
    fn send_again(&self, form: &Form, fields: &[(&str, String)]) {
        let before = self.rows(form);
        let response = self.send(self.request("POST", &path(form), Sender::Administrator, fields));
        let status = response.map_or(0, |response| response.status);
        let is_refused = status == 409 || status >= 500;
        self.journal.require(is_refused && self.rows(form) == before, || {
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

    /// Returns the response; `None` if the panel waits for the result of an attempt, which then goes on as a task.
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
        match exchange.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(response) => Some(response),
            Poll::Pending => {
                let journal = self.journal.clone();
                let rest = async move {
                    let status = exchange.await.status;
                    journal.note(|| format!("the result of an attempt: {status}"));
                    journal.require(status == 303 || status >= 500, || {
                        format!("a form has its effect: the result of an attempt is {status}")
                    });
                };
                self.scheduler.spawn(PANEL, Box::pin(rest));
                None
            }
        }
    }

    fn rows(&self, form: &Form) -> Rows {
        let mut filter = DeliveryFilter::default();
        filter.limit = u32::MAX;
        let deliveries = ready(self.stores.webhooks.list_deliveries(&filter)).unwrap().into_iter();
        let token = match form {
            Form::RevokeToken { lookup, .. } => ready(self.stores.api.tokens.find(lookup)).unwrap(),
            _ => None,
        };
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
            endpoints: ready(self.stores.webhooks.list_endpoints()).unwrap(),
            deliveries: deliveries.map(|(delivery, _)| (delivery.id.clone(), delivery)).collect(),
            token,
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
            Form::RevokeToken { lookup, .. } => {
                let token = rows.token.as_mut()?;
                if token.revoked_at.is_none() {
                    token.revoked_at = Some(now);
                    rows.log(AuditAction::TOKEN_REVOKED, lookup, 1);
                }
            }
            Form::SetEnabled { endpoint: id, enabled } => {
                let endpoint = rows.endpoint_mut(id)?;
                if endpoint.enabled != *enabled {
                    endpoint.enabled = *enabled;
                    endpoint.version += 1;
                    if *enabled {
                        endpoint.failing_since = None;
                        endpoint.auto_disabled = false;
                        rows.log(AuditAction::ENDPOINT_ENABLED, id, 1);
                    } else {
                        rows.log(AuditAction::ENDPOINT_DISABLED, id, 1);
                    }
                }
            }
            Form::RotateSecret { endpoint: id } => {
                let endpoint = rows.endpoint_mut(id)?;
                if let Some(active) =
                    endpoint.pending_secret.take_if(|pending| pending.activates_at <= now)
                {
                    endpoint.secret = active.secret;
                }
                // The new secret is random.
                let new = after.endpoint(id)?.pending_secret.clone();
                endpoint.pending_secret =
                    new.filter(|new| new.activates_at == now.saturating_add(ROTATION_PERIOD));
                endpoint.version += 1;
                rows.log(AuditAction::ENDPOINT_SECRET_ROTATED, id, 1);
            }
            Form::ActivateSecret { endpoint: id } => {
                let activates_at = Timestamp::parse(&fields.first()?.1).unwrap();
                let endpoint = rows.endpoint_mut(id)?;
                let pending = endpoint.pending_secret.take_if(|pending| {
                    pending.activates_at == activates_at && pending.activates_at > now
                })?;
                endpoint.secret = pending.secret;
                endpoint.version += 1;
                rows.log(AuditAction::ENDPOINT_SECRET_ACTIVATED, id, 1);
            }
            Form::RemoveEndpoint { endpoint: id } => {
                rows.endpoint_mut(id)?;
                rows.endpoints.retain(|endpoint| endpoint.id != *id);
                rows.deliveries.retain(|_, delivery| delivery.endpoint_id != *id);
                rows.log(AuditAction::ENDPOINT_REMOVED, id, 1);
            }
            Form::RetryDead { endpoint: id } => {
                rows.endpoint_mut(id)?;
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

    /// Checks the page after a form: the secret on it is the stored one, and the redirect names the action.
    fn check_page(&self, form: &Form, response: &Response, after: &Rows) {
        let Response { status, location, .. } = response;
        if let (200, Form::RotateSecret { endpoint: id }) = (*status, form) {
            let shown = response.after(r#"data-copy="new secret">"#);
            let stored = after.pending_secret(id);
            self.journal.require(shown.is_some() && shown == stored.as_deref(), || {
                format!("the page has the new secret: {shown:?}, not {stored:?}")
            });
        }
        let (page, done) = match form {
            Form::RevokeToken { .. } => ("/panel/tokens".into(), "revoked"),
            Form::SetEnabled { endpoint, enabled: true } => (of_endpoint(endpoint), "enabled"),
            Form::SetEnabled { endpoint, .. } => (of_endpoint(endpoint), "disabled"),
            Form::ActivateSecret { endpoint } => (of_endpoint(endpoint), "activated"),
            Form::RemoveEndpoint { .. } => ("/panel/webhooks".into(), "endpoint-removed"),
            Form::RotateSecret { .. } | Form::RetryDead { .. } | Form::Redeliver { .. } => return,
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
            Form::RevokeToken { member, .. } => {
                self.journal.with(|facts| facts.tokens[*member].is_revoked = true);
            }
            Form::SetEnabled { endpoint, .. } => {
                self.journal.with(|facts| facts.exclude(|one| one.id == *endpoint));
            }
            Form::RotateSecret { endpoint } => {
                if let Some(secret) = after.pending_secret(endpoint) {
                    self.journal.rotated(endpoint, WebhookSecret::parse(&secret).unwrap(), now);
                }
            }
            Form::ActivateSecret { endpoint } => self.journal.activated(endpoint),
            Form::RemoveEndpoint { endpoint } => self.journal.removed(endpoint),
            Form::RetryDead { endpoint } => self.journal.retried_dead(endpoint),
            Form::Redeliver { delivery } => self.journal.redelivered(delivery, now),
        }
    }
}

impl Rows {
    fn endpoint(&self, id: &EndpointId) -> Option<&Endpoint> {
        self.endpoints.iter().find(|endpoint| endpoint.id == *id)
    }

    fn endpoint_mut(&mut self, id: &EndpointId) -> Option<&mut Endpoint> {
        self.endpoints.iter_mut().find(|endpoint| endpoint.id == *id)
    }

    fn pending_secret(&self, id: &EndpointId) -> Option<String> {
        let pending = self.endpoint(id)?.pending_secret.as_ref()?;
        let secret = PlaintextCipher.decrypt(&pending.secret, id).unwrap();
        Some(secret.expose_secret().to_owned())
    }

    /// Describes the rows that `other` does not have.
    fn without(&self, other: &Self) -> String {
        let endpoints = self.endpoints.iter().filter(|one| !other.endpoints.contains(one));
        let deliveries =
            self.deliveries.iter().filter(|(id, one)| other.deliveries.get(id) != Some(one));
        let token = self.token.iter().filter(|_| self.token != other.token);
        let log = self.log.iter().filter(|one| !other.log.contains(one));
        let rows: Vec<_> = endpoints
            .map(|one| format!("{one:?}"))
            .chain(deliveries.map(|(_, one)| format!("{one:?}")))
            .chain(token.map(|one| format!("{one:?}")))
            .chain(log.map(|one| format!("{one:?}")))
            .collect();
        rows.join(", ")
    }

    fn log(&mut self, action: AuditAction, target: &impl ToString, count: u64) {
        self.log.push(LoggedAction { action, target: target.to_string(), count });
        self.log.sort();
    }
}

fn of_endpoint(endpoint: &EndpointId) -> String {
    format!("/panel/webhooks/{endpoint}")
}

/// Returns the path to which a form is sent.
fn path(form: &Form) -> String {
    match form {
        Form::RevokeToken { lookup, .. } => format!("/panel/tokens/{lookup}/revoke"),
        Form::SetEnabled { endpoint, enabled: true } => of_endpoint(endpoint) + "/enable",
        Form::SetEnabled { endpoint, .. } => of_endpoint(endpoint) + "/disable",
        Form::RotateSecret { endpoint } => of_endpoint(endpoint) + "/rotate",
        Form::ActivateSecret { endpoint } => of_endpoint(endpoint) + "/activate",
        Form::RemoveEndpoint { endpoint } => of_endpoint(endpoint) + "/remove",
        Form::RetryDead { endpoint } => of_endpoint(endpoint) + "/retry-dead",
        Form::Redeliver { delivery } => format!("/panel/deliveries/{delivery}/retry"),
    }
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

    async fn verify_password(&self, _: &Session, _: &str) -> BackendResult<bool> {
        Ok(false)
    }

    async fn user_id_by_name(&self, _: &str) -> BackendResult<Option<UserId>> {
        Ok(None)
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
