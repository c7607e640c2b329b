//! Context of a request of an administrator, and the layout of its page.

use std::collections::{BTreeSet, HashMap};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use maud::{Markup, html};
use sha2::{Digest as _, Sha256};

use super::access::{CSRF_FIELD, csrf_token};
use super::builder::PanelInner;
use super::components::{breakable, document, plural, relative_time, utc_time};
use super::form::{Form, TextField};
use super::response::{PageResponse, PageResult, PanelError, PanelResult};
use crate::audit::{AuditAction, AuditActor, AuditEntry};
use crate::base62::{self, DIGITS_OF_256_BITS};
use crate::error_chain::ErrorChain;
use crate::host::{OverloadedError, Session, WebPage};
#[cfg(feature = "webhooks")]
use crate::model::EndpointId;
use crate::model::{Timestamp, UserId};
use crate::store::{
    BeginOutcome, Completion, IdempotencyNamespace, IdempotentRequest, ResourceIds, StoredResponse,
    Stores, WebhookStores,
};
#[cfg(feature = "webhooks")]
use crate::webhook_admin::WebhookAdmin;

/// Name of the form field of the nonce, a random value for forms that are executed once.
const NONCE_FIELD: &str = "once";

/// Maximum number of usernames that a form suggests.
const MAX_SUGGESTIONS: u32 = 200;

/// Paths and names of the areas.
const AREAS: [(&str, &str); 5] = [
    ("/usage", "Usage"),
    ("/tokens", "API tokens"),
    ("/webhooks", "Webhooks"),
    ("/deliveries", "Deliveries"),
    ("/audit", "Audit"),
];

/// Paths of the areas of webhooks.
const OF_WEBHOOKS: [&str; 2] = ["/webhooks", "/deliveries"];

/// Request of an administrator with the state of the panel.
pub(super) struct PageContext {
    pub(super) panel: Arc<PanelInner>,
    /// Path of the route, which may contain `{id}`; empty for an unknown page.
    pub(super) route_path: &'static str,
    pub(super) session: Session,
    /// The administrator, for the audit log.
    pub(super) actor: AuditActor,
    /// Segment of the request's path for `{id}`.
    pub(super) id: String,
    pub(super) query: Form,
    pub(super) now: Timestamp,
}

