//! Full-text search in content that all callers who see a forum may read.
//!
//! The index `post_text` contains the forum, thread and author of each post, so that a search skips content that the
//! caller cannot see. The score of a hit depends only on its own text, so that hidden content does not influence it.

mod by_age;
mod filter;
mod hits;
mod index;
mod relevance;
mod scan;
mod text_match;
mod thread_span;
mod work;

use forum_api::host::{BoardError, BoardResult};
use forum_api::model::{
    List, Page, SearchFilter, SearchHit, SearchQuery, SearchShow, SearchSort, Timestamp,
};

use crate::board::access::actor::Actor;
use crate::board::db::Connection;
use crate::board::settings::MAX_RANKED_MATCHES;
use filter::MatchCondition;
pub use index::{body_words, index_in_bulk, title_words, update_statistics};
use scan::ScanDirection;

/// Returns a page of visible hits.
pub async fn page(
    connection: &Connection<'_>,
    actor: &Actor,
    search: &List<SearchFilter>,
    now: Timestamp,
) -> BoardResult<Page<SearchHit>> {
    if let Some(query) = &search.filter.q {
        check_word_count(query)?;
    }
    let Some(filter) = MatchCondition::of(connection, actor, &search.filter, now).await? else {
        return Ok(Page { items: Vec::new(), next: None });
    };
    let direction = match search.filter.sort {
        // Without words, all posts are equally relevant.
        SearchSort::Relevance if search.filter.q.is_some() => None,
        SearchSort::Relevance | SearchSort::Newest => Some(ScanDirection::Descending),
        SearchSort::Oldest => Some(ScanDirection::Ascending),
    };
    let found = match (direction, search.filter.show) {
        (None, _) => {
            let max_matches = actor.settings.of(&MAX_RANKED_MATCHES) as usize;
            relevance::page(connection, &filter, search, max_matches).await?
        }
        (Some(direction), SearchShow::Posts) => {
            by_age::posts_page(connection, &filter, search, direction).await?
        }
        (Some(direction), SearchShow::Threads) => {
            by_age::threads_page(connection, &filter, search, direction).await?
        }
    };
    Ok(Page {
        items: hits::read(connection, &found.items, &search.filter).await?,
        next: found.next,
    })
}

/// Limits the number of words, including those of phrases, because each costs a lookup in the index. Adjacent letters of
/// scripts without spaces count as one word.
fn check_word_count(query: &SearchQuery) -> BoardResult<()> {
    let words = query.terms().iter().flat_map(|term| {
        let mut is_after_letter = false;
        index::words(&term.text).filter(move |word| {
            let is_next_letter = is_after_letter && word.is_letter;
            is_after_letter = word.is_letter;
            !is_next_letter
        })
    });
    if words.count() > SearchQuery::MAX_TERMS {
        return Err(BoardError::invalid_parameter("q", SearchQuery::EXPECTED_FORMAT));
    }
    Ok(())
}
