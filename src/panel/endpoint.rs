//! One webhook endpoint: its page and its actions.

use http::StatusCode;
use maud::{Markup, html};

use super::components::{badge, secret_field, table};
use super::deliveries;
use super::endpoints::{checked_topics, state, topic_boxes};
use super::form::Form;
use super::page_context::PageContext;
use super::response::{PageResponse, PageResult, PanelError};
use crate::model::EndpointId;
use crate::store::DeliveryFilter;
use crate::webhook::{Endpoint, PendingSecret};
use crate::webhook_admin::WebhookAdminError;

/// Deliveries that the page shows.
const LATEST: u32 = 5;

const REPEATED: &str = "This form was sent before: its secret was made then and shown once. Make another if it is lost.";

/// `GET /webhooks/{id}`
pub(super) async fn show(context: &PageContext) -> PageResult {
    show_with_errors_of(context, StatusCode::OK, Form::default()).await
}

/// The page with the endpoint's own values and the errors of `form`.
async fn show_with_errors_of(context: &PageContext, status: StatusCode, form: Form) -> PageResult {
    let endpoint = context
        .webhooks()
        .endpoints
        .find(&context.endpoint()?)
        .await?;
    let endpoint = endpoint.ok_or(PanelError::NotFound)?;
    let topics = endpoint.topics.to_string();
    let topics = topics.split(',').map(str::to_owned);
    let form = Form::with_values("topics", topics).with_errors_of(form);
    let main = html! {
        (facts(context, &endpoint).await?)
        (latest(context, &endpoint).await?)
        (subscription(context, &endpoint, &form))
        (secret(context, &endpoint)?)
        section aria-labelledby="removal" {
            h2 id="removal" { "Remove" }
            details {
                summary { "Remove this endpoint…" }
                p { "Its deliveries go with it, those that still wait too. To stop for a while, disable it instead." }
                (button(context, &endpoint, "remove", "Remove it with its deliveries", "danger"))
            }
        }
    };
    Ok(context.render(status, "Endpoint", main))
}

async fn facts(context: &PageContext, endpoint: &Endpoint) -> Result<Markup, PanelError> {
    let names = context.names(std::iter::once(&endpoint.owner)).await?;
    let owner = names.get(&endpoint.owner).map_or("", String::as_str);
    Ok(html! {
        dl {
            div { dt { "URL" } dd.whole tabindex="0" { (endpoint.url) } }
            div { dt { "State" } dd { (badge(state(endpoint))) } }
            div { dt { "Owner" } dd { (owner) } }
            div { dt { "Added" } dd { (context.time(endpoint.created_at)) } }
            div { dt { "Id" } dd { code { (endpoint.id) } } }
        }
        div.actions {
            @if endpoint.enabled {
                (button(context, endpoint, "ping", "Send a ping", ""))
                (button(context, endpoint, "disable", "Disable", "quiet"))
            } @else {
                (button(context, endpoint, "enable", "Enable", "quiet"))
            }
        }
    })
}

async fn latest(context: &PageContext, endpoint: &Endpoint) -> Result<Markup, PanelError> {
    let filter = DeliveryFilter {
        endpoint: Some(endpoint.id.clone()),
        limit: LATEST,
        ..DeliveryFilter::default()
    };
    let latest = context.webhooks().deliveries.list(&filter).await?;
    let all = context.url(&format!("/deliveries?endpoint={}", endpoint.id));
    let rows = latest
        .iter()
        .map(|delivery| deliveries::row(context, delivery, None));
    Ok(html! {
        section aria-labelledby="latest" {
            h2 id="latest" { "Latest deliveries" }
            @if latest.is_empty() {
                p { "Nothing was sent to it yet." }
            } @else {
                (table(rows))
                p { a href=(all) { "All its deliveries" } }
            }
        }
    })
}

fn subscription(context: &PageContext, endpoint: &Endpoint, form: &Form) -> Markup {
    let path = format!("/webhooks/{}/topics", endpoint.id);
    html! {
        section aria-labelledby="subscription" {
            h2 id="subscription" { "What it is told of" }
            form.fields method="post" action=(context.url(&path)) {
                (context.csrf())
                (topic_boxes(context, form))
                div.actions { button type="submit" { "Save the topics" } }
            }
        }
    }
}

