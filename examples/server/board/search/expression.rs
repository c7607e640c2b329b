//! A search in the language of the index.

use std::collections::BTreeSet;

use forum_api::model::{Query, Search, SearchIn};

/// What the index is asked for: what is searched for, in these forums, by this author.
pub fn expression(search: &Search, forums: &BTreeSet<i64>, author: Option<i64>) -> String {
    let columns = match search.within {
        SearchIn::All => "{title body}",
        SearchIn::Titles => "title",
        SearchIn::Posts => "body",
    };
    let text = text(&search.q);
    let forums = places("f", forums.iter());
    let author = places("m", author.iter());
    let parts = [format!("{columns} : ({text})"), forums, author];
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(" AND ")
}

fn text(query: &Query) -> String {
    let (required, excluded) = (terms(query, false), terms(query, true));
    let required = join(required, " AND ");
    if excluded.is_empty() {
        return required;
    }
    format!("({required}) NOT ({})", join(excluded, " OR "))
}

/// In quotes, so that no word is taken for an operator.
fn terms(query: &Query, excluded: bool) -> BTreeSet<String> {
    let terms = query.terms().iter();
    let terms = terms.filter(|term| term.excluded == excluded);
    terms
        .map(|term| format!("\"{}\"", term.words.join(" ")))
        .collect()
}

/// Nothing for no ids: any place will do.
fn places<'a>(letter: &str, ids: impl Iterator<Item = &'a i64>) -> String {
    let places = join(ids.map(|id| format!("{letter}{id}")), " OR ");
    match places.is_empty() {
        true => places,
        false => format!("place : ({places})"),
    }
}

fn join(parts: impl IntoIterator<Item = String>, by: &str) -> String {
    parts.into_iter().collect::<Vec<_>>().join(by)
}

#[cfg(test)]
mod tests {
    use super::{BTreeSet, Query, Search, SearchIn, expression};

    fn expressed(text: &str, within: SearchIn, author: Option<i64>) -> String {
        let mut search = Search::new(Query::parse(text).unwrap());
        search.within = within;
        expression(&search, &BTreeSet::from([2, 3]), author)
    }

    #[test]
    fn says_what_to_look_for_and_where() {
        for (text, within, author, expression) in [
            (
                "tea",
                SearchIn::All,
                None,
                r#"{title body} : ("tea") AND place : (f2 OR f3)"#,
            ),
            (
                "tea AND tea",
                SearchIn::Titles,
                Some(7),
                r#"title : ("AND" AND "tea") AND place : (f2 OR f3) AND place : (m7)"#,
            ),
            (
                r#""green leaf" tea -bag -"tea cup""#,
                SearchIn::Posts,
                None,
                r#"body : (("green leaf" AND "tea") NOT ("bag" OR "tea cup")) AND place : (f2 OR f3)"#,
            ),
        ] {
            assert_eq!(expressed(text, within, author), expression, "{text}");
        }
    }
}
