//! What must hold of any bytes, a function for each parser that meets what strangers write. The fuzzer calls them, and
//! `cargo test` with what the fuzzer kept.

mod address;
mod board;
mod body;
mod cursor;
mod expiry;
mod forwarded;
mod markdown;
mod query;
mod search;
mod signature;
mod token;

/// Fails by panicking.
pub type Target = fn(&[u8]);

/// Each by the name of its corpus.
pub const ALL: &[(&str, Target)] = &[
    ("address", address::holds),
    ("body", body::holds),
    ("cursor", cursor::holds),
    ("expiry", expiry::holds),
    ("forwarded", forwarded::holds),
    ("markdown", markdown::holds),
    ("query", query::holds),
    ("search", search::holds),
    ("signature", signature::holds),
    ("token", token::holds),
];

/// The bytes as text, where they are some.
fn text(data: &[u8]) -> Option<&str> {
    std::str::from_utf8(data).ok()
}

/// The first byte, which chooses, and the rest.
fn choice<'a, T>(data: &'a [u8], choices: &'a [T]) -> Option<(&'a T, &'a [u8])> {
    let (first, rest) = data.split_first()?;
    Some((&choices[usize::from(*first) % choices.len()], rest))
}

/// What stands before the first of these marks, and what after it.
fn parted(data: &[u8], mark: u8) -> (&[u8], &[u8]) {
    let place = data.iter().position(|byte| *byte == mark);
    place.map_or((data, &[]), |place| (&data[..place], &data[place + 1..]))
}
