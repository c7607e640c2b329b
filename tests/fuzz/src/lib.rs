//! Properties of parsers of untrusted input. The fuzzer calls them with random bytes, `cargo test` with the stored
//! corpora.

mod address;
mod board;
mod body;
mod cursor;
mod markdown;
mod query;

/// A property: panics on failure.
pub type Target = fn(&[u8]);

/// The properties by the name of their corpus.
pub const ALL: &[(&str, Target)] = &[
    ("address", address::check_property),
    ("body", body::check_property),
    ("cursor", cursor::check_property),
    ("markdown", markdown::check_property),
    ("query", query::check_property),
];

/// Returns the bytes as text if they are UTF-8.
fn text(data: &[u8]) -> Option<&str> {
    std::str::from_utf8(data).ok()
}

/// Splits off the first byte, which selects a case.
fn choice<'a, T>(data: &'a [u8], choices: &'a [T]) -> Option<(&'a T, &'a [u8])> {
    let (first, rest) = data.split_first()?;
    Some((&choices[usize::from(*first) % choices.len()], rest))
}

/// Splits a text at the first of these marks.
fn split_at_mark(data: &[u8], mark: u8) -> (&[u8], &[u8]) {
    let place = data.iter().position(|byte| *byte == mark);
    place.map_or((data, &[]), |place| (&data[..place], &data[place + 1..]))
}
