//! Page and actions of a webhook endpoint.

use maud::{Markup, html};

use super::components::{self, danger_section, secret_field, table};
use super::deliveries;
use super::endpoints::{URL, check_new_url, checked_topics, entered_url, state, topic_boxes};
use super::form::{Form, TextField};
use super::page_context::PageContext;
use super::password::{self, check_password};
use super::response::{PageResult, PanelError, PanelResult};
use crate::model::{DeliveryId, EndpointId, Timestamp};
use crate::store::DeliveryFilter;
use crate::webhook::{Endpoint, PendingSecret};
use crate::webhook_admin::{AdminResult, EndpointUpdate, WebhookAdminError};

/// Number of deliveries on the page.
const LATEST_DELIVERIES: u32 = 5;

const ALREADY_SUBMITTED: &str = "This form was already submitted. Its secret was generated and shown once. If you have lost the secret, rotate it again.";

const REFUSED: &str = "The changes were not saved";

const PASSWORD: TextField =
    password::PASSWORD.with_hint("Required to change the URL or the owner.");

const OWNER: TextField = TextField::owner(
    "Username of the endpoint's owner. The endpoint only receives events that its owner may see.",
);

/// `GET /webhooks/{id}`
pub(super) async fn show(context: &PageContext) -> PageResult {
    let endpoint = find(context).await?;
    let owner = context.name(&endpoint.owner).await?;
    let topics = endpoint.topics.to_string();
    let form = Form::with_values("topics", topics.split(',').map(str::to_owned))
        .with("url", endpoint.url.clone())
        .with("owner", owner.clone());
    let main = page(context, &endpoint, &owner, &form).await?;
    context.show(&endpoint.url, main)
}

async fn find(context: &PageContext) -> PanelResult<Endpoint> {
    let endpoints = &context.webhooks()?.endpoints;
    let endpoint = endpoints.find(&context.endpoint()?).await?;
    endpoint.ok_or(PanelError::NotFound)
}

/// Renders the stored values of the endpoint, and `form` for their change.
async fn page(
    context: &PageContext,
    endpoint: &Endpoint,
    owner: &str,
    form: &Form,
) -> PanelResult<Markup> {
    Ok(html! {
        (properties(context, endpoint, owner))
        (latest_deliveries(context, endpoint).await?)
        (settings_form(context, endpoint, owner, form).await?)
        (secret_section(context, endpoint)?)
        (danger_section(
            "Delete",
            "Delete this endpoint…",
            "This also removes its deliveries, including queued ones. Disable the endpoint to pause it.",
            button(context, endpoint, "remove", "Delete endpoint", "danger primary"),
        ))
    })
}

fn properties(context: &PageContext, endpoint: &Endpoint, owner: &str) -> Markup {
    html! {
        (components::properties([
            ("URL", html! { div.scroll tabindex="0" { (endpoint.url) } }),
            ("State", state(context, endpoint)),
            ("Owner", context.member(&endpoint.owner, owner)),
            ("Added", context.time(endpoint.created_at)),
            ("Id", html! { code data-copy="id" { (endpoint.id) } }),
        ]))
        div.actions {
            @if endpoint.enabled {
                (button(context, endpoint, "ping", "Send ping", ""))
                (example_form(context, endpoint))
                (button(context, endpoint, "disable", "Disable", "quiet"))
            } @else {
                (button(context, endpoint, "enable", "Enable", "quiet"))
            }
        }
        @if !endpoint.enabled {
            p.hint { "Events that occur while the endpoint is disabled are not sent to it, even after you enable it." }
        }
    }
}

/// Renders the form that sends an example of a topic.
fn example_form(context: &PageContext, endpoint: &Endpoint) -> Markup {
    let topics = context.panel.environment.topics();
    html! {
        form.actions method="post" action=(context.url(&format!("/webhooks/{}/example", endpoint.id))) {
            (context.csrf())
            label.visually-hidden for="topic" { "Topic of the example" }
            select.choice id="topic" name="topic" { @for topic in topics { option { (topic) } } }
            button.quiet type="submit" { "Send example" }
        }
    }
}

async fn latest_deliveries(context: &PageContext, endpoint: &Endpoint) -> PanelResult<Markup> {
    let filter = DeliveryFilter {
        endpoint_id: Some(endpoint.id.clone()),
        limit: LATEST_DELIVERIES,
        ..DeliveryFilter::default()
    };
    let latest = context.webhooks()?.deliveries.list(&filter).await?;
    let all = context.url(&format!("/deliveries?endpoint={}", endpoint.id));
    let endpoints = std::slice::from_ref(endpoint);
    let rows = deliveries::rows(context, &latest, endpoints, false);
    Ok(html! {
        section aria-labelledby="latest" {
            h2 id="latest" { "Latest deliveries" }
            @if latest.is_empty() {
                p { "No deliveries yet." }
            } @else {
                (table(rows))
                p { a href=(all) { "All deliveries of this endpoint" } }
            }
            (deliveries::retry_dead(context, Some(&endpoint.id)).await?)
        }
    })
}

