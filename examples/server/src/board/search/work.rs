//! Limit of the work for a page of hits.

/// Work that a page of hits may still cost, in units of about six nanoseconds. A page ends early, with a cursor, when none
/// is left. The limit keeps the time of a search below 100 ms, whatever the posts contain and however many there are.
#[derive(Debug)]
pub struct Work(i64);

/// Work for a page.
const MAX_WORK: i64 = 10_000_000;

/// Additional work for what a page cannot leave to the next one.
const EXTRA_WORK: i64 = MAX_WORK / 2;

/// Work for each lookup of a query and each post that the query passes over.
const LOOKUP: i64 = 2;

/// Work for a query of the index, besides its lookups.
const QUERY: i64 = 10_000;

/// Work for reading the row of a candidate.
const CANDIDATE: i64 = 500;

impl Work {
    /// Returns the work for the first page of a search.
    pub const fn of_page() -> Self {
        Self(MAX_WORK)
    }

    /// Returns the work for reading a part again that an earlier page has read. Its texts can be longer.
    pub const fn of_repeated_page() -> Self {
        Self(MAX_WORK + EXTRA_WORK)
    }

    /// Adds the work for finding out whether the thread of a page's first match was listed before. The next page would begin
    /// with the same match.
    pub const fn extend(&mut self) {
        self.0 = self.0.saturating_add(EXTRA_WORK);
    }

    pub const fn is_spent(&self) -> bool {
        self.0 <= 0
    }

    pub const fn left(&self) -> i64 {
        self.0
    }

    pub const fn set_left(&mut self, left: i64) {
        self.0 = left;
    }

    /// Returns the number of posts that a query with this number of lookups can pass over, at least 1.
    pub fn posts(&self, lookups: i64) -> i64 {
        self.0.checked_div(LOOKUP * lookups).unwrap_or(self.0).max(1)
    }

    /// Returns whether enough is left for a query that passes over this number of posts.
    pub const fn is_enough(&self, lookups: i64, posts: i64) -> bool {
        self.0 >= Self::of_query(lookups, posts)
    }

    pub const fn spend_query(&mut self, lookups: i64, posts: i64) {
        self.spend(Self::of_query(lookups, posts));
    }

    /// Spends the work for a candidate whose texts have this length in bytes, and are searched for a number of phrases.
    pub const fn spend_candidate(&mut self, length: usize, phrases: i64) {
        self.spend(CANDIDATE + length as i64 * (4 + phrases) / 4);
    }

    const fn of_query(lookups: i64, posts: i64) -> i64 {
        LOOKUP.saturating_mul(lookups).saturating_mul(posts).saturating_add(QUERY)
    }

    const fn spend(&mut self, work: i64) {
        self.0 = self.0.saturating_sub(work);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_spent_on_lookups_and_on_the_texts_of_candidates() {
        let mut work = Work::of_page();
        work.spend_candidate(1000, 0);
        assert_eq!(MAX_WORK - work.left(), 500 + 1000);
        work.set_left(MAX_WORK);
        work.spend_candidate(1000, 2);
        assert_eq!(MAX_WORK - work.left(), 500 + 1500);
        work.set_left(10_000 + 2 * 3 * 50);
        assert!(work.is_enough(3, 50) && !work.is_enough(3, 51));
        assert_eq!((work.posts(3), work.posts(0)), (10_300 / 6, 10_300));
        work.spend_query(3, 50);
        assert!(work.is_spent());
        assert_eq!(work.posts(3), 1);
        work.extend();
        assert_eq!(work.left(), Work::of_repeated_page().left() - Work::of_page().left());
    }
}