impl PageContext {
    /// Returns the URL of a path below the base path.
    pub(super) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.panel.settings.base_path)
    }

    /// Returns path and name of the area of the page; `None` for an unknown page.
    fn area(&self) -> Option<(&'static str, &'static str)> {
        let mut areas = AREAS.into_iter();
        areas.find(|(path, _)| self.route_path.starts_with(path))
    }

    pub(super) fn show(&self, title: &str, main: Markup) -> PageResult {
        Ok(self.render(StatusCode::OK, title, main))
    }

    pub(super) fn render(&self, status: StatusCode, title: &str, main: Markup) -> PageResponse {
        let notice = flash(self.query.get("done")).filter(|_| status == StatusCode::OK);
        let main = html! {
            @if let Some(text) = notice { p.notice role="status" { (text) } }
            (main)
        };
        PageResponse::page(status, area_document(self, title, main))
    }

    /// Renders a form that has errors. `refused` is a sentence about the change without its period.
    pub(super) fn invalid(&self, title: &str, refused: &str, form: Markup) -> PageResponse {
        let main = html! {
            p.alert role="alert" { (refused) ". Correct the fields marked below." }
            (form)
        };
        self.render(StatusCode::UNPROCESSABLE_ENTITY, title, main)
    }

    /// Renders a form that was refused because too many passwords were incorrect. `refused` is a sentence about the change
    /// without its period.
    pub(super) fn locked(
        &self,
        title: &str,
        refused: &str,
        form: Markup,
        wait: Duration,
    ) -> PageResponse {
        let minutes = wait.as_secs().div_ceil(60).max(1);
        let unit = plural(minutes, "minute");
        let main = html! {
            p.alert role="alert" {
                (refused) ": too many incorrect passwords. Try again in " (minutes) " " (unit) "."
            }
            (form)
        };
        let response = self.render(StatusCode::TOO_MANY_REQUESTS, title, main);
        response.retry_after(wait)
    }

    /// Renders a page with a secret and a link back.
    pub(super) fn show_secret(&self, title: &str, main: Markup, back: &str) -> PageResult {
        let main = html! {
            (main)
            p { a.button href=(self.url(back)) { "Done" } }
        };
        self.show(title, main)
    }

    pub(super) fn redirect(&self, path: &str) -> PageResult {
        Ok(PageResponse::see_other(&self.url(path)))
    }

    /// Redirects to a page that shows the flash message of this name.
    pub(super) fn redirect_with_flash(&self, path: &str, flash: &str) -> PageResult {
        let path = self.url(path);
        Ok(PageResponse::see_other(&format!("{path}?done={flash}")))
    }

    /// Renders the page for a change that conflicts with another one.
    pub(super) fn conflict(&self, reason: &str, back: &str) -> PageResult {
        let main = html! {
            p { (reason) }
            p { a href=(self.url(back)) { "Back" } }
        };
        Ok(self.render(StatusCode::CONFLICT, "Request not executed", main))
    }

    /// Renders an error page with a link to the area.
    pub(super) fn error_document(&self, title: &str, text: &str) -> Markup {
        let [start, ..] = AREAS;
        let (path, name) = self.area().unwrap_or(start);
        let main = html! {
            p { (text) }
            p { a href=(self.url(path)) { "Back to " (name) } }
        };
        area_document(self, title, main)
    }

    pub(super) fn audit_entry(
        &self,
        action: AuditAction,
        target: impl ToString,
    ) -> PanelResult<AuditEntry> {
        let random = &*self.panel.environment.random;
        let entry = self.actor.entry(random, self.now, action, target);
        entry.map_err(PanelError::internal)
    }

    /// Renders the hidden field of the CSRF token.
    pub(super) fn csrf(&self) -> Markup {
        csrf_field(&self.session)
    }

    /// Renders the hidden field of a new nonce, for forms that are executed once.
    pub(super) fn form_nonce(&self) -> PanelResult<Markup> {
        let random = &*self.panel.environment.random;
        let nonce: String = base62::random::<22>(random)
            .map_err(PanelError::internal)?
            .map(char::from)
            .iter()
            .collect();
        Ok(html! { input type="hidden" name=(NONCE_FIELD) value=(nonce); })
    }

    /// If a form with the same nonce has succeeded or is in progress, returns 409 with a link to `back`. If that form
    /// succeeded, the page contains the text `reason`. After an internal error, the outcome is unknown, and 409 is returned as
    /// well. In all other cases, runs `work`: a form that was rejected, or not executed because of an overload, can be sent
    /// again, and a form without a nonce is not checked.
    ///
    /// Nonces are kept for 24 hours in the idempotency store, which the nodes share.
    pub(super) async fn run_once<W: Future<Output = PageResult>>(
        &self,
        form: Form,
        reason: &str,
        back: &str,
        work: impl FnOnce(Form) -> W,
    ) -> PageResult {
        let nonce = form.get(NONCE_FIELD);
        if nonce.is_empty() {
            return work(form).await;
        }
        let digits = base62::encode::<DIGITS_OF_256_BITS, 32>(Sha256::digest(nonce).into());
        let hash: String = digits.map(char::from).iter().collect();
        let request = IdempotentRequest {
            namespace: IdempotencyNamespace::PanelForm,
            key: hash,
            fingerprint: [0; 32],
        };
        let store = &self.stores().idempotency;
        let reservation = match store.begin(&request, self.now).await? {
            BeginOutcome::Reserved(reservation) => reservation,
            BeginOutcome::Replay(_) | BeginOutcome::KeyReused => {
                return self.conflict(reason, back);
            }
            BeginOutcome::InProgress => {
                let reason =
                    "This form was submitted twice. The first request is still in progress.";
                return self.conflict(reason, back);
            }
            BeginOutcome::OutcomeUnknown => {
                let reason = "This form was already submitted, and its outcome is unknown. Check whether it took effect before you submit a new form.";
                return self.conflict(reason, back);
            }
        };
        let result = work(form).await;
        let completion = match &result {
            // The page contains a secret and is not stored.
            Ok(response) if response.status.is_success() => Completion::Responded(StoredResponse {
                status: 200,
                location: None,
                body: Default::default(),
                resource: ResourceIds::default(),
            }),
            Err(PanelError::Internal(source)) if OverloadedError::cause_of(&**source).is_none() => {
                Completion::OutcomeUnknown
            }
            _ => Completion::NotExecuted,
        };
        if let Err(error) = store.complete(&reservation, completion).await {
            tracing::error!(error = %ErrorChain(&error), "failed to record form submission");
        }
        result
    }

    /// Renders a form with a single button. Screen readers also read `about`.
    #[cfg(feature = "webhooks")]
    pub(super) fn button(&self, path: &str, text: &str, about: &str, class: &str) -> Markup {
        html! {
            form method="post" action=(self.url(path)) {
                (self.csrf())
                button type="submit" class=(class) { (text) span class="visually-hidden" { " " (about) } }
            }
        }
    }

    /// Renders a time relative to now, and in UTC. The script shows the local time instead of the UTC time.
    pub(super) fn time(&self, at: Timestamp) -> Markup {
        let utc = utc_time(at);
        html! { time datetime=(at) title=(utc) { (relative_time(at, self.now)) " " small { (utc) } } }
    }

    /// Renders a time relative to now, for lists. Its title is the time in UTC.
    pub(super) fn relative_time(&self, at: Timestamp) -> Markup {
        html! { time.relative datetime=(at) title=(utc_time(at)) { (relative_time(at, self.now)) } }
    }

    /// Returns `true` if the panel manages webhooks.
    pub(super) fn has_webhooks(&self) -> bool {
        self.webhook_stores().is_some()
    }

    /// Fails with 404 for the pages of webhooks if the panel does not manage any.
    #[cfg(feature = "webhooks")]
    pub(super) fn webhook_admin(&self) -> PanelResult<&WebhookAdmin> {
        self.panel.webhook_admin.as_ref().ok_or(PanelError::NotFound)
    }

    pub(super) fn stores(&self) -> &Stores {
        &self.panel.stores
    }

    /// Returns the stores of webhooks, if the panel manages webhooks.
    pub(super) fn webhook_stores(&self) -> Option<&WebhookStores> {
        #[cfg(feature = "webhooks")]
        return self.panel.webhook_admin.as_ref().map(|admin| &admin.webhooks);
        #[cfg(not(feature = "webhooks"))]
        None
    }

    /// Fails with 404 for the pages of webhooks if the panel does not manage any.
    #[cfg(feature = "webhooks")]
    pub(super) fn webhooks(&self) -> PanelResult<&WebhookStores> {
        self.webhook_stores().ok_or(PanelError::NotFound)
    }

    /// Returns the id of the member whose name is in the field `owner`. Adds an error to the field if it is empty or no
    /// member has this name.
    pub(super) async fn owner(&self, form: &mut Form) -> PanelResult<Option<UserId>> {
        let username = form.get("owner").trim();
        if username.is_empty() {
            form.add_error("owner", "Enter a username.");
            return Ok(None);
        }
        let owner = self.panel.admin_auth.user_id_by_name(username).await?;
        if owner.is_none() {
            form.add_error("owner", "No member has this username.");
        }
        Ok(owner)
    }

    /// Renders the field of an owner's username, with usernames as suggestions.
    pub(super) async fn owner_field(&self, field: &TextField, form: &Form) -> PanelResult<Markup> {
        let admin_auth = &self.panel.admin_auth;
        let names = admin_auth.suggested_usernames(MAX_SUGGESTIONS).await?;
        let suggestions =
            html! { datalist id="usernames" { @for name in names { option value=(name) {} } } };
        Ok(field.render_with(form, suggestions))
    }

    /// Loads the name of a member.
    pub(super) async fn name(&self, member: &UserId) -> PanelResult<String> {
        let mut names = self.names(std::iter::once(member)).await?;
        Ok(names.remove(member).unwrap_or_default())
    }

    /// Renders the name of a member, as a link if the board has a page of the member.
    pub(super) fn member(&self, member: &UserId, name: &str) -> Markup {
        match self.panel.environment.web_urls.url(WebPage::Member(member)) {
            Some(url) => html! { a href=(url) { (breakable(name)) } },
            None => breakable(name),
        }
    }

    /// Loads the names of members in one call.
    pub(super) async fn names<'a>(
        &self,
        members: impl Iterator<Item = &'a UserId>,
    ) -> PanelResult<HashMap<&'a UserId, String>> {
        let members: BTreeSet<_> = members.collect();
        let ids: Vec<_> = members.iter().copied().cloned().collect();
        let mut names = self.panel.admin_auth.usernames(&ids).await?;
        let mut name = |member| names.remove(member).unwrap_or_else(|| "(deleted)".into());
        let named = members.into_iter().map(|member| (member, name(member)));
        Ok(named.collect())
    }

    /// Parses the id of the endpoint in the path.
    #[cfg(feature = "webhooks")]
    pub(super) fn endpoint(&self) -> PanelResult<EndpointId> {
        EndpointId::parse(&self.id).map_err(|_| PanelError::NotFound)
    }
}