fn secret(context: &PageContext, endpoint: &Endpoint) -> Result<Markup, PanelError> {
    let pending = endpoint.pending_secret.as_ref();
    let pending = pending.filter(|pending| context.now < pending.activates_at);
    Ok(html! {
        section aria-labelledby="secret" {
            h2 id="secret" { "Secret" }
            p { (rotation(context, pending)) }
            div.actions {
                @if pending.is_some() { (button(context, endpoint, "activate", "Activate the new secret", "")) }
                form method="post" action=(context.url(&format!("/webhooks/{}/rotate", endpoint.id))) {
                    (context.csrf())
                    (context.form_nonce()?)
                    button.quiet type="submit" { "Make a new secret" }
                }
            }
        }
    })
}

fn rotation(context: &PageContext, pending: Option<&PendingSecret>) -> Markup {
    match pending {
        Some(pending) => html! {
            "A new secret is pending. Deliveries are still signed with the old one until you activate it; by itself it \
             comes into force "
            (context.time(pending.activates_at)) "."
        },
        None => html! {
            "A new secret is shown once and pends, so that you can give it to the receiver before you activate it; \
             after 24 hours it comes into force by itself."
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
pub(super) async fn subscribe(context: &PageContext, mut form: Form) -> PageResult {
    if let Some(topics) = checked_topics(&mut form) {
        let registry = &context.panel.registry;
        match registry.set_topics(&context.endpoint()?, topics).await {
            Err(WebhookAdminError::UnknownTopic(unknown)) => form.add_error("topics", unknown),
            changed => return redirect_or_conflict(context, changed, "subscribed"),
        }
    }
    show_with_errors_of(context, StatusCode::UNPROCESSABLE_ENTITY, form).await
}

/// `POST /webhooks/{id}/rotate`
pub(super) async fn rotate(context: &PageContext, form: Form) -> PageResult {
    let id = context.endpoint()?;
    let back = format!("/webhooks/{id}");
    let work = |_| show_rotated(context, &id, &back);
    context.run_once(form, REPEATED, &back, work).await
}

async fn show_rotated(context: &PageContext, id: &EndpointId, back: &str) -> PageResult {
    let rotated = context.panel.registry.rotate(id).await?;
    tracing::info!(endpoint = %id, by = %context.session.user_id, "an endpoint has a new secret");
    let main = html! {
        p.notice role="status" { "The new secret is pending. Copy it now: it is shown this once." }
        (secret_field("secret", "New secret", rotated.secret.expose_secret()))
        p {
            "Give it to the receiver, then activate it: until then, or for 24 hours, deliveries are signed with the \
             old one."
        }
    };
    context.show_secret("The endpoint's new secret", main, back)
}

/// `POST /webhooks/{id}/activate`
pub(super) async fn activate(context: &PageContext) -> PageResult {
    let activated = context.panel.registry.activate(&context.endpoint()?).await;
    redirect_or_conflict(context, activated, "activated")
}

/// `POST /webhooks/{id}/enable` and `POST /webhooks/{id}/disable`
pub(super) async fn enable(context: &PageContext, enabled: bool) -> PageResult {
    let id = context.endpoint()?;
    let changed = context.panel.registry.set_enabled(&id, enabled).await;
    redirect_or_conflict(
        context,
        changed,
        if enabled { "enabled" } else { "disabled" },
    )
}

/// `POST /webhooks/{id}/ping`
pub(super) async fn ping(context: &PageContext) -> PageResult {
    match context.panel.registry.ping(&context.endpoint()?).await {
        Ok(delivery) => context.redirect_with_flash(&format!("/deliveries/{delivery}"), "pinged"),
        Err(declined) => conflict_page(context, declined),
    }
}

/// `POST /webhooks/{id}/remove`
pub(super) async fn remove(context: &PageContext) -> PageResult {
    let id = context.endpoint()?;
    context.panel.registry.remove(&id).await?;
    tracing::info!(endpoint = %id, by = %context.session.user_id, "an endpoint was removed");
    context.redirect_with_flash("/webhooks", "endpoint-removed")
}

/// `POST /webhooks/{id}/retry-dead`
pub(super) async fn retry_dead(context: &PageContext) -> PageResult {
    let id = context.endpoint()?;
    context.panel.registry.retry_dead(&id).await?;
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
        Err(declined) => conflict_page(context, declined),
    }
}

/// A change by another request is a conflict, not a failure.
fn conflict_page(context: &PageContext, declined: WebhookAdminError) -> PageResult {
    if !matches!(
        declined,
        WebhookAdminError::NoPendingSecret | WebhookAdminError::EndpointDisabled
    ) {
        return Err(declined.into());
    }
    let reason = format!("This was not done: {declined}.");
    context.conflict(&reason, &format!("/webhooks/{}", context.id))
}
