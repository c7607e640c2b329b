//! Bodies: each is rejected or decoded, and equivalent spellings decode alike.

use http::Method;
use serde_json::Value;

use crate::{board, choice};

const ENDPOINTS: &[(Method, &str)] = &[
    (Method::POST, "/forums/1/threads"),
    (Method::POST, "/threads/1/posts"),
    (Method::PATCH, "/threads/1/posts/2"),
    (Method::POST, "/members/1/reputation"),
    (Method::POST, "/messages"),
    (Method::POST, "/polls/1/votes"),
    (Method::PATCH, "/polls/1"),
    (Method::POST, "/subscriptions"),
];

pub(super) fn check_property(data: &[u8]) {
    let Some(((method, path), body)) = choice(data, ENDPOINTS) else {
        return;
    };
    let send = |body: &[u8]| {
        let uri = format!("/api/v1{path}");
        board::send_as_member(method.clone(), uri.as_bytes(), body).unwrap()
    };
    let answer = send(body);
    let Ok(json) = serde_json::from_slice::<Value>(body) else {
        assert_eq!(answer.status, 400);
        return;
    };
    if answer.status != 400 {
        for other in [json.to_string(), pretty_print(&json)] {
            let other = send(other.as_bytes());
            assert_eq!(board::message(&other), board::message(&answer));
        }
    }
}

/// Formats the value on many lines with ASCII only.
fn pretty_print(json: &Value) -> String {
    let text = format!("{json:#}");
    let mut units = [0; 2];
    let mut written = String::new();
    for letter in text.chars() {
        if letter.is_ascii() {
            written.push(letter);
        } else {
            let units = letter.encode_utf16(&mut units).iter();
            written.extend(units.map(|unit| format!("\\u{unit:04X}")));
        }
    }
    written
}
