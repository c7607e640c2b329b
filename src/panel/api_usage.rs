//! API requests on the usage page, by interval, operation and token.

use maud::{Markup, html};

use super::chart::ColumnChart;
use super::components::{TableRow, breakable, empty, number, number_table, plural, utc_time};
use super::intervals::{Interval, Period, intervals, total};
use super::page_context::PageContext;
use super::response::PanelResult;
use super::tokens::{NO_LABEL, label, page_path};
use crate::model::Timestamp;
use crate::store::{TokenUsage, UsageCounts};
use crate::task::join_all;
use crate::token::{Lookup, TokenRecord};

/// Number of tokens on the page. The page shows the tokens with the most requests.
const TOP_TOKENS: u32 = 20;

/// Classes and names of the requests in the chart by hour.
const REQUEST_SERIES: [(&str, &str); 4] = [
    ("completed", "completed or canceled by the client"),
    ("refused", "refused (401, 403, 429)"),
    ("rejected", "refused with another 4xx"),
    ("failed", "failed (5xx)"),
];

/// Requests of a period.
pub(super) struct Requests {
    /// The intervals of the period, which begin at full hours or days in UTC.
    pub(super) intervals: Vec<Interval<UsageCounts>>,
    /// Requests of the period before; `None` if there were none, or the stores have removed a part of them.
    pub(super) before: Option<UsageCounts>,
}

impl Requests {
    pub(super) async fn load(context: &PageContext, period: &Period) -> PanelResult<Self> {
        let since = period.since(context.now);
        let before = since.saturating_sub(period.length());
        let is_kept = period.length().saturating_mul(2) <= TokenUsage::RETENTION;
        let usage = &context.stores().usage;
        let hours = usage.token_usage_by_hour(if is_kept { before } else { since }, None).await?;
        let (earlier, hours): (Vec<_>, Vec<_>) =
            hours.into_iter().partition(|(hour, _)| *hour < since);
        Ok(Self {
            intervals: intervals(hours.into_iter(), context.now, period.interval, period.intervals),
            before: Some(total(&earlier)).filter(|before| is_kept && before.requests > 0),
        })
    }

    /// Renders the chart and the tables of operations and tokens.
    pub(super) async fn section(
        &self,
        context: &PageContext,
        period: &Period,
    ) -> PanelResult<Markup> {
        let name = period.name;
        if total(&self.intervals).requests == 0 {
            let hint = html! { "New requests appear here within a minute." };
            return Ok(empty(&format!("No API requests in the last {name}."), hint));
        }
        let usage = &context.stores().usage;
        let since = period.since(context.now);
        let by_operation = usage.usage_by_operation(since).await?;
        let operations = by_operation
            .iter()
            .map(|(id, counts)| usage_row("Operation", operation_name(context, id), counts));
        let most_used = usage.most_used_tokens(since, TOP_TOKENS).await?;
        let tokens = token_rows(context, &most_used).await?;
        let latest_first = self.intervals.iter().rev();
        let rows =
            latest_first.map(|(start, counts)| usage_row("From", hour_label(*start), counts));
        let (in_period, ends) = (format!(" in {name}:"), ends(&self.intervals));
        let chart = requests_chart(&self.intervals, &in_period, "busiest interval", ends);
        Ok(html! {
            section aria-labelledby="requests" {
                h2 id="requests" { "API requests" }
                (chart)
                details.data {
                    summary { "API request counts by interval" }
                    (number_table(rows))
                }
            }
            section aria-labelledby="requests-by-operation" {
                h2 id="requests-by-operation" { "API requests by operation" }
                (number_table(operations))
            }
            section aria-labelledby="requests-by-token" {
                h2 id="requests-by-token" { "API requests by token" }
                p { "The " (TOP_TOKENS) " tokens with the most requests. Requests without a token, or with an unknown one, count as requests of guests." }
                (number_table(tokens))
                p { a href=(context.url("/tokens")) { "All tokens" } }
            }
        })
    }
}

