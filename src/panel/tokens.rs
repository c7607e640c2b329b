//! Pages and actions of API tokens.

use std::collections::HashMap;
use std::time::Duration;

use http::StatusCode;
use maud::{Markup, html};

use super::components::{TableRow, badge, breakable, empty, next_page_link, secret_field, table};
use super::form::{Form, TextField, checkboxes};
use super::page_context::PageContext;
use super::password_throttle::PasswordThrottle;
use super::response::{PageResult, PanelError};
use crate::audit::AuditAction;
use crate::error_chain::ErrorChain;
use crate::model::{Timestamp, UserId};
use crate::scope::Scope;
use crate::store::TokenFilter;
use crate::token::{
    self, Expiry, IssueError, Lookup, PlainToken, TokenRecord, TokenRequest, TokenState,
};

/// Tokens per page.
const PAGE_SIZE: usize = 50;

const ISSUE: &str = "Issue a token";

const ALREADY_SUBMITTED: &str = "This form was already submitted. Its token was issued and shown once. If you have lost the token, revoke it and issue another.";

const OWNER: TextField = TextField::text("owner", "Owner", "Username of the token owner.");

const LABEL: TextField = TextField::text(
    "label",
    "Label",
    "A name for this token, for example the application that uses it. Optional.",
);

const SCOPES: (&str, &str, &str) = (
    "scopes",
    "Scopes",
    "Scopes restrict the token; they never extend its owner's permissions.",
);

const EXPIRY: TextField = TextField::text(
    "expires_in_days",
    "Expires in (days)",
    "A whole number of days. Leave empty for a token that never expires.",
)
.inputmode("numeric");

const PASSWORD: TextField = TextField::text(
    "password",
    "Your password",
    "Re-enter your password to confirm.",
)
.password("current-password");

