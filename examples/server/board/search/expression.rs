//! A search in the language of the index.

use std::collections::BTreeSet;

use forum_api::model::{Query, Search, SearchIn};

use super::words::folded;

/// What is searched for, by this author if one is named.
pub fn text(search: &Search, author: Option<i64>) -> String {
    let columns = match search.within {
        SearchIn::All => "{title body}",
        SearchIn::Titles => "title",
        SearchIn::Posts => "body",
    };
    let text = format!("{columns} : ({})", terms(&search.q));
    match author {
        Some(author) => format!("{text} AND place : m{author}"),
        None => text,
    }
}

/// That a post is in one of these forums, and in none of these threads.
pub fn place(forums: &BTreeSet<i64>, left_out: &BTreeSet<i64>) -> String {
    let forums = one_of('f', forums);
    match left_out.is_empty() {
        true => forums,
        false => format!("({forums} NOT {})", one_of('t', left_out)),
    }
}

/// That its place is one with this letter and one of these ids.
fn one_of(letter: char, ids: &BTreeSet<i64>) -> String {
    let words = ids.iter().map(|id| format!("{letter}{id}"));
    format!("place : ({})", join(words, " OR "))
}

fn terms(query: &Query) -> String {
    let (required, excluded) = (quoted(query, false), quoted(query, true));
    let required = join(required, " AND ");
    if excluded.is_empty() {
        return required;
    }
    format!("({required}) NOT ({})", join(excluded, " OR "))
}

/// In quotes no word is taken for an operator.
fn quoted(query: &Query, excluded: bool) -> BTreeSet<String> {
    let terms = query.terms().iter();
    let terms = terms.filter(|term| term.excluded == excluded);
    terms
        .map(|term| format!("\"{}\"", folded(&term.text)))
        .collect()
}

fn join(parts: impl IntoIterator<Item = String>, by: &str) -> String {
    parts.into_iter().collect::<Vec<_>>().join(by)
}

#[cfg(test)]
mod tests {
    use super::{BTreeSet, Query, Search, SearchIn, place, text};

    #[test]
    fn says_what_to_look_for_and_where() {
        for (query, within, author, expression) in [
            ("tea", SearchIn::All, None, r#"{title body} : ("tea")"#),
            (
                "Tea AND tea",
                SearchIn::Titles,
                Some(7),
                r#"title : ("and" AND "tea") AND place : m7"#,
            ),
            (
                r#""Green, leaf" tea -bag -"tea-cup""#,
                SearchIn::Posts,
                None,
                r#"body : (("green leaf" AND "tea") NOT ("bag" OR "tea cup"))"#,
            ),
        ] {
            let mut search = Search::new(Query::parse(query).unwrap());
            search.within = within;
            assert_eq!(text(&search, author), expression, "{query}");
        }
        let (forums, threads) = (BTreeSet::from([3, 2]), BTreeSet::from([17]));
        assert_eq!(place(&forums, &BTreeSet::new()), "place : (f2 OR f3)");
        assert_eq!(
            place(&forums, &threads),
            "(place : (f2 OR f3) NOT place : (t17))"
        );
    }
}
