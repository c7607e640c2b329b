//! What is kept of an answer.

use http::StatusCode;

use crate::webhook::Answer;

/// An answer as far as it was heard.
#[derive(Debug)]
pub(super) struct Heard {
    status: StatusCode,
    body: Vec<u8>,
}

impl Heard {
    /// Its head alone.
    pub(super) const fn new(status: StatusCode) -> Self {
        let body = Vec::new();
        Self { status, body }
    }

    /// Keeps more of its body, as far as there is room.
    pub(super) fn keep(&mut self, data: &[u8]) {
        let room = Answer::KEPT - self.body.len();
        self.body.extend(data.iter().take(room));
    }

    /// Whether there is no more room.
    pub(super) const fn is_full(&self) -> bool {
        self.body.len() >= Answer::KEPT
    }
}

impl From<Heard> for Answer {
    fn from(heard: Heard) -> Self {
        Self {
            status: heard.status.as_u16(),
            excerpt: legible(&heard.body),
        }
    }
}

/// Bytes as text that harms no terminal and no database: what is no UTF-8, or a control character, is replaced.
fn legible(bytes: &[u8]) -> String {
    let harmful = |letter: char| letter.is_control() && !matches!(letter, '\t' | '\n' | '\r');
    let mut text = String::from_utf8_lossy(bytes).replace(harmful, "\u{fffd}");
    while text.len() > Answer::KEPT {
        text.pop();
    }
    text
}
