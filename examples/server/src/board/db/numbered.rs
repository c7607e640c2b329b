//! SQL with named parameters, as Postgres wants it: with numbered ones.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

/// A statement for Postgres.
#[derive(Debug)]
pub struct Numbered {
    /// Its text.
    pub sql: String,
    /// The names of `$1`, `$2` and so on, as the board's text has them.
    pub names: Vec<String>,
}

/// The statement for this text. There are as many as the board's source has.
pub fn numbered(sql: &'static str) -> Arc<Numbered> {
    static KNOWN: LazyLock<RwLock<HashMap<&'static str, Arc<Numbered>>>> =
        LazyLock::new(RwLock::default);
    let known = KNOWN
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .get(sql)
        .cloned();
    known.unwrap_or_else(|| {
        let numbered = Arc::new(Numbered::of(sql));
        let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(sql, numbered.clone());
        numbered
    })
}

impl Numbered {
    fn of(text: &str) -> Self {
        let (mut sql, mut names) = (String::with_capacity(text.len()), Vec::new());
        let mut rest = text;
        while let Some(at) = rest.find(STARTS) {
            let (before, from) = rest.split_at(at);
            sql.push_str(before);
            let passed = match from.split_at(skipped(from)) {
                ("", _) => {
                    let name = name(from);
                    sql.push_str(&format!("${}", number(&mut names, name)));
                    name.len()
                }
                (whole, _) => {
                    sql.push_str(whole);
                    whole.len()
                }
            };
            rest = from.get(passed..).unwrap_or_default();
        }
        sql.push_str(rest);
        Self { sql, names }
    }
}

/// What may be the start of a parameter, or of what holds none.
const STARTS: [char; 3] = [':', '?', '\''];

/// How much of this is no parameter: a text, a cast, or a sign by itself.
fn skipped(from: &str) -> usize {
    if let Some(text) = from.strip_prefix('\'') {
        return text.find('\'').map_or(from.len(), |end| end + 2);
    }
    match from.starts_with("::") {
        true => 2,
        false if name(from).len() > 1 => 0,
        false => 1,
    }
}

fn name(from: &str) -> &str {
    let end =
        |(at, letter): (usize, char)| at > 0 && !(letter.is_ascii_alphanumeric() || letter == '_');
    let end = from.char_indices().find(|place| end(*place));
    end.map_or(from, |(at, _)| from.split_at(at).0)
}

fn number(names: &mut Vec<String>, name: &str) -> usize {
    let known = names.iter().position(|known| known == name);
    let place = known.unwrap_or_else(|| {
        names.push(name.into());
        names.len() - 1
    });
    place + 1
}

#[cfg(test)]
mod tests {
    use super::Numbered;

    #[test]
    fn a_parameter_has_one_number_wherever_it_stands() {
        for (text, sql, names) in [
            ("SELECT 1", "SELECT 1", vec![]),
            (
                "a = :a AND b = :b OR :a",
                "a = $1 AND b = $2 OR $1",
                vec![":a", ":b"],
            ),
            ("?2 + ?1 + ?2", "$1 + $2 + $1", vec!["?2", "?1"]),
            (
                "':no', :yes::TEXT, '?1' || ','",
                "':no', $1::TEXT, '?1' || ','",
                vec![":yes"],
            ),
            ("x ? 'k' : y", "x ? 'k' : y", vec![]),
        ] {
            let numbered = Numbered::of(text);
            assert_eq!(
                (numbered.sql.as_str(), numbered.names),
                (sql, names.iter().map(ToString::to_string).collect())
            );
        }
    }
}
