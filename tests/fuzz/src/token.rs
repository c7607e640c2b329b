//! Tokens: generated tokens parse, parsed tokens are well-formed, and other headers are rejected.

use std::sync::Mutex;

use forum_api::runtime::{RandomError, RandomSource};
use forum_api::token::PlainToken;
use http::header::AUTHORIZATION;
use http::{HeaderValue, Method};

use crate::{board, split_at_mark, text};

const DIGITS: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

pub(super) fn check_property(data: &[u8]) {
    let generated = PlainToken::generate(&FixedRandom(Mutex::new(data.into())));
    let generated = generated.iter().map(PlainToken::expose_secret);
    generated.for_each(|generated| assert!(is_read(generated), "{generated}"));
    text(data).map(is_read);
    check_header(data);
}

/// A random source with given bytes.
#[derive(Debug)]
struct FixedRandom(Mutex<Vec<u8>>);

impl RandomSource for FixedRandom {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        let mut rest = self.0.lock().unwrap();
        let source = rest
            .get(..bytes.len())
            .ok_or_else(|| RandomError::new("no bytes are left"))?;
        bytes.copy_from_slice(source);
        rest.drain(..bytes.len());
        Ok(())
    }
}

fn is_read(text: &str) -> bool {
    let Ok(token) = PlainToken::parse(text) else {
        return false;
    };
    let rest = text.strip_prefix("forum_pat_").unwrap();
    let (lookup, secret) = rest.split_once('_').unwrap();
    assert_eq!((lookup.len(), secret.len()), (16, 49));
    assert!(
        [lookup, secret]
            .concat()
            .bytes()
            .all(|byte| DIGITS.contains(&byte))
    );
    assert_eq!(token.lookup().as_str(), lookup);
    assert_eq!(token.expose_secret(), text);
    let (before, checksum) = text.split_at(text.len() - 6);
    assert_eq!(
        number(checksum),
        u64::from(crc32fast::hash(before.as_bytes()))
    );
    true
}

/// Decodes a base-62 number.
fn number(digits: &str) -> u64 {
    let value = |digit| DIGITS.iter().position(|known| *known == digit).unwrap() as u64;
    digits
        .bytes()
        .fold(0, |number, digit| number * 62 + value(digit))
}

/// Sends an arbitrary header, in which `$` is replaced with a member's token.
fn check_header(data: &[u8]) {
    let (before, after) = split_at_mark(data, b'$');
    let token: &[u8] = if data.contains(&b'$') {
        board::TOKEN.as_bytes()
    } else {
        b""
    };
    let header = [before, token, after].concat();
    let Ok(value) = HeaderValue::from_bytes(&header) else {
        return;
    };
    let mut request = board::request(Method::GET, b"/api/v1/forums", b"").unwrap();
    request.headers_mut().insert(AUTHORIZATION, value);
    let lets_in = header.eq_ignore_ascii_case(format!("Bearer {}", *board::TOKEN).as_bytes())
        && header.ends_with(board::TOKEN.as_bytes());
    assert_eq!(board::send(request).status == 200, lets_in, "{header:?}");
}
