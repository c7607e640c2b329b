//! Order by relevance: the newest matches, best first.
//!
//! All pages of a search rank the same matches: later posts neither become matches nor displace one.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use forum_api::host::BoardResult;
use forum_api::model::{List, Page, PageKey, SearchFilter, SearchShow};

use super::filter::MatchCondition;
use super::hits;
use super::hits::TermMatcher;
use super::scan::ScanDirection;
use crate::board::db::{self, Connection, RowReader, bind};
use crate::board::settings::MAX_RANKED_MATCHES;

/// A match, ordered by score and age.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ranked {
    score: i64,
    post: i64,
    thread: i64,
}

/// Score and post of the last hit of a page.
type ScoreAndPost = (i64, i64);

pub async fn page(
    connection: &Connection<'_>,
    filter: &MatchCondition,
    search: &List<SearchFilter>,
) -> BoardResult<Page<i64>> {
    let max_matches = MAX_RANKED_MATCHES.get(connection).await?.into();
    let (after, posts, rows): (Option<ScoreAndPost>, _, _) = match search.after_ints()? {
        None => (None, filter.posts.clone(), max_matches),
        // Reads more matches, because posts may have been restored since the first page.
        Some([score, post, first, last]) => (Some((score, post)), first..=last, 2 * max_matches),
    };
    let found = ScanDirection::Descending
        .posts(connection, filter, &posts, rows)
        .await?;
    let span = match after {
        None => post_range(&found),
        Some(_) => posts,
    };
    let mut matches = load_scores(connection, &found, search).await?;
    sort_by_score(&mut matches, search.filter.show);
    matches.retain(|found| after.is_none_or(|after| (found.score, found.post) < after));
    let (first, last) = (span.start(), span.end());
    let page = Page::from_overfetch(matches, search.limit, |Ranked { score, post, .. }| {
        PageKey::from([*score, *post, *first, *last])
    });
    Ok(page.map(|found| found.post))
}

/// Returns the range of the `matches`, which are newest first.
fn post_range(matches: &[i64]) -> RangeInclusive<i64> {
    let ends = matches.last().zip(matches.first());
    ends.map_or(0..=0, |(oldest, newest)| *oldest..=*newest)
}

/// Sorts the best first. If threads are shown, keeps only the best match of each.
fn sort_by_score(matches: &mut Vec<Ranked>, show: SearchShow) {
    matches.sort_unstable_by_key(|found| Reverse(*found));
    if show == SearchShow::Threads {
        let mut threads = HashSet::new();
        matches.retain(|found| threads.insert(found.thread));
    }
}

static ON_SQLITE: LazyLock<String> = LazyLock::new(|| query(hits::FOUND_ON_SQLITE));
static ON_POSTGRES: LazyLock<String> = LazyLock::new(|| query(hits::FOUND_ON_POSTGRES));

fn query(found: &str) -> String {
    format!(
        "SELECT
            post.id, post.thread_id, post.body_words,
            CASE WHEN post.number = 1
                THEN (SELECT title_words FROM thread WHERE thread.id = post.thread_id) ELSE ''
            END
        FROM {found}
        JOIN post ON post.id = found.value"
    )
}

async fn load_scores(
    connection: &Connection<'_>,
    posts: &[i64],
    search: &List<SearchFilter>,
) -> db::DbResult<Vec<Ranked>> {
    let terms = TermMatcher::of(&search.filter);
    let find: &str = connection.dialect(&ON_SQLITE, &ON_POSTGRES);
    connection
        .all(find, bind![hits::json(posts)], |row| score(row, &terms))
        .await
}

/// Computes a score without copying the texts.
fn score(row: &mut RowReader<'_>, terms: &TermMatcher) -> db::DbResult<Ranked> {
    let (post, thread) = (row.value()?, row.value()?);
    let mut words = || row.text().map(Option::unwrap_or_default);
    let (body, title) = (words()?, words()?);
    Ok(Ranked {
        score: terms.score(title, body),
        post,
        thread,
    })
}
