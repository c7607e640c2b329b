//! Order by relevance: the newest matches, best first.
//!
//! All pages of a search rank the same matches: later posts neither become matches nor displace one.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::ops::RangeInclusive;

use forum_api::host::BoardResult;
use forum_api::model::{List, Page, PageKey, SearchFilter, SearchShow};

use super::filter::MatchCondition;
use super::scan::{Match, ScanDirection};
use crate::board::db::Connection;

/// Score and post of the last hit of a page.
type ScoreAndPost = (i64, i64);

pub async fn page(
    connection: &Connection<'_>,
    filter: &MatchCondition,
    search: &List<SearchFilter>,
    max_matches: i64,
) -> BoardResult<Page<Match>> {
    let (after, posts, rows): (Option<ScoreAndPost>, _, _) = match search.after_ints()? {
        None => (None, filter.posts.clone(), max_matches),
        // Reads more matches, because posts may have been restored since the first page.
        Some([score, post, first, last]) => (Some((score, post)), first..=last, 2 * max_matches),
    };
    let mut matches = ScanDirection::Descending.matches(connection, filter, &posts, rows).await?;
    let span = match after {
        None => post_range(&matches),
        Some(_) => posts,
    };
    sort_by_score(&mut matches, search.filter.show);
    matches.retain(|found| after.is_none_or(|after| (found.score, found.post) < after));
    let first = span.start();
    let last = span.end();
    Ok(Page::from_overfetch(matches, search.limit, |found| {
        PageKey::from([found.score, found.post, *first, *last])
    }))
}

/// Returns the range of the `matches`, which are newest first.
fn post_range(matches: &[Match]) -> RangeInclusive<i64> {
    let ends = matches.last().zip(matches.first());
    ends.map_or(0..=0, |(oldest, newest)| oldest.post..=newest.post)
}

/// Sorts the best first. If threads are shown, keeps only the best match of each.
fn sort_by_score(matches: &mut Vec<Match>, show: SearchShow) {
    matches.sort_unstable_by_key(|found| Reverse(*found));
    if show == SearchShow::Threads {
        let mut threads = HashSet::new();
        matches.retain(|found| threads.insert(found.thread));
    }
}
