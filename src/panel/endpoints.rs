//! List of webhook endpoints, the form that adds an endpoint, and the checkboxes of topics.

use std::collections::HashMap;

use maud::{Markup, html};

use super::components::{
    TableRow, breakable, empty, folded_names, number, one_line, properties, secret_field, table,
};
use super::filter::ListFilter;
use super::form::{CheckboxGroup, Form, TextField, checkboxes};
use super::page_context::PageContext;
use super::password::{PASSWORD, check_password};
use super::response::{PageResult, PanelResult};
use crate::error_chain::ErrorChain;
use crate::model::DAY;
use crate::store::EndpointStats;
use crate::webhook::{Endpoint, TopicSet, UnknownTopicError, WebhookSecret};
use crate::webhook_admin::{EndpointWithSecret, NewEndpoint, WebhookAdminError};

const ADD: &str = "Add an endpoint";

const REFUSED: &str = "The endpoint was not added";

/// Value of the field `state` for endpoints whose last attempt failed.
pub(super) const FAILING: &str = "failing";

/// Number of endpoints from which on the list does not contain the form that adds an endpoint.
const MAX_LISTED_WITH_FORM: usize = 10;

const ALREADY_SUBMITTED: &str = "This form was already submitted. Its endpoint was added and the secret shown once. If you have lost the secret, rotate it.";

pub(super) const URL: TextField = TextField::text(
    "url",
    "URL",
    "URL to which deliveries are sent, for example https://example.org/hook.",
)
.inputmode("url");

const OWNER: TextField = TextField::owner(
    "Username of the endpoint's owner. The endpoint only receives events that its owner may see. Leave empty for your own account.",
);

const SECRET: TextField = TextField::text(
    "secret",
    "Secret",
    "Signing secret of at least 16 characters. Leave empty to generate one.",
)
.password("new-password");

/// `GET /webhooks`
pub(super) async fn list(context: &PageContext) -> PageResult {
    let all = context.webhooks()?.endpoints.list().await?;
    let owners = all.iter().map(|endpoint| &endpoint.owner);
    let names = context.names(owners).await?;
    let owner = |endpoint: &Endpoint| names.get(&endpoint.owner).map_or("", String::as_str);
    let mut fields = ListFilter::new(context, "/webhooks", &["search", "state"]);
    let state = Some(fields.get("state")).filter(|state| *state == FAILING);
    fields.set("state", state.unwrap_or_default().to_owned());
    let search = fields.get("search").to_ascii_lowercase();
    let matches = |endpoint: &&Endpoint| {
        let topics = endpoint.topics.to_string();
        let texts = [endpoint.url.as_str(), owner(endpoint), &topics];
        let has_text = |text: &str| text.to_ascii_lowercase().contains(&search);
        (endpoint.failing_since.is_some() || fields.get("state").is_empty())
            && texts.into_iter().any(has_text)
    };
    let mut endpoints: Vec<_> = all.iter().filter(matches).collect();
    endpoints.sort_by_key(|endpoint| endpoint.failing_since.is_none());
    let deliveries = &context.webhooks()?.deliveries;
    let stats_by_endpoint = match deliveries.endpoint_stats(DAY, context.now).await {
        Ok(stats) => {
            let by_endpoint = |one: EndpointStats| (one.endpoint_id.clone(), one);
            Some(stats.into_iter().map(by_endpoint).collect::<HashMap<_, _>>())
        }
        Err(error) => {
            tracing::error!(error = %ErrorChain(&error), "failed to load delivery statistics");
            None
        }
    };
    let rows = endpoints.iter().map(|endpoint| {
        let results = match &stats_by_endpoint {
            Some(stats_by_endpoint) => {
                let stats = stats_by_endpoint.get(&endpoint.id);
                [last_delivery(context, stats), success_rate(stats)]
            }
            None => [html! { "unknown" }, html! { "unknown" }],
        };
        row(context, endpoint, owner(endpoint), results)
    });
    let states = std::iter::once((FAILING.to_owned(), "Failing".to_owned()));
    let controls = html! {
        (fields.text_field("search", "Search", &[]))
        (fields.choice("state", "State", "All", states))
    };
    let main = html! {
        p.lead { "The board sends a signed POST request to each endpoint when an event occurs." }
        p { a.button href=(context.url("/webhooks/new")) { "Add an endpoint" } }
        @if all.is_empty() {
            (empty("There are no endpoints yet.", html! {
                "Add a receiver's URL below and send it a ping."
            }))
        } @else {
            (fields.form("Webhooks", "", controls))
            @if endpoints.is_empty() {
                @if let Some(none) = fields.no_matches("No endpoints match these filters.") { (none) }
            } @else {
                (table(rows))
            }
        }
        @if all.len() < MAX_LISTED_WITH_FORM {
            section aria-labelledby="add" {
                h2 id="add" { (ADD) }
                (add_form(context, &new_form()).await?)
            }
        }
    };
    context.show("Webhooks", main)
}

