//! Expected formats of request parts, as English phrases.

use std::borrow::Cow;

use serde::de::{self, Unexpected};

/// Expected format of a field, a parameter or a header, as an English phrase that the board's messages can translate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected(&'static str);

#[rustfmt::skip]
impl Expected {
    pub(crate) const BOOLEAN: Self = Self("true or false");
    pub(crate) const CHANGE: Self = Self("at least one change");
    pub(crate) const COMPLETE_BODY: Self = Self("a complete body");
    pub(crate) const COMPLETE_BODY_IN_TIME: Self = Self("a complete body before the request timeout");
    pub(crate) const CURSOR: Self = Self("a cursor returned by this list");
    pub(crate) const DATE_RANGE: Self = Self("24h, 7d, 30d, 1y, or a date range, for example 2026-01-01..2026-02-01");
    pub(crate) const EVENT: Self = Self("an event that the board still keeps");
    pub(crate) const FEWER_PARTS: Self = Self("a body in larger chunks: at most 4,096, and one more for each 256 bytes");
    pub(crate) const FEWER_VALUES: Self = Self("at most 10,000 JSON values");
    pub(crate) const FORUM_IDS: Self = Self("comma-separated forum ids");
    pub(crate) const IDEMPOTENCY_KEY: Self = Self("1 to 64 visible ASCII characters");
    pub(crate) const JSON: Self = Self("a request body in JSON");
    pub(crate) const JSON_TYPE: Self = Self("application/json");
    pub(crate) const LIMIT: Self = Self("1 to 100");
    pub(crate) const LIST: Self = Self("a list");
    pub(crate) const NO_CONDITION: Self = Self("a request without this header; the condition of a PATCH is expectedVersion");
    pub(crate) const NOT_WITH_AFTER: Self = Self("a request without after");
    pub(crate) const NUMBER: Self = Self("a number");
    pub(crate) const NUMBER_IN_BOUNDS: Self = Self("a number within the bounds of the field");
    pub(crate) const OBJECT: Self = Self("an object");
    pub(crate) const PERCENT_ENCODING: Self = Self("percent-encoded UTF-8");
    pub(crate) const SEARCH_QUERY: Self = Self("1 to 200 characters with at least one word to search for, and at most 32 words");
    pub(crate) const SMALLER_BODY: Self = Self("a smaller body");
    pub(crate) const TEXT: Self = Self("text");
    pub(crate) const TEXT_WITHOUT_NUL_OR_BOM: Self = Self("text without U+0000 or a byte-order mark");
    pub(crate) const TIMESTAMP: Self = Self("an RFC 3339 time, for example 2026-01-31T12:00:00Z");
    pub(crate) const TOPICS: Self = Self("* or topics of the board, separated by commas");
    pub(crate) const USER_REF: Self = Self("a userId or @username");
    pub(crate) const WHOLE_NUMBER: Self = Self("a whole number");
    pub(crate) const WHOLE_SURROGATE_PAIRS: Self = Self("texts without half of a surrogate pair");
}

impl Expected {
    pub(crate) const fn as_str(self) -> &'static str {
        self.0
    }

    /// Creates an error of a deserializer.
    pub(crate) fn error<E: de::Error>(self) -> E {
        E::invalid_value(Unexpected::Other("another value"), &self.0)
    }
}

impl From<Expected> for Cow<'static, str> {
    fn from(expected: Expected) -> Self {
        expected.0.into()
    }
}
