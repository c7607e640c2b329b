//! Page and actions of a webhook endpoint.

use http::StatusCode;
use maud::{Markup, html};

use super::components::{badge, secret_field, table};
use super::deliveries;
use super::endpoints::{checked_topics, health, state, topic_boxes};
use super::form::Form;
use super::page_context::PageContext;
use super::response::{PageResponse, PageResult, PanelError};
use crate::model::EndpointId;
use crate::store::DeliveryFilter;
use crate::webhook::{Endpoint, PendingSecret};
use crate::webhook_admin::WebhookAdminError;

/// Number of deliveries on the page.
const LATEST_DELIVERIES: u32 = 5;

const ALREADY_SUBMITTED: &str = "This form was already submitted. Its secret was generated and shown once. If you have lost the secret, rotate it again.";

/// `GET /webhooks/{id}`
pub(super) async fn show(context: &PageContext) -> PageResult {
    render_with_errors(context, StatusCode::OK, Form::default()).await
}

/// Renders the page with the stored values of the endpoint and the errors of `form`.
async fn render_with_errors(context: &PageContext, status: StatusCode, form: Form) -> PageResult {
    let endpoints = &context.webhooks().endpoints;
    let endpoint = endpoints.find(&context.endpoint()?).await?;
    let endpoint = endpoint.ok_or(PanelError::NotFound)?;
    let topics = endpoint.topics.to_string();
    let topics = topics.split(',').map(str::to_owned);
    let form = Form::with_values("topics", topics).with_errors_from(form);
    let main = html! {
        (properties(context, &endpoint).await?)
        (latest_deliveries(context, &endpoint).await?)
        (topics_form(context, &endpoint, &form))
        (secret_section(context, &endpoint)?)
        section aria-labelledby="removal" {
            h2 id="removal" { "Delete" }
            details {
                summary { "Delete this endpoint…" }
                p { "This also removes its deliveries, including queued ones. Disable the endpoint to pause it." }
                (button(context, &endpoint, "remove", "Delete endpoint", "danger"))
            }
        }
    };
    Ok(context.render(status, "Endpoint", main))
}

async fn properties(context: &PageContext, endpoint: &Endpoint) -> Result<Markup, PanelError> {
    let names = context.names(std::iter::once(&endpoint.owner)).await?;
    let owner = names.get(&endpoint.owner).map_or("", String::as_str);
    Ok(html! {
        dl {
            div { dt { "URL" } dd.scroll tabindex="0" { (endpoint.url) } }
            div { dt { "State" } dd { (badge(state(endpoint))) (health(context, endpoint)) } }
            div { dt { "Owner" } dd { (owner) } }
            div { dt { "Added" } dd { (context.time(endpoint.created_at)) } }
            div { dt { "Id" } dd { code { (endpoint.id) } } }
        }
        div.actions {
            @if endpoint.enabled {
                (button(context, endpoint, "ping", "Send ping", ""))
                (button(context, endpoint, "disable", "Disable", "quiet"))
            } @else {
                (button(context, endpoint, "enable", "Enable", "quiet"))
            }
        }
    })
}

async fn latest_deliveries(
    context: &PageContext,
    endpoint: &Endpoint,
) -> Result<Markup, PanelError> {
    let filter = DeliveryFilter {
        endpoint_id: Some(endpoint.id.clone()),
        limit: LATEST_DELIVERIES,
        ..DeliveryFilter::default()
    };
    let latest = context.webhooks().deliveries.list(&filter).await?;
    let all = context.url(&format!("/deliveries?endpoint={}", endpoint.id));
    let rows = latest
        .iter()
        .map(|delivery| deliveries::row(context, delivery, std::slice::from_ref(endpoint), false));
    Ok(html! {
        section aria-labelledby="latest" {
            h2 id="latest" { "Latest deliveries" }
            @if latest.is_empty() {
                p { "No deliveries yet." }
            } @else {
                (table(rows))
                p { a href=(all) { "All deliveries of this endpoint" } }
            }
        }
    })
}

fn topics_form(context: &PageContext, endpoint: &Endpoint, form: &Form) -> Markup {
    let path = format!("/webhooks/{}/topics", endpoint.id);
    html! {
        section aria-labelledby="subscription" {
            h2 id="subscription" { "Subscribed topics" }
            form.fields method="post" action=(context.url(&path)) {
                (context.csrf())
                (topic_boxes(context, form))
                div.actions { button type="submit" { "Save changes" } }
            }
        }
    }
}

fn secret_section(context: &PageContext, endpoint: &Endpoint) -> Result<Markup, PanelError> {
    let pending = endpoint.pending_secret.as_ref();
    let pending = pending.filter(|pending| context.now < pending.activates_at);
    Ok(html! {
        section aria-labelledby="secret" {
            h2 id="secret" { "Secret" }
            p { (rotation_status(context, pending)) }
            div.actions {
                @if pending.is_some() { (button(context, endpoint, "activate", "Activate new secret", "")) }
                form method="post" action=(context.url(&format!("/webhooks/{}/rotate", endpoint.id))) {
                    (context.csrf())
                    (context.form_nonce()?)
                    button.quiet type="submit" { "Rotate secret" }
                }
            }
        }
    })
}

