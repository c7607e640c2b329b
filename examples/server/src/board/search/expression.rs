//! A search in the language of an index.

use std::collections::BTreeSet;

use forum_api::model::{Query, Search, SearchIn};

use super::words::folded;

/// How an index is asked.
#[derive(Debug)]
pub struct Language {
    and: &'static str,
    or: &'static str,
    without: &'static str,
    /// That these words stand side by side in a column.
    phrase: fn(column: SearchIn, words: &str) -> String,
    /// That a post is by this member.
    author: fn(i64) -> String,
    /// That a post is in one of these forums, which may be all that there are, and in none of these threads.
    pub place: fn(forums: &BTreeSet<i64>, everywhere: bool, left_out: &BTreeSet<i64>) -> String,
}

/// SQLite's. In quotes no word is taken for an operator.
pub const FTS5: Language = Language {
    and: " AND ",
    or: " OR ",
    without: " NOT ",
    phrase: |column, words| match column {
        SearchIn::All => format!("{{title body}} : \"{words}\""),
        SearchIn::Titles => format!("title : \"{words}\""),
        SearchIn::Posts => format!("body : \"{words}\""),
    },
    author: |id| format!("place : m{id}"),
    // FTS5 looks up each of the forums beside each match.
    place: |forums, everywhere, left_out| {
        let one_of = |operator, letter, ids: &BTreeSet<i64>| {
            let words = ids.iter().map(|id| format!("place : {letter}{id}"));
            let words = group(&words.collect::<Vec<_>>(), FTS5.or);
            format!("{operator}{words}")
        };
        let within = (!everywhere).then(|| one_of(FTS5.and, 'f', forums));
        let without = (!left_out.is_empty()).then(|| one_of(FTS5.without, 't', left_out));
        within.into_iter().chain(without).collect()
    },
};

/// Postgres's, where a place is JSON. A sign before a word tells what it is of: `=` of a title, `#` of an author, none
/// of a body. No word has a sign or a quote in it, and of long ones the index has the beginning.
pub const TSQUERY: Language = Language {
    and: " & ",
    or: " | ",
    without: " & !",
    phrase: |column, words| match column {
        SearchIn::All => format!(
            "({} | {})",
            side_by_side("=", words),
            side_by_side("", words)
        ),
        SearchIn::Titles => side_by_side("=", words),
        SearchIn::Posts => side_by_side("", words),
    },
    author: |id| format!("'#{id}'"),
    place: |forums, _, left_out| {
        serde_json::json!({ "forums": forums, "leftOut": left_out }).to_string()
    },
};

/// Of how many characters of a word Postgres's index knows.
const KNOWN: usize = 500;

impl Language {
    /// What is searched for, by this author if one is named.
    pub fn text(&self, search: &Search, author: Option<i64>) -> String {
        let terms = self.without(self.terms(search, false), self.terms(search, true));
        match author {
            Some(author) => format!("{terms}{}{}", self.and, (self.author)(author)),
            None => terms,
        }
    }

    fn without(&self, required: Vec<String>, excluded: Vec<String>) -> String {
        let required = group(&required, self.and);
        match &*excluded {
            [] => required,
            excluded => format!("({required}{}{})", self.without, group(excluded, self.or)),
        }
    }

    fn terms(&self, search: &Search, excluded: bool) -> Vec<String> {
        let words = words(&search.q, excluded);
        let phrases = words
            .iter()
            .map(|words| (self.phrase)(search.within, words));
        phrases.collect()
    }
}

/// Each of them once.
fn words(query: &Query, excluded: bool) -> BTreeSet<String> {
    let terms = query.terms().iter();
    let terms = terms.filter(|term| term.excluded == excluded);
    terms.map(|term| folded(&term.text)).collect()
}

fn group(parts: &[String], by: &str) -> String {
    match parts {
        [part] => part.clone(),
        parts => format!("({})", parts.join(by)),
    }
}

fn side_by_side(sign: &str, words: &str) -> String {
    let words = words.split(' ').map(|word| {
        let known: String = word.chars().take(KNOWN).collect();
        format!("'{sign}{known}'")
    });
    group(&words.collect::<Vec<_>>(), " <-> ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Strategy, prop, prop_assert_eq, prop_oneof, proptest};

    use super::super::super::schema;
    use super::{BTreeSet, FTS5, Query, Search, SearchIn, TSQUERY, folded};

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
            let index = schema::in_memory();
            let (excluded, required): (Vec<_>, Vec<_>) = query.terms().iter().partition(|term| term.excluded);
            let required: Vec<_> = required.iter().map(|term| folded(&term.text)).collect();
            let body = format!(" {} ", required.join(" "));
            let spoilt = excluded.iter().any(|term| body.contains(&format!(" {} ", folded(&term.text))));
            index.execute("INSERT INTO post_text (body) VALUES (?1)", [&body]).unwrap();
            let expression = FTS5.text(&Search::new(query), None);
            let found = index.query_row("SELECT count(*) FROM post_text (?1)", [expression], |row| row.get(0));
            prop_assert_eq!(found, Ok(i32::from(!spoilt)));
        }
    }

    #[test]
    fn says_what_to_look_for() {
        for (query, within, author, fts5, tsquery) in [
            (
                "tea",
                SearchIn::All,
                None,
                r#"{title body} : "tea""#,
                "('=tea' | 'tea')",
            ),
            (
                "Tea AND tea",
                SearchIn::Titles,
                Some(7),
                r#"(title : "and" AND title : "tea") AND place : m7"#,
                "('=and' & '=tea') & '#7'",
            ),
            (
                r#""Green, leaf" tea -bag -"tea-cup""#,
                SearchIn::Posts,
                None,
                r#"((body : "green leaf" AND body : "tea") NOT (body : "bag" OR body : "tea cup"))"#,
                "((('green' <-> 'leaf') & 'tea') & !('bag' | ('tea' <-> 'cup')))",
            ),
        ] {
            let mut search = Search::new(Query::parse(query).unwrap());
            search.within = within;
            assert_eq!(FTS5.text(&search, author), fts5, "{query}");
            assert_eq!(TSQUERY.text(&search, author), tsquery, "{query}");
        }
    }

    #[test]
    fn says_where_to_look() {
        let (forums, threads) = (BTreeSet::from([3, 2]), BTreeSet::from([17]));
        let none = BTreeSet::new();
        for (language, everywhere, place, place_without) in [
            (
                FTS5,
                false,
                " AND (place : f2 OR place : f3)",
                " AND (place : f2 OR place : f3) NOT place : t17",
            ),
            (FTS5, true, "", " NOT place : t17"),
            (
                TSQUERY,
                true,
                r#"{"forums":[2,3],"leftOut":[]}"#,
                r#"{"forums":[2,3],"leftOut":[17]}"#,
            ),
        ] {
            assert_eq!((language.place)(&forums, everywhere, &none), place);
            assert_eq!(
                (language.place)(&forums, everywhere, &threads),
                place_without
            );
        }
    }
}
