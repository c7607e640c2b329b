//! Order by relevance: the newest matches, best first.
//!
//! A part of the posts is ranked: the newest ones up to a number of matches, or up to the work for a page. All pages of a
//! part rank the same matches: later posts neither become matches nor displace one. If a part ended because of the work,
//! the older posts are the next part.

use std::cmp::Reverse;
use std::collections::HashSet;

use forum_api::host::BoardResult;
use forum_api::model::{List, Page, PageKey, SearchFilter, SearchShow};

use super::filter::{Match, MatchCondition};
use super::scan::{Scan, ScanDirection, Scanned};
use super::thread_span::ThreadSpan;
use super::work::Work;
use crate::board::db::Connection;

/// Position in the list.
#[derive(Clone, Copy, Debug)]
struct Position {
    /// Score and post of the last hit, or those just before the next match.
    score: i64,
    post: i64,
    /// First and last post of the ranked part.
    first: i64,
    last: i64,
    /// Last post of the first part with matches; the largest number if no part had one.
    newest: i64,
    /// Whether older posts are not ranked.
    is_final: bool,
}

impl Position {
    /// Returns the position before the best hit among the posts up to `last`.
    const fn start(filter: &MatchCondition, last: i64, newest: i64) -> Self {
        Self {
            score: i64::MAX,
            post: i64::MAX,
            first: *filter.posts.start(),
            last,
            newest,
            is_final: false,
        }
    }

    /// Returns whether an earlier page has ranked the part.
    const fn is_repeated(&self) -> bool {
        self.score != i64::MAX
    }

    /// Returns the ranked part after a scan.
    fn of_part(self, scanned: &Scanned, max_matches: usize) -> Self {
        if self.is_repeated() {
            return self;
        }
        let ends = scanned
            .matches
            .last()
            .zip(scanned.matches.first())
            .map(|(oldest, newest)| (oldest.post, newest.post));
        let (oldest, last) = ends.unwrap_or_default();
        let is_first = self.newest == i64::MAX && ends.is_some();
        let rest = scanned.rest.as_ref().filter(|_| scanned.matches.len() < max_matches);
        Self {
            first: rest.map_or(oldest, |rest| rest.end().saturating_add(1)),
            last,
            newest: if is_first { last } else { self.newest },
            is_final: rest.is_none(),
            ..self
        }
    }
}

impl From<[i64; 6]> for Position {
    fn from([score, post, first, last, newest, is_final]: [i64; 6]) -> Self {
        Self { score, post, first, last, newest, is_final: is_final != 0 }
    }
}

impl From<Position> for PageKey {
    fn from(position: Position) -> Self {
        let Position { score, post, first, last, newest, is_final } = position;
        Self::from([score, post, first, last, newest, i64::from(is_final)])
    }
}

pub async fn page(
    connection: &Connection<'_>,
    filter: &MatchCondition,
    search: &List<SearchFilter>,
    max_matches: usize,
) -> BoardResult<Page<Match>> {
    let start = || Position::start(filter, *filter.posts.end(), i64::MAX);
    let position = search.after_ints()?.map_or_else(start, Position::from);
    let is_repeated = position.is_repeated();
    let work = if is_repeated { Work::of_repeated_page() } else { Work::of_page() };
    let mut scan = Scan { connection, filter, direction: ScanDirection::Descending, work };
    let mut scanned = scan.matches(position.first..=position.last, max_matches).await?;
    // Reads more matches of a part that was ranked before, because posts may have been restored since then. A second
    // call reads the further matches, so that the first call does the same work as on the earlier page.
    if is_repeated
        && let Some(rest) = scanned.rest.take_if(|_| scanned.matches.len() == max_matches)
    {
        let others = scan.matches(rest, max_matches).await?;
        scanned.matches.extend(others.matches);
        scanned.rest = others.rest;
    }
    let part = position.of_part(&scanned, max_matches);
    let mut matches = scanned.matches;
    sort_by_score(&mut matches, search.filter.show);
    let after = (position.score, position.post);
    matches.retain(|found| (found.score, found.post) < after);
    let mut undecided = None;
    if search.filter.show == SearchShow::Threads && part.last < part.newest {
        let rows = search.limit.get() + 1;
        (matches, undecided) = without_listed(&mut scan, part, matches, rows, is_repeated).await?;
    }
    let mut page = Page::from_overfetch(matches, search.limit, |found| {
        Position { score: found.score, post: found.post, ..part }.into()
    });
    if let (None, Some(found)) = (&page.next, undecided) {
        // The next page begins with this match.
        let post = found.post.saturating_add(1);
        page.next = Some(Position { score: found.score, post, ..part }.into());
    }
    if page.next.is_none() && !part.is_final {
        let next = Position::start(filter, part.first.saturating_sub(1), part.newest);
        page.next = Some(next.into());
    }
    Ok(page)
}

/// Sorts the best first. If threads are shown, keeps only the best match of each.
fn sort_by_score(matches: &mut Vec<Match>, show: SearchShow) {
    matches.sort_unstable_by_key(|found| Reverse(*found));
    if show == SearchShow::Threads {
        let mut threads = HashSet::new();
        matches.retain(|found| threads.insert(found.thread));
    }
}

/// Returns the first `rows` matches whose threads have no match in an earlier part, and the match at which the work of the page
/// ended, if it did not suffice. A page of a part whose work was spent on the part has no match: a repeated page has more.
async fn without_listed(
    scan: &mut Scan<'_>,
    part: Position,
    matches: Vec<Match>,
    rows: usize,
    is_repeated: bool,
) -> BoardResult<(Vec<Match>, Option<Match>)> {
    let threads = ThreadSpan::of_matches(scan.connection, &matches).await?;
    let earlier = part.last.saturating_add(1)..=part.newest;
    let mut kept = Vec::new();
    for (place, found) in matches.into_iter().enumerate() {
        if kept.len() == rows {
            break;
        }
        let is_listed = match threads.get(&found.thread) {
            Some(thread) => scan.has_match(thread, &earlier).await?,
            None => Some(false),
        };
        // A repeated page passes at least one match.
        if is_listed.is_none() && !(is_repeated && place == 0) {
            return Ok((kept, Some(found)));
        }
        if is_listed != Some(true) {
            kept.push(found);
        }
    }
    Ok((kept, None))
}

#[cfg(test)]
mod tests {
    use super::{Match, Position, Scanned};

    /// The posts 40 to 100 were searched, or all.
    #[test]
    fn a_part_ends_with_its_last_searched_post_or_its_oldest_match() {
        let start = Position::from([i64::MAX, i64::MAX, 1, 100, i64::MAX, 0]);
        let found = [90, 60].map(|post| Match { score: 1, post, thread: 1 });
        for (matches, rest, max_matches, expected) in [
            (&found[..], Some(1..=39), 3, [40, 90, 90, 0]),
            (&[], Some(1..=39), 3, [40, 0, i64::MAX, 0]),
            (&found, Some(1..=39), 2, [60, 90, 90, 1]),
            (&found, None, 3, [60, 90, 90, 1]),
        ] {
            let scanned = Scanned { matches: matches.to_vec(), rest };
            let part = start.of_part(&scanned, max_matches);
            let Position { first, last, newest, is_final, .. } = part;
            assert_eq!([first, last, newest, i64::from(is_final)], expected, "{scanned:?}");
        }
    }
}
