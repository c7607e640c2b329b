//! List of API tokens.

use std::collections::HashMap;

use maud::{Markup, html};

use super::components::{
    TableRow, badge, breakable, choice, empty, filter_field, next_page_link, parse_position,
    position, query_string, table,
};
use super::page_context::PageContext;
use super::response::{PageResult, PanelError};
use crate::model::UserId;
use crate::store::{TokenFilter, TokenSearch, TokenStateFilter};
use crate::token::{Lookup, TokenRecord, TokenState};

/// Tokens per page.
const PAGE_SIZE: usize = 50;

/// Fields of the filter.
const FIELDS: [&str; 3] = ["search", "owner", "state"];

/// Value of the field `state` for valid tokens that expire soon.
pub(super) const EXPIRING_SOON: &str = "expiring";

/// Values of the field `state` with their texts. Without a value, revoked tokens are hidden.
const STATES: [(&str, &str, TokenStateFilter); 5] = [
    ("valid", "Valid", TokenStateFilter::Only(TokenState::Valid)),
    (
        EXPIRING_SOON,
        "Expires within 7 days",
        TokenStateFilter::ExpiringSoon,
    ),
    (
        "expired",
        "Expired",
        TokenStateFilter::Only(TokenState::Expired),
    ),
    (
        "revoked",
        "Revoked",
        TokenStateFilter::Only(TokenState::Revoked),
    ),
    ("all", "All", TokenStateFilter::Any),
];

/// `GET /tokens`
pub(super) async fn list(context: &PageContext) -> PageResult {
    let store = &context.panel.stores.tokens;
    let mut tokens = match parse_filter(context).await? {
        Some(filter) => store.list(&filter, context.now).await?,
        None => Vec::new(),
    };
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
        (filter_form(context))
        @if tokens.is_empty() {
            (no_tokens(context).await?)
        } @else {
            (table(tokens.iter().map(|token| row(context, token, &names))))
        }
        @if let Some(last) = last {
            (next_page_link("Older tokens", &context.url(&next_page(context, last))))
        }
    };
    context.show("API tokens", main)
}

/// Returns the value of a field of the filter, without surrounding blanks.
fn field<'a>(context: &'a PageContext, name: &str) -> &'a str {
    context.query.get(name).trim()
}

/// Parses the filter of the query; `None` if no token can match it, because no member has the name of the owner. Ignores an
/// invalid state or position.
async fn parse_filter(context: &PageContext) -> Result<Option<TokenFilter>, PanelError> {
    let state = state_option(context);
    let mut filter = TokenFilter {
        states: state.map_or(TokenStateFilter::NotRevoked, |(.., states)| *states),
        after: parse_position(context.query.get("after"), Lookup::parse),
        limit: PAGE_SIZE as u32 + 1,
        ..TokenFilter::default()
    };
    let owner = field(context, "owner");
    if !owner.is_empty() {
        filter.owner = context.panel.admin_auth.user_id_by_name(owner).await?;
        if filter.owner.is_none() {
            return Ok(None);
        }
    }
    let text = field(context, "search");
    if !text.is_empty() {
        filter.search = Some(TokenSearch {
            text: text.into(),
            owner: context.panel.admin_auth.user_id_by_name(text).await?,
        });
    }
    Ok(Some(filter))
}

/// Returns the chosen state; `None` if it is missing or invalid.
fn state_option(
    context: &PageContext,
) -> Option<&'static (&'static str, &'static str, TokenStateFilter)> {
    let chosen = field(context, "state");
    STATES.iter().find(|(value, ..)| *value == chosen)
}

fn filter_form(context: &PageContext) -> Markup {
    let chosen = state_option(context).map_or("", |(value, ..)| value);
    let states = STATES
        .iter()
        .map(|(value, text, _)| (value.to_string(), text.to_string()));
    html! {
        form.filter method="get" action=(context.url("/tokens")) role="search" aria-label="API tokens" {
            (filter_field("search", "Label, lookup or owner", field(context, "search")))
            (filter_field("owner", "Owner", field(context, "owner")))
            (choice("state", "State", "Not revoked", states, chosen))
            button.quiet type="submit" { "Filter" }
        }
    }
}

/// Returns the path of the page after this token.
fn next_page(context: &PageContext, last: &TokenRecord) -> String {
    let filter = query_string(FIELDS.map(|name| (name, field(context, name))));
    format!(
        "/tokens?{filter}&after={}",
        position(last.created_at, &last.lookup)
    )
}

async fn no_tokens(context: &PageContext) -> Result<Markup, PanelError> {
    let link = |path, text| html! { a href=(context.url(path)) { (text) } "." };
    let mut fields = FIELDS.iter().chain(&["after"]);
    if fields.any(|name| !field(context, name).is_empty()) {
        let all = link("/tokens", "Remove the filters");
        return Ok(empty("No tokens match these filters.", all));
    }
    let any = TokenFilter {
        limit: 1,
        ..TokenFilter::default()
    };
    let any = context.panel.stores.tokens.list(&any, context.now).await?;
    if !any.is_empty() {
        let revoked = link("/tokens?state=revoked", "Show revoked tokens");
        return Ok(empty("All tokens are revoked.", revoked));
    }
    let next = html! { "Issue a token for a member. It is shown only once." };
    Ok(empty("There are no tokens yet.", next))
}

fn row(context: &PageContext, token: &TokenRecord, names: &HashMap<&UserId, String>) -> TableRow {
    let state = token.state(context.now);
    let owner = names.get(&token.owner).map_or("", String::as_str);
    let (label, page) = (label(token), page_path(token));
    let revoke = html! {
        a.button.danger href=(context.url(&format!("{page}/revoke"))) {
            "Revoke" span.visually-hidden { " " (label.unwrap_or(token.lookup.as_str())) }
        }
    };
    vec![
        (
            "Token",
            html! {
                a href=(context.url(&page)) { strong { (breakable(label.unwrap_or(NO_LABEL))) } }
                code { (token.lookup) }
            },
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
        ("", html! { @if state != TokenState::Revoked { (revoke) } }),
    ]
}

/// Text for a token without a label.
pub(super) const NO_LABEL: &str = "No label";

/// Returns the label of a token; `None` if it is blank.
pub(super) fn label(token: &TokenRecord) -> Option<&str> {
    Some(token.label.as_str()).filter(|label| !label.trim().is_empty())
}

/// Returns the path of the page of a token.
pub(super) fn page_path(token: &TokenRecord) -> String {
    format!("/tokens/{}", token.lookup)
}

/// Returns the scopes of a token that the API has, or `all` if these are all scopes of the API.
fn scopes(context: &PageContext, token: &TokenRecord) -> String {
    let known = context.panel.environment.scopes();
    if known
        .iter()
        .all(|scope| token.scopes.iter().any(|one| one == scope.as_str()))
    {
        return "all".into();
    }
    known_scopes(context, token).join(", ")
}

/// Returns the scopes of a token without those that the API does not have.
pub(super) fn known_scopes<'a>(context: &PageContext, token: &'a TokenRecord) -> Vec<&'a str> {
    let known = context.panel.environment.scopes();
    let scopes = token.scopes.iter().map(String::as_str);
    scopes.filter(|scope| known.parse(scope).is_ok()).collect()
}
