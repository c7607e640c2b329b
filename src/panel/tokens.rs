//! API tokens: the list, issuing one and revoking one.

use std::collections::HashMap;
use std::time::Duration;

use http::StatusCode;
use maud::{Markup, html};

use super::components::{TableRow, badge, breakable, empty, next_page_link, secret_field, table};
use super::error::PanelError;
use super::form::{Form, FormErrors, TextField, checkboxes};
use super::page_context::PageContext;
use super::response::PageResult;
use crate::model::{Timestamp, UserId};
use crate::rate_limit::BudgetKey;
use crate::token::{self, Expiry, Issue, IssueError, Lookup, PlainToken, TokenRecord, TokenState};

/// Tokens per page.
const PAGE: usize = 50;

const ISSUE: &str = "Issue a token";

const REPEATED: &str = "This form was sent before: its token was issued then and shown once. If it is lost, revoke it \
                        and issue another.";

/// `GET /tokens`
pub(super) async fn list(context: &PageContext) -> PageResult {
    let after = parse_position(context.query.get("after"));
    let mut tokens = context.panel.tokens.list(after, PAGE as u32 + 1).await?;
    let more = tokens.len() > PAGE;
    tokens.truncate(PAGE);
    let last = tokens.last().filter(|_| more);
    let names = context
        .names(tokens.iter().map(|token| &token.owner))
        .await?;
    let main = html! {
        p.lead {
            "A token lets a program act for a member, no further than its scopes and never beyond what the member may do."
        }
        p { a.button href=(context.url("/tokens/new")) { "Issue a token" } }
        @if tokens.is_empty() {
            (empty("There are no tokens yet.", html! {
                "Issue one for the member whose program is to use the API. It is shown once."
            }))
        } @else {
            (table(tokens.iter().map(|token| row(context, token, &names))))
        }
        @if let Some(last) = last {
            (next_page_link("More tokens", &context.url(&format!("/tokens?after={}", position(last)))))
        }
    };
    context.show("API tokens", main)
}

/// The value of `after` for the tokens behind this one: its creation time in milliseconds, a dot and its lookup.
fn position(token: &TokenRecord) -> String {
    format!("{}.{}", token.created_at.as_millis(), token.lookup)
}

/// Parses a [`position`]; `None` for any other text, which means the first page.
fn parse_position(text: &str) -> Option<(Timestamp, Lookup)> {
    let (created_at, lookup) = text.split_once('.')?;
    let created_at = Timestamp::from_millis(created_at.parse().ok()?);
    Some((created_at, Lookup::parse(lookup)?))
}

fn row(context: &PageContext, token: &TokenRecord, names: &HashMap<&UserId, String>) -> TableRow {
    let state = token.state(context.now);
    let owner = names.get(&token.owner).map_or("", String::as_str);
    let label = Some(token.label.as_str()).filter(|label| !label.trim().is_empty());
    let lookup = token.lookup.as_str();
    let revoke = || {
        let path = format!("/tokens/{lookup}/revoke");
        context.button(&path, "Revoke", label.unwrap_or(lookup), "danger")
    };
    vec![
        (
            "Token",
            html! { strong { (breakable(label.unwrap_or("No label"))) } code { (lookup) } },
        ),
        ("Owner", breakable(owner)),
        ("Scopes", html! { small { (scopes(context, token)) } }),
        ("Created", context.time(token.created_at)),
        ("Expires", context.optional_time(token.expires_at, "never")),
        (
            "Last used",
            context.optional_time(token.last_used_at, "never"),
        ),
        ("State", badge(state.as_str())),
        (
            "",
            html! { @if state != TokenState::Revoked { (revoke()) } },
        ),
    ]
}

/// The scopes of a token; one word for all of the surface.
fn scopes(context: &PageContext, token: &TokenRecord) -> String {
    let mut known = context.panel.environment.surface.scopes();
    if known.all(|scope| token.scopes.iter().any(|one| one == scope.as_str())) {
        return "all".into();
    }
    token.scopes.join(", ")
}

/// `POST /tokens/{id}/revoke`
pub(super) async fn revoke(context: &PageContext) -> PageResult {
    let lookup = Lookup::parse(&context.id).ok_or(PanelError::NotFound)?;
    if !context.panel.tokens.revoke(&lookup, context.now).await? {
        return Err(PanelError::NotFound);
    }
    tracing::info!(%lookup, by = %context.session.member, "a token was revoked");
    context.redirect_with_flash("/tokens", "revoked")
}

/// `GET /tokens/new`
pub(super) async fn new(context: &PageContext) -> PageResult {
    let form = issue_form(context, &Form::default(), &FormErrors::default())?;
    context.show(ISSUE, form)
}

/// The form with the values that were sent, except for the password, and with their errors.
fn issue_form(
    context: &PageContext,
    sent: &Form,
    errors: &FormErrors,
) -> Result<Markup, PanelError> {
    let scopes = context.panel.environment.surface.scopes();
    let scopes = scopes.map(|scope| {
        let is_checked = sent.has("scopes", scope.as_str());
        (scope.to_string(), scope.allows(), is_checked)
    });
    let scopes_text = (
        "scopes",
        "Scopes",
        "What the token carries. It never reaches what its owner may not do.",
    );
    let [owner, label, expiry, password] = text_fields(sent);
    Ok(html! {
        form.fields method="post" action=(context.url("/tokens/new")) {
            (context.csrf())
            (context.form_nonce()?)
            @for field in [owner, label] { (field.render(errors)) }
            (checkboxes(scopes_text, scopes, errors))
            @for field in [expiry, password] { (field.render(errors)) }
            div.actions {
                button type="submit" { "Issue the token" }
                a href=(context.url("/tokens")) { "Cancel" }
            }
        }
    })
}