/// Renders a page with navigation. A page below an area has a link to the area's list.
fn area_document(context: &PageContext, title: &str, main: Markup) -> Markup {
    let settings = &context.panel.settings;
    let area = context.area().filter(|(_, name)| *name != title);
    let [(start, _), ..] = AREAS;
    let areas =
        AREAS.into_iter().filter(|(path, _)| context.has_webhooks() || !OF_WEBHOOKS.contains(path));
    let body = html! {
        a.skip href="#main" { "Skip to content" }
        header {
            (settings.frame().header("Panel", signed_in(&context.panel, &context.session)))
            div.bar { nav aria-label="Areas" { ul { @for area in areas { (area_link(context, area)) } } } }
        }
        main id="main" tabindex="-1" {
            @if let Some((path, _)) = area { p.back { a href=(context.url(path)) { "Back to the list" } } }
            h1 { (breakable(title)) }
            (main)
        }
        @if context.route_path == start && !settings.other_tasks.is_empty() {
            footer.other {
                p { "Not in this panel:" }
                ul { @for (task, command) in &settings.other_tasks { li { (task) " " code { (command) } } } }
            }
        }
    };
    let title = match area {
        Some((_, area)) => &format!("{title} · {area}"),
        None => title,
    };
    document(settings, title, body)
}