fn row(
    context: &PageContext,
    endpoint: &Endpoint,
    owner: &str,
    [last_delivery, success_rate]: [Markup; 2],
) -> TableRow {
    let path = context.url(&format!("/webhooks/{}", endpoint.id));
    let listed = endpoint.topics.to_string();
    let topics = match listed.as_str() {
        "*" => vec!["all topics"],
        topics => topics.split(',').collect(),
    };
    vec![
        ("Endpoint", html! { a href=(path) { (one_line(&endpoint.url)) } }),
        ("State", state(context, endpoint)),
        ("Last delivery", last_delivery),
        ("Delivered (24\u{a0}h)", success_rate),
        ("Topics", folded_names(&topics, "topics")),
        ("Owner", breakable(owner)),
    ]
}

/// Renders the state of an endpoint. An enabled endpoint is failing if its last attempt failed. The time is that of the
/// first failed attempt since an attempt last succeeded or the endpoint was enabled.
pub(super) fn state(context: &PageContext, endpoint: &Endpoint) -> Markup {
    let (class, text) = match (endpoint.enabled, endpoint.failing_since) {
        (true, None) => ("enabled", "enabled"),
        (true, Some(_)) => ("failing", "failing"),
        (false, _) if endpoint.auto_disabled => ("failing", "disabled after failures"),
        (false, _) => ("disabled", "disabled"),
    };
    html! {
        span.badge.(class) { (text) }
        @if let Some(since) = endpoint.failing_since {
            " " small { @if !endpoint.enabled { "failing " } "since " (context.relative_time(since)) }
        }
    }
}

fn last_delivery(context: &PageContext, stats: Option<&EndpointStats>) -> Markup {
    let Some(last) = stats.and_then(|stats| stats.last.as_ref()) else {
        return html! { "no stored attempts" };
    };
    let path = context.url(&format!("/deliveries/{}", last.id));
    html! {
        a href=(path) { (context.relative_time(last.attempted_at)) } " "
        small { @match last.status { Some(status) => (status), None => "no response" } }
    }
}

/// Renders the share of delivered deliveries, rounded down.
fn success_rate(stats: Option<&EndpointStats>) -> Markup {
    let (delivered, failed) = stats.map_or((0, 0), |stats| (stats.delivered, stats.failed));
    let total = delivered.saturating_add(failed);
    match delivered.saturating_mul(100).checked_div(total) {
        Some(percent) => {
            html! { (percent) "\u{a0}% " small { (number(delivered)) " of " (number(total)) } }
        }
        None => html! { "no results" },
    }
}

/// `GET /webhooks/new`
pub(super) async fn show_form(context: &PageContext) -> PageResult {
    context.show(ADD, add_form(context, &new_form()).await?)
}

/// Returns the form as it is shown at first.
fn new_form() -> Form {
    Form::with_values("topics", ["*".to_owned()].into_iter())
}

async fn add_form(context: &PageContext, form: &Form) -> PanelResult<Markup> {
    Ok(html! {
        form.fields method="post" action=(context.url("/webhooks")) {
            (context.csrf())
            (context.form_nonce()?)
            (URL.render(form))
            (context.owner_field(&OWNER, form).await?)
            (topic_boxes(context, form)?)
            (SECRET.render(form))
            (PASSWORD.render(form))
            div.actions { button type="submit" { "Add endpoint" } }
        }
    })
}

const TOPICS: CheckboxGroup =
    CheckboxGroup { name: "topics", legend: "Topics", hint: "The topics sent to this endpoint." };

/// Renders checkboxes for `*`, for each topic of the board, and for other topics that are checked.
pub(super) fn topic_boxes(context: &PageContext, form: &Form) -> PanelResult<Markup> {
    let all = ("*".to_owned(), "All topics except message.sent, including future ones");
    let known = context.webhook_admin()?.described_topics();
    let is_known = |name: &str| known.iter().any(|(topic, _)| topic.as_str() == name);
    let is_other = |topic: &&str| *topic != "*" && !is_known(topic);
    let others: Vec<_> = form
        .all("topics")
        .filter(is_other)
        .map(str::to_owned)
        .map(|topic| (topic, "No longer sent by the board"))
        .collect();
    let named = known.iter().map(|(topic, text)| (topic.to_string(), *text)).chain(others);
    Ok(checkboxes(&TOPICS, std::iter::once(all).chain(named), form, html! {}))
}