fn rotation_status(context: &PageContext, pending: Option<&PendingSecret>) -> Markup {
    match pending {
        Some(pending) => html! {
            "A new secret is pending. Deliveries are signed with the old one until you activate the new one. It becomes active automatically "
            (context.time(pending.activates_at)) "."
        },
        None => html! {
            "Rotating creates a new secret and shows it once. Deliveries are signed with the old secret until you activate the new one, for at most 24 hours."
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

/// `POST /webhooks/{id}/topics`
pub(super) async fn set_topics(context: &PageContext, mut form: Form) -> PageResult {
    if let Some(topics) = checked_topics(&mut form) {
        let admin = &context.panel.webhook_admin;
        match admin
            .set_topics(&context.endpoint()?, topics, &context.actor)
            .await
        {
            Err(WebhookAdminError::UnknownTopic(error)) => form.add_error("topics", error),
            changed => return redirect_or_conflict(context, changed, "subscribed"),
        }
    }
    render_with_errors(context, StatusCode::UNPROCESSABLE_ENTITY, form).await
}

/// `POST /webhooks/{id}/rotate`
pub(super) async fn rotate(context: &PageContext, form: Form) -> PageResult {
    let id = context.endpoint()?;
    let back = format!("/webhooks/{id}");
    let work = |_| show_rotated(context, &id, &back);
    context.run_once(form, ALREADY_SUBMITTED, &back, work).await
}

async fn show_rotated(context: &PageContext, id: &EndpointId, back: &str) -> PageResult {
    let rotated = context
        .panel
        .webhook_admin
        .rotate(id, &context.actor)
        .await?;
    tracing::info!(endpoint = %id, admin = %context.session.user_id, "endpoint secret rotated");
    let main = html! {
        p.notice role="status" { "The new secret is pending. Copy it now; it is not shown again." }
        (secret_field("secret", "New secret", rotated.secret.expose_secret()))
        p {
            "Configure the new secret in the receiver, then activate it. Until then, but for at most 24 hours, deliveries are signed with the old secret."
        }
    };
    context.show_secret("The endpoint's new secret", main, back)
}

/// `POST /webhooks/{id}/activate`
pub(super) async fn activate(context: &PageContext) -> PageResult {
    let activated = context
        .panel
        .webhook_admin
        .activate(&context.endpoint()?, &context.actor)
        .await;
    redirect_or_conflict(context, activated, "activated")
}

/// `POST /webhooks/{id}/enable` and `POST /webhooks/{id}/disable`
pub(super) async fn set_enabled(context: &PageContext, enabled: bool) -> PageResult {
    let id = context.endpoint()?;
    let (admin, actor) = (&context.panel.webhook_admin, &context.actor);
    let changed = admin.set_enabled(&id, enabled, actor).await;
    let flash = if enabled { "enabled" } else { "disabled" };
    redirect_or_conflict(context, changed, flash)
}

/// `POST /webhooks/{id}/ping`
pub(super) async fn ping(context: &PageContext) -> PageResult {
    match context.panel.webhook_admin.ping(&context.endpoint()?).await {
        Ok(delivery) => context.redirect_with_flash(&format!("/deliveries/{delivery}"), "pinged"),
        Err(error) => conflict_page(context, error),
    }
}

/// `POST /webhooks/{id}/remove`
pub(super) async fn remove(context: &PageContext) -> PageResult {
    let id = context.endpoint()?;
    context
        .panel
        .webhook_admin
        .remove(&id, &context.actor)
        .await?;
    tracing::info!(endpoint = %id, admin = %context.session.user_id, "endpoint removed");
    context.redirect_with_flash("/webhooks", "endpoint-removed")
}

/// `POST /webhooks/{id}/retry-dead`
pub(super) async fn retry_dead(context: &PageContext) -> PageResult {
    let id = context.endpoint()?;
    context
        .panel
        .webhook_admin
        .retry_dead(&id, &context.actor)
        .await?;
    let path = format!("/deliveries?endpoint={id}&done=all-retried");
    Ok(PageResponse::see_other(&context.url(&path)))
}

fn redirect_or_conflict(
    context: &PageContext,
    changed: Result<Endpoint, WebhookAdminError>,
    flash: &str,
) -> PageResult {
    match changed {
        Ok(endpoint) => context.redirect_with_flash(&format!("/webhooks/{}", endpoint.id), flash),
        Err(error) => conflict_page(context, error),
    }
}

/// Renders errors that another request may have caused as conflicts.
fn conflict_page(context: &PageContext, error: WebhookAdminError) -> PageResult {
    use WebhookAdminError::{EndpointDisabled, NoPendingSecret};
    if !matches!(error, NoPendingSecret | EndpointDisabled) {
        return Err(error.into());
    }
    let reason = format!("The change failed: {error}.");
    context.conflict(&reason, &format!("/webhooks/{}", context.id))
}
