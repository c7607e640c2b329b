//! Response body that contains a JSON document twice, with one copy in memory.

use std::collections::VecDeque;

use bytes::Bytes;

/// Number of bytes of the document in one part of the string.
const CHUNK_LEN: usize = 2048;

/// Parts of a body, in order.
#[derive(Clone, Debug)]
pub(crate) struct QuotedBody(VecDeque<Part>);

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
        Self(parts.into_iter().collect())
    }

    /// Removes and returns the next bytes.
    pub(crate) fn next(&mut self) -> Option<Bytes> {
        match self.0.front_mut()? {
            Part::Quoted(rest) if rest.len() > CHUNK_LEN => Some(quote(&rest.split_to(CHUNK_LEN))),
            _ => self.0.pop_front().map(|part| match part {
                Part::Plain(bytes) => bytes,
                Part::Quoted(rest) => quote(&rest),
            }),
        }
    }

    /// Returns the number of bytes that `next` has not returned.
    pub(crate) fn len(&self) -> usize {
        let len = |part: &Part| match part {
            Part::Plain(bytes) => bytes.len(),
            Part::Quoted(json) => {
                json.len() + json.iter().filter(|byte| is_escaped(**byte)).count()
            }
        };
        self.0.iter().map(len).sum()
    }
}

fn is_escaped(byte: u8) -> bool {
    byte == b'"' || byte == b'\\'
}

/// Returns a part of a JSON document as part of a JSON string. Control characters in a JSON document are white space
/// between tokens; each becomes a space.
fn quote(json: &[u8]) -> Bytes {
    let mut quoted = Vec::with_capacity(json.len() + json.len() / 8);
    for run in json.split_inclusive(|byte| is_escaped(*byte) || *byte < b' ') {
        match run.split_last() {
            Some((last, text)) if is_escaped(*last) => {
                quoted.extend_from_slice(text);
                quoted.extend([b'\\', *last]);
            }
            Some((..b' ', text)) => {
                quoted.extend_from_slice(text);
                quoted.push(b' ');
            }
            _ => quoted.extend_from_slice(run),
        }
    }
    quoted.into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::ResponseBody;

    proptest! {
        #[test]
        fn a_quoted_document_is_the_document(texts in proptest::collection::vec("[a-z<é😀\"\\\\\n\u{1}]{0,900}", 0..9)) {
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
