//! Search queries: formatted terms parse to the same terms.

use forum_api::model::{DateRange, SearchQuery, Timestamp};

use crate::text;

pub(super) fn check_property(data: &[u8]) {
    let Some(text) = text(data) else {
        return;
    };
    when(text);
    let Ok(query) = SearchQuery::parse(text) else {
        let words = text.split_whitespace().count();
        let short = text.chars().count() <= 200 && words <= SearchQuery::MAX_TERMS;
        let plain = short && !text.contains(['-', '"']);
        assert!(!plain || !text.contains(char::is_alphanumeric), "{text:?}");
        return;
    };
    assert!(text.chars().count() <= 200);
    let terms = query.terms();
    assert!(terms.len() <= SearchQuery::MAX_TERMS && terms.iter().any(|term| !term.excluded));
    let mut rest = text;
    for term in terms {
        assert!(term.text.contains(char::is_alphanumeric) && !term.text.contains('"'));
        rest = rest.split_once(&term.text).unwrap().1;
    }
    let sign = |excluded| if excluded { "-" } else { "" };
    let again = terms
        .iter()
        .map(|term| format!("{}\"{}\"", sign(term.excluded), term.text));
    let again = again.collect::<Vec<_>>().join(" ");
    let fits = again.chars().count() <= 200;
    assert!(
        !fits || SearchQuery::parse(&again).unwrap().terms() == terms,
        "{text:?}"
    );
}

/// Checks that a date range does not end before it can start.
fn when(text: &str) {
    let now = Timestamp::from_millis(1_767_225_600_000);
    let Ok(when) = DateRange::parse(text) else {
        return;
    };
    let (from, until) = when.bounds(now);
    assert!(from.is_some() || until.is_some(), "{text}");
    let days = [from, until]
        .into_iter()
        .flatten()
        .map(Timestamp::as_millis);
    assert!(
        text.len() < 4 || days.into_iter().all(|day| day % 86_400_000 == 0),
        "{text}"
    );
}
