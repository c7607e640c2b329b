//! Form that issues API tokens.

use maud::{Markup, html};
use serde_json::json;

use super::components::{copyable_text, secret_field};
use super::form::{CheckboxGroup, Form, TextField, checkboxes};
use super::page_context::PageContext;
use super::password::{PASSWORD, check_password};
use super::response::{PageResult, PanelError, PanelResult};
use super::token as token_page;
use super::tokens::{LIKE, NO_LABEL, known_scopes, label, page_path};
use crate::scope::{Scope, Scopes};
use crate::token::{self, Expiry, IssueError, Lookup, PlainToken, TokenRecord, TokenRequest};

const ISSUE: &str = "Issue a token";

const REFUSED: &str = "The token was not issued";

const ALREADY_SUBMITTED: &str = "This form was already submitted. Its token was issued and shown once. If you have lost the token, revoke it and issue another.";

const OWNER: TextField = TextField::owner("Username of the token owner.");

const LABEL: TextField = TextField::text(
    "label",
    "Label",
    "A name for this token, for example the application that uses it. Optional.",
);

const SCOPES: CheckboxGroup = CheckboxGroup {
    name: "scopes",
    legend: "Scopes",
    hint: "Scopes restrict the token; they never extend its owner's permissions.",
};

const EXPIRY: TextField = TextField::text(
    "expires_in_days",
    "Expires in (days)",
    "A whole number of days from 1 to 36500. Leave empty for a token that never expires.",
)
.inputmode("numeric");

/// Name of the buttons that set the scopes.
const SCOPE_PRESET: &str = "scope_preset";

/// Values and texts of the buttons that set the scopes.
const SCOPE_PRESETS: [(&str, &str); 3] =
    [("read", "Read only"), ("agent", "Read only, for an agent"), ("all", "All scopes")];

/// Name of the buttons that set the expiry.
const EXPIRY_PRESET: &str = "expiry_preset";

/// Values and texts of the buttons that set the expiry. Values are numbers of days; other texts mean no expiry.
const EXPIRY_PRESETS: [(&str, &str); 5] =
    [("7", "7 days"), ("30", "30 days"), ("90", "90 days"), ("365", "1 year"), ("never", "Never")];

/// `GET /tokens/new`
pub(super) async fn show(context: &PageContext) -> PageResult {
    let form = issue_form(context, &first_form(context).await?).await?;
    context.show(ISSUE, form)
}

/// Returns the form as it is shown at first: empty, or with the owner, the label and the scopes of the token in the query.
async fn first_form(context: &PageContext) -> PanelResult<Form> {
    let Ok(lookup) = Lookup::parse(context.query.get(LIKE)) else {
        return Ok(Form::default());
    };
    let token = context.stores().tokens.find(&lookup).await?.ok_or(PanelError::NotFound)?;
    let scopes = known_scopes(context, &token).into_iter().map(str::to_owned);
    Ok(Form::with_values("scopes", scopes)
        .with("owner", context.name(&token.owner).await?)
        .with("label", token.label.clone()))
}

async fn issue_form(context: &PageContext, form: &Form) -> PanelResult<Markup> {
    let known = context.panel.environment.scopes();
    let scopes = known.iter().map(|scope| (scope.to_string(), scope.description()));
    let scope_presets = presets(context, SCOPE_PRESET, &SCOPE_PRESETS, "scopes");
    let expiry_presets = presets(context, EXPIRY_PRESET, &EXPIRY_PRESETS, "expires_in_days");
    Ok(html! {
        form.fields method="post" action=(context.url("/tokens/new")) {
            // The Enter key presses the first button of a form, which must not be a preset.
            button.visually-hidden type="submit" tabindex="-1" aria-hidden="true" { "Create token" }
            (context.csrf())
            (context.form_nonce()?)
            (context.owner_field(&OWNER, form).await?)
            (LABEL.render(form))
            (checkboxes(&SCOPES, scopes, form, scope_presets))
            (EXPIRY.render_with(form, expiry_presets))
            (PASSWORD.render(form))
            div.actions {
                button type="submit" { "Create token" }
                a href=(context.url("/tokens")) { "Cancel" }
            }
        }
    })
}

/// Renders buttons that set a field. They send the form. The browser shows the form again, scrolled to the field.
fn presets(context: &PageContext, name: &str, values: &[(&str, &str)], field: &str) -> Markup {
    let path = context.url(&format!("/tokens/new#{field}"));
    html! {
        div.presets {
            @for (value, text) in values {
                button.quiet type="submit" name=(name) value=(value) formaction=(path) { (text) }
            }
        }
    }
}

/// `POST /tokens/new`
pub(super) async fn submit(context: &PageContext, mut form: Form) -> PageResult {
    if apply_preset(context, &mut form) {
        return context.show(ISSUE, issue_form(context, &form).await?);
    }
    let work = |form| try_issue(context, form);
    context.run_once(form, ALREADY_SUBMITTED, "/tokens", work).await
}

/// Sets the field of the preset whose button was pressed. Returns `false` if it was another button.
fn apply_preset(context: &PageContext, form: &mut Form) -> bool {
    let scopes = context.panel.environment.scopes();
    let [scope_preset, days] = [SCOPE_PRESET, EXPIRY_PRESET].map(|name| form.get(name).to_owned());
    if !scope_preset.is_empty() {
        let is_chosen = |scope: &Scope| match scope_preset.as_str() {
            "read" => scope.is_read_only(),
            // An agent that reads texts of other members does not also read private messages. Opening one has an effect.
            "agent" => scope.is_read_only() && *scope != Scope::MESSAGES_READ,
            _ => true,
        };
        let chosen = scopes.iter().filter(is_chosen);
        form.set("scopes", chosen.map(|scope| scope.as_str()));
    } else if !days.is_empty() {
        let days = days.parse::<u32>().map(|days| days.to_string());
        form.set("expires_in_days", [days.unwrap_or_default().as_str()]);
    } else {
        return false;
    }
    true
}

