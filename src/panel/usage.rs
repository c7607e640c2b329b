//! Usage page, the first page of the panel: what needs attention, and the requests and deliveries of a period.

use maud::{Markup, html};

use super::api_usage::Requests;
use super::components::{counted, utc_time};
#[cfg(feature = "webhooks")]
use super::deliveries::quarantine_warning;
#[cfg(feature = "webhooks")]
use super::delivery_usage::Deliveries;
use super::figure::Figure;
use super::intervals::{Period, total};
use super::page_context::PageContext;
use super::response::{PageResult, PanelResult};
use super::tokens::EXPIRING_SOON;
use crate::store::{TokenFilter, TokenStateFilter, UsageCounts};

/// Maximum number of tokens that are counted.
const MAX_TOKENS: u32 = 100;

/// The parts of the page, each in the order of the page.
#[derive(Default)]
struct Parts {
    /// What needs attention.
    attention: Vec<Markup>,
    figures: Vec<Figure>,
    sections: Vec<Markup>,
}

/// `GET /usage`
pub(super) async fn show(context: &PageContext) -> PageResult {
    let period = Period::parse(context.query.get("period"));
    let requests = Requests::load(context, period).await?;
    let now = total(&requests.intervals);
    let figure = |name, section, count: fn(&UsageCounts) -> u64| Figure {
        name,
        section,
        count: count(&now),
        before: requests.before.as_ref().map(count),
    };
    let mut parts = Parts::default();
    parts.attention.push(expiring_tokens(context).await?);
    parts.figures.extend([
        figure("Requests", "requests", |counts| counts.requests),
        figure("Refusals (401, 403, 429)", "requests-by-token", UsageCounts::refused),
        figure("Other refusals (other 4xx)", "requests-by-operation", |counts| counts.rejected),
        figure("Errors (5xx)", "requests-by-operation", |counts| counts.errors),
    ]);
    parts.sections.push(requests.section(context, period).await?);
    #[cfg(feature = "webhooks")]
    if context.has_webhooks() {
        let deliveries = Deliveries::load(context, period).await?;
        parts.attention.insert(0, deliveries.failing_endpoints(context));
        parts.attention.push(quarantine_warning(context).await?);
        parts.figures.push(deliveries.failed());
        parts.sections.push(deliveries.section(context, period));
    }
    let utc = utc_time(context.now);
    let time = utc.split_once(' ').map_or("", |(_, time)| time);
    let main = html! {
        @for one in parts.attention { (one) }
        nav.periods aria-label="Period" {
            @for one in &Period::ALL {
                @let is_current = one.value == period.value;
                a href={ (context.url("/usage")) "?period=" (one.value) } aria-current=[is_current.then_some("page")] { (one.name) }
            }
        }
        p.hint { "As of " time datetime=(context.now) title=(utc) { (time) } ". New requests appear within a minute." }
        dl.figures { @for figure in parts.figures { (figure.render(period, now.requests > 0)) } }
        @for section in parts.sections { (section) }
    };
    context.show("Usage", main)
}

/// Renders the number of tokens that expire soon.
async fn expiring_tokens(context: &PageContext) -> PanelResult<Markup> {
    let filter = TokenFilter {
        states: TokenStateFilter::ExpiringSoon,
        limit: MAX_TOKENS,
        ..TokenFilter::default()
    };
    let expiring = context.stores().tokens.list(&filter, context.now).await?;
    let tokens = expiring.len();
    let text = if tokens >= MAX_TOKENS as usize {
        format!("{tokens} or more tokens expire")
    } else {
        counted(tokens, "token expires", "tokens expire")
    };
    Ok(html! {
        @if tokens > 0 {
            p.notice.waiting {
                a href={ (context.url("/tokens")) "?state=" (EXPIRING_SOON) } { (text) }
                " within 7 days."
            }
        }
    })
}