/// Renders the form with hidden copies of the values that it was opened with.
async fn settings_form(
    context: &PageContext,
    endpoint: &Endpoint,
    owner: &str,
    form: &Form,
) -> PanelResult<Markup> {
    let path = format!("/webhooks/{}", endpoint.id);
    let topics = endpoint.topics.to_string();
    let initial_values = [
        ("opened_url", endpoint.url.as_str()),
        ("opened_owner", owner),
        ("opened_topics", topics.as_str()),
    ]
    .map(|(name, stored)| (name, form.all(name).next().unwrap_or(stored)));
    Ok(html! {
        section aria-labelledby="settings" {
            h2 id="settings" { "Settings" }
            form.fields method="post" action=(context.url(&path)) {
                (context.csrf())
                @for (name, value) in initial_values { input type="hidden" name=(name) value=(value); }
                (URL.render(form))
                (context.owner_field(&OWNER, form).await?)
                (topic_boxes(context, form)?)
                (PASSWORD.render(form))
                div.actions { button type="submit" { "Save changes" } }
            }
        }
    })
}

fn secret_section(context: &PageContext, endpoint: &Endpoint) -> PanelResult<Markup> {
    let pending = endpoint.pending_at(context.now);
    Ok(html! {
        section aria-labelledby="secret" {
            h2 id="secret" { "Secret" }
            p { (rotation_status(context, pending)) }
            div.actions {
                @if let Some(pending) = pending { (activation_form(context, endpoint, pending)) }
                form method="post" action=(context.url(&format!("/webhooks/{}/rotate", endpoint.id))) {
                    (context.csrf())
                    (context.form_nonce()?)
                    button.quiet type="submit" { "Rotate secret" }
                }
            }
        }
    })
}

/// Renders the button that activates the pending secret, with the time that identifies its rotation.
fn activation_form(context: &PageContext, endpoint: &Endpoint, pending: &PendingSecret) -> Markup {
    html! {
        form method="post" action=(context.url(&format!("/webhooks/{}/activate", endpoint.id))) {
            (context.csrf())
            input type="hidden" name="activates_at" value=(pending.activates_at);
            button type="submit" { "Activate new secret" }
        }
    }
}

fn rotation_status(context: &PageContext, pending: Option<&PendingSecret>) -> Markup {
    match pending {
        Some(pending) => html! {
            "A new secret is pending. Deliveries are signed with the old one until you activate the new one. It becomes active automatically "
            (context.time(pending.activates_at)) ". Another rotation replaces it: it then never becomes active."
        },
        None => html! {
            "Rotating creates a new secret and shows it once. Deliveries are signed with the old secret until you activate the new one, or until 24 hours have passed."
        },
    }
}

fn button(
    context: &PageContext,
    endpoint: &Endpoint,
    action: &str,
    text: &str,
    class: &str,
) -> Markup {
    let path = format!("/webhooks/{}/{action}", endpoint.id);
    context.button(&path, text, "", class)
}

/// `POST /webhooks/{id}`
///
/// Changes only the fields that differ from the values that the form was opened with, so that a form that was opened before
/// another change does not undo that change.
pub(super) async fn save(context: &PageContext, mut form: Form) -> PageResult {
    let endpoint = find(context).await?;
    let owner_name = context.name(&endpoint.owner).await?;
    let topics = checked_topics(&mut form);
    let entered_owner = form.get("owner").trim();
    let owner = if entered_owner == owner_name
        || equals_initial_value(&form, "opened_owner", entered_owner)
    {
        Some(endpoint.owner.clone())
    } else {
        context.owner(&mut form).await?
    };
    let url = entered_url(&mut form);
    let is_new_url = url != endpoint.url && !equals_initial_value(&form, "opened_url", &url);
    if is_new_url {
        check_new_url(context, &mut form, &url)?;
    }
    if (is_new_url || owner.as_ref() != Some(&endpoint.owner))
        && let Err(wait) = check_password(context, &mut form).await?
    {
        let page = page(context, &endpoint, &owner_name, &form).await?;
        return Ok(context.locked(&endpoint.url, REFUSED, page, wait));
    }
    if let (Some(topics), Some(owner), false) = (topics, owner, form.has_errors()) {
        let new_owner_name = context.name(&owner).await?;
        let changes = EndpointUpdate {
            url: Some(url).filter(|_| is_new_url),
            topics: Some(topics).filter(|topics| {
                let is_unchanged =
                    equals_initial_value(&form, "opened_topics", &topics.to_string());
                *topics != endpoint.topics && !is_unchanged
            }),
            owner: Some(owner).filter(|owner| *owner != endpoint.owner),
            owner_name: Some(new_owner_name),
        };
        let admin = context.webhook_admin()?;
        match admin.update(&endpoint.id, changes, &context.actor).await {
            Err(WebhookAdminError::Address(error)) => form.add_error("url", admin.describe(&error)),
            Err(WebhookAdminError::UnknownTopic(error)) => form.add_error("topics", error),
            changed => return redirect_or_conflict(context, changed, "saved"),
        }
    }
    let page = page(context, &endpoint, &owner_name, &form).await?;
    Ok(context.invalid(&endpoint.url, REFUSED, page))
}