/// Returns the topics whose boxes are checked. Adds an error to the form if there are none.
pub(super) fn checked_topics(form: &mut Form) -> Option<TopicSet> {
    let names: Vec<_> = form.all("topics").collect();
    if names.is_empty() {
        form.add_error("topics", "Choose at least one topic.");
        return None;
    }
    let topics = names.join(",").parse();
    topics.map_err(|error: UnknownTopicError| form.add_error("topics", error)).ok()
}

/// Returns the URL of the form. Adds an error to an empty field.
pub(super) fn entered_url(form: &mut Form) -> String {
    let url = form.get("url").trim().to_owned();
    if url.is_empty() {
        form.add_error("url", "Enter a URL.");
    }
    url
}

/// Adds an error to a new URL that is invalid whatever its host name resolves to, so that it is shown beside a missing
/// password. [`entered_url`] has added the error of an empty URL.
pub(super) fn check_new_url(context: &PageContext, form: &mut Form, url: &str) -> PanelResult<()> {
    let admin = context.webhook_admin()?;
    if !url.is_empty()
        && let Err(error) = admin.check_url(url)
    {
        form.add_error("url", admin.describe(&error));
    }
    Ok(())
}

/// `POST /webhooks`
pub(super) async fn add(context: &PageContext, form: Form) -> PageResult {
    let work = |form| try_add(context, form);
    context.run_once(form, ALREADY_SUBMITTED, "/webhooks", work).await
}

async fn try_add(context: &PageContext, mut form: Form) -> PageResult {
    if let Err(wait) = check_password(context, &mut form).await? {
        let form = add_form(context, &form).await?;
        return Ok(context.locked(ADD, REFUSED, form, wait));
    }
    let topics = checked_topics(&mut form);
    let url = entered_url(&mut form);
    check_new_url(context, &mut form, &url)?;
    let owner = match form.get("owner").trim() {
        "" => Some(context.session.user_id.clone()),
        _ => context.owner(&mut form).await?,
    };
    let secret = Some(form.get("secret"))
        .filter(|secret| !secret.is_empty())
        .map(WebhookSecret::parse)
        .transpose()
        .map_err(|error| form.add_error("secret", error))
        .ok();
    let (Some(topics), Some(owner), Some(secret), false) =
        (topics, owner, secret, form.has_errors())
    else {
        return show_invalid(context, &form).await;
    };
    // Loaded before the change: an error after it would hide the secret.
    let owner_name = context.name(&owner).await?;
    let new = NewEndpoint { url, topics, owner_name: Some(owner_name.clone()), owner, secret };
    match context.webhook_admin()?.add(new, &context.actor).await {
        Ok(added) => return show_added(context, &added, &owner_name),
        Err(WebhookAdminError::Address(error)) => {
            let text = context.webhook_admin()?.describe(&error);
            form.add_error("url", text);
        }
        Err(WebhookAdminError::UnknownTopic(error)) => form.add_error("topics", error),
        Err(other) => return Err(other.into()),
    }
    show_invalid(context, &form).await
}

/// Renders the form again, on a page of its own.
async fn show_invalid(context: &PageContext, form: &Form) -> PageResult {
    Ok(context.invalid(ADD, REFUSED, add_form(context, form).await?))
}

fn show_added(context: &PageContext, added: &EndpointWithSecret, owner: &str) -> PageResult {
    let endpoint = &added.endpoint;
    tracing::info!(endpoint = %endpoint.id, admin = %context.session.user_id, "endpoint added");
    let reference_url = &context.panel.settings.reference_url;
    let path = format!("/webhooks/{}", endpoint.id);
    let main = html! {
        p.notice role="status" { "Endpoint added. Copy its secret now; it is not shown again." }
        (secret_field("secret", "Secret", added.secret.expose_secret()))
        p {
            "The receiver needs it to verify signatures."
            @if !reference_url.is_empty() {
                " " a href={ (reference_url) "#group-webhooks" } { "Code that verifies them" }
            }
        }
        div.actions {
            (context.button(&format!("{path}/ping"), "Send ping", "", ""))
            a href=(context.url(&path)) { "Done" }
        }
        (properties([
            ("URL", html! { span.scroll { (endpoint.url) } }),
            ("Owner", breakable(owner)),
            ("Topics", html! { (endpoint.topics.to_string().replace(',', ", ")) }),
        ]))
    };
    context.show("New endpoint", main)
}
