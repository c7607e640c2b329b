//! Response body that contains a JSON document twice, with one copy in memory.

use std::collections::VecDeque;

use bytes::Bytes;

use crate::model::json_text;

/// Maximum number of bytes of the document in one part of the string. A part is written to the connection at once.
const CHUNK_LEN: usize = 64 * 1024;

/// Parts of a body, in order.
#[derive(Clone, Debug)]
pub(crate) struct QuotedBody {
    parts: VecDeque<Part>,
    /// Number of bytes of the parts. A server asks for it at each part.
    len: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum Part {
    /// Bytes that are sent as they are.
    Plain(Bytes),
    /// A JSON document that is sent as the content of a JSON string. Each part of the string is created when it is
    /// sent.
    Quoted(Bytes),
}

impl QuotedBody {
    pub(crate) fn new(parts: impl IntoIterator<Item = Part>) -> Self {
        let parts: VecDeque<_> = parts.into_iter().collect();
        let len = parts
            .iter()
            .map(|part| match part {
                Part::Plain(bytes) => bytes.len(),
                Part::Quoted(json) => json_text::escaped_size(json),
            })
            .sum();
        Self { parts, len }
    }

    /// Removes and returns the next bytes.
    pub(crate) fn next(&mut self) -> Option<Bytes> {
        let bytes = match self.parts.front_mut()? {
            Part::Quoted(rest) if rest.len() > CHUNK_LEN => quote(&rest.split_to(chunk_len(rest))),
            _ => match self.parts.pop_front()? {
                Part::Plain(bytes) => bytes,
                Part::Quoted(rest) => quote(&rest),
            },
        };
        self.len = self.len.saturating_sub(bytes.len());
        Some(bytes)
    }

    /// Returns the number of bytes that `next` has not returned.
    pub(crate) fn len(&self) -> usize {
        self.len
    }
}

/// Returns the length of the longest chunk of a document that ends between two characters.
fn chunk_len(json: &[u8]) -> usize {
    let is_first = |position: &usize| json.get(*position).is_none_or(|byte| byte & 0xc0 != 0x80);
    (0..=CHUNK_LEN).rev().find(is_first).unwrap_or(CHUNK_LEN)
}

/// Returns a part of a JSON document as part of a JSON string.
fn quote(json: &[u8]) -> Bytes {
    let mut quoted = String::with_capacity(json_text::escaped_size(json));
    // Borrows the document, which is UTF-8.
    json_text::escape(&String::from_utf8_lossy(json), &mut quoted);
    quoted.into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::ResponseBody;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn a_quoted_document_is_the_document(texts in proptest::collection::vec("[a-z<é😀\"\\\\\n\u{1}]{0,900}", 0..9), count in 1..150_usize) {
            let texts: Vec<_> = texts.iter().map(|text| text.repeat(count)).collect();
            let document = json!({ "texts": texts });
            for bytes in [serde_json::to_vec(&document).unwrap(), serde_json::to_vec_pretty(&document).unwrap()] {
                let bytes = Bytes::from(bytes);
                let quote = || Part::Plain(Bytes::from_static(b"\""));
                let mut body = QuotedBody::new([quote(), Part::Quoted(bytes), quote()]);
                let len = body.len();
                let whole = ResponseBody::quoted(body.clone()).into_bytes();
                let parts: Vec<_> = std::iter::from_fn(|| body.next()).collect();
                prop_assert!(parts.iter().all(|part| part.len() <= 2 * CHUNK_LEN));
                let sent = parts.concat();
                prop_assert_eq!((sent.len(), body.len()), (len, 0));
                prop_assert_eq!(&whole, &sent);
                let text: String = serde_json::from_slice(&sent).unwrap();
                prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), document.clone());
            }
        }
    }
}