fn csrf_field(session: &Session) -> Markup {
    html! { input type="hidden" name=(CSRF_FIELD) value=(csrf_token(session)); }
}

/// Renders the name of the visitor, and the button that ends the session if the host has a path for it.
pub(super) fn signed_in(panel: &PanelInner, session: &Session) -> Markup {
    html! {
        div.user {
            span { span.as { "Signed in as " } strong { (session.username) } }
            @if let Some(path) = panel.admin_auth.sign_out_path() {
                form method="post" action=(path) {
                    (csrf_field(session))
                    button.quiet type="submit" { "Sign out" }
                }
            }
        }
    }
}

fn area_link(context: &PageContext, (path, name): (&str, &str)) -> Markup {
    let current = (context.route_path == path)
        .then_some("page")
        .or_else(|| context.route_path.starts_with(path).then_some("true"));
    html! { li { a href=(context.url(path)) aria-current=[current] { (name) } } }
}

/// Returns the flash message of this name. The URL contains only the name, so that a crafted link cannot show other text.
fn flash(name: &str) -> Option<&'static str> {
    Some(match name {
        "revoked" => "Token revoked. Requests that use it now return 401.",
        "saved" => "Changes saved.",
        "activated" => "The new secret is active.",
        "enabled" => "Endpoint enabled. Queued deliveries are sent now.",
        "disabled" => "Endpoint disabled. Queued deliveries are kept.",
        "all-retried" => "All dead deliveries are queued again.",
        "endpoint-removed" => "Endpoint deleted with its deliveries.",
        "delivery-removed" => "Delivery removed.",
        _ => return None,
    })
}
