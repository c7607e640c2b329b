//! Queries: each is rejected or decoded, and equivalent spellings and orders decode alike.

use http::Method;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode, percent_encode};

use crate::{board, choice};

const PATHS: &[&str] =
    &["/search", "/threads/1/posts", "/forums/1/threads", "/messages", "/subscriptions", "/forums"];

pub(super) fn check_property(data: &[u8]) {
    let Some((path, query)) = choice(data, PATHS) else {
        return;
    };
    let send = |query: &[u8]| {
        let uri = [format!("/api/v1{path}?").as_bytes(), query].concat();
        board::send_as_member(Method::GET, &uri, b"")
    };
    // A fragment is not part of the query.
    let Some(answer) = send(query).filter(|_| !query.contains(&b'#')) else {
        return;
    };
    let mut pairs: Vec<_> = query.split(|byte| *byte == b'&').map(percent_encode_all).collect();
    let in_order = send(pairs.join("&").as_bytes()).unwrap();
    pairs.reverse();
    let reversed = send(pairs.join("&").as_bytes()).unwrap();
    if answer.status != 400 {
        for other in [in_order, reversed] {
            assert_eq!(board::message(&other), board::message(&answer));
        }
    }
}

/// Percent-encodes all characters.
fn percent_encode_all(pair: &[u8]) -> String {
    let mut sides = pair.splitn(2, |byte| *byte == b'=').map(|side| {
        let space = |byte: &u8| if *byte == b'+' { b' ' } else { *byte };
        let spaced: Vec<_> = side.iter().map(space).collect();
        let said: Vec<_> = percent_decode(&spaced).collect();
        percent_encode(&said, NON_ALPHANUMERIC).to_string()
    });
    let name = sides.next().unwrap_or_default();
    let value = sides.next();
    value.map_or(name.clone(), |value| format!("{name}={value}"))
}
