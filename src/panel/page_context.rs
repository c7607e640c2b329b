//! One request of an administrator, as the pages see it.

use std::collections::{BTreeSet, HashMap};
use std::future::Future;
use std::sync::Arc;

use http::StatusCode;
use maud::{Markup, html};
use sha2::{Digest as _, Sha256};

use super::access::{CSRF_FIELD, csrf_token};
use super::components::{area_document, exact, relative};
use super::form::Form;
use super::response::{PageResponse, PageResult, PanelError};
use super::router::PanelRoute;
use super::service::PanelInner;
use crate::base62;
use crate::host::Session;
use crate::model::{EndpointId, Timestamp, UserId};
use crate::store::{
    BeginOutcome, Completion, IdempotentRequest, ResourceIds, StoredResponse, WebhookStores,
};
use crate::token::Lookup;

/// The name of the field that holds the nonce.
const NONCE_FIELD: &str = "once";

/// What a page is made from, and what a form is carried out with.
pub(super) struct PageContext {
    pub(super) panel: Arc<PanelInner>,
    pub(super) route: &'static PanelRoute,
    pub(super) session: Session,
    /// The segment of the path for `{id}`.
    pub(super) id: String,
    pub(super) query: Form,
    pub(super) now: Timestamp,
}

impl PageContext {
    /// The URL of a path below the mount, for links and forms.
    pub(super) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.panel.settings.base_path)
    }

    pub(super) fn show(&self, title: &str, main: Markup) -> PageResult {
        Ok(self.render(StatusCode::OK, title, main))
    }

    pub(super) fn render(&self, status: StatusCode, title: &str, main: Markup) -> PageResponse {
        PageResponse::page(status, area_document(self, title, main))
    }

    /// Shows a secret once, with a link back.
    pub(super) fn show_secret(&self, title: &str, main: Markup, back: &str) -> PageResult {
        let main = html! {
            (main)
            p { a.button href=(self.url(back)) { "Done" } }
        };
        self.show(title, main)
    }

    /// Redirects to a page that shows the flash message of this name.
    pub(super) fn redirect_with_flash(&self, path: &str, flash: &str) -> PageResult {
        let path = self.url(path);
        Ok(PageResponse::see_other(&format!("{path}?done={flash}")))
    }

    /// The page for a state that another request has changed.
    pub(super) fn conflict(&self, reason: &str, back: &str) -> PageResult {
        let main = html! {
            p { (reason) }
            p { a href=(self.url(back)) { "Back" } }
        };
        Ok(self.render(StatusCode::CONFLICT, "Nothing was changed", main))
    }

    /// The field that makes a form one of this session's.
    pub(super) fn csrf(&self) -> Markup {
        html! { input type="hidden" name=(CSRF_FIELD) value=(csrf_token(&self.session)); }
    }

    /// The field that makes a form one that is carried out once.
    pub(super) fn form_nonce(&self) -> Result<Markup, PanelError> {
        let random = &*self.panel.environment.random;
        let nonce = base62::random::<22>(random).map_err(PanelError::internal)?;
        let nonce: String = nonce.map(char::from).iter().collect();
        Ok(html! { input type="hidden" name=(NONCE_FIELD) value=(nonce); })
    }

    /// Carries out `work` unless this form has succeeded before or is running. Then the response is 409: `reason` with a
    /// link `back`. A refused or failed form can be sent again. A form without a nonce is carried out each time.
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
        let hash = base62::encode::<43, 32>(Sha256::digest(nonce).into());
        let hash: String = hash.map(char::from).iter().collect();
        // No client's key collides with a nonce's: an `Idempotency-Key` contains no space.
        let attempt = IdempotentRequest {
            token: Lookup::DUMMY,
            key: format!("panel form {hash}"),
            fingerprint: [0; 32],
        };
        let store = &self.panel.stores.idempotency;
        let ticket = match store.begin(&attempt, self.now).await? {
            BeginOutcome::Reserved(ticket) => ticket,
            BeginOutcome::Replay(_) | BeginOutcome::KeyReused => {
                return self.conflict(reason, back);
            }
            BeginOutcome::InProgress => {
                let reason =
                    "This form was submitted twice. The first request is still in progress.";
                return self.conflict(reason, back);
            }
            BeginOutcome::OutcomeUnknown => {
                let reason = "This form was already submitted, and its outcome is unknown. Check the list before you submit a new form.";
                return self.conflict(reason, back);
            }
        };
        let result = work(form).await;
        let outcome = match &result {
            // The page with the secret is not stored.
            Ok(response) if response.status.is_success() => Completion::Responded(StoredResponse {
                status: 200,
                location: None,
                body: Default::default(),
                resource: ResourceIds::default(),
            }),
            _ => Completion::NotExecuted,
        };
        if let Err(error) = store.complete(&ticket, outcome).await {
            tracing::error!(%error, "form nonce not settled");
        }
        result
    }

    /// A form of a single button. A screen reader also reads what it is `about`.
    pub(super) fn button(&self, path: &str, text: &str, about: &str, class: &str) -> Markup {
        html! {
            form method="post" action=(self.url(path)) {
                (self.csrf())
                button type="submit" class=(class) { (text) span class="visually-hidden" { " " (about) } }
            }
        }
    }

    /// A time in words and in full.
    pub(super) fn time(&self, at: Timestamp) -> Markup {
        html! { time datetime=(at) { (relative(at, self.now)) " " small { (exact(at)) } } }
    }

    pub(super) fn optional_time(&self, at: Option<Timestamp>, none: &str) -> Markup {
        at.map_or_else(|| html! { (none) }, |at| self.time(at))
    }

    pub(super) fn webhooks(&self) -> &WebhookStores {
        self.panel.registry.webhooks()
    }

    /// The id of the member in the field `owner`; an error of the field when there is none.
    pub(super) async fn owner(&self, form: &mut Form) -> Result<Option<UserId>, PanelError> {
        let found = self
            .panel
            .operator
            .user_id_by_name(form.get("owner").trim())
            .await?;
        if found.is_none() {
            form.add_error("owner", "No member has this username.");
        }
        Ok(found)
    }

    /// The names of these members, in one call.
    pub(super) async fn names<'a>(
        &self,
        members: impl Iterator<Item = &'a UserId>,
    ) -> Result<HashMap<&'a UserId, String>, PanelError> {
        let members: BTreeSet<_> = members.collect();
        let ids: Vec<_> = members.iter().copied().cloned().collect();
        let mut found = self.panel.operator.names(&ids).await?;
        let mut name = |member| found.remove(member).unwrap_or_else(|| "(deleted)".into());
        Ok(members
            .into_iter()
            .map(|member| (member, name(member)))
            .collect())
    }

    /// The id of the endpoint in the path.
    pub(super) fn endpoint(&self) -> Result<EndpointId, PanelError> {
        EndpointId::parse(&self.id).ok_or(PanelError::NotFound)
    }
}