/// `GET /tokens`
pub(super) async fn list(context: &PageContext) -> PageResult {
    let after = parse_position(context.query.get("after"));
    let store = &context.panel.stores.tokens;
    let filter = TokenFilter {
        after,
        limit: PAGE_SIZE as u32 + 1,
        ..TokenFilter::default()
    };
    let mut tokens = store.list(&filter, context.now).await?;
    let more = tokens.len() > PAGE_SIZE;
    tokens.truncate(PAGE_SIZE);
    let last = tokens.last().filter(|_| more);
    let owners = tokens.iter().map(|token| &token.owner);
    let names = context.names(owners).await?;
    let main = html! {
        p.lead {
            "An API token lets an application act on behalf of a member. It can never do more than its scopes and its owner's permissions allow."
        }
        p { a.button href=(context.url("/tokens/new")) { "Issue a token" } }
        @if tokens.is_empty() {
            (empty("There are no tokens yet.", html! {
                "Issue a token for a member. It is shown only once."
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

/// Formats the parameter `after` for the page after this token: creation time in milliseconds, a dot, and the lookup.
fn position(token: &TokenRecord) -> String {
    format!("{}.{}", token.created_at.as_millis(), token.lookup)
}

/// Parses a [`position`]. `None` for any other text; the first page is shown then.
fn parse_position(text: &str) -> Option<(Timestamp, Lookup)> {
    let (created_at, lookup) = text.split_once('.')?;
    let created_at = Timestamp::from_millis(created_at.parse().ok()?);
    Some((created_at, Lookup::parse(lookup).ok()?))
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

/// Returns the scopes of a token, or `all` if it has all scopes of the surface.
fn scopes(context: &PageContext, token: &TokenRecord) -> String {
    let mut known = context.panel.environment.surface.scopes();
    if known.all(|scope| token.scopes.iter().any(|one| one == scope.as_str())) {
        return "all".into();
    }
    token.scopes.join(", ")
}

/// `POST /tokens/{id}/revoke`
pub(super) async fn revoke(context: &PageContext) -> PageResult {
    let lookup = Lookup::parse(&context.id).map_err(|_| PanelError::NotFound)?;
    let store = &context.panel.stores.tokens;
    let audit = context.audit_entry(AuditAction::TOKEN_REVOKED, lookup)?;
    if !store.revoke(&lookup, context.now, &audit).await? {
        return Err(PanelError::NotFound);
    }
    tracing::info!(%lookup, admin = %context.session.user_id, "token revoked");
    context.redirect_with_flash("/tokens", "revoked")
}

/// `GET /tokens/new`
pub(super) async fn new(context: &PageContext) -> PageResult {
    let form = issue_form(context, &Form::default())?;
    context.show(ISSUE, form)
}

fn issue_form(context: &PageContext, form: &Form) -> Result<Markup, PanelError> {
    let scopes = context.panel.environment.surface.scopes();
    let scopes = scopes.map(|scope| (scope.to_string(), scope.description()));
    Ok(html! {
        form.fields method="post" action=(context.url("/tokens/new")) {
            (context.csrf())
            (context.form_nonce()?)
            (OWNER.render(form))
            (LABEL.render(form))
            (checkboxes(SCOPES, scopes, form))
            (EXPIRY.render(form))
            (PASSWORD.render(form))
            div.actions {
                button type="submit" { "Create token" }
                a href=(context.url("/tokens")) { "Cancel" }
            }
        }
    })
}

/// `POST /tokens/new`
pub(super) async fn issue(context: &PageContext, form: Form) -> PageResult {
    let work = |form| try_issue(context, form);
    context
        .run_once(form, ALREADY_SUBMITTED, "/tokens", work)
        .await
}

async fn try_issue(context: &PageContext, mut form: Form) -> PageResult {
    let (panel, member) = (&context.panel, &context.session.user_id);
    let throttle = PasswordThrottle(&*panel.stores.rate_limits);
    let slot = match throttle.begin(member, context.now).await? {
        Ok(slot) => slot,
        Err(wait) => return show_locked(context, &form, wait),
    };
    let (session, password) = (&context.session, form.get("password"));
    let is_correct = panel.admin_auth.verify_password(session, password).await;
    if let Ok(false) = is_correct {
        tracing::warn!(admin = %member, "token not issued: incorrect password");
        form.add_error("password", "Incorrect password.");
    } else if let Err(error) = throttle.release(&slot, context.now).await {
        tracing::error!(error = %ErrorChain(&error), "failed to reset password attempt");
    }
    is_correct?;
    let owner = context.owner(&mut form).await?;
    let scopes = parse_scopes(&mut form)?;
    // Repeated values are joined to a text that is not a number.
    let days = form.all("expires_in_days").collect::<Vec<_>>().join(",");
    let expiry = Expiry::parse(&days).map_err(|error| form.add_error("expires_in_days", error));
    if let Err(error) = token::check_label(form.get("label")) {
        add_error(&mut form, error)?;
    }
    let (Some(owner), Ok(expiry), false) = (owner, expiry, form.has_errors()) else {
        return show_invalid(context, &form);
    };
    let request = TokenRequest::new(&owner, &scopes);
    let request = request.label(form.get("label")).expiry(expiry);
    let request = request.issuer(&context.actor);
    let (random, surface) = (&*panel.environment.random, panel.environment.surface);
    match token::issue_token(&*panel.stores.tokens, random, surface, request, context.now).await {
        Ok((token, record)) => show_issued(context, &token, &record),
        Err(error) => {
            add_error(&mut form, error)?;
            show_invalid(context, &form)
        }
    }
}

fn parse_scopes(form: &mut Form) -> Result<Vec<Scope>, PanelError> {
    let mut scopes = Vec::new();
    let names: Vec<_> = form.all("scopes").map(str::to_owned).collect();
    for name in &names {
        match Scope::parse(name) {
            Ok(scope) => scopes.push(scope),
            Err(_) => form.add_error("scopes", format!("unknown scope {name:?}")),
        }
    }
    if names.is_empty() {
        add_error(form, IssueError::NoScopes)?;
    }
    Ok(scopes)
}

/// Adds an error to its field. Returns a failure of the store.
fn add_error(form: &mut Form, error: IssueError) -> Result<(), PanelError> {
    match error {
        IssueError::Backend(error) => return Err(error.into()),
        IssueError::InvalidLabel => form.add_error("label", error),
        error => form.add_error("scopes", error),
    }
    Ok(())
}

fn show_invalid(context: &PageContext, form: &Form) -> PageResult {
    let main = html! {
        p.alert role="alert" { "The token was not issued. Correct the fields marked below." }
        (issue_form(context, form)?)
    };
    Ok(context.render(StatusCode::UNPROCESSABLE_ENTITY, ISSUE, main))
}

fn show_locked(context: &PageContext, form: &Form, wait: Duration) -> PageResult {
    let minutes = wait.as_secs().div_ceil(60).max(1);
    let plural = if minutes == 1 { "" } else { "s" };
    let main = html! {
        p.alert role="alert" {
            "The token was not issued: too many incorrect passwords. Try again in "
            (minutes) " minute" (plural) "."
        }
        (issue_form(context, form)?)
    };
    let response = context.render(StatusCode::TOO_MANY_REQUESTS, ISSUE, main);
    Ok(response.retry_after(wait))
}

fn show_issued(context: &PageContext, token: &PlainToken, record: &TokenRecord) -> PageResult {
    tracing::info!(lookup = %record.lookup, admin = %context.session.user_id, "token issued");
    let main = html! {
        p.notice role="status" { "Token issued. Copy it now; it is not shown again." }
        (secret_field("token", "Token", token.expose_secret()))
        p { "Send it in the header " code { "Authorization: Bearer …" } " of each request." }
    };
    context.show_secret("Your new token", main, "/tokens")
}
