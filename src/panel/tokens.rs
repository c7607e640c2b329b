//! List of API tokens.

use std::collections::HashMap;

use maud::{Markup, html};

use super::components::{
    TableRow, badge, breakable, empty, folded_names, parse_position, position, table,
};
use super::filter::ListFilter;
use super::page_context::PageContext;
use super::response::{PageResult, PanelResult};
use crate::model::{Timestamp, UserId};
use crate::store::TokenStateFilter::{self, Any, ExpiringSoon, NotRevoked, Only};
use crate::store::{TokenFilter, TokenSearch};
use crate::token::{Lookup, TokenRecord, TokenState};

/// Tokens per page.
const PAGE_SIZE: usize = 50;

/// Value of the field `state` for valid tokens that expire soon.
pub(super) const EXPIRING_SOON: &str = "expiring";

/// Values of the field `state` with their texts. Without a value, revoked tokens are hidden.
const STATES: [(&str, &str, TokenStateFilter); 5] = [
    ("valid", "Valid", Only(TokenState::Valid)),
    (EXPIRING_SOON, "Expires within 7 days", ExpiringSoon),
    ("expired", "Expired", Only(TokenState::Expired)),
    ("revoked", "Revoked", Only(TokenState::Revoked)),
    ("all", "All", Any),
];

/// `GET /tokens`
pub(super) async fn list(context: &PageContext) -> PageResult {
    let store = &context.stores().tokens;
    let mut fields = ListFilter::new(context, "/tokens", &["search", "owner", "state"]);
    let state = STATES.iter().find(|(value, ..)| *value == fields.get("state"));
    fields.set("state", state.map_or("", |(value, ..)| value).into());
    let states = state.map_or(NotRevoked, |(.., states)| *states);
    let mut tokens = match parse_filter(context, &fields, states).await? {
        Some(filter) => store.list(&filter, context.now).await?,
        None => Vec::new(),
    };
    let more = tokens.len() > PAGE_SIZE;
    tokens.truncate(PAGE_SIZE);
    let last = tokens.last().filter(|_| more);
    let owners = tokens.iter().map(|token| &token.owner);
    let names = context.names(owners).await?;
    let states = STATES.iter().map(|(value, text, _)| (value.to_string(), text.to_string()));
    let controls = html! {
        (fields.text_field("search", "Search", &[]))
        (fields.text_field("owner", "Owner", &[]))
        (fields.choice("state", "State", "Not revoked", states))
    };
    let main = html! {
        p.lead {
            "An API token lets an application act on behalf of a member. It can never do more than its scopes and its owner's permissions allow."
        }
        p { a.button href=(context.url("/tokens/new")) { "Issue a token" } }
        (fields.form("API tokens", "", controls))
        @if tokens.is_empty() {
            (no_tokens(context, &fields).await?)
        } @else {
            (table(tokens.iter().map(|token| row(context, token, &names))))
        }
        @if let Some(last) = last {
            (fields.next_page("Older tokens", &position(last.created_at, &last.lookup)))
        }
    };
    context.show("API tokens", main)
}

/// Parses the filter; `None` if no token can match it, because no member has the name of the owner. Ignores an invalid
/// position.
async fn parse_filter(
    context: &PageContext,
    fields: &ListFilter<'_>,
    states: TokenStateFilter,
) -> PanelResult<Option<TokenFilter>> {
    let mut filter = TokenFilter {
        states,
        after: parse_position(context.query.get("after"), Lookup::parse),
        limit: PAGE_SIZE as u32 + 1,
        ..TokenFilter::default()
    };
    let owner = fields.get("owner");
    let text = fields.get("search");
    if !owner.is_empty() {
        filter.owner = context.panel.admin_auth.user_id_by_name(owner).await?;
        if filter.owner.is_none() {
            return Ok(None);
        }
    }
    if !text.is_empty() {
        filter.search = Some(TokenSearch {
            text: text.into(),
            owner: context.panel.admin_auth.user_id_by_name(text).await?,
        });
    }
    Ok(Some(filter))
}

async fn no_tokens(context: &PageContext, fields: &ListFilter<'_>) -> PanelResult<Markup> {
    if let Some(no_matches) = fields.no_matches("No tokens match these filters.") {
        return Ok(no_matches);
    }
    let filter = TokenFilter { limit: 1, ..TokenFilter::default() };
    let any = context.stores().tokens.list(&filter, context.now).await?;
    if !any.is_empty() {
        let path = context.url("/tokens?state=revoked");
        let revoked = html! { a href=(path) { "Show revoked tokens" } "." };
        return Ok(empty("All tokens are revoked.", revoked));
    }
    let next = html! { "Issue a token for a member. It is shown only once." };
    Ok(empty("There are no tokens yet.", next))
}

fn row(context: &PageContext, token: &TokenRecord, names: &HashMap<&UserId, String>) -> TableRow {
    let state = token.state(context.now);
    let owner = names.get(&token.owner).map_or("", String::as_str);
    let label = label(token);
    let page = page_path(token);
    let revoke = html! {
        a.quiet href=(context.url(&format!("{page}/revoke"))) {
            "Revoke" span.visually-hidden { " " (label.unwrap_or(token.lookup.as_str())) }
        }
    };
    vec![
        (
            "Token",
            html! {
                a href=(context.url(&page)) { strong { (breakable(label.unwrap_or(NO_LABEL))) } }
                " " code { (token.lookup) }
            },
        ),
        ("Owner", breakable(owner)),
        ("Scopes", folded_names(&scopes(context, token), "scopes")),
        ("Created", context.relative_time(token.created_at)),
        ("Expires", or_never(context, token.expires_at)),
        ("Last used", or_never(context, token.last_used_at)),
        ("State", badge(state.as_str())),
        ("", html! { @if state != TokenState::Revoked { (revoke) } }),
    ]
}

fn or_never(context: &PageContext, at: Option<Timestamp>) -> Markup {
    at.map_or_else(|| html! { "never" }, |at| context.relative_time(at))
}

/// Query parameter with the lookup of the token whose properties the form shows.
pub(super) const LIKE: &str = "like";

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

/// Returns the scopes of a token that the API has, or `all scopes`.
fn scopes<'a>(context: &PageContext, token: &'a TokenRecord) -> Vec<&'a str> {
    let known = context.panel.environment.scopes();
    if known.iter().all(|scope| token.scopes.iter().any(|one| one == scope.as_str())) {
        return vec!["all scopes"];
    }
    known_scopes(context, token)
}

/// Returns the scopes of a token without those that the API does not have.
pub(super) fn known_scopes<'a>(context: &PageContext, token: &'a TokenRecord) -> Vec<&'a str> {
    let known = context.panel.environment.scopes();
    let scopes = token.scopes.iter().map(String::as_str);
    scopes.filter(|scope| known.parse(scope).is_ok()).collect()
}
