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

/// That a post is in one of these forums.
pub fn in_forums(forums: &BTreeSet<i64>) -> String {
    let forums = forums.iter().map(|forum| format!("f{forum}"));
    format!("place : ({})", join(forums, " OR "))
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
    use super::{BTreeSet, Query, Search, SearchIn, in_forums, text};

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
        assert_eq!(in_forums(&BTreeSet::from([3, 2])), "place : (f2 OR f3)");
    }
}
