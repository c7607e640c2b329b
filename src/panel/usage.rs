//! Usage page, the first page of the panel: what needs attention, and the requests and deliveries of a period.

use maud::{Markup, html};

use super::api_usage::Requests;
use super::components::{breakable, number, utc_time};
use super::deliveries::quarantine_warning;
use super::delivery_usage::Deliveries;
use super::endpoints::FAILING;
use super::intervals::{Period, total};
use super::page_context::PageContext;
use super::response::{PageResult, PanelResult};
use super::tokens::EXPIRING_SOON;
use crate::store::{TokenFilter, TokenStateFilter, UsageCounts};
use crate::webhook::Endpoint;

/// Maximum number of tokens that are counted.
const MAX_TOKENS: u32 = 100;

/// Maximum number of failing endpoints that are listed.
const MAX_ENDPOINTS: usize = 5;

/// A number of the period, and the same number of the period before.
struct Figure {
    name: &'static str,
    /// Id of the section with the parts of the number.
    section: &'static str,
    count: u64,
    /// `None` if there is no data of the period before, or it is incomplete.
    before: Option<u64>,
}

/// `GET /usage`
pub(super) async fn show(context: &PageContext) -> PageResult {
    let period = Period::parse(context.query.get("period"));
    let requests = Requests::load(context, period).await?;
    let (endpoints, deliveries) = if context.has_webhooks() {
        let endpoints = context.webhooks()?.endpoints.list().await?;
        (endpoints, Some(Deliveries::load(context, period).await?))
    } else {
        (Vec::new(), None)
    };
    let now = total(&requests.intervals);
    let figure = |name, section, count: fn(&UsageCounts) -> u64| Figure {
        name,
        section,
        count: count(&now),
        before: requests.before.as_ref().map(count),
    };
    let mut figures = vec![
        figure("Requests", "requests", |counts| counts.requests),
        figure("Refusals (401, 403, 429)", "requests-by-token", UsageCounts::refused),
        figure("Other refusals (other 4xx)", "requests-by-operation", |counts| counts.rejected),
        figure("Errors (5xx)", "requests-by-operation", |counts| counts.errors),
    ];
    figures.extend(deliveries.as_ref().map(|deliveries| Figure {
        name: "Failed deliveries",
        section: "deliveries",
        count: deliveries.failed(),
        before: deliveries.failed_before,
    }));
    let utc = utc_time(context.now);
    let time = utc.split_once(' ').map_or("", |(_, time)| time);
    let main = html! {
        (attention(context, &endpoints).await?)
        nav.periods aria-label="Period" {
            @for one in &Period::ALL {
                @let is_current = one.value == period.value;
                a href={ (context.url("/usage")) "?period=" (one.value) } aria-current=[is_current.then_some("page")] { (one.name) }
            }
        }
        p.hint { "As of " time datetime=(context.now) title=(utc) { (time) } ". New requests appear within a minute." }
        dl.figures { @for figure in figures { (figure.render(period, now.requests > 0)) } }
        (requests.section(context, period).await?)
        @if let Some(deliveries) = &deliveries { (deliveries.section(context, period, &endpoints)) }
    };
    context.show("Usage", main)
}

impl Figure {
    /// Describes the difference to the period before.
    fn change(&self, period: &Period) -> String {
        let before = format!("than in the {} before", period.name);
        match self.before {
            None => "no data before".into(),
            Some(count) if self.count > count => {
                format!("{} more {before}", number(self.count - count))
            }
            Some(count) if self.count < count => {
                format!("{} fewer {before}", number(count - self.count))
            }
            Some(_) => "–".into(),
        }
    }

    /// Renders the number, with a link to its section if the page has API requests.
    fn render(&self, period: &Period, has_requests: bool) -> Markup {
        let count = number(self.count);
        html! {
            div {
                dt { (self.name) }
                dd {
                    strong {
                        @if has_requests || self.section == "deliveries" { a href={ "#" (self.section) } { (count) } } @else { (count) }
                    }
                    small { (self.change(period)) }
                }
            }
        }
    }
}

/// Renders failing endpoints, tokens that expire soon, and unreadable events.
async fn attention(context: &PageContext, endpoints: &[Endpoint]) -> PanelResult<Markup> {
    let failing: Vec<_> = endpoints.iter().filter(|one| one.failing_since.is_some()).collect();
    let filter = TokenFilter {
        states: TokenStateFilter::ExpiringSoon,
        limit: MAX_TOKENS,
        ..TokenFilter::default()
    };
    let expiring = context.stores().tokens.list(&filter, context.now).await?;
    let tokens = expiring.len();
    let is_capped = expiring.len() >= MAX_TOKENS as usize;
    Ok(html! {
        @if failing.is_empty() {
            @if !endpoints.is_empty() { p.notice { "No endpoint fails." } }
        } @else {
            div.alert {
                p { (counted(failing.len(), "endpoint fails", "endpoints fail")) ":" }
                ul.parts {
                    @for endpoint in failing.iter().take(MAX_ENDPOINTS) {
                        li { a href=(context.url(&format!("/webhooks/{}", endpoint.id))) { (breakable(&endpoint.url)) } }
                    }
                }
                @if failing.len() > MAX_ENDPOINTS {
                    p { a href={ (context.url("/webhooks")) "?state=" (FAILING) } { "All failing endpoints" } }
                }
            }
        }
        @if tokens > 0 {
            p.notice.waiting {
                a href={ (context.url("/tokens")) "?state=" (EXPIRING_SOON) } {
                    (counted(tokens, "token expires", "tokens expire")) @if is_capped { " or more" }
                }
                " within 7 days."
            }
        }
        @if context.has_webhooks() { (quarantine_warning(context).await?) }
    })
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
