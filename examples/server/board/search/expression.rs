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
    use proptest::prelude::{Strategy, prop, prop_assert_eq, prop_oneof, proptest};
    use rusqlite::Connection;

    use super::super::super::STEPS;
    use super::{BTreeSet, Query, Search, SearchIn, folded, place, text};

    /// With words of the index's language among others.
    fn queries() -> impl Strategy<Value = String> {
        let command = prop::sample::select(vec![
            "AND", "-OR", "NOT", "NEAR(", ")", "^", "tea*", "+", "title : ", "{body}", "-", "\"",
            "'",
        ]);
        let part = prop_oneof![command.prop_map(str::to_owned), "\\PC{1,6}"];
        prop::collection::vec(part, 1..12).prop_map(|parts| parts.join(" "))
    }

    proptest! {
        #[test]
        fn a_text_with_all_words_is_found_unless_one_of_them_is_excluded(query in queries()) {
            let Some(query) = Query::parse(&query) else {
                return Ok(());
            };
            let index = Connection::open_in_memory().unwrap();
            STEPS.iter().for_each(|step| index.execute_batch(step).unwrap());
            let (excluded, required): (Vec<_>, Vec<_>) = query.terms().iter().partition(|term| term.excluded);
            let required: Vec<_> = required.iter().map(|term| folded(&term.text)).collect();
            let body = format!(" {} ", required.join(" "));
            let spoilt = excluded.iter().any(|term| body.contains(&format!(" {} ", folded(&term.text))));
            index.execute("INSERT INTO post_text (body) VALUES (?1)", [&body]).unwrap();
            let expression = text(&Search::new(query), None);
            let found = index.query_row("SELECT count(*) FROM post_text (?1)", [expression], |row| row.get(0));
            prop_assert_eq!(found, Ok(i32::from(!spoilt)));
        }
    }

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
