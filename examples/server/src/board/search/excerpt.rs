//! Some text around a match.

use super::terms::Terms;

/// How many characters there are of it, at most.
const LENGTH: usize = 200;

/// How many characters stand before the match, at most.
const BEFORE: usize = 60;

const MORE: &str = "…";

/// Some of `text` around the first of the `terms`, or its beginning where none of them is in it. It begins and ends
/// between words, unless one is very long.
pub fn excerpt(text: &str, terms: &Terms) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let place = terms.first_in(&text).unwrap_or_default();
    let (before, after) = text.split_at_checked(place).unwrap_or_default();
    let before = last(before, BEFORE);
    let cut_before = before.len() < place;
    let after = first(after, LENGTH - before.chars().count());
    let cut_after = place + after.len() < text.len();
    let mark = |cut| if cut { MORE } else { "" };
    format!("{}{before}{after}{}", mark(cut_before), mark(cut_after))
}

/// The last words of `text` that have no more than `most` characters.
fn last(text: &str, most: usize) -> &str {
    let Some((start, _)) = text.char_indices().rev().nth(most) else {
        return text;
    };
    let (_, kept) = text.split_at(start);
    kept.split_once(' ').map_or("", |(_, words)| words)
}

/// The first words of `text` that have no more than `most` characters.
fn first(text: &str, most: usize) -> &str {
    let Some((end, _)) = text.char_indices().nth(most) else {
        return text;
    };
    let (kept, _) = text.split_at(end);
    kept.rsplit_once(' ').map_or(kept, |(words, _)| words)
}

#[cfg(test)]
mod tests {
    use forum_api::model::{Query, Search};
    use proptest::prelude::{any, prop_assert, proptest};

    use super::{BEFORE, LENGTH, Terms, excerpt};

    fn about(query: &str, text: &str) -> String {
        excerpt(text, &Terms::of(&Search::new(Query::parse(query).unwrap())))
    }

    proptest! {
        #[test]
        fn any_text_is_cut(text in any::<String>(), query in "\\PC{1,20}") {
            if let Some(query) = Query::parse(&query) {
                let excerpt = excerpt(&text, &Terms::of(&Search::new(query)));
                prop_assert!(excerpt.chars().count() <= LENGTH + 2);
            }
        }
    }

    #[test]
    fn a_short_text_is_whole_and_on_one_line() {
        assert_eq!(about("tea", " green\n\n tea  cup\n"), "green tea cup");
        assert_eq!(about("milk", "green tea"), "green tea");
        assert_eq!(about("milk", ""), "");
    }

    #[test]
    fn a_long_text_is_cut_between_words_on_both_sides_of_the_match() {
        let text = format!("{}TEA {}", "grün ".repeat(100), "löffel ".repeat(100));
        let excerpt = about("tea", &text);
        assert!(
            excerpt.starts_with("…grün grün ") && excerpt.ends_with(" löffel…"),
            "{excerpt}"
        );
        let place = excerpt.chars().position(|letter| letter == 'T').unwrap();
        assert!(place <= BEFORE + 1 && excerpt.chars().count() <= LENGTH + 2);
    }

    #[test]
    fn a_long_word_is_cut_anywhere() {
        let text = "ü".repeat(3 * LENGTH);
        assert_eq!(about("x", &text), "ü".repeat(LENGTH) + "…");
        assert_eq!(about("x", &format!("{text} x {text}")), "…x…");
    }
}
