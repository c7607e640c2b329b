//! Orders by age.

use std::collections::{HashMap, HashSet};

use forum_api::host::BoardResult;
use forum_api::model::{List, Page, PageKey, SearchFilter};

use super::filter::{Match, MatchCondition};
use super::scan::{Scan, ScanDirection};
use super::thread_span::ThreadSpan;
use super::work::Work;
use crate::board::db::Connection;

/// Maximum number of matches that are read at once if all threads of the previous ones are listed.
const MAX_ROWS: usize = 1000;

/// Returns a page of posts after a post.
pub async fn posts_page(
    connection: &Connection<'_>,
    filter: &MatchCondition,
    search: &List<SearchFilter>,
    direction: ScanDirection,
) -> BoardResult<Page<Match>> {
    let ahead = match search.after_ints()? {
        Some([post]) => direction.after(&filter.posts, post),
        None => filter.posts.clone(),
    };
    let mut scan = Scan { connection, filter, direction, work: Work::of_page() };
    let scanned = scan.matches(ahead, search.limit.get() + 1).await?;
    let mut page =
        Page::from_overfetch(scanned.matches, search.limit, |found| PageKey::from([found.post]));
    if let (None, Some(rest)) = (&page.next, scanned.rest) {
        page.next = Some(PageKey::from([direction.before(&rest)]));
    }
    Ok(page)
}

/// Returns a page of the first match of each thread. The position in the list is the next post, and the first hit of all
/// pages: the same post as long as there is no hit.
pub async fn threads_page(
    connection: &Connection<'_>,
    filter: &MatchCondition,
    search: &List<SearchFilter>,
    direction: ScanDirection,
) -> BoardResult<Page<Match>> {
    let limit = search.limit.get();
    let position: Option<[i64; 2]> = search.after_ints()?;
    let start = position.map_or(direction.start(&filter.posts), |[next, _]| next);
    let listed = position
        .map(|[next, first_hit]| direction.between(first_hit, next))
        .filter(|listed| !listed.is_empty());
    let mut scan = Scan { connection, filter, direction, work: Work::of_page() };
    let mut ahead = Some(direction.ahead(&filter.posts, start));
    let mut next = None;
    let mut hits: Vec<Match> = Vec::new();
    let mut visited = HashSet::new();
    let mut rows = limit + 1;
    while let Some(posts) = ahead.take().filter(|_| next.is_none()) {
        if scan.work.is_spent() {
            next = Some(direction.start(&posts));
            break;
        }
        let scanned = scan.matches(posts, rows).await?;
        ahead = scanned.rest;
        let is_first_scan = visited.is_empty();
        let mut new = scanned.matches;
        new.retain(|found| visited.insert(found.thread));
        rows = if new.is_empty() { MAX_ROWS.min(4 * rows) } else { rows };
        let threads = match listed {
            Some(_) => ThreadSpan::of_matches(connection, &new).await?,
            None => HashMap::new(),
        };
        for (place, found) in new.into_iter().enumerate() {
            // A page reads at least one match, also if the scan has spent the work.
            let is_first = is_first_scan && place == 0;
            if is_first && listed.is_some() {
                scan.work.extend();
            }
            let is_listed = match (&listed, threads.get(&found.thread)) {
                (Some(listed), Some(thread)) => scan.has_match(thread, listed).await?,
                _ => Some(false),
            };
            let is_full = hits.len() == limit && is_listed == Some(false);
            if is_full || is_listed.is_none() && !is_first {
                next = Some(found.post);
                break;
            }
            if is_listed != Some(true) {
                hits.push(found);
            }
        }
    }
    let first_hit = position
        .filter(|[next, first_hit]| next != first_hit)
        .map(|[_, first_hit]| first_hit)
        .or(hits.first().map(|hit| hit.post));
    let next = next.map(|next| PageKey::from([next, first_hit.unwrap_or(next)]));
    Ok(Page { items: hits, next })
}
