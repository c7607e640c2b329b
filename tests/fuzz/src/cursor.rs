//! Cursors (`docs/protocol.md`, section 7.2): a cursor decodes to its page key, and only in its own list. A text that
//! is not a cursor of the list does not decode.
//!
//! Cursors are checksummed, not secret: the fuzzer, which observes comparisons, can construct some.

use forum_api::model::PageKey;
use forum_api::test_util::TestResponse;
use http::Method;
use percent_encoding::{NON_ALPHANUMERIC, percent_encode};

use crate::{board, split_at_mark, text};

pub(super) fn check_property(data: &[u8]) {
    let (position, other) = split_at_mark(data, b'\n');
    check_cursor(other);
    let is_page_key = |key: &&str| key.len() <= PageKey::MAX_LEN && !key.contains('\0');
    let Some(position) = text(position).filter(is_page_key) else {
        return;
    };
    let cursor = encode(position);
    assert!(cursor.len() <= 200 && cursor.bytes().all(is_plain));
    assert_eq!(board::message(&after("1", cursor.as_bytes())), position);
    assert_eq!(after("2", cursor.as_bytes()).status, 400);
    edited(&cursor, other).iter().for_each(|it| check_cursor(it));
}

/// Encodes a page key.
fn encode(position: &str) -> String {
    position.clone_into(&mut board::NEXT.lock().unwrap());
    let page = send("/api/v1/forums/1/threads").json();
    page["next"].as_str().unwrap().into()
}

fn check_cursor(cursor: &[u8]) {
    let answer = after("1", cursor);
    let position = board::message(&answer);
    if answer.status != 400 && position.len() <= PageKey::MAX_LEN {
        assert_eq!(encode(&position).as_bytes(), cursor);
    }
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_".contains(&byte)
}

fn after(forum: &str, cursor: &[u8]) -> TestResponse {
    let cursor = percent_encode(cursor, NON_ALPHANUMERIC);
    send(&format!("/api/v1/forums/{forum}/threads?after={cursor}"))
}

fn send(uri: &str) -> TestResponse {
    board::send_as_member(Method::GET, uri.as_bytes(), b"").unwrap()
}

/// Returns corrupted copies of a cursor: one with these bytes appended, and one with the first byte written at the
/// position that the second byte selects.
fn edited(cursor: &str, edit: &[u8]) -> Vec<Vec<u8>> {
    let mut edited = vec![[cursor.as_bytes(), edit].concat()];
    if let [letter, place, ..] = edit {
        let mut replaced = cursor.as_bytes().to_vec();
        replaced[usize::from(*place) % cursor.len()] = *letter;
        edited.push(replaced);
    }
    edited
}
