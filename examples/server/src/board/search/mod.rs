//! Full-text search in what everybody who sees a forum may read there.
//!
//! The index `post_text` knows where each post is and by whom, so that a page walks nothing that the caller does not
//! see, however much of it there is. Nothing but a hit's own text goes into its score: the rest of the board, hidden
//! or not, leaves no trace in it.

mod aim;
mod excerpt;
mod expression;
mod hits;
mod index;
mod relevance;
mod terms;
mod threads;
mod walk;
mod words;

use forum_api::host::{Refusal, Result};
use forum_api::model::{Page, Query, Search, SearchHit, Show, Sort, Timestamp};

use super::actor::Actor;
use super::db::Connection;
use aim::Aim;
pub use hits::json;
pub use index::{learn, together};
use walk::Way;
pub use words::folded;

/// What finds the threads that a search leaves out, and what looks for threads that a walk has met.
#[cfg(test)]
pub use self::{aim::LONG_AND_HIDDEN, threads::ON_SQLITE as TOLD};

/// What walks the index.
#[cfg(test)]
pub const WALKS: [fn() -> &'static str; 2] = [|| Way::Back.on_sqlite(), || Way::Forth.on_sqlite()];

/// A page of the hits that the caller may read.
pub async fn page(
    connection: &Connection<'_>,
    actor: &Actor,
    search: &Search,
    now: Timestamp,
) -> Result<Page<SearchHit>> {
    few_words(&search.q)?;
    let Some(aim) = Aim::of(connection, actor, search, now).await? else {
        return Ok(Page {
            items: Vec::new(),
            next: None,
        });
    };
    let way = match search.sort {
        Sort::Relevance => None,
        Sort::Newest => Some(Way::Back),
        Sort::Oldest => Some(Way::Forth),
    };
    let found = match (way, search.show) {
        (None, _) => relevance::page(connection, &aim, search).await?,
        (Some(way), Show::Posts) => walk::page(connection, &aim, search, way).await?,
        (Some(way), Show::Threads) => threads::page(connection, &aim, search, way).await?,
    };
    Ok(Page {
        items: hits::read(connection, &found.items, search).await?,
        next: found.next,
    })
}

/// Each word costs the index a look at all posts that have it, those of a phrase as well.
fn few_words(query: &Query) -> Result<()> {
    let words = query
        .terms()
        .iter()
        .map(|term| words::words(&term.text).count());
    let few = words.sum::<usize>() <= Query::TERMS;
    few.then_some(())
        .ok_or(Refusal::Unusable("q", Query::EXPECTED))
}