fn text_fields(sent: &Form) -> [TextField<'_>; 4] {
    [
        TextField {
            name: "owner",
            label: "Owner",
            hint: "The username of the member for whom the token acts.",
            value: sent.get("owner"),
            ..TextField::TEXT
        },
        TextField {
            name: "label",
            label: "Label",
            hint: "What to call it in the list, such as the program that is to use it. May be empty.",
            value: sent.get("label"),
            ..TextField::TEXT
        },
        TextField {
            name: "expires_in_days",
            label: "Expires in (days)",
            hint: "A whole number of days, or nothing: then it never expires.",
            value: sent.get("expires_in_days"),
            inputmode: "numeric",
            ..TextField::TEXT
        },
        TextField {
            name: "password",
            label: "Your password",
            hint: "Your own, once more.",
            kind: "password",
            autocomplete: "current-password",
            ..TextField::TEXT
        },
    ]
}

/// `POST /tokens/new`
pub(super) async fn issue(context: &PageContext, form: &Form) -> PageResult {
    let work = try_issue(context, form);
    context.run_once(form, REPEATED, "/tokens", work).await
}

async fn try_issue(context: &PageContext, form: &Form) -> PageResult {
    let (panel, member) = (&context.panel, &context.session.member);
    let slot = match panel.password_throttle.begin(member, context.now).await? {
        Ok(slot) => slot,
        Err(wait) => return locked(context, form, wait),
    };
    let mut errors = FormErrors::default();
    check_password(context, form, &slot, &mut errors).await?;
    let owner = context.owner(form.get("owner").trim(), &mut errors).await?;
    let scopes: Vec<String> = form.all("scopes").map(Into::into).collect();
    if scopes.is_empty() {
        add_error(&mut errors, IssueError::NoScope)?;
    }
    // Several values are joined to a text that is not a number.
    let expires_in_days = form.all("expires_in_days").collect::<Vec<_>>().join(",");
    if let Err(bad) = Expiry::parse(&expires_in_days) {
        add_error(&mut errors, IssueError::Expiry(bad))?;
    }
    let label = form.get("label");
    if let Err(invalid) = token::check_label(label) {
        add_error(&mut errors, invalid)?;
    }
    let Some(owner) = owner.filter(|_| errors.is_empty()) else {
        return refused(context, form, &errors);
    };
    let wanted = Issue {
        owner: &owner,
        label,
        scopes: &scopes,
        expires_in_days: &expires_in_days,
    };
    let (random, surface) = (&*panel.environment.random, panel.environment.surface);
    match token::issue(&*panel.tokens, random, surface, wanted, context.now).await {
        Ok((token, record)) => issued(context, &token, &record),
        Err(error) => {
            add_error(&mut errors, error)?;
            refused(context, form, &errors)
        }
    }
}

/// Checks the password and frees the attempt's slot unless the password is wrong.
async fn check_password(
    context: &PageContext,
    form: &Form,
    slot: &BudgetKey,
    errors: &mut FormErrors,
) -> Result<(), PanelError> {
    let (panel, session) = (&context.panel, &context.session);
    let is_right = panel
        .operator
        .is_password(session, form.get("password"))
        .await;
    if let Ok(false) = is_right {
        tracing::warn!(member = %session.member, "a wrong password was typed to issue a token");
        errors.add("password", "This is not your password.");
    } else if let Err(error) = panel.password_throttle.release(slot, context.now).await {
        tracing::error!(%error, "password attempt not refunded");
    }
    is_right.map(drop).map_err(Into::into)
}

/// Adds an error to its field. A failure of the store is not an error of a field.
fn add_error(errors: &mut FormErrors, error: IssueError) -> Result<(), PanelError> {
    match error {
        IssueError::Failed(fault) => return Err(fault.into()),
        IssueError::Expiry(bad) => errors.add("expires_in_days", bad),
        IssueError::InvalidLabel => errors.add("label", error),
        scope => errors.add("scopes", scope),
    }
    Ok(())
}

fn refused(context: &PageContext, form: &Form, errors: &FormErrors) -> PageResult {
    let main = html! {
        p.alert role="alert" { "No token was issued. What is wrong stands beside each field." }
        (issue_form(context, form, errors)?)
    };
    Ok(context.render(StatusCode::UNPROCESSABLE_ENTITY, ISSUE, main))
}

fn locked(context: &PageContext, form: &Form, wait: Duration) -> PageResult {
    let minutes = wait.as_secs().div_ceil(60).max(1);
    let plural = if minutes == 1 { "" } else { "s" };
    let main = html! {
        p.alert role="alert" {
            "No token was issued: there were too many wrong passwords. Try again in "
            (minutes) " minute" (plural) "."
        }
        (issue_form(context, form, &FormErrors::default())?)
    };
    let response = context.render(StatusCode::TOO_MANY_REQUESTS, ISSUE, main);
    Ok(response.retry_after(wait))
}

fn issued(context: &PageContext, token: &PlainToken, record: &TokenRecord) -> PageResult {
    tracing::info!(lookup = %record.lookup, by = %context.session.member, "a token was issued");
    let main = html! {
        p.notice role="status" { "The token was issued. Copy it now: it is shown this once." }
        (secret_field("token", "Token", token.reveal()))
        p { "Programs send it as " code { "Authorization: Bearer …" } " with each request." }
    };
    context.show_secret("Your new token", main, "/tokens")
}