/// Returns `true` if the form was opened with this value. Forms without the hidden field are treated as changed.
fn equals_initial_value(form: &Form, hidden_field: &str, value: &str) -> bool {
    form.all(hidden_field).next() == Some(value)
}

/// `POST /webhooks/{id}/rotate`
pub(super) async fn rotate(context: &PageContext, form: Form) -> PageResult {
    let id = context.endpoint()?;
    let back = format!("/webhooks/{id}");
    let work = |_| show_rotated(context, &id, &back);
    context.run_once(form, ALREADY_SUBMITTED, &back, work).await
}

async fn show_rotated(context: &PageContext, id: &EndpointId, back: &str) -> PageResult {
    let rotated = context.webhook_admin()?.rotate(id, &context.actor).await?;
    tracing::info!(endpoint = %id, admin = %context.session.user_id, "endpoint secret rotated");
    let main = html! {
        p.notice role="status" { "The new secret is pending. Copy it now; it is not shown again." }
        (secret_field("secret", "New secret", rotated.secret.expose_secret()))
        p {
            "Configure the new secret in the receiver, then activate it. Deliveries are signed with the old secret until you activate the new one, or until 24 hours have passed."
        }
    };
    context.show_secret("New secret", main, back)
}

/// `POST /webhooks/{id}/activate`
///
/// Activates only the secret that was pending when the page was opened, because the receiver may not know a later one.
pub(super) async fn activate(context: &PageContext, form: Form) -> PageResult {
    let endpoint = find(context).await?;
    let Ok(activates_at) = Timestamp::parse(form.get("activates_at")) else {
        let path = format!("/webhooks/{}", endpoint.id);
        return context.conflict("The form is outdated. Open the endpoint again.", &path);
    };
    let activated = context
        .webhook_admin()?
        .activate_rotation(&endpoint.id, activates_at, &context.actor)
        .await;
    redirect_or_conflict(context, activated, "activated")
}

/// `POST /webhooks/{id}/enable` and `POST /webhooks/{id}/disable`
pub(super) async fn set_enabled(context: &PageContext, enabled: bool) -> PageResult {
    let id = context.endpoint()?;
    let admin = context.webhook_admin()?;
    let changed = admin.set_enabled(&id, enabled, &context.actor).await;
    let flash = if enabled { "enabled" } else { "disabled" };
    redirect_or_conflict(context, changed, flash)
}

/// `POST /webhooks/{id}/ping`
pub(super) async fn ping(context: &PageContext) -> PageResult {
    let sent = context.webhook_admin()?.ping(&context.endpoint()?).await;
    show_result(context, sent).await
}

/// `POST /webhooks/{id}/example`
pub(super) async fn example(context: &PageContext, form: Form) -> PageResult {
    let admin = context.webhook_admin()?;
    let sent = admin.example(&context.endpoint()?, form.get("topic")).await;
    show_result(context, sent).await
}

async fn show_result(context: &PageContext, sent: AdminResult<DeliveryId>) -> PageResult {
    match sent {
        Ok(delivery) => deliveries::show_result(context, &delivery, None).await,
        Err(error) => conflict_page(context, error),
    }
}

/// `POST /webhooks/{id}/remove`
pub(super) async fn remove(context: &PageContext) -> PageResult {
    let id = context.endpoint()?;
    context.webhook_admin()?.remove(&id, &context.actor).await?;
    tracing::info!(endpoint = %id, admin = %context.session.user_id, "endpoint removed");
    context.redirect_with_flash("/webhooks", "endpoint-removed")
}

/// `POST /webhooks/{id}/retry-dead`
pub(super) async fn retry_dead(context: &PageContext) -> PageResult {
    let id = context.endpoint()?;
    let admin = context.webhook_admin()?;
    admin.retry_dead(&id, &context.actor).await?;
    context.redirect(&format!("/deliveries?endpoint={id}&done=all-retried"))
}

fn redirect_or_conflict(
    context: &PageContext,
    changed: AdminResult<Endpoint>,
    flash: &str,
) -> PageResult {
    match changed {
        Ok(endpoint) => context.redirect_with_flash(&format!("/webhooks/{}", endpoint.id), flash),
        Err(error) => conflict_page(context, error),
    }
}

/// Renders errors that another request may have caused as conflicts.
fn conflict_page(context: &PageContext, error: WebhookAdminError) -> PageResult {
    use WebhookAdminError::{
        EndpointDisabled, NoPendingSecret, PendingSecretReplaced, UnknownTopic,
    };
    if !matches!(
        error,
        NoPendingSecret | PendingSecretReplaced | EndpointDisabled | UnknownTopic(_)
    ) {
        return Err(error.into());
    }
    let reason = format!("The change failed: {error}.");
    context.conflict(&reason, &format!("/webhooks/{}", context.id))
}