async fn try_issue(context: &PageContext, mut form: Form) -> PageResult {
    if let Err(wait) = check_password(context, &mut form).await? {
        let form = issue_form(context, &form).await?;
        return Ok(context.locked(ISSUE, REFUSED, form, wait));
    }
    let owner = context.owner(&mut form).await?;
    let scopes = parse_scopes(&context.panel.environment.scopes(), &mut form)?;
    // Repeated values are joined to a text that is not a number.
    let days = form.all("expires_in_days").collect::<Vec<_>>().join(",");
    let expiry = Expiry::parse(&days).map_err(|error| form.add_error("expires_in_days", error));
    if let Err(error) = token::parse_label(form.get("label")) {
        add_error(&mut form, error)?;
    }
    let (Some(owner), Ok(expiry), false) = (owner, expiry, form.has_errors()) else {
        return show_invalid(context, &form).await;
    };
    // Loaded before the change: an error after it would hide the token.
    let owner_name = context.name(&owner).await?;
    let request = TokenRequest::new(&owner, &scopes)
        .owner_name(&owner_name)
        .label(form.get("label"))
        .expiry(expiry)
        .issuer(&context.actor);
    let panel = &context.panel;
    let random = &*panel.environment.random;
    let scopes = panel.environment.scopes();
    match token::issue_token(&*panel.stores.tokens, random, scopes, request, context.now).await {
        Ok((token, record)) => show_token(context, &token, &record, &owner_name),
        Err(error) => {
            add_error(&mut form, error)?;
            show_invalid(context, &form).await
        }
    }
}

fn parse_scopes(known: &Scopes, form: &mut Form) -> PanelResult<Vec<Scope>> {
    let mut scopes = Vec::new();
    let names: Vec<_> = form.all("scopes").map(str::to_owned).collect();
    for name in &names {
        match known.parse(name) {
            Ok(scope) => scopes.push(scope),
            Err(_) => form.add_error("scopes", format!("unknown scope {name:?}")),
        }
    }
    if names.is_empty() {
        add_error(form, IssueError::NoScopes)?;
    }
    Ok(scopes)
}

/// Adds an error to the field that caused it. Returns `Err` for a failure of the store, which no field caused.
fn add_error(form: &mut Form, error: IssueError) -> PanelResult<()> {
    match error {
        IssueError::Backend(error) => return Err(error.into()),
        IssueError::InvalidLabel => form.add_error("label", error),
        error => form.add_error("scopes", error),
    }
    Ok(())
}

async fn show_invalid(context: &PageContext, form: &Form) -> PageResult {
    Ok(context.invalid(ISSUE, REFUSED, issue_form(context, form).await?))
}

fn show_token(
    context: &PageContext,
    token: &PlainToken,
    record: &TokenRecord,
    owner: &str,
) -> PageResult {
    tracing::info!(lookup = %record.lookup, admin = %context.session.user_id, "token issued");
    let api_url = context.panel.settings.api_url.as_str();
    let reference_url = context.panel.settings.reference_url.as_str();
    let mcp_url = context.panel.settings.mcp_url.as_str();
    let token_text = token.expose_secret();
    let path = example_path(record).filter(|_| !api_url.is_empty());
    let command =
        path.map(|path| format!("curl -H 'Authorization: Bearer {token_text}' '{api_url}{path}'"));
    let main = html! {
        p.notice role="status" { "Token issued. Copy it now; it is not shown again." }
        (secret_field("token", "Token", token_text))
        p { "Send it in the header " code { "Authorization: Bearer …" } " of each request." }
        @if let Some(command) = &command { (copyable_text("command", "Example request", command)) }
        @if !mcp_url.is_empty() {
            (copyable_text("mcp", "Configuration of an MCP client", &mcp_configuration(mcp_url, token_text)))
        }
        @if !reference_url.is_empty() {
            p { "The " a href=(reference_url) { "API reference" } " describes all operations." }
        }
        section aria-labelledby="issued" {
            h2 id="issued" { "Properties" }
            (token_page::properties(context, record, owner))
            p { a href=(context.url(&page_path(record))) { "Page of this token" } }
        }
    };
    let title = format!("New token: {}", label(record).unwrap_or(NO_LABEL));
    context.show_secret(&title, main, "/tokens")
}

/// Returns the configuration that connects a client of the Model Context Protocol with the token.
fn mcp_configuration(url: &str, token: &str) -> String {
    let headers = json!({ "Authorization": format!("Bearer {token}") });
    let server = json!({ "type": "http", "url": url, "headers": headers });
    format!("{:#}", json!({ "mcpServers": { "forum": server } }))
}

/// Returns the path of an operation without required parameters that the scopes permit.
fn example_path(token: &TokenRecord) -> Option<&'static str> {
    let paths = [
        (Scope::MEMBERS_READ, "/me"),
        (Scope::FORUMS_READ, "/forums"),
        (Scope::MESSAGES_READ, "/messages"),
        (Scope::SUBSCRIPTIONS_READ, "/subscriptions"),
        (Scope::SEARCH_READ, "/search?q=hello"),
    ];
    let permitted = |scope: Scope| token.scopes.iter().any(|one| one == scope.as_str());
    let path = paths.into_iter().find(|(scope, _)| permitted(*scope));
    path.map(|(_, path)| path)
}