/// Renders the chart of requests by interval. In the description of the chart, `period` follows the number of requests,
/// and `busiest` is the name of the interval with the most requests.
pub(super) fn requests_chart(
    intervals: &[Interval<UsageCounts>],
    period: &str,
    busiest: &str,
    [from, to]: [Markup; 2],
) -> Markup {
    let columns: Vec<_> = intervals
        .iter()
        .map(|(_, counts)| {
            let refused = counts.refused();
            let others = refused + counts.rejected + counts.errors;
            let completed = counts.requests.saturating_sub(others);
            [completed, refused, counts.rejected, counts.errors]
        })
        .collect();
    let sum = total(intervals);
    let noun = plural(sum.requests, "request");
    let [requests, refused, rejected, failed] =
        [sum.requests, sum.refused(), sum.rejected, sum.errors].map(number);
    let totals = intervals.iter().map(|(_, counts)| counts.requests);
    let most = totals.max().unwrap_or_default();
    let chart = ColumnChart {
        series: REQUEST_SERIES,
        columns: &columns,
        summary: format!(
            "{requests} {noun}{period} {refused} refused, {rejected} with another 4xx, {failed} failed · {busiest}: {}",
            number(most)
        ),
        from,
        to,
    };
    chart.render()
}

/// Returns the labels of the first and the last interval.
fn ends(intervals: &[Interval<UsageCounts>]) -> [Markup; 2] {
    let label = |one: Option<&Interval<_>>| html! { @if let Some((start, _)) = one { (hour_label(*start)) } };
    [label(intervals.first()), label(intervals.last())]
}

/// Renders the beginning of an hour in UTC, without seconds. The script shows the local time instead.
pub(super) fn hour_label(hour: Timestamp) -> Markup {
    let utc = utc_time(hour);
    html! { time datetime=(hour) title=(utc) { (utc.replace(":00:00", ":00")) } }
}

pub(super) fn usage_row(column: &'static str, label: Markup, counts: &UsageCounts) -> TableRow {
    let count = |count: u64| html! { (number(count)) };
    vec![
        (column, label),
        ("Requests", count(counts.requests)),
        ("Units", count(counts.units)),
        ("401", count(counts.unauthenticated)),
        ("403", count(counts.forbidden)),
        ("429", count(counts.rate_limited)),
        ("Other 4xx", count(counts.rejected)),
        ("5xx", count(counts.errors)),
    ]
}

fn operation_name(context: &PageContext, id: &Option<String>) -> Markup {
    let reference = &context.panel.settings.reference_url;
    html! {
        @match id {
            Some(id) if reference.is_empty() => code { (id) },
            Some(id) => a href={ (reference) "#" (id) } { code { (id) } },
            None => { "Other paths " small { "OpenAPI document, MCP messages, unknown paths" } }
        }
    }
}

async fn token_rows(
    context: &PageContext,
    tokens: &[(Option<Lookup>, UsageCounts)],
) -> PanelResult<Vec<TableRow>> {
    let loads = tokens.iter().map(async |(lookup, _)| match lookup {
        Some(lookup) => context.stores().tokens.find(lookup).await,
        None => Ok(None),
    });
    let records: Vec<_> = join_all(loads).await.into_iter().collect::<Result<_, _>>()?;
    let owners = records.iter().flatten().map(|record| &record.owner);
    let names = context.names(owners).await?;
    let rows = tokens.iter().zip(&records).map(|((lookup, counts), record)| {
        let name = match lookup {
            Some(lookup) => token_name(context, lookup, record.as_ref()),
            None => html! { "Guests" },
        };
        let owner = record.as_ref().and_then(|record| names.get(&record.owner));
        let mut row = usage_row("Token", name, counts);
        row.insert(1, ("Owner", breakable(owner.map_or("–", String::as_str))));
        row
    });
    Ok(rows.collect())
}

fn token_name(context: &PageContext, lookup: &Lookup, record: Option<&TokenRecord>) -> Markup {
    html! {
        @match record {
            Some(token) => a href=(context.url(&page_path(token))) { (breakable(label(token).unwrap_or(NO_LABEL))) },
            None => "(deleted)",
        }
        " " small { code { (lookup) } }
    }
}
